import type { JournalEntry } from '../machine/journal.ts'
import type { ClosedBatch } from '../machine/loose.ts'
import type { SealedHead, Sums } from '../machine/sums.ts'
import type { Declared, LogSpec, Table, TableSpec } from '../machine/table.ts'
import type { Where } from './where.ts'

/** A batch, and what everything up to it hashes to. */
export interface Point {
  readonly sequence: number
  readonly hash: string
}
/** Where the last committed batch left off. */
export interface StoreHead extends SealedHead {
  readonly sequence: number
  readonly hash: string
  /** Time of the last batch in microseconds: the clock never falls behind it. */
  readonly at: number
  readonly mac: string
}
export interface OpenedHead extends StoreHead {
  readonly migrated: readonly number[]
  /** Batches that stood in the journal alone, and are in the tables now. */
  readonly drained: number
}
/** What somebody finds who takes a database over with its state in memory already. */
export interface WarmHead extends Point {
  /** Time of the last batch in microseconds. */
  readonly at: number
  /** What memory does not know yet, in order. */
  readonly entries: readonly JournalEntry[]
}
/** What is in the journal and not in the tables yet. */
export interface Lag {
  readonly batches: number
  readonly bytes: number
}
/** The last batch that anybody was told of, and the last whose rows the tables hold, as all before it. */
export interface HowFar {
  readonly told: number
  readonly projected: number
}
/** Questions about the past, by who answered them; and how often a replica could not. */
export interface Reads {
  readonly primary: number
  readonly replica: number
  /** It had not taken in yet what somebody had been told. */
  readonly behind: number
  readonly failed: number
}
export const NO_READS: Reads = { primary: 0, replica: 0, behind: 0, failed: 0 }
export const NO_LAG: Lag = { batches: 0, bytes: 0 }
/** Of a store whose tables hold everything that is told. */
export const ALL_HELD: HowFar = { told: 0, projected: Infinity }
export const NOTHING_DECLARED: Declared = { tables: [], logs: [] }
/** The state at a batch, from which the commands after it can be carried out again. */
export interface Checkpoint {
  readonly sequence: number
  readonly at: number
  readonly hash: string
  /** Of the rules that carried out what came after it. */
  readonly rules: number
}
export interface CommandBatch {
  readonly sequence: number
  readonly at: number
  readonly hash: string
  /** JSON: an array of [at, type, input]. */
  readonly commands: string
}
export type Value = string | number | null

/** Durable storage behind one port. SQL text is in the common subset of both dialects, with `?` for values. */
export interface Store {
  readonly kind: 'sqlite' | 'postgres' | 'memory'
  /**
   * Takes the epoch (which fences out any older process), puts what the journal holds into the tables, migrates them, and
   * tells where to go on. The sums say which key the journal and the head were written with; `declared` which tables and
   * logs there are.
   */
  open(sums: Sums, declared: Declared): Promise<OpenedHead>
  /**
   * Of PostgreSQL alone, in place of `open` and `sealBehind`, for who has the state up to a batch in memory: takes the
   * epochs, and neither drains nor migrates. What is in the journal and not in the tables is left to the follower. Throws
   * StoreUnavailable where that can't be: another version wrote the database, memory does not stand on a batch of it, or
   * what follows there is gone.
   */
  openWarm(sums: Sums, declared: Declared, after: Point): Promise<WarmHead>
  /** Begins what needs no ownership (threads), so that opening takes less time later. */
  prepare(): void
  /** What it was opened with. */
  readonly declared: Declared
  /** Fills the tables with their live rows. */
  load(tables: readonly Table<object>[]): Promise<void>
  /** Every row of a query, in its order, however many there are. Start-up only: it may block. */
  scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void>
  /** Keeps the rows of all tables as the state at this batch, in place of an earlier one. */
  keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void>
  /** Writes new sums into the head that stands. */
  seal(head: StoreHead): Promise<void>
  /** What the batches from here on are sealed behind: the last hash and the sums of all rows. */
  sealBehind(hash: string, sums: Sums): void
  /** Whether it would rather have batches as text than as values. */
  readonly asText: boolean
  /**
   * One append to the journal, fenced and durable; answers the hash up to it. Any failure is final for this process. The
   * tables follow; while they are too far behind, this waits.
   */
  commit(batch: ClosedBatch): Promise<string>
  /** Takes in what its threads have said of commits meanwhile, in the middle of a turn: whether they said anything. */
  hear(): boolean
  /** Past the journal into the tables, for commands that are alone with the database: nothing is left to follow. */
  commitDirect(batch: ClosedBatch): Promise<string>
  readonly lag: Lag
  readonly reached: HowFar
  /** Where there are replicas. */
  readonly reads: Reads
  /** How often the way to the database was lost, and found again. */
  readonly reconnects: number
  /** It is lost at this moment: commits wait. */
  readonly away: boolean
  /** Who is told when that changes. */
  tellAway: (away: boolean) => void
  /** For tests: the tables stay where they are until it is let go. */
  holdBack(on: boolean): Promise<void>
  /** Before the process exits in the middle of things: what is under way is finished, nothing else is begun. */
  rest(): Promise<void>
  /**
   * Rows of a declared table or log: `where` is everything after FROM. This and every other look at the tables waits until
   * they hold all that has been acknowledged when it is asked.
   */
  select<Row extends object, const Text extends string>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: Where<NoInfer<Row>, Text>,
    values: readonly Value[],
  ): Promise<Row[]>
  /** The same, without the wait: what the tables hold by now, which is at least what `reached` has said. */
  selectHeld<Row extends object, const Text extends string>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: Where<NoInfer<Row>, Text>,
    values: readonly Value[],
  ): Promise<Row[]>
  /** Any query; numbers come as numbers, amounts as text. */
  query(sql: string, values: readonly Value[]): Promise<unknown[][]>
  /** The recorded commands after a batch, in order. */
  commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]>
  /** Throws Fenced when another process has taken the store, StoreLost when this one can't write any more. */
  checkFence(): Promise<void>
  /** Removes every row, for the sandbox's reset; the epoch stays. */
  wipe(): Promise<StoreHead>
  close(): Promise<void>
}

/** A consistent view of a store that another process may be writing: no epoch is taken, nothing is changed. */
export interface Snapshot {
  readonly kind: Store['kind']
  query(sql: string, values?: readonly Value[]): Promise<unknown[][]>
  /** What the database says is wrong with its own files; nothing where it watches over them by itself. */
  integrity(): Promise<string[]>
  /** What the journal holds beyond the tables, in order: bounded, as the lag is. */
  tail(): Promise<JournalEntry[]>
  /** Streams a result that may be far larger than memory. */
  each(sql: string, row: (values: readonly unknown[]) => void): Promise<void>
  /** The same in portions, each waited for. */
  portions(sql: string, act: (rows: readonly (readonly unknown[])[]) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Another process owns the database now: this one must stop, and has changed nothing. */
export class Fenced extends Error {
  constructor() {
    super('another process has taken over this database; this one stops')
  }
}
/** The store can't be opened: something for the person who set it up. One line that says what to do. */
export class StoreUnavailable extends Error {}
/** It is not there at the moment, and may well be later. */
export class StoreAway extends StoreUnavailable {}
/** It ends before a batch that had been written, or goes on otherwise from there: it is not the one that was written to. */
export class StoreBehind extends StoreUnavailable {}
/** The file, or a page of it, is not what SQLite wrote there. */
export class StoreDamaged extends StoreUnavailable {}
/** The way to the store is gone for this process; the next start finds out what was committed. */
export class StoreLost extends Error {}
