import type { Changes } from '../machine/portion.ts'
import type { SqlitePlace, StagerJob } from './messages.ts'
import type { Shape, Staged } from './shapes.ts'
import { StoreThread } from './thread.ts'

/** Fewer rows are sooner written as they are. */
const FEW_BYTES = 16 * 2 ** 10

/** A portion whose larger part stands ready beside the tables. */
export interface Readied {
  readonly changes: Changes
  readonly staged: Staged
}

/** Has rows readied by a thread of its own, which is there from the first portion on that is worth it. */
export class SqliteStager {
  private readonly place: SqlitePlace
  private epoch = 0
  private shapes: readonly Shape[] = []
  private thread: StoreThread<StagerJob> | undefined

  constructor(place: SqlitePlace) {
    this.place = place
  }
  /** Whose tables they are, and what they look like. */
  begin(epoch: number, shapes: readonly Shape[]): void {
    this.epoch = epoch
    this.shapes = shapes
  }
  async ready(changes: Changes): Promise<Readied> {
    if (this.thread === undefined) {
      const { epoch, shapes } = this
      this.thread = new StoreThread<StagerJob>('stager', this.place)
      this.thread.ask({ op: 'begin', epoch, shapes }).catch(() => undefined) // what comes behind it fails too
    }
    const writes: [table: string, rows: string][] = []
    const rows: [table: string, rows: string][] = []
    for (const [table, text] of changes.writes) (text.length < FEW_BYTES ? writes : rows).push([table, text])
    const staged = (await this.thread.ask({ op: 'stage', rows })) as Staged
    return { changes: { ...changes, writes }, staged }
  }
  async rest(): Promise<void> {
    await this.thread?.rest()
  }
  async close(): Promise<void> {
    await this.thread?.close()
  }
}
