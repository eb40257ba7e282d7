import type { MessagePort } from 'node:worker_threads'
import type { JournalEntry } from '../machine/journal.ts'
import type { ClosedBatch } from '../machine/loose.ts'
import type { Changes } from '../machine/portion.ts'
import type { Progress } from './follower.ts'
import type { Rows, Shape, Staged } from './shapes.ts'
import type { StoreHead, Value, Point } from './store.ts'

/** Where a thread of the store works. */
export type Place = SqlitePlace | PostgresPlace

export interface SqlitePlace {
  readonly kind: 'sqlite'
  readonly path: string
  /** Whether rows are readied by one thread and written by another. */
  readonly stages?: boolean
}

export interface PostgresPlace {
  readonly kind: 'postgres'
  readonly url: string
  /** How long a lost connection is tried for; left out: no longer than it takes to try once. */
  readonly waitMs?: number
}

/** What a thread is handed that lies between others. */
export interface Ports {
  /** The one behind it. */
  readonly port: MessagePort
  /** Where its jobs come from, if another thread is in front of it. */
  readonly jobs?: MessagePort | undefined
  /** Where its answers go; left out: to whoever made it. */
  readonly answers?: MessagePort | undefined
}

/** What the tables add up to, and the hash behind which the next batch comes. */
export interface Behind {
  readonly hash: string
  readonly key: string
  readonly schema: string
  readonly sums: string
}
/** What rows look like in this version. */
export interface Opening {
  readonly now: number
  readonly key: string
  readonly schema: string
  readonly shapes: readonly Shape[]
}
export interface Opened {
  /** The row of the head, its epoch first. */
  readonly head: unknown[]
  readonly migrated: number[]
  readonly journalEpoch: number
  /** Batches that were in the journal alone. */
  readonly drained: number
}
export interface OpenedWarm {
  /** The row of the head, its epoch first. */
  readonly head: unknown[]
  readonly sums: string
  readonly journalEpoch: number
  /** Where the journal ends. */
  readonly last: Point
  readonly at: number
  /** What follows the head, and what follows the batch that memory stands at. */
  readonly entries: JournalEntry[]
}

/** From the journal to the follower, among its entries: its server may be another one now. */
export const MOVED = 'moved'

/** What the journal says of a batch that is durable. */
export interface Appended {
  readonly hash: string
  /** Characters of its text. */
  readonly length: number
}
/** What runs off the main thread, where it would hold up every request: by thread. */
export type JournalJob =
  | { readonly op: 'open'; readonly epoch: number; readonly base: number }
  | { readonly op: 'sealBehind'; readonly behind: Behind }
  | { readonly op: 'append'; readonly batch: ClosedBatch }
  | { readonly op: 'appendSealed'; readonly entry: JournalEntry }
  | { readonly op: 'clear'; readonly base: number }
  | { readonly op: 'checkFence' }
  | { readonly op: 'close' }
export type FollowerJob =
  | { readonly op: 'open'; readonly opening: Opening }
  | { readonly op: 'openWarm'; readonly opening: Opening; readonly after: Point }
  | { readonly op: 'sealBehind'; readonly behind: Behind }
  | { readonly op: 'direct'; readonly batch: ClosedBatch }
  | { readonly op: 'settle' }
  | { readonly op: 'hurry'; readonly sequence: number }
  | { readonly op: 'hold'; readonly on: boolean }
  | { readonly op: 'close' }
/** Of an SQLite file, for the follower. */
export type WriterJob =
  | { readonly op: 'adopt'; readonly epoch: number; readonly shapes: readonly Shape[] }
  | { readonly op: 'shape'; readonly shapes: readonly Shape[] }
  | {
      readonly op: 'project'
      readonly changes: Changes
      readonly head: StoreHead
      readonly durable: boolean
      readonly staged: Staged | undefined
    }
  | { readonly op: 'finish'; readonly opening: Opening }
  | { readonly op: 'settle' }
  | { readonly op: 'close' }
export type StagerJob =
  | { readonly op: 'begin'; readonly epoch: number; readonly shapes: readonly Shape[] }
  | { readonly op: 'stage'; readonly rows: Rows }
  | { readonly op: 'close' }
export type ReaderJob =
  | { readonly op: 'query'; readonly sql: string; readonly values: readonly Value[] }
  | {
      readonly op: 'portion'
      readonly table: string
      readonly columns: readonly string[]
      readonly after: number
    }
  | { readonly op: 'close' }
/** Rows of a table in the order of their places, as JSON in bytes; no `last`: there are no more. */
export interface TablePortion {
  readonly last: number | null
  readonly rows: Uint8Array
  /** More may follow. */
  readonly full: boolean
}
export type Job = JournalJob | FollowerJob | WriterJob | StagerJob | ReaderJob
/** The last one that a thread is given: it answers when it is in the middle of nothing. */
export interface RestJob {
  readonly op: 'rest'
}
/** As it travels: its answer has the same id. */
export type Numbered<J extends Job> = (J | RestJob) & { readonly id: number }
/** What a thread does for each of its jobs. */
export type Answers<J extends Job> = {
  readonly [O in J['op']]: (job: Extract<J, { readonly op: O }>) => unknown
}
export type Reply =
  | { readonly id: number; readonly result: unknown }
  | ({ readonly id: number } & Fault)
  | { readonly progress: Progress }
  | { readonly away: boolean }
  | { readonly lost: Fault }
export interface Fault {
  readonly error: string
  readonly kind: 'fenced' | 'damaged' | 'unavailable' | 'lost' | 'other'
  /** As the system or the database calls it. */
  readonly code: string | undefined
}
