import type { CommittedCommand } from '../machine/stream.ts'
import { STORED, type LogSpec, type TableSpec } from '../machine/table.ts'

export interface RowPair<Row> {
  readonly before: Row | undefined
  readonly after: Row | undefined
  /** There was one, finished, which memory no longer had. */
  readonly stored: boolean
}

/** The rows of a command by table and by log. */
export class CommandRows {
  private readonly pairs = new Map<string, RowPair<object>[]>()
  private readonly logged = new Map<string, object[]>()

  constructor({ changes, appended }: CommittedCommand) {
    for (const { table, before, after } of changes) {
      const stored = before === STORED
      push(this.pairs, table.spec.name, { before: stored ? undefined : before, after, stored })
    }
    for (const { log, row } of appended) push(this.logged, log.name, row)
  }
  of<Row extends object>({ name }: TableSpec<Row>): readonly RowPair<Row>[] {
    return (this.pairs.get(name) ?? []) as unknown as readonly RowPair<Row>[]
  }
  /** In the order in which they were written. */
  appendedTo<Row extends object>({ name }: LogSpec<Row>): readonly Row[] {
    return (this.logged.get(name) ?? []) as unknown as readonly Row[]
  }
}
function push<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [item])
  else list.push(item)
}

export const byId = (one: { readonly id: number }, other: { readonly id: number }): number =>
  one.id - other.id
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
