import type { AgentLook } from '../core/agents/look.ts'
import { MAKER, type AgentMarket, type Scenario } from '../core/tables/agents.ts'
import type { State } from '../core/state.ts'
import type { Market } from '../core/tables/world/markets.ts'
import { format } from '../money/amount.ts'
import { Dice, dayVolatility, exact, opinionText } from './dice.ts'
import { number, tend, trade, type Looking, type Moment, type Place } from './ladder.ts'
import { Sketch } from './sketch.ts'

const DAY_SECONDS = 86_400
/** One look moves the opinion by no more than so many seconds' worth. */
const ELAPSED_MAX = 3_600
/** Seconds in which the distance to the anchor falls to a third: far away, and near. */
const PULL_FAR = 5_000
const PULL_NEAR = 5 * DAY_SECONDS

interface Opinion {
  readonly fair: number
  readonly anchor: number
  readonly trend: number
  readonly scenario: Scenario | null
}
interface Thinking extends Looking {
  readonly state: State
  readonly market: Market
}

/**
 * One look at one market: the opinion moves, the maker follows it, the others trade. It is a function of the seed, the
 * book, and the look's own time: how late the clock comes to it makes no difference. Null: nothing to look at.
 */
export function lookAt(state: State, pair: string, moment: Moment, begun?: Scenario): AgentLook | null {
  const market = state.world.findMarket(pair)
  const kept = market === undefined ? undefined : state.agents.markets.get(market.id)
  if (market === undefined || kept === undefined || market.config.trade_status !== 'tradable') return null
  const row = begun === undefined ? kept : { ...kept, scenario: begun }
  const dice = new Dice(row.seed)
  const open = state.spot.openOrders(state.users.byLogin.get(MAKER)!.user_id, market.id)
  const sketch = new Sketch(state.spot.book(market.id))
  const looking = { ...moment, state, market, place: placeOf(market), open, dice, sketch }
  const before = opinionIn(row)
  const replaying = isReplaying(row, moment.at)
  const next = replaying ? before : think(looking, before)
  const { scenario } = next
  tend(looking, next.fair, scenario?.name === 'thin_book' && moment.at < scenario.until)
  if (!replaying) trade(looking, next.fair, next.trend)
  return {
    currency_pair: market.id,
    seed: dice.state,
    fair: opinionText(next.fair),
    anchor: opinionText(next.anchor),
    trend: opinionText(next.trend),
    over: next.scenario === null,
    cancel: looking.sketch.cancelled,
    orders: looking.sketch.placed,
  }
}
const opinionIn = ({ fair, anchor, trend, scenario }: AgentMarket): Opinion => ({
  fair: Number(fair),
  anchor: Number(anchor),
  trend: Number(trend),
  scenario,
})
const isReplaying = ({ scenario }: AgentMarket, at: number): boolean =>
  scenario?.name === 'replay' && at < scenario.until

/** A random walk that is drawn back to its anchor; a scenario overrides it while it lasts. */
function think({ state, market, dice, at, elapsed: passedBy }: Thinking, before: Opinion): Opinion {
  const { scenario } = before
  if (scenario !== null && at < scenario.until && scenario.name !== 'thin_book') {
    const passed = Math.max(0, at - scenario.from) / Math.max(1, scenario.until - scenario.from)
    const part = Math.min(1, passed)
    const share = scenario.name === 'gap' ? 1 : Math.min(1, part * 2)
    const fair = Number(scenario.start) * (1 + scenario.change * share)
    return { ...before, fair, trend: fair / before.fair - 1 }
  }
  const ended = scenario !== null && at >= scenario.until
  const cross = crossPrice(state, market)
  if (cross !== undefined) {
    const fair = cross * (1 + dice.bell() * 0.0001)
    const trend = before.trend * 0.8 + (fair / before.fair - 1) * 0.2
    return { fair, anchor: fair, trend, scenario: ended ? null : scenario }
  }
  // A crash and a gap leave the market where they took it; a peg comes back.
  const moved = ended && (scenario.name === 'crash' || scenario.name === 'gap')
  const anchor = moved ? before.fair : before.anchor
  const elapsed = Math.min(passedBy, ELAPSED_MAX)
  const day = dayVolatility(market.base, market.quote)
  const distance = Math.log(anchor / before.fair)
  const pull = distance * (1 - Math.exp(-elapsed / (Math.abs(distance) > 3 * day ? PULL_FAR : PULL_NEAR)))
  const change = Math.exp(dice.bell() * day * Math.sqrt(elapsed / DAY_SECONDS) + pull)
  return {
    anchor,
    fair: before.fair * change,
    trend: before.trend * 0.8 + (change - 1) * 0.2,
    scenario: ended ? null : scenario,
  }
}

/** A market between two coins is worth what their dollar markets say. */
function crossPrice({ agents }: State, { base, quote }: Market): number | undefined {
  if (quote === 'USDT') return undefined
  const [top, bottom] = [base, quote].map((currency) => agents.markets.get(`${currency}_USDT`)?.fair)
  return top === undefined || bottom === undefined ? undefined : Number(top) / Number(bottom)
}

/** What prices and amounts of a market look like. */
function placeOf(market: Market): Place {
  const { precision, amount_precision } = market.config
  const quoteDollars = market.quote === 'BTC' ? 60_000 : 1
  return {
    tick: number(market.tick),
    price: (value) => format(exact(value, precision)),
    amount: (dollars, price) => {
      const text = format(exact(dollars / quoteDollars / price, amount_precision))
      const value = Number(text) * price
      return Number(text) > 0 && value > number(market.minQuote) ? text : undefined
    },
  }
}
