import type { Changes } from '../machine/portion.ts'
import type { Opening, Place, WriterJob } from './messages.ts'
import type { Shape } from './shapes.ts'
import type { Finished, SqliteWriting, Taken } from './sqlite-writer.ts'
import type { StoreHead } from './store.ts'
import { StoreThread } from './thread.ts'

/** The writer of an SQLite file in a thread of its own: while it works, whoever asks it makes the next portion. */
export class SqliteWriterThread implements SqliteWriting {
  private readonly thread: StoreThread<WriterJob>

  constructor(place: Place) {
    this.thread = new StoreThread('writer', place)
  }
  take(): Promise<Taken> {
    return this.thread.ask({ op: 'take' }) as Promise<Taken>
  }
  shape(shapes: readonly Shape[]): Promise<void> {
    return this.thread.ask({ op: 'shape', shapes }) as Promise<void>
  }
  project(changes: Changes, head: StoreHead, durable: boolean): Promise<void> {
    return this.thread.ask({ op: 'project', changes, head, durable }) as Promise<void>
  }
  finish(opening: Opening): Promise<Finished> {
    return this.thread.ask({ op: 'finish', opening }) as Promise<Finished>
  }
  settle(): Promise<void> {
    return this.thread.ask({ op: 'settle' }) as Promise<void>
  }
  close(): Promise<void> {
    return this.thread.close()
  }
}
