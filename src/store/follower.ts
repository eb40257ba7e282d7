import { setImmediate as turn } from 'node:timers/promises'
import { JournalChain, type JournalEntry } from '../machine/journal.ts'
import type { ClosedBatch } from '../machine/loose.ts'
import { Portion } from '../machine/portion.ts'
import { Sealer } from '../machine/sealer.ts'
import { Sums } from '../machine/sums.ts'
import { sumsOf, walk, wrongKey } from './seat.ts'
import { Fenced, StoreUnavailable, type StoreHead } from './store.ts'

/** The tables of a store, as a follower writes them. */
export interface Tables {
  /** One transaction with the head. `durable`: it is on the disk when this comes back. */
  project(portion: Portion, head: StoreHead, durable: boolean): Promise<void> | void
  /** How many portions are made while one is being written; left out: one. */
  readonly ahead?: number
  /** Begins with what can be done for a portion before its turn comes. */
  ready?(portion: Portion): void
  /** Where the way to the tables may be lost and found again: this is such a loss. */
  survives?(error: unknown): boolean
  /** And this is where they stand then, as soon as it is known. Throws Fenced where they are another's. */
  seat?<T>(found: (seat: Seat) => T): Promise<T>
}
/** Where the tables stand, and what the journal holds beyond that. */
export interface Seat {
  readonly head: StoreHead
  readonly tail: readonly JournalEntry[]
}
export interface Progress {
  /** The tables hold everything up to this batch. */
  readonly sequence: number
  /** And this much of it survives a loss of power: the journal may forget it. */
  readonly safe: number
  /** The way there was lost: the tables may have been further on, on another server. */
  readonly anew?: boolean
}

/** A portion is closed at this size; a transaction takes some tens of milliseconds then. */
const PORTION_BYTES = 2 * 2 ** 20
/** At a start: after so much of the next portion, more of the last one is sent. */
const TURN_BYTES = 128 * 2 ** 10
/** So much is made into a portion while the one before is being written; less is left to gather. */
const AHEAD_BYTES = 256 * 2 ** 10
/** Entries are gathered for so long, unless somebody waits for them: what changes again and again is written once. */
const GATHER_MS = 20
/** After so much, or so long, a transaction is synced. */
const SYNC_BYTES = 4 * 2 ** 20
const SYNC_MS = 1_000
/** So often somebody else may have moved the tables who turns out to have been this process. */
const MISSES = 3

/** What the head says when the tables stand at the end of a portion. */
export function headOf({ last }: Portion, sums: Sums): StoreHead {
  const { sequence, hash, at } = last
  const sealed = { sequence, hash, at, sums: sums.text(), schema: sums.schema }
  return { ...sealed, mac: sums.mac(sealed) }
}

/** Puts the journal's entries into the tables, behind whoever appends them, in transactions of many entries. */
export class Follower {
  private readonly tables: Tables
  private readonly report: (progress: Progress) => void
  private readonly fail: (error: unknown) => void
  private queue: JournalEntry[] = []
  private queued = 0
  /** Made while those before were being written, oldest first; the sums stand behind them. */
  private ahead: Made[] = []
  private sums: Sums | undefined
  private readonly sealer = new Sealer()
  /** The last that it was given, or what it was told to begin behind. */
  private taken: { readonly sequence: number | undefined; readonly hash: string } | undefined
  private unseated = false
  /** How often in a row the tables stood elsewhere than they should. */
  private misses = 0
  private busy = false
  private held = false
  private rested: (() => void) | undefined
  private wanted = 0
  private timer: NodeJS.Timeout | undefined
  private safe = 0
  private unsynced = 0
  private syncedAt = performance.now()

  constructor(tables: Tables, report: (progress: Progress) => void, fail: (error: unknown) => void) {
    this.tables = tables
    this.report = report
    this.fail = fail
  }
  /** What comes next is behind this hash, and the tables add up to these sums. */
  sealBehind(hash: string, sums: Sums): void {
    this.sums = sums
    this.sealer.sealBehind(hash, sums.key)
    this.taken = { sequence: undefined, hash }
    // After a reset sequences begin anew: what somebody waited for before must not hurry all that comes up to it.
    this.wanted = 0
  }
  take(entry: JournalEntry): void {
    this.queue.push(entry)
    this.queued += sizeOf(entry)
    this.taken = entry
    this.kick()
  }
  /** The way to the tables is lost: nobody knows where they stand. */
  unseat(): void {
    if (this.tables.seat === undefined || this.taken === undefined) return
    this.unseated = true
    this.kick()
  }
  /** Somebody waits for this batch. */
  hurry(sequence: number): void {
    this.wanted = Math.max(this.wanted, sequence)
    this.kick()
  }
  /** For tests: nothing is written until `go`. */
  hold(): void {
    this.held = true
  }
  go(): void {
    this.held = false
    this.kick()
  }
  /** What is being written is finished, and nothing else is begun. */
  rest(): Promise<void> {
    this.held = true
    return this.busy ? new Promise((resolve) => (this.rested = resolve)) : Promise.resolve()
  }
  /** Past the journal, for who is alone with the database: it is in the tables, for good, when this comes back. */
  async direct(batch: ClosedBatch): Promise<string> {
    const entry = this.sealer.seal(batch)
    const portion = new Portion()
    portion.add(entry)
    const { head } = this.sealed(portion)
    await this.tables.project(portion, head, true)
    return entry.hash
  }

  private kick(): void {
    if (this.unseated) this.start()
    if (this.busy || this.held || !this.waits) return
    if (this.ahead.length > 0 || this.wanted >= this.queue[0]!.sequence) this.start()
    else this.timer ??= setTimeout(() => this.start(), GATHER_MS)
  }
  private get waits(): boolean {
    return this.ahead.length > 0 || this.queue.length > 0
  }
  private start(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.busy || this.held || (!this.waits && !this.unseated)) return
    this.busy = true
    void (this.unseated ? this.sit() : this.next())
  }
  private leave(): void {
    this.busy = false
    this.rested?.()
  }
  /** Finds its place again. */
  private async sit(): Promise<void> {
    this.unseated = false
    try {
      await this.tables.seat!((seat) => this.settle(seat))
    } catch (error) {
      if (!this.again(error)) return
    }
    this.leave()
    this.kick()
  }
  private settle({ head, tail }: Seat): void {
    const { key, schema } = this.sums!
    const sums = sumsOf(head, key, schema)
    const taken = this.taken!
    // What came meanwhile is in the queue already; what the journal's thread has not been told of yet will come.
    const upTo = this.queue[0]?.sequence ?? (taken.sequence ?? head.sequence) + 1
    const queue = [...tail.filter(({ sequence }) => sequence < upTo), ...this.queue].filter(
      ({ sequence }) => sequence > head.sequence,
    )
    walk(queue, head, { sequence: taken.sequence ?? head.sequence, hash: taken.hash }, key)
    this.queue = queue
    this.queued = queue.reduce((sum, entry) => sum + sizeOf(entry), 0)
    // What they held is in the journal's tail.
    this.ahead = []
    this.sums = sums
    this.safe = Math.min(this.safe, head.sequence)
    this.report({ sequence: head.sequence, safe: this.safe, anew: true })
  }
  /** Whether it can go on after a failure; if so, it has to find its place first. */
  private again(error: unknown): boolean {
    // What was written just before the way was lost may land behind the look at where they stand.
    const moved = error instanceof Fenced && this.tables.seat !== undefined && this.misses++ < MISSES
    if (moved || this.tables.survives?.(error) === true) {
      this.unseated = true
      return true
    }
    this.held = true
    this.fail(error)
    return false
  }
  private async next(): Promise<void> {
    let portion: Portion
    let durable: boolean
    try {
      const made = this.ahead.shift() ?? this.make()
      portion = made.portion
      this.unsynced += portion.bytes
      durable = this.unsynced >= SYNC_BYTES || performance.now() - this.syncedAt >= SYNC_MS
      const written = Promise.resolve(this.tables.project(portion, made.head, durable))
      written.catch(() => undefined) // it is waited for below
      await this.makeAhead()
      await written
    } catch (error) {
      if (!this.again(error)) return
      this.leave()
      this.start()
      return
    }
    this.misses = 0
    const { sequence } = portion.last
    if (durable) {
      this.safe = sequence
      this.unsynced = 0
      this.syncedAt = performance.now()
    }
    this.report({ sequence, safe: this.safe })
    this.leave()
    // A full portion leaves no time to gather.
    if (portion.bytes >= PORTION_BYTES) setImmediate(() => this.start())
    else this.kick()
  }
  private async makeAhead(): Promise<void> {
    while (this.queued >= AHEAD_BYTES && this.ahead.length < (this.tables.ahead ?? 1)) {
      // What has to be sent has been sent after a turn.
      await turn()
      if (this.queued < AHEAD_BYTES) return
      const made = this.make()
      this.ahead.push(made)
      this.tables.ready?.(made.portion)
    }
  }
  /** The first of what waits. */
  private make(): Made {
    const portion = new Portion()
    let count = 0
    while (count < this.queue.length && portion.bytes < PORTION_BYTES) portion.add(this.queue[count++]!)
    this.queue.splice(0, count)
    this.queued -= portion.bytes
    return this.sealed(portion)
  }
  private sealed(portion: Portion): Made {
    if (this.sums === undefined) throw new TypeError('nobody said what the tables add up to')
    portion.count(this.sums)
    return { portion, head: headOf(portion, this.sums) }
  }
}
/** A portion, and what the head says behind it. */
interface Made {
  readonly portion: Portion
  readonly head: StoreHead
}
const sizeOf = ({ body, commands }: JournalEntry): number => body.length + commands.length

/**
 * At start: what was acknowledged and is not in the tables yet. Whoever does not have the key can't have written it, and
 * can't have changed the head that it goes on from.
 */
export async function drain(
  tail: readonly JournalEntry[],
  head: StoreHead,
  tables: Tables,
  { key, schema }: { readonly key: string; readonly schema: string },
): Promise<void> {
  const sums = new Sums(key, head.mac === '' ? schema : head.schema)
  if (head.mac === '' ? head.sequence > 0 : !sums.isMac(head, head.mac)) throw wrongKey()
  sums.setAll(head.sums)
  const chain = new JournalChain(head.hash, key)
  let next = head.sequence + 1
  let portion = new Portion()
  let told = 0
  /** While one portion is being written the next one is made; no more than one waits. */
  let under: Promise<void> | undefined
  const write = async (): Promise<void> => {
    if (portion.entries.length === 0) return
    const made = portion
    portion = new Portion()
    told = 0
    made.count(sums)
    const written = projected(made, headOf(made, sums), tables)
    written.catch(() => undefined) // whoever waits for it hears of it
    await under
    under = written
  }
  for (const entry of tail) {
    if (entry.sequence !== next++)
      throw new StoreUnavailable(
        `the journal goes on with batch ${entry.sequence}, but the tables end at ${next - 2}: one of them is of another time; restore both from a backup`,
      )
    if (!chain.admits(entry))
      throw new StoreUnavailable(
        `batch ${entry.sequence} of the journal was changed behind the platform's back, or is of another database; restore it from a backup`,
      )
    portion.add(entry)
    if (portion.bytes >= PORTION_BYTES) await write()
    else if (portion.bytes - told >= TURN_BYTES) {
      told = portion.bytes
      await turn()
    }
  }
  await write()
  await under
}
async function projected(portion: Portion, head: StoreHead, tables: Tables): Promise<void> {
  try {
    await tables.project(portion, head, true)
  } catch (error) {
    if (error instanceof Fenced) throw error
    const { message } = error as Error
    throw new StoreUnavailable(
      `batches ${portion.entries[0]!.sequence} to ${portion.last.sequence} of the journal can't be written into the tables: ${message}; run: kontor verify`,
      { cause: error },
    )
  }
}
