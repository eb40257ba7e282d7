import type { PackedBatch } from '../machine/batch.ts'
import { decoderOf } from '../machine/codec.ts'
import { Sealer } from '../machine/sealer.ts'
import type { Sums } from '../machine/sums.ts'
import type { LogSpec, Table, TableSpec } from '../machine/table.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { COMMANDS_AFTER, TAKE_EPOCH, commandBatch, loading, selectFrom, storeHead } from './statements.ts'
import type { Checkpoint, CommandBatch, OpenedHead, Store, StoreHead, Value } from './store.ts'

/**
 * For tests: a database that lives as long as its process and leaves nothing behind. One connection in this thread: a
 * commit waits for no disk, so a thread of its own would only cost the way there.
 */
export class MemoryStore implements Store {
  readonly kind = 'memory'
  private readonly connection = new SqliteConnection(':memory:')
  private epoch = 0
  private sealer: Sealer | undefined

  open(): Promise<OpenedHead> {
    return later(() => {
      const migrated = this.connection.migrate(Date.now() * 1000)
      const [head] = this.connection.query(TAKE_EPOCH, [])
      this.epoch = head![0] as number
      return { ...storeHead(head!), migrated }
    })
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
    this.sealer = new Sealer(hash, sums)
  }
  commit(batch: PackedBatch): Promise<string> {
    return later(() => {
      if (this.sealer === undefined) throw new TypeError('nobody said what this batch is sealed behind')
      this.connection.commit(batch, this.sealer.seal(batch), this.epoch)
      return this.sealer.hash
    })
  }
  async select<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const rows = await this.query(`${selectFrom(spec.name, spec.columns)} ${where}`, values)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    return later(() => this.connection.query(sql, values))
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  /** Nobody else can have it. */
  checkFence(): Promise<void> {
    return Promise.resolve()
  }
  wipe(): Promise<StoreHead> {
    return later(() => this.connection.wipe(this.epoch))
  }
  close(): Promise<void> {
    return later(() => this.connection.close())
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
