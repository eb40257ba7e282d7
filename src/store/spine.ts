import { availableParallelism } from 'node:os'
import { MessageChannel } from 'node:worker_threads'
import { aboutLength, type ClosedBatch } from '../machine/loose.ts'
import type { Sums } from '../machine/sums.ts'
import type { Declared } from '../machine/table.ts'
import type { Progress } from './follower.ts'
import type { Appended, FollowerJob, JournalJob, Opened, OpenedWarm, Opening, Place } from './messages.ts'
import { shapesOf } from './statements.ts'
import type { HowFar, Lag, Point } from './store.ts'
import { StoreThread } from './thread.ts'

/** How far the tables may be behind the journal. */
export interface Bound {
  readonly bytes: number
  readonly batches: number
}
/** So much is put into them in about two seconds: a start after a death has no more to catch up with. */
export const BOUNDS: Readonly<Record<Place['kind'], Bound>> = {
  sqlite: { bytes: 32 * 2 ** 20, batches: 20_000 },
  postgres: { bytes: 22 * 2 ** 20, batches: 20_000 },
}

/** With so few the threads have to share them, and then it is quickest to write the text of a batch where its rows are. */
const FEW_CORES = 2
export const asTextWith = (cores = availableParallelism()): boolean => cores <= FEW_CORES
/** With so many there is one to spare for rows on their way into SQLite's tables. */
const MANY_CORES = 8
export const stagesWith = (cores = availableParallelism()): boolean => cores >= MANY_CORES

interface Reached {
  readonly sequence: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/**
 * The two threads behind a store: one appends to the journal, which makes a batch durable; the other puts it into the
 * tables some time later. What is not in the tables yet is bounded: at the bound commits wait.
 */
export class Spine {
  private readonly journal: StoreThread<JournalJob>
  private readonly follower: StoreThread<FollowerJob>
  private readonly bound: Bound
  /** Batches that are not in the tables yet, oldest first. */
  private readonly behind: { readonly sequence: number; bytes: number }[] = []
  private bytes = 0
  private acknowledged = 0
  private hash = ''
  private projected = 0
  private waiting: Reached[] = []
  private readonly blocked: (() => void)[] = []
  private asked = 0
  private held = false
  private opened = false
  /** Told when the tables were found again after the way to them was lost. */
  moved: () => void = () => undefined
  /** Told when the journal has lost its way, and when it has found it again. */
  away: (away: boolean) => void = () => undefined

  /** `asText`: batches come as text; else a thread of its own writes it. */
  constructor(place: Place, asText: boolean, bound: Bound = BOUNDS[place.kind]) {
    this.bound = bound
    const { port1, port2 } = new MessageChannel()
    this.follower = new StoreThread(
      'follower',
      place,
      { port: port2 },
      {
        progress: (progress) => this.progress(progress),
        ended: (error) => this.ended(error),
      },
    )
    this.journal = new StoreThread(
      'journal',
      place,
      { port: port1, sealer: !asText, answers: true },
      { away: (away) => this.away(away) },
    )
  }
  async open(sums: Sums, declared: Declared): Promise<Opened> {
    const opening = openingOf(sums, declared)
    const opened = (await this.follower.ask({ op: 'open', opening })) as Opened
    const base = Number(opened.head[1])
    await this.journal.ask({ op: 'open', epoch: opened.journalEpoch, base })
    this.acknowledged = this.projected = base
    this.hash = String(opened.head[2])
    this.opened = true
    return opened
  }
  /** The follower works at once; the journal goes on behind its last entry. */
  async openWarm(sums: Sums, declared: Declared, after: Point): Promise<OpenedWarm> {
    const opening = openingOf(sums, declared)
    const opened = (await this.follower.ask({ op: 'openWarm', opening, after })) as OpenedWarm
    const { journalEpoch, last, entries, sums: text } = opened
    const { key, schema } = sums
    await this.journal.ask({ op: 'open', epoch: journalEpoch, base: last.sequence })
    await this.journal.ask({ op: 'sealBehind', behind: { hash: last.hash, key, schema, sums: text } })
    this.acknowledged = last.sequence
    this.hash = last.hash
    // It may have told of progress already.
    this.projected = Math.max(this.projected, Number(opened.head[1]))
    for (const { sequence, body, commands } of entries)
      if (sequence > this.projected) this.add(sequence, body.length + commands.length)
    this.opened = true
    return opened
  }
  /** What the batches from here on are sealed behind, and what the tables add up to. */
  sealBehind(hash: string, sums: Sums): void {
    const { key, schema } = sums
    const behind = { hash, key, schema, sums: sums.text() }
    // A thread that can't take it fails the commit behind it too.
    this.journal.ask({ op: 'sealBehind', behind }).catch(() => undefined)
    this.follower.ask({ op: 'sealBehind', behind }).catch(() => undefined)
  }
  append(batch: ClosedBatch): Promise<string> {
    // Nobody overtakes one that waits: the journal takes them in their order alone.
    if (!this.full && this.blocked.length === 0) return this.give(batch)
    return new Promise((resolve, reject) => {
      this.blocked.push(() => void this.give(batch).then(resolve, reject))
      this.release()
    })
  }
  private async give(batch: ClosedBatch): Promise<string> {
    if (this.follower.failure !== undefined) throw this.follower.failure
    const { sequence } = batch
    // How long it really is, is known when it is written.
    const one = this.add(sequence, aboutLength(batch))
    const { hash, length } = (await this.journal.ask({ op: 'append', batch: leaving(batch) })) as Appended
    if (sequence > this.projected) {
      this.bytes += length - one.bytes
      one.bytes = length
      // It may be less than was thought.
      this.release()
    }
    this.acknowledged = sequence
    this.hash = hash
    return hash
  }
  hear(): boolean {
    return this.journal.hear()
  }
  /** The last batch that anybody was told of. */
  get told(): Point {
    return { sequence: this.acknowledged, hash: this.hash }
  }
  get reached(): HowFar {
    return { told: this.acknowledged, projected: this.projected }
  }
  private add(sequence: number, bytes: number): { bytes: number } {
    const one = { sequence, bytes }
    this.behind.push(one)
    this.bytes += bytes
    return one
  }
  async direct(batch: ClosedBatch): Promise<string> {
    const hash = (await this.follower.ask({ op: 'direct', batch: leaving(batch) })) as string
    this.acknowledged = this.projected = batch.sequence
    this.hash = hash
    return hash
  }
  /** Resolves when the tables hold everything that anybody has been told so far. */
  caughtUp(): Promise<void> | undefined {
    const sequence = this.acknowledged
    if (this.projected >= sequence) return undefined
    if (this.follower.failure !== undefined) return Promise.reject(this.follower.failure)
    if (this.asked < sequence) {
      this.asked = sequence
      this.follower.ask({ op: 'hurry', sequence }).catch(() => undefined)
    }
    return new Promise((resolve, reject) => this.waiting.push({ sequence, resolve, reject }))
  }
  /** All of it gone; the tables are emptied by the caller, after this. */
  async clear(): Promise<void> {
    await this.caughtUp()
    await this.empty(0)
  }
  private async empty(base: number): Promise<void> {
    await this.follower.ask({ op: 'settle' })
    await this.journal.ask({ op: 'clear', base })
  }
  /** Goes on from nothing. */
  restart(): void {
    this.acknowledged = this.projected = this.asked = 0
    this.hash = ''
  }
  async checkFence(): Promise<void> {
    if (this.follower.failure !== undefined) throw this.follower.failure
    await this.journal.ask({ op: 'checkFence' })
  }
  private get full(): boolean {
    return this.bytes >= this.bound.bytes || this.behind.length >= this.bound.batches
  }
  get lag(): Lag {
    return { batches: this.behind.length, bytes: this.bytes }
  }
  /** For tests: nothing more goes into the tables until it is let go. */
  async hold(on: boolean): Promise<void> {
    this.held = on
    await this.follower.ask({ op: 'hold', on })
  }
  async rest(): Promise<void> {
    await Promise.all([this.journal.rest(), this.follower.rest()])
  }
  async close(): Promise<void> {
    if (this.follower.failure === undefined && !this.held) await this.leave().catch(() => undefined)
    await Promise.all([this.journal.close(), this.follower.close()])
  }
  /** The tables hold everything, and the next start has nothing to catch up with. */
  private async leave(): Promise<void> {
    await this.caughtUp()
    if (this.opened) await this.empty(this.acknowledged)
  }
  private progress({ sequence, anew }: Progress): void {
    this.projected = sequence
    if (anew === true) this.moved()
    let count = 0
    for (const { sequence: one, bytes } of this.behind) {
      if (one > sequence) break
      this.bytes -= bytes
      count++
    }
    this.behind.splice(0, count)
    if (this.waiting.length > 0) {
      const reached = this.waiting.filter((one) => one.sequence <= sequence)
      this.waiting = this.waiting.filter((one) => one.sequence > sequence)
      for (const { resolve } of reached) resolve()
    }
    this.release()
  }
  /** Nobody waits for what will not come. */
  private ended(error: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(error)
    this.release()
  }
  private release(): void {
    while (this.blocked.length > 0 && (!this.full || this.follower.failure !== undefined))
      this.blocked.shift()!()
  }
}

/** A text is not handed over twice. */
function leaving(batch: ClosedBatch): ClosedBatch {
  if (!('body' in batch)) return batch
  const { sequence, at, count, commands, body } = batch
  return { sequence, at, count, commands, body }
}
const openingOf = ({ key, schema }: Sums, declared: Declared): Opening => ({
  now: Date.now() * 1000,
  key,
  schema,
  shapes: shapesOf(declared),
})
