import { decoderOf } from '../machine/codec.ts'
import { LOGS, State } from '../core/state.ts'
import type { Table, TableSpec } from '../machine/table.ts'
import { selectFrom, type Shape } from './shapes.ts'

/** Every declared table and log by name; what a store writes and wipes. */
export const TABLE_SPECS: readonly TableSpec<object>[] = new State().tables.map((table) => table.spec)
export const SHAPES: readonly Shape[] = [
  ...TABLE_SPECS.map(({ name, columns, key, live }) => ({ name, columns, key, live: live !== undefined })),
  ...LOGS.map(({ name, columns }) => ({ name, columns, live: false })),
]
export const ALL_TABLES: readonly string[] = [
  'checkpoint',
  'checkpoint_part',
  'command_batch',
  ...SHAPES.map(({ name }) => name),
]

/** Reads the rows that memory needs of one table, and what to do with each. */
export function loading(table: Table<object>): { sql: string; row: (values: readonly unknown[]) => void } {
  const { name, columns, live, revive } = table.spec
  const decode = decoderOf<object>(columns)
  return {
    sql: `${selectFrom(name, columns)}${live === undefined ? '' : ' where "live"'}`,
    row: (values) => {
      const plain = decode(values)
      const row = revive === undefined ? plain : revive(plain)
      table.swap(table.keyOf(row), row, 'load')
    },
  }
}
