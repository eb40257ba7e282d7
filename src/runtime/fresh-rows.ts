import type { Commits, Subscription } from '../machine/stream.ts'
import type { LogSpec } from '../machine/table.ts'
import type { Store } from '../store/store.ts'

interface Fresh {
  /** Of its batch. */
  readonly sequence: number
  readonly row: object
}
/** What comes in one turn of the event loop is far less. */
const ROWS_MAX = 100_000
/** Each question looks at all of them: where the tables are further behind, it waits for them. */
const LOOKED_AT_MAX = 5_000

/**
 * Rows of a few logs that have landed and that the tables may not hold yet. Whoever reads such a log from the tables adds
 * these, and waits for nothing. There are no more of them than the tables are behind.
 */
export class FreshRows {
  private readonly store: Pick<Store, 'reached'>
  private readonly logs: ReadonlyMap<string, Fresh[]>
  private readonly place: Subscription | undefined
  /** Rows of batches up to this one may be in the tables alone; undefined: nothing was heard yet. */
  private unknown: number | undefined

  constructor(
    commits: Commits,
    store: Pick<Store, 'kind' | 'reached'>,
    logs: readonly { readonly name: string }[],
  ) {
    this.store = store
    this.logs = new Map(logs.map(({ name }) => [name, []]))
    // Tables in memory hold everything.
    if (store.kind === 'memory') return
    this.place = commits.subscribe(ROWS_MAX, () => this.hear(), new Set(this.logs.keys()))
  }
  /** In the order in which they came; undefined: only tables that hold everything know them all, or they are too many. */
  of<Row extends object>(log: LogSpec<Row>): readonly Row[] | undefined {
    // A reply may have left before whoever listens was woken.
    this.hear()
    if (this.unknown !== undefined && this.store.reached.projected < this.unknown) return undefined
    const rows = this.logs.get(log.name)!
    return rows.length > LOOKED_AT_MAX ? undefined : rows.map(({ row }) => row as Row)
  }
  private hear(): void {
    if (this.place === undefined) return
    const { batches, lost } = this.place.take()
    const { told, projected } = this.store.reached
    if (lost || this.unknown === undefined) {
      this.unknown = batches.length > 0 ? batches[0]!.sequence - 1 : told
      for (const rows of this.logs.values()) rows.length = 0
    }
    for (const { sequence, commands } of batches)
      for (const { appended } of commands)
        for (const { log, row } of appended) this.logs.get(log.name)?.push({ sequence, row })
    for (const rows of this.logs.values()) {
      let held = 0
      while (held < rows.length && rows[held]!.sequence <= projected) held++
      // A database that fails over may hold less than it did.
      if (held > 0) this.unknown = Math.max(this.unknown, rows[held - 1]!.sequence)
      rows.splice(0, held)
    }
  }
}
