import type pg from 'pg'
import type { Portion } from '../machine/portion.ts'
import { drain, type Tables } from './follower.ts'
import { ADVANCE_HEAD, RAISE_EPOCH, READ_HEAD, headValues, storeHead } from './head.ts'
import { COLUMNS, entryOf, type Written } from './journal-rows.ts'
import type { Opened, Opening } from './messages.ts'
import { BOOTSTRAP, pendingMigrations } from './migrations/migrations.ts'
import { journal as journalMigration } from './migrations/0070_journal.ts'
import { KeptConnection, transaction } from './postgres-client.ts'
import { COMMAND_BATCH, statementsOf, type Shape, type Statements } from './shapes.ts'
import { columnLiterals, placeholders } from './sql.ts'
import { Fenced, type StoreHead } from './store.ts'

const MIGRATION_LOCK = 727274
/** Two transactions take effect one after the other, and what a new owner sees is whole. */
const DIVISION_BY_ZERO = '22012'
/** The head moves on, or the statement fails: everything behind it in the same pipeline then fails too. */
const FENCE = `with moved as (${placeholders('postgres', ADVANCE_HEAD)} returning 1) select 1 / count(*) from moved`
/** The newest entry stays: it tells which one may come next. */
const THIN = 'delete from journal where sequence < $1'
/** What was thinned out is given free for new entries after so many bytes. */
const VACUUM_BYTES = 64 * 2 ** 20

/** The tables in PostgreSQL, with a connection of its own. */
export class PostgresTables implements Tables {
  private readonly url: string
  private connection: KeptConnection | undefined
  private epoch = 0
  private statements: ReadonlyMap<string, Statements> = new Map()
  /** At a start the journal is emptied at the end. */
  private thins = true
  private thinned = 0

  constructor(url: string) {
    this.url = url
  }
  async open({ now, key, schema, shapes }: Opening): Promise<Opened> {
    this.connection = await KeptConnection.open(this.url)
    const { client } = this.connection
    // Two processes that start at once do so one after the other.
    await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    for (const statement of BOOTSTRAP) await client.query(statement)
    const done = (await client.query<{ id: number }>('select id from migration')).rows.map(({ id }) => id)
    pendingMigrations(done)
    const drained = done.includes(journalMigration.id) ? await this.drainTail(client, key) : 0
    const migrated = await migrate(client, done, now)
    if (!done.includes(journalMigration.id)) await this.takeOver(client)
    const head = await one(client, READ_HEAD)
    const written: Written = { schema, shapes }
    await transaction(client, async () => {
      const values = [head[1], JSON.stringify(written)]
      await client.query('update journal_owner set base = $1, written = $2', values)
      await client.query('truncate journal')
    })
    await client.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`)
    const [journalEpoch] = (await one(client, 'select epoch from journal_owner')) as [number]
    this.shape(shapes)
    // The journal is what must be on the disk: what the tables lose with a loss of power, they get from there again.
    await client.query('set synchronous_commit = off')
    return { head, migrated, journalEpoch, drained }
  }
  /** The journal first: from then on nobody appends. Then the tables: nobody follows. */
  private async takeOver(client: pg.Client): Promise<void> {
    await client.query('update journal_owner set epoch = epoch + 1')
    await client.query(RAISE_EPOCH)
    this.epoch = (await one(client, 'select epoch from head'))[0] as number
  }
  private async drainTail(client: pg.Client, key: string): Promise<number> {
    await this.takeOver(client)
    const head = storeHead(await one(client, READ_HEAD))
    const text = `select ${COLUMNS} from journal where sequence > $1 order by 1`
    const { rows } = await client.query<unknown[]>({ text, values: [head.sequence], rowMode: 'array' })
    if (rows.length === 0) return 0
    const { schema, shapes } = JSON.parse(
      (await one(client, 'select written from journal_owner'))[0] as string,
    ) as Written
    this.shape(shapes)
    // The journal keeps all of it until it is emptied, by a commit that is synced and takes those before it along.
    await client.query('set synchronous_commit = off')
    this.thins = false
    await drain(rows.map(entryOf), head, this, { key, schema })
    this.thins = true
    await client.query('set synchronous_commit = on')
    return rows.length
  }
  private shape(shapes: readonly Shape[]): void {
    this.statements = statementsOf('postgres', [...shapes, COMMAND_BATCH])
  }
  /** One round trip: everything is sent at once. What the tables hold now leaves the journal in the same transaction. */
  async project(portion: Portion, head: StoreHead): Promise<void> {
    this.connection!.refuseLost()
    const { client } = this.connection!
    const from = portion.entries[0]!.sequence - 1
    const write = (table: string, what: 'write' | 'remove', rows: readonly string[]) => {
      const statements = this.statements.get(table)
      const text = statements?.[what]
      if (text === undefined) throw new TypeError(`table ${table} is not declared`)
      const values = columnLiterals(JSON.parse(`[${rows.join(',')}]`) as unknown[][])
      return client.query({ name: `${what} ${table}`, text, values })
    }
    const sent = [
      client.query('begin'),
      client.query({ name: 'head', text: FENCE, values: headValues(head, this.epoch, from) }),
    ]
    for (const [table, keys] of portion.removes()) sent.push(write(table, 'remove', keys))
    for (const [table, rows] of portion.writes()) sent.push(write(table, 'write', rows))
    sent.push(write('command_batch', 'write', portion.batches()))
    if (this.thins) sent.push(client.query({ name: 'thin', text: THIN, values: [head.sequence] }))
    sent.push(client.query('commit'))
    const results = await Promise.allSettled(sent)
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') continue
      const error = result.reason as Error & { code?: string }
      throw i === 1 && error.code === DIVISION_BY_ZERO ? new Fenced() : error
    }
    const end = results.at(-1) as PromiseFulfilledResult<pg.QueryResult>
    if (end.value.command !== 'COMMIT') throw new Error(`the commit ended as ${end.value.command}`)
    if (!this.thins || (this.thinned += portion.bytes) < VACUUM_BYTES) return
    this.thinned = 0
    await client.query('vacuum (truncate false) journal')
  }
  /** Everything that was committed is on the disk: the sync of one more commit takes all before it along. */
  async settle(): Promise<void> {
    const { client } = this.connection!
    await client.query('set synchronous_commit = on')
    await client.query('update head set epoch = epoch where epoch = $1', [this.epoch])
  }
  async close(): Promise<void> {
    await this.connection?.end()
  }
}

async function migrate(client: pg.Client, done: readonly number[], now: number): Promise<number[]> {
  const pending = pendingMigrations(done)
  for (const migration of pending)
    await transaction(client, async () => {
      for (const statement of migration.up('postgres')) await client.query(statement)
      await client.query('insert into migration (id, name, at) values ($1, $2, $3)', [
        migration.id,
        migration.name,
        now,
      ])
    })
  return pending.map(({ id }) => id)
}
async function one(client: pg.Client, text: string): Promise<unknown[]> {
  return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows[0]!
}
