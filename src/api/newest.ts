import type { LogSpec } from '../machine/table.ts'
import type { Value } from '../store/store.ts'
import type { Desk } from './endpoint.ts'

type Column<Row> = keyof Row & string

/** Conditions on the columns of a log, which a database and memory read alike. */
export class Conditions<Row extends object> {
  private readonly texts: string[] = []
  private readonly tries: ((row: Row) => boolean)[] = []
  readonly values: Value[] = []

  among(column: Column<Row>, values: readonly Value[]): this {
    this.texts.push(`"${column}" in (${values.map(() => '?').join(', ')})`)
    this.values.push(...values)
    this.tries.push((row) => values.includes(row[column] as Value))
    return this
  }
  is(column: Column<Row>, value: Value): this {
    this.texts.push(`"${column}" = ?`)
    this.values.push(value)
    this.tries.push((row) => row[column] === value)
    return this
  }
  /** Both included. */
  within(column: Column<Row>, from: number, to: number): this {
    this.texts.push(`"${column}" >= ? and "${column}" <= ?`)
    this.values.push(from, to)
    this.tries.push((row) => (row[column] as number) >= from && (row[column] as number) <= to)
    return this
  }
  get sql(): string {
    return this.texts.join(' and ')
  }
  hold(row: Row): boolean {
    return this.tries.every((holds) => holds(row))
  }
}
/** By which numbers the rows of a log are sorted, the greatest first, and what no two of them have in common. */
export interface Newest<Row extends object> {
  readonly by: readonly Column<Row>[]
  readonly name: (row: Row) => string
}
export interface Part {
  readonly limit: number
  readonly skip: number
}
/** What is put together is read whole, up to the end of the page: who looks further back waits for the tables, which skip by themselves. */
const REACH_MAX = 1_000

/**
 * The newest rows of a log. What has landed and is not in the tables yet is put in front of what they hold: nobody waits for
 * them, and nobody is shown less than he has been told.
 */
export async function newestRows<Row extends object>(
  { store, fresh }: Pick<Desk, 'store' | 'fresh'>,
  log: LogSpec<Row>,
  conditions: Conditions<Row>,
  { by, name }: Newest<Row>,
  { limit, skip }: Part,
): Promise<Row[]> {
  const order = by.map((column) => `"${column}" desc`).join(', ')
  const where = `where ${conditions.sql} order by ${order} limit ? offset ?` as never
  const known = skip + limit > REACH_MAX ? undefined : fresh.of(log)
  if (known === undefined) return store.select(log, where, [...conditions.values, limit, skip])
  const newer = known.filter((row) => conditions.hold(row))
  if (newer.length === 0) return store.selectHeld(log, where, [...conditions.values, limit, skip])
  const held = await store.selectHeld(log, where, [...conditions.values, skip + limit, 0])
  // The tables may have gone on meanwhile.
  const names = new Set(held.map(name))
  const rows = [...newer.filter((row) => !names.has(name(row))).reverse(), ...held]
  rows.sort((a, b) => {
    for (const column of by) if (a[column] !== b[column]) return (b[column] as number) - (a[column] as number)
    return 0
  })
  return rows.slice(skip, skip + limit)
}
