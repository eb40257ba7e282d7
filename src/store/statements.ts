import { decoderOf } from '../machine/codec.ts'
import type { Declared, Table } from '../machine/table.ts'
import { selectFrom, type Shape } from './shapes.ts'

export const shapesOf = ({ tables, logs }: Declared): Shape[] => [
  ...tables.map(({ name, columns, key, live }) => ({ name, columns, key, live: live !== undefined })),
  ...logs.map(({ name, columns }) => ({ name, columns, live: false })),
]
/** Everything that a reset empties. */
export const tableNames = (declared: Declared): string[] => [
  'checkpoint',
  'checkpoint_part',
  'command_batch',
  ...shapesOf(declared).map(({ name }) => name),
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
