import { internal, look, recordedOrder } from './liquidation.ts'
import { crossCash, entryPrice, fillValue, isCross, shownMargin, totalOf, unitOf } from './margin.ts'
import { book, equityName, feeOf, insuranceName } from './money.ts'
import { E, abs, max, min } from './numbers.ts'
import { followBook, lastPrice } from './prices.ts'
import { endOrder } from './trading.ts'
import { cancelWaiting } from './waiting.ts'
import type { Contract, Position, World } from './world.ts'

/** Section 3 of the specification: the end of a dated contract. */

/** The next moment at which one of them ends. */
export function planEnds(w: World): void {
  const ends = [...w.contracts.values()].filter(
    ({ expires, settling, status }) => expires > 0 && !settling && status !== 'delisted',
  )
  if (ends.length > 0) w.schedule(Math.min(...ends.map(({ expires }) => expires)) * 1e6, 'contract.look', '')
}
/** Those whose time has come are closed from here on. */
export function lookAtEnds(w: World): void {
  for (const c of w.contracts.values())
    if (c.expires > 0 && !c.settling && c.status !== 'delisted' && c.expires * 1e6 <= w.at) {
      c.settling = true
      w.schedule(w.at, 'contract.sweep', c.id)
    }
  planEnds(w)
}
/** Orders end, then every position is closed at the last price, in the order of their ids. */
export function settle(w: World, c: Contract): void {
  cancelWaiting(
    w,
    w.waiting().filter(({ contract }) => contract === c.id),
    'contract_delisted',
  )
  const orders = [...w.orders.values()].filter(({ contract }) => contract === c.id)
  for (const order of orders) endOrder(w, order, 'cancelled')
  if (orders.length > 0) followBook(w, c)
  const price = lastPrice(w, c)
  const rows = [...w.positions.values()].filter(
    ({ contract, size, user }) => contract === c.id && size !== 0n && user !== 0,
  )
  rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const row of rows) settleOne(w, c, row, price)
  look(w)
  c.settling = false
  c.status = 'delisted'
  w.meet('contract ended')
}
function settleOne(w: World, c: Contract, row: Position, price: bigint): void {
  const before = { ...row }
  const margin = shownMargin(w, row)
  const order = recordedOrder(w, row, abs(row.size), price, 'settle')
  const cash = totalOf(w, row.user, c.account)
  const own = { order: order.id, text: order.text, rate: c.settleFee }
  internal(w, c, row, w.position(0, c, 'single'), row.size, price, own, { order: 0, text: order.text })
  const fee = feeOf(fillValue(c, abs(before.size), price), c.settleFee)
  const profit = totalOf(w, row.user, c.account) - cash + fee
  payMissing(w, c, before, profit - fee, order.id)
  w.record('contract_settlement', {
    id: w.next('settlement'),
    user_id: row.user,
    contract: c.id,
    account: c.account,
    leverage: before.leverage,
    size: before.size * E,
    margin,
    entry_price: entryPrice(c, before.size, before.cost),
    settle_price: price,
    profit,
    fee,
    at: w.at,
  })
  w.meet(profit > 0n ? 'settled with a profit' : 'settled with a loss')
}
/** An isolated position loses its margin at most, a cross account what it has: the fund pays the rest, then the operator. */
function payMissing(w: World, c: Contract, row: Position, change: bigint, orderId: number): void {
  const covered = w.held(row.user, c.account).some(isCross)
  const missing = isCross(row)
    ? covered
      ? 0n
      : max(0n, -crossCash(unitOf(w, row.user, c.account)))
    : max(0n, -(row.margin + change))
  if (missing === 0n) return
  const byFund = min(missing, w.balance(insuranceName(c.settle)))
  for (const [from, amount] of [
    [insuranceName(c.settle), byFund],
    [equityName(c.currency), missing - byFund],
  ] as const)
    book(w, c, row.user, from, { type: 'pnl', change: amount, text: `${c.name}:${orderId}`, trade: 0 })
  w.meet('a loss at the end is paid')
}
