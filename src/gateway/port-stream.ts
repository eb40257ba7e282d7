import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

/** So many bytes may be on their way to the other thread. */
const WINDOW = 1024 * 1024
/** What was read is told in portions, so that it costs no message for each. */
const PORTION = WINDOW / 4

/**
 * A stream of bytes between two threads. Each side says how much it has read, so that a writer knows when the other is
 * behind; what is written is handed over, not copied, where it has memory of its own.
 */
export class PortStream extends Duplex {
  private readonly port: MessagePort
  private unread = 0
  private owed = 0
  private parked: (() => void) | undefined

  constructor(port: MessagePort) {
    super({ allowHalfOpen: false })
    this.port = port
    port.on('message', (message: Uint8Array | number | null) => this.heard(message))
    port.on('close', () => this.destroy())
  }
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const whole = chunk.byteOffset === 0 && chunk.byteLength === chunk.buffer.byteLength
    const bytes = whole ? new Uint8Array(chunk.buffer) : new Uint8Array(chunk)
    this.unread += bytes.byteLength
    this.port.postMessage(bytes, [bytes.buffer as ArrayBuffer])
    if (this.unread < WINDOW) done()
    else this.parked = done
  }
  override _final(done: () => void): void {
    this.port.postMessage(null)
    done()
  }
  /** Whoever reads has room again. */
  override _read(): void {
    if (this.owed < PORTION) return
    this.port.postMessage(this.owed)
    this.owed = 0
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.parked = undefined
    this.port.close()
    done(error)
  }
  private heard(message: Uint8Array | number | null): void {
    if (message === null) this.push(null)
    else if (typeof message === 'number') {
      this.unread -= message
      const { parked } = this
      if (parked === undefined || this.unread >= WINDOW) return
      this.parked = undefined
      parked()
    } else {
      this.owed += message.byteLength
      this.push(Buffer.from(message.buffer, message.byteOffset, message.byteLength))
    }
  }
}
