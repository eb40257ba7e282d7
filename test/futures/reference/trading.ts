import {
  atIndex,
  availableOf,
  balanceOf,
  believed,
  closable,
  cashLeft,
  fillValue,
  isBroke,
  isCross,
  limitOf,
  marks,
  needsOf,
  openersOf,
  openingMargin,
  ratesOf,
  unitIsBroke,
  unitOf,
  valueUp,
  worstClose,
  type PriceOf,
} from './margin.ts'
import { applyFill, feeOf, fillPosition } from './money.ts'
import { E, abs, floorDiv, max, min } from './numbers.ts'
import { followBook } from './prices.ts'
import { chaseEnds, stopsBegin, stopsEnd } from './stops.ts'
import { refuse, type Contract, type Mode, type Order, type Position, type World } from './world.ts'

/** 2.4, 2.6 and 2.7 of the specification: what becomes of an order in the book. */

export const modeOf = (w: World, order: Pick<Order, 'user' | 'buy' | 'reduceOnly'>, c: Contract): Mode =>
  order.user === 0 || !w.isDual(order.user, c.account)
    ? 'single'
    : order.buy !== order.reduceOnly
      ? 'dual_long'
      : 'dual_short'

/** Takes an order off the book. */
export function endOrder(w: World, order: Order, finish: string): void {
  order.status = 'cancelled'
  order.finish = finish
  order.updated = w.at
  leave(w, order)
  w.meet(`ended ${finish}`)
}
/** It is in no book any more. */
export function leave(w: World, order: Order): void {
  w.orders.delete(order.id)
  w.ended.set(order.id, `${order.user} ${w.contract(order.contract).account}`)
  w.touched.set(order.id, order)
  stopsEnd(w, order)
  chaseEnds(w, order)
}

type End = 'filled' | 'empty' | 'bound' | 'stp'
/** Price, then time. */
function sweepBook(
  w: World,
  c: Contract,
  order: Order,
  bound: bigint,
  touched: Set<number>,
): { end: End; opened: bigint } {
  let opened = 0n
  let last: bigint | undefined
  let end: End = 'filled'
  while (order.left > 0n) {
    const maker = w.side(c.id, !order.buy)[0]
    if (maker === undefined || (order.buy ? maker.price > bound : maker.price < bound)) {
      end = maker === undefined ? 'empty' : 'bound'
      break
    }
    if (order.stp !== 0 && order.stp === maker.stp) {
      if (order.stpAct === 'co' || order.stpAct === 'cb') endOrder(w, maker, 'stp')
      if (order.stpAct === 'co') continue
      end = 'stp'
      break
    }
    const n = admitted(w, c, maker, min(order.left, maker.shown))
    if (n === 0n) continue
    const trade = w.next('trade')
    fillOne(w, c, maker, 'maker', n, maker.price, trade)
    opened += fillOne(w, c, order, 'taker', n, maker.price, trade)
    touched.add(maker.user).add(order.user)
    const { price } = maker
    w.record('trade', {
      id: trade,
      pair: c.id,
      sequence: ++w.priceOf(c.id).sequence,
      side: order.buy ? 'buy' : 'sell',
      price,
      amount: n * E,
      at: w.at,
    })
    last = price
    maker.updated = w.at
    w.touched.set(maker.id, maker)
    if (maker.left === 0n) {
      maker.status = 'closed'
      maker.finish = 'filled'
      leave(w, maker)
    } else if (maker.shown === 0n) {
      // The next part of an iceberg, behind everybody who waits.
      maker.shown = min(maker.iceberg, maker.left)
      maker.rank = w.next('order')
      maker.refreshed = true
      w.meet('iceberg')
    }
  }
  if (last !== undefined) w.priceOf(c.id).last = last
  return { end, opened }
}
function fillOne(
  w: World,
  c: Contract,
  order: Order,
  role: 'maker' | 'taker',
  n: bigint,
  price: bigint,
  trade: number,
): bigint {
  const rates = order.user === 0 ? undefined : ratesOf(w, order.user, c)
  const rate = rates === undefined ? 0n : role === 'taker' || order.refreshed ? rates.taker : rates.maker
  const done = fillPosition(w, c, {
    user: order.user,
    mode: modeOf(w, order, c),
    contracts: order.buy ? n : -n,
    price,
    rate,
    order: order.id,
    text: order.text,
    trade,
  })
  order.left -= n
  order.shown -= n
  order.filled += n
  order.filledTotal += n * price
  order.fee += done.fee
  if (done.fee < 0n) w.meet('rebate')
  if (done.opened > 0n) stopsBegin(w, order, done.opened)
  if (order.user !== 0)
    w.record('contract_fill', {
      trade_id: trade,
      role,
      user_id: order.user,
      order_id: order.id,
      contract: c.id,
      account: c.account,
      side: order.buy ? 'buy' : 'sell',
      size: n * E,
      close_size: done.closed * E,
      price,
      value: fillValue(c, n, price),
      fee: done.fee,
      point_fee: 0n,
      text: order.text,
      at: w.at,
    })
  return done.opened
}
/** How many contracts a resting order may be filled for; 0: it has ended instead (decision 0071). */
function admitted(w: World, c: Contract, maker: Order, wanted: bigint): bigint {
  const row = w.position(maker.user, c, modeOf(w, maker, c))
  let n = wanted
  if (maker.reduceOnly) {
    n = min(n, closable(row, maker.buy))
    if (n === 0n) {
      endOrder(w, maker, 'reduce_only')
      return 0n
    }
  }
  const rates = ratesOf(w, maker.user, c)
  if (carries(w, c, row, maker.buy ? n : -n, maker.price, maker.refreshed ? rates.taker : rates.maker))
    return n
  endOrder(w, maker, 'liquidated')
  w.meet('resting order not carried')
  return 0n
}
/** Whether its owner stays above maintenance after a fill. */
function carries(
  w: World,
  c: Contract,
  before: Position,
  contracts: bigint,
  price: bigint,
  rate: bigint,
): boolean {
  const done = applyFill(c, before.size, before.cost, contracts, price)
  const change = done.realised - feeOf(fillValue(c, abs(contracts), price), rate)
  const after: Position = { ...before, size: done.size, cost: done.cost }
  if (!isCross(before)) {
    const released = before.size === 0n ? 0n : (before.margin * done.closed) / abs(before.size)
    after.margin =
      (before.size === 0n ? 0n : before.margin - released) +
      (done.opened > 0n ? openingMargin(c, done.openedValue, before.leverage) : 0n)
  }
  const bears = (priceOf?: PriceOf): boolean => {
    const unit = unitOf(w, before.user, c.account, priceOf, after, change)
    if (unitIsBroke(unit) || (unit.maintenance === 0n && balanceOf(unit) < 0n)) return false
    if (isCross(after) || after.size === 0n) return true
    const { pnl, maintenance } = needsOf(w, after, priceOf)
    return after.margin + pnl > maintenance && cashLeft(unit) >= 0n
  }
  const near = believed(w)(c.id)
  const fair = done.opened === 0n && (contracts > 0n ? price <= near : price >= near)
  if (!bears() || !(fair || bears(believed(w)))) return false
  return done.opened === 0n || bears(atIndex(w))
}

/** Orders that only reduce never exceed the position together. */
function trim(w: World, user: number, c: Contract): void {
  if (user === 0) return
  for (const buys of [true, false]) {
    const orders = w.openOf(user, c.id).filter((order) => order.reduceOnly && order.buy === buys)
    if (orders.length === 0) continue
    const most = closable(w.position(user, c, modeOf(w, orders[0]!, c)), buys)
    // The worst price first, then the newest.
    orders.sort((a, b) => (a.price === b.price ? b.id - a.id : a.price < b.price === buys ? -1 : 1))
    while (orders.reduce((sum, { left }) => sum + left, 0n) > most)
      endOrder(w, orders.shift()!, most === 0n ? 'position_closed' : 'reduce_out')
  }
}

/** Matches an order; what is left of it rests or ends. Answers how many contracts its fills opened. */
export function match(w: World, c: Contract, order: Order, bound: bigint, rank: number, beyond = 0n): bigint {
  const touched = new Set([order.user])
  w.matching = order.id
  const { end, opened } = sweepBook(w, c, order, bound, touched)
  w.matching = 0
  order.left += beyond
  const rests = order.tif === 'gtc' || order.tif === 'poc'
  order.finish =
    end === 'filled'
      ? beyond > 0n
        ? 'reduce_only'
        : 'filled'
      : end === 'stp'
        ? 'stp'
        : rests
          ? 'open'
          : 'ioc'
  if (order.finish === 'open') {
    order.shown = order.iceberg === 0n ? order.left : min(order.iceberg, order.left)
    order.rank = rank
    order.status = 'open'
    w.orders.set(order.id, order)
    w.touched.set(order.id, order)
  } else {
    order.status = order.finish === 'filled' ? 'closed' : 'cancelled'
    leave(w, order)
    w.meet(`ended ${order.finish}`)
  }
  for (const user of touched) trim(w, user, c)
  followBook(w, c)
  return opened
}

/** What an order would open: at once, and if it comes to rest beside those that rest already. */
export interface Opening {
  readonly atOnce: bigint
  readonly beside: bigint
}
export function openingOf(w: World, c: Contract, row: Position, order: Order, n: bigint): Opening {
  if (order.reduceOnly) return { atOnce: 0n, beside: 0n }
  const closes = row.mode === 'single' ? closable(row, order.buy) : 0n
  const atOnce = max(0n, n - closes)
  if (order.tif !== 'gtc' && order.tif !== 'poc') return { atOnce, beside: atOnce }
  const resting = openersOf(w, order.user, c, order.buy).reduce(
    (sum, { id, left }) => sum + (id === order.id ? 0n : left),
    0n,
  )
  return { atOnce, beside: min(n, max(0n, n - (closes - resting))) }
}
/** 2.7: position and opening orders of the side, this one included; what closes the other side first opens nothing. */
export function checkRiskLimit(
  w: World,
  c: Contract,
  row: Position,
  order: Order,
  n: bigint,
  opening: bigint,
): void {
  if (opening === 0n) return
  const { mark } = w.priceOf(c.id)
  const own = row.size !== 0n && row.size > 0n === order.buy
  let value = own ? valueUp(c, abs(row.size), mark) : 0n
  const others = openersOf(w, order.user, c, order.buy).filter(({ id }) => id !== order.id)
  const price = order.market ? mark : order.price
  const waits = order.tif === 'gtc' || order.tif === 'poc'
  const ahead = waits ? others.filter((one) => (order.buy ? one.price >= price : one.price <= price)) : []
  const all = [...ahead, { left: n, price }, ...others.filter((one) => !ahead.includes(one))]
  let reduces = row.mode === 'single' ? closable(row, order.buy) : 0n
  for (const one of all) {
    const free = min(reduces, one.left)
    reduces -= free
    value += valueUp(c, one.left - free, one.price)
  }
  if (value > limitOf(c, row)) refuse('RISK_LIMIT_EXCEEDED')
}
/** 13: post-only and fill-or-kill. */
export function checkAtOnce(w: World, c: Contract, order: Order, bound: bigint, n: bigint): void {
  const facing = w.side(c.id, !order.buy)
  const within = ({ price }: Order): boolean => (order.buy ? price <= bound : price >= bound)
  if (order.tif === 'poc' && facing.some(within)) refuse('ORDER_POC_IMMEDIATE')
  if (order.tif !== 'fok') return
  let left = n
  for (const maker of facing.filter(within)) {
    if (order.stp !== 0 && maker.stp === order.stp) {
      if (order.stpAct === 'co') continue
      break
    }
    left -= maker.left
    if (left <= 0n) return
  }
  refuse('ORDER_FOK')
}
/** 15: after its fills its owner must be above maintenance, and have what positions and orders need. */
export function checkMargin(
  w: World,
  c: Contract,
  order: Order,
  { atOnce, beside }: Opening,
  opened: bigint,
): void {
  if (atOnce === 0n && opened === 0n && (beside === 0n || order.status !== 'open')) return
  const row = w.position(order.user, c, modeOf(w, order, c))
  if (opened > 0n && [marks(w), believed(w), atIndex(w)].some((priceOf) => isBroke(w, row, priceOf)))
    refuse('LIQUIDATE_IMMEDIATELY')
  const { cross, own } = availableOf(w, order.user, c.account)
  if ((isCross(row) ? cross : own) < 0n) refuse('INSUFFICIENT_AVAILABLE')
}
/** Where a market order stops: the slip, and the bankruptcy price of what it reduces. */
export function marketBound(w: World, c: Contract, buy: boolean, slip: bigint, reduced?: Position): bigint {
  const { last, mark } = w.priceOf(c.id)
  const by = floorDiv((last ?? mark) * (buy ? E + slip : E - slip), E)
  const worst = reduced === undefined ? undefined : worstClose(w, reduced)
  return worst === undefined ? by : buy ? min(by, worst) : max(by, worst)
}
