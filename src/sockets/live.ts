import type { LiveDesk } from '../api/endpoint.ts'
import type { Faults } from '../api/faults.ts'
import { DELTA_EFFECTS, PUSH_EFFECTS } from '../api/fault-steps.ts'
import { API_KEY } from '../core/tables/keys.ts'
import { USER } from '../core/tables/users.ts'
import { CommandRows } from '../events/rows.ts'
import type { CommittedCommand, Subscription } from '../machine/stream.ts'
import type { Log } from '../runtime/log.ts'
import { Books, CONTRACT_BOOKS, SPOT_BOOKS } from './book-streams.ts'
import { ContractStreams } from './contract-streams.ts'
import type { SocketFigures } from './figures.ts'
import { LiquidationStreams } from './liquidation-streams.ts'
import { CONTRACT_MARKETS, MarketStreams, SPOT_MARKETS } from './market-streams.ts'
import type { Sources } from './payloads.ts'
import { PrivateStreams } from './private-streams.ts'
import { Subscribers } from './subscribers.ts'
import { Topics } from './topics.ts'
import { UnifiedStreams } from './unified-streams.ts'

export interface LiveParts {
  readonly desk: LiveDesk
  readonly faults: Faults
  readonly figures: SocketFigures
  readonly log: Log
}
export interface LiveEnds {
  /** Before anything of a command is told. */
  readonly before: (rows: CommandRows) => void
  /** What was missed can't be made good: who relies on it must begin again. */
  readonly lost: () => void
  /** Whether somebody must hear of commits although no stream needs them. */
  readonly watched: () => boolean
}
/** What may take a right away. */
const KEYS: ReadonlySet<string> = new Set([API_KEY.name, USER.name])
/** Rows of commits that may wait to be told: a second of the busiest there is. */
const ROWS_MAX = 2_000_000

/**
 * Every stream there is, fed from the commits. What commands did is told in the order of their commits, after their
 * replies, and never before they are durable.
 */
export class Live {
  readonly sources: Sources
  readonly privates: PrivateStreams
  readonly unified: UnifiedStreams
  readonly topics: Topics
  private readonly contracts: ContractStreams
  private readonly parts: LiveParts
  private readonly ends: LiveEnds
  private commits: Subscription | undefined
  private begun: Promise<void> = Promise.resolve()
  private wanted: 'all' | 'keys' = 'all'
  private holds = 0
  stopping = false

  constructor(parts: LiveParts, ends: LiveEnds) {
    this.parts = parts
    this.ends = ends
    const { desk, figures, faults } = parts
    const now = (): number => desk.clock.peek()
    const failed = (error: unknown): void => {
      if (!this.stopping) parts.log.error('a stream could not be told', { error })
    }
    this.sources = {
      books: new Books(desk.core, now, SPOT_BOOKS),
      markets: new MarketStreams(desk, failed, SPOT_MARKETS),
      contractBooks: new Books(desk.core, now, CONTRACT_BOOKS),
      contractMarkets: new MarketStreams(desk, failed, CONTRACT_MARKETS),
      liquidations: new LiquidationStreams(now),
    }
    const subscribers = new Subscribers(now)
    this.privates = new PrivateStreams(desk.core, subscribers, now, () => this.hush())
    this.contracts = new ContractStreams(desk.core.state, subscribers)
    this.unified = new UnifiedStreams(desk, failed)
    this.topics = new Topics({
      count: (channel, frames) => figures.sent(channel, frames),
      ended: () => this.hush(),
      fault: ({ channel, stream }) =>
        faults.active
          ? faults.ofFrame({ channel }, stream?.pace === 'delta' ? DELTA_EFFECTS : PUSH_EFFECTS)
          : undefined,
    })
  }
  /**
   * From where it resolves on commits are collected. The batch that is open when the first listener comes is not, and
   * commands may still fall into it: it is closed first.
   */
  listen(wanted: 'all' | 'keys'): Promise<void> {
    if (this.commits === undefined || (wanted === 'all' && this.wanted === 'keys')) {
      this.follow(wanted)
      this.begun = this.parts.desk.core.snapshot(() => undefined).then(() => undefined)
      // Who waits for it is told; nobody may.
      this.begun.catch(() => undefined)
    }
    return this.begun
  }
  private follow(wanted: 'all' | 'keys'): void {
    const { commits } = this.parts.desk.core
    const place = commits.subscribe(ROWS_MAX, () => this.hear(), wanted === 'all' ? 'all' : KEYS)
    // What has come is told before what comes.
    this.hear()
    this.commits?.close()
    this.commits = place
    this.wanted = wanted
  }
  /** While somebody is about to subscribe. */
  async during(subscribing: () => Promise<void>): Promise<void> {
    this.holds++
    try {
      await subscribing()
    } finally {
      this.holds--
      this.hush()
    }
  }
  /** Nobody listens any more, or only for keys that may go: the core need not collect the rest. */
  hush(): void {
    if (this.holds > 0 || this.commits === undefined) return
    if (this.topics.size > 0 || !this.privates.idle) return
    if (!this.ends.watched()) {
      this.commits.close()
      this.commits = undefined
    } else if (this.wanted === 'all') this.follow('keys')
  }
  /** Nothing of what is known is true any more. */
  forget(): void {
    this.topics.clear()
    this.sources.books.clear()
    this.sources.contractBooks.clear()
    this.privates.clear()
    this.unified.clear()
  }

  private hear(): void {
    const taken = this.commits?.take()
    if (taken === undefined) return
    if (taken.lost) this.lost()
    const begun = performance.now()
    try {
      for (const { commands } of taken.batches) for (const command of commands) this.tell(command)
    } catch (error) {
      this.parts.log.error('what a command did could not be told', { error })
      this.lost()
    }
    this.parts.figures.lagged(taken.waited + performance.now() - begun)
  }
  private tell(command: CommittedCommand): void {
    const rows = new CommandRows(command)
    this.ends.before(rows)
    this.privates.hear(command, rows)
    this.contracts.hear(command, rows)
    const { markets, contractMarkets, liquidations, books, contractBooks } = this.sources
    markets.hear(command, rows)
    contractMarkets.hear(command, rows)
    liquidations.hear(rows)
    books.hear(command, rows)
    contractBooks.hear(command, rows)
  }
  private lost(): void {
    this.ends.lost()
    this.forget()
  }
}
