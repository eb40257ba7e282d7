import { setTimeout as sleep } from 'node:timers/promises'
import { BATCH, type Drive } from './socket-drive.ts'
import { SocketLine } from './socket-line.ts'

/** Of so many subscribers each frame's time is kept; all are counted. */
const SAMPLED = 50
const OPENED_AT_ONCE = 100
const PATIENCE_MS = 60_000

export interface Delivered {
  /** Frames a second, over all subscribers. */
  readonly rate: number
  /** Orders a second. */
  readonly orders: number
  readonly frames: number
  /** Milliseconds from a request's reply to its frames. */
  readonly delays: readonly number[]
  /** How busy the generator was. */
  readonly busy: number
}

export async function openLines(
  port: number,
  count: number,
  greet?: Buffer,
  path?: string,
): Promise<SocketLine[]> {
  const lines: SocketLine[] = []
  while (lines.length < count) {
    const some = Math.min(OPENED_AT_ONCE, count - lines.length)
    const opened = await Promise.all(
      Array.from({ length: some }, async () => {
        const line = await SocketLine.open(port, path)
        if (greet === undefined) return line
        // The answer to the subscription.
        const answered = new Promise<void>((resolve) => (line.take = () => resolve()))
        line.write(greet)
        await answered
        line.take = undefined
        return line
      }),
    )
    lines.push(...opened)
  }
  return lines
}
export async function closeLines(lines: readonly SocketLine[]): Promise<void> {
  await Promise.all(lines.map((line) => line.close()))
}

/** Subscribers of one stream, and what drives it: every request makes a known number of frames for each. */
export class Swarm {
  readonly lines: readonly SocketLine[]
  private readonly drive: Drive
  private constructor(drive: Drive, lines: readonly SocketLine[]) {
    this.drive = drive
    this.lines = lines
  }
  static async open(drive: Drive, count: number): Promise<Swarm> {
    return new Swarm(drive, await openLines(drive.port, count, drive.subscribe))
  }
  close(): Promise<void> {
    return closeLines(this.lines)
  }
  /** As hard as it goes: the next request leaves when no more than `window` are not delivered to everybody. */
  hard(seconds: number, window: number, each: 1 | typeof BATCH = BATCH): Promise<Delivered> {
    return this.measure(each, (pass) => {
      const end = performance.now() + seconds * 1000
      const pump = (): void => {
        while (pass.sent - pass.done < window && performance.now() < end) pass.send()
        if (performance.now() >= end) pass.last()
      }
      pass.progress = pump
      pump()
    })
  }
  /** A request every so often. */
  calm(seconds: number, everyMs: number): Promise<Delivered> {
    return this.measure(1, (pass) => {
      const end = performance.now() + seconds * 1000
      const timer = setInterval(() => {
        if (performance.now() < end) pass.send()
        else {
          clearInterval(timer)
          pass.last()
        }
      }, everyMs)
    })
  }
  private async measure(each: 1 | typeof BATCH, run: (pass: Pass) => void): Promise<Delivered> {
    const { lines, drive } = this
    const pass = new Pass(drive, each, lines.length)
    const step = Math.max(1, Math.floor(lines.length / SAMPLED))
    const arrivals: number[][] = []
    for (const [i, line] of lines.entries()) {
      if (i % step !== 0) line.take = pass.count
      else {
        const own: number[] = []
        arrivals.push(own)
        line.take = () => {
          own.push(performance.now())
          pass.count()
        }
      }
    }
    const used = performance.eventLoopUtilization()
    const start = performance.now()
    run(pass)
    await Promise.race([
      pass.ended,
      sleep(PATIENCE_MS, undefined, { ref: false }).then(() => pass.late(lines)),
    ])
    const elapsed = (performance.now() - start) / 1000
    for (const line of lines) line.take = undefined
    return {
      rate: pass.total / elapsed,
      orders: (pass.sent * each) / elapsed,
      frames: pass.total,
      delays: arrivals.flatMap((own) =>
        own.map((at, i) => Math.max(0, at - pass.replies[Math.floor(i / each)]!)),
      ),
      busy: performance.eventLoopUtilization(used).utilization,
    }
  }
}

class Pass {
  sent = 0
  total = 0
  done = 0
  readonly replies: number[] = []
  progress: (() => void) | undefined
  readonly ended: Promise<void>
  private readonly drive: Drive
  private readonly each: 1 | typeof BATCH
  private readonly ofOne: number
  private answered = 0
  private over = false
  private end!: () => void
  private fail!: (error: unknown) => void
  constructor(drive: Drive, each: 1 | typeof BATCH, subscribers: number) {
    this.drive = drive
    this.each = each
    this.ofOne = each * subscribers
    this.ended = new Promise((resolve, reject) => {
      this.end = resolve
      this.fail = reject
    })
  }
  send(): void {
    const k = this.sent++
    this.drive.request(this.each).then((at) => {
      this.replies[k] = at
      this.answered++
      // Nobody listens: the reply is all that there is.
      if (this.ofOne === 0) this.delivered()
      this.look()
    }, this.fail)
  }
  readonly count = (): void => {
    if (++this.total >= (this.done + 1) * this.ofOne) this.delivered()
  }
  private delivered(): void {
    this.done++
    this.progress?.()
    this.look()
  }
  last(): void {
    this.over = true
    this.look()
  }
  late(lines: readonly SocketLine[]): never {
    const lost = lines.map(({ closed }) => closed).filter((why) => why !== undefined)
    throw new Error(
      `${this.drive.name}: ${this.total} of ${this.sent * this.ofOne} frames came${lost.length > 0 ? `; ${lost.length} closed, ${lost[0]}` : ''}`,
    )
  }
  private look(): void {
    if (this.over && this.done === this.sent && this.answered === this.sent) this.end()
  }
}
