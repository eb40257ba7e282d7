import type pg from 'pg'
import { decoderOf } from '../machine/codec.ts'
import type { ClosedBatch } from '../machine/loose.ts'
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
  THINKING_MS,
  connect,
  fetchAll,
  stream,
  transaction,
  unavailable,
  wholeTable,
} from './postgres-client.ts'
import { Line } from './postgres-line.ts'
import { Readers } from './postgres-readers.ts'
import { Replicas } from './postgres-replicas.ts'
import { COLUMNS, entryOf } from './journal-rows.ts'
import { selectFrom } from './shapes.ts'
import { asTextWith, Spine, type Bound } from './spine.ts'
import { placeholders, quote } from './sql.ts'
import { loading, tableNames } from './statements.ts'
import {
  Fenced,
  NOTHING_DECLARED,
  NO_LAG,
  NO_READS,
  type Checkpoint,
  type CommandBatch,
  type Lag,
  type OpenedHead,
  type HowFar,
  type Reads,
  type Snapshot,
  type Store,
  type StoreHead,
  type Value,
  type WarmHead,
  type Point,
} from './store.ts'

const READERS = 4

export interface PostgresOptions {
  readonly bound?: Bound | undefined
  /** How long a lost connection is tried for; left out: no longer than it takes to try once. */
  readonly waitMs?: number | undefined
  /** Replicas that history is read from. */
  readonly readUrls?: readonly string[] | undefined
}

/** Production: PostgreSQL, with threads of their own for the journal and the tables, and a few connections that read. */
export class PostgresStore implements Store {
  readonly kind = 'postgres'
  readonly asText = asTextWith()
  private readonly url: string
  private readonly options: PostgresOptions
  /** For what happens at start and at a reset. */
  private line: Line | undefined
  private readonly readers: Readers
  private readonly replicas: Replicas | undefined
  private spine: Spine | undefined
  private epoch = 0
  declared = NOTHING_DECLARED
  reconnects = 0
  away = false
  tellAway: (away: boolean) => void = () => undefined

  constructor(url: string, options: PostgresOptions = {}) {
    this.url = url
    this.options = options
    this.readers = new Readers(url, READERS)
    const { readUrls = [] } = options
    if (readUrls.length > 0) this.replicas = new Replicas(readUrls)
  }
  /** What writes, and the connection for what happens at start. */
  private async begin(): Promise<Spine> {
    const { waitMs = 0, bound } = this.options
    this.line = await Line.open(this.url, { waitMs, idleMs: THINKING_MS })
    this.spine ??= new Spine({ kind: 'postgres', url: this.url, waitMs }, this.asText, bound)
    this.spine.moved = () => this.readers.renew()
    this.spine.away = (away) => {
      this.away = away
      if (!away) this.reconnects++
      this.tellAway(away)
    }
    return this.spine
  }
  async open(sums: Sums, declared: Declared): Promise<OpenedHead> {
    this.declared = declared
    try {
      const spine = await this.begin()
      const { head, migrated, drained } = await spine.open(sums, declared)
      this.epoch = head[0] as number
      return { ...storeHead(head), migrated, drained }
    } catch (error) {
      await this.close().catch(() => undefined)
      throw unavailable(error)
    }
  }
  prepare(): void {
    const { waitMs = 0, bound } = this.options
    this.spine ??= new Spine({ kind: 'postgres', url: this.url, waitMs }, this.asText, bound)
  }
  async openWarm(sums: Sums, declared: Declared, after: Point): Promise<WarmHead> {
    this.declared = declared
    try {
      const spine = await this.begin()
      const { head, last, at, entries } = await spine.openWarm(sums, declared, after)
      this.epoch = head[0] as number
      return { ...last, at, entries: entries.filter(({ sequence }) => sequence > after.sequence) }
    } catch (error) {
      await this.close().catch(() => undefined)
      throw unavailable(error)
    }
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    const client = await this.alone()
    await this.writing.caughtUp()
    for (const table of tables) {
      const { sql, row } = loading(table)
      const { spec } = table
      // Where most rows are history, the index of the live ones leads to the few that matter.
      await transaction(client, () =>
        spec.live === undefined ? wholeTable(client, spec, row) : stream(client, sql, row),
      )
    }
  }
  async scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    const client = await this.alone()
    await this.writing.caughtUp()
    await transaction(client, () => stream(client, sql, row))
  }
  async keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    const client = await this.alone()
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
    const client = await this.alone()
    const { rowCount } = await client.query(placeholders('postgres', SEAL_HEAD), values)
    if (rowCount !== 1) throw new Fenced()
  }
  sealBehind(hash: string, sums: Sums): void {
    this.writing.sealBehind(hash, sums)
  }
  commit(batch: ClosedBatch): Promise<string> {
    return this.writing.append(batch)
  }
  hear(): boolean {
    return this.spine?.hear() ?? false
  }
  commitDirect(batch: ClosedBatch): Promise<string> {
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
  /** Where there are replicas they are asked, and what they hold is waited for. */
  async selectHeld<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    if (this.replicas !== undefined) return this.select(spec, where, values)
    const text = placeholders('postgres', `${selectFrom(spec.name, spec.columns)} ${where}`)
    const rows = await this.readers.query({ text, values }, this.writing.told)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  async query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    const { told } = this.writing
    const behind = this.writing.caughtUp()
    if (behind !== undefined) await behind
    const asked = { text: placeholders('postgres', sql), values }
    const found = await this.replicas?.query(asked, told)
    if (found !== undefined) return found
    if (this.replicas !== undefined) this.replicas.counts.primary++
    return this.readers.query(asked, told)
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  async checkFence(): Promise<void> {
    await this.writing.checkFence()
  }
  async wipe(): Promise<StoreHead> {
    const client = await this.alone()
    await this.writing.clear()
    await transaction(client, async () => {
      const { rowCount } = await client.query(placeholders('postgres', REWIND_HEAD), [this.epoch])
      if (rowCount !== 1) throw new Fenced()
      await client.query(`truncate ${tableNames(this.declared).map(quote).join(', ')}`)
    })
    this.writing.restart()
    return EMPTY_HEAD
  }
  get reads(): Reads {
    return this.replicas?.counts ?? NO_READS
  }
  get lag(): Lag {
    return this.spine?.lag ?? NO_LAG
  }
  get reached(): HowFar {
    return this.writing.reached
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
    await Promise.allSettled([this.line?.end(), this.readers.end(), this.replicas?.end()])
  }
  private get writing(): Spine {
    if (this.spine === undefined) throw new TypeError('the store is not open')
    return this.spine
  }
  private alone(): Promise<pg.Client> {
    if (this.line === undefined) throw new TypeError('the store is not open')
    return this.line.ready()
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
