import { writeSync } from 'node:fs'
import pg from 'pg'
import { LEDGER_LINE } from '../../src/core/ledger/ledger.ts'
import { DECLARED, State } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain } from '../../src/machine/journal.ts'
import { Tx } from '../../src/machine/table.ts'
import { amountOf } from '../../src/money/amount.ts'
import { Follower } from '../../src/store/follower.ts'
import { storeHead } from '../../src/store/head.ts'
import type { Place } from '../../src/store/messages.ts'
import type { Migration } from '../../src/store/migrations/migration.ts'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'
import { PostgresJournal } from '../../src/store/postgres-journal.ts'
import { PostgresTables } from '../../src/store/postgres-tables.ts'
import { newSums } from '../../src/store/seals.ts'
import { SqliteConnection } from '../../src/store/sqlite-connection.ts'
import { SqliteJournal } from '../../src/store/sqlite-journal.ts'
import { SqliteTables } from '../../src/store/sqlite-tables.ts'
import { shapesOf } from '../../src/store/statements.ts'
import { packed } from '../support/packed.ts'

/**
 * The journal and the follower of a store in one thread, so that the process can die by SIGKILL at a line that is named:
 * no handler runs, nothing is flushed. What it has acknowledged it writes to standard output, one number a line.
 */
export type Point =
  /** Nobody dies; nothing goes into the tables. */
  | 'held'
  | 'before the append'
  | 'after the append, before the reply'
  | 'inside a transaction of the tables'
  | 'between two transactions of the tables'
  /** While the start puts what the journal holds into the tables. */
  | 'at start, inside a transaction of the tables'
  | 'at start, before the journal is emptied'
  | 'at start, inside a migration'
export interface Deadly {
  readonly place: Place
  readonly point: Point
  /** At the n-th time. */
  readonly time: number
  readonly key: string
}
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('not reached')
}

async function main({ place, point, time, key }: Deadly): Promise<void> {
  let starting = true
  let left = time
  const strike = (here: boolean): void => {
    if (here && --left === 0) die()
  }
  const seen = (sql: string): void => {
    const line = sql.startsWith('insert into "ledger_line"')
    strike(line && point === 'inside a transaction of the tables' && !starting)
    strike(line && point === 'at start, inside a transaction of the tables' && starting)
    strike(
      /^update journal_owner set (base = \$1, |epoch = \?, )?written/.test(sql) &&
        point === 'at start, before the journal is emptied',
    )
  }
  /* eslint-disable @typescript-eslint/unbound-method -- put back with the object that they are called on */
  const run = SqliteConnection.prototype.run
  SqliteConnection.prototype.run = function (sql, values) {
    seen(sql)
    return run.call(this, sql, values)
  }
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | { text?: string }]
    seen(typeof first === 'string' ? first : (first.text ?? ''))
    return query.apply(this, args)
  } as typeof pg.Client.prototype.query
  /* eslint-enable @typescript-eslint/unbound-method */
  if (point === 'at start, inside a migration')
    (MIGRATIONS as Migration[]).push({ id: 9_000, name: 'half', up: () => half() as unknown as string[] })
  const tables = place.kind === 'sqlite' ? new SqliteTables(place.path) : new PostgresTables(place.url)
  const sums = newSums(key)
  const { head, journalEpoch } = await tables.open({
    now: 1,
    key,
    schema: sums.schema,
    shapes: shapesOf(DECLARED),
  })
  starting = false
  const { sequence, hash, sums: text } = storeHead(head)
  const journal = place.kind === 'sqlite' ? new SqliteJournal(place.path) : new PostgresJournal(place.url)
  await journal.takenAt(journalEpoch, sequence)
  sums.setAll(text)
  const follower = new Follower(
    tables,
    () => strike(point === 'between two transactions of the tables'),
    (error) => {
      throw error
    },
  )
  follower.sealBehind(hash, sums)
  if (point === 'held') follower.hold()
  const chain = new JournalChain(hash, key)
  const state = new State()
  if (sequence > 0) state.counters.swap('deadly', { name: 'deadly', value: sequence }, 'load')
  for (let i = sequence + 1; i <= sequence + ROUNDS; i++) {
    const tx = new Tx()
    tx.put(state.counters, { name: 'deadly', value: i })
    tx.append(LEDGER_LINE, {
      id: i,
      entry: i,
      account: 1,
      amount: amountOf('1'),
      after: amountOf(String(i)),
      kind: 'credit',
      ref: '',
      at: i,
    })
    const batch = new Batch()
    batch.add(tx, i, 'test.act', '{}')
    const entry = chain.seal(packed(batch, i, i))
    strike(point === 'before the append')
    await journal.append([entry], 0)
    strike(point === 'after the append, before the reply')
    writeSync(1, `${i}\n`)
    follower.take(entry)
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 30))
  }
  die()
}
/** Dies behind its first statement. */
function* half(): Generator<string> {
  yield 'create table half_migrated (id integer primary key)'
  die()
}
const ROUNDS = 60

const [argument] = process.argv.slice(2)
if (argument?.startsWith('{') === true) await main(JSON.parse(argument) as Deadly)
