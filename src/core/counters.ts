import { Table, type TableSpec, type Tx } from '../machine/table.ts'

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

/** A counter that the present command may count on, until its next mark. */
export function counting(tx: Tx, table: Counters, name: string, first = 1): { value: number } {
  const before = table.get(name)
  const own = tx.own(before)
  if (own !== undefined) return own
  const fresh = { name, value: before?.value ?? first - 1, stamp: tx.stamp }
  tx.replace(table, name, before, fresh)
  return fresh
}

/** The next id, or the first of several that follow each other. */
export function nextId(tx: Tx, table: Counters, name: string, first = 1, count = 1): number {
  const counter = counting(tx, table, name, first)
  counter.value += count
  return counter.value - count + 1
}
