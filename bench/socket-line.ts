import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

const TEXT = 1
const PING = 9
const PONG = 10
const MASKED = 0x80

/** Called with each text frame: where its payload stands in these bytes, which are not kept. */
export type Take = (bytes: Buffer, from: number, to: number) => void

/**
 * A client of a WebSocket server as lean as can be: thousands of them must cost less than the server that they measure.
 * It counts frames and hands their bytes on; what it sends was made beforehand (`clientFrame`).
 */
export class SocketLine {
  frames = 0
  take: Take | undefined
  closed: string | undefined
  readonly socket: Socket
  private pending: Buffer | undefined

  private constructor(socket: Socket) {
    this.socket = socket
  }
  static open(port: number, path = '/ws/v4/', take?: Take): Promise<SocketLine> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      const line = new SocketLine(socket)
      line.take = take
      socket.setNoDelay(true)
      socket.on('error', (error) => {
        line.closed ??= error.message
        reject(error)
      })
      socket.on('close', () => (line.closed ??= 'closed'))
      const key = randomBytes(16).toString('base64')
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      )
      let head = Buffer.alloc(0)
      const greeted = (chunk: Buffer): void => {
        head = Buffer.concat([head, chunk])
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return
        socket.off('data', greeted)
        if (!head.toString('latin1').startsWith('HTTP/1.1 101')) {
          reject(new Error(`no upgrade: ${head.toString('latin1').slice(0, 300)}`))
          socket.destroy()
          return
        }
        socket.on('data', (more: Buffer) => line.push(more))
        resolve(line)
        if (end + 4 < head.length) line.push(head.subarray(end + 4))
      }
      socket.on('data', greeted)
    })
  }
  write(frame: Buffer): void {
    this.socket.write(frame)
  }
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.destroyed) resolve()
      else this.socket.once('close', () => resolve()).destroy()
    })
  }

  private push(chunk: Buffer): void {
    const data = this.pending === undefined ? chunk : Buffer.concat([this.pending, chunk])
    this.pending = undefined
    let at = 0
    while (data.length - at >= 2) {
      const short = data[at + 1]! & 127
      const head = short === 126 ? 4 : short === 127 ? 10 : 2
      if (data.length - at < head) break
      const length =
        short === 126
          ? data.readUInt16BE(at + 2)
          : short === 127
            ? Number(data.readBigUInt64BE(at + 2))
            : short
      if (data.length - at < head + length) break
      const kind = data[at]! & 15
      if (kind === TEXT) {
        this.frames++
        this.take?.(data, at + head, at + head + length)
      } else if (kind === PING)
        this.write(clientFrame(data.subarray(at + head, at + head + length).toString(), PONG))
      else if (kind === 8 && length >= 2)
        this.closed = `${data.readUInt16BE(at + head)} ${data.subarray(at + head + 2, at + head + length).toString()}`
      at += head + length
    }
    if (at < data.length) this.pending = data.subarray(at)
  }
}

/** Masked, as a client must. */
export function clientFrame(text: string, kind = TEXT): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.alloc(head + 4 + length)
  frame[0] = 0x80 | kind
  if (head === 2) frame[1] = MASKED | length
  else if (head === 4) {
    frame[1] = MASKED | 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = MASKED | 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  const mask = randomBytes(4)
  mask.copy(frame, head)
  for (let i = 0; i < length; i++) frame[head + 4 + i] = payload[i]! ^ mask[i & 3]!
  return frame
}
