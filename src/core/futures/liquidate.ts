import { ZERO, format, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { liquidationPrice, stepSize } from '../contracts/liquidation.ts'
import { entryPrice } from '../contracts/position.ts'
import { abs, roundDownTo } from '../contracts/terms.ts'
import { audit } from '../audit.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import { EQUITY, PLATFORM } from '../ledger/accounts.ts'
import { cancelOpen } from '../spot/cancel.ts'
import { cancelPovOrder } from '../spot/pov.ts'
import type { Ctx, State } from '../state.ts'
import type { Order } from '../tables/exchange/order.ts'
import type { Position } from '../tables/futures/positions.ts'
import { LIQUIDATE } from '../tables/futures/records.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { deleverage } from './deleverage.ts'
import {
  crossCash,
  equityOf,
  isBroke,
  isCross,
  isCrossBroke,
  nearIndex,
  needsOf,
  restMargin,
  unitOf,
} from './figures.ts'
import { followBooks } from './follow.ts'
import { fundTakes, internalTrade, scheduleUnwind } from './insurance.ts'
import {
  bookCash,
  cashName,
  changeAccount,
  insuranceOf,
  isSharedFor,
  isUnifiedFor,
  settledOf,
  type Settled,
} from './money.ts'
import { marketBound, matchTaker, takerOf } from './place.ts'
import { finish, ontoTick, platformOrder } from './platform-orders.ts'
import { fillPosition, holdingOf, positionOf, putPosition } from './positions.ts'
import { countLiquidated } from './stats.ts'
import { bankruptcyOf } from './rules.ts'
import { look } from './risk.ts'
import { takeOff } from './venue.ts'
import { cancelWaiting, waitingOf } from './waiting.ts'

/** Orders that one step ends. */
const PORTION = 100

export interface LiquidateInput {
  readonly user_id: number
  /** The contract of an isolated position, or the account (group/settle) of cross ones. */
  readonly contract: string
  readonly mode: string
  readonly id: number
}
/** Due: one bounded step of the liquidation of a unit. */
export function liquidate(ctx: Ctx, input: LiquidateInput): null {
  return input.mode === 'cross' ? stepCross(ctx, input) : stepIsolated(ctx, input)
}
const again = (ctx: Ctx, { user_id, contract, mode, id }: LiquidateInput): null => {
  schedule(ctx, ctx.at, 'futures.liquidate', { user_id, contract, mode, id })
  return null
}

function stepIsolated(ctx: Ctx, input: LiquidateInput): null {
  const { state } = ctx
  const contract = state.world.mustContract(input.contract)
  const row = state.futures.positions.get(input.user_id, contract.id, input.mode as Position['mode'])
  if (row?.liquidating !== input.id) return null
  if (cancelSome(ctx, input.user_id, [contract.id])) return again(ctx, input)
  if (cancelWaitingOf(ctx, input.user_id, contract.account, contract.id)) return again(ctx, input)
  if (row.size === 0n || !isBroke(state, row)) return endIsolated(ctx, row)
  close(ctx, contract, row, input.id, `liq-${input.id}`)
  const after = positionOf(state, input.user_id, contract, row.mode)
  if (after.size === 0n || !isBroke(state, after)) return endIsolated(ctx, after)
  return again(ctx, input)
}
function endIsolated(ctx: Ctx, row: Position): null {
  putPosition(ctx, { ...row, liquidating: 0 })
  look(ctx)
  return null
}

function stepCross(ctx: Ctx, input: LiquidateInput): null {
  const { state } = ctx
  const settled = settledOf(input.contract)
  if (state.futures.accounts.get(input.user_id, settled.account)?.liquidating !== input.id) return null
  const unified = isUnifiedFor(state, input.user_id, settled)
  if (cancelContracts(ctx, input.user_id, settled)) return again(ctx, input)
  if (unified && cancelBuys(ctx, input.user_id, settled)) return again(ctx, input)
  const rows = crossRows(state, input.user_id, settled.account)
  if (rows.length === 0 || !isCrossBroke(unitOf(state, input.user_id, settled)))
    return endCross(ctx, input, settled)
  reduceWorst(ctx, input.user_id, settled, input.id, unified ? 'scm_liquidate' : `liq-${input.id}`)
  return again(ctx, input)
}
/** A portion of all contract orders of an account, and of those that wait; true while there may be more. */
export const cancelContracts = (ctx: Ctx, userId: number, { account }: Settled): boolean =>
  cancelSome(
    ctx,
    userId,
    ctx.state.futures.openPairs(userId).filter((id) => id.startsWith(`${account}/`)),
  ) || cancelWaitingOf(ctx, userId, account)
/** Spot orders that hold the money which positions stand on; true while there may be more. */
function cancelBuys(ctx: Ctx, user_id: number, { currency }: Settled): boolean {
  const { spot, world } = ctx.state
  const paid = ({ side, pair }: { readonly side: string; readonly pair: string }): boolean =>
    (side === 'buy' ? world.market(pair).quote : world.market(pair).base) === currency
  for (const { id } of spot.povOrders.openOf(user_id).filter(paid)) cancelPovOrder(ctx, { user_id, id })
  const held = spot.openOrders(user_id).filter((order) => order.account !== 'margin' && paid(order))
  cancelOpen(ctx, held.slice(0, PORTION), 'liquidate_cancelled')
  return held.length > PORTION
}
/**
 * Reduces the cross position that needs most, by one step; both sides of a contract against each other first. Tells
 * which contract, undefined when there is nothing to reduce.
 */
export function reduceWorst(
  ctx: Ctx,
  userId: number,
  { account }: Settled,
  id: number,
  text: string,
): string | undefined {
  const { state } = ctx
  const rows = crossRows(state, userId, account)
  const worst = rows[0]
  if (worst === undefined) return undefined
  const contract = state.world.mustContract(worst.contract)
  const other = rows.find((row) => row.contract === worst.contract && row.id !== worst.id)
  if (other === undefined) close(ctx, contract, worst, id, text)
  else closeHedge(ctx, contract, worst, other, id)
  return contract.id
}
/** The one that needs most first. */
function crossRows(state: State, userId: number, account: string): Position[] {
  return [...state.futures.positions.heldBy(userId, account)]
    .filter(isCross)
    .map((row) => ({ row, needs: needsOf(state, row).maintenance }))
    .sort((a, b) => (a.needs === b.needs ? (a.row.id < b.row.id ? -1 : 1) : a.needs > b.needs ? -1 : 1))
    .map(({ row }) => row)
}
/** What is left unpaid when nothing is left to close: the fund pays, then the operator. */
function endCross(ctx: Ctx, input: LiquidateInput, settled: Settled): null {
  const { state } = ctx
  const { user_id } = input
  const missing = -crossCash(unitOf(state, user_id, settled))
  if (missing > 0n && crossRows(state, user_id, settled.account).length === 0) {
    const { currency, settle } = settled
    const fund = insuranceOf(settle)
    const has = state.ledger.balance(PLATFORM, fund.name, currency)
    const contract = anyContract(state, settled)
    const pay = (amount: bigint, other: typeof fund): void => {
      if (amount > 0n)
        bookCash(ctx, {
          user_id,
          contract,
          type: 'pnl',
          change: amount as Amount,
          text: `liq-${input.id}`,
          trade_id: 0,
          other,
          kind: 'pnl',
          ref: `liquidation:${input.id}`,
        })
    }
    pay(has < missing ? has : missing, fund)
    payByEquity(ctx, missing - (has < missing ? has : missing), settled, user_id, (amount) =>
      pay(amount, EQUITY),
    )
  }
  changeAccount(ctx, user_id, settled.account, { liquidating: 0 })
  look(ctx)
  return null
}
const anyContract = (state: State, { account }: Settled): Contract =>
  state.world.allContracts.find((contract) => contract.account === account)!
function payByEquity(
  ctx: Ctx,
  amount: bigint,
  { settle }: Settled,
  user_id: number,
  pay: (amount: bigint) => void,
): void {
  if (amount <= 0n) return
  audit(ctx, 'machine', 'futures.loss_paid_by_equity', { user_id, settle, amount: format(amount as Amount) })
  pay(amount)
}

/** A portion of the unit's orders; true while there may be more. */
function cancelSome(ctx: Ctx, userId: number, contracts: readonly string[]): boolean {
  const orders = contracts.flatMap((id) => ctx.state.futures.openOrders(userId, id))
  const ended = orders.slice(0, PORTION)
  for (const order of ended) takeOff(ctx, order, 'liquidated')
  followBooks(
    ctx,
    ended.map(({ pair }) => pair),
  )
  return orders.length > PORTION
}
/** The same of what waits for a price: in a contract, or all of a cross account. */
function cancelWaitingOf(ctx: Ctx, userId: number, account: string, contract?: string): boolean {
  const waiting = waitingOf(ctx.state, userId, account).filter(
    ({ order }) => contract === undefined || order.contract === contract,
  )
  cancelWaiting(ctx, waiting.slice(0, PORTION), 'liquidated')
  return waiting.length > PORTION
}

/** Both sides of one contract: what stands against each other is closed at the mark, without a fee. */
function closeHedge(ctx: Ctx, contract: Contract, one: Position, other: Position, id: number): void {
  const { state } = ctx
  const mark = state.futures.markOf(contract.id)
  const [a, b] = [abs(contractsIn(one.size)), abs(contractsIn(other.size))]
  const contracts = a < b ? a : b
  const order = platformOrder(ctx, contract, one, contracts, mark, `hedge-liq-${id}`)
  for (const row of [one, other])
    fillPosition(ctx, contract, {
      user_id: row.user_id,
      mode: row.mode,
      contracts: row.size > 0n ? -contracts : contracts,
      price: mark,
      rate: 0n as Rate,
      order_id: order.id,
      order_text: order.text,
      trade_id: 0,
    })
  finish(ctx, order, contracts, mark)
}

/** The book first, at no worse than the bankruptcy price; then the fund; then who has earned most by it. */
function close(ctx: Ctx, contract: Contract, before: Position, id: number, text: string): void {
  const { state } = ctx
  const { terms } = contract
  const mark = state.futures.markOf(contract.id)
  const held = abs(contractsIn(before.size))
  const step = stepSize(terms, holdingOf(before), mark)
  const whole = step === held
  const side = before.size > 0n ? 'sell' : 'buy'
  const slip = marketBound(state, contract, side, contract.slip, undefined)
  const worst = bankruptcyOf(state, contract, before)
  const bound = believedBound(worst ?? slip, side, mark, nearIndex(state)(contract.id))
  const liq_price = liquidationPrice(terms, holdingOf(before), restMargin(state, before))
  const stake = stakeOf(state, before)
  const order = platformOrder(ctx, contract, before, step, ontoTick(contract, bound, side), text)
  const matched = matchTaker(ctx, takerOf(contract, order, bound), order.id, (end) =>
    end === 'filled' ? 'filled' : 'ioc',
  )
  const filled = contractsIn(matched.filled)
  note(ctx, contract, before, matched, mark, liq_price)
  if (whole) giveSurplus(ctx, contract, before, id, share(stake, filled, held))
  else if (!isCross(before) && filled > 0n) {
    // A step that closes a part leaves the margin with the rest.
    const after = positionOf(state, before.user_id, contract, before.mode)
    const change = broughtBy(after) - broughtBy(before)
    putPosition(ctx, { ...after, margin: (before.margin + change) as Amount })
  }
  const rest = positionOf(state, before.user_id, contract, before.mode)
  if (filled < step && isBroke(state, rest))
    closeRest(ctx, contract, rest, step - filled, worst ?? mark, id, text)
  const left = positionOf(state, before.user_id, contract, before.mode).size
  countLiquidated(ctx, contract, before.size > 0n, held - abs(contractsIn(left)))
}
/**
 * A mark that the index does not bear out may have been painted to bring this about: then nothing is sold in the book for
 * less than what is believed, or bought for more, so that whoever painted it does not get the margin. The rest goes on to
 * the fund as ever.
 */
function believedBound(bound: Price, side: 'buy' | 'sell', mark: Price, near: Price): Price {
  if (mark === near) return bound
  return (side === 'sell' ? larger(bound, near) : smaller(bound, near)) as Price
}
const share = (of: Amount, part: bigint, whole: bigint): Amount => ((of * part) / whole) as Amount
/** All that a position and those before it have brought or cost: what it alone changes of its account's cash. */
const broughtBy = ({ pnl, fee, fund, history_pnl }: Position): bigint => pnl + fee + fund + history_pnl

/** What a position has at stake beside its profit or loss: its margin, or its part of what a cross account has. */
const stakeOf = (state: State, position: Position): Amount =>
  (equityOf(state, position) - needsOf(state, position).pnl) as Amount

/** Of what was at stake for the contracts that were closed, the fund gets all that closing them did not use up. */
function giveSurplus(ctx: Ctx, contract: Contract, before: Position, id: number, stake: Amount): void {
  const { state } = ctx
  const { user_id, mode } = before
  const shared = isSharedFor(state, user_id, contract)
  // A unified account is reduced until it is well again, and debts beside its positions are paid with what is left.
  if (shared && isCross(before)) return
  const unit = unitOf(state, user_id, contract)
  // Not by the account's cash: its other side may have been deleveraged against this one, and keeps what it has won.
  const change = broughtBy(positionOf(state, user_id, contract, mode)) - broughtBy(before)
  const left = roundDownTo(stake + change, contract.terms.unit)
  // What other positions have of their own is not touched.
  const most = shared ? left : isCross(before) ? crossCash(unit) : unit.total
  pay(ctx, contract, user_id, id, left < most ? left : most)
}
/** cash -> fund; never more than the account has, where nobody lends it the rest. */
function pay(ctx: Ctx, contract: Contract, user_id: number, id: number, amount: bigint): void {
  const { state } = ctx
  const has = state.ledger.balance(user_id, cashName(state, user_id, contract), contract.currency)
  const change = amount < has || isSharedFor(state, user_id, contract) ? amount : has
  if (change <= 0n) return
  bookCash(ctx, {
    user_id,
    contract,
    type: 'pnl',
    change: -change as Amount,
    text: `liq-${id}`,
    trade_id: 0,
    other: insuranceOf(contract.settle),
    kind: 'pnl',
    ref: `liquidation:${id}`,
  })
}

/** What the book did not take: the fund takes it over, others are deleveraged, and in the end the operator pays. */
function closeRest(
  ctx: Ctx,
  contract: Contract,
  position: Position,
  contracts: bigint,
  price: Price,
  id: number,
  text: string,
): void {
  const { state } = ctx
  const { user_id, mode } = position
  const sign = position.size > 0n ? 1n : -1n
  let left = contracts
  const give = (by: () => bigint): void => {
    const row = positionOf(state, user_id, contract, mode)
    const held = abs(contractsIn(row.size))
    const stake = stakeOf(state, row)
    const count = by()
    if (count > 0n) giveSurplus(ctx, contract, row, id, share(stake, count, held))
    left -= count
  }
  give(() => {
    const taken = fundTakes(state, contract, sign * left, price)
    if (taken === 0n) return taken
    internalTrade(ctx, contract, {
      from: { user_id, mode },
      to: { user_id: PLATFORM, mode: 'single' },
      contracts: sign * taken,
      price,
      text,
    })
    scheduleUnwind(ctx, contract)
    return taken
  })
  if (left === 0n) return
  const queue = { goesOn: false }
  give(() => {
    const row = positionOf(state, user_id, contract, mode)
    const { taken, goesOn } = deleverage(ctx, contract, row, left, price, text)
    queue.goesOn = goesOn
    return taken
  })
  // A queue that was cut short goes on in the next step.
  if (left === 0n || queue.goesOn) return
  takeAtMark(ctx, contract, user_id, mode, sign * left, id, text)
}
/**
 * Nobody can take it at the price that its owner can pay: the fund has it at the mark as far as that is believed, and the
 * operator pays the rest.
 */
function takeAtMark(
  ctx: Ctx,
  contract: Contract,
  user_id: number,
  mode: Position['mode'],
  contracts: bigint,
  id: number,
  text: string,
): void {
  const { state } = ctx
  const row = positionOf(state, user_id, contract, mode)
  const prices = nearIndex(state)
  // An isolated position may lose its margin, and nothing else of the account; what a cross account owes is seen at its end.
  const equity = isCross(row)
    ? ZERO
    : share(equityOf(state, row, prices), abs(contracts), abs(contractsIn(row.size)))
  const missing = equity < 0n ? -equity : 0n
  payByEquity(
    ctx,
    roundDownTo(missing + contract.terms.unit - 1n, contract.terms.unit),
    contract,
    user_id,
    (amount) =>
      bookCash(ctx, {
        user_id,
        contract,
        type: 'pnl',
        change: amount as Amount,
        text: `liq-${id}`,
        trade_id: 0,
        other: EQUITY,
        kind: 'pnl',
        ref: `liquidation:${id}`,
      }),
  )
  internalTrade(ctx, contract, {
    from: { user_id, mode },
    to: { user_id: PLATFORM, mode: 'single' },
    contracts,
    price: prices(contract.id),
    text,
  })
  scheduleUnwind(ctx, contract)
}

function note(
  ctx: Ctx,
  contract: Contract,
  before: Position,
  order: Order,
  mark_price: Price,
  liq_price: Price,
): void {
  const { tx, state, at } = ctx
  const { user_id, leverage, size, margin } = before
  tx.append(LIQUIDATE, {
    id: nextId(tx, state.counters, 'contract_liquidate'),
    user_id,
    contract: contract.id,
    account: contract.account,
    leverage,
    size,
    margin,
    entry_price: entryPrice(contract.terms, holdingOf(before)),
    liq_price,
    mark_price,
    order_id: order.id,
    order_size: (size > 0n ? -order.amount : order.amount) as Amount,
    order_price: order.price,
    fill_price:
      order.filled === 0n ? (0n as Price) : (((order.filled_total * 10n ** 18n) / order.filled) as Price),
    left: (size > 0n ? order.left : -order.left) as Amount,
    at,
  })
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
