import type { ColumnType } from '../machine/table.ts'

/** What the two dialects say differently. Everything else in this folder is common. */
export type Dialect = 'sqlite' | 'postgres'
type Columns = Readonly<Record<string, ColumnType>>

const TYPES: Record<Dialect, Record<ColumnType, string>> = {
  sqlite: { int: 'integer', text: 'text', amount: 'text', json: 'text', bool: 'integer' },
  // Texts sort by their bytes, as SQLite's do, whatever the database's locale is. JSON is text: jsonb would
  // reorder members, and a row must come back exactly as it was written.
  postgres: { int: 'bigint', text: 'text collate "C"', amount: 'numeric', json: 'text', bool: 'boolean' },
}
const ARRAYS: Record<ColumnType, string> = {
  int: 'bigint[]',
  text: 'text[]',
  amount: 'numeric[]',
  json: 'text[]',
  bool: 'boolean[]',
}
export const quote = (name: string): string => `"${name}"`
const list = (names: readonly string[]): string => names.map(quote).join(', ')

export interface TableDdl {
  readonly name: string
  readonly columns: Columns
  readonly key: readonly string[]
  /** The table forgets finished rows from memory: it carries a flag that start-up loads by. */
  readonly live?: boolean
  /** Index name → columns, or columns with a condition. */
  readonly indexes?: Readonly<
    Record<string, readonly string[] | { columns: readonly string[]; where: string }>
  >
}

export function createTable(dialect: Dialect, table: TableDdl): string[] {
  const columns = Object.entries(table.columns).map(
    ([name, type]) => `${quote(name)} ${TYPES[dialect][type]}`,
  )
  if (table.live === true) columns.push(`"live" ${TYPES[dialect].bool} not null`)
  const statements = [
    `create table ${quote(table.name)} (${columns.join(', ')}, primary key (${list(table.key)}))`,
  ]
  if (table.live === true)
    statements.push(
      `create index ${quote(`${table.name}_live`)} on ${quote(table.name)} (${list(table.key)}) where "live"`,
    )
  for (const [name, index] of Object.entries(table.indexes ?? {}))
    statements.push(createIndex(table.name, name, index))
  return statements
}
export function createIndex(
  table: string,
  name: string,
  index: readonly string[] | { columns: readonly string[]; where: string },
): string {
  const columns = 'where' in index ? index.columns : index
  const where = 'where' in index ? ` where ${index.where}` : ''
  return `create index ${quote(name)} on ${quote(table)} (${list(columns)})${where}`
}

/** One statement writes all rows of a table in a batch. */
export function upsertStatement(
  dialect: Dialect,
  name: string,
  columns: Columns,
  key: readonly string[] | undefined,
  live: boolean,
): string {
  const all: Columns = live ? { ...columns, live: 'bool' } : columns
  return insertOver(quote(name), Object.keys(all), key, selectRows(dialect, Object.values(all)))
}
/** With the flag that rows of some tables end with. */
export const columnsOf = (columns: Columns, live: boolean): string[] =>
  live ? [...Object.keys(columns), 'live'] : Object.keys(columns)
/** Rows of a query into a table, over those with the same key. */
export function insertOver(
  table: string,
  names: readonly string[],
  key: readonly string[] | undefined,
  rows: string,
): string {
  const insert = `insert into ${table} (${list(names)}) ${rows}`
  if (key === undefined) return insert
  const others = names.filter((column) => !key.includes(column))
  const update = others.map((column) => `${quote(column)} = excluded.${quote(column)}`).join(', ')
  return `${insert} on conflict (${list(key)}) do ${others.length === 0 ? 'nothing' : `update set ${update}`}`
}

export function removeStatement(
  dialect: Dialect,
  name: string,
  columns: Columns,
  key: readonly string[],
): string {
  const types = key.map((column) => columns[column]!)
  return `delete from ${quote(name)} where (${list(key)}) in (${selectRows(dialect, types)})`
}

/** The rows of a batch as a query. SQLite takes one JSON text, PostgreSQL an array for each column. */
function selectRows(dialect: Dialect, types: readonly ColumnType[]): string {
  if (dialect === 'sqlite') return selectValues(types.length)
  return `select * from unnest(${types.map((type, i) => `$${i + 1}::${ARRAYS[type]}`).join(', ')})`
}

/** Rows that come as one JSON text: SQLite's way. */
export function selectValues(columns: number): string {
  const values = Array.from({ length: columns }, (_, i) => `row ->> ${i}`)
  // The inner LIMIT keeps it from being merged into the outer query, where each column would render its row's
  // text anew: that takes twice as long. `where true` keeps ON CONFLICT from being read as part of a join.
  return `select ${values.join(', ')} from (select value as row from json_each(?) limit -1) where true`
}

/** The columns of a batch's rows as PostgreSQL array literals: a third less work for the server than JSON. */
export function columnLiterals(rows: readonly (readonly unknown[])[]): string[] {
  const literals: string[] = []
  for (let column = 0; column < rows[0]!.length; column++) {
    let literal = ''
    for (const row of rows) literal += `${literal === '' ? '{' : ','}${element(row[column])}`
    literals.push(`${literal}}`)
  }
  return literals
}
function element(value: unknown): string {
  if (typeof value === 'string')
    return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`
  return value === null ? 'NULL' : JSON.stringify(value)
}

/** `?` placeholders in the common subset become $1, $2 … for PostgreSQL. */
export function placeholders(dialect: Dialect, sql: string): string {
  if (dialect === 'sqlite') return sql
  let count = 0
  return sql.replaceAll('?', () => `$${++count}`)
}
