import type { PackedBatch, TableText } from '../machine/batch.ts'
import { decoderOf, encoderOf } from '../machine/codec.ts'
import type { Seal } from '../machine/sealer.ts'
import { LOGS, State } from '../core/state.ts'
import type { Table, TableSpec } from '../machine/table.ts'
import { quote, removeStatement, upsertStatement, type Dialect } from './sql.ts'
import type { Checkpoint, CommandBatch, StoreHead, Value } from './store.ts'

/** Every declared table and log by name; what a store writes and wipes. */
export const TABLE_SPECS: readonly TableSpec<object>[] = new State().tables.map((table) => table.spec)

/** The statements of a batch in the order in which they run, each with the rows or keys that it takes. */
export function batchStatements(
  dialect: Dialect,
): <Write extends TableText>(batch: PackedBatch<Write>) => (readonly [sql: string, write: Write])[] {
  const upserts = new Map<string, string>()
  const removes = new Map<string, string>()
  for (const { name, columns, key, live } of TABLE_SPECS) {
    upserts.set(name, upsertStatement(dialect, name, columns, key, live !== undefined))
    removes.set(name, removeStatement(dialect, name, columns, key))
  }
  for (const { name, columns } of LOGS)
    upserts.set(name, upsertStatement(dialect, name, columns, undefined, false))
  const statements = <Write extends TableText>(map: ReadonlyMap<string, string>, writes: readonly Write[]) =>
    writes.map((write): readonly [string, Write] => {
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
export const ADVANCE_HEAD =
  'update head set sequence = ?, hash = ?, at = ?, sums = ?, "schema" = ?, mac = ? where epoch = ? and sequence = ?'
export const headValues = (batch: PackedBatch<TableText>, seal: Seal, epoch: number): Value[] => [
  batch.sequence,
  seal.hash,
  batch.at,
  seal.sums,
  seal.schema,
  seal.mac,
  epoch,
  batch.sequence - 1,
]
const HEAD_COLUMNS = 'epoch, sequence, hash, at, sums, "schema", mac'
export const RAISE_EPOCH = 'update head set epoch = epoch + 1'
export const TAKE_EPOCH = `${RAISE_EPOCH} returning ${HEAD_COLUMNS}`
export const READ_HEAD = `select ${HEAD_COLUMNS} from head`
export const storeHead = ([, sequence, hash, at, sums, schema, mac]: readonly unknown[]): StoreHead =>
  ({ sequence: Number(sequence), hash, at: Number(at), sums, schema, mac }) as StoreHead
/** New sums for the head that stands: after an upgrade, or when somebody vouches for what is there. */
export const SEAL_HEAD = 'update head set sums = ?, "schema" = ?, mac = ? where epoch = ? and sequence = ?'
export const REWIND_HEAD = `update head set sequence = 0, hash = '', at = 0, sums = '', "schema" = '', mac = '' where epoch = ?`
export const EMPTY_HEAD: StoreHead = { sequence: 0, hash: '', at: 0, sums: '', schema: '', mac: '' }
export const COMMANDS_AFTER =
  'select sequence, at, hash, commands from command_batch where sequence > ? order by sequence limit ?'
export const CLEAR_CHECKPOINT = ['delete from checkpoint_part', 'delete from checkpoint']
export const INSERT_CHECKPOINT = 'insert into checkpoint (sequence, at, hash, rules) values (?, ?, ?, ?)'
export const INSERT_CHECKPOINT_PART =
  'insert into checkpoint_part (part, table_name, "rows") values (?, ?, ?)'
export const LAST_CHECKPOINT =
  'select sequence, at, hash, rules from checkpoint order by sequence desc limit 1'
export const CHECKPOINT_PARTS = 'select table_name, "rows" from checkpoint_part order by part'
export const checkpointOf = (row: readonly unknown[] | undefined): Checkpoint | undefined => {
  if (row === undefined) return undefined
  const [sequence, at, hash, rules] = row
  return { sequence: Number(sequence), at: Number(at), hash: String(hash), rules: Number(rules) }
}
const PART_ROWS = 5_000
/** The live rows of all tables, each part as the values of one row of checkpoint_part. */
export function* checkpointParts(tables: readonly Table<object>[]): Generator<[number, string, string]> {
  let part = 0
  for (const { spec, values } of tables.map((table) => ({ spec: table.spec, values: table.values() }))) {
    const encode = encoderOf(spec.columns)
    const { live } = spec
    let rows: unknown[] = []
    for (const row of values) {
      if (live !== undefined && !live(row)) continue
      rows.push(encode(row))
      if (rows.length < PART_ROWS) continue
      yield [++part, spec.name, JSON.stringify(rows)]
      rows = []
    }
    if (rows.length > 0) yield [++part, spec.name, JSON.stringify(rows)]
  }
}

export const ALL_TABLES = [
  'checkpoint',
  'checkpoint_part',
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
