import type { AgentLook } from '../core/agents/look.ts'
import { MAKER, type AgentMarket, type Scenario } from '../core/tables/agents.ts'
import type { OrderRow, Side } from '../core/tables/exchange/order.ts'
import type { State } from '../core/state.ts'
import type { Market } from '../core/tables/world/markets.ts'
import { amountOf, format, type Amount, type Price } from '../money/amount.ts'
import { Dice, dayVolatility, exact, opinionText } from './dice.ts'
import { Sketch } from './sketch.ts'

/** Price levels that the maker keeps on each side, and how far apart they are at least. */
const LEVELS = 10
const SPREAD = 0.0003
/** Orders that the maker changes in one step; the first step of a market fills its whole ladder. */
const CHANGES_MAX = 6
/** Dollars on the best level; deeper ones hold more. */
const LEVEL_DOLLARS = 4_000
const NOISE_DOLLARS = 400
const DAY_SECONDS = 86_400
/** A look that comes later than this finds more to do: the quotes are set anew and several traders have come. */
const LONG_SECONDS = 30
/** One look moves the opinion by no more than so many seconds' worth. */
const ELAPSED_MAX = 3_600
/** Seconds in which the distance to the anchor falls to a third: far away, and near. */
const PULL_FAR = 5_000
const PULL_NEAR = 5 * DAY_SECONDS

export interface Moment {
  /** Microseconds: the moment that is looked at. */
  readonly at: number
  /** Seconds since the last look at this market, as the pace has it. */
  readonly elapsed: number
}
interface Opinion {
  readonly fair: number
  readonly anchor: number
  readonly trend: number
  readonly scenario: Scenario | null
}
/** A look in the making. */
interface Looking extends Moment {
  readonly state: State
  readonly market: Market
  readonly dice: Dice
  readonly sketch: Sketch
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
  const looking = { ...moment, state, market, dice, sketch: new Sketch(state.spot.book(market.id)) }
  const before = opinionIn(row)
  const replaying = isReplaying(row, moment.at)
  const next = replaying ? before : think(looking, before)
  tend(looking, next)
  if (!replaying) trade(looking, next)
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
function think({ state, market, dice, at, elapsed: passedBy }: Looking, before: Opinion): Opinion {
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

/** The maker takes back what is too near or too far, and fills the gaps of its ladder. */
function tend(looking: Looking, { fair, scenario }: Opinion): void {
  const { state, market, dice, sketch } = looking
  const maker = state.users.byLogin.get(MAKER)!.user_id
  const thin = scenario?.name === 'thin_book' && looking.at < scenario.until
  const long = looking.elapsed > LONG_SECONDS
  const levels = thin ? 2 : LEVELS
  const open = state.spot.openOrders(maker, market.id)
  const jumped = open.every((order) => outOfPlace(order, fair, market, levels))
  const wrongDepth = thin ? open.length > 2 * levels : open.length < levels
  let changes = jumped || wrongDepth || long ? 4 * LEVELS : CHANGES_MAX
  const stale = new Set(unwanted(open, fair, market, levels).slice(0, changes))
  for (const order of stale) sketch.cancel(order)
  changes -= stale.size
  for (const side of ['buy', 'sell'] as const) {
    const kept = new Set<bigint>(
      open.filter((order) => order.side === side && !stale.has(order)).map(({ price }) => price),
    )
    for (let level = 0; level < levels && changes > 0 && kept.size < levels; level++) {
      const price = levelPrice(market, fair, side, level, dice)
      if (kept.has(amountOf(price))) continue
      const dollars = LEVEL_DOLLARS * (1 + level / 2) * (0.5 + dice.next()) * (thin ? 0.05 : 1)
      const amount = size(market, dollars, fair)
      if (amount === undefined) continue
      if (sketch.rest(side, amount, price)) kept.add(amountOf(price))
      changes--
    }
  }
}
/** Quotes out of place, and of those in place the outer ones beyond the number of levels. */
function unwanted(open: readonly OrderRow[], fair: number, market: Market, levels: number): OrderRow[] {
  const stale = open.filter((order) => outOfPlace(order, fair, market, levels))
  for (const side of ['buy', 'sell'] as const)
    stale.push(
      ...open
        .filter((order) => order.side === side && !stale.includes(order))
        .sort((a, b) => (a.price < b.price === (side === 'buy') ? 1 : -1))
        .slice(levels),
    )
  return stale
}
const number = (price: Price | Amount): number => Number(price) / 1e18
const step = (market: Market, fair: number): number => Math.max(fair * SPREAD, number(market.tick))
function levelPrice(market: Market, fair: number, side: Side, level: number, dice: Dice): string {
  const distance = step(market, fair) * (0.6 + level * (1 + level * 0.12) + dice.next() * 0.4)
  const price = Math.max(number(market.tick), side === 'buy' ? fair - distance : fair + distance)
  return format(exact(price, market.config.precision))
}
function outOfPlace(order: OrderRow, fair: number, market: Market, levels: number): boolean {
  const distance = (order.side === 'buy' ? 1 : -1) * (fair - number(order.price))
  const unit = step(market, fair)
  return distance < unit * 0.4 || distance > unit * (2 + levels * (1 + levels * 0.12))
}

function trade(looking: Looking, opinion: Opinion): void {
  const { dice } = looking
  const long = looking.elapsed > LONG_SECONDS
  correct(looking, opinion.fair)
  for (let trader = 0; trader < (long ? 2 : 1); trader++)
    if (long || dice.next() < 0.7) taste(looking, dice.next() < 0.5 ? 'buy' : 'sell', 'noise')
  if (Math.abs(opinion.trend) > 0.0004 && dice.next() < 0.4)
    taste(looking, opinion.trend > 0 ? 'buy' : 'sell', 'momentum')
}
/** Takes what stands beyond the price that the agents believe in. */
function correct({ market, sketch }: Looking, fair: number): void {
  for (const side of ['buy', 'sell'] as const) {
    const best = sketch.facing(side)
    if (best === undefined) continue
    const price = number(best)
    const bargain = side === 'buy' ? price < fair * (1 - 4 * SPREAD) : price > fair * (1 + 4 * SPREAD)
    if (!bargain) continue
    const amount = size(market, LEVEL_DOLLARS * 5, fair)
    if (amount !== undefined)
      sketch.take('momentum', side, amount, format(exact(fair, market.config.precision)))
  }
}
/** A small order that takes the best price. */
function taste({ market, sketch, dice }: Looking, side: Side, agent: 'noise' | 'momentum'): void {
  const best = sketch.facing(side)
  if (best === undefined) return
  const amount = size(market, NOISE_DOLLARS * (0.05 + dice.next() * dice.next() * 2), number(best))
  if (amount !== undefined) sketch.take(agent, side, amount, format(best))
}
/** An amount worth so many dollars, or nothing where the market would not take it. */
function size(market: Market, dollars: number, price: number): string | undefined {
  const quoteDollars = market.quote === 'BTC' ? 60_000 : 1
  const base = dollars / quoteDollars / price
  const text = format(exact(base, market.config.amount_precision))
  const value = Number(text) * price
  return Number(text) > 0 && value > number(market.minQuote) ? text : undefined
}
