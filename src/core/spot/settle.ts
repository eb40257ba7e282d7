import {
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
import { PLATFORM } from '../ledger/accounts.ts'
import type { Line } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import type { Market } from '../world/markets.ts'
import { feeSetting, ratesOf, withToken, type DebitFee, type Rates } from './fees.ts'
import type { Order, OrderAccount, Side } from './order.ts'
import { SPOT_FILL } from './trades.ts'
import { freeName, heldName } from './accounts.ts'

/** Who trades, for money and records: a resting order, or the one that is being matched. */
export interface Party {
  readonly id: number
  readonly user_id: number
  readonly side: Side
  readonly account: OrderAccount
  readonly text: string
  readonly amend_text: string
}
/** Exactly one of the three is above zero, unless the rate is 0. */
export interface Charge {
  readonly fee: Amount
  readonly gt: Amount
  readonly points: Amount
}
export interface Terms {
  readonly rates: Rates
  readonly debit: DebitFee
}
export function termsOf(state: State, userId: number, market: Market): Terms {
  const { vip, debit } = feeSetting(state, state.users.must(userId))
  // Tokens that stand against a debt don't pay fees: margin would go that no order's loss has counted.
  const pledged = debit === 1 && state.margin.owes(userId, 'unified')
  return { rates: ratesOf(vip, market), debit: pledged ? 3 : debit }
}

/** Units of USDT for one unit of a currency, by the last trade. */
function usdtPrice(state: State, currency: string): Price | undefined {
  return currency === 'USDT' ? ONE_PRICE : state.spot.lastPrice(`${currency}_USDT`)
}
const ONE_PRICE = (10n ** 18n) as Price
const TOKEN_DECIMALS = 8

/**
 * What one side pays for a fill, rounded up to the unit of the currency it is paid in. The token or points
 * pay when the account chose so, their price is known and there are enough of them; else the received
 * currency does, and never more than what was received.
 */
export function chargeOf(
  state: State,
  market: Market,
  party: Party,
  debit: DebitFee,
  rate: Rate,
  amount: Amount,
  value: Amount,
): Charge {
  if (rate === 0n) return NO_CHARGE
  if (debit !== 3) {
    const deducted = deduct(state, market, party.user_id, debit, rate, value)
    if (deducted !== undefined) return deducted
  }
  const [received, precision] =
    party.side === 'buy' ? [amount, market.basePrecision] : [value, market.quotePrecision]
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
  const quotePrice = usdtPrice(state, market.quote)
  if (quotePrice === undefined) return undefined
  const inUsdt = (of: Rate): Amount => timesUp(timesUp(value, of), quotePrice)
  if (debit === 2) {
    const points = roundUp(inUsdt(rate), TOKEN_DECIMALS)
    const enough = state.ledger.balance(userId, 'spot', 'POINT') >= points
    return enough ? { fee: ZERO, gt: ZERO, points } : undefined
  }
  const tokenPrice = usdtPrice(state, 'GT')
  if (tokenPrice === undefined) return undefined
  const gt = roundUp(overUp(inUsdt(withToken(rate)), tokenPrice), TOKEN_DECIMALS)
  return state.ledger.balance(userId, 'spot', 'GT') >= gt ? { fee: ZERO, gt, points: ZERO } : undefined
}

export interface Fill {
  readonly amount: Amount
  readonly value: Amount
  readonly taker: Charge
  readonly maker: Charge
}

/** buyer's hold → seller and seller's hold → buyer, each less its fee; then the records of the trade. */
export function settleFill(
  ctx: Ctx,
  market: Market,
  taker: Party & { readonly terms: Terms },
  maker: Order,
  amount: Amount,
  sequence: number,
): Fill {
  const { state, tx, at } = ctx
  const { price } = maker
  const value = timesDown(amount, price)
  const makerTerms = termsOf(state, maker.user_id, market)
  const makerRate = maker.refreshed ? makerTerms.rates.taker : makerTerms.rates.maker
  const takerCharge = chargeOf(
    state,
    market,
    taker,
    taker.terms.debit,
    taker.terms.rates.taker,
    amount,
    value,
  )
  // Who trades with himself would have his tokens counted twice: the second fee is an ordinary one.
  const makerDebit = maker.user_id === taker.user_id ? 3 : makerTerms.debit
  const makerCharge = chargeOf(state, market, maker, makerDebit, makerRate, amount, value)
  const id = nextId(tx, state.counters, 'trade')
  const takerBuys = taker.side === 'buy'
  const buyer = takerBuys ? taker : maker
  const seller = takerBuys ? maker : taker
  const buyerCharge = takerBuys ? takerCharge : makerCharge
  const sellerCharge = takerBuys ? makerCharge : takerCharge
  const lines: Line[] = []
  pay(lines, buyer, seller, market.quote, value, sellerCharge.fee, market.id)
  pay(lines, seller, buyer, market.base, amount, buyerCharge.fee, market.id)
  payOther(lines, buyer.user_id, buyerCharge)
  payOther(lines, seller.user_id, sellerCharge)
  state.ledger.post({ tx, at, counters: state.counters }, { kind: 'order_fill', ref: `trade:${id}`, lines })
  tx.put(state.spot.trades.table, { id, pair: market.id, sequence, side: taker.side, price, amount, at })
  recordFill(ctx, market, taker, 'taker', id, sequence, price, amount, takerCharge)
  recordFill(ctx, market, maker, 'maker', id, sequence, price, amount, makerCharge)
  state.spot.candles.add(tx, market.id, at, price, amount, value)
  countVolume(ctx, market, taker.user_id, value, TAKER_WEIGHT)
  countVolume(ctx, market, maker.user_id, value, MAKER_WEIGHT)
  return { amount, value, taker: takerCharge, maker: makerCharge }
}

/** payer's hold → payee, less the payee's fee. */
function pay(
  lines: Line[],
  payer: Party,
  payee: Party,
  currency: string,
  amount: Amount,
  fee: Amount,
  pair: string,
): void {
  const name = freeName(payee.account, pair)
  const owner = payee.user_id
  lines.push(
    { owner: payer.user_id, name: heldName(payer.account, pair), currency, amount: -amount as Amount },
    { owner, name, currency, amount },
  )
  if (fee > 0n)
    lines.push(
      { owner, name, currency, amount: -fee as Amount, kind: 'order_fee' },
      { owner: PLATFORM, name: 'fees', currency, amount: fee, kind: 'order_fee' },
    )
}
/** A fee in the token or in points comes out of the spot account, whatever account traded. */
function payOther(lines: Line[], owner: number, { gt, points }: Charge): void {
  if (gt > 0n) payToken(lines, owner, 'GT', gt)
  if (points > 0n) payToken(lines, owner, 'POINT', points)
}
function payToken(lines: Line[], owner: number, currency: string, amount: Amount): void {
  lines.push(
    { owner, name: 'spot', currency, amount: -amount as Amount, kind: 'order_fee' },
    { owner: PLATFORM, name: 'fees', currency, amount, kind: 'order_fee' },
  )
}

function recordFill(
  ctx: Ctx,
  market: Market,
  party: Party,
  role: 'taker' | 'maker',
  trade_id: number,
  sequence: number,
  price: Price,
  amount: Amount,
  charge: Charge,
): void {
  ctx.tx.append(SPOT_FILL, {
    trade_id,
    role,
    user_id: party.user_id,
    order_id: party.id,
    pair: market.id,
    sequence,
    side: party.side,
    account: party.account,
    price,
    amount,
    fee: charge.fee,
    fee_currency: party.side === 'buy' ? market.base : market.quote,
    gt_fee: charge.gt,
    point_fee: charge.points,
    text: party.text,
    amend_text: party.amend_text,
    at: ctx.at,
  })
}

/** Weights of the fill ratio: by market in tenths, by role in hundredths. */
const FULL_WEIGHT = new Set(['BTC_USDT', 'ETH_USDT'])
const MAKER_WEIGHT = 100n
const TAKER_WEIGHT = 90n
function countVolume(ctx: Ctx, market: Market, userId: number, value: Amount, roleWeight: bigint): void {
  const price = usdtPrice(ctx.state, market.quote)
  if (price === undefined) return
  const weight = (FULL_WEIGHT.has(market.id) ? 10n : 4n) * roleWeight
  const volume = ((timesDown(value, price) * weight) / 1000n) as Amount
  ctx.state.spot.activity.add(ctx.tx, userId, ctx.at, 0, volume)
}
