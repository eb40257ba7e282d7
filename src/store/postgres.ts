import pg from 'pg'
import { decoderOf } from '../machine/codec.ts'
import type { PackedBatch } from '../machine/journal.ts'
import type { Sums } from '../machine/sums.ts'
import type { Declared, LogSpec, Table, TableSpec } from '../machine/table.ts'
import {
  CLEAR_CHECKPOINT,
  INSERT_CHECKPOINT,
  INSERT_CHECKPOINT_PART,
  checkpointParts,
} from './checkpoints.ts'
import { COMMANDS_AFTER, EMPTY_HEAD, REWIND_HEAD, SEAL_HEAD, commandBatch, storeHead } from './head.ts'
import {
  CONNECT_MS,
  KeptConnection,
  connect,
  fetchAll,
  stream,
  transaction,
  types,
  unavailable,
} from './postgres-client.ts'
import { COLUMNS, entryOf } from './journal-rows.ts'
import { selectFrom } from './shapes.ts'
import { Spine, type Bound } from './spine.ts'
import { placeholders, quote } from './sql.ts'
import { loading, tableNames } from './statements.ts'
import {
  Fenced,
  NOTHING_DECLARED,
  NO_LAG,
  type Checkpoint,
  type CommandBatch,
  type Lag,
  type OpenedHead,
  type Snapshot,
  type Store,
  type StoreHead,
  type Value,
} from './store.ts'

const READERS = 4

/** Production: PostgreSQL, with threads of their own for the journal and the tables, and a few connections that read. */
export class PostgresStore implements Store {
  readonly kind = 'postgres'
  private readonly url: string
  private readonly bound: Bound | undefined
  /** For what happens at start and at a reset. */
  private connection: KeptConnection | undefined
  private readonly readers: pg.Pool
  private spine: Spine | undefined
  private epoch = 0
  declared = NOTHING_DECLARED

  constructor(url: string, bound?: Bound) {
    this.url = url
    this.bound = bound
    this.readers = new pg.Pool({
      connectionString: url,
      max: READERS,
      types,
      connectionTimeoutMillis: CONNECT_MS,
    })
    this.readers.on('error', () => undefined) // an idle reader lost its server; the next query says so itself
  }
  async open(sums: Sums, declared: Declared): Promise<OpenedHead> {
    this.declared = declared
    try {
      this.connection = await KeptConnection.open(this.url)
      this.spine = new Spine({ kind: 'postgres', url: this.url }, this.bound)
      const { head, migrated, drained } = await this.spine.open(sums, declared)
      this.epoch = head[0] as number
      return { ...storeHead(head), migrated, drained }
    } catch (error) {
      await this.close().catch(() => undefined)
      throw unavailable(error)
    }
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    const client = this.alone
    await this.writing.caughtUp()
    for (const table of tables) {
      const { sql, row } = loading(table)
      await transaction(client, () => stream(client, sql, row))
    }
  }
  async scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    const client = this.alone
    await this.writing.caughtUp()
    await transaction(client, () => stream(client, sql, row))
  }
  async keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    const client = this.alone
    const { sequence, at, hash, rules } = checkpoint
    await transaction(client, async () => {
      for (const sql of CLEAR_CHECKPOINT) await client.query(sql)
      await client.query(placeholders('postgres', INSERT_CHECKPOINT), [sequence, at, hash, rules])
      const insert = placeholders('postgres', INSERT_CHECKPOINT_PART)
      for (const part of checkpointParts(tables)) await client.query(insert, part)
    })
  }
  async seal({ sums, schema, mac, sequence }: StoreHead): Promise<void> {
    const values = [sums, schema, mac, this.epoch, sequence]
    const { rowCount } = await this.alone.query(placeholders('postgres', SEAL_HEAD), values)
    if (rowCount !== 1) throw new Fenced()
  }
  sealBehind(hash: string, sums: Sums): void {
    this.writing.sealBehind(hash, sums)
  }
  commit(batch: PackedBatch): Promise<string> {
    return this.writing.append(batch)
  }
  commitDirect(batch: PackedBatch): Promise<string> {
    return this.writing.direct(batch)
  }
  async select<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const rows = await this.query(`${selectFrom(spec.name, spec.columns)} ${where}`, values)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  async query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    const behind = this.writing.caughtUp()
    if (behind !== undefined) await behind
    const text = placeholders('postgres', sql)
    const { rows } = await this.readers.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
    return rows
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  async checkFence(): Promise<void> {
    this.connection?.refuseLost()
    await this.writing.checkFence()
  }
  async wipe(): Promise<StoreHead> {
    const client = this.alone
    await this.writing.clear()
    await transaction(client, async () => {
      const { rowCount } = await client.query(placeholders('postgres', REWIND_HEAD), [this.epoch])
      if (rowCount !== 1) throw new Fenced()
      await client.query(`truncate ${tableNames(this.declared).map(quote).join(', ')}`)
    })
    this.writing.restart()
    return EMPTY_HEAD
  }
  get lag(): Lag {
    return this.spine?.lag ?? NO_LAG
  }
  holdBack(on: boolean): Promise<void> {
    return this.writing.hold(on)
  }
  /** A connection may end in the middle of anything. */
  rest(): Promise<void> {
    return Promise.resolve()
  }
  async close(): Promise<void> {
    await this.spine?.close().catch(() => undefined)
    await Promise.allSettled([this.connection?.end(), this.readers.end()])
  }
  private get writing(): Spine {
    if (this.spine === undefined) throw new TypeError('the store is not open')
    return this.spine
  }
  private get alone(): pg.Client {
    if (this.connection === undefined) throw new TypeError('the store is not open')
    return this.connection.client
  }
}

const HAS_JOURNAL = `select to_regclass('journal')::text`
const TAIL = `select ${COLUMNS} from journal where sequence > (select sequence from head) order by 1`

/** What stands in a database, seen without disturbing a platform that runs on it. */
export async function postgresSnapshot(url: string): Promise<Snapshot> {
  const client = await connect(url).catch((error: unknown) => {
    throw unavailable(error)
  })
  client.on('error', () => undefined) // the query that meets it reports it
  await client.query('begin isolation level repeatable read read only')
  return {
    kind: 'postgres',
    query: async (sql, values = []) => {
      const text = placeholders('postgres', sql)
      return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows
    },
    tail: async () => {
      const [made] = (await client.query({ text: HAS_JOURNAL, rowMode: 'array' })).rows as unknown[][]
      if (made?.[0] === null) return []
      return (await client.query<unknown[]>({ text: TAIL, rowMode: 'array' })).rows.map(entryOf)
    },
    integrity: () => Promise.resolve([]),
    each: (sql, row) => stream(client, sql, row),
    portions: (sql, act) => fetchAll(client, sql, act),
    close: () => client.end(),
  }
}
