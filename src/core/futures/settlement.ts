import { ZERO, format, type Amount, type Price } from '../../money/amount.ts'
import { entryPrice } from '../contracts/position.ts'
import { abs } from '../contracts/terms.ts'
import { audit } from '../audit.ts'
import { nextId } from '../counters.ts'
import { EQUITY, PLATFORM, type AccountKey } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import { SETTLEMENT } from '../tables/futures/records.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { crossCash, isCross, shownMargin, toldLeverage, unitOf } from './figures.ts'
import { settleFunding } from './funding.ts'
import { internalTrade } from './insurance.ts'
import { finalPrice } from './minute.ts'
import { bookCash, insuranceOf, isSharedFor } from './money.ts'
import { recordOrder } from './platform-orders.ts'
import { holdingOf } from './positions.ts'
import { look } from './risk.ts'

/** Positions that one command settles. */
const PORTION = 250

/**
 * A contract has ended: the next positions are closed at its last price, each against the fund, whose own position is
 * nothing again when all of them are. So sizes and clearing add up after every portion. True while some are left.
 */
export function settlePositions(ctx: Ctx, contract: Contract): boolean {
  const { state } = ctx
  const price = finalPrice(ctx, contract)
  // The fund's own may be among them, and one more tells that some are left.
  const rows = state.futures.held
    .after(contract.id, '', PORTION + 2)
    .filter(({ user_id }) => user_id !== PLATFORM)
  for (const row of rows.slice(0, PORTION)) settleOne(ctx, contract, row, price)
  look(ctx)
  return rows.length > PORTION
}

function settleOne(ctx: Ctx, contract: Contract, before: Position, price: Price): void {
  const { state, tx, at } = ctx
  const row = settleFunding(ctx, contract, before)
  const { user_id, mode, size } = row
  const margin = shownMargin(state, row)
  const contracts = contractsIn(size)
  const text = contract.group === 'delivery' ? 'settle' : 'clear'
  const order = recordOrder(ctx, contract, row, abs(contracts), price, text)
  const { realised: profit, fee } = internalTrade(ctx, contract, {
    from: { user_id, mode, order_id: order.id, rate: contract.settleFee },
    to: { user_id: PLATFORM, mode: 'single' },
    contracts,
    price,
    text,
  })
  payMissing(ctx, contract, row, (profit - fee) as Amount, order.id)
  tx.append(SETTLEMENT, {
    id: nextId(tx, state.counters, 'settlement'),
    user_id,
    contract: contract.id,
    account: contract.account,
    leverage: toldLeverage(row, contract),
    size,
    margin,
    entry_price: entryPrice(contract.terms, holdingOf(row)),
    settle_price: price,
    profit,
    fee,
    at,
  })
}
/**
 * The price may have jumped in the last second. An isolated position loses its margin at most, a cross account what it
 * has: the fund pays the rest, then the operator; who has won is paid in full.
 */
function payMissing(ctx: Ctx, contract: Contract, row: Position, change: Amount, orderId: number): void {
  const { state } = ctx
  const { user_id } = row
  const missing = isCross(row)
    ? uncovered(state, user_id, contract)
    : ((-(row.margin + change) > 0n ? -(row.margin + change) : 0n) as Amount)
  if (missing === 0n) return
  const fund = insuranceOf(contract.settle)
  const has = state.ledger.balance(PLATFORM, fund.name, contract.currency)
  const byFund = has < missing ? has : missing
  const pay = (amount: Amount, other: AccountKey): void =>
    bookCash(ctx, {
      user_id,
      contract,
      type: 'pnl',
      change: amount,
      text: `${contract.name}:${orderId}`,
      trade_id: 0,
      other,
      kind: 'insurance',
      ref: `settlement:${contract.name}`,
    })
  pay(byFund, fund)
  if (byFund === missing) return
  const rest = (missing - byFund) as Amount
  audit(ctx, 'machine', 'futures.loss_paid_by_equity', {
    user_id,
    contract: contract.id,
    amount: format(rest),
  })
  pay(rest, EQUITY)
}
/** Without another cross position nothing covers what is owed. */
function uncovered(state: State, userId: number, contract: Contract): Amount {
  // There a loss is lent, and the account's other money pays for it.
  if (isSharedFor(state, userId, contract)) return ZERO
  for (const other of state.futures.positions.heldBy(userId, contract.account))
    if (isCross(other)) return ZERO
  const cash = crossCash(unitOf(state, userId, contract))
  return (cash < 0n ? -cash : ZERO) as Amount
}
