import {
  ONE_PRICE,
  ZERO,
  min,
  overUp,
  roundUp,
  timesDown,
  timesUp,
  type Amount,
  type Price,
  type Rate,
} from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Settled, Taker } from '../exchange/engine.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import type { OpenEntry, Purpose } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { isEngaged } from '../unified/contracts.ts'
import { feeSetting, ratesOf, withToken, type DebitFee, type Rates } from './fees.ts'
import { moneyOf } from './accounts.ts'
import type { Order, OrderRow } from '../tables/exchange/order.ts'
import { FillRow, SPOT_FILL, type Charge, type Trade } from '../tables/exchange/trades.ts'

export interface Terms {
  readonly rates: Rates
  readonly debit: DebitFee
}
export interface SpotTaker extends Taker<Market> {
  /** What its owner pays for fills; looked up when there is one. */
  terms: Terms | undefined
}
function termsOf(state: State, userId: number, market: Market): Terms {
  const { vip, debit } = feeSetting(state, state.users.must(userId))
  // Tokens that stand against a debt or a position don't pay fees: margin would go that no order's loss has counted.
  const pledged = debit === 1 && isEngaged(state, userId, 'unified')
  return { rates: ratesOf(vip, market), debit: pledged ? 3 : debit }
}

/** Units of USDT for one unit of a currency, by the last trade. */
function usdtPrice(state: State, currency: string): Price | undefined {
  return currency === 'USDT' ? ONE_PRICE : state.spot.lastPrice(`${currency}_USDT`)
}
const TOKEN_DECIMALS = 8

/**
 * What one side pays for a fill, rounded up to the unit of the currency it is paid in. The token or points
 * pay when the account chose so, their price is known and there are enough of them; else the received
 * currency does, and never more than what was received.
 */
export function chargeOf(
  state: State,
  market: Market,
  order: Order,
  debit: DebitFee,
  rate: Rate,
  amount: Amount,
  value: Amount,
): Charge {
  if (rate === 0n) return NO_CHARGE
  if (debit !== 3) {
    const deducted = deduct(state, market, order.user_id, debit, rate, value)
    if (deducted !== undefined) return deducted
  }
  const [received, precision] =
    order.side === 'buy' ? [amount, market.basePrecision] : [value, market.quotePrecision]
  return { fee: min(received, roundUp(timesUp(received, rate), precision)), gt: ZERO, points: ZERO }
}
const NO_CHARGE: Charge = { fee: ZERO, gt: ZERO, points: ZERO }

function deduct(
  state: State,
  market: Market,
  userId: number,
  debit: 1 | 2,
  rate: Rate,
  value: Amount,
): Charge | undefined {
  // By the index: whoever moves our own last price would choose what he pays.
  const quotePrice = state.prices.quote(market.quote).firm
  if (quotePrice === 0n) return undefined
  const inUsdt = (of: Rate): Amount => timesUp(timesUp(value, of), quotePrice)
  if (debit === 2) {
    const points = roundUp(inUsdt(rate), TOKEN_DECIMALS)
    const enough = state.ledger.balance(userId, 'spot', 'POINT') >= points
    return enough ? { fee: ZERO, gt: ZERO, points } : undefined
  }
  const tokenPrice = state.prices.quote('GT').firm
  if (tokenPrice === 0n) return undefined
  const gt = roundUp(overUp(inUsdt(withToken(rate)), tokenPrice), TOKEN_DECIMALS)
  return state.ledger.balance(userId, 'spot', 'GT') >= gt ? { fee: ZERO, gt, points: ZERO } : undefined
}

/** buyer's hold → seller and seller's hold → buyer, each less its fee; then the records of the trade. */
export function settleFill(
  ctx: Ctx,
  matched: SpotTaker,
  maker: OrderRow,
  amount: Amount,
  sequence: number,
): Settled {
  const { state, tx, at } = ctx
  const { order: taker, market } = matched
  const terms = (matched.terms ??= termsOf(state, taker.user_id, market))
  const { price } = maker
  const value = timesDown(amount, price)
  const makerTerms = termsOf(state, maker.user_id, market)
  const makerRate = maker.refreshed ? makerTerms.rates.taker : makerTerms.rates.maker
  const takerCharge = chargeOf(state, market, taker, terms.debit, terms.rates.taker, amount, value)
  // Who trades with himself would have his tokens counted twice: the second fee is an ordinary one.
  const makerDebit = maker.user_id === taker.user_id ? 3 : makerTerms.debit
  const makerCharge = chargeOf(state, market, maker, makerDebit, makerRate, amount, value)
  const id = nextId(tx, state.counters, 'trade')
  const takerBuys = taker.side === 'buy'
  pay(
    ctx,
    market,
    id,
    { order: takerBuys ? taker : maker, charge: takerBuys ? takerCharge : makerCharge, gets: amount },
    { order: takerBuys ? maker : taker, charge: takerBuys ? makerCharge : takerCharge, gets: value },
  )
  const trade: Trade = { id, pair: market.id, sequence, side: taker.side, price, amount, at }
  tx.put(state.spot.trades.table, trade)
  tx.append(SPOT_FILL, new FillRow(trade, 'taker', taker.placed, takerCharge, market))
  tx.append(SPOT_FILL, new FillRow(trade, 'maker', maker.placed, makerCharge, market))
  state.spot.candles.add(tx, market.id, at, price, amount, value)
  if (state.spot.povOrders.open > 0) {
    noteOwn(ctx, market.id, taker.user_id, amount)
    if (maker.user_id !== taker.user_id) noteOwn(ctx, market.id, maker.user_id, amount)
  }
  countVolume(ctx, market, taker.user_id, value, TAKER_WEIGHT)
  countVolume(ctx, market, maker.user_id, value, MAKER_WEIGHT)
  return { value, taker: takerCharge, maker: makerCharge }
}

interface Party {
  readonly order: OrderRow
  readonly charge: Charge
  readonly gets: Amount
}
function pay(ctx: Ctx, market: Market, trade: number, buyer: Party, seller: Party): void {
  const { state } = ctx
  const entry = state.ledger.open(ctx, 'order_fill', 'trade', trade)
  const buyerMoney = moneyOf(state, buyer.order.account, market)
  const sellerMoney = moneyOf(state, seller.order.account, market)
  entry.line(buyer.order.user_id, buyerMoney.heldQuote, -seller.gets as Amount)
  receive(state, entry, seller, sellerMoney.freeQuote)
  entry.line(seller.order.user_id, sellerMoney.heldBase, -buyer.gets as Amount)
  receive(state, entry, buyer, buyerMoney.freeBase)
  payOther(state, entry, buyer)
  payOther(state, entry, seller)
  entry.close()
}
/** What was received, and the fee out of it. */
function receive(state: State, entry: OpenEntry, { order, charge, gets }: Party, free: Purpose): void {
  entry.line(order.user_id, free, gets)
  if (charge.fee > 0n) payFee(state, entry, order.user_id, free, charge.fee)
}
function payFee(state: State, entry: OpenEntry, owner: number, from: Purpose, fee: Amount): void {
  entry.line(owner, from, -fee as Amount, 'order_fee')
  entry.line(PLATFORM, state.ledger.purpose('fees', from.currency), fee, 'order_fee')
}
/** A fee in the token or in points comes out of the spot account, whatever account traded. */
function payOther(state: State, entry: OpenEntry, { order, charge }: Party): void {
  const { gt, points } = charge
  if (gt > 0n) payFee(state, entry, order.user_id, state.ledger.purpose('spot', 'GT'), gt)
  if (points > 0n) payFee(state, entry, order.user_id, state.ledger.purpose('spot', 'POINT'), points)
}

/** A POV order follows what others trade, not what its owner does. */
function noteOwn({ state, tx }: Ctx, pair: string, userId: number, amount: Amount): void {
  const { povOrders } = state.spot
  for (const order of povOrders.openAt(userId, pair))
    tx.put(povOrders.table, { ...order, own: (order.own + amount) as Amount })
}

/** Weights of the fill ratio: by market in tenths, by role in hundredths. */
const FULL_WEIGHT = new Set(['BTC_USDT', 'ETH_USDT'])
const MAKER_WEIGHT = 100n
const TAKER_WEIGHT = 90n
function countVolume(ctx: Ctx, market: Market, userId: number, value: Amount, roleWeight: bigint): void {
  const price = usdtPrice(ctx.state, market.quote)
  if (price === undefined) return
  const weight = (FULL_WEIGHT.has(market.id) ? 10n : 4n) * roleWeight
  const inUsdt = price === ONE_PRICE ? value : timesDown(value, price)
  const volume = ((inUsdt * weight) / 1000n) as Amount
  ctx.state.spot.activity.add(ctx.tx, userId, ctx.at, 0, volume)
}
