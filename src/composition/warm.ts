import { setTimeout as sleep } from 'node:timers/promises'
import { DECLARED } from '../core/state.ts'
import { applyEntry } from '../machine/apply.ts'
import type { JournalEntry } from '../machine/journal.ts'
import type { Table } from '../machine/table.ts'
import { differences } from '../runtime/differences.ts'
import { primeMarketData } from '../runtime/market-data.ts'
import { JournalReader } from '../store/journal-reader.ts'
import { StoreAway, type Point } from '../store/store.ts'
import type { Made } from './made.ts'

/** Entries taken in before others have a turn. */
const PORTION = 500
const AGAIN_MS = 500

/**
 * The state of the active core, kept in the memory of this process from what the journal says. What can't be followed
 * (entries are gone, the database is of another version) is loaded anew; until then this process is not warm, and a
 * take-over loads from the disk.
 */
export class Warm {
  private readonly made: Made
  private readonly tables: ReadonlyMap<string, Table<object>>
  private reader: JournalReader | undefined
  private running: Promise<void> | undefined
  private stopping = false
  private told = ''
  /** The last batch that memory shows; undefined: it shows nothing. */
  at: Point | undefined

  constructor(made: Made) {
    this.made = made
    this.tables = new Map(made.state.tables.map((table) => [table.spec.name, table]))
  }
  start(): void {
    this.running = this.run()
  }
  /** When it comes back, memory stands still. */
  async stop(): Promise<void> {
    this.stopping = true
    await this.reader?.close(true)
    await this.running
  }
  /** What comes behind what it has. */
  take(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      applyEntry(this.tables, entry)
      this.at = entry
    }
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        await this.follow()
      } catch (error) {
        this.forget()
        this.tell((error as Error).message)
        await sleep(AGAIN_MS)
      } finally {
        await this.reader?.close()
        this.reader = undefined
      }
    }
  }
  private async follow(): Promise<void> {
    const { config, state, sums, log } = this.made
    const reader = await JournalReader.open(config.databaseUrl!, config.node, sums.key)
    this.reader = reader
    const head = await reader.load(state.tables, DECLARED, (store) => primeMarketData(state, store))
    this.at = head
    this.told = ''
    log.info('standing by: memory follows the journal', { sequence: head.sequence })
    this.compare()
    while (!this.stopping) this.take(await this.next(reader))
  }
  /** Nothing, too, where whoever is asked is away or the reader was closed: memory stays as it is. */
  private async next(reader: JournalReader): Promise<readonly JournalEntry[]> {
    try {
      return await reader.next(PORTION)
    } catch (error) {
      if (this.stopping) return []
      if (!(error instanceof StoreAway)) throw error
      this.tell(error.message)
      await sleep(AGAIN_MS)
      return []
    }
  }
  /** A file that differs would be taken in, or refused, at the worst of moments. */
  private compare(): void {
    const { config, state, log } = this.made
    const { configured } = state.world
    if (configured === undefined || JSON.stringify(configured) === JSON.stringify(config.world)) return
    const changes = differences(configured, config.world)
    log.warn('the configuration of this node is not the one that the platform runs with', { changes })
  }
  private forget(): void {
    this.at = undefined
    for (const table of this.made.state.tables) table.clear()
  }
  private tell(why: string): void {
    if (this.told === why || this.stopping) return
    this.told = why
    this.made.log.warn('the journal is not followed at the moment; it is tried again', { why })
  }
}
