import {
  cashName,
  debtName,
  fillValue,
  isCross,
  liquidationPrice,
  openingMargin,
  shownMargin,
  totalOf,
} from './margin.ts'
import { E, abs, ceilDiv, floorDiv, floorTo, max, min } from './numbers.ts'
import { bookShared } from './shared.ts'
import { closersEnd } from './waiting.ts'
import { UNIT, type Account, type Contract, type Mode, type Position, type World } from './world.ts'

/** 2.2, 2.5, 2.9 and 2.10 of the specification: bookings, and what a fill does to a position. */

export const insuranceName = (settle: string): string => `insurance ${settle}`
export const clearingName = (c: Contract): string => `clearing ${c.id}`
export const fundingName = (c: Contract): string => `funding ${c.id}`
export const roundingName = (settle: string): string => `rounding ${settle}`
const feesName = (currency: string): string => `fees ${currency}`
export const equityName = (currency: string): string => `equity ${currency}`
export const spotName = (user: number, currency: string): string => `${user} spot ${currency}`

/** The account as it is, or as it begins. */
export function beginAccount(w: World, user: number, account: string): Account {
  const known = w.account(user, account)
  if (known !== undefined) return known
  const row: Account = { user, account, dual: false, liquidating: 0, dnw: 0n, pnl: 0n, fee: 0n, fund: 0n }
  w.accounts.set(`${user}/${account}`, row)
  return row
}
interface Line {
  readonly type: 'dnw' | 'pnl' | 'fee' | 'fund'
  readonly change: bigint
  readonly text: string
  readonly contract: string
  readonly trade: number
}
/** A line of the account's book. */
export function note(
  w: World,
  user: number,
  account: string,
  { type, change, text, contract, trade }: Line,
): void {
  beginAccount(w, user, account)[type] += change
  w.record('contract_book', {
    id: w.next('book'),
    user_id: user,
    account,
    type,
    change,
    balance: totalOf(w, user, account),
    text,
    contract,
    trade_id: trade,
    at: w.at,
  })
}
/** Money for a user, or from him when below 0: a credit pays the debt first, a loss takes the cash first. */
export function book(w: World, c: Contract, user: number, other: string, line: Omit<Line, 'contract'>): void {
  const { change } = line
  if (change === 0n) return
  if (user === 0) {
    payByFund(w, c, change, other)
    return
  }
  if (w.shared.has(user)) {
    bookShared(w, user, c.account, other, change)
    note(w, user, c.account, { ...line, contract: c.id })
    return
  }
  const [cash, debt] = [cashName(user, c.account), debtName(user, c.account)]
  const onDebt = change > 0n ? min(change, -w.balance(debt)) : min(0n, change + max(0n, w.balance(cash)))
  w.move(other, debt, onDebt)
  w.move(other, cash, change - onDebt)
  if (onDebt < 0n) w.meet('debt')
  note(w, user, c.account, { ...line, contract: c.id })
}
/** The fund's profit or loss; what it lacks the operator pays. */
function payByFund(w: World, c: Contract, change: bigint, other: string): void {
  const fund = insuranceName(c.settle)
  const onFund = max(change, -w.balance(fund))
  w.move(other, fund, onFund)
  if (onFund === change) return
  w.move(other, equityName(c.currency), change - onFund)
  w.meet('equity pays for the fund')
}

/** What is owed by the fundings since the last time. */
export function settleFunding(w: World, c: Contract, row: Position): boolean {
  const { fundingSum } = w.priceOf(c.id)
  if (row.funded === fundingSum) return false
  // Who pays pays whole units up, who gets gets them down: the same for both, seen from the cash.
  const change = floorTo(-row.size * (fundingSum - row.funded), UNIT)
  row.funded = fundingSum
  if (row.size === 0n) return true
  book(w, c, row.user, fundingName(c), { type: 'fund', change, text: c.name, trade: 0 })
  row.fund += change
  if (!isCross(row)) row.margin += change
  w.positions.set(row.id, row)
  if (change !== 0n) w.meet(change > 0n ? 'funding received' : 'funding paid')
  return true
}

/** One row for each change of a position. */
export function recordPosition(w: World, row: Position): void {
  w.positions.set(row.id, row)
  if (row.user === 0) return
  w.record('position_change', {
    id: w.next('change'),
    user_id: row.user,
    contract: row.contract,
    mode: row.mode,
    size: row.size * E,
    cost: row.cost,
    margin: shownMargin(w, row),
    leverage: row.leverage,
    cross_limit: row.crossLimit,
    risk_limit: row.riskLimit,
    liq_price: liquidationPrice(w, row),
    realised_pnl: row.pnl + row.fee + row.fund,
    history_pnl: row.history,
    last_close_pnl: row.lastClose,
    realised_point: 0n,
    history_point: 0n,
    at: w.at,
  })
}

/** Up to the unit, a rebate down. */
export const feeOf = (value: bigint, rate: bigint): bigint => ceilDiv(value * rate, E * UNIT) * UNIT

export interface Applied {
  size: bigint
  cost: bigint
  closed: bigint
  opened: bigint
  openedValue: bigint
  realised: bigint
}
/** What a fill (contracts signed) does to size and cost. */
export function applyFill(
  c: Contract,
  size: bigint,
  cost: bigint,
  contracts: bigint,
  price: bigint,
): Applied {
  const against = size !== 0n && size > 0n !== contracts > 0n
  const closed = against ? min(abs(size), abs(contracts)) : 0n
  const opened = abs(contracts) - closed
  const whole = fillValue(c, abs(contracts), price)
  const closedValue = fillValue(c, closed, price)
  let realised = 0n
  let released = 0n
  if (closed > 0n) {
    const long = size > 0n
    const n = abs(size)
    // Rounded so that the profit is the smaller one; nothing is rounded when all of it goes.
    const down = floorDiv(abs(cost) * closed, n * UNIT) * UNIT
    const up = ceilDiv(abs(cost) * closed, n * UNIT) * UNIT
    const valueIsGain = long === c.linear
    released = closed === n ? abs(cost) : valueIsGain ? up : down
    realised = valueIsGain ? closedValue - released : released - closedValue
  }
  const sign = contracts > 0n ? 1n : -1n
  return {
    size: size + contracts,
    // A closing fill takes from the other sign, an opening one adds to its own.
    cost: cost + sign * released + sign * (whole - closedValue),
    closed,
    opened,
    openedValue: whole - closedValue,
    realised,
  }
}
export interface Fill {
  readonly user: number
  readonly mode: Mode
  readonly contracts: bigint
  readonly price: bigint
  readonly rate: bigint
  readonly order: number
  readonly text: string
  readonly trade: number
}
/** Funding first, then profit and fee, then the row. */
export function fillPosition(
  w: World,
  c: Contract,
  one: Fill,
): { fee: bigint; closed: bigint; opened: bigint } {
  const row = w.position(one.user, c, one.mode)
  settleFunding(w, c, row)
  const held = row.size
  const done = applyFill(c, row.size, row.cost, one.contracts, one.price)
  const value = fillValue(c, abs(one.contracts), one.price)
  const fee = feeOf(value, one.rate)
  const closingFee = done.opened === 0n ? fee : (fee * done.closed) / abs(one.contracts)
  const text = `${c.name}:${one.order}`
  book(w, c, one.user, clearingName(c), { type: 'pnl', change: done.realised, text, trade: one.trade })
  book(w, c, one.user, feesName(c.currency), { type: 'fee', change: -fee, text, trade: one.trade })
  if (done.closed > 0n) {
    row.pnl += done.realised
    row.fee -= closingFee
    row.closed += done.closed
    row.closedValue += value - done.openedValue
    if (done.closed === abs(held)) {
      endPosition(w, c, row, held > 0n, one.text)
      closersEnd(w, row.user, c.id, held > 0n)
    } else row.margin -= (row.margin * done.closed) / abs(held)
  }
  row.size = done.size
  row.cost = done.cost
  if (done.opened > 0n) {
    if (row.opened === 0n) row.openAt = w.at
    if (!isCross(row)) row.margin += openingMargin(c, done.openedValue, row.leverage)
    row.fee -= fee - closingFee
    row.opened += done.opened
    row.openedValue += done.openedValue
  }
  row.maxSize = max(row.maxSize, abs(row.size))
  if (done.closed > 0n && done.opened > 0n) w.meet('turned round')
  recordPosition(w, row)
  return { fee, closed: done.closed, opened: done.opened }
}
/** The size is 0 again. */
function endPosition(w: World, c: Contract, row: Position, long: boolean, text: string): void {
  const pnl = row.pnl + row.fee + row.fund
  const average = (n: bigint, value: bigint): bigint =>
    n === 0n || value === 0n ? 0n : c.linear ? (value * E) / (n * c.q) : (n * E * E) / value
  const entry = average(row.opened, row.openedValue)
  const exit = average(row.closed, row.closedValue)
  if (row.user !== 0)
    w.record('position_close', {
      id: w.next('close'),
      user_id: row.user,
      contract: c.id,
      account: c.account,
      side: long ? 'long' : 'short',
      pnl,
      pnl_pnl: row.pnl,
      pnl_fund: row.fund,
      pnl_fee: row.fee,
      text,
      max_size: row.maxSize * E,
      accum_size: row.closed * E,
      first_open_at: row.openAt,
      long_price: long ? entry : exit,
      short_price: long ? exit : entry,
      at: w.at,
    })
  row.history += pnl
  row.lastClose = pnl
  row.margin = row.pnl = row.fee = row.fund = row.maxSize = 0n
  row.opened = row.openedValue = row.closed = row.closedValue = 0n
  row.openAt = 0
}
