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

/**
 * A row that the present command made may be counted on in place: the row from before it is the undo record,
 * and nobody else has seen this one. After a mark a new row is needed, for the way back to the mark.
 */
class FreshCounter implements Counter {
  readonly name: string
  value: number
  readonly #tx: Tx
  readonly #marks: number
  constructor(name: string, value: number, tx: Tx) {
    this.name = name
    this.value = value
    this.#tx = tx
    this.#marks = tx.marks
  }
  static of(row: Counter | undefined, tx: Tx): FreshCounter | undefined {
    return row instanceof FreshCounter && row.#tx === tx && row.#marks === tx.marks ? row : undefined
  }
}

/** The next id, or the first of several that follow each other. */
export function nextId(tx: Tx, table: Counters, name: string, first = 1, count = 1): number {
  const row = table.get(name)
  const fresh = FreshCounter.of(row, tx)
  if (fresh !== undefined) {
    fresh.value += count
    return fresh.value - count + 1
  }
  const value = (row?.value ?? first - 1) + count
  tx.put(table, new FreshCounter(name, value, tx))
  return value - count + 1
}
