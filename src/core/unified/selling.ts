import { Refusal } from '../../labels.ts'
import {
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
} from '../../money/amount.ts'
import { PLAIN, placeOrder, type NewOrder } from '../spot/place.ts'
import { fireTriggers } from '../spot/triggers.ts'
import type { Ctx, State } from '../state.ts'
import { UNIFIED } from './loan-book.ts'
import type { AssetFigures, RiskFigures } from './risk.ts'
import { note, type Liquidation } from './steps.ts'

/** A sale is a quarter of what is owed, but at least and at most this much (units of the prices). */
const SALE_LEAST = amountOf('100')
const SALE_MOST = amountOf('1000000')
/** Covers fees and slippage when everything that is owed is to be bought. */
const MARGIN_OF_SALE = rateOf('1.01')

const valueOf = ({ asset, equity }: AssetFigures): Amount =>
  equity > 0n ? timesDown(min(equity, asset.available), asset.price) : ZERO
/** What can be turned into money, the most valuable first; what is no collateral only when nothing else is left. */
export const collateral = ({ assets }: RiskFigures): AssetFigures[] =>
  assets
    .filter(({ asset, liability }) => liability === 0n && asset.available > 0n && asset.price > 0n)
    .sort((a, b) => {
      if (a.asset.collateral !== b.asset.collateral) return a.asset.collateral ? -1 : 1
      const [one, other] = [valueOf(a), valueOf(b)]
      return one === other ? (a.asset.currency < b.asset.currency ? -1 : 1) : one > other ? -1 : 1
    })
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

/** One sale through the book, of whatever collateral the markets take. */
export function sellSome(ctx: Ctx, input: Liquidation, figures: RiskFigures): boolean {
  const debt = debtsByWorth(figures)[0]!
  const owed = timesUp(debt.liability, debt.asset.price)
  const target = max(min((owed / 4n) as Amount, SALE_MOST), min(SALE_LEAST, timesUp(owed, MARGIN_OF_SALE)))
  for (const { asset } of collateral(figures)) {
    const routed = routeOf(ctx.state, asset.currency, debt.asset.currency)
    if (routed === undefined) continue
    const wanted = overUp(target, asset.price)
    // A remainder that is too small to be sold by itself goes along.
    const rest = timesDown((asset.available - wanted) as Amount, asset.price)
    const amount = wanted >= asset.available || rest < SALE_LEAST ? asset.available : wanted
    const capped = min(amount, overDown(SALE_MOST, asset.price))
    if (sell(ctx, input, routed, asset.currency, capped)) return true
  }
  return false
}
interface Route {
  readonly pair: string
  readonly side: 'buy' | 'sell'
}
/** The market that turns one currency into another, or into USDT on the way there. */
function routeOf(state: State, from: string, to: string): Route | undefined {
  for (const [pair, side] of [
    [`${from}_${to}`, 'sell'],
    [`${to}_${from}`, 'buy'],
    [`${from}_USDT`, 'sell'],
  ] as const)
    if (state.world.findMarket(pair) !== undefined) return { pair, side }
  return undefined
}
function sell(
  ctx: Ctx,
  input: Liquidation,
  { pair, side }: Route,
  currency: string,
  amount: Amount,
): boolean {
  const { state, tx } = ctx
  const market = state.world.market(pair)
  const rounded =
    side === 'sell' ? ((amount - (amount % market.lot)) as Amount) : roundDown(amount, market.quotePrecision)
  if (rounded <= 0n) return false
  const isolated = input.scope !== UNIFIED.scope
  const order: NewOrder = {
    ...PLAIN,
    currency_pair: pair,
    type: 'market',
    account: isolated ? 'margin' : 'unified',
    side,
    amount: format(rounded),
    price: null,
    time_in_force: 'ioc',
  }
  const mark = tx.mark()
  try {
    const placed = placeOrder(
      ctx,
      input.user_id,
      order,
      `liquidation:${input.id}`,
      liquidationText(state, input),
    )
    if (placed.filled === 0n) {
      tx.rollback(mark)
      return false
    }
    const given = side === 'sell' ? placed.filled : placed.filled_total
    note(ctx, input, 'sold', currency, given, { order_id: placed.id, currency_pair: pair })
    fireTriggers(ctx, pair)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    return false
  }
}
function liquidationText(state: State, { user_id, scope }: Liquidation): string {
  if (scope !== UNIFIED.scope) return 'liquidate'
  return state.margin.modeOf(user_id) === 'portfolio' ? 'pm_liquidate' : 'comb_margin_liquidate'
}
