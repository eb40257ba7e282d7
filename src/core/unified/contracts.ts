import { ZERO, add, max, min, negate, subtract, type Amount } from '../../money/amount.ts'
import { ownFree } from '../contract-margin/available.ts'
import {
  UNIFIED_CONTRACTS,
  debtOf,
  isSharedFor,
  isUnifiedFor,
  tradesContracts,
} from '../contract-margin/cash.ts'
import { isDoubtful, nearIndex, worsePrices } from '../contract-margin/believed.ts'
import { isCross, needsOf, unitOf, type Prices, type Unit } from '../contract-margin/needs.ts'
import { orderMargins, reducesOnly } from '../contract-margin/orders.ts'
import { valueUp } from '../contracts/terms.ts'
import { spotOf } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { ContractRisk, RiskAsset, RiskUnit } from '../risk/risk.ts'
import type { Ctx, State } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import { UNIFIED, type LoanAccounts } from '../tables/unified/loan-accounts.ts'
import { contractsIn } from '../tables/world/contracts.ts'
import type { Trust } from './trust.ts'

/** Contracts of a unified account, as the risk engine sees them. */

/** What they are settled in. */
export const CASH = UNIFIED_CONTRACTS.currency

/** As if it were so: a position in the place of the one of its id, money that came or went, other prices. */
export interface Supposed {
  readonly instead?: Position | undefined
  readonly cash?: bigint | undefined
  readonly prices?: Prices | undefined
}
export interface UnifiedContracts {
  readonly risk: ContractRisk
  readonly isolated: Amount
  /** What losses took that nobody lent. */
  readonly owed: Amount
  readonly cash: bigint
  /** A currency that positions follow and that has no price to rely on. */
  readonly unpriced: string | undefined
}

/** Whether an account may lose what it has: it owes something in a scope, or has contracts beside it. */
export const isEngaged = (state: State, userId: number, scope: string): boolean =>
  state.margin.owes(userId, scope) || (scope === UNIFIED.scope && hasContracts(state, userId))
/** Whether contracts are among what the currencies of a unified account carry together. */
export const hasContracts = (state: State, userId: number): boolean =>
  isSharedFor(state, userId, UNIFIED_CONTRACTS) &&
  (tradesContracts(state, userId) || debtOf(state, userId, UNIFIED_CONTRACTS) < 0n)

/**
 * What contracts leave of the free money of their own currency: below zero where they need more. Undefined: they have no
 * say. In single_currency mode they stand on nothing else; elsewhere only the margins of isolated positions are set apart.
 */
export function cashSpared(state: State, userId: number): Amount | undefined {
  if (!isUnifiedFor(state, userId, UNIFIED_CONTRACTS) || !tradesContracts(state, userId)) return undefined
  if (state.margin.modeOf(userId) === 'single_currency') return ownFree(state, userId, UNIFIED_CONTRACTS)
  const { pledged } = unitOf(state, userId, UNIFIED_CONTRACTS)
  return pledged === 0n ? undefined : subtract(state.ledger.balance(userId, UNIFIED.free, CASH), pledged)
}
/** What repayments may use: the margins of isolated positions are not lent, so no debt is paid with them. */
export function freeToRepay(
  state: State,
  userId: number,
  { free, pair }: LoanAccounts,
  currency: string,
): Amount {
  const balance = state.ledger.balance(userId, free, currency)
  const spare = pair === '' && currency === CASH ? cashSpared(state, userId) : undefined
  return spare === undefined ? balance : max(ZERO, min(balance, spare))
}

/** Undefined where it has none. */
export function contractsOf(
  state: State,
  userId: number,
  trust: Trust,
  supposed: Supposed = {},
): UnifiedContracts | undefined {
  if (!isSharedFor(state, userId, UNIFIED_CONTRACTS)) return undefined
  if (supposed.instead === undefined && !hasContracts(state, userId)) return undefined
  const { account } = UNIFIED_CONTRACTS
  const { instead, cash = 0n } = supposed
  const count = (prices?: Prices): Unit => unitOf(state, userId, UNIFIED_CONTRACTS, instead, 0n, prices)
  let unit = count(supposed.prices)
  // Who takes more risk, or money out, is measured by the mark or by what is believed of it, whichever is worse.
  if (trust === 'firm' && supposed.prices === undefined && isDoubtful(state, userId, account)) {
    const near = count(nearIndex(state))
    const { pnl } = count(worsePrices(state, userId, account, instead))
    unit = {
      ...unit,
      pnl,
      initial: larger(unit.initial, near.initial),
      maintenance: larger(unit.maintenance, near.maintenance),
    }
  }
  const portfolio = state.margin.modeOf(userId) === 'portfolio'
  return {
    risk: {
      pnl: unit.pnl,
      initial: portfolio ? ZERO : unit.initial,
      maintenance: portfolio ? ZERO : unit.maintenance,
      orders: portfolio ? ZERO : orderMargins(state, userId, account).all,
      positions: () => positionsValue(state, userId),
      value: () => valueOf(state, userId),
      units: portfolio ? unitsOf(state, userId, instead) : [],
    },
    isolated: unit.isolated,
    owed: negate(debtOf(state, userId, UNIFIED_CONTRACTS)),
    cash,
    unpriced: trust === 'firm' ? unpricedOf(state, userId) : undefined,
  }
}
const larger = (a: Amount, b: Amount): Amount => (a > b ? a : b)

/** What is owed without a loan needs margin like one; money that is not there would be lent. */
export function withContracts(asset: RiskAsset, { risk, isolated, owed, cash }: UnifiedContracts): RiskAsset {
  const available = (asset.available + cash) as Amount
  const lent = available < 0n && cash < 0n ? negate(available) : ZERO
  return {
    ...asset,
    available: add(available, lent),
    borrowed: add(add(asset.borrowed, owed), lent),
    pnl: risk.pnl,
    isolated,
  }
}

/** What losses took that nobody lent is paid with the money that is there, and not set apart; tells how much. */
export function payContractDebt(ctx: Ctx, userId: number, ref: string): Amount {
  const { ledger } = ctx.state
  const { debt: name, currency } = UNIFIED_CONTRACTS
  const owed = negate(debtOf(ctx.state, userId, UNIFIED_CONTRACTS))
  const amount = min(owed, freeToRepay(ctx.state, userId, UNIFIED, currency))
  if (amount <= 0n) return ZERO
  const lines = move(spotOf(userId), { owner: userId, name }, currency, amount)
  ledger.post(ctx, { kind: 'repay', ref, lines })
  return amount
}

const heldBy = (state: State, userId: number): Iterable<Position> =>
  state.futures.positions.heldBy(userId, UNIFIED_CONTRACTS.account)
const openIn = (state: State, userId: number): string[] =>
  state.futures.openPairs(userId).filter((id) => id.startsWith(`${UNIFIED_CONTRACTS.account}/`))

function unpricedOf(state: State, userId: number): string | undefined {
  for (const { contract } of heldBy(state, userId)) {
    const { base } = state.world.mustContract(contract)
    if (state.prices.quote(base).firm === 0n) return base
  }
  return undefined
}
function positionsValue(state: State, userId: number): Amount {
  let sum = 0n
  for (const row of heldBy(state, userId)) if (isCross(row)) sum += needsOf(state, row).value
  return sum as Amount
}
/** Of cross positions and of open orders. */
function valueOf(state: State, userId: number): Amount {
  let sum: bigint = positionsValue(state, userId)
  for (const id of openIn(state, userId)) {
    const { terms } = state.world.mustContract(id)
    for (const { left, price } of state.futures.openOrders(userId, id))
      sum += valueUp(terms, contractsIn(left), price)
  }
  return sum as Amount
}
/** Positions and orders by what they follow, in the order of its name. */
function unitsOf(state: State, userId: number, instead: Position | undefined): RiskUnit[] {
  const sums = new Map<string, { delta: bigint; buys: bigint; sells: bigint }>()
  const sumOf = (base: string): { delta: bigint; buys: bigint; sells: bigint } => {
    let sum = sums.get(base)
    if (sum === undefined) sums.set(base, (sum = { delta: 0n, buys: 0n, sells: 0n }))
    return sum
  }
  const hold = ({ contract, size }: Position): void => {
    const { base, terms } = state.world.mustContract(contract)
    sumOf(base).delta += contractsIn(size) * terms.q
  }
  for (const row of heldBy(state, userId)) if (row.id !== instead?.id) hold(row)
  if (instead !== undefined && instead.size !== 0n) hold(instead)
  for (const id of openIn(state, userId)) {
    const { base, terms } = state.world.mustContract(id)
    const sum = sumOf(base)
    for (const order of state.futures.openOrders(userId, id))
      if (!reducesOnly(order))
        sum[order.side === 'buy' ? 'buys' : 'sells'] += contractsIn(order.left) * terms.q
  }
  const hedge = state.margin.of(userId).settings.spot_hedge === true
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { delta, buys, sells }]) => ({
      currency,
      price: state.prices.quote(currency).known,
      delta: delta as Amount,
      buys: buys as Amount,
      sells: sells as Amount,
      hedge,
    }))
}
