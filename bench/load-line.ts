import { connect, type Socket } from 'node:net'

const READ_BYTES = 64 * 1024
/** No reply has a longer head. */
const HEAD_BYTES = 4 * 1024

/**
 * One connection of the load generator: a request, its reply, the next request. It reads into the same bytes again and
 * again, and keeps nothing of them: what a client library leaves behind would be collected at somebody's expense.
 */
export class Line {
  private readonly socket: Socket
  /** What came of a head that is not whole yet. */
  private head = ''
  private received = 0
  /** Of the whole reply, in bytes; 0: its head is not whole. */
  private length = 0
  replied: (good: boolean) => void = () => undefined
  lost: (error: Error) => void = () => undefined

  private constructor(port: number, ready: () => void) {
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    const onread = {
      buffer,
      callback: (bytes: number): boolean => {
        this.hear(buffer, bytes)
        return true
      },
    }
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, ready)
    this.socket.on('error', (error) => this.lost(error))
  }
  static open(port: number): Promise<Line> {
    return new Promise((resolve, reject) => {
      const line = new Line(port, () => resolve(line))
      line.lost = reject
    })
  }
  send(request: Uint8Array): void {
    this.socket.write(request)
  }
  close(): void {
    this.socket.end()
  }
  private hear(buffer: Buffer, bytes: number): void {
    this.received += bytes
    if (this.length === 0) {
      this.head += buffer.toString('latin1', 0, Math.min(bytes, HEAD_BYTES))
      const end = this.head.indexOf('\r\n\r\n')
      if (end === -1) return
      this.length = end + 4 + Number(/content-length: (\d+)/i.exec(this.head)?.[1] ?? 0)
    }
    if (this.received < this.length) return
    const good = this.head.startsWith('HTTP/1.1 2')
    this.head = ''
    this.received = this.length = 0
    this.replied(good)
  }
}
