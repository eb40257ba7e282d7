import type { SealedBatch, TableWrite } from '../core/batch.ts'
import { LOGS, State } from '../core/state.ts'
import type { TableSpec } from '../core/table.ts'
import { removeStatement, upsertStatement, type Dialect } from './sql.ts'

/** Every declared table and log by name; what a store writes and wipes. */
export const TABLE_SPECS: readonly TableSpec<object>[] = new State().tables.map((table) => table.spec)

/** The statements of a batch in the order in which they run, each with its one JSON parameter. */
export function batchStatements(
  dialect: Dialect,
): (batch: SealedBatch) => (readonly [sql: string, json: string])[] {
  const upserts = new Map<string, string>()
  const removes = new Map<string, string>()
  for (const { name, columns, key, live } of TABLE_SPECS) {
    upserts.set(name, upsertStatement(dialect, name, columns, key, live !== undefined))
    removes.set(name, removeStatement(dialect, name, columns, key))
  }
  for (const { name, columns } of LOGS)
    upserts.set(name, upsertStatement(dialect, name, columns, undefined, false))
  const statements = (map: ReadonlyMap<string, string>, writes: readonly TableWrite[]) =>
    writes.map(({ table, rows }): readonly [string, string] => {
      const sql = map.get(table)
      if (sql === undefined) throw new TypeError(`table ${table} is not declared`)
      return [sql, rows]
    })
  return (batch) => [
    ...statements(removes, batch.removes),
    ...statements(upserts, batch.upserts),
    ...statements(upserts, batch.appends),
  ]
}
export const INSERT_COMMANDS =
  'insert into command_batch (sequence, at, count, hash, commands) values (?, ?, ?, ?, ?)'
export const ADVANCE_HEAD = 'update head set sequence = ?, hash = ?, at = ? where epoch = ? and sequence = ?'
export const TAKE_EPOCH = 'update head set epoch = epoch + 1 returning epoch, sequence, hash, at'
export const ALL_TABLES = [
  'command_batch',
  ...TABLE_SPECS.map(({ name }) => name),
  ...LOGS.map(({ name }) => name),
]
