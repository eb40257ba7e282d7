import { connect, type Socket } from 'node:net'

/** A reply as it came over the wire. */
export interface WireReply {
  readonly status: number
  /** By names in lower case; of doubled ones the last. */
  readonly headers: ReadonlyMap<string, string>
  readonly setCookies: readonly string[]
  readonly body: Buffer
}
/** The connection ended, or nothing came in time. */
export class NoReply extends Error {}
const WAIT_MS = 30_000

/** Reads whole replies off a stream of bytes. */
export class ReplyReader {
  private held: Buffer = Buffer.alloc(0)
  take(chunk: Buffer): WireReply[] {
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk])
    const replies: WireReply[] = []
    for (let reply = this.next(); reply !== undefined; reply = this.next())
      if (reply.status >= 200) replies.push(reply)
    return replies
  }
  /** Bytes that are no whole reply. */
  get rest(): number {
    return this.held.length
  }
  private next(): WireReply | undefined {
    const end = this.held.indexOf('\r\n\r\n')
    if (end === -1) return undefined
    const [first = '', ...lines] = this.held.toString('latin1', 0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    if (Number.isNaN(status)) throw new NoReply(`not a reply: ${first.slice(0, 200)}`)
    const headers = new Map<string, string>()
    const setCookies: string[] = []
    for (const line of lines) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).toLowerCase()
      const value = line.slice(colon + 1).trim()
      headers.set(name, value)
      if (name === 'set-cookie') setCookies.push(value)
    }
    if (headers.get('transfer-encoding') === 'chunked')
      return this.chunked(status, headers, setCookies, end + 4)
    const length = status < 200 || status === 204 ? 0 : Number(headers.get('content-length') ?? 0)
    if (this.held.length < end + 4 + length) return undefined
    const body = this.held.subarray(end + 4, end + 4 + length)
    this.held = this.held.subarray(end + 4 + length)
    return { status, headers, setCookies, body }
  }
  private chunked(
    status: number,
    headers: Map<string, string>,
    setCookies: string[],
    from: number,
  ): WireReply | undefined {
    const parts: Buffer[] = []
    for (let at = from; ;) {
      const line = this.held.indexOf('\r\n', at)
      if (line === -1) return undefined
      const size = parseInt(this.held.toString('latin1', at, line), 16)
      const begin = line + 2
      if (this.held.length < begin + size + 2) return undefined
      if (size === 0) {
        this.held = this.held.subarray(begin + 2)
        return { status, headers, setCookies, body: Buffer.concat(parts) }
      }
      parts.push(this.held.subarray(begin, begin + size))
      at = begin + size + 2
    }
  }
}

/** A connection that sends whatever it is given, and goes on after each reply for as long as the server lets it. */
export class Lane {
  private readonly url: URL
  private socket: Socket | undefined
  private reader = new ReplyReader()
  private readonly waiting: {
    resolve: (reply: WireReply | undefined) => void
    reject: (error: Error) => void
  }[] = []
  constructor(url: string) {
    this.url = new URL(url)
  }
  /** So many replies are expected, in the order of their requests; fewer, where one says that it is the last. */
  async send(bytes: Buffer, replies = 1): Promise<WireReply[]> {
    const socket = await this.open()
    const wanted = Array.from(
      { length: replies },
      () =>
        new Promise<WireReply | undefined>((resolve, reject) => {
          this.waiting.push({ resolve, reject })
        }),
    )
    const late = setTimeout(() => this.end(new NoReply(`no reply in ${WAIT_MS} ms`)), WAIT_MS)
    socket.write(bytes)
    try {
      return (await Promise.all(wanted)).filter((reply) => reply !== undefined)
    } finally {
      clearTimeout(late)
    }
  }
  close(): void {
    this.end(new NoReply('closed'))
  }
  private async open(): Promise<Socket> {
    if (
      this.socket !== undefined &&
      !this.socket.destroyed &&
      this.socket.writable &&
      !this.socket.readableEnded
    )
      return this.socket
    this.reader = new ReplyReader()
    const socket = connect(Number(this.url.port), this.url.hostname)
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.take(socket, chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (this.socket === socket) this.end(new NoReply('the connection ended without a reply'))
    })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return socket
  }
  private take(socket: Socket, chunk: Buffer): void {
    if (this.socket !== socket) return
    try {
      for (const reply of this.reader.take(chunk)) {
        this.waiting.shift()?.resolve(reply)
        if (reply.headers.get('connection') !== 'close') continue
        // Whoever asks next finds a new connection where this one is said to end.
        for (const { resolve } of this.waiting.splice(0)) resolve(undefined)
        this.socket = undefined
        socket.end()
        return
      }
    } catch (error) {
      this.end(error as Error)
    }
  }
  private end(error: Error): void {
    const { socket } = this
    this.socket = undefined
    socket?.destroy()
    for (const { reject } of this.waiting.splice(0)) reject(error)
  }
}

/** Sends bytes on a connection of their own, says that no more come, and takes what is answered until it ends. */
export function once(
  url: string,
  bytes: Buffer,
  halfClose: boolean,
  ms = 5_000,
): Promise<{ replies: WireReply[]; rest: number; ended: boolean }> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve) => {
    const reader = new ReplyReader()
    const replies: WireReply[] = []
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    let ended = false
    const done = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ replies, rest: reader.rest, ended })
    }
    const timer = setTimeout(done, ms)
    socket.on('connect', () => {
      if (halfClose) socket.end(bytes)
      else socket.write(bytes)
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        replies.push(...reader.take(chunk))
      } catch {
        replies.push({ status: 999, headers: new Map(), setCookies: [], body: chunk })
      }
    })
    socket.on('error', () => undefined)
    socket.on('end', () => {
      ended = true
      done()
    })
    socket.on('close', () => {
      ended = true
      done()
    })
  })
}
