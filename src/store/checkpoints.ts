import type { Table } from '../machine/table.ts'
import { LAST_CHECKPOINT, checkpointOf } from './statements.ts'
import type { Store, StoreHead } from './store.ts'

/**
 * Sees to it that the last checkpoint is of these rules: what was recorded under others would lead elsewhere now, so
 * the state that it led to is kept, and a replay begins there.
 */
export async function ensureCheckpoint(
  store: Store,
  tables: readonly Table<object>[],
  { sequence, at, hash }: StoreHead,
  rules: number,
): Promise<void> {
  const last = checkpointOf((await store.query(LAST_CHECKPOINT, []))[0])
  if (last?.rules !== rules) await store.keepCheckpoint({ sequence, at, hash, rules }, tables)
}
