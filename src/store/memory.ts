import { decoderOf } from '../machine/codec.ts'
import type { ClosedBatch } from '../machine/loose.ts'
import { Portion } from '../machine/portion.ts'
import { Sealer } from '../machine/sealer.ts'
import type { Sums } from '../machine/sums.ts'
import type { Declared, LogSpec, Table, TableSpec } from '../machine/table.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { migrate } from './sqlite-migrating.ts'
import { headOf } from './follower.ts'
import { COMMANDS_AFTER, TAKE_EPOCH, commandBatch, storeHead } from './head.ts'
import type { Image } from './image.ts'
import { selectFrom } from './shapes.ts'
import { loading, shapesOf, tableNames } from './statements.ts'
import {
  Fenced,
  NOTHING_DECLARED,
  ALL_HELD,
  NO_LAG,
  NO_READS,
  type Checkpoint,
  type CommandBatch,
  type OpenedHead,
  type Store,
  type StoreHead,
  type Value,
} from './store.ts'

/** What is committed before anybody looks waits in memory as texts; there may be so much of it. */
const UNSEEN_BYTES = 2 ** 20

/**
 * For tests: a database that lives as long as its process and leaves nothing behind. One connection in this thread: a
 * commit waits for no disk, so a thread of its own would only cost the way there. One that begins with an image makes its
 * tables when somebody looks at them: most worlds of a test are never asked about their past.
 */
export class MemoryStore implements Store {
  readonly kind = 'memory'
  readonly asText = true
  private made: SqliteConnection | undefined
  private image: Image | undefined
  /** Committed, and not in the tables, because there are none yet. */
  private unseen = new Portion()
  private readonly shared: boolean
  private epoch = 0
  declared = NOTHING_DECLARED
  private readonly sealer = new Sealer()
  private sums: Sums | undefined
  /** Whoever looks finds in the tables what is committed. */
  readonly lag = NO_LAG
  readonly reached = ALL_HELD
  readonly reads = NO_READS
  readonly reconnects = 0
  readonly away = false
  tellAway = (): void => undefined

  /** `other`: the same rows, for who takes them over; or what it begins with. */
  constructor(other?: MemoryStore | Image) {
    this.shared = other instanceof MemoryStore
    if (other instanceof MemoryStore) this.made = other.connection
    else if (other === undefined) this.made = new SqliteConnection(':memory:')
    else this.image = other
  }
  private get connection(): SqliteConnection {
    return (this.made ??= this.make())
  }
  private make(): SqliteConnection {
    const connection = new SqliteConnection(':memory:')
    connection.fill(this.image!)
    connection.run('update head set epoch = ?', [this.epoch])
    connection.shape(shapesOf(this.declared))
    const { unseen } = this
    if (unseen.entries.length > 0) this.project(connection, unseen)
    this.unseen = new Portion()
    return connection
  }
  private project(connection: SqliteConnection, portion: Portion): void {
    portion.count(this.sums!)
    connection.project(portion.changes(), headOf(portion, this.sums!), this.epoch, true)
  }
  /** What it holds now, for others to begin with. */
  copy(): Image {
    if (this.made === undefined && this.unseen.entries.length === 0) return this.image!
    return this.connection.image()
  }
  /** Everything else is forgotten, without a trace; `open` comes next. */
  begin(image: Image): void {
    if (this.shared) throw new TypeError('these rows are also those of others')
    this.made?.close()
    this.made = undefined
    this.unseen = new Portion()
    this.image = image
  }
  open(_sums: Sums, declared: Declared): Promise<OpenedHead> {
    this.declared = declared
    return later(() => {
      if (this.made === undefined) {
        const { head, epoch } = this.image!
        this.epoch = epoch + 1
        return { ...head, migrated: [], drained: 0 }
      }
      const migrated = migrate(this.connection, Date.now() * 1000)
      const [head] = this.connection.query(TAKE_EPOCH, [])
      this.epoch = head![0] as number
      this.connection.shape(shapesOf(declared))
      return { ...storeHead(head!), migrated, drained: 0 }
    })
  }
  openWarm(): Promise<never> {
    return Promise.reject(new TypeError('only PostgreSQL is taken over warm'))
  }
  prepare(): void {
    return undefined
  }
  load(tables: readonly Table<object>[]): Promise<void> {
    return later(() => {
      for (const table of tables) {
        const { sql, row } = loading(table)
        this.connection.each(sql, row)
      }
    })
  }
  scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    return later(() => this.connection.each(sql, row))
  }
  keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    return later(() => this.connection.keepCheckpoint(checkpoint, tables))
  }
  seal(head: StoreHead): Promise<void> {
    return later(() => this.connection.seal(head, this.epoch))
  }
  sealBehind(hash: string, sums: Sums): void {
    this.sums = sums
    this.sealer.sealBehind(hash, sums.key)
  }
  commit(batch: ClosedBatch): Promise<string> {
    return later(() => {
      const entry = this.sealer.seal(batch)
      if (this.made === undefined) {
        this.unseen.add(entry)
        if (this.unseen.bytes > UNSEEN_BYTES) this.made = this.make()
        return entry.hash
      }
      const portion = new Portion()
      portion.add(entry)
      this.project(this.made, portion)
      return entry.hash
    })
  }
  hear(): boolean {
    return false
  }
  commitDirect(batch: ClosedBatch): Promise<string> {
    return this.commit(batch)
  }
  holdBack(): Promise<void> {
    return Promise.reject(new TypeError('nothing follows here'))
  }
  rest(): Promise<void> {
    return Promise.resolve()
  }
  async select<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const rows = await this.query(`${selectFrom(spec.name, spec.columns)} ${where}`, values)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  selectHeld<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    return this.select(spec, where, values)
  }
  query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    return later(() => this.connection.query(sql, values))
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  checkFence(): Promise<void> {
    return later(() => {
      // Nobody else has seen it.
      if (this.made === undefined) return
      const [epoch] = this.connection.query('select epoch from head', [])[0]!
      if (epoch !== this.epoch) throw new Fenced()
    })
  }
  wipe(): Promise<StoreHead> {
    return later(() => this.connection.wipe(this.epoch, tableNames(this.declared)))
  }
  close(): Promise<void> {
    return later(() => {
      if (!this.shared) this.made?.close()
    })
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
