import { AgentDriver } from '../agents/driver.ts'
import type { LiveDesk } from '../api/endpoint.ts'
import { Faults } from '../api/faults.ts'
import { Limiter } from '../api/limiter.ts'
import { RequestLog } from '../api/request-log.ts'
import { Chains } from '../chain/chains.ts'
import type { Config } from '../config.ts'
import { ConsoleAccess } from '../console/access.ts'
import { commands, type Commands } from '../core/commands.ts'
import { State } from '../core/state.ts'
import { SPOT_FILL } from '../core/tables/exchange/trades.ts'
import type { DueItem } from '../core/tables/due.ts'
import type { CoreLine } from '../gateway/line.ts'
import { BodyRoom } from '../http/bodies.ts'
import type { Doors } from '../http/doors.ts'
import { Core } from '../machine/core.ts'
import { Clock } from '../runtime/clock.ts'
import { FreshRows } from '../runtime/fresh-rows.ts'
import { DiskGuard, freeBytes } from '../runtime/disk-guard.ts'
import { secretKey } from '../runtime/genesis.ts'
import type { Ground } from '../runtime/ground.ts'
import { Housekeeper } from '../runtime/housekeeper.ts'
import type { CountingLog } from '../runtime/log.ts'
import { Metrics } from '../runtime/metrics.ts'
import { Lease } from '../runtime/lease.ts'
import { MarkWatcher } from '../runtime/mark-watcher.ts'
import { RiskWatcher } from '../runtime/risk-watcher.ts'
import { finishRotation } from '../runtime/rotation.ts'
import { SecretBox, sumsKey } from '../runtime/secrets.ts'
import { Ticker } from '../runtime/ticker.ts'
import { Vitals } from '../runtime/vitals.ts'
import { WallClockGuard } from '../runtime/wall-clock.ts'
import { newSums } from '../store/seals.ts'
import type { Store } from '../store/store.ts'
import type { Embedding } from './embedding.ts'

const WAITING_MAX = 10_000

/** What a platform is given: its settings, and what it stands on. */
export interface Given {
  readonly config: Config
  readonly log: CountingLog
  readonly fatal: (error: unknown) => void
  readonly store: Store
  readonly doors: Doors
  readonly ground: Ground
  /** For gateways of other machines. */
  readonly line: CoreLine | undefined
  readonly embedding: Embedding
}
export type Made = Given & Plain & Keys & Wired & Drivers
type Plain = ReturnType<typeof plain>
type Keys = Awaited<ReturnType<typeof keysOf>>
type Wired = ReturnType<typeof wired>
type Drivers = ReturnType<typeof drivers>

/** Everything that a platform consists of, and nothing of it works yet. */
export async function make(given: Given): Promise<Made> {
  const first = { ...given, ...plain(given.config), ...(await keysOf(given)) }
  const second = { ...first, ...wired(first) }
  return { ...second, ...drivers(second) }
}

/** What the configuration alone makes. */
function plain({ clockStart, timestamps, rateLimits }: Config) {
  const real = (): number => Date.now() * 1000
  return {
    state: new State(),
    clock: new Clock(
      clockStart === undefined ? real : () => clockStart * 1e6,
      timestamps === 'either' ? real : undefined,
    ),
    metrics: new Metrics(),
    faults: new Faults(),
    requests: new RequestLog(),
    limiter: new Limiter(rateLimits),
    failures: new Limiter(rateLimits === null ? null : 1),
    room: new BodyRoom(),
    /** Last use of keys that the core does not know of yet. */
    seen: new Map<string, number>(),
    /** Told by who answers. */
    connected: { sockets: () => 0 },
  }
}

async function keysOf({ config, log, ground }: Given) {
  if (!config.memory && (await finishRotation(config)))
    log.warn('an interrupted change of the secret key was finished')
  const key = secretKey(config, ground.made)
  return { secrets: new SecretBox(key), sums: newSums(sumsKey(key)) }
}

/** The core, and what handlers see of it. */
function wired({ config, log, fatal, store, line, state, clock, metrics, secrets }: Given & Plain & Keys) {
  let want: (node: string) => void = () => undefined
  /** Resolves with the name of the node that is to be active in place of this one. */
  const wanted = new Promise<string>((resolve) => (want = resolve))
  const lease = leaseOf({ config, log, fatal, line }, want)
  const core = new Core<State, Commands>(
    state,
    commands,
    { sequence: 0, hash: '' },
    {
      commit: timed((batch) => store.commit(batch), metrics),
      asText: store.asText,
      // With few cores it is quicker to let batches grow.
      ...(!store.asText && { hear: () => store.hear() }),
      now: () => clock.now(),
      fatal,
      defect: (error, type) => log.error('a command failed unexpectedly and was undone', { type, error }),
      check: (state) => state.check(),
      waitingMax: WAITING_MAX,
      ...(lease !== undefined && { tenure: lease }),
    },
  )
  const chains = new Chains({ core, store, clock, log })
  const fresh = new FreshRows(core.commits, store, [SPOT_FILL])
  const { mode } = config
  const desk: LiveDesk = { core, store, fresh, clock, chains, secrets, mode, valuations: new Map() }
  return { lease, wanted, core, chains, desk, access: new ConsoleAccess(desk) }
}

/** An embedded store is of this machine, and its owner holds it by a lock of the operating system. */
function leaseOf(
  { config, log, fatal, line }: Pick<Given, 'config' | 'log' | 'fatal' | 'line'>,
  wanted: (node: string) => void,
): Lease | undefined {
  const { databaseUrl, memory, node, leaseMs, coreAddress } = config
  if (databaseUrl === undefined || memory) return undefined
  const me = { node, address: coreAddress ?? line?.address ?? '', ms: leaseMs }
  return new Lease({ url: databaseUrl, me, log, fatal, wanted })
}

/** What drives the core, and what guards it. */
function drivers(parts: Given & Plain & Wired) {
  const { config, log, store, clock, metrics, core, chains, connected } = parts
  const agents =
    config.agents && config.mode === 'sandbox'
      ? new AgentDriver({
          core,
          clock,
          log,
          seed: config.agentsSeed,
          requests: () => metrics.requests,
          stands: config.clockStart !== undefined,
        })
      : undefined
  const risk = new RiskWatcher(core, log)
  const ran = ({ command, input }: DueItem): Promise<unknown> | undefined =>
    command === 'chain.wake' ? chains.step(input['chain'] as string) : risk.now()
  const ticker = new Ticker(core, clock, log, ran, (item) => agents?.take(item))
  const suspend = (reason: string): (() => void) => {
    const resume = core.suspend(reason)
    return () => {
      resume()
      void chains.settle()
    }
  }
  return {
    agents,
    ticker,
    risk,
    marks: new MarkWatcher(core, clock, log, () => ticker.moving),
    vitals: new Vitals(() => ({
      requests: metrics.requests,
      errors: metrics.errors,
      commits: metrics.committed.count,
      commitSeconds: metrics.committed.seconds,
      lag: store.lag,
      waiting: core.waiting,
      sockets: connected.sockets(),
    })),
    housekeeper: new Housekeeper({ core, store, clock, log }),
    wall: config.clockStart === undefined ? new WallClockGuard({ clock, store, log }) : undefined,
    disk:
      config.databaseUrl !== undefined || config.memory
        ? undefined
        : new DiskGuard({ settings: config.disk, free: () => freeBytes(config.data), suspend, log }),
  }
}

/** How long it takes until a batch is durable, for the metrics. */
const timed =
  <B, R>(commit: (batch: B) => Promise<R>, metrics: Metrics) =>
  async (batch: B): Promise<R> => {
    const from = performance.now()
    const landed = await commit(batch)
    metrics.commit(performance.now() - from)
    return landed
  }
