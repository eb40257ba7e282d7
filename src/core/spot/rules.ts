import { refuse } from '../../labels.ts'
import {
  stepOf,
  ONE,
  ZERO,
  format,
  parseAmount,
  parsePrice,
  parseRate,
  timesDown,
  timesUp,
  type Amount,
  type Price,
} from '../../money/amount.ts'
import type { State } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { DEFAULT_TEXT, isClientText, type AttachedStop, type Side } from '../tables/exchange/order.ts'

/** The rules that every order's figures meet, each refused with a message that says how to mend it. */

export function readAmount(text: string, name: string): Amount {
  const amount = parseAmount(text)
  if (amount === undefined || amount === 0n)
    refuse('INVALID_PARAM_VALUE', `${name}: "${text}" must be a decimal above zero, such as "1.5"`)
  return amount
}
export function readPrice(market: Market, text: string, name = 'price'): Price {
  const price = parsePrice(text)
  if (price === undefined || price === 0n)
    refuse('INVALID_PARAM_VALUE', `${name}: "${text}" must be a decimal above zero, such as "1.5"`)
  if (price % market.tick !== 0n)
    refuse(
      'INVALID_PRECISION',
      `${name}: "${text}" has more decimals than the ${market.config.precision} of prices of ${market.id}`,
    )
  if (price > market.priceMax)
    refuse('INVALID_PARAM_VALUE', `${name}: "${text}" is beyond any price of ${market.id}`)
  return price
}
export function readBase(market: Market, text: string, name = 'amount'): Amount {
  const amount = readAmount(text, name)
  if (amount % market.lot !== 0n)
    refuse(
      'INVALID_PRECISION',
      `${name}: "${text}" has more decimals than the ${market.config.amount_precision} of amounts of ${market.id}`,
    )
  return amount
}
/** A market buy's amount is quote money. */
export function readQuote(market: Market, text: string, name = 'amount'): Amount {
  const amount = readAmount(text, name)
  const unit = stepOf(market.quotePrecision)
  if (amount % unit !== 0n)
    refuse(
      'INVALID_PRECISION',
      `${name}: "${text}" has more decimals than the ${market.quotePrecision} of ${market.quote}, in which a market buy is counted`,
    )
  return amount
}

/** The origin of orders that buy back a debt in a market that is closed for buying. */
export const CROSS_LIQUIDATE = 'cross_liquidate'

export function isOpen(market: Market, side: Side, at: number): boolean {
  const { trade_status, buy_start, sell_start, delisting_time } = market.config
  const seconds = at / 1e6
  const start = side === 'buy' ? buy_start : sell_start
  return (
    (trade_status === 'tradable' || trade_status === (side === 'buy' ? 'buyable' : 'sellable')) &&
    seconds >= start &&
    (delisting_time === 0 || seconds < delisting_time)
  )
}
export function checkOpen(market: Market, side: Side, at: number): void {
  if (!isOpen(market, side, at))
    refuse(
      'TRADE_RESTRICTED',
      `currency_pair: ${market.id} does not take ${side} orders now (trade_status ${market.config.trade_status}); GET /spot/currency_pairs/${market.id} tells when it does`,
    )
}

/** Not even what a closed market lets pass. */
export function refuseHalted(market: Market): void {
  if (market.halted)
    refuse(
      'TRADE_RESTRICTED',
      `currency_pair: ${market.id} is halted: it takes no orders, and what waits there can be cancelled`,
    )
}

/** base or value undefined: not known for this kind of order. */
export function checkSize(market: Market, base: Amount | undefined, value: Amount | undefined): void {
  if (base !== undefined) {
    if (base < market.minBase) tooLittle(market, base, market.base, market.minBase)
    if (market.maxBase !== undefined && base > market.maxBase)
      tooMuch(market, base, market.base, market.maxBase)
  }
  if (value !== undefined) {
    if (value < market.minQuote) tooLittle(market, value, market.quote, market.minQuote)
    if (market.maxQuote !== undefined && value > market.maxQuote)
      tooMuch(market, value, market.quote, market.maxQuote)
  }
}
/** A market buy that the best price gives not even one lot for would do nothing. */
export function checkBuysLot(market: Market, money: Amount, best: Price): void {
  const least = timesUp(market.lot, best)
  if (money < least) tooLittle(market, money, market.quote, least)
}
export function checkMarketCap(market: Market, side: Side, amount: Amount): void {
  const cap = side === 'buy' ? market.marketMaxQuote : market.marketMaxBase
  if (cap !== undefined && amount > cap)
    tooMuch(market, amount, side === 'buy' ? market.quote : market.base, cap)
}
function tooLittle(market: Market, size: Amount, currency: string, least: Amount): never {
  return refuse(
    'AMOUNT_TOO_LITTLE',
    `Your order size ${format(size)} ${currency} is below the minimum of ${market.id}, ${format(least)} ${currency}`,
  )
}
function tooMuch(market: Market, size: Amount, currency: string, most: Amount): never {
  return refuse(
    'AMOUNT_TOO_MUCH',
    `Your order size ${format(size)} ${currency} is above the maximum of ${market.id}, ${format(most)} ${currency}`,
  )
}

/** By the market's rules as they are now: other rules are another object. A pair of rules and price has one answer, whoever asks. */
const GUARDS = new WeakMap<Market, { last: Price; buy: Price; sell: Price }>()
/** The worst price that protection lets an order of this side have; undefined before the first trade. */
export function protectedPrice(state: State, market: Market, side: Side): Price | undefined {
  const last = state.spot.lastPrice(market.id)
  if (last === undefined) return undefined
  // Most orders come between two trades: the bounds of the last price are kept with the market.
  let guard = GUARDS.get(market)
  if (guard?.last !== last) {
    const buy = timesDown(last as bigint as Amount, (ONE + market.upRate) as Price)
    const sell = timesUp(last as bigint as Amount, (ONE - market.downRate) as Price)
    guard = { last, buy: buy as bigint as Price, sell: sell as bigint as Price }
    GUARDS.set(market, guard)
  }
  return guard[side]
}
export function checkProtected(state: State, market: Market, side: Side, price: Price): void {
  const bound = protectedPrice(state, market, side)
  if (bound === undefined || (side === 'buy' ? price <= bound : price >= bound)) return
  refuse(
    'PRICE_THRESHOLD_EXCEEDED',
    `price: ${format(price)} is too far from the last price of ${market.id}; a ${side} order may be priced ${side === 'buy' ? 'at most' : 'at least'} ${format(bound)}`,
  )
}
/** The worst price of a market order: its own slippage from the best price, within the market's protection. */
export function marketBound(
  state: State,
  market: Market,
  side: Side,
  slippage: string | null,
): Price | undefined {
  const guard = protectedPrice(state, market, side)
  if (slippage === null) return guard
  const rate = parseRate(slippage)
  if (rate === undefined || rate === 0n || rate > market.slippageMax)
    refuse(
      'INVALID_PARAM_VALUE',
      `slippage: "${slippage}" must be a ratio above 0 and at most ${format(market.slippageMax)}, such as "0.03"`,
    )
  const best = state.spot.book(market.id).facing(side)?.price
  if (best === undefined) return guard
  const factor = side === 'buy' ? ONE + rate : ONE - (rate > ONE ? ONE : rate)
  const bound = ((best * factor) / ONE) as Price
  if (guard === undefined) return bound
  return side === 'buy' ? (bound < guard ? bound : guard) : bound > guard ? bound : guard
}

/** A market has one quote currency; who names another means another market. */
export function checkTradeQuote({ id, quote }: Market, named: string | undefined): void {
  if (named !== undefined && named.toUpperCase() !== quote)
    refuse(
      'INVALID_PARAM_VALUE',
      `trade_quote: "${named}" is not the quote currency of ${id}, which is ${quote}`,
    )
}

const TEXT = /^t-[0-9A-Za-z_.-]{1,28}$/
/** Origins that a client may name instead of an id of its own. */
const RESERVED = new Set(['apiv4', 'apiv4-ws', 'web', 'app', '2', '3', '101', '102', '103', '104'])
export function checkText(text: string | null, name = 'text'): string {
  if (text === null || text === '-') return DEFAULT_TEXT
  if (TEXT.test(text) || RESERVED.has(text)) return text
  return refuse(
    'INVALID_PARAM_VALUE',
    `${name}: "${text}" must begin with t- and go on with 1 to 28 of 0-9 A-Z a-z _ - .`,
  )
}
export function checkUnused(state: State, userId: number, text: string): void {
  if (!isClientText(text)) return
  const open = state.spot.openWithText(userId, text)
  if (open !== undefined)
    refuse(
      'DUPLICATE_REQUEST',
      `text: "${text}" is the text of the open order ${open.id}; nothing was placed`,
    )
}
/** Price orders that wait, and stops that will: what an account may have of both together. */
const PRICE_ORDERS_MAX = 1_000
export function checkPriceOrderRoom({ spot }: State, userId: number, more: number): void {
  if (more > 0 && spot.priceOrders.openCount(userId) + spot.promisedStops(userId) + more > PRICE_ORDERS_MAX)
    refuse(
      'TOO_MANY_ORDERS',
      `an account has at most ${PRICE_ORDERS_MAX} open price orders, the stops of its open orders included; cancel some first`,
    )
}
/** "0" as the price of a stop's order is a market order. */
export function checkStops(market: Market, stops: Readonly<Record<string, AttachedStop | null>>): void {
  for (const [name, stop] of Object.entries(stops)) {
    if (stop === null) continue
    readPrice(market, stop.trigger_price, `${name}.trigger_price`)
    if (!/^0(\.0*)?$/.test(stop.order_price)) readPrice(market, stop.order_price, `${name}.order_price`)
  }
}
export function readIceberg(market: Market, text: string | null, amount: Amount): Amount {
  if (text === null || parseAmount(text) === 0n) return ZERO
  const iceberg = readBase(market, text, 'iceberg')
  if (iceberg > amount)
    refuse('INVALID_PARAM_VALUE', `iceberg: "${text}" is more than the amount ${format(amount)}`)
  return iceberg
}

/** Open orders of an account in one market are bounded: what one account does must not cost all others time. */
export function checkRoom(state: State, userId: number, market: Market): void {
  const most = state.world.openOrdersMax
  if (state.spot.openCount(userId, market.id) >= most)
    refuse(
      'TOO_MANY_ORDERS',
      `an account has at most ${most} open orders in a market, and so many are open in ${market.id}; cancel some first`,
    )
}
