import assert from 'node:assert/strict'
import type { Store, Value } from '../../src/store/store.ts'

/**
 * Fails when the store would answer this query by reading a whole table or by sorting what it found. Ask one at
 * a time: on PostgreSQL the planner of the reading connection is told to prefer an index wherever there is one.
 */
export async function assertIndexed(store: Store, sql: string, values: readonly Value[]): Promise<void> {
  const plan =
    store.kind !== 'postgres' ? await sqlitePlan(store, sql, values) : await pgPlan(store, sql, values)
  const bad = store.kind !== 'postgres' ? /\bSCAN\b|TEMP B-TREE/ : /Seq Scan|\bSort\b/
  assert.doesNotMatch(plan, bad, `not answered by an index alone: ${sql}\n${plan}`)
}

async function sqlitePlan(store: Store, sql: string, values: readonly Value[]): Promise<string> {
  const rows = await store.query(`explain query plan ${sql}`, values)
  return rows.map((row) => String(row[3])).join('\n')
}
const PLANNERS = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort']
async function pgPlan(store: Store, sql: string, values: readonly Value[]): Promise<string> {
  for (const planner of PLANNERS) await store.query(`set ${planner} = off`, [])
  try {
    const rows = await store.query(`explain ${sql}`, values)
    return rows.map((row) => String(row[0])).join('\n')
  } finally {
    for (const planner of PLANNERS) await store.query(`reset ${planner}`, [])
  }
}
