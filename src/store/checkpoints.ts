import { encoderOf } from '../machine/codec.ts'
import type { Table } from '../machine/table.ts'
import type { Checkpoint, Store, StoreHead } from './store.ts'

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

/**
 * Sees to it that the last checkpoint is of these rules: what was recorded under others would lead elsewhere now, so
 * the state that it led to is kept, and a replay begins there.
 */
export async function ensureCheckpoint(
  store: Store,
  tables: readonly Table<object>[],
  { sequence, at, hash }: Pick<StoreHead, 'sequence' | 'at' | 'hash'>,
  rules: number,
): Promise<void> {
  const rows: (readonly unknown[])[] = []
  await store.scan(LAST_CHECKPOINT, (row) => rows.push(row))
  if (checkpointOf(rows[0])?.rules !== rules)
    await store.keepCheckpoint({ sequence, at, hash, rules }, tables)
}
