import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { SealedBatch } from '../core/batch.ts'
import { decoderOf } from '../core/codec.ts'
import type { LogSpec, Table, TableSpec } from '../core/table.ts'
import { quote } from './sql.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import type { Job, Reply } from './sqlite-worker.ts'
import { ALL_TABLES, TAKE_EPOCH } from './statements.ts'
import { Fenced, type CommandBatch, type Store, type StoreHead, type Value } from './store.ts'

/** The embedded default: one file, one thread that writes and one that reads. */
export class SqliteStore implements Store {
  readonly kind = 'sqlite'
  private readonly path: string
  private epoch = 0
  private writer: SqliteThread | undefined
  private reader: SqliteThread | undefined

  constructor(path: string) {
    this.path = path
  }
  open(): Promise<StoreHead> {
    mkdirSync(dirname(this.path), { recursive: true })
    const connection = new SqliteConnection(this.path)
    connection.migrate(Date.now() * 1000)
    const [[epoch, sequence, hash, at]] = connection.query(TAKE_EPOCH, []) as [
      [number, number, string, number],
    ]
    connection.close()
    this.epoch = epoch
    this.writer = new SqliteThread(this.path)
    return Promise.resolve({ sequence, hash, at })
  }
  load(tables: readonly Table<object>[]): Promise<void> {
    const connection = new SqliteConnection(this.path)
    for (const table of tables) {
      const { name, columns, live } = table.spec
      const decode = decoderOf<object>(columns)
      const where = live === undefined ? '' : ' where "live"'
      connection.each(
        `select ${Object.keys(columns).map(quote).join(', ')} from ${quote(name)}${where}`,
        (values) => {
          const row = decode(values)
          table.swap(table.keyOf(row), row)
        },
      )
    }
    connection.close()
    return Promise.resolve()
  }
  async commit(batch: SealedBatch): Promise<void> {
    await this.writing.ask({ op: 'commit', batch, epoch: this.epoch })
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
    this.reader ??= new SqliteThread(this.path)
    return (await this.reader.ask({ op: 'query', sql, values })) as unknown[][]
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    const rows = await this.query(
      'select sequence, at, hash, commands from command_batch where sequence > ? order by sequence limit ?',
      [sequence, limit],
    )
    return rows.map(([seq, at, hash, commands]) => ({ sequence: seq, at, hash, commands }) as CommandBatch)
  }
  async checkFence(): Promise<void> {
    const [[epoch]] = (await this.query('select epoch from head', [])) as [[number]]
    if (epoch !== this.epoch) throw new Fenced()
  }
  async wipe(): Promise<StoreHead> {
    await this.checkFence()
    const connection = new SqliteConnection(this.path)
    connection.transaction(() => {
      for (const table of ALL_TABLES) connection.run(`delete from ${quote(table)}`, [])
      connection.run(`update head set sequence = 0, hash = '', at = 0 where epoch = ?`, [this.epoch])
    })
    connection.close()
    return { sequence: 0, hash: '', at: 0 }
  }
  async close(): Promise<void> {
    await this.writer?.close()
    await this.reader?.close()
  }
  private get writing(): SqliteThread {
    if (this.writer === undefined) throw new TypeError('the store is not open')
    return this.writer
  }
}

class SqliteThread {
  private readonly worker: Worker
  private readonly pending = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (e: Error) => void }
  >()
  private lastId = 0

  constructor(path: string) {
    this.worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), { workerData: { path } })
    this.worker.on('message', (reply: Reply) => {
      const job = this.pending.get(reply.id)!
      this.pending.delete(reply.id)
      if ('result' in reply) job.resolve(reply.result)
      else job.reject(reply.fenced ? new Fenced() : new Error(reply.error))
    })
    const fail = (error: Error): void => {
      for (const job of this.pending.values()) job.reject(error)
      this.pending.clear()
    }
    this.worker.on('error', fail)
    this.worker.on('exit', () => fail(new Error('the store thread has ended')))
  }
  ask(job: Job): Promise<unknown> {
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject })
      this.worker.postMessage({ ...job, id })
    })
  }
  async close(): Promise<void> {
    await this.ask({ op: 'close' })
    await this.worker.terminate()
  }
}
