import type { SealedBatch, TableWrite } from '../core/batch.ts'
import { decoderOf } from '../core/codec.ts'
import { LOGS, State } from '../core/state.ts'
import type { Table, TableSpec } from '../core/table.ts'
import { quote, removeStatement, upsertStatement, type Dialect } from './sql.ts'
import type { CommandBatch } from './store.ts'

/** Every declared table and log by name; what a store writes and wipes. */
export const TABLE_SPECS: readonly TableSpec<object>[] = new State().tables.map((table) => table.spec)

/** The statements of a batch in the order in which they run, each with the rows or keys that it takes. */
export function batchStatements(
  dialect: Dialect,
): (batch: SealedBatch) => (readonly [sql: string, write: TableWrite])[] {
  const upserts = new Map<string, string>()
  const removes = new Map<string, string>()
  for (const { name, columns, key, live } of TABLE_SPECS) {
    upserts.set(name, upsertStatement(dialect, name, columns, key, live !== undefined))
    removes.set(name, removeStatement(dialect, name, columns, key))
  }
  for (const { name, columns } of LOGS)
    upserts.set(name, upsertStatement(dialect, name, columns, undefined, false))
  const statements = (map: ReadonlyMap<string, string>, writes: readonly TableWrite[]) =>
    writes.map((write): readonly [string, TableWrite] => {
      const sql = map.get(write.table)
      if (sql === undefined) throw new TypeError(`table ${write.table} is not declared`)
      return [sql, write]
    })
  return (batch) => [
    ...statements(removes, batch.removes),
    ...statements(upserts, batch.upserts),
    ...statements(upserts, batch.appends),
  ]
}

export const INSERT_COMMANDS =
  'insert into command_batch (sequence, at, count, hash, commands) values (?, ?, ?, ?, ?)'
/** Changes one row while this process still owns the store and the sequence is unbroken, else none. */
export const ADVANCE_HEAD = 'update head set sequence = ?, hash = ?, at = ? where epoch = ? and sequence = ?'
export const TAKE_EPOCH = 'update head set epoch = epoch + 1 returning epoch, sequence, hash, at'
export const REWIND_HEAD = `update head set sequence = 0, hash = '', at = 0 where epoch = ?`
export const COMMANDS_AFTER =
  'select sequence, at, hash, commands from command_batch where sequence > ? order by sequence limit ?'
export const ALL_TABLES = [
  'command_batch',
  ...TABLE_SPECS.map(({ name }) => name),
  ...LOGS.map(({ name }) => name),
]

export const commandBatch = ([sequence, at, hash, commands]: readonly unknown[]): CommandBatch =>
  ({ sequence: Number(sequence), at: Number(at), hash, commands }) as CommandBatch

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
export const selectFrom = (name: string, columns: object): string =>
  `select ${Object.keys(columns).map(quote).join(', ')} from ${quote(name)}`
