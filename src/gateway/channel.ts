import type { Duplex } from 'node:stream'

/**
 * One message: its kind, the length of its text in bytes (-1: none), and what else belongs to it, as plain JSON. The
 * text (a body, a reply) travels behind the heads as it is, so that JSON is never wrapped into JSON.
 */
export type Head = [kind: number, length: number, ...rest: unknown[]]
export interface Ends {
  readonly message: (head: Head, text: Buffer | undefined) => void
  /** Told once. */
  readonly closed: (why: string) => void
  /** Told when frames have been delivered. */
  readonly read?: () => void
  /** Nothing waits any more to be read by the other side. */
  readonly drained?: () => void
}
/** What the other side may do. */
export interface Bounds {
  /** No honest side sends a longer frame. */
  readonly frameMax: number
  /** Who leaves so much unread hangs. */
  readonly unsentMax: number
}
/** Of processes of this machine, which are our own. */
const OUR_OWN: Bounds = { frameMax: 256 * 1024 * 1024, unsentMax: 512 * 1024 * 1024 }
/** A frame is sent early when so many bytes of texts have gathered, or so many heads. */
const FRAME_GOAL = 1024 * 1024
const HEADS_GOAL = 256
const PREFIX = 8
/** What nobody waits for goes by itself when nothing else went for so long. */
const LINGER_MS = 1

/**
 * Messages over a stream of bytes, the same on a socket of this machine and on one to another. Everything that is
 * pushed in one turn of the event loop leaves in one frame: length of the rest, length of the heads, heads, texts.
 * What is no such frame ends the channel.
 */
export class Channel {
  private readonly stream: Duplex
  private readonly ends: Ends
  private readonly bounds: Bounds
  private heads: Head[] = []
  private texts: (string | Uint8Array)[] = []
  private lengths = 0
  private scheduled = false
  private lingers = false
  private over = false
  private finished = false
  private chunks: Buffer[] = []
  private gathered = 0
  /** Length of the frame that is on its way, prefix included; 0: not known yet. */
  private awaited = 0

  constructor(stream: Duplex, ends: Ends, bounds = OUR_OWN) {
    this.stream = stream
    this.ends = ends
    this.bounds = bounds
    stream.on('data', (chunk: Buffer) => this.take(chunk))
    stream.on('drain', () => ends.drained?.())
    stream.on('error', (error) => this.close(error.message))
    stream.on('close', () => this.close('the other side is gone'))
    stream.on('end', () => this.close('the other side is gone'))
  }
  get closed(): boolean {
    return this.over
  }
  /** Bytes that the other side has not read yet. */
  get waiting(): number {
    return this.stream.writableLength + this.lengths
  }
  push(head: Head, text?: string | Uint8Array): void {
    if (!this.add(head, text) || this.scheduled) return
    this.scheduled = true
    setImmediate(this.flush)
  }
  /** The same for what nobody waits for: it goes along with the next that somebody does, and each frame costs a write. */
  pushAlong(head: Head): void {
    if (!this.add(head) || this.scheduled || this.lingers) return
    this.lingers = true
    setTimeout(() => {
      this.lingers = false
      if (!this.scheduled) this.flush()
    }, LINGER_MS)
  }
  /** Whether it waits for a flush. */
  private add(head: Head, text?: string | Uint8Array): boolean {
    if (this.over || this.finished) return false
    if (text === undefined) head[1] = -1
    else {
      head[1] = typeof text === 'string' ? Buffer.byteLength(text) : text.length
      this.texts.push(text)
      this.lengths += head[1]
    }
    this.heads.push(head)
    if (this.lengths < FRAME_GOAL && this.heads.length < HEADS_GOAL) return true
    this.flush()
    return false
  }
  readonly flush = (): void => {
    this.scheduled = false
    if (this.heads.length === 0 || this.over) return
    const json = JSON.stringify(this.heads)
    const jsonLength = Buffer.byteLength(json)
    const frame = Buffer.allocUnsafe(PREFIX + jsonLength + this.lengths)
    frame.writeUInt32LE(frame.length - 4, 0)
    frame.writeUInt32LE(jsonLength, 4)
    let at = PREFIX + frame.write(json, PREFIX)
    for (const text of this.texts) {
      if (typeof text === 'string') at += frame.write(text, at)
      else {
        frame.set(text, at)
        at += text.length
      }
    }
    this.heads = []
    this.texts = []
    this.lengths = 0
    this.stream.write(frame)
    if (this.stream.writableLength > this.bounds.unsentMax) this.close('the other side does not read')
  }
  /** Ends it when all that was pushed is read. */
  finish(): void {
    this.flush()
    this.finished = true
    if (!this.over) this.stream.end()
  }
  close(why: string): void {
    if (this.over) return
    this.over = true
    this.heads = []
    this.texts = []
    this.chunks = []
    this.stream.destroy()
    this.ends.closed(why)
  }

  private take(chunk: Buffer): void {
    if (this.over) return
    this.chunks.push(chunk)
    this.gathered += chunk.length
    if (this.gathered < PREFIX || this.gathered < this.awaited) return
    let bytes = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks, this.gathered)
    try {
      for (;;) {
        this.awaited = bytes.length < PREFIX ? 0 : frameLength(bytes, this.bounds.frameMax)
        if (this.awaited === 0 || bytes.length < this.awaited) break
        this.deliver(bytes.subarray(0, this.awaited))
        bytes = bytes.subarray(this.awaited)
      }
    } catch (error) {
      this.close(`what came is no message: ${(error as Error).message}`)
      return
    }
    this.chunks = bytes.length === 0 ? [] : [bytes]
    this.gathered = bytes.length
    this.ends.read?.()
  }
  private deliver(frame: Buffer): void {
    const from = PREFIX + frame.readUInt32LE(4)
    const heads: unknown = JSON.parse(frame.toString('utf8', PREFIX, from))
    if (!Array.isArray(heads)) throw new TypeError('the heads are no list')
    let at = from
    for (const head of heads as unknown[]) {
      if (!isHead(head)) throw new TypeError('a head is none')
      const [, length] = head
      if (length > frame.length - at) throw new TypeError('a text is longer than its frame')
      const text = length === -1 ? undefined : frame.subarray(at, (at += length))
      if (!this.over) this.ends.message(head, text)
    }
    if (at !== frame.length) throw new TypeError('a text belongs to nobody')
  }
}

const isHead = (head: unknown): head is Head =>
  Array.isArray(head) && Number.isInteger(head[0]) && Number.isInteger(head[1]) && (head[1] as number) >= -1

function frameLength(bytes: Buffer, frameMax: number): number {
  const rest = bytes.readUInt32LE(0)
  const heads = bytes.readUInt32LE(4)
  if (rest > frameMax || heads > rest - 4 || rest < 4) throw new RangeError(`a frame of ${rest} bytes`)
  return rest + 4
}
