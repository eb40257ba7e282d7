import type { Changes } from '../machine/portion.ts'
import type { Opening, SqlitePlace, WriterJob } from './messages.ts'
import type { Shape, Staged } from './shapes.ts'
import { SqliteWriter, type Finished, type SqliteWriting, type Taken } from './sqlite-writer.ts'
import type { StoreHead } from './store.ts'
import { StoreThread } from './thread.ts'

/** From here on it pays to have the next portion made while one is written. */
const LARGE_BYTES = 2 ** 20

/**
 * Writes the tables in the follower's thread until there is so much to do that the two should work side by side; from then
 * on in a thread of its own, which costs a start a tenth of a second of the processor that most never need.
 */
export class SqliteWriterOnDemand implements SqliteWriting {
  private readonly place: SqlitePlace
  private readonly here: SqliteWriter
  private elsewhere: Promise<StoreThread<WriterJob>> | undefined

  constructor(place: SqlitePlace) {
    this.place = place
    this.here = new SqliteWriter(place.path)
  }
  async take(): Promise<Taken> {
    const taken = this.here.take()
    // A start that is tried again has another epoch.
    if (this.elsewhere !== undefined) await this.ask({ op: 'adopt', ...this.here.standing })
    return taken
  }
  shape(shapes: readonly Shape[]): Promise<void> | void {
    if (this.elsewhere === undefined) this.here.shape(shapes)
    else return this.ask({ op: 'shape', shapes }) as Promise<void>
  }
  project(changes: Changes, head: StoreHead, durable: boolean, staged?: Staged): Promise<void> | void {
    if (this.elsewhere === undefined && (staged !== undefined || bytesOf(changes) >= LARGE_BYTES))
      this.elsewhere = this.move()
    if (this.elsewhere === undefined) this.here.project(changes, head, durable)
    else return this.ask({ op: 'project', changes, head, durable, staged }) as Promise<void>
  }
  finish(opening: Opening): Promise<Finished> | Finished {
    if (this.elsewhere === undefined) return this.here.finish(opening)
    return this.ask({ op: 'finish', opening }) as Promise<Finished>
  }
  settle(): Promise<void> | void {
    if (this.elsewhere === undefined) this.here.settle()
    else return this.ask({ op: 'settle' }) as Promise<void>
  }
  async close(): Promise<void> {
    this.here.close()
    const thread = await this.elsewhere?.catch(() => undefined)
    await thread?.close()
  }
  /** Asked in their order, those too that come while it moves. */
  private async ask(job: WriterJob): Promise<unknown> {
    return (await this.elsewhere!).ask(job)
  }
  private async move(): Promise<StoreThread<WriterJob>> {
    const thread = new StoreThread<WriterJob>('writer', this.place)
    try {
      await thread.ask({ op: 'adopt', ...this.here.standing })
    } catch (error) {
      await thread.close().catch(() => undefined)
      throw error
    }
    this.here.close()
    return thread
  }
}
const bytesOf = ({ writes, batches }: Changes): number =>
  writes.reduce((sum, [, rows]) => sum + rows.length, batches.length)
