import type { LogSpec, TableSpec } from '../machine/table.ts'
import { refuse } from '../labels.ts'
import type { Store, Value } from '../store/store.ts'
import type { State } from '../core/state.ts'
import type { Desk } from './endpoint.ts'
import { integer, optional, time, withDefault } from './fields.ts'

/**
 * Lists by time, newest first. A record knows its place among its account's records (`ordinal`), so that the
 * number of records in a window is the difference of two look-ups and a page is found without counting: the
 * work is the same for the thousandth record and the millionth.
 */
export interface Window {
  /** Seconds, both included. */
  readonly from: number
  readonly to: number
}
/** A currency's name for reading what happened in it: one that is gone keeps its history, and its zeros in the ledger. */
export function historyCurrency({ world, ledger }: State, name: string): string {
  const known = world.findCurrency(name)?.currency
  if (known !== undefined) return known
  const gone = name.toUpperCase()
  return ledger.knows(gone) ? gone : world.currency(name).currency
}
export const windowFields = { from: optional(time()), to: optional(time()) }
/** Pages that are counted from 1. */
export const numberedPages = (pages: number, max: number, usual = 100) => ({
  page: withDefault(integer(1, pages), 1),
  limit: withDefault(integer(1, max), usual),
})
/** Of lists that are never long. */
export const SHORT_PAGES = numberedPages(1_000_000, 100)
/** Of lists that may be: what a page skips is bounded too (`spot/span.ts`). */
export const LONG_PAGES = numberedPages(100_001, 1000)
export const pageFields = (max: number) => ({
  limit: withDefault(integer(1, max), 100),
  offset: withDefault(integer(0, 1_000_000_000), 0),
})

const DAY = 86_400
const SPAN_DAYS = 30
const DEFAULT_DAYS = 7

const quote = (name: string): string => `"${name}"`

type Setter = (name: string, value: string | number) => void

/** The window of a request; what was left out is the last seven days, and the headers say so. */
export function readWindow(
  desk: Desk,
  query: { readonly from: number | null; readonly to: number | null },
  set: Setter,
  earliest = 0,
): Window {
  const now = desk.clock.seconds()
  const to = query.to ?? Math.max(now, query.from ?? 0)
  const asked = query.from ?? Math.min(now, to) - DEFAULT_DAYS * DAY
  if (asked > to) refuse('INVALID_PARAM_VALUE', `from: ${asked} is after to, ${to}`)
  // A window that ends before there were records has none.
  const from = Math.max(earliest, asked)
  // Where the beginning is ours, an end that lies in the future makes it no wider.
  if (query.from !== null && to - from > SPAN_DAYS * DAY)
    refuse(
      'INVALID_PARAM_VALUE',
      `from, to: ${from} to ${to} is more than ${SPAN_DAYS} days; ask for less at a time`,
    )
  set('X-Applied-From', Math.floor(from))
  set('X-Applied-To', Math.floor(to))
  return { from, to }
}

/** For what is named: the window that was asked for, if any. */
export function askedWindow(
  desk: Desk,
  query: { readonly from: number | null; readonly to: number | null },
  set: Setter,
): (record: { readonly at: number }) => boolean {
  if (query.from === null && query.to === null) return () => true
  const { from, to } = readWindow(desk, query, set)
  return ({ at }) => at >= Math.round(from * 1e6) && at < (Math.floor(to) + 1) * 1e6
}

/** The records of one account, perhaps of one currency: the columns that say so, and the place among them. */
export interface Scope<Row = Readonly<Record<string, unknown>>> {
  readonly columns: { readonly [Column in keyof Row & string]?: Value }
  readonly ordinal: keyof Row & string
}
export interface Paged<Row> {
  readonly rows: Row[]
  readonly total: number
}
const valuesOf = <Row>({ columns }: Scope<Row>): Value[] => Object.values(columns as Record<string, Value>)
/** The two statements of a page; a test asks the database how it would run them. */
export function pageStatements<Row>(scope: Scope<Row>): { readonly last: string; readonly rows: string } {
  const columns = Object.keys(scope.columns)
    .map((column) => `${quote(column)} = ?`)
    .join(' and ')
  const ordinal = quote(scope.ordinal)
  return {
    last: `where ${columns} and "at" < ? order by "at" desc, ${ordinal} desc limit 1`,
    rows: `where ${columns} and ${ordinal} <= ? and ${ordinal} > ? order by ${ordinal} desc limit ?`,
  }
}
/** Ordinal of the last record before a moment; 0 when there is none. */
async function lastBefore<Row extends object>(
  store: Store,
  spec: TableSpec<Row> | LogSpec<Row>,
  scope: Scope<NoInfer<Row>>,
  micros: number,
): Promise<number> {
  const sql = `select ${quote(scope.ordinal)} from ${quote(spec.name)} ${pageStatements(scope).last}`
  const [row] = await store.query(sql, [...valuesOf(scope), micros])
  return row === undefined ? 0 : Number(row[0])
}
/** Places of the records in a window: above the first number, up to the second. */
export const placesIn = <Row extends object>(
  store: Store,
  spec: TableSpec<Row> | LogSpec<Row>,
  scope: Scope<NoInfer<Row>>,
  window: Window,
): Promise<[low: number, high: number]> =>
  Promise.all([
    lastBefore(store, spec, scope, Math.round(window.from * 1e6)),
    lastBefore(store, spec, scope, (Math.floor(window.to) + 1) * 1e6),
  ])
export async function readPage<Row extends object>(
  store: Store,
  spec: TableSpec<Row> | LogSpec<Row>,
  scope: Scope<NoInfer<Row>>,
  window: Window,
  page: { readonly limit: number; readonly offset: number },
): Promise<Paged<Row>> {
  const [low, high] = await placesIn(store, spec, scope, window)
  const total = Math.max(0, high - low)
  if (page.offset >= total) return { rows: [], total }
  const values = [...valuesOf(scope), high - page.offset, low, page.limit]
  return { rows: await store.select(spec, pageStatements(scope).rows, values), total }
}
export function paginationHeaders(
  set: Setter,
  page: { readonly limit: number; readonly offset: number },
  total: number,
): void {
  set('X-Pagination-Limit', page.limit)
  set('X-Pagination-Offset', page.offset)
  set('X-Pagination-Total', total)
}
