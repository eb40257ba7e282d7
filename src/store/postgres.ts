import pg from 'pg'
import type { SealedBatch } from '../core/batch.ts'
import { decoderOf } from '../core/codec.ts'
import type { LogSpec, Table, TableSpec } from '../core/table.ts'
import { BOOTSTRAP, MIGRATIONS } from './migrations/migrations.ts'
import { placeholders, quote } from './sql.ts'
import { ADVANCE_HEAD, ALL_TABLES, INSERT_COMMANDS, TAKE_EPOCH, batchStatements } from './statements.ts'
import { Fenced, type CommandBatch, type Store, type StoreHead, type Value } from './store.ts'

const INT8 = 20
// Our integers stay below 2^53; numeric stays text, so that no float ever touches an amount.
const types = new pg.TypeOverrides()
types.setTypeParser(INT8, Number)

const READERS = 4
const LOAD_ROWS = 20_000

/** Production: PostgreSQL, with one connection that writes and a few that read history. */
export class PostgresStore implements Store {
  readonly kind = 'postgres'
  private readonly url: string
  private readonly statementsOf = batchStatements('postgres')
  private writer: pg.Client | undefined
  private readonly readers: pg.Pool
  private epoch = 0
  private lastCommit: Promise<void> = Promise.resolve()

  constructor(url: string) {
    this.url = url
    this.readers = new pg.Pool({ connectionString: url, max: READERS, types })
    this.readers.on('error', () => undefined) // an idle reader lost its server; the next query says so itself
  }
  async open(): Promise<StoreHead> {
    const client = new pg.Client({ connectionString: this.url, types })
    client.on('error', () => undefined) // the commit that meets a lost connection reports it
    await client.connect()
    this.writer = client
    // Two processes that start at once migrate one after the other.
    await client.query('select pg_advisory_lock(727274)')
    try {
      for (const statement of BOOTSTRAP) await client.query(statement)
      await this.migrate(client)
    } finally {
      await client.query('select pg_advisory_unlock(727274)')
    }
    const { rows } = await client.query<{ epoch: number; sequence: number; hash: string; at: number }>(
      TAKE_EPOCH,
    )
    const { epoch, sequence, hash, at } = rows[0]!
    this.epoch = epoch
    return { sequence, hash, at }
  }
  private async migrate(client: pg.Client): Promise<void> {
    const done = new Set(
      (await client.query<{ id: number }>('select id from migration')).rows.map(({ id }) => id),
    )
    for (const migration of MIGRATIONS) {
      if (done.has(migration.id)) continue
      await this.transaction(client, async () => {
        for (const statement of migration.up('postgres')) await client.query(statement)
        await client.query('insert into migration (id, name, at) values ($1, $2, $3)', [
          migration.id,
          migration.name,
          Date.now() * 1000,
        ])
      })
    }
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    const client = this.writing
    for (const table of tables) {
      const { name, columns, live } = table.spec
      const decode = decoderOf<object>(columns)
      const where = live === undefined ? '' : ' where "live"'
      const select = `select ${Object.keys(columns).map(quote).join(', ')} from ${quote(name)}${where}`
      // A cursor, so that a million rows are never held twice.
      await client.query('begin')
      await client.query(`declare load_cursor no scroll cursor for ${select}`)
      for (;;) {
        const { rows } = await client.query<unknown[]>({
          text: `fetch ${LOAD_ROWS} from load_cursor`,
          rowMode: 'array',
        })
        for (const values of rows) {
          const row = decode(values)
          table.swap(table.keyOf(row), row)
        }
        if (rows.length < LOAD_ROWS) break
      }
      await client.query('commit')
    }
  }
  commit(batch: SealedBatch): Promise<void> {
    // One after the other on the one connection; after a failure every later one fails at the fence.
    return (this.lastCommit = this.lastCommit.then(() => this.commitNow(batch)))
  }
  private async commitNow(batch: SealedBatch): Promise<void> {
    const client = this.writing
    await this.transaction(client, async () => {
      const values = [batch.sequence, batch.hash, batch.at, this.epoch, batch.sequence - 1]
      const fence = await client.query({ name: 'head', text: placeholders('postgres', ADVANCE_HEAD), values })
      if (fence.rowCount !== 1) throw new Fenced()
      for (const [text, json] of this.statementsOf(batch))
        await client.query({ name: statementName(text), text, values: [json] })
      await client.query({
        name: 'commands',
        text: placeholders('postgres', INSERT_COMMANDS),
        values: [batch.sequence, batch.at, batch.count, batch.hash, batch.commands],
      })
    })
  }
  async select<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const columns = Object.keys(spec.columns).map(quote).join(', ')
    const rows = await this.query(`select ${columns} from ${quote(spec.name)} ${where}`, values)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  async query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    const text = placeholders('postgres', sql)
    const { rows } = await this.readers.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
    return rows
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    const rows = await this.query(
      'select sequence, at, hash, commands from command_batch where sequence > ? order by sequence limit ?',
      [sequence, limit],
    )
    return rows.map(([seq, at, hash, commands]) => ({ sequence: seq, at, hash, commands }) as CommandBatch)
  }
  async checkFence(): Promise<void> {
    const [row] = await this.query('select epoch from head', [])
    if (row![0] !== this.epoch) throw new Fenced()
  }
  async wipe(): Promise<StoreHead> {
    const client = this.writing
    await this.transaction(client, async () => {
      const fence = await client.query(`update head set sequence = 0, hash = '', at = 0 where epoch = $1`, [
        this.epoch,
      ])
      if (fence.rowCount !== 1) throw new Fenced()
      await client.query(`truncate ${ALL_TABLES.map(quote).join(', ')}`)
    })
    return { sequence: 0, hash: '', at: 0 }
  }
  async close(): Promise<void> {
    await this.writer?.end()
    await this.readers.end()
  }
  private get writing(): pg.Client {
    if (this.writer === undefined) throw new TypeError('the store is not open')
    return this.writer
  }
  private async transaction(client: pg.Client, act: () => Promise<void>): Promise<void> {
    await client.query('begin')
    try {
      await act()
    } catch (error) {
      await client.query('rollback').catch(() => undefined)
      throw error
    }
    await client.query('commit')
  }
}

/** A prepared statement's name on the server is at most 63 bytes: number the texts. */
const names = new Map<string, string>()
function statementName(text: string): string {
  let name = names.get(text)
  if (name === undefined) names.set(text, (name = `batch_${names.size + 1}`))
  return name
}
