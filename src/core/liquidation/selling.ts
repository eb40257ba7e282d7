import { Refusal } from '../../labels.ts'
import {
  ONE_RATE,
  ZERO,
  amountOf,
  format,
  max,
  min,
  overDown,
  overUp,
  rateOf,
  roundDown,
  timesDown,
  timesUp,
  type Amount,
  type Price,
  type Rate,
} from '../../money/amount.ts'
import { PLAIN, placeOrder, type NewOrder } from '../spot/place.ts'
import { fireTriggers } from '../spot/triggers.ts'
import type { Ctx, State } from '../state.ts'
import { LIQUIDATION_BOUND, type Market } from '../tables/world/markets.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { pairPrice } from '../unified/portfolio.ts'
import {
  freeOf,
  riskOf,
  type AssetFigures,
  type RiskAsset,
  type RiskFigures,
  type RiskInput,
} from '../risk/risk.ts'
import { note, type Liquidated } from '../liquidated.ts'

/** A sale is a quarter of what is owed, but at least and at most this much, in USDT. */
const SALE_LEAST = amountOf('10')
const SALE_MOST = amountOf('1000000')
/** Selling ends at 120 % of the maintenance margin. */
const HEALTHY = rateOf('1.2')

/** Whether an account needs no more selling; who owes nothing needs none. */
export const isHealthy = ({ maintenanceMargin, maintenanceRate, liability }: RiskFigures): boolean =>
  maintenanceMargin === 0n ? liability === 0n : maintenanceRate >= HEALTHY

const valueOf = ({ asset, equity }: AssetFigures): Amount =>
  equity > 0n ? timesDown(min(equity, freeOf(asset)), asset.price) : ZERO
/** What can be turned into money, the most valuable first; what is no collateral only when nothing else is left. */
export const collateral = ({ assets }: RiskFigures): AssetFigures[] =>
  assets
    .filter(({ asset, liability }) => liability === 0n && freeOf(asset) > 0n && asset.price > 0n)
    .sort((a, b) => {
      if (a.asset.collateral !== b.asset.collateral) return a.asset.collateral ? -1 : 1
      const [one, other] = [valueOf(a), valueOf(b)]
      return one === other ? (a.asset.currency < b.asset.currency ? -1 : 1) : one > other ? -1 : 1
    })
/** Whether something is left that would be collateral if it had a price. */
export const hasUnvalued = ({ assets }: RiskFigures): boolean =>
  assets.some(({ asset }) => asset.collateral && freeOf(asset) > 0n && asset.price === 0n)
/** What is owed, the largest first. */
export function debtsByWorth({ assets }: RiskFigures): AssetFigures[] {
  const worth = ({ asset, liability }: AssetFigures): Amount => timesUp(liability, asset.price)
  return assets
    .filter(({ liability }) => liability > 0n)
    .sort((a, b) => {
      const [one, other] = [worth(a), worth(b)]
      return one === other ? (a.asset.currency < b.asset.currency ? -1 : 1) : one > other ? -1 : 1
    })
}

/** Steps of the search for what is needed: to within a thousandth of the debt. */
const SEARCH_STEPS = 10
/**
 * How much of a debt must be paid, with collateral that brings `kept` of its index price, until the account is
 * healthy: no more is sold or taken over. All that the collateral can pay, when less does not do.
 */
export function neededPayment(input: RiskInput, asset: RiskAsset, debt: AssetFigures, kept: Rate): Amount {
  const price = timesDown(asset.price as bigint as Amount, kept) as bigint as Price
  const all = min(debt.liability, overDown(timesDown(freeOf(asset), price), debt.asset.price))
  if (price === 0n || !healthyAfter(all)) return all
  let [low, high] = [0n, all as bigint]
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (low + high) / 2n
    if (healthyAfter(middle as Amount)) high = middle
    else low = middle
  }
  return high as Amount

  function healthyAfter(paid: Amount): boolean {
    const given = overUp(timesUp(paid, debt.asset.price), price)
    const assets = input.assets.map((one) => {
      if (one.currency === asset.currency)
        return { ...one, available: max(ZERO, (one.available - given) as Amount) }
      if (one.currency !== debt.asset.currency) return one
      const interest = min(paid, one.interest)
      const borrowed = (one.borrowed - (paid - interest)) as Amount
      return { ...one, interest: (one.interest - interest) as Amount, borrowed }
    })
    return isHealthy(riskOf({ ...input, assets }))
  }
}

/** USDT in units of the prices: those of an isolated account are in its quote currency. */
function inPriceUnits(state: State, scope: string, usdt: Amount): Amount {
  if (scope === UNIFIED.scope) return usdt
  const price = state.prices.quote(state.world.market(scope).quote).known
  return price === 0n ? usdt : overDown(usdt, price)
}

/** One sale through the book, of whatever collateral the markets take near the index. */
export function sellSome(ctx: Ctx, liquidation: Liquidated, input: RiskInput, figures: RiskFigures): boolean {
  const { state } = ctx
  const debt = debtsByWorth(figures)[0]!
  const owed = timesUp(debt.liability, debt.asset.price)
  const least = inPriceUnits(state, liquidation.scope, SALE_LEAST)
  const most = inPriceUnits(state, liquidation.scope, SALE_MOST)
  for (const { asset } of collateral(figures)) {
    const routed = routeOf(state, asset.currency, debt.asset.currency)
    if (routed === undefined) continue
    const needed = timesUp(neededPayment(input, asset, debt, ONE_RATE), debt.asset.price)
    const target = max(min(min((owed / 4n) as Amount, most), needed), least)
    const wanted = overUp(target, asset.price)
    // A remainder that is too small to be sold by itself goes along.
    const free = freeOf(asset)
    const rest = timesDown((free - wanted) as Amount, asset.price)
    const amount = wanted >= free || rest < least ? free : wanted
    if (sell(ctx, liquidation, routed, asset.currency, amount)) return true
  }
  return false
}
interface Route {
  readonly market: Market
  readonly side: 'buy' | 'sell'
}
/** The market that turns one currency into another, or into USDT on the way there. */
function routeOf(state: State, from: string, to: string): Route | undefined {
  let closed: Route | undefined
  for (const [pair, side] of [
    [`${from}_${to}`, 'sell'],
    [`${to}_${from}`, 'buy'],
    [`${from}_USDT`, 'sell'],
  ] as const) {
    const market = state.world.findMarket(pair)
    if (market === undefined) continue
    // One that is halted is no way, while another one is open; its bound still tells what is kept.
    if (!market.halted) return { market, side }
    closed ??= { market, side }
  }
  return closed
}
/** What a liquidation keeps of the index price at the least, by the market that turns one currency into another. */
export const keptAtLeast = (state: State, from: string, to: string): Rate =>
  (ONE_RATE - (routeOf(state, from, to)?.market.liquidationBound ?? rateOf(LIQUIDATION_BOUND))) as Rate

/** The worst price of a liquidation's order: so far from the index, wherever our own last trade was. */
function boundOf(state: State, { market, side }: Route): Price {
  const index = pairPrice(state, market, 'firm') as bigint as Amount
  const bound = market.liquidationBound
  return (side === 'sell'
    ? timesUp(index, (ONE_RATE - bound) as Rate)
    : timesDown(index, (ONE_RATE + bound) as Rate)) as bigint as Price
}
function sell(ctx: Ctx, input: Liquidated, route: Route, currency: string, amount: Amount): boolean {
  const { state, tx } = ctx
  const { market, side } = route
  const rounded =
    side === 'sell' ? ((amount - (amount % market.lot)) as Amount) : roundDown(amount, market.quotePrecision)
  const bound = boundOf(state, route)
  // Without a price that can be relied on nothing is sold: it waits for one.
  if (rounded <= 0n || bound === 0n) return false
  const isolated = input.scope !== UNIFIED.scope
  const order: NewOrder = {
    ...PLAIN,
    currency_pair: market.id,
    type: 'market',
    account: isolated ? 'margin' : 'unified',
    side,
    amount: format(rounded),
    price: null,
    time_in_force: 'ioc',
  }
  const mark = tx.mark()
  try {
    const placed = placeOrder(ctx, input.user_id, order, `liquidation:${input.id}`, {
      text: liquidationText(state, input),
      bound,
    })
    if (placed.filled === 0n) {
      tx.rollback(mark)
      return false
    }
    const given = side === 'sell' ? placed.filled : placed.filled_total
    note(ctx, input, 'sold', currency, given, {
      order_id: placed.id,
      currency_pair: market.id,
      bound: format(bound),
    })
    fireTriggers(ctx, market.id)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    return false
  }
}
/** The word that its orders carry. */
export function liquidationText(state: State, { user_id, scope }: Liquidated): string {
  if (scope !== UNIFIED.scope) return 'liquidate'
  return state.margin.modeOf(user_id) === 'portfolio' ? 'pm_liquidate' : 'comb_margin_liquidate'
}
