import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { PackedBatch, TableText, TableWrite } from '../machine/batch.ts'
import { decoderOf } from '../machine/codec.ts'
import type { Sums } from '../machine/sums.ts'
import type { LogSpec, Table, TableSpec } from '../machine/table.ts'
import { makePrivateFile, makePrivateFolder } from '../files.ts'
import { BUSY_MS, SqliteConnection } from './sqlite-connection.ts'
import { SqliteThread } from './sqlite-thread.ts'
import { COMMANDS_AFTER, commandBatch, loading, selectFrom, storeHead } from './statements.ts'
import {
  Fenced,
  StoreDamaged,
  StoreLost,
  StoreUnavailable,
  type Checkpoint,
  type CommandBatch,
  type OpenedHead,
  type Snapshot,
  type Store,
  type StoreHead,
  type Value,
} from './store.ts'

interface Opened {
  readonly head: unknown[]
  readonly migrated: number[]
}
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
  /** By the thread that writes: a migration may take long, and whoever asks the process to stop is heard meanwhile. */
  async open(): Promise<OpenedHead> {
    try {
      makePrivateFolder(dirname(this.path))
      makePrivateFile(this.path)
      this.writer = new SqliteThread(this.path)
      const { head, migrated } = await this.opened(this.writer)
      this.epoch = head[0] as number
      return { ...storeHead(head), migrated }
    } catch (error) {
      await this.close().catch(() => undefined)
      throw reported(this.path, error instanceof StoreLost ? error.cause : error)
    }
  }
  /** Another program may hold the file for a moment. */
  private async opened(thread: SqliteThread): Promise<Opened> {
    for (const began = performance.now(); ;)
      try {
        return (await thread.ask({ op: 'open', now: Date.now() * 1000 })) as Opened
      } catch (error) {
        if (!/locked|busy/i.test(String(error)) || performance.now() - began > BUSY_MS) throw error
        await turn()
      }
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    await this.reading(async (connection) => {
      for (const table of tables) {
        const { name, columns, live } = table.spec
        const { sql, row } = loading(table)
        // Where most rows are history, the index of the live ones leads to the few that matter.
        if (live === undefined) await spread(connection.portionsOf(name, Object.keys(columns)), row)
        else await spread(connection.portions(sql), row)
      }
    })
  }
  async scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    await this.reading((connection) => spread(connection.portions(sql), row))
  }
  keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    return promised(() => this.with((connection) => connection.keepCheckpoint(checkpoint, tables)))
  }
  seal(head: StoreHead): Promise<void> {
    return promised(() => this.with((connection) => connection.seal(head, this.epoch)))
  }
  sealBehind(hash: string, sums: Sums): void {
    const { key, schema } = sums
    // A thread that can't take it fails the commit behind it too.
    this.writing.ask({ op: 'sealBehind', hash, key, schema, sums: sums.text() }).catch(() => undefined)
  }
  async commit(batch: PackedBatch): Promise<string> {
    const { upserts, appends, removes } = batch
    const lean = { upserts: asText(upserts), appends: asText(appends), removes: asText(removes) }
    const job = { op: 'commit', batch: { ...batch, ...lean }, epoch: this.epoch } as const
    return (await this.writing.ask(job)) as string
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
    // A reader that failed is replaced: it holds nothing that could be lost.
    if (this.reader === undefined || this.reader.failure !== undefined)
      this.reader = new SqliteThread(this.path)
    return (await this.reader.ask({ op: 'query', sql, values })) as unknown[][]
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  async checkFence(): Promise<void> {
    if (this.writer?.failure !== undefined) throw this.writer.failure
    const [[epoch]] = (await this.query('select epoch from head', [])) as [[number]]
    if (epoch !== this.epoch) throw new Fenced()
  }
  wipe(): Promise<StoreHead> {
    return promised(() => this.with((connection) => connection.wipe(this.epoch)))
  }
  async close(): Promise<void> {
    await Promise.all([this.writer?.close(), this.reader?.close()])
  }
  private get writing(): SqliteThread {
    if (this.writer === undefined) throw new TypeError('the store is not open')
    return this.writer
  }
  private async reading(act: (connection: SqliteConnection) => Promise<void>): Promise<void> {
    const connection = new SqliteConnection(this.path)
    try {
      await act(connection)
    } catch (error) {
      throw DAMAGE.test(String(error)) ? reported(this.path, error) : error
    } finally {
      connection.close()
    }
  }
  private with<T>(act: (connection: SqliteConnection) => T): T {
    const connection = new SqliteConnection(this.path)
    try {
      return act(connection)
    } finally {
      connection.close()
    }
  }
}

/** Only the text goes to the thread: copying the values as well would cost more than the commit. */
const asText = (writes: readonly TableWrite[]): TableText[] =>
  writes.map(({ table, rows, finished }) => ({ table, rows, finished }))

/** Start-up and reset may block; what they throw comes as a rejection all the same. */
const promised = <T>(act: () => T): Promise<T> =>
  new Promise((resolve) => {
    resolve(act())
  })

/** Row by row, with a turn for others (a signal to stop, a sign of life) between two portions. */
async function spread(
  portions: Iterable<readonly (readonly unknown[])[]>,
  row: (values: readonly unknown[]) => void,
): Promise<void> {
  for (const rows of portions) {
    for (const values of rows) row(values)
    await turn()
  }
}

/** What stands in a data folder, seen without disturbing a platform that runs on it. */
export function sqliteSnapshot(path: string): Snapshot {
  if (!existsSync(path)) throw new StoreUnavailable(`there is no database ${path}; has it ever been started?`)
  if (writable(path)) return snapshotOf(path, (connection) => connection.freeze())
  // SQLite writes beside a file that it only reads. What may not be written to is looked at in a copy.
  const folder = mkdtempSync(join(tmpdir(), 'kontor-look-'))
  const forget = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    for (const end of ['', '-wal'])
      if (existsSync(path + end)) copyFileSync(path + end, join(folder, `kontor.db${end}`))
    return snapshotOf(join(folder, 'kontor.db'), (connection) => connection.freeze(), forget)
  } catch (error) {
    forget()
    throw error
  }
}
function writable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    accessSync(dirname(path), constants.W_OK)
    return true
  } catch {
    return false
  }
}
/** The same for a few words before a start: nothing stands still for it, so nothing is held up behind it. */
export const sqliteGlance = (path: string): Snapshot => snapshotOf(path, () => undefined)

function snapshotOf(
  path: string,
  begin: (connection: SqliteConnection) => void,
  after?: () => void,
): Snapshot {
  const connection = reporting(path, () => {
    const opened = new SqliteConnection(path, 'look')
    begin(opened)
    // What is no database shows at the first look, not at the opening.
    opened.query('select count(*) from sqlite_master', [])
    return opened
  })
  const asked = <T>(act: () => T): Promise<T> =>
    promised(() => {
      try {
        return act()
      } catch (error) {
        // What a caller makes of a row is its own affair.
        throw (error as Error).name === 'SqliteError' ? reported(path, error) : error
      }
    })
  return {
    kind: 'sqlite',
    query: (sql, values = []) => asked(() => connection.query(sql, values)),
    integrity: () => asked(() => connection.integrity('integrity_check')),
    each: (sql, row) => asked(() => connection.each(sql, row)),
    portions: async (sql, act) => {
      for (const rows of connection.portions(sql)) await act(rows)
    },
    close: () =>
      promised(() => {
        connection.close()
        after?.()
      }),
  }
}

/** Whatever keeps the file from being opened becomes one line that says what to do. */
function reporting<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw reported(path, error)
  }
}
function reported(path: string, error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const why = (error instanceof Error ? error.message : String(error)).replace(/^(\w*Error: )+/, '')
  if (DAMAGE.test(why))
    return new StoreDamaged(`the database ${path} is damaged: ${why}; restore it from a backup`, {
      cause: error,
    })
  return new StoreUnavailable(`the database ${path} can't be opened: ${why}${adviceOn(why)}`, {
    cause: error,
  })
}
const DAMAGE = /not a database|malformed|corrupt/i
function adviceOn(why: string): string {
  if (/locked|busy/i.test(why)) return '; another program holds it: stop that one first'
  if (/read-?only|EACCES|EROFS|unable to open/i.test(why))
    return '; the folder and the files in it must be writable for this user'
  if (/full|ENOSPC/i.test(why)) return '; make room on the disk'
  return ''
}
