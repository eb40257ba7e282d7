import { setImmediate as turn } from 'node:timers/promises'
import { countRow } from '../machine/batch.ts'
import { decoderOf } from '../machine/codec.ts'
import { BATCHES, batchText } from '../machine/journal.ts'
import { Sums } from '../machine/sums.ts'
import type { Declared, LogSpec, Table, TableSpec } from '../machine/table.ts'
import { MIGRATIONS } from './migrations/migrations.ts'
import { sums as sumsMigration } from './migrations/0041_sums.ts'
import { wrongKey } from './seat.ts'
import { selectFrom } from './shapes.ts'
import { StoreUnavailable, type OpenedHead, type Store, type StoreHead } from './store.ts'

/** How rows become terms; counts up when that changes, so that the sums are made anew. */
const TERMS = 2
/** What rows look like in this version. */
const SCHEMA = `${MIGRATIONS.map(({ id }) => id).join(',')};${TERMS}`
/** Rows that a start compares with their sums; `kontor verify` compares all of them. */
const START_ROWS = 150_000
/** Rows counted before others have a turn. */
const TURN_ROWS = 10_000
const BATCH_ROWS = `select sequence, at, count, hash, commands from ${BATCHES}`

export const newSums = (key: string): Sums => new Sums(key, SCHEMA)

const RESEAL = 'if it was changed by hand on purpose, run: kontor reseal'
const changed = (what: string): StoreUnavailable =>
  new StoreUnavailable(
    `the database was changed behind the platform's back: ${what}; run: kontor verify; ${RESEAL}`,
  )

/**
 * At start, after loading: the head is one that this platform wrote, and as many rows as a start has time for add up
 * to what it says, the small tables first (settings, operators, keys, addresses, due work). An upgrade that changed
 * what rows look like makes the sums anew.
 */
export async function checkSeals(
  store: Store,
  tables: readonly Table<object>[],
  head: OpenedHead,
  sums: Sums,
): Promise<void> {
  sums.clear()
  if (head.mac === '') {
    if (head.sequence > 0) {
      // Only a database from before there were sums has none.
      if (!head.migrated.includes(sumsMigration.id)) throw changed('its head holds no sums')
      return makeSeals(store, tables, head, sums)
    }
    if (tables.some(({ size }) => size > 0)) throw changed('its head says that it is empty')
    store.sealBehind(head.hash, sums)
    return
  }
  if (!sums.isMac(head, head.mac)) throw wrongKey()
  if (head.schema !== SCHEMA) {
    await makeSeals(store, tables, head, sums)
    return
  }
  sums.setAll(head.sums)
  checkLoaded(tables, sums)
  store.sealBehind(head.hash, sums)
}
/** As many rows as a start has time for add up to these sums, the small tables first. */
export function checkLoaded(tables: readonly Table<object>[], sums: Sums): void {
  let rows = 0
  for (const table of [...tables].sort((a, b) => a.size - b.size)) {
    rows += table.size
    if (rows > START_ROWS) break
    const found = newSums(sums.key)
    for (const row of table.values()) if (isLive(table.spec, row)) countRow(found, table.spec, row)
    const { name } = table.spec
    if (found.textOf(name) !== sums.textOf(name))
      throw changed(`the rows of ${name} are not those that it wrote`)
  }
}

/** Counts everything that is there, and writes the sums into the head. */
export async function makeSeals(
  store: Store,
  tables: readonly Table<object>[],
  head: StoreHead,
  sums: Sums,
): Promise<void> {
  await countAll(store, tables, sums)
  const sealed = { ...head, sums: sums.text(), schema: sums.schema }
  await store.seal({ ...sealed, mac: sums.mac(sealed) })
  store.sealBehind(head.hash, sums)
}
/** The sums of everything that is there, by their key. */
export async function countAll(store: Store, tables: readonly Table<object>[], sums: Sums): Promise<void> {
  sums.clear()
  let rows = 0
  for (const table of tables)
    for (const row of table.values()) {
      if (isLive(table.spec, row)) countRow(sums, table.spec, row)
      if (++rows % TURN_ROWS === 0) await turn()
    }
  // What memory does not hold.
  const finished = store.declared.tables.filter(
    ({ live, rewritten }) => live !== undefined && rewritten !== true,
  )
  for (const spec of finished) await store.scan(...counting(sums, spec, ' where not "live"'))
  for (const log of store.declared.logs) await store.scan(...counting(sums, log))
  await store.scan(BATCH_ROWS, (values) => sums.add(BATCHES, batchOf(values)))
}
const isLive = ({ live }: TableSpec<object>, row: object): boolean => live === undefined || live(row)
const counting = (
  sums: Sums,
  spec: TableSpec<object> | LogSpec<object>,
  where = '',
): [sql: string, row: (values: readonly unknown[]) => void] => {
  const decode = decoderOf<object>(spec.columns)
  return [`${selectFrom(spec.name, spec.columns)}${where}`, (values) => countRow(sums, spec, decode(values))]
}
const batchOf = ([sequence, at, count, hash, commands]: readonly unknown[]): string =>
  batchText(Number(sequence), Number(at), Number(count), String(hash), String(commands))

type Each = (sql: string, row: (values: readonly unknown[]) => void) => Promise<void>
/** Every row of every table, log and batch against the head: one line for each that differs. */
export async function compareSeals(
  each: Each,
  head: StoreHead,
  key: string,
  declared: Declared,
): Promise<string[]> {
  const sums = newSums(key)
  if (head.mac === '') return head.sequence === 0 ? [] : ['head: it holds no sums; somebody took them away']
  if (!sums.isMac(head, head.mac))
    return ['head: it was not written with this secret key, or was changed afterwards']
  if (head.schema !== SCHEMA)
    return ['head: its sums are of another version; start the platform once, then verify again']
  const told = JSON.parse(head.sums) as Readonly<Record<string, string>>
  for (const spec of declared.tables)
    await each(...counting(sums, spec, spec.rewritten === true ? ' where "live"' : ''))
  for (const log of declared.logs) await each(...counting(sums, log))
  await each(BATCH_ROWS, (values) => sums.add(BATCHES, batchOf(values)))
  const found = JSON.parse(sums.text()) as Readonly<Record<string, string>>
  return [...new Set([...Object.keys(told), ...Object.keys(found)])]
    .sort()
    .filter((table) => told[table] !== found[table])
    .map((table) => `${table}: its rows are not those that the platform wrote (their keyed sum differs)`)
}
