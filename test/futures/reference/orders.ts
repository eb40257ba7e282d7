import { closable, isCross, worstClose } from './margin.ts'
import { E, abs, min } from './numbers.ts'
import { followBook } from './prices.ts'
import { addStops, readStops } from './stops.ts'
import {
  checkAtOnce,
  checkMargin,
  checkRiskLimit,
  endOrder,
  marketBound,
  match,
  modeOf,
  openingOf,
} from './trading.ts'
import { refuse, type Contract, type Mode, type Order, type World } from './world.ts'

/** Calls of 1.4, with the checks of 1.8 in their order. */

export interface NewOrder {
  readonly user: number
  readonly account: string
  readonly contract: string
  /** Signed; a text, as it may have a fraction. */
  readonly size: string
  readonly price: bigint
  readonly tif: string | null
  readonly text: string | null
  readonly close: boolean
  readonly reduceOnly: boolean
  readonly autoSize: 'close_long' | 'close_short' | null
  readonly stpAct: string | null
  readonly iceberg: bigint | null
  readonly slip: string | null
  readonly slipRate: bigint | null
  readonly marginMode: string | null
  /** Where what it opens is closed again: with a profit, with a loss. As they were sent. */
  readonly takeProfit: string | null
  readonly stopLoss: string | null
}
const TEXT = /^t-[0-9A-Za-z_.-]{1,28}$/

export function contractOf(w: World, account: string, name: string): Contract {
  const found = w.contracts.get(`${account}/${name.toUpperCase()}`)
  return found === undefined || found.status === 'delisted' ? refuse('CONTRACT_NOT_FOUND') : found
}
export function refuseLiquidating(w: World, user: number, c: Contract): void {
  const inIt = w.positionsOf(user, c).some(({ liquidating }) => liquidating !== 0)
  if (inIt || (w.account(user, c.account)?.liquidating ?? 0) !== 0) refuse('POSITION_IN_LIQUIDATION')
}

/** Whether it takes orders now. */
export function checkTrading(w: World, c: Contract): void {
  if (c.status === 'circuit_breaker') refuse('TRADE_RESTRICTED')
  if (c.expires !== 0 && c.expires * 1e6 <= w.at) refuse('CONTRACT_IN_DELISTING')
}

/** What the platform says of an order that it places for somebody. */
export interface Own {
  readonly text: string | null
  readonly origin: string
  /** A stop closes what was filled, however much that is. */
  readonly anySize?: boolean
}
export function place(w: World, input: NewOrder, own?: Own): Order {
  const { user, price } = input
  const dual = w.isDual(user, input.account)
  const tif = input.tif ?? 'gtc'
  const market = price === 0n
  const rests = tif === 'gtc' || tif === 'poc'
  const closes = input.close || input.autoSize !== null
  const reduceOnly = closes || input.reduceOnly
  const [whole, fraction = '0'] = input.size.split('.') as [string, string | undefined]
  const given = BigInt(whole)
  const { stp } = w.users.get(user)!
  // 1
  if (input.autoSize !== null && !dual) refuse('INVALID_PARAM_VALUE')
  if (input.close && dual && input.autoSize === null) refuse('INVALID_PARAM_VALUE')
  if ((given === 0n && Number(fraction) === 0) !== closes) refuse('INVALID_PARAM_VALUE')
  if (market && rests) refuse('INVALID_PARAM_VALUE')
  if (input.text !== null && !TEXT.test(input.text)) refuse('INVALID_PARAM_VALUE')
  if (input.stpAct !== null && stp === 0) refuse('INVALID_PARAM_VALUE')
  if (input.iceberg !== null && ((!closes && input.iceberg > abs(given)) || !rests))
    refuse('INVALID_PARAM_VALUE')
  if (input.slipRate !== null && (!market || input.slipRate === 0n)) refuse('INVALID_PARAM_VALUE')
  // 2 to 5
  const c = contractOf(w, input.account, input.contract)
  if (input.slipRate !== null && input.slipRate > c.slip) refuse('INVALID_PARAM_VALUE')
  checkTrading(w, c)
  if (w.account(user, c.account) === undefined) refuse('USER_NOT_FOUND')
  if (price % c.tick !== 0n || Number(fraction) !== 0) refuse('INVALID_PRECISION')
  refuseLiquidating(w, user, c)
  // What it is about.
  const side: Mode | undefined =
    input.autoSize === null ? undefined : input.autoSize === 'close_long' ? 'dual_long' : 'dual_short'
  const resolved = closes ? -w.position(user, c, side ?? 'single').size : given
  const buy = resolved > 0n
  const row = w.position(user, c, side ?? modeOf(w, { user, buy, reduceOnly }, c))
  if (input.marginMode !== null && input.marginMode !== (isCross(row) ? 'cross' : 'isolated'))
    refuse('INVALID_PARAM_VALUE')
  // 6 to 9
  const sent = abs(resolved)
  if (!closes && own?.anySize !== true) checkSize(c, sent, market)
  if (!market) checkDeviation(w, c, price)
  if (rests && w.openOf(user, c.id).length >= c.ordersLimit) refuse('TOO_MANY_ORDERS')
  if (input.text !== null && isUsed(w, user, c.account, input.text)) refuse('DUPLICATE_REQUEST')
  // 10
  let n = sent
  if (reduceOnly) {
    if (row.size === 0n) refuse('POSITION_EMPTY')
    const most = closable(row, buy)
    if (most === 0n) refuse('INCREASE_POSITION')
    if (!rests) n = min(n, most)
    else if (n > most) refuse('REDUCE_EXCEEDED')
    const inClose = w
      .openOf(user, c.id)
      .some(({ more, buy: other }) => more?.['close'] === true && other === buy)
    if (closes && rests && inClose) refuse('POSITION_IN_CLOSE')
  }
  // Of an order that closes it is the position that says the size.
  if (input.iceberg !== null && input.iceberg > n) refuse('INVALID_PARAM_VALUE')
  const order: Order = {
    id: w.next('order'),
    user,
    contract: c.id,
    buy,
    market,
    tif,
    text: own?.text ?? input.text ?? 'api',
    amendText: '-',
    price,
    amount: sent,
    left: n,
    filled: 0n,
    filledTotal: 0n,
    fee: 0n,
    iceberg: input.iceberg ?? 0n,
    shown: 0n,
    refreshed: false,
    rank: 0,
    stp,
    stpAct: input.stpAct ?? '-',
    status: 'open',
    finish: 'open',
    created: w.at,
    updated: w.at,
    reduceOnly,
    more: moreOf(input, reduceOnly, closes, own),
  }
  const opening = openingOf(w, c, row, order, n)
  const reduces = n > opening.atOnce
  // 11 to 14
  if (reduces && !market) checkBankruptcy(w, row, buy, price)
  if (market && w.side(c.id, !buy).length === 0) refuse('CONTRACT_NO_COUNTER')
  const bound = market ? marketBound(w, c, buy, input.slipRate ?? c.slip, reduces ? row : undefined) : price
  const stops = readStops(w, c, input, order, opening.atOnce === sent)
  checkAtOnce(w, c, order, bound, n)
  checkRiskLimit(w, c, row, order, n, opening.beside)
  addStops(w, order, stops)
  const opened = match(w, c, order, bound, order.id, sent - n)
  // It said that all of it is filled at once, or nothing.
  if (tif === 'fok' && order.finish !== 'filled' && order.finish !== 'reduce_only') refuse('ORDER_FOK')
  checkMargin(w, c, order, opening, opened)
  return order
}
function moreOf(input: NewOrder, reduceOnly: boolean, closes: boolean, own?: Own): Order['more'] {
  const more = {
    ...(reduceOnly && { reduce_only: true }),
    ...(closes && { close: true }),
    ...(input.autoSize !== null && { auto_size: input.autoSize }),
    ...(input.slip !== null && { market_order_slip_ratio: input.slip }),
    ...(input.marginMode !== null && { pos_margin_mode: input.marginMode }),
    ...(input.takeProfit !== null && { tpsl_tp_trigger_price: input.takeProfit }),
    ...(input.stopLoss !== null && { tpsl_sl_trigger_price: input.stopLoss }),
    ...(own !== undefined && { origin: own.origin }),
  }
  return Object.keys(more).length === 0 ? null : more
}
export function checkSize(c: Contract, n: bigint, market: boolean): void {
  if (n < c.sizeMin) refuse('SIZE_TOO_SMALL')
  if (n > (market ? c.marketMax : c.sizeMax)) refuse('SIZE_TOO_LARGE')
}
function checkDeviation(w: World, c: Contract, price: bigint): void {
  const { mark } = w.priceOf(c.id)
  if (abs(price - mark) * E > mark * c.deviate) refuse('PRICE_TOO_DEVIATED')
}
const isUsed = (w: World, user: number, account: string, text: string): boolean =>
  [...w.orders.values()].some(
    (one) => one.user === user && one.text === text && one.contract.startsWith(`${account}/`),
  )
function checkBankruptcy(w: World, row: Parameters<typeof worstClose>[1], buy: boolean, price: bigint): void {
  const worst = worstClose(w, row)
  if (worst !== undefined && (buy ? price > worst : price < worst)) refuse('PRICE_OVER_BANKRUPT')
}

function openOrder(w: World, user: number, account: string, id: number): Order {
  const order = w.orders.get(id)
  if (order !== undefined && order.user === user && order.contract.startsWith(`${account}/`)) return order
  return refuse(w.ended.get(id) === `${user} ${account}` ? 'ORDER_FINISHED' : 'ORDER_NOT_FOUND')
}
export function cancel(w: World, user: number, account: string, id: number): Order {
  const order = openOrder(w, user, account, id)
  endOrder(w, order, 'cancelled')
  followBook(w, w.contract(order.contract))
  return order
}
/** The ids of all that it ended. */
export function cancelAll(
  w: World,
  user: number,
  account: string,
  contract: string | null,
  buy: boolean | null,
): number[] {
  const only = contract === null ? undefined : contractOf(w, account, contract).id
  const orders = [...w.orders.values()].filter(
    (one) =>
      one.user === user &&
      one.contract.startsWith(`${account}/`) &&
      (only === undefined || one.contract === only) &&
      (buy === null || one.buy === buy),
  )
  for (const order of orders) endOrder(w, order, 'cancelled')
  for (const id of new Set(orders.map((one) => one.contract))) followBook(w, w.contract(id))
  return orders.map(({ id }) => id)
}

export interface Amendment {
  readonly user: number
  readonly account: string
  readonly id: number
  readonly size: bigint | null
  readonly price: bigint | null
  readonly amendText: string | null
}
/** Size is the new total with the filled part. */
export function amend(w: World, input: Amendment): Order {
  const order = openOrder(w, input.user, input.account, input.id)
  const c = w.contract(order.contract)
  const price = input.price ?? order.price
  if (price === 0n) refuse('INVALID_PARAM_VALUE')
  if (input.size !== null && input.size !== 0n && input.size > 0n !== order.buy) refuse('INVALID_PARAM_VALUE')
  const amount = input.size === null ? order.amount : abs(input.size)
  if (order.more?.['close'] === true && amount !== order.amount) refuse('INVALID_PARAM_VALUE')
  if (amount === order.amount && price === order.price) refuse('NO_CHANGE')
  order.amendText = input.amendText ?? '-'
  order.updated = w.at
  if (amount <= order.filled) {
    if (price % c.tick !== 0n) refuse('INVALID_PRECISION')
    endOrder(w, order, 'cancelled')
    followBook(w, c)
    return order
  }
  const left = amount - order.filled
  // No more is shown than there is.
  const iceberg = min(order.iceberg, amount)
  if (price === order.price && amount < order.amount) {
    if (amount < c.sizeMin) refuse('SIZE_TOO_SMALL')
    Object.assign(order, { amount, left, iceberg, shown: iceberg === 0n ? left : min(order.shown, left) })
    w.touched.set(order.id, order)
    followBook(w, c)
    return order
  }
  checkTrading(w, c)
  if (price % c.tick !== 0n) refuse('INVALID_PRECISION')
  refuseLiquidating(w, order.user, c)
  checkSize(c, amount, false)
  if (price !== order.price) checkDeviation(w, c, price)
  const row = w.position(order.user, c, modeOf(w, order, c))
  if (order.reduceOnly && left > closable(row, order.buy)) refuse('REDUCE_EXCEEDED')
  const opening = openingOf(w, c, row, order, left)
  if (left > opening.atOnce) checkBankruptcy(w, row, order.buy, price)
  // Off the book until it is through.
  w.orders.delete(order.id)
  Object.assign(order, { amount, left, price, iceberg, rank: 0 })
  checkAtOnce(w, c, order, price, left)
  checkRiskLimit(w, c, row, order, left, opening.beside)
  const opened = match(w, c, order, price, w.next('order'))
  checkMargin(w, c, order, opening, opened)
  return order
}
