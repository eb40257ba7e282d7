import { refuse } from '../../labels.ts'
import { ZERO, decimalsOf, format, parseRate, type Amount, type Rate } from '../../money/amount.ts'
import { unpricedFor } from '../contract-margin/available.ts'
import { initialMargin } from '../contracts/margin.ts'
import { abs, roundDownTo, roundUpTo } from '../contracts/terms.ts'
import type { Ctx, State } from '../state.ts'
import type { ContractAccount } from '../tables/futures/accounts.ts'
import type { Position } from '../tables/futures/positions.ts'
import type { Contract } from '../tables/world/contracts.ts'
import {
  allowedLeverage,
  atIndex,
  availableOf,
  isCross,
  leverageOf,
  nearIndex,
  needsOf,
  type Needs,
} from './figures.ts'
import { settleFunding } from './funding.ts'
import type {
  DualModeInput,
  LeverageInput,
  MarginInput,
  MarginModeInput,
  PositionPath,
  RiskLimitInput,
} from './inputs.ts'
import { accountOf, changeAccount } from './money.ts'
import { positionsIn, recordPosition } from './positions.ts'
import { look } from './risk.ts'
import {
  committedValue,
  contractNamed,
  readAmount,
  refuseLiquidating,
  refuseLocked,
  refusePortfolio,
} from './rules.ts'

/** A setting begins the account. */
function begin(ctx: Ctx, userId: number, contract: Contract): void {
  if (ctx.state.futures.accounts.get(userId, contract.account) === undefined)
    changeAccount(ctx, userId, contract.account, {})
}
function prepare(ctx: Ctx, path: PositionPath): { contract: Contract; rows: Position[] } {
  const { state } = ctx
  const contract = contractNamed(state, path, path.contract)
  refuseLocked(state, path.user_id, contract)
  refuseLiquidating(state, path.user_id, contract)
  begin(ctx, path.user_id, contract)
  return { contract, rows: positionsIn(state, path.user_id, contract) }
}

const LEVERAGE_DECIMALS = 2
function readLeverage(contract: Contract, text: string, name: string): Rate {
  const leverage = parseRate(text)
  if (leverage === undefined || decimalsOf(leverage) > LEVERAGE_DECIMALS)
    refuse(
      leverage === undefined ? 'INVALID_PARAM_VALUE' : 'INVALID_PRECISION',
      `${name}: "${text}" must be a decimal with at most 2 decimals, such as "10"`,
    )
  if (leverage < contract.leverageMin)
    refuse(
      'LEVERAGE_TOO_LOW',
      `${name}: ${text} is below the least of ${contract.name}, ${contract.shown.leverage_min}`,
    )
  if (leverage > contract.leverageMax)
    refuse(
      'LEVERAGE_TOO_HIGH',
      `${name}: ${text} is above the most of ${contract.name}, ${contract.shown.leverage_max}`,
    )
  return leverage
}
/** What is held and ordered must be within the limit that belongs to a leverage. */
function checkTier(state: State, contract: Contract, row: Position, leverage: Rate): void {
  const value = committedValue(state, contract, row)
  const tier = contract.terms.tiers.find(({ limit }) => value <= limit) ?? contract.terms.tiers.at(-1)!
  if (tier.leverageMax < leverage)
    refuse(
      'LEVERAGE_TOO_HIGH',
      `leverage: position and orders of ${format(value)} allow at most ${format(tier.leverageMax)}`,
    )
}
const openCount = ({ futures }: State, { id }: Contract, userId: number): number =>
  futures.openCount(userId, id)
/** Only an empty position without orders changes between isolated and cross. */
function checkEmpty(state: State, contract: Contract, rows: readonly Position[]): void {
  if (rows.some(({ size }) => size !== 0n))
    refuse('POSITION_HOLDING', `there is a position in ${contract.name}; close it first`)
  if (openCount(state, contract, rows[0]!.user_id) > 0)
    refuse('ORDER_PENDING', `there are open orders in ${contract.name}; cancel them first`)
}

/** Both sides in dual mode. "0" is cross margin, at a limit of its own. */
export function setLeverage(ctx: Ctx, input: LeverageInput): Position[] {
  const { state } = ctx
  const { contract, rows } = prepare(ctx, input)
  const cross = parseRate(input.leverage) === 0n
  refusePortfolio(state, input.user_id, contract, { isolated: !cross })
  const limit = input.cross_leverage_limit
  const leverage = cross
    ? limit === null || parseRate(limit) === 0n
      ? usualLimit(contract, rows[0]!)
      : readLeverage(contract, limit, 'cross_leverage_limit')
    : readLeverage(contract, input.leverage, 'leverage')
  if (cross !== isCross(rows[0]!)) checkEmpty(state, contract, rows)
  const left = (): Amount => availableOf(state, input.user_id, contract)[cross ? 'cross' : 'own']
  const before = left()
  const changed = rows.map((row) => {
    if (isCross(row) === cross && (cross ? row.cross_limit : row.leverage) === leverage) return row
    checkTier(state, contract, row, leverage)
    return cross ? setCross(ctx, contract, row, leverage) : setIsolated(ctx, contract, row, leverage)
  })
  // Where nothing is held or ordered no figure changes.
  const idle = rows.every(({ size }) => size === 0n) && openCount(state, contract, input.user_id) === 0
  if (idle || changed.every((row, i) => row === rows[i])) return changed
  const after = left()
  if (after >= 0n) return changed
  const unpriced = unpricedFor(state, input.user_id, contract)
  if (unpriced !== undefined)
    refuse(
      'INSUFFICIENT_AVAILABLE',
      `leverage: nothing is known to be left while ${unpriced} has no firm index price; try again when it has one`,
    )
  // Who is overdrawn by what the marks have done may ask for less.
  if (after < before)
    refuse(
      'INSUFFICIENT_AVAILABLE',
      `leverage: ${format(-after as Amount)} ${contract.currency} more are needed at this leverage`,
    )
  return changed
}
/** Of a perpetual contract what it was; a dated one has no other way to name its limit, and goes to the most. */
const usualLimit = (contract: Contract, { cross_limit }: Position): Rate =>
  contract.group === 'delivery' ? contract.leverageMax : allowedLeverage(cross_limit, contract)
function setCross(ctx: Ctx, contract: Contract, row: Position, cross_limit: Rate): Position {
  return recordPosition(ctx, contract, { ...row, leverage: 0n as Rate, cross_limit, margin: ZERO })
}
/** The margin of an open position follows: more is taken, less is given back as far as the position can spare it. */
function setIsolated(ctx: Ctx, contract: Contract, before: Position, leverage: Rate): Position {
  const { terms } = contract
  const row = settleFunding(ctx, contract, before)
  const with_leverage = { ...row, leverage, isolated_leverage: leverage }
  if (row.size === 0n) return recordPosition(ctx, contract, with_leverage)
  const wanted = roundUpTo(initialMargin(terms, abs(row.cost) as Amount, leverage), terms.unit)
  const { pnl, maintenance } = needsOf(ctx.state, row)
  // Less is given back only as far as equity stays at what opening it now would take.
  const opens = (one: Needs): bigint =>
    roundUpTo(initialMargin(terms, one.value, leverage) - one.pnl, terms.unit)
  const least = larger(
    larger(opens(needsOf(ctx.state, row)), opens(needsOf(ctx.state, row, nearIndex(ctx.state)))),
    roundUpTo(keptAtIndex(ctx.state, row), terms.unit),
  )
  const floor = wanted > least ? wanted : least
  const less = isFirm(ctx.state, contract) && floor < row.margin ? floor : row.margin
  const margin = wanted >= row.margin ? wanted : less
  const after = { ...with_leverage, margin: margin as Amount }
  if (margin + pnl <= maintenance)
    refuse('LIQUIDATE_IMMEDIATELY', 'leverage: the position would be liquidated at once; add margin first')
  return recordPosition(ctx, contract, after)
}
/** Whether it is known what positions in it are worth. */
const isFirm = ({ prices }: State, { base }: Contract): boolean => prices.quote(base).firm !== 0n
/** The margin with which a position stays above maintenance at the index, too. */
function keptAtIndex(state: State, row: Position): bigint {
  const { pnl, maintenance } = needsOf(state, row, atIndex(state))
  return maintenance - pnl + 1n
}
/** By name: isolated takes the last isolated leverage. */
export function setMarginMode(ctx: Ctx, input: MarginModeInput): Position[] {
  const { contract, rows } = prepare(ctx, input)
  if (input.single === true) refuseOtherMode(rows, false)
  if (isCross(rows[0]!) === (input.mode === 'cross')) return rows
  return setLeverage(ctx, {
    ...input,
    leverage: input.mode === 'cross' ? '0' : format(allowedLeverage(rows[0]!.isolated_leverage, contract)),
    cross_leverage_limit: null,
  })
}

export function setRiskLimit(ctx: Ctx, input: RiskLimitInput): Position[] {
  const { state } = ctx
  const { contract, rows } = prepare(ctx, input)
  refuseOtherMode(rows, input.dual)
  const limit = readAmount(input.risk_limit, 'risk_limit')
  const { tiers } = contract.terms
  const tier = tiers.find((one) => one.limit === limit)
  if (limit > tiers.at(-1)!.limit)
    refuse(
      'RISK_LIMIT_TOO_HIGH',
      `risk_limit: the largest of ${contract.name} is ${format(tiers.at(-1)!.limit)}`,
    )
  if (tier === undefined)
    refuse(
      'RISK_LIMIT_NOT_MULTIPLE',
      `risk_limit: one of ${tiers.map((one) => format(one.limit)).join(', ')} (GET /${contract.group}/${contract.settle}/risk_limit_tiers)`,
    )
  return rows.map((row) => {
    if (tier.leverageMax < leverageOf(row, contract))
      refuse('LEVERAGE_TOO_HIGH', `risk_limit: it allows a leverage of at most ${format(tier.leverageMax)}`)
    if (committedValue(state, contract, row) > limit)
      refuse('RISK_LIMIT_TOO_LOW', 'risk_limit: it is below what is held and ordered')
    return row.risk_limit === limit ? row : recordPosition(ctx, contract, { ...row, risk_limit: limit })
  })
}
function refuseOtherMode(rows: readonly Position[], dual: boolean): void {
  if (rows.length === 2 && !dual)
    refuse('POSITION_DUAL_MODE', 'the account is in dual mode; use the call of /dual_comp/positions')
  if (rows.length === 1 && dual)
    refuse('POSITION_NOT_FOUND', 'the account is in single mode; use the call of /positions')
}

/** Moves margin between an isolated position and what is available. */
export function changeMargin(ctx: Ctx, input: MarginInput): Position[] {
  const { state } = ctx
  const { contract, rows } = prepare(ctx, input)
  refuseOtherMode(rows, input.dual_side !== null)
  const negative = input.change.startsWith('-')
  const amount = readAmount(negative ? input.change.slice(1) : input.change, 'change')
  if (amount === 0n) refuse('NO_CHANGE', 'change: 0 changes nothing')
  const { unit } = contract.terms
  if (amount % unit !== 0n)
    refuse('INVALID_PRECISION', `change: "${input.change}" has more decimals than ${contract.currency}`)
  const mode = input.dual_side ?? 'single'
  const before = rows.find((row) => row.mode === mode)!
  if (isCross(before))
    refuse('POSITION_CROSS_MARGIN', `the position in ${contract.name} is cross: it has no margin of its own`)
  if (before.size === 0n) refuse('POSITION_EMPTY', `there is no position in ${contract.name}`)
  const row = settleFunding(ctx, contract, before)
  if (negative) {
    const spare = ({ pnl, value }: Needs): bigint =>
      row.margin + (pnl < 0n ? pnl : 0n) - initialMargin(contract.terms, value, leverageOf(row, contract))
    const most = smaller(
      smaller(spare(needsOf(state, row)), spare(needsOf(state, row, nearIndex(state)))),
      row.margin - keptAtIndex(state, row),
    )
    if (!isFirm(state, contract))
      refuse(
        'REMOVE_TOO_MUCH',
        `change: nothing can be taken out while ${contract.base} has no firm index price; try again when it has one`,
      )
    if (amount > most)
      refuse('REMOVE_TOO_MUCH', `change: at most ${sendable(contract, most)} can be taken out`)
  } else {
    const { own } = availableOf(state, input.user_id, contract)
    if (amount > own)
      refuse(
        'INSUFFICIENT_AVAILABLE',
        `change: only ${sendable(contract, own)} ${contract.currency} are available`,
      )
  }
  const margin = (negative ? row.margin - amount : row.margin + amount) as Amount
  const changed = recordPosition(ctx, contract, { ...row, margin })
  look(ctx)
  return rows.map((one) => (one.mode === mode ? changed : one))
}

/** So much as a client can name it: in whole units. */
const sendable = ({ terms }: Contract, amount: bigint): string =>
  format((amount > 0n ? roundDownTo(amount, terms.unit) : ZERO) as Amount)

/** For the whole settle currency. */
export function setDualMode(ctx: Ctx, input: DualModeInput): ContractAccount {
  const { state } = ctx
  const account = `${input.group}/${input.settle}`
  const settled = { group: input.group, settle: input.settle }
  refuseLocked(state, input.user_id, settled)
  refusePortfolio(state, input.user_id, settled, { dual: input.dual })
  const before = accountOf(ctx, input.user_id, account)
  if (before.dual !== input.dual) {
    if (state.futures.positions.holds(input.user_id, account))
      refuse('POSITION_HOLDING', 'there is an open position; close all of this settle currency first')
    if (state.futures.openPairs(input.user_id).some((id) => id.startsWith(`${account}/`)))
      refuse('ORDER_PENDING', 'there are open orders; cancel all of this settle currency first')
    if (state.futures.waiting.count(input.user_id, account) > 0)
      refuse(
        'ORDER_PENDING',
        'there are orders that wait for a price; cancel all of this settle currency first',
      )
  } else if (state.futures.accounts.get(input.user_id, account) !== undefined) return before
  return changeAccount(ctx, input.user_id, account, { dual: input.dual })
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
