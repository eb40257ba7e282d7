import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import type { State } from '../core/state.ts'
import { unpricedLoans } from '../core/unified/lending.ts'
import { FOLLOWING } from '../store/journal-reader.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { CountingLog } from './log.ts'
import type { Metrics } from './metrics.ts'

/** What is told of the chains; those who talk to them know it. */
interface WatchedChains {
  displaced(chain: string): readonly unknown[]
  silentSince(chain: string): number | undefined
  errors(chain: string): number
}
export interface Watched {
  readonly core: Core<State, Commands>
  readonly chains: WatchedChains
  readonly store: Store
  readonly clock: Clock
  readonly log: CountingLog
  readonly room: { readonly total: number }
  readonly doors: { readonly connections: number; readonly refused: number; readonly cut: number }
}

/** Every figure that is read when somebody asks for /metrics. Counters end in _total. */
export function watchPlatform(metrics: Metrics, parts: Watched): void {
  const { core, chains, store, clock, log, room, doors } = parts
  const { state } = core
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.watch(name, 'gauge', help, read)
  const counter = (name: string, help: string, read: () => number): void =>
    metrics.watch(name, 'counter', help, read)
  counter(
    'kontor_batches_total',
    'Committed batches, since the database was made.',
    () => core.committed.sequence,
  )
  gauge(
    'kontor_projection_lag_batches',
    'Committed batches that are in the journal and not in the tables yet.',
    () => store.lag.batches,
  )
  gauge('kontor_projection_lag_bytes', 'The same in bytes.', () => store.lag.bytes)
  gauge('kontor_database_away', '1 while the database does not answer and commits wait.', () =>
    store.away ? 1 : 0,
  )
  counter(
    'kontor_database_reconnects_total',
    'How often the way to the database was lost and found again.',
    () => store.reconnects,
  )
  metrics.watchEach(
    'kontor_history_reads_total',
    'counter',
    'Reads of the tables, by who answered (with KONTOR_READ_URLS).',
    () => (['primary', 'replica'] as const).map((from) => [{ from }, store.reads[from]] as const),
  )
  metrics.watchEach(
    'kontor_replica_misses_total',
    'counter',
    'Reads that a replica could not answer: it was behind, or failed.',
    () => (['behind', 'failed'] as const).map((why) => [{ why }, store.reads[why]] as const),
  )
  gauge('kontor_commands_waiting', 'Commands waiting for their commit.', () => core.waiting)
  gauge('kontor_writes_stopped', '1 when the ledger does not balance.', () =>
    core.writesStopped === undefined ? 0 : 1,
  )
  gauge('kontor_due_failed', 'Due work that failed and was put aside.', () => state.due.failed.size)
  gauge(
    'kontor_markets_halted',
    'Markets that take no orders: halted, delisted, or all at once.',
    () => state.world.allMarkets.filter(({ halted }) => halted).length,
  )
  gauge(
    'kontor_proposals_waiting',
    'Proposals that wait for a second person.',
    () => state.proposals.waiting().length,
  )
  gauge(
    'kontor_operator_tokens_expiring',
    'Operators whose token has expired, or does within seven days.',
    () => expiring(state, clock.peek()).length,
  )
  gauge(
    'kontor_loan_currencies_unpriced',
    'Currencies to lend that have no trusted index price.',
    () => unpricedLoans(state).length,
  )
  counter('kontor_log_errors_total', 'Lines logged as errors.', () => log.errors)
  counter('kontor_log_warnings_total', 'Lines logged as warnings.', () => log.warnings)
  gauge('kontor_connections', 'Open connections.', () => doors.connections)
  counter('kontor_connections_refused_total', 'Connections over a limit.', () => doors.refused)
  counter('kontor_connections_cut_total', 'Clients that did not read.', () => doors.cut)
  gauge('kontor_body_bytes', 'Bytes of unfinished request bodies.', () => room.total)
  gauge('kontor_chain_displaced', 'Own transactions whose nonce somebody else used.', () =>
    state.world.allChains.reduce((sum, { chain }) => sum + chains.displaced(chain).length, 0),
  )
  const byChain = (
    read: (chain: string) => number | undefined,
  ): (() => Iterable<readonly [Readonly<Record<string, string>>, number]>) =>
    function* () {
      for (const { chain } of state.world.allChains) {
        const value = read(chain)
        if (value !== undefined) yield [{ chain }, value]
      }
    }
  metrics.watchEach(
    'kontor_chain_height',
    'gauge',
    'The highest block that was followed.',
    byChain((chain) => state.wallet.tips.get(chain)?.height),
  )
  metrics.watchEach(
    'kontor_chain_silent',
    'gauge',
    '1 while the node of a chain does not answer.',
    byChain((chain) => (chains.silentSince(chain) === undefined ? 0 : 1)),
  )
  metrics.watchEach(
    'kontor_chain_errors_total',
    'counter',
    'Rounds of a chain, and transactions on it, that failed.',
    byChain((chain) => chains.errors(chain)),
  )
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  gauge(
    'nodejs_heap_size_used_bytes',
    'What lives on the heap, and what was not collected yet.',
    () => process.memoryUsage().heapUsed,
  )
  gauge('process_uptime_seconds', 'Time since the start.', () => process.uptime())
}

/** What /readyz tells beside its verdict: nothing that stops the platform, but something that somebody should see to. */
export function detailsOf({ core, chains }: Pick<Watched, 'core' | 'chains'>): string[] {
  const { world } = core.state
  const details: string[] = []
  if (world.halt !== undefined) details.push('all markets are halted')
  for (const { chain } of world.allChains) {
    const since = chains.silentSince(chain)
    // The node's own words may hold its address, with a key in it: they are for the log.
    if (since !== undefined)
      details.push(`chain ${chain}: its node has not answered since ${new Date(since).toISOString()}`)
  }
  return details
}

const AWAY_TOLD_MS = 5_000
/** What people read in the log when the database goes, and when it comes back. */
export function tellAway(store: Store, log: CountingLog): void {
  let since = 0
  let told = -Infinity
  store.tellAway = (away) => {
    const now = performance.now()
    // A server that answers and will not do is found and left many times a second.
    const level = now - told < AWAY_TOLD_MS ? 'debug' : 'warn'
    if (away) {
      since = now
      log[level]('the connection to the database is lost: commits wait until it is found again')
      return
    }
    if (level === 'warn') told = now
    log[level]('the database answers again: what was not answered is looked up there', {
      seconds: Math.round((now - since) / 10) / 100,
    })
  }
}

const SIZE_MS = 15_000
/** The size of the database, asked for now and then; whoever reads the metrics does not wait for it. */
export function watchSize(metrics: Metrics, store: Store): { stop(): void } {
  let bytes = 0
  const take = (row: readonly unknown[] | undefined): void => {
    bytes = Number(row?.[0] ?? 0)
  }
  // SQLite's is read at once: that is no work for the thread that reads, which may not even be needed.
  const asked = (): Promise<void> =>
    store.kind === 'postgres'
      ? store.query('select pg_database_size(current_database())', []).then(([row]) => take(row))
      : store.scan('select page_count * page_size from pragma_page_count(), pragma_page_size()', take)
  const look = (): void => void asked().catch(() => undefined)
  metrics.watch('kontor_database_bytes', 'gauge', 'Size of the database.', () => bytes)
  // In memory it may not be there until somebody looks for something in it.
  if (store.kind === 'memory') return { stop: () => undefined }
  look()
  const timer = setInterval(look, SIZE_MS).unref()
  return { stop: () => clearInterval(timer) }
}

const STANDBYS_MS = 5_000
/** The lease of this core, and who stands by: of PostgreSQL alone. */
export function watchLease(
  metrics: Metrics,
  store: Store,
  lease: { readonly leftMs: number; readonly epoch: number } | undefined,
  committed: () => number,
): { stop(): void } {
  if (lease === undefined) return { stop: () => undefined }
  let standbys: { readonly name: string; readonly behind: number }[] = []
  const look = (): void =>
    void store.query(FOLLOWING, []).then(
      (rows) =>
        (standbys = rows.map(([name, sequence]) => ({
          name: String(name),
          behind: Math.max(0, committed() - Number(sequence)),
        }))),
      () => undefined,
    )
  metrics.watch(
    'kontor_lease_left_seconds',
    'gauge',
    'How long this core may still answer without hearing from the database.',
    () => lease.leftMs / 1000,
  )
  metrics.watch(
    'kontor_lease_epoch',
    'gauge',
    'Counts the holders: it rises with every take-over.',
    () => lease.epoch,
  )
  metrics.watch('kontor_standbys', 'gauge', 'Cores that stand by.', () => standbys.length)
  metrics.watchEach(
    'kontor_standby_behind_batches',
    'gauge',
    'Batches that a standby had not told to have read, when it was looked at.',
    function* () {
      for (const { name, behind } of standbys) yield [{ standby: name }, behind] as const
    },
  )
  look()
  const timer = setInterval(look, STANDBYS_MS).unref()
  return { stop: () => clearInterval(timer) }
}

const WEEK = 7 * 86_400
const expiring = ({ operators }: State, at: number): { name: string; expires: number }[] =>
  operators.list().filter(({ expires }) => expires !== 0 && at / 1e6 >= expires - WEEK)
const DAY_MS = 86_400_000
/** Warns at the start and once a day of tokens that end soon. */
export function watchTokens({ core, clock, log }: Pick<Watched, 'core' | 'clock' | 'log'>): { stop(): void } {
  const tell = (): void => {
    for (const { name, expires } of expiring(core.state, clock.peek()))
      log.warn(
        `the token of operator "${name}" ends: draw another with POST /operator/v1/operators/me/token`,
        {
          operator: name,
          expires: new Date(expires * 1000).toISOString(),
        },
      )
  }
  tell()
  const timer = setInterval(tell, DAY_MS).unref()
  return { stop: () => clearInterval(timer) }
}
