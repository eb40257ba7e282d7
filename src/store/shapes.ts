import type { Columns } from '../machine/codec.ts'
import type { Changes } from '../machine/portion.ts'
import {
  columnsOf,
  insertOver,
  quote,
  removeStatement,
  selectValues,
  upsertStatement,
  type Dialect,
} from './sql.ts'

/**
 * What a table or a log looks like. The journal keeps the shapes of the version that wrote it, because its entries may
 * be put into the tables by a later one, before that one changes them.
 */
export interface Shape {
  readonly name: string
  readonly columns: Columns
  /** Left out: a log. */
  readonly key?: readonly string[]
  /** Rows end with the flag "live". */
  readonly live: boolean
}
export interface Statements {
  readonly shape: Shape
  readonly write: string
  /** Of a table. */
  readonly remove: string | undefined
}
export function statementsOf(dialect: Dialect, shapes: readonly Shape[]): ReadonlyMap<string, Statements> {
  return new Map(
    shapes.map((shape) => {
      const { name, columns, key, live } = shape
      const write = upsertStatement(dialect, name, columns, key, live)
      const remove = key === undefined ? undefined : removeStatement(dialect, name, columns, key)
      return [name, { shape, write, remove }]
    }),
  )
}
export const COMMAND_BATCH: Shape = {
  name: 'command_batch',
  columns: { sequence: 'int', at: 'int', count: 'int', hash: 'text', commands: 'text' },
  live: false,
}
export const selectFrom = (name: string, columns: object): string =>
  `select ${Object.keys(columns).map(quote).join(', ')} from ${quote(name)}`

/** By table, an array in JSON. */
export type Rows = Changes['writes']
/** Rows that stand in a file beside the tables, ready to be taken over. */
export interface Staged {
  readonly file: string
  readonly tables: readonly string[]
}

/** A table that holds rows of this shape for a moment: without a key, and without types, so that values stay as they came. */
export const stageTable = ({ name, columns, live }: Shape): string =>
  `create table if not exists ${quote(name)} (${columnsOf(columns, live).map(quote).join(', ')})`
export function stageStatement({ name, columns, live }: Shape): string {
  const names = columnsOf(columns, live)
  return `insert into ${quote(name)} (${names.map(quote).join(', ')}) ${selectValues(names.length)}`
}
/** From such a table of another file into the real one. */
export function takeStatement({ name, columns, key, live }: Shape, stage: string): string {
  const names = columnsOf(columns, live)
  return insertOver(
    `main.${quote(name)}`,
    names,
    key,
    `select ${names.map(quote).join(', ')} from ${stage}.${quote(name)} where true`,
  )
}
