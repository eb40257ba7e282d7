import { spotOf, EQUITY } from '../ledger/accounts.ts'
import { Refusal } from '../../labels.ts'
import { amountOf, format, type Amount } from '../../money/amount.ts'
import { move } from '../ledger/ledger.ts'
import { cancelOpen } from '../spot/cancel.ts'
import type { Order, OrderRow, Side } from '../tables/spot/order.ts'
import { PLAIN, placeOrder, type NewOrder } from '../spot/place.ts'
import { fireTriggers } from '../spot/triggers.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { Dice, dayVolatility } from './agents.ts'
import { MAKER, MOMENTUM, NOISE, exact, type AgentMarket } from '../tables/agents.ts'

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

export interface Look {
  readonly currency_pair: string
  /** Microseconds: the moment that is looked at. */
  readonly at: number
  /** Seconds since the last look at this market, as the pace has it. */
  readonly elapsed: number
}

/**
 * One look at one market: the opinion moves, the maker follows it, the others trade. It is a function of the
 * seed, the book, and the look's own time: how late the clock comes to it makes no difference.
 */
export function stepAgents(ctx: Ctx, look: Look): void {
  const { state } = ctx
  const market = state.world.findMarket(look.currency_pair)
  const row = market === undefined ? undefined : state.agents.markets.get(market.id)
  if (market === undefined || row === undefined || market.config.trade_status !== 'tradable') return
  const dice = new Dice(row.seed)
  const next = think(ctx, market, row, dice, look)
  const long = look.elapsed > LONG_SECONDS
  const agents = {
    maker: agentId(ctx, MAKER),
    noise: agentId(ctx, NOISE),
    momentum: agentId(ctx, MOMENTUM),
  }
  tend(ctx, market, next, dice, agents.maker, look)
  if (isReplaying(row, look.at)) {
    ctx.tx.put(state.agents.markets, { ...next, seed: dice.state })
    return
  }
  correct(ctx, market, next, agents.momentum)
  for (let trader = 0; trader < (long ? 2 : 1); trader++)
    if (long || dice.next() < 0.7) taste(ctx, market, dice.next() < 0.5 ? 'buy' : 'sell', dice, agents.noise)
  if (Math.abs(next.trend) > 0.0004 && dice.next() < 0.4)
    taste(ctx, market, next.trend > 0 ? 'buy' : 'sell', dice, agents.momentum)
  ctx.tx.put(state.agents.markets, { ...next, seed: dice.state })
  fireTriggers(ctx, market.id)
}
export function agentId(ctx: Ctx, login: string): number {
  return ctx.state.users.byLogin.get(login)!.user_id
}

const isReplaying = ({ scenario }: AgentMarket, at: number): boolean =>
  scenario?.name === 'replay' && at < scenario.until

/** A random walk that is drawn back to its anchor; a scenario overrides it while it lasts. */
function think(ctx: Ctx, market: Market, row: AgentMarket, dice: Dice, look: Look): AgentMarket {
  const { scenario } = row
  const { at } = look
  if (isReplaying(row, at)) return row
  if (scenario !== null && at < scenario.until && scenario.name !== 'thin_book') {
    const passed = Math.max(0, at - scenario.from) / Math.max(1, scenario.until - scenario.from)
    const part = Math.min(1, passed)
    const share = scenario.name === 'gap' ? 1 : Math.min(1, part * 2)
    const fair = scenario.start * (1 + scenario.change * share)
    return { ...row, fair, trend: fair / row.fair - 1 }
  }
  const ended = scenario !== null && at >= scenario.until
  const cross = crossPrice(ctx, market)
  if (cross !== undefined) {
    const fair = cross * (1 + dice.bell() * 0.0001)
    const trend = row.trend * 0.8 + (fair / row.fair - 1) * 0.2
    return { ...row, fair, anchor: fair, trend, scenario: ended ? null : scenario }
  }
  // A crash and a gap leave the market where they took it; a peg comes back.
  const moved = ended && (scenario.name === 'crash' || scenario.name === 'gap')
  const anchor = moved ? row.fair : row.anchor
  const elapsed = Math.min(look.elapsed, ELAPSED_MAX)
  const day = dayVolatility(market.base, market.quote)
  const distance = Math.log(anchor / row.fair)
  const pull = distance * (1 - Math.exp(-elapsed / (Math.abs(distance) > 3 * day ? PULL_FAR : PULL_NEAR)))
  const change = Math.exp(dice.bell() * day * Math.sqrt(elapsed / DAY_SECONDS) + pull)
  return {
    ...row,
    anchor,
    fair: row.fair * change,
    trend: row.trend * 0.8 + (change - 1) * 0.2,
    scenario: ended ? null : scenario,
  }
}

/** A market between two coins is worth what their dollar markets say. */
function crossPrice({ state }: Ctx, { base, quote }: Market): number | undefined {
  if (quote === 'USDT') return undefined
  const [top, bottom] = [base, quote].map((currency) => state.agents.markets.get(`${currency}_USDT`)?.fair)
  return top === undefined || bottom === undefined ? undefined : top / bottom
}

/** The maker takes back what is too near or too far, and fills the gaps of its ladder. */
function tend(ctx: Ctx, market: Market, row: AgentMarket, dice: Dice, maker: number, look: Look): void {
  const thin = row.scenario?.name === 'thin_book' && look.at < row.scenario.until
  const long = look.elapsed > LONG_SECONDS
  const levels = thin ? 2 : LEVELS
  const open = ctx.state.spot.openOrders(maker, market.id)
  const jumped = open.every((order) => outOfPlace(order, row.fair, market, levels))
  const wrongDepth = thin ? open.length > 2 * levels : open.length < levels
  let changes = jumped || wrongDepth || long ? 4 * LEVELS : CHANGES_MAX
  const stale = unwanted(open, row.fair, market, levels).slice(0, changes)
  forget(ctx, cancelOpen(ctx, stale))
  changes -= stale.length
  for (const side of ['buy', 'sell'] as const) {
    const kept = new Set(
      ctx.state.spot
        .openOrders(maker, market.id)
        .filter((order) => order.side === side)
        .map(({ price }) => price),
    )
    for (let level = 0; level < levels && changes > 0 && kept.size < levels; level++) {
      const price = levelPrice(market, row.fair, side, level, dice)
      if (kept.has(amountOf(price) as never)) continue
      const dollars = LEVEL_DOLLARS * (1 + level / 2) * (0.5 + dice.next()) * (thin ? 0.05 : 1)
      const amount = size(market, dollars, row.fair)
      if (amount === undefined) continue
      if (submit(ctx, market, maker, side, amount, price, 'poc') !== undefined)
        kept.add(amountOf(price) as never)
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
const step = (market: Market, fair: number): number => Math.max(fair * SPREAD, Number(market.tick) / 1e18)
function levelPrice(market: Market, fair: number, side: Side, level: number, dice: Dice): string {
  const distance = step(market, fair) * (0.6 + level * (1 + level * 0.12) + dice.next() * 0.4)
  const price = Math.max(Number(market.tick) / 1e18, side === 'buy' ? fair - distance : fair + distance)
  return format(exact(price, market.config.precision))
}
function outOfPlace(order: Order, fair: number, market: Market, levels: number): boolean {
  const distance = (order.side === 'buy' ? 1 : -1) * (fair - Number(order.price) / 1e18)
  const unit = step(market, fair)
  return distance < unit * 0.4 || distance > unit * (2 + levels * (1 + levels * 0.12))
}
/** Ended quotes that never traded are no history: they leave the store too. */
function forget(ctx: Ctx, orders: readonly Order[]): void {
  for (const order of orders) if (order.filled === 0n) ctx.tx.remove(ctx.state.spot.orders, order.id)
}

/** Takes what stands beyond the price that the agents believe in. */
function correct(ctx: Ctx, market: Market, row: AgentMarket, user: number): void {
  for (const side of ['buy', 'sell'] as const) {
    const best = ctx.state.spot.book(market.id).facing(side)
    if (best === undefined) continue
    const price = Number(best.price) / 1e18
    const bargain = side === 'buy' ? price < row.fair * (1 - 4 * SPREAD) : price > row.fair * (1 + 4 * SPREAD)
    if (!bargain) continue
    const amount = size(market, LEVEL_DOLLARS * 5, row.fair)
    const bound = format(exact(row.fair, market.config.precision))
    if (amount !== undefined) submit(ctx, market, user, side, amount, bound, 'ioc')
  }
}
/** A small order that takes the best price. */
function taste(ctx: Ctx, market: Market, side: Side, dice: Dice, user: number): void {
  const best = ctx.state.spot.book(market.id).facing(side)
  if (best === undefined) return
  const price = Number(best.price) / 1e18
  const amount = size(market, NOISE_DOLLARS * (0.05 + dice.next() * dice.next() * 2), price)
  if (amount !== undefined)
    submit(ctx, market, user, side, amount, format(exact(price, market.config.precision)), 'ioc')
}
/** An amount worth so many dollars, or nothing where the market would not take it. */
function size(market: Market, dollars: number, price: number): string | undefined {
  const quoteDollars = market.quote === 'BTC' ? 60_000 : 1
  const base = dollars / quoteDollars / price
  const text = format(exact(base, market.config.amount_precision))
  const value = Number(text) * price
  return Number(text) > 0 && value > Number(market.minQuote) / 1e18 ? text : undefined
}

/** An ordinary order of an ordinary account; what the market refuses is simply not placed. */
export function submit(
  ctx: Ctx,
  market: Market,
  user: number,
  side: Side,
  amount: string,
  price: string,
  time_in_force: 'ioc' | 'poc' | 'gtc',
): Order | undefined {
  provide(ctx, user, side === 'buy' ? market.quote : market.base)
  const order: NewOrder = {
    ...PLAIN,
    currency_pair: market.id,
    type: 'limit',
    account: 'spot',
    side,
    amount,
    price,
    time_in_force,
  }
  const mark = ctx.tx.mark()
  try {
    const placed = placeOrder(ctx, user, order)
    if (placed.status !== 'open' && placed.filled === 0n) forget(ctx, [placed])
    return placed
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.tx.rollback(mark)
    return undefined
  }
}

/** Millions of dollars' worth of each currency, in round figures. */
const FUNDS: Readonly<Record<string, string>> = {
  BTC: '100',
  ETH: '2000',
  USDT: '10000000',
  USDC: '5000000',
  SOL: '40000',
  XRP: '10000000',
  DOGE: '40000000',
  GT: '500000',
}
export const fundsOf = (currency: string): Amount => amountOf(FUNDS[currency] ?? '1000000')
/** operator equity → an agent that has run out. */
function provide(ctx: Ctx, owner: number, currency: string): void {
  const { state } = ctx
  const funds = fundsOf(currency)
  if (state.ledger.balance(owner, 'spot', currency) * 10n > funds) return
  state.ledger.post(ctx, {
    kind: 'credit',
    ref: 'agents',
    lines: move(EQUITY, spotOf(owner), currency, funds),
  })
}
