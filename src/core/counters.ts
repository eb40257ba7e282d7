import { Table, type TableSpec, type Tx } from './table.ts'

/** Ids are counters kept as rows, so that they are the same after a restart and in a replay. */
export interface Counter {
  readonly name: string
  readonly value: number
}
export const COUNTER: TableSpec<Counter> = {
  name: 'counter',
  key: ['name'],
  columns: { name: 'text', value: 'int' },
}
export type Counters = Table<Counter>
export const counters = (): Counters => new Table(COUNTER)

export function nextId(tx: Tx, table: Counters, name: string, first = 1): number {
  const value = (table.get(name)?.value ?? first - 1) + 1
  tx.put(table, { name, value })
  return value
}
