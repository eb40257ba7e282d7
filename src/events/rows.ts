import type { CommittedCommand } from '../machine/stream.ts'
import { STORED, type LogSpec, type TableSpec } from '../machine/table.ts'

export interface RowPair<Row> {
  readonly before: Row | undefined
  readonly after: Row | undefined
  /** There was one, finished, which memory no longer had. */
  readonly stored: boolean
}

/** The rows of a command by table and by log. There are few of them, so that looking through all costs less than sorting them. */
export class CommandRows {
  private readonly command: Pick<CommittedCommand, 'changes' | 'appended'>

  constructor(command: Pick<CommittedCommand, 'changes' | 'appended'>) {
    this.command = command
  }
  of<Row extends object>({ name }: TableSpec<Row>): readonly RowPair<Row>[] {
    let found: RowPair<object>[] | undefined
    for (const { table, before, after } of this.command.changes) {
      if (table.spec.name !== name) continue
      const stored = before === STORED
      ;(found ??= []).push({ before: stored ? undefined : before, after, stored })
    }
    return (found ?? NONE) as unknown as readonly RowPair<Row>[]
  }
  /** In the order in which they were written. */
  appendedTo<Row extends object>({ name }: LogSpec<Row>): readonly Row[] {
    let found: object[] | undefined
    for (const { log, row } of this.command.appended) if (log.name === name) (found ??= []).push(row)
    return (found ?? NONE) as unknown as readonly Row[]
  }
}
const NONE: readonly never[] = []

export const byId = (one: { readonly id: number }, other: { readonly id: number }): number =>
  one.id - other.id
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
