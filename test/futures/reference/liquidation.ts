import {
  atIndex,
  bankruptcyOf,
  believed,
  cashName,
  crossCash,
  entryPrice,
  equityOf,
  fillValue,
  inLiquidation,
  isBroke,
  isCross,
  liquidationPrice,
  needsOf,
  queueOf,
  shownMargin,
  tierOf,
  unitIsBroke,
  unitOf,
  unrealised,
  valueDown,
  valueUp,
  type PriceOf,
} from './margin.ts'
import { book, equityName, fillPosition, insuranceName, recordPosition } from './money.ts'
import { E, abs, ceilTo, floorDiv, floorTo, max, min } from './numbers.ts'
import { followBook } from './prices.ts'
import { endOrder, leave, marketBound, match } from './trading.ts'
import { cancelWaiting } from './waiting.ts'
import { UNIT, type Contract, type Due, type Mode, type Order, type Position, type World } from './world.ts'

/** 2.11 to 2.13 of the specification: liquidation, the fund, deleveraging. */

/** Looks at every unit there is: those at or below maintenance are in liquidation from here on. */
export function look(w: World): void {
  const broke: string[] = []
  for (const row of w.positions.values())
    if (row.user !== 0 && row.size !== 0n && !isCross(row) && row.liquidating === 0 && isBroke(w, row))
      broke.push(row.id)
  for (const [id, row] of w.accounts)
    // A unified account is liquidated as a whole, elsewhere.
    if (row.liquidating === 0 && !w.shared.has(row.user) && unitIsBroke(unitOf(w, row.user, row.account)))
      broke.push(id)
  const place = (unit: string): number => (w.order.includes(unit) ? w.order.indexOf(unit) : w.order.length)
  broke.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
  for (const unit of broke) {
    const id = w.next('liquidation')
    const row = w.positions.get(unit)
    if (row === undefined) w.accounts.get(unit)!.liquidating = id
    else row.liquidating = id
    w.schedule(w.at, 'futures.liquidate', unit, { id })
    w.meet(row === undefined ? 'cross liquidation' : 'isolated liquidation')
    if (row !== undefined && w.shared.has(row.user)) w.meet('isolated liquidation of a unified account')
  }
}

export function liquidate(w: World, { of, input }: Due): void {
  const id = Number(input['id'])
  const row = w.positions.get(of)
  const goesOn = row === undefined ? stepCross(w, of, id) : stepIsolated(w, row, id)
  if (goesOn) w.schedule(w.at, 'futures.liquidate', of, { id })
}
/** All orders of some contracts of a user. */
function cancelOrders(w: World, user: number, contracts: readonly Contract[]): void {
  for (const c of contracts) {
    const orders = w.openOf(user, c.id)
    for (const order of orders) endOrder(w, order, 'liquidated')
    if (orders.length > 0) followBook(w, c)
  }
}
function stepIsolated(w: World, row: Position, id: number): boolean {
  if (row.liquidating !== id) return false
  const c = w.contract(row.contract)
  cancelOrders(w, row.user, [c])
  const waiting = w.waitingOf(row.user, c.account).filter(({ contract }) => contract === c.id)
  cancelWaiting(w, waiting, 'liquidated')
  if (row.size !== 0n && isBroke(w, row)) close(w, c, row, id)
  if (row.size !== 0n && isBroke(w, row)) return true
  row.liquidating = 0
  look(w)
  return false
}
function stepCross(w: World, unit: string, id: number): boolean {
  const account = w.accounts.get(unit)!
  if (account.liquidating !== id) return false
  const { user } = account
  cancelOrders(
    w,
    user,
    [...w.contracts.values()].filter((c) => c.account === account.account),
  )
  cancelWaiting(w, w.waitingOf(user, account.account), 'liquidated')
  const rows = w.held(user, account.account).filter(isCross)
  if (rows.length === 0 || !unitIsBroke(unitOf(w, user, account.account))) {
    if (rows.length === 0) payMissing(w, account.user, account.account, id)
    account.liquidating = 0
    look(w)
    return false
  }
  reduceWorst(w, rows, id)
  return true
}
/** One step with the cross position that needs most; both sides of a contract against each other first. */
export function reduceWorst(w: World, rows: Position[], id: number): void {
  const need = new Map(rows.map((row) => [row.id, needsOf(w, row).maintenance]))
  rows.sort((a, b) => {
    const by = need.get(b.id)! - need.get(a.id)!
    return by === 0n ? (a.id < b.id ? -1 : 1) : by > 0n ? 1 : -1
  })
  const worst = rows[0]!
  const c = w.contract(worst.contract)
  const other = rows.find((row) => row.contract === worst.contract && row.id !== worst.id)
  if (other === undefined) close(w, c, worst, id)
  else closeHedge(w, c, worst, other, id)
}
/** Nothing is left to close, and something is owed: the fund pays, then the operator. */
function payMissing(w: World, user: number, account: string, id: number): void {
  const missing = -crossCash(unitOf(w, user, account))
  if (missing <= 0n) return
  const c = [...w.contracts.values()].find((one) => one.account === account && one.status !== 'delisted')!
  const byFund = min(missing, w.balance(insuranceName(c.settle)))
  book(w, c, user, insuranceName(c.settle), { type: 'pnl', change: byFund, text: `liq-${id}`, trade: 0 })
  book(w, c, user, equityName(c.currency), {
    type: 'pnl',
    change: missing - byFund,
    text: `liq-${id}`,
    trade: 0,
  })
  w.meet(missing > byFund ? 'equity pays what is missing' : 'fund pays what is missing')
}

/** An order of the platform's for a position. */
function platformOrder(w: World, row: Position, n: bigint, price: bigint, text: string): Order {
  return {
    id: w.next('order'),
    user: row.user,
    contract: row.contract,
    buy: row.size < 0n,
    market: false,
    tif: 'ioc',
    text,
    amendText: '-',
    price,
    amount: n,
    left: n,
    filled: 0n,
    filledTotal: 0n,
    fee: 0n,
    iceberg: 0n,
    shown: 0n,
    refreshed: false,
    rank: 0,
    stp: 0,
    stpAct: '-',
    status: 'open',
    finish: 'open',
    created: w.at,
    updated: w.at,
    reduceOnly: true,
    more: { reduce_only: true, is_liq: true },
  }
}
const filledWhole = (w: World, order: Order, price: bigint): void => {
  Object.assign(order, {
    left: 0n,
    filled: order.amount,
    filledTotal: order.amount * price,
    status: 'closed',
    finish: 'filled',
  })
  leave(w, order)
}
/** Of what was closed past the book: a record alone. */
export function recordedOrder(w: World, row: Position, n: bigint, price: bigint, text: string): Order {
  const order: Order = { ...platformOrder(w, row, n, price, text), more: { reduce_only: true } }
  filledWhole(w, order, price)
  return order
}
/** Step 2: both sides of a contract against each other, at the mark. */
function closeHedge(w: World, c: Contract, one: Position, other: Position, id: number): void {
  const { mark } = w.priceOf(c.id)
  const n = min(abs(one.size), abs(other.size))
  const order = platformOrder(w, one, n, mark, `hedge-liq-${id}`)
  for (const row of [one, other])
    fillPosition(w, c, {
      user: row.user,
      mode: row.mode,
      contracts: row.size > 0n ? -n : n,
      price: mark,
      rate: 0n,
      order: order.id,
      text: order.text,
      trade: 0,
    })
  filledWhole(w, order, mark)
  w.meet('hedge closed')
}

/** Step 3: down to the limit of the next lower tier, or all of it. */
function stepSize(c: Contract, n: bigint, mark: bigint): bigint {
  const tier = c.tiers.indexOf(tierOf(c, valueDown(c, n, mark)))
  if (tier === 0) return n
  const { limit } = c.tiers[tier - 1]!
  // The most contracts that are worth no more than the limit.
  const kept = c.linear ? floorDiv(limit * E, c.q * mark) : floorDiv(limit * mark, E * E)
  return n - min(kept, n)
}
/** What a position has at stake beside its profit or loss. */
const stakeOf = (w: World, row: Position): bigint => equityOf(w, row) - needsOf(w, row).pnl
const brought = ({ pnl, fee, fund, history }: Position): bigint => pnl + fee + fund + history

/** What is stopped, or has ended, trades nothing. */
const isTrading = (w: World, c: Contract): boolean =>
  c.status === 'trading' && (c.expires === 0 || c.expires * 1e6 > w.at)
/** Steps 3 to 7. */
function close(w: World, c: Contract, row: Position, id: number): void {
  const before = { ...row }
  const { mark } = w.priceOf(c.id)
  const n = abs(row.size)
  const step = stepSize(c, n, mark)
  const buy = row.size < 0n
  const worst = bankruptcyOf(w, row)
  const near = believed(w)(c.id)
  let bound = worst ?? marketBound(w, c, buy, c.slip)
  // While the mark is not believed nothing is given away beyond what is (decision 0071).
  if (near !== mark) bound = buy ? min(bound, near) : max(bound, near)
  const liqPrice = liquidationPrice(w, row)
  const margin = shownMargin(w, row)
  const stake = stakeOf(w, row)
  const order = platformOrder(w, row, step, buy ? floorTo(bound, c.tick) : ceilTo(bound, c.tick), `liq-${id}`)
  if (isTrading(w, c)) match(w, c, order, bound, 0)
  else endOrder(w, order, 'ioc')
  w.record('contract_liquidate', {
    id: w.next('liquidate'),
    user_id: row.user,
    contract: c.id,
    account: c.account,
    leverage: before.leverage,
    size: before.size * E,
    margin,
    entry_price: entryPrice(c, before.size, before.cost),
    liq_price: liqPrice,
    mark_price: mark,
    order_id: order.id,
    order_size: (buy ? step : -step) * E,
    order_price: order.price,
    fill_price: order.filled === 0n ? 0n : floorDiv(order.filledTotal, order.filled),
    left: (buy ? -order.left : order.left) * E,
    at: w.at,
  })
  w.meet(step === n ? 'liquidated whole' : 'liquidated in part')
  if (order.filled > 0n) w.meet('liquidated in the book')
  if (step === n) giveSurplus(w, c, before, row, order.id, (stake * order.filled) / n)
  else if (!isCross(row) && order.filled > 0n) {
    row.margin = before.margin + brought(row) - brought(before)
    recordPosition(w, row)
    w.meet('partial step keeps its margin')
  }
  if (order.filled < step && isBroke(w, row)) closeRest(w, c, row, step - order.filled, worst ?? mark, order)
}
/** What was at stake for what was closed, less what closing it cost, is the fund's. */
function giveSurplus(
  w: World,
  c: Contract,
  before: Position,
  row: Position,
  orderId: number,
  stake: bigint,
): void {
  // What is left of a unified account pays its debts.
  if (w.shared.has(row.user) && isCross(before)) return
  const unit = unitOf(w, row.user, c.account)
  const surplus = floorTo(stake + brought(row) - brought(before), UNIT)
  const most = min(isCross(before) ? crossCash(unit) : unit.total, w.balance(cashName(row.user, c.account)))
  // What a unified account lacks of it is lent.
  const change = w.shared.has(row.user) ? surplus : min(surplus, most)
  if (change <= 0n) return
  book(w, c, row.user, insuranceName(c.settle), {
    type: 'pnl',
    change: -change,
    text: `${c.name}:${orderId}`,
    trade: 0,
  })
  w.meet('surplus to the fund')
}
/** Step 6: the fund, then deleveraging, then the operator. */
function closeRest(w: World, c: Contract, row: Position, n: bigint, price: bigint, order: Order): void {
  const sign = row.size > 0n ? 1n : -1n
  let left = n
  const give = (by: () => bigint): void => {
    const before = { ...row }
    const stake = stakeOf(w, row)
    const taken = by()
    if (taken > 0n) giveSurplus(w, c, before, row, order.id, (stake * taken) / abs(before.size))
    left -= taken
  }
  give(() => {
    const taken = fundTakes(w, c, sign, left, price)
    if (taken > 0n) takeOver(w, c, row, sign * taken, price, order)
    return taken
  })
  if (left === 0n) return
  const queue = { cut: false }
  give(() => {
    const found = deleverage(w, c, row, left, price, order)
    queue.cut = found.cut
    return found.taken
  })
  if (left === 0n || queue.cut) return
  // Nobody takes it at that price: the fund has it at what is believed, and the operator pays the rest.
  const near = believed(w)
  const equity = isCross(row) ? 0n : (equityOf(w, row, near) * left) / abs(row.size)
  if (equity < 0n)
    book(w, c, row.user, equityName(c.currency), {
      type: 'pnl',
      change: ceilTo(-equity, UNIT),
      text: `${c.name}:${order.id}`,
      trade: 0,
    })
  takeOver(w, c, row, sign * left, near(c.id), order)
  w.meet('taken at the mark')
}
function takeOver(
  w: World,
  c: Contract,
  row: Position,
  contracts: bigint,
  price: bigint,
  { id, text }: Order,
): void {
  internal(w, c, row, w.position(0, c, 'single'), contracts, price, { order: id, text }, { order: 0, text })
  w.meet('takeover')
}
/** A side of a trade past the book; without a rate it pays no fee. */
interface Side {
  readonly order: number
  readonly text: string
  readonly rate?: bigint
}
export function internal(
  w: World,
  c: Contract,
  from: Position,
  to: Position,
  contracts: bigint,
  price: bigint,
  own: Side,
  other: Side,
): void {
  const trade = w.next('trade')
  const fill = (row: { user: number; mode: Mode }, n: bigint, { order, text, rate = 0n }: Side): void => {
    fillPosition(w, c, {
      user: row.user,
      mode: row.mode,
      contracts: n,
      price,
      rate,
      order,
      text,
      trade,
    })
  }
  fill(from, -contracts, own)
  fill(to, contracts, other)
  w.record('trade', {
    id: trade,
    pair: c.id,
    sequence: 0,
    side: contracts > 0n ? 'sell' : 'buy',
    price,
    amount: abs(contracts) * E,
    at: w.at,
  })
}

/** What the fund has, with what its positions have won or lost. */
function fundWorth(w: World, settle: string, priceOf: PriceOf): bigint {
  let worth = w.balance(insuranceName(settle)) + w.fundElsewhere
  for (const row of w.positions.values())
    if (row.user === 0 && row.size !== 0n && w.contract(row.contract).settle === settle)
      worth += needsOf(w, row, priceOf).pnl
  return worth
}
/** As many as leave it at or above 0, within the largest limit of the contract. */
function fundTakes(w: World, c: Contract, sign: bigint, wanted: bigint, price: bigint): bigint {
  const near = believed(w)
  const worth = fundWorth(w, c.settle, near)
  const own = w.position(0, c, 'single').size
  // Beyond so many each contract loses more than there is, however it is rounded: they need not be tried one by one.
  const lost = c.linear ? (c.q * sign * (price - near(c.id))) / E : 0n
  const first = lost > 0n ? min(wanted, max(0n, worth + 2n * UNIT) / lost + 2n) : wanted
  for (let n = first; n > 0n; n--) {
    const won = unrealised(c, sign * n, sign * fillValue(c, n, price), near(c.id))
    if (worth + won >= 0n && valueUp(c, abs(own + sign * n), near(c.id)) <= c.tiers.at(-1)!.limit) return n
  }
  w.meet('the fund can not take it')
  return 0n
}
/** At the price that is near the mark and the index, if anybody stands there. */
function unwindPrice(w: World, c: Contract, fund: Position): { price: bigint; met: boolean } {
  const { mark } = w.priceOf(c.id)
  const index = atIndex(w)(c.id)
  const buy = fund.size < 0n
  const price = buy
    ? floorTo(min(mark + mark / 200n, index + index / 200n), c.tick)
    : ceilTo(max(mark - mark / 200n, index - index / 200n), c.tick)
  const [best] = w.side(c.id, !buy)
  return {
    price,
    met: isTrading(w, c) && best !== undefined && (buy ? best.price <= price : best.price >= price),
  }
}
/** After each command: what the fund holds gets an order in a second, where that would meet anybody, or the fund is at its end. */
export function wakeFund(w: World): void {
  const funds = [...w.positions.values()].filter(
    ({ user, size, liquidating }) => user === 0 && size !== 0n && liquidating === 0,
  )
  for (const fund of funds.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const c = w.contract(fund.contract)
    if (!unwindPrice(w, c, fund).met && fundWorth(w, c.settle, believed(w)) > 0n) continue
    fund.liquidating = 1
    w.schedule(w.at + 1e6, 'futures.unwind', c.id)
  }
}
/** Each second while the fund holds something that it can sell or buy back: a tenth of it near the mark and the index. */
export function unwind(w: World, c: Contract): void {
  const fund = w.position(0, c, 'single')
  fund.liquidating = 0
  if (fund.size === 0n) return
  const n = abs(fund.size)
  const near = believed(w)
  const { price, met } = unwindPrice(w, c, fund)
  if (fundWorth(w, c.settle, near) <= 0n) {
    deleverage(w, c, fund, n, near(c.id), { id: 0, text: 'insurance' })
    w.meet('the fund is deleveraged')
  } else if (met) {
    const order = platformOrder(w, fund, max(1n, n / 10n), price, 'insurance')
    match(w, c, order, price, 0)
    if (order.filled > 0n) w.meet('unwound')
  } else w.meet('nobody to unwind with')
}

/** Counterparties of one step. */
const AT_ONCE = 20
function deleverage(
  w: World,
  c: Contract,
  row: Position,
  n: bigint,
  price: bigint,
  by: { readonly id: number; readonly text: string },
): { taken: bigint; cut: boolean } {
  let left = n
  let parties = 0
  let cancelled = false
  const sign = row.size > 0n ? 1n : -1n
  for (const one of queueOf(w, c, row.size < 0n)) {
    if (left === 0n || parties === AT_ONCE) break
    if (one.id === row.id || !bears(w, one, price)) continue
    parties++
    const count = min(abs(one.size), left)
    for (const order of w.openOf(one.user, c.id)) {
      endOrder(w, order, 'auto_deleveraged')
      cancelled = true
    }
    const before = { ...one }
    const order = recordedOrder(w, one, count, price, 'auto_deleveraging')
    internal(
      w,
      c,
      row,
      one,
      sign * count,
      price,
      { order: by.id, text: by.text },
      { order: order.id, text: order.text },
    )
    w.record('auto_deleverage', {
      id: w.next('adl'),
      user_id: one.user,
      contract: c.id,
      account: c.account,
      order_id: order.id,
      leverage: before.leverage,
      cross_limit: before.crossLimit,
      entry_price: entryPrice(c, before.size, before.cost),
      fill_price: price,
      trade_size: sign * count * E,
      position_size: w.position(one.user, c, one.mode).size * E,
      at: w.at,
    })
    w.meet('deleveraged')
    left -= count
  }
  if (cancelled) followBook(w, c)
  return { taken: n - left, cut: left > 0n && parties === AT_ONCE }
}
/** Nobody is taken beyond his own bankruptcy price. */
function bears(w: World, row: Position, price: bigint): boolean {
  if (equityOf(w, row) < 0n) return false
  const worst = bankruptcyOf(w, row)
  return worst === undefined || (row.size > 0n ? price >= worst : price <= worst)
}
export const adlRanking = (w: World, row: Position): number => {
  if (row.size === 0n || inLiquidation(w, row)) return 6
  const queue = queueOf(w, w.contract(row.contract), row.size > 0n)
  return Math.floor((queue.findIndex(({ id }) => id === row.id) * 5) / queue.length) + 1
}
