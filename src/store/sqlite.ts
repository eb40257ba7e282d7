import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { decoderOf } from '../machine/codec.ts'
import type { ClosedBatch } from '../machine/loose.ts'
import type { Sums } from '../machine/sums.ts'
import type { Declared, LogSpec, Table, TableSpec } from '../machine/table.ts'
import { makePrivateFile, makePrivateFolder } from '../files.ts'
import { BUSY_MS, SqliteConnection, textIn } from './sqlite-connection.ts'
import { COMMANDS_AFTER, commandBatch, storeHead } from './head.ts'
import type { Opened, Place, ReaderJob, TablePortion } from './messages.ts'
import { selectFrom } from './shapes.ts'
import { Spine, asTextWith, stagesWith, type Bound } from './spine.ts'
import { copyJournal, readOwners, tailOf } from './file-journal.ts'
import { loading, tableNames } from './statements.ts'
import { StoreThread } from './thread.ts'
import {
  NOTHING_DECLARED,
  NO_LAG,
  NO_READS,
  StoreDamaged,
  StoreLost,
  StoreUnavailable,
  type Checkpoint,
  type CommandBatch,
  type Lag,
  type OpenedHead,
  type HowFar,
  type Snapshot,
  type Store,
  type StoreHead,
  type Value,
} from './store.ts'

/** The embedded default: a file of tables and one for the journal, with threads that append, follow and read. */
export class SqliteStore implements Store {
  readonly kind = 'sqlite'
  private readonly path: string
  private readonly bound: Bound | undefined
  readonly asText: boolean
  private readonly stages: boolean
  private epoch = 0
  declared = NOTHING_DECLARED
  readonly reads = NO_READS
  readonly reconnects = 0
  readonly away = false
  tellAway = (): void => undefined
  private spine: Spine | undefined
  private thread: StoreThread<ReaderJob> | undefined
  private closed = false
  private resting = false
  /** A connection that reads, between two questions. */
  private readonly idle: SqliteConnection[] = []

  /** `cores`: left out, as many as the machine has. */
  constructor(path: string, bound?: Bound, cores?: number) {
    this.path = path
    this.bound = bound
    this.asText = asTextWith(cores)
    this.stages = stagesWith(cores)
  }
  /** By the thread that writes: a migration may take long, and whoever asks the process to stop is heard meanwhile. */
  async open(sums: Sums, declared: Declared): Promise<OpenedHead> {
    this.declared = declared
    this.closed = false
    try {
      makePrivateFolder(dirname(this.path))
      makePrivateFile(this.path)
      this.spine = new Spine(this.place, this.asText, this.bound)
      const { head, migrated, drained } = await this.opened(this.spine, sums)
      this.epoch = head[0] as number
      return { ...storeHead(head), migrated, drained }
    } catch (error) {
      await this.close().catch(() => undefined)
      throw reported(this.path, error instanceof StoreLost ? error.cause : error)
    }
  }
  openWarm(): Promise<never> {
    return Promise.reject(new TypeError('only PostgreSQL is taken over warm'))
  }
  prepare(): void {
    return undefined
  }
  /** A thread that failed is replaced: it holds nothing that could be lost. */
  private reader<R>(job: ReaderJob): Promise<R> {
    this.mustBeOpen()
    if (this.resting) return new Promise(() => undefined)
    if (this.thread === undefined || this.thread.failure !== undefined)
      this.thread = new StoreThread('reader', this.place)
    return this.thread.ask(job) as Promise<R>
  }
  /** Who waited for the tables meanwhile must not open the file again behind whoever closed it. */
  private mustBeOpen(): void {
    if (this.closed) throw new StoreLost('the store is closed')
  }
  private get place(): Place {
    return { kind: 'sqlite', path: this.path, stages: this.stages }
  }
  /** Another program may hold the file for a moment. */
  private async opened(spine: Spine, sums: Sums): Promise<Opened> {
    for (const began = performance.now(); ;)
      try {
        return await spine.open(sums, this.declared)
      } catch (error) {
        if (!/locked|busy/i.test(String(error)) || performance.now() - began > BUSY_MS) throw error
        await turn()
      }
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    await this.writing.caughtUp()
    await this.reading(async (connection) => {
      for (const table of tables) {
        const { sql, row } = loading(table)
        // Where most rows are history, the index of the live ones leads to the few that matter.
        if (table.spec.live === undefined) await this.loadWhole(connection, table.spec, row)
        else await spread(connection.portions(sql), row)
      }
    })
  }
  /**
   * The first portion, most often all of it, is read here: to start the reader's thread takes longer. While one of the others
   * is taken in, that thread reads the next.
   */
  private async loadWhole(
    connection: SqliteConnection,
    { name, columns }: TableSpec<object>,
    row: (values: readonly unknown[]) => void,
  ): Promise<void> {
    const names = Object.keys(columns)
    const ask = (after: number): Promise<TablePortion> =>
      this.reader({ op: 'portion', table: name, columns: names, after })
    let portion = connection.portion(name, names, Number.MIN_SAFE_INTEGER)
    while (portion.last !== null) {
      const next = portion.full ? ask(portion.last) : undefined
      next?.catch(() => undefined) // told when it is waited for
      for (const values of JSON.parse(textIn(portion.rows)) as unknown[][]) row(values)
      if (next === undefined) return
      portion = await next
    }
  }
  async scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    await this.writing.caughtUp()
    this.mustBeOpen()
    await this.reading((connection) => spread(connection.portions(sql), row))
  }
  keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    return promised(() => this.with((connection) => connection.keepCheckpoint(checkpoint, tables)))
  }
  seal(head: StoreHead): Promise<void> {
    return promised(() => this.with((connection) => connection.seal(head, this.epoch)))
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
    const behind = this.writing.caughtUp()
    if (behind !== undefined) await behind
    return this.selectHeld(spec, where, values)
  }
  async selectHeld<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const rows = await this.ask(`${selectFrom(spec.name, spec.columns)} ${where}`, values)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  async query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    const behind = this.writing.caughtUp()
    if (behind !== undefined) await behind
    return this.ask(sql, values)
  }
  private ask(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    return this.reader({ op: 'query', sql, values })
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  checkFence(): Promise<void> {
    return this.writing.checkFence()
  }
  async wipe(): Promise<StoreHead> {
    await this.writing.clear()
    const head = this.with((connection) => connection.wipe(this.epoch, tableNames(this.declared)))
    this.writing.restart()
    return head
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
  async rest(): Promise<void> {
    this.resting = true
    await Promise.all([this.spine?.rest(), this.thread?.rest()])
  }
  async close(): Promise<void> {
    this.closed = true
    this.idle.pop()?.close()
    await Promise.all([this.spine?.close(), this.thread?.close()])
  }
  private get writing(): Spine {
    if (this.spine === undefined) throw new TypeError('the store is not open')
    return this.spine
  }
  /** A start reads table after table: to open the file, and to read what it declares, takes longer than most of them. */
  private async reading(act: (connection: SqliteConnection) => Promise<void>): Promise<void> {
    const connection = this.idle.pop() ?? new SqliteConnection(this.path, 'read')
    try {
      await act(connection)
    } catch (error) {
      connection.close()
      throw DAMAGE.test(String(error)) ? reported(this.path, error) : error
    }
    if (this.idle.length === 0 && !this.closed) this.idle.push(connection)
    else connection.close()
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
  const copy = join(folder, 'kontor.db')
  try {
    // The journal first: what leaves it has come into the tables before.
    copyJournal(path, copy)
    for (const end of ['', '-wal']) if (existsSync(path + end)) copyFileSync(path + end, copy + end)
    return snapshotOf(copy, (connection) => connection.freeze(), forget)
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
  // The journal is looked at before the tables stand still: what leaves it has come into them before.
  const owners = readOwners(path)
  const connection = standing(path, begin)
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
    tail: () =>
      asked(() => {
        const [head] = connection.query('select sequence from head', [])
        return tailOf(owners, Number(head?.[0]), connection.journalOwner())
      }),
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
function standing(path: string, begin: (connection: SqliteConnection) => void): SqliteConnection {
  return reporting(path, () => {
    const opened = new SqliteConnection(path, 'look')
    begin(opened)
    // What is no database shows at the first look, not at the opening.
    opened.query('select count(*) from sqlite_master', [])
    return opened
  })
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
