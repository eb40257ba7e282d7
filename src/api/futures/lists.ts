import { refuse } from '../../labels.ts'
import type { LogSpec, TableSpec } from '../../machine/table.ts'
import type { Value } from '../../store/store.ts'
import type { Desk } from '../endpoint.ts'
import { integer, untilMicros, withDefault } from '../fields.ts'
import { paginationHeaders } from '../history.ts'

/** What a page may skip: beyond it a time range finds the rows. */
const SKIP_MAX = 100_000
const LIMIT_MAX = 1_000
/** As many as can be paged through: no list tells of more. */
export const COUNTED_MAX = SKIP_MAX + LIMIT_MAX
export const listFields = {
  limit: withDefault(integer(1, LIMIT_MAX), 100),
  offset: withDefault(integer(0, SKIP_MAX), 0),
}
export interface Page {
  readonly limit: number
  readonly offset: number
}
type Setter = (name: string, value: string | number) => void

/** A span of time ends after it began. */
export function refuseBackwards(
  from: number | null,
  to: number | null,
  [first, last]: readonly [string, string] = ['from', 'to'],
): void {
  if (from !== null && to !== null && from > to)
    refuse('INVALID_PARAM_VALUE', `${first}: ${from} is after ${last}, ${to}`)
}

/** Conditions on the columns of a list, and their values. */
export class Filter {
  private readonly conditions: string[] = []
  readonly values: Value[] = []

  /** `"column" = ?` and the like; null is left out. */
  and(condition: string, ...values: (Value | null)[]): this {
    if (values.includes(null)) return this
    this.conditions.push(condition)
    this.values.push(...values)
    return this
  }
  /** Seconds, both included; a whole second means all of it. */
  between(column: string, { from, to }: { readonly from: number | null; readonly to: number | null }): this {
    refuseBackwards(from, to)
    if (from !== null) this.and(`"${column}" >= ?`, Math.floor(from * 1e6))
    if (to !== null) this.and(`"${column}" <= ?`, untilMicros(to))
    return this
  }
  get sql(): string {
    return `where ${this.conditions.join(' and ')}`
  }
}
/**
 * The rows of one group and settle currency, by the ids of their contracts: all begin alike. They are written so that no
 * index on them is taken: one by time or text finds the few that are shown without reading all of an account's.
 */
export const ofAccount = (filter: Filter, column: string, account: string): Filter =>
  filter.and(
    `("${column}" || '') >= ? and ("${column}" || '') < ?`,
    `${account}/`,
    `${account}${AFTER_SLASH}`,
  )
const AFTER_SLASH = String.fromCharCode('/'.charCodeAt(0) + 1)

/**
 * A page of rows from the store, and the headers that tell of the others. What is counted is what can be paged through:
 * an account with more rows than that does not make each call dear.
 */
export async function storedPage<Row extends object>(
  desk: Desk,
  set: Setter,
  spec: TableSpec<Row> | LogSpec<Row>,
  filter: Filter,
  order: string,
  page: Page,
): Promise<Row[]> {
  const { sql, values } = filter
  const counted = `select count(*) from (select 1 from "${spec.name}" ${sql} limit ?) as counted`
  const [[count], rows] = await Promise.all([
    desk.store.query(counted, [...values, COUNTED_MAX]),
    desk.store.select(spec, `${sql} order by ${order} limit ? offset ?`, [
      ...values,
      page.limit,
      page.offset,
    ]),
  ])
  paginationHeaders(set, page, Number(count![0]))
  return rows
}
/** The same of rows that are all in memory. */
export function listedPage<Row>(set: Setter, rows: readonly Row[], page: Page): Row[] {
  paginationHeaders(set, page, rows.length)
  return rows.slice(page.offset, page.offset + page.limit)
}
