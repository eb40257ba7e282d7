import { BrokenInvariant, Refusal, UNKNOWN_FATE, refuse } from '../labels.ts'
import { Batch } from './batch.ts'
import type { ClosedBatch } from './loose.ts'
import { Commits, type CommittedBatch } from './stream.ts'
import { Tx, type Key, type Table } from './table.ts'
import { ValueSink } from './values.ts'

/** What a handler sees: the state, the changes it makes, and the time, which it can't read for itself. */
export interface Context<S> {
  readonly state: S
  readonly tx: Tx
  /** Microseconds since 1970, strictly increasing from command to command. */
  readonly at: number
}
/** Synchronous; no I/O, no clock, no randomness. Input is plain JSON, because it is logged for replay. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each handler narrows its own input
export type Handler<S> = (context: Context<S>, input: any) => unknown
export type Handlers<S> = Readonly<Record<string, Handler<S>>>

export interface CoreOptions<S> {
  /**
   * Durable and in order: called again before the last one is through, and after a failure all later ones fail. It
   * answers the hash of everything up to this batch.
   */
  readonly commit: (batch: ClosedBatch) => Promise<string>
  /** Whether batches leave as text; else as values, for another thread to write. */
  readonly asText?: boolean
  /** Takes in what the store has said since this turn of the loop began: true where it said something. */
  readonly hear?: () => boolean
  /** Strictly increasing microseconds. */
  readonly now: () => number
  /** Memory can't be trusted any more (failed commit, broken invariant): the process must end. */
  readonly fatal: (error: unknown) => void
  /** A bug in one command: it was undone and answered, and somebody should read about it. */
  readonly defect: (error: unknown, type: string) => void
  /** Runs after each command; throws BrokenInvariant when the state is not sound. */
  readonly check: (state: S) => void
  readonly waitingMax: number
  /** Left out: nobody else could have taken over unnoticed. */
  readonly tenure?: Tenure
}
/** Whether this process still is the one that answers. What is appended is fenced; what is only read is not. */
export interface Tenure {
  readonly holds: boolean
  /** Resolves when it holds again; rejects when it never will. */
  regained(): Promise<void>
}
export interface Head {
  readonly sequence: number
  readonly hash: string
}
/** Something seen of the state exactly between two batches. */
export interface Snapshot<R> {
  /** The last batch that it shows. */
  readonly sequence: number
  readonly value: R
}
interface Flight {
  readonly batch: Batch
  readonly landing: Landing
  /** Where somebody listened when it was opened. */
  readonly committed: CommittedBatch | undefined
}
/** That a batch is on the disk: one promise for all who wait for it, told in the order in which they asked. */
class Landing {
  waiting = 0
  settle!: () => void
  fail!: (error: unknown) => void
  readonly promise = new Promise<void>((resolve, reject) => {
    this.settle = resolve
    this.fail = reject
  })

  constructor() {
    // Each who waits hears of a failure by himself; where nobody does, nobody need.
    this.promise.catch(() => undefined)
  }
}

/**
 * What those who answer callers see of the core. There is no way to the state but through a view, so nothing is told
 * before it is committed.
 */
export interface Port<S, H extends Handlers<S>> {
  /** Resolves when the effects are durable, rejects with a Refusal when there are none. */
  submit<T extends keyof H & string>(type: T, input: Parameters<H[T]>[1]): Promise<ReturnType<H[T]>>
  /** The same, and a look at the state as the command left it; a view that fails undoes the command. */
  submit<T extends keyof H & string, R>(
    type: T,
    input: Parameters<H[T]>[1],
    view: (state: S, reply: ReturnType<H[T]>) => R,
  ): Promise<R>
  /** One look at the live state, answered only after the commit of everything that it saw. */
  read<R>(view: (state: S) => R): Promise<R>
  /** The last committed batch. */
  readonly committed: Head
  /** What batches changed, told when they have landed. */
  readonly commits: Commits
}

/**
 * The single writer. A command is applied at once and answered when the batch it fell into is on the disk;
 * while one batch is being committed the next one fills, so batches grow with load by themselves.
 */
export class Core<S, H extends Handlers<S>> implements Port<S, H> {
  readonly state: S
  private readonly handlers: H
  private readonly options: CoreOptions<S>
  private open = new Batch()
  /** What batches leave by. */
  private readonly sink = new ValueSink()
  private landing = new Landing()
  /** Batches on their way to the disk, oldest first. */
  private readonly flights: Flight[] = []
  private readonly snapshots: { readonly look: () => void; readonly fail: (error: unknown) => void }[] = []
  /** What has been committed, for whoever follows it. */
  readonly commits = new Commits()
  private scheduled = false
  private dead: unknown
  private head: Head
  /** Of the last batch handed to the store. */
  private sent: number
  /** How long the last commit took, its wait behind another included. */
  private commitMs = QUICK_MS
  private refusesWrites: string | undefined
  private suspended: string | undefined
  private readonly suspensions: { readonly reason: string }[] = []
  private idleWaiters: (() => void)[] = []

  constructor(state: S, handlers: H, head: Head, options: CoreOptions<S>) {
    this.state = state
    this.handlers = handlers
    this.head = head
    this.sent = head.sequence
    this.options = options
  }

  get committed(): Head {
    return this.head
  }
  get waiting(): number {
    let { waiting } = this.landing
    for (const { landing } of this.flights) waiting += landing.waiting
    return waiting
  }
  /** Reads go on, writes are refused: for a ledger that does not balance. */
  stopWrites(reason: string): void {
    this.refusesWrites = reason
  }
  /** Refuses commands until the answer is called; of several reasons each must be taken back. */
  suspend(reason: string): () => void {
    const suspension = { reason }
    this.suspensions.push(suspension)
    this.suspended = reason
    return () => {
      const place = this.suspensions.indexOf(suspension)
      if (place !== -1) this.suspensions.splice(place, 1)
      this.suspended = this.suspensions.at(-1)?.reason
    }
  }
  /** Why no command is taken at the moment: who works by itself waits until it is undefined. */
  get held(): string | undefined {
    return this.suspended
  }
  get writesStopped(): string | undefined {
    return this.refusesWrites
  }
  /** Defined while another process may have taken over: resolves when it has not. An append that lands tells the same. */
  get unsure(): Promise<void> | undefined {
    const { tenure } = this.options
    if (tenure === undefined || tenure.holds) return undefined
    return tenure.regained().catch(() => Promise.reject(stopping()))
  }

  submit<T extends keyof H & string>(type: T, input: Parameters<H[T]>[1]): Promise<ReturnType<H[T]>>
  submit<T extends keyof H & string, R>(
    type: T,
    input: Parameters<H[T]>[1],
    view: (state: S, reply: ReturnType<H[T]>) => R,
  ): Promise<R>
  submit<T extends keyof H & string>(
    type: T,
    input: Parameters<H[T]>[1],
    view?: (state: S, reply: ReturnType<H[T]>) => unknown,
  ): Promise<unknown> {
    if (this.dead !== undefined) return Promise.reject(stopping())
    if (this.refusesWrites !== undefined)
      return Promise.reject(new Refusal('SERVER_ERROR', this.refusesWrites))
    if (this.suspended !== undefined) return Promise.reject(new Refusal('TOO_BUSY', this.suspended))
    if (this.waiting >= this.options.waitingMax)
      return Promise.reject(new Refusal('TOO_BUSY', 'the platform is at capacity; send it again in a second'))
    const tx = new Tx()
    const at = this.options.now()
    const logged = JSON.stringify(input)
    let answer: unknown
    try {
      refuseUnstorable(logged)
      const reply = this.handlers[type]!({ state: this.state, tx, at }, input) as ReturnType<H[T]>
      this.options.check(this.state)
      answer = view === undefined ? reply : view(this.state, reply)
    } catch (error) {
      if (error instanceof BrokenInvariant) return this.die(error)
      try {
        tx.rollback()
      } catch (failed) {
        // Half of the command may still be there: nothing that memory says is to be trusted any more.
        return this.die(failed)
      }
      if (!(error instanceof Refusal)) this.options.defect(error, type)
      return this.barrier().then(() => Promise.reject(error as Error))
    }
    // What changed nothing needs no commit of its own, but it may have seen what is not committed yet.
    if (!tx.empty) {
      // Whoever came while nothing was under way hears of the next command already.
      if (this.open.size === 0 && this.open.wanted !== this.commits.wanted)
        this.open = new Batch(this.commits.wanted)
      this.open.add(tx, at, type, logged)
    }
    return this.barrier().then(() => answer)
  }

  read<R>(view: (state: S) => R): Promise<R> {
    if (this.dead !== undefined) return Promise.reject(stopping())
    let result: R
    try {
      result = view(this.state)
    } catch (error) {
      // A refusal tells what was seen as well.
      return this.barrier().then(() => Promise.reject(error as Error))
    }
    return this.barrier().then(() => result)
  }

  /**
   * A view of the state exactly as the batches up to `sequence` left it, told when they have landed: whoever follows the
   * commits goes on behind it.
   */
  snapshot<R>(view: (state: S) => R): Promise<Snapshot<R>> {
    if (this.dead !== undefined) return Promise.reject(stopping())
    return new Promise((resolve, reject) => {
      const look = (): void => {
        try {
          const seen = { sequence: this.sent, value: view(this.state) }
          this.barrier().then(() => resolve(seen), reject)
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      // Between two batches nothing is half told: the open one is closed first.
      if (this.open.size === 0) look()
      else {
        this.snapshots.push({ look, fail: reject })
        this.schedule()
      }
    })
  }

  /** Resolves when nothing is waiting for a commit. */
  idle(): Promise<void> {
    if (this.dead !== undefined || (this.flights.length === 0 && this.open.size === 0)) return SETTLED
    return new Promise((resolve) => this.idleWaiters.push(resolve))
  }

  /** Everything was replaced behind the core's back (reset): go on from this head. */
  restart(head: Head): void {
    this.head = head
    this.sent = head.sequence
    this.commits.lose()
  }

  /** Resolves when everything that has been applied so far is on the disk, as this process's own. */
  private barrier(): Promise<void> {
    const { flights, open } = this
    if (open.size === 0 && flights.length === 0) return this.unsure ?? SETTLED
    const landing = open.size === 0 ? flights.at(-1)!.landing : this.landing
    landing.waiting++
    if (open.size >= EARLY_SIZE && this.commitMs < EARLY_MS) this.flush()
    else if (open.size > 0) this.schedule()
    return landing.promise
  }

  /**
   * Between requests that came together: a batch that has waited long enough leaves, and who waits for one that has landed
   * is told; true where one may have. A turn of the loop with much to do would keep both back until its end.
   */
  breathe(): boolean {
    const { hear } = this.options
    if (hear === undefined || this.dead !== undefined) return false
    const { size } = this.open
    if (this.commitMs < EARLY_MS && size >= (this.flights.length === 0 ? 1 : BREATH_SIZE)) this.flush()
    return hear()
  }

  /** As many as there should be. */
  private get flying(): boolean {
    return this.flights.length >= (this.commitMs < QUICK_MS ? QUICK_FLIGHTS : FLIGHTS)
  }
  private schedule(): void {
    if (this.scheduled || this.flying) return
    this.scheduled = true
    // The requests of this turn of the event loop join one batch.
    setImmediate(() => {
      this.scheduled = false
      this.flush()
    })
  }

  /** Hands the open batch to the store, which commits in order; the next one fills meanwhile. */
  private flush(): void {
    if (this.open.size === 0 || this.flying || this.dead !== undefined) return
    const at = this.options.now()
    const { open, landing } = this
    const sequence = ++this.sent
    const committed = open.committed(sequence, at)
    this.flights.push({ batch: open, landing, committed })
    this.open = new Batch(this.commits.wanted)
    this.landing = new Landing()
    for (const { look } of this.snapshots.splice(0)) look()
    this.commit(open, sequence, at).then(
      (head) => this.landed(head),
      // Failed or uncertain: what the disk holds is unknown. The next start reads what is really there.
      (error: unknown) => void this.die(error).catch(() => undefined),
    )
  }
  private async commit(batch: Batch, sequence: number, at: number): Promise<Head> {
    const start = performance.now()
    const closed =
      this.options.asText === true ? batch.packed(sequence, at) : batch.loose(sequence, at, this.sink)
    const hash = await this.options.commit(closed)
    this.commitMs = performance.now() - start
    return { sequence, hash }
  }

  private landed(head: Head): void {
    if (this.dead !== undefined) return
    const { batch, landing, committed } = this.flights.shift()!
    this.head = head
    for (const [table, keys] of batch.touched) table.retire(keys.keys(), (key) => this.needs(table, key))
    landing.settle()
    if (committed !== undefined) this.commits.publish(committed)
    if (this.open.size > 0) this.schedule()
    else if (this.flights.length === 0) for (const resolve of this.idleWaiters.splice(0)) resolve()
  }
  private needs(table: Table<object>, key: Key): boolean {
    return this.open.touches(table, key) || this.flights.some(({ batch }) => batch.touches(table, key))
  }

  private die(error: unknown): Promise<never> {
    if (this.dead !== undefined) return Promise.reject(stopping())
    this.dead = error
    const landings = [...this.flights.map(({ landing }) => landing), this.landing]
    this.flights.length = 0
    this.landing = new Landing()
    this.options.fatal(error)
    for (const landing of landings) landing.fail(stopping())
    for (const { fail } of this.snapshots.splice(0)) fail(stopping())
    for (const resolve of this.idleWaiters.splice(0)) resolve()
    return Promise.reject(stopping())
  }
}

/** NUL and half a surrogate pair are JSON, but no database keeps them in a text: a commit would fail on them. */
function refuseUnstorable(json: string): void {
  if (json.includes('\\u') && /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json))
    refuse('INVALID_PARAM_VALUE', 'a text holds a NUL character or half a surrogate pair; remove it')
}

/**
 * Batches under way at once. With one, the store would wait for this thread between any two commits; with two, it finds
 * the next one ready. Where a commit takes no longer than the way to it and back, more of them keep both ends busy; on a
 * slower disk fewer, larger ones win.
 */
const FLIGHTS = 2
const QUICK_FLIGHTS = 6
const QUICK_MS = 2
/**
 * While the disk is quick, a batch of this size leaves at once, so that the store works while the rest of a burst
 * is applied; on a slow disk larger batches win, and a batch leaves at the end of the turn.
 */
const EARLY_SIZE = 24
const EARLY_MS = 10
/** Behind others that are under way, fewer had better wait for more. */
const BREATH_SIZE = 8
const SETTLED = Promise.resolve()
const stopping = (): Refusal => new Refusal('SERVER_ERROR', UNKNOWN_FATE, 503)
