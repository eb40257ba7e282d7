/**
 * One line to the platform for everything that moves: /console/ws speaks the frames of docs/websocket.md, with the session
 * as credentials. Subscriptions are counted; after a break they begin anew by themselves, and whoever keeps what it read by
 * REST is told to read it again.
 */
export interface Frame {
  readonly time?: number
  readonly time_ms?: number
  readonly id?: number | string
  readonly channel: string
  readonly event: string
  readonly error?: { readonly code: number; readonly message: string } | null
  readonly result?: unknown
}
export type Push = (result: unknown, frame: Frame) => void
interface Stream {
  readonly channel: string
  readonly payload: readonly string[]
  readonly pushes: Set<Push>
  readonly starts: Set<() => void>
}
export type LineState = 'connecting' | 'open' | 'down'
export interface LineView {
  readonly state: LineState
  /** When the last frame came: what is shown is as of then. */
  readonly lastAt: number
  /** Tries since the line was up. */
  readonly tries: number
}

const QUIET_MS = 15_000
const DEAD_MS = 35_000
/** Before a lost line is told to the reader: a blink is nobody's business. */
const LATE_MS = 1_500

export class Line {
  private socket: WebSocket | undefined
  private readonly streams = new Map<string, Stream>()
  private readonly watchers = new Set<() => void>()
  private view: LineView = { state: 'connecting', lastAt: Date.now(), tries: 0 }
  private readonly url: string
  private wait: ReturnType<typeof setTimeout> | undefined
  private readonly beat: ReturnType<typeof setInterval>
  private heard = Date.now()
  private lost: ReturnType<typeof setTimeout> | undefined
  private tries = 0
  private serial = 0
  private ended = false
  private readonly wake = (): void => {
    if (document.visibilityState === 'visible' && this.socket === undefined) this.connect()
  }

  /** Of a line that hangs nobody tells; on a machine without a network one to itself is made anew at once. */
  private readonly cut = (): void => {
    const { socket } = this
    if (socket === undefined) return
    socket.close()
    this.drop(socket)
  }

  constructor(url: string) {
    this.url = url
    this.beat = setInterval(() => this.check(), 5_000)
    window.addEventListener('online', this.wake)
    window.addEventListener('offline', this.cut)
    document.addEventListener('visibilitychange', this.wake)
    this.connect()
  }
  readonly look = (): LineView => this.view
  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }
  /** `start` is called whenever the stream begins: what was read before may be old. */
  subscribe(channel: string, payload: readonly string[], push: Push, start?: () => void): () => void {
    const key = `${channel} ${payload.join(' ')}`
    let stream = this.streams.get(key)
    const first = stream === undefined
    if (stream === undefined)
      this.streams.set(key, (stream = { channel, payload, pushes: new Set(), starts: new Set() }))
    stream.pushes.add(push)
    if (start !== undefined) stream.starts.add(start)
    if (first) this.ask(stream, 'subscribe')
    else start?.()
    const kept = stream
    return () => {
      kept.pushes.delete(push)
      if (start !== undefined) kept.starts.delete(start)
      if (kept.pushes.size > 0 || this.streams.get(key) !== kept) return
      this.streams.delete(key)
      this.ask(kept, 'unsubscribe')
    }
  }
  /** Begins one stream anew: a follower of a book that missed a delta. */
  again(channel: string, payload: readonly string[]): void {
    const stream = this.streams.get(`${channel} ${payload.join(' ')}`)
    if (stream === undefined) return
    this.ask(stream, 'unsubscribe')
    this.ask(stream, 'subscribe')
  }
  end(): void {
    this.ended = true
    clearInterval(this.beat)
    clearTimeout(this.wait)
    clearTimeout(this.lost)
    window.removeEventListener('online', this.wake)
    window.removeEventListener('offline', this.cut)
    document.removeEventListener('visibilitychange', this.wake)
    this.socket?.close()
  }

  private connect(): void {
    if (this.ended) return
    clearTimeout(this.wait)
    const socket = new WebSocket(this.url)
    this.socket = socket
    this.heard = Date.now()
    socket.onopen = () => {
      this.tries = 0
      this.heard = Date.now()
      for (const stream of this.streams.values()) this.ask(stream, 'subscribe')
      clearTimeout(this.lost)
      this.lost = undefined
      this.show('open')
    }
    socket.onmessage = ({ data }) => this.hear(String(data))
    socket.onclose = () => this.drop(socket)
  }
  private drop(socket: WebSocket): void {
    if (this.socket !== socket) return
    this.socket = undefined
    socket.onmessage = socket.onclose = socket.onopen = null
    if (this.ended) return
    this.lost ??= setTimeout(() => this.show('down'), this.view.state === 'open' ? LATE_MS : 0)
    this.tries++
    const pause = Math.min(10_000, 300 * 2 ** Math.min(this.tries, 6)) * (0.7 + Math.random() * 0.6)
    this.wait = setTimeout(() => this.connect(), pause)
  }
  private check(): void {
    const { socket } = this
    if (socket?.readyState !== WebSocket.OPEN) return
    const silent = Date.now() - this.heard
    if (silent > DEAD_MS) this.cut()
    else if (silent > QUIET_MS) this.send({ channel: 'spot.ping' })
  }
  private show(state: LineState): void {
    this.view = { state, lastAt: this.heard, tries: this.tries }
    for (const watcher of this.watchers) watcher()
  }
  private send(frame: object): void {
    if (this.socket?.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ time: Math.floor(Date.now() / 1000), ...frame }))
  }
  private ask({ channel, payload }: Stream, event: 'subscribe' | 'unsubscribe'): void {
    this.send({ id: ++this.serial, channel, event, payload })
  }
  private hear(data: string): void {
    this.heard = Date.now()
    const frame = JSON.parse(data) as Frame & { readonly payload?: readonly string[] }
    if (frame.event === 'subscribe') {
      const refused = frame.error !== undefined && frame.error !== null
      if (!refused && frame.payload !== undefined)
        for (const start of this.streams.get(`${frame.channel} ${frame.payload.join(' ')}`)?.starts ?? [])
          start()
    } else if (frame.event !== 'unsubscribe' && frame.channel !== 'spot.pong')
      for (const stream of this.streams.values())
        if (stream.channel === frame.channel) for (const push of stream.pushes) push(frame.result, frame)
  }
}
