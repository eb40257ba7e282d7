import { dirname } from 'node:path'
import { makePrivateFile, makePrivateFolder } from '../../../src/files.ts'
import { decoderOf } from '../../../src/machine/codec.ts'
import type { ClosedBatch } from '../../../src/machine/loose.ts'
import { Sealer } from '../../../src/machine/sealer.ts'
import { Sums } from '../../../src/machine/sums.ts'
import type { Declared, LogSpec, Table, TableSpec } from '../../../src/machine/table.ts'
import { Follower } from '../../../src/store/follower.ts'
import { COMMANDS_AFTER, commandBatch, storeHead } from '../../../src/store/head.ts'
import { selectFrom } from '../../../src/store/shapes.ts'
import { SqliteConnection } from '../../../src/store/sqlite-connection.ts'
import { SqliteJournal } from '../../../src/store/sqlite-journal.ts'
import { SqliteTables } from '../../../src/store/sqlite-tables.ts'
import { loading, shapesOf, tableNames } from '../../../src/store/statements.ts'
import {
  NOTHING_DECLARED,
  NO_LAG,
  NO_READS,
  StoreLost,
  type Checkpoint,
  type CommandBatch,
  type OpenedHead,
  type HowFar,
  type Snapshot,
  type Store,
  type StoreHead,
  type Value,
} from '../../../src/store/store.ts'

/** So many batches may wait before the tables follow them in one transaction; whoever asks the tables is not kept waiting. */
const BEHIND_MAX = 128

interface Reached {
  readonly sequence: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}
/**
 * The embedded store without its threads: the same journal, follower and tables on the same files, called where they
 * are. A start costs a third of it, a commit half: most of a long history is spent on those.
 */
export class OneThreadStore implements Store {
  readonly kind = 'sqlite'
  readonly asText = true
  declared: Declared = NOTHING_DECLARED
  readonly reads = NO_READS
  readonly lag = NO_LAG
  get reached(): HowFar {
    return { told: this.acknowledged, projected: this.projected }
  }
  readonly reconnects = 0
  readonly away = false
  tellAway = (): void => undefined
  private readonly path: string
  private tables: SqliteTables | undefined
  private journal: SqliteJournal | undefined
  private reader: SqliteConnection | undefined
  private follower!: Follower
  private readonly sealer = new Sealer()
  private epoch = 0
  private acknowledged = 0
  private projected = 0
  private safe = 0
  private held = false
  /** The tables are to follow up to here at once. */
  private goal = 0
  private failure: Error | undefined
  private waiting: Reached[] = []

  constructor(path: string) {
    this.path = path
  }
  async open({ key, schema }: Sums, declared: Declared): Promise<OpenedHead> {
    this.declared = declared
    makePrivateFolder(dirname(this.path))
    makePrivateFile(this.path)
    this.tables = new SqliteTables(this.path)
    const opening = { now: Date.now() * 1000, key, schema, shapes: shapesOf(declared) }
    const { head, migrated, drained, journalEpoch } = await this.tables.open(opening)
    this.follower = new Follower(
      this.tables,
      ({ sequence, safe }) => this.progress(sequence, safe),
      (error) => this.ended(error as Error),
    )
    // By a clock of its own it would write the same rows again and again.
    this.follower.hold()
    this.journal = new SqliteJournal(this.path)
    this.epoch = head[0] as number
    this.acknowledged = this.projected = Number(head[1])
    this.journal.takenAt(journalEpoch, this.acknowledged)
    return { ...storeHead(head), migrated, drained }
  }
  openWarm(): Promise<never> {
    return Promise.reject(new TypeError('only PostgreSQL is taken over warm'))
  }
  prepare(): void {
    return undefined
  }
  sealBehind(hash: string, sums: Sums): void {
    const own = new Sums(sums.key, sums.schema)
    own.setAll(sums.text())
    this.sealer.sealBehind(hash, sums.key)
    this.follower.sealBehind(hash, own)
  }
  commit(batch: ClosedBatch): Promise<string> {
    return later(() => {
      if (this.failure !== undefined) throw this.failure
      const entry = this.sealer.seal(batch)
      this.journal!.append([entry], this.safe)
      this.acknowledged = entry.sequence
      this.follower.take(entry)
      if (this.acknowledged - this.projected >= BEHIND_MAX) this.follow()
      return entry.hash
    })
  }
  hear(): boolean {
    return false
  }
  commitDirect(): Promise<never> {
    return Promise.reject(new TypeError('nobody is alone with it'))
  }
  private follow(): void {
    if (this.held) return
    this.goal = this.acknowledged
    this.follower.hurry(this.goal)
    this.follower.go()
  }
  private progress(sequence: number, safe: number): void {
    this.projected = sequence
    this.safe = safe
    if (sequence >= this.goal) this.follower.hold()
    const reached = this.waiting.filter((one) => one.sequence <= sequence)
    this.waiting = this.waiting.filter((one) => one.sequence > sequence)
    for (const { resolve } of reached) resolve()
  }
  private ended(error: Error): void {
    this.failure = error
    for (const { reject } of this.waiting.splice(0)) reject(error)
  }
  private async caughtUp(): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    if (this.projected >= this.acknowledged) return
    const sequence = this.acknowledged
    const reached = new Promise<void>((resolve, reject) => this.waiting.push({ sequence, resolve, reject }))
    this.follow()
    await reached
  }
  private get reading(): SqliteConnection {
    if (this.tables === undefined) throw new StoreLost('the store is closed')
    return (this.reader ??= new SqliteConnection(this.path, 'read'))
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    await this.caughtUp()
    for (const table of tables) {
      const { sql, row } = loading(table)
      this.reading.each(sql, row)
    }
  }
  async scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    await this.caughtUp()
    this.reading.each(sql, row)
  }
  /** The tables when they hold everything that was acknowledged. What its statements were made for is not made again. */
  async look(): Promise<Pick<Snapshot, 'query' | 'each' | 'tail'>> {
    await this.caughtUp()
    return {
      query: (sql, values = []) => Promise.resolve(this.reading.query(sql, values)),
      each: (sql, row) => {
        this.reading.each(sql, row)
        return Promise.resolve()
      },
      tail: () => Promise.resolve([]),
    }
  }
  keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    return later(() => this.with((connection) => connection.keepCheckpoint(checkpoint, tables)))
  }
  seal(head: StoreHead): Promise<void> {
    return later(() => this.with((connection) => connection.seal(head, this.epoch)))
  }
  async select<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    await this.caughtUp()
    return this.selectHeld(spec, where, values)
  }
  selectHeld<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const rows = this.reading.query(`${selectFrom(spec.name, spec.columns)} ${where}`, values)
    return Promise.resolve(rows.map(decoderOf<Row>(spec.columns)))
  }
  async query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    await this.caughtUp()
    return this.reading.query(sql, values)
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  checkFence(): Promise<void> {
    return later(() => {
      if (this.failure !== undefined) throw this.failure
      this.journal?.checkFence()
    })
  }
  async wipe(): Promise<StoreHead> {
    await this.caughtUp()
    this.tables!.settle()
    this.journal!.clear(0)
    const head = this.with((connection) => connection.wipe(this.epoch, tableNames(this.declared)))
    this.acknowledged = this.projected = this.goal = 0
    return head
  }
  holdBack(on: boolean): Promise<void> {
    this.held = on
    if (on) this.follower.hold()
    else if (this.projected < this.acknowledged) this.follow()
    return Promise.resolve()
  }
  rest(): Promise<void> {
    return Promise.resolve()
  }
  async close(): Promise<void> {
    const { tables, journal } = this
    if (tables === undefined) return
    if (this.failure === undefined && !this.held)
      try {
        await this.caughtUp()
        tables.settle()
        journal!.clear(this.acknowledged)
      } catch {
        // The next start catches up.
      }
    this.tables = undefined
    this.reader?.close()
    journal?.close()
    tables.close()
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
/** In a turn of its own, as a store elsewhere would answer; what it throws comes as a rejection. */
const later = <T>(act: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(act())
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
  })
