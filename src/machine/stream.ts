import type { Key, LogSpec, STORED, Table } from './table.ts'

/** A row that a command changed, as it was and as it is: not there is undefined. */
export interface RowChange {
  readonly table: Table<object>
  readonly key: Key
  /** `STORED`: memory did not have it; it was finished. */
  readonly before: object | typeof STORED | undefined
  readonly after: object | undefined
}
export interface RowAppended {
  readonly log: LogSpec<object>
  readonly row: object
}
/** What a command changed: rows that it touched ten times are here once. */
export interface CommittedCommand {
  /** Of its batch. */
  readonly sequence: number
  /** Microseconds. */
  readonly at: number
  readonly changes: readonly RowChange[]
  readonly appended: readonly RowAppended[]
}
/** The commands of a batch in their order, those that changed something. Told when it has landed, never before. */
export interface CommittedBatch {
  readonly sequence: number
  /** Microseconds: when it was closed. */
  readonly at: number
  readonly commands: readonly CommittedCommand[]
  /** Of all of them. */
  readonly rows: number
}

/** The batches that came since the last look; `lost`: some are missing, and only a snapshot brings him up to date. */
export interface Taken {
  readonly batches: readonly CommittedBatch[]
  readonly lost: boolean
  /** Milliseconds since the first of them landed. */
  readonly waited: number
}
/** One subscriber's place: it holds a bounded number of rows, and whoever lets it overflow is told so. */
export class Subscription {
  private readonly rowsMax: number
  private readonly wake: () => void
  private readonly leave: (place: Subscription) => void
  private batches: CommittedBatch[] = []
  private rows = 0
  private first = 0
  private overflowed = false
  private woken = false

  constructor(rowsMax: number, wake: () => void, leave: (place: Subscription) => void) {
    this.rowsMax = rowsMax
    this.wake = wake
    this.leave = leave
  }
  /** Everything in order, once. */
  take(): Taken {
    const waited = this.batches.length === 0 ? 0 : performance.now() - this.first
    const taken = { batches: this.batches, lost: this.overflowed, waited }
    this.batches = []
    this.rows = 0
    this.overflowed = false
    return taken
  }
  close(): void {
    this.leave(this)
  }
  /** Only the stream calls this. */
  put(batch: CommittedBatch): void {
    if (this.batches.length === 0) this.first = performance.now()
    this.rows += batch.rows
    if (this.rows > this.rowsMax) this.lose()
    else this.batches.push(batch)
    this.ring()
  }
  /** What he knows is no longer true, or no longer whole. */
  lose(): void {
    this.batches = []
    this.rows = 0
    this.overflowed = true
    this.ring()
  }
  private ring(): void {
    if (this.woken) return
    this.woken = true
    // After the replies of this batch, whatever else the turn brings.
    setImmediate(() => {
      this.woken = false
      this.wake()
    })
  }
}

/** Names of tables and logs whose rows somebody wants to hear of. */
export type Wanted = ReadonlySet<string> | 'all'

/** Committed batches, in order, to whoever wants them. */
export class Commits {
  private readonly places = new Map<Subscription, Wanted>()
  /** What is to be collected; undefined: nobody listens. */
  wanted: Wanted | undefined

  /**
   * `wake` is called after there is something to take; `rowsMax` bounds what waits. Whoever wants few tables may be told
   * of more.
   */
  subscribe(rowsMax: number, wake: () => void, wanted: Wanted = 'all'): Subscription {
    const place = new Subscription(rowsMax, wake, (left) => {
      this.places.delete(left)
      this.wanted = union(this.places.values())
    })
    this.places.set(place, wanted)
    this.wanted = union(this.places.values())
    return place
  }
  /** Everything was replaced: all must take a snapshot. */
  lose(): void {
    for (const place of this.places.keys()) place.lose()
  }
  /** Only the core calls this. */
  publish(batch: CommittedBatch): void {
    for (const place of this.places.keys()) place.put(batch)
  }
}

function union(all: Iterable<Wanted>): Wanted | undefined {
  let names: Set<string> | undefined
  for (const wanted of all) {
    if (wanted === 'all') return 'all'
    names = new Set([...(names ?? []), ...wanted])
  }
  return names
}
