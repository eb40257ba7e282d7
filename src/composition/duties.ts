import { restAgents } from '../agents/driver.ts'
import { agentsSetting } from '../core/agents/commands.ts'
import { HeadKeeper } from '../runtime/head-keeper.ts'
import { Parts, type Part } from '../runtime/parts.ts'
import { HttpPriceFeed, PriceFeedDriver } from '../runtime/price-feed.ts'
import { watchLease, watchSize, watchTokens } from '../runtime/watch.ts'
import { Fenced, StoreLost } from '../store/store.ts'
import type { Made } from './made.ts'
import { warnOfUnpriced } from './notices.ts'

const FENCE_CHECK_MS = 1_000
const KEY_TOUCH_MS = 30_000
/** Seconds. */
const SESSION_GRAIN = 60

/** Everything that works by itself, in the order in which it starts. */
export const dutiesOf = (made: Made): Parts =>
  new Parts([...watches(made), ...work(made), ...guards(made)], () => made.core.writesStopped === undefined)

function watches(made: Made): Part[] {
  const { metrics, store, log, fatal } = made
  const fencedOrGone = (error: unknown): void => {
    if (error instanceof Fenced || error instanceof StoreLost) fatal(error)
    else log.warn('the store did not answer', { error })
  }
  return [
    { until: 'shut', ...held('size', () => watchSize(metrics, store)) },
    {
      until: 'shut',
      ...held('lease', () => watchLease(metrics, store, made.lease, () => made.core.committed.sequence)),
    },
    { until: 'shut', ...part('vitals', made.vitals) },
    { until: 'shut', ...held('tokens', () => watchTokens(made)) },
    { until: 'shut', ...every('fence', FENCE_CHECK_MS, () => void store.checkFence().catch(fencedOrGone)) },
    { until: 'shut', ...every('keys', KEY_TOUCH_MS, () => void touch(made)) },
  ]
}

/** What brings the world forward: it has another world after a reset. */
function work(made: Made): Part[] {
  const { core, state, log, chains, ticker, risk, marks, housekeeper, agents } = made
  const common = { until: 'shut', again: true, writes: true } as const
  return [
    {
      name: 'agents that left',
      start: async () => {
        if (agents === undefined) await restAgents(core)
      },
      until: 'shut',
      writes: true,
    },
    // What is under way at the doors may still ask for a chain.
    { ...common, until: 'answered', ...part('chains', chains) },
    { ...common, ...part('ticker', ticker) },
    { ...common, ...part('risk', risk) },
    { ...common, ...part('marks', marks) },
    { ...common, ...part('housekeeper', housekeeper) },
    { ...common, name: 'agents', start: () => agents?.start(goesOn(made)), stop: () => agents?.stop() },
    { ...common, ...feedOf(made) },
    { name: 'unpriced', start: () => warnOfUnpriced(state, log), until: 'shut', writes: true },
  ]
}

/** Agents that came with their world have looked at it, and it is to stay what it was. */
const goesOn = ({ embedding, state }: Made): boolean =>
  embedding.beginning !== undefined && agentsSetting({ state }) !== undefined

/** Last to start, because a start may write on a disk that is nearly full; last to stop, because a stop writes. */
function guards({ config, core, clock, log, wall, disk }: Made): Part[] {
  const { keepHead } = config
  const keeper =
    keepHead === undefined
      ? undefined
      : new HeadKeeper(keepHead, () => ({ ...core.committed, at: clock.peek() }), log)
  return [
    { until: 'written', ...part('head', keeper) },
    { until: 'written', ...part('wall clock', wall) },
    { until: 'written', again: true, ...part('disk', disk) },
  ]
}

/** Tells the core which keys and sessions were used. */
export async function touch(made: Made): Promise<void> {
  const { core } = made
  if (core.writesStopped !== undefined || core.held !== undefined) return
  await Promise.all([touchKeys(made), touchSessions(made)])
}
async function touchKeys({ core, seen }: Made): Promise<void> {
  if (seen.size === 0) return
  const pairs = [...seen]
  seen.clear()
  await core.submit('key.touch', { seen: pairs }).catch(() => undefined)
}
/** A page that is open asks all the time: a minute more or less is not written down. */
async function touchSessions({ core, state, access }: Made): Promise<void> {
  const { sessions } = state.logins
  const told = [...access.seen].filter(
    ([id, real]) => real - (sessions.get(id)?.last_seen ?? real) >= SESSION_GRAIN,
  )
  access.seen.clear()
  if (told.length > 0) await core.submit('session.touch', { seen: told }).catch(() => undefined)
}

type Named = Pick<Part, 'name' | 'start' | 'stop'>

/** Prices from outside; without a feed, those that an earlier one left are forgotten. */
function feedOf({ core, state, log }: Made): Named {
  let feed: PriceFeedDriver | undefined
  const start = async (): Promise<void> => {
    const { priceFeed } = state.world
    if (priceFeed === undefined) {
      await core.submit('prices.feed', { prices: {} })
      return
    }
    const { url, second_url } = priceFeed
    const second = second_url === undefined ? undefined : new HttpPriceFeed(second_url)
    feed = new PriceFeedDriver(core, log, new HttpPriceFeed(url), priceFeed, second)
    await feed.start()
  }
  return { name: 'price feed', start, stop: () => feed?.stop() }
}

/** What a configuration goes without does nothing. */
const part = (name: string, its: Pick<Required<Part>, 'start' | 'stop'> | undefined): Named => ({
  name,
  start: () => its?.start(),
  stop: () => its?.stop(),
})
/** What begins by being called. */
function held(name: string, begin: () => { stop(): void }): Named {
  let begun: { stop(): void } | undefined
  return { name, start: () => void (begun = begin()), stop: () => begun?.stop() }
}
const every = (name: string, ms: number, look: () => void): Named =>
  held(name, () => {
    const timer = setInterval(look, ms)
    return { stop: () => clearInterval(timer) }
  })
