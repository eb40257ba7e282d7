import { ZERO, format, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { liquidationPrice, stepSize } from '../contracts/liquidation.ts'
import { entryPrice } from '../contracts/position.ts'
import { abs, roundDownTo } from '../contracts/terms.ts'
import { audit } from '../audit.ts'
import { nextId } from '../counters.ts'
import { EQUITY, PLATFORM } from '../ledger/accounts.ts'
import { note, type Liquidated, type Step } from '../liquidated.ts'
import type { Ctx, State } from '../state.ts'
import type { Order, OrderRow } from '../tables/exchange/order.ts'
import type { Position } from '../tables/futures/positions.ts'
import { LIQUIDATE, type Liquidate } from '../tables/futures/records.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { deleverage } from './deleverage.ts'
import {
  crossCash,
  equityOf,
  isBroke,
  isCross,
  nearIndex,
  needsOf,
  restMargin,
  shownMargin,
  toldLeverage,
  unitOf,
} from './figures.ts'
import { fundTakes, internalTrade } from './insurance.ts'
import { bookCash, cashName, insuranceOf, isSharedFor, type Settled } from './money.ts'
import { marketBound, matchTaker, takerOf } from './place.ts'
import { finish, ontoTick, platformOrder } from './platform-orders.ts'
import { fillPosition, holdingOf, positionOf, recordPosition } from './positions.ts'
import { prepareQueue } from './ranking.ts'
import { bankruptcyOf } from './rules.ts'
import { countLiquidated } from './stats.ts'
import { isTrading } from './triggers.ts'

/** What a liquidation does with positions: the book first, then the fund, then those who have won by them. */

/** A liquidation, and the text of its orders. */
export interface Reducing extends Liquidated {
  readonly text: string
}
/** The same, with the order that closes a position: lines of the account's book name it. */
interface Closing extends Reducing {
  readonly order_id: number
}
const bookText = ({ name }: Contract, { order_id }: Closing): string => `${name}:${order_id}`

/** Reduces the cross position that needs most, by one step; both sides of a contract against each other first. */
export function reduceWorst(ctx: Ctx, reducing: Reducing, { account }: Settled): void {
  const { state } = ctx
  const rows = crossRows(state, reducing.user_id, account)
  const worst = rows[0]
  if (worst === undefined) return
  const contract = state.world.mustContract(worst.contract)
  const other = rows.find((row) => row.contract === worst.contract && row.id !== worst.id)
  if (other === undefined) closePosition(ctx, contract, worst, reducing)
  else closeHedge(ctx, contract, worst, other, reducing)
}
/** The one that needs most first. */
export function crossRows(state: State, userId: number, account: string): Position[] {
  return [...state.futures.positions.heldBy(userId, account)]
    .filter(isCross)
    .map((row) => ({ row, needs: needsOf(state, row).maintenance }))
    .sort((a, b) => (a.needs === b.needs ? (a.row.id < b.row.id ? -1 : 1) : a.needs > b.needs ? -1 : 1))
    .map(({ row }) => row)
}

/** So many contracts went, and for how much; 0 of them is no step. */
function tell(
  ctx: Ctx,
  reducing: Reducing,
  step: Step,
  contracts: bigint,
  { contract, mode }: Position,
  price: Price,
): void {
  if (contracts === 0n) return
  const detail = { contract, mode, price: format(price) }
  note(ctx, reducing, step, '', amountOfContracts(contracts), detail)
}

/** Both sides of one contract: what stands against each other is closed at the mark, without a fee. */
function closeHedge(ctx: Ctx, contract: Contract, one: Position, other: Position, reducing: Reducing): void {
  const { state } = ctx
  const mark = state.futures.markOf(contract.id)
  const [a, b] = [abs(contractsIn(one.size)), abs(contractsIn(other.size))]
  const contracts = a < b ? a : b
  const order = platformOrder(ctx, contract, one, contracts, mark, `hedge-liq-${reducing.id}`)
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
  tell(ctx, reducing, 'hedge_closed', contracts, one, mark)
}

/** The book first, at no worse than the bankruptcy price; then the fund; then who has earned most by it. */
export function closePosition(ctx: Ctx, contract: Contract, before: Position, reducing: Reducing): void {
  const { state } = ctx
  prepareQueue(state, contract, before.size < 0n)
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
  const margin = shownMargin(state, before)
  const stake = stakeOf(state, before)
  const order = platformOrder(ctx, contract, before, step, ontoTick(contract, bound, side), reducing.text)
  const closing = { ...reducing, order_id: order.id }
  const matched = inBook(ctx, contract, order, bound)
  const filled = contractsIn(matched.filled)
  record(ctx, contract, before, matched, { mark_price: mark, liq_price, margin })
  tell(ctx, reducing, 'liquidated', filled, before, averageOf(matched))
  if (whole) giveSurplus(ctx, contract, before, closing, share(stake, filled, held))
  else if (!isCross(before) && filled > 0n) {
    // A step that closes a part leaves the margin with the rest.
    const after = positionOf(state, before.user_id, contract, before.mode)
    const change = broughtBy(after) - broughtBy(before)
    recordPosition(ctx, contract, { ...after, margin: (before.margin + change) as Amount })
  }
  const rest = positionOf(state, before.user_id, contract, before.mode)
  if (filled < step && isBroke(state, rest))
    closeRest(ctx, contract, rest, step - filled, worst ?? mark, closing)
  const left = positionOf(state, before.user_id, contract, before.mode).size
  countLiquidated(ctx, contract, before.size > 0n, held - abs(contractsIn(left)))
}
/** What is stopped trades nothing: who stands in its book could not be outbid there. */
function inBook(ctx: Ctx, contract: Contract, order: OrderRow, bound: Price): Order {
  if (isTrading(ctx, contract))
    return matchTaker(ctx, takerOf(contract, order, bound), order.id, (end) =>
      end === 'filled' ? 'filled' : 'ioc',
    )
  finish(ctx, order, 0n, order.price)
  return order
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
function giveSurplus(ctx: Ctx, contract: Contract, before: Position, closing: Closing, stake: Amount): void {
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
  pay(ctx, contract, user_id, closing, left < most ? left : most)
}
/** cash -> fund; never more than the account has, where nobody lends it the rest. */
function pay(ctx: Ctx, contract: Contract, user_id: number, closing: Closing, amount: bigint): void {
  const { state } = ctx
  const has = state.ledger.balance(user_id, cashName(state, user_id, contract), contract.currency)
  const change = amount < has || isSharedFor(state, user_id, contract) ? amount : has
  if (change <= 0n) return
  bookCash(ctx, {
    user_id,
    contract,
    type: 'pnl',
    change: -change as Amount,
    text: bookText(contract, closing),
    trade_id: 0,
    other: insuranceOf(contract.settle),
    kind: 'pnl',
    ref: `liquidation:${closing.id}`,
  })
}

/** What the book did not take: the fund takes it over, others are deleveraged, and in the end the operator pays. */
function closeRest(
  ctx: Ctx,
  contract: Contract,
  position: Position,
  contracts: bigint,
  price: Price,
  closing: Closing,
): void {
  const { state } = ctx
  const { user_id, mode } = position
  const { order_id, text } = closing
  const sign = position.size > 0n ? 1n : -1n
  let left = contracts
  const give = (step: Step, by: () => bigint): void => {
    const row = positionOf(state, user_id, contract, mode)
    const held = abs(contractsIn(row.size))
    const stake = stakeOf(state, row)
    const count = by()
    tell(ctx, closing, step, count, row, price)
    if (count > 0n) giveSurplus(ctx, contract, row, closing, share(stake, count, held))
    left -= count
  }
  give('taken_over', () => {
    const taken = fundTakes(state, contract, sign * left, price)
    if (taken === 0n) return taken
    internalTrade(ctx, contract, {
      from: { user_id, mode, order_id },
      to: { user_id: PLATFORM, mode: 'single' },
      contracts: sign * taken,
      price,
      text,
    })
    return taken
  })
  if (left === 0n) return
  const queue = { goesOn: false }
  give('deleveraged', () => {
    const row = positionOf(state, user_id, contract, mode)
    const { taken, goesOn } = deleverage(ctx, contract, row, left, price, { text, order_id })
    queue.goesOn = goesOn
    return taken
  })
  // A queue that was cut short goes on in the next step.
  if (left === 0n || queue.goesOn) return
  takeAtMark(ctx, contract, positionOf(state, user_id, contract, mode), sign * left, closing)
}
/**
 * Nobody can take it at the price that its owner can pay: the fund has it at the mark as far as that is believed, and the
 * operator pays the rest.
 */
function takeAtMark(ctx: Ctx, contract: Contract, row: Position, contracts: bigint, closing: Closing): void {
  const { state } = ctx
  const { user_id, mode } = row
  const prices = nearIndex(state)
  const price = prices(contract.id)
  // An isolated position may lose its margin, and nothing else of the account; what a cross account owes is seen at its end.
  const equity = isCross(row)
    ? ZERO
    : share(equityOf(state, row, prices), abs(contracts), abs(contractsIn(row.size)))
  const missing = equity < 0n ? -equity : 0n
  const { unit } = contract.terms
  const byEquity = roundDownTo(missing + unit - 1n, unit)
  payLoss(ctx, contract, closing, { byFund: 0n, byEquity }, bookText(contract, closing))
  internalTrade(ctx, contract, {
    from: { user_id, mode, order_id: closing.order_id },
    to: { user_id: PLATFORM, mode: 'single' },
    contracts,
    price,
    text: closing.text,
  })
  tell(ctx, closing, 'taken_over', abs(contracts), row, price)
}
/** What an account lost that it does not have. */
export function payLoss(
  ctx: Ctx,
  contract: Contract,
  reducing: Liquidated,
  { byFund, byEquity }: { readonly byFund: bigint; readonly byEquity: bigint },
  text = `liq-${reducing.id}`,
): void {
  const { id, user_id } = reducing
  const { settle, currency } = contract
  if (byEquity > 0n) {
    const amount = format(byEquity as Amount)
    audit(ctx, 'machine', 'futures.loss_paid_by_equity', { user_id, settle, amount })
  }
  for (const [by, change, other] of [
    ['fund', byFund, insuranceOf(settle)],
    ['equity', byEquity, EQUITY],
  ] as const) {
    if (change <= 0n) continue
    bookCash(ctx, {
      user_id,
      contract,
      type: 'pnl',
      change: change as Amount,
      text,
      trade_id: 0,
      other,
      kind: 'pnl',
      ref: `liquidation:${id}`,
    })
    note(ctx, reducing, 'insured', currency, change as Amount, { by })
  }
}

const averageOf = ({ filled, filled_total }: Order): Price =>
  filled === 0n ? (0n as Price) : (((filled_total * 10n ** 18n) / filled) as Price)
function record(
  ctx: Ctx,
  contract: Contract,
  before: Position,
  order: Order,
  shown: Pick<Liquidate, 'mark_price' | 'liq_price' | 'margin'>,
): void {
  const { tx, state, at } = ctx
  const { user_id, size } = before
  tx.append(LIQUIDATE, {
    id: nextId(tx, state.counters, 'contract_liquidate'),
    user_id,
    contract: contract.id,
    account: contract.account,
    leverage: toldLeverage(before, contract),
    size,
    entry_price: entryPrice(contract.terms, holdingOf(before)),
    ...shown,
    order_id: order.id,
    order_size: (size > 0n ? -order.amount : order.amount) as Amount,
    order_price: order.price,
    fill_price: averageOf(order),
    left: (size > 0n ? order.left : -order.left) as Amount,
    at,
  })
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
