import { ONE, ZERO, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { liquidationPrice } from '../contracts/liquidation.ts'
import { openingMargin } from '../contracts/margin.ts'
import { fill, type Filled, type Holding } from '../contracts/position.ts'
import { feeOf } from '../contracts/prices.ts'
import { abs, fillValue } from '../contracts/terms.ts'
import { PLATFORM, type AccountKey } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import { PositionRow, positionId, type Position, type PositionMode } from '../tables/futures/positions.ts'
import { POSITION_CHANGE, POSITION_CLOSE } from '../tables/futures/records.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { allowedLeverage, isCross, leverageOf, restMargin, shownMargin, toldLeverage } from './figures.ts'
import { settleFunding } from './funding.ts'
import { bookCash } from './money.ts'
import { positionEnded } from './waiting.ts'

export const holdingOf = ({ size, cost }: Position): Holding => ({ size: contractsIn(size), cost })

/** The row as it is or would be: cross, with the contract's usual limit. */
export function positionOf(state: State, userId: number, contract: Contract, mode: PositionMode): Position {
  return (
    state.futures.positions.get(userId, contract.id, mode) ?? {
      id: positionId(userId, contract.id, mode),
      user_id: userId,
      contract: contract.id,
      mode,
      size: ZERO,
      cost: ZERO,
      margin: ZERO,
      leverage: 0n as Rate,
      cross_limit: contract.crossDefault,
      isolated_leverage: contract.isolatedFirst,
      risk_limit: ZERO,
      liquidating: 0,
      funded: state.futures.priceOf(contract.id)?.funding_sum ?? ZERO,
      pnl: ZERO,
      fee: ZERO,
      fund: ZERO,
      point_fee: ZERO,
      history_pnl: ZERO,
      history_point: ZERO,
      last_close_pnl: ZERO,
      max_size: ZERO,
      opened: ZERO,
      opened_value: ZERO,
      closed: ZERO,
      closed_value: ZERO,
      open_at: 0,
      update_at: 0,
      update_id: 0,
    }
  )
}
/** The rows of a contract: one in single mode, two in dual mode, the long one first. */
export function positionsIn(state: State, userId: number, contract: Contract): Position[] {
  const modes: readonly PositionMode[] = isDual(state, userId, contract.account)
    ? ['dual_long', 'dual_short']
    : ['single']
  return modes.map((mode) => positionOf(state, userId, contract, mode))
}
export const isDual = (state: State, userId: number, account: string): boolean =>
  state.futures.accounts.get(userId, account)?.dual === true

export const putPosition = (ctx: Ctx, position: Position): Position => write(ctx, new PositionRow(position))
/** The row is the caller's own, and the table's from here on. */
function write(ctx: Ctx, row: PositionRow): Position {
  row.update_at = ctx.at
  row.update_id++
  ctx.tx.put(ctx.state.futures.positions.table, row)
  return row
}
/** As `putPosition`, with the record that tells what it was at this time. */
export const recordPosition = (ctx: Ctx, contract: Contract, position: Position): Position =>
  record(ctx, contract, new PositionRow(position))
function record(ctx: Ctx, contract: Contract, own: PositionRow): Position {
  const row = write(ctx, own)
  const { tx, state, at } = ctx
  if (row.user_id === PLATFORM) return row
  const { user_id, mode, size, cost, history_pnl, last_close_pnl } = row
  tx.append(POSITION_CHANGE, {
    id: nextId(tx, state.counters, 'position_change'),
    user_id,
    contract: contract.id,
    mode,
    size,
    cost,
    margin: shownMargin(state, row),
    leverage: toldLeverage(row, contract),
    cross_limit: allowedLeverage(row.cross_limit, contract),
    risk_limit: row.risk_limit,
    liq_price:
      size === 0n ? (0n as Price) : liquidationPrice(contract.terms, holdingOf(row), restMargin(state, row)),
    realised_pnl: (row.pnl + row.fee + row.fund) as Amount,
    history_pnl,
    last_close_pnl,
    realised_point: row.point_fee,
    history_point: row.history_point,
    at,
  })
  return row
}

const FEES: AccountKey = { owner: PLATFORM, name: 'fees' }

/** What a fill does to a position, and what it costs: nothing of it is written yet. */
export interface Foreseen {
  readonly before: Position
  readonly contracts: bigint
  readonly price: Price
  readonly value: Amount
  readonly filled: Filled
  readonly fee: Amount
}
export function foresee(
  { terms }: Contract,
  before: Position,
  contracts: bigint,
  price: Price,
  rate: Rate,
  value = fillValue(terms, abs(contracts), price),
): Foreseen {
  const filled = fill(terms, holdingOf(before), contracts, price, value)
  const fee = rate === 0n ? ZERO : feeOf(terms, value, rate)
  return { before, contracts, price, value, filled, fee }
}
/** What one side of a trade does: to whom, how many (signed), at what price, for what fee. */
export interface PositionFill {
  readonly user_id: number
  readonly mode: PositionMode
  readonly contracts: bigint
  readonly price: Price
  /** `fillValue` of them, for who knows it. */
  readonly value?: Amount
  /** 0: no fee. */
  readonly rate: Rate
  /** The same fill, where somebody had to know beforehand what it does. */
  readonly foreseen?: Foreseen | undefined
  /** Paid in points instead; the fee's own figure is then 0. */
  readonly points?: Amount | undefined
  readonly order_id: number
  readonly order_text: string
  readonly trade_id: number
}
export interface PositionFilled {
  readonly position: Position
  /** In the settle currency. */
  readonly value: Amount
  readonly fee: Amount
  /** Contracts that it closed and opened. */
  readonly closed: bigint
  readonly opened: bigint
  readonly realised: Amount
}

/** Changes a position by a fill: funding first, then profit and fee, then what is left. */
export function fillPosition(ctx: Ctx, contract: Contract, one: PositionFill): PositionFilled {
  const { terms } = contract
  const before = settleFunding(ctx, contract, positionOf(ctx.state, one.user_id, contract, one.mode))
  const held = contractsIn(before.size)
  const seen =
    one.foreseen?.before === before && one.foreseen.contracts === one.contracts
      ? one.foreseen
      : foresee(contract, before, one.contracts, one.price, one.rate, one.value)
  const { value, filled } = seen
  const closedValue = (value - filled.openedValue) as Amount
  const points = one.points ?? ZERO
  const fee = one.points === undefined ? seen.fee : ZERO
  const closingFee = filled.opened === 0n ? fee : share(fee, filled.closed, abs(one.contracts))
  const closingPoints = filled.opened === 0n ? points : share(points, filled.closed, abs(one.contracts))
  const { realised } = filled
  const ends = filled.closed === abs(held)
  const released =
    filled.closed === 0n ? ZERO : ends ? before.margin : share(before.margin, filled.closed, abs(held))
  // Of a margin below zero nothing is set apart.
  const freed = released > 0n ? released : 0n
  const clearing = { owner: PLATFORM, name: contract.clearing }
  bookFill(ctx, contract, one, 'pnl', realised, clearing, freed)
  bookFill(ctx, contract, one, 'fee', -fee as Amount, FEES, freed)
  const row = new PositionRow(before)
  if (filled.closed > 0n) {
    row.margin = (row.margin - released) as Amount
    row.pnl = (row.pnl + realised) as Amount
    row.fee = (row.fee - closingFee) as Amount
    row.point_fee = (row.point_fee - closingPoints) as Amount
    row.closed = (row.closed + amountOfContracts(filled.closed)) as Amount
    row.closed_value = (row.closed_value + closedValue) as Amount
    if (ends) closePosition(ctx, contract, row, held > 0n, one.order_text)
  }
  row.size = amountOfContracts(filled.size)
  row.cost = filled.cost
  if (filled.opened > 0n) {
    if (row.opened === 0n) row.open_at = ctx.at
    if (!isCross(row))
      row.margin = (row.margin +
        openingMargin(terms, filled.openedValue, leverageOf(row, contract))) as Amount
    row.fee = (row.fee - (fee - closingFee)) as Amount
    row.point_fee = (row.point_fee - (points - closingPoints)) as Amount
    row.opened = (row.opened + amountOfContracts(filled.opened)) as Amount
    row.opened_value = (row.opened_value + filled.openedValue) as Amount
  }
  const size = (row.size < 0n ? -row.size : row.size) as Amount
  if (size > row.max_size) row.max_size = size
  const position = record(ctx, contract, row)
  return { position, value, fee, closed: filled.closed, opened: filled.opened, realised }
}
function bookFill(
  ctx: Ctx,
  contract: Contract,
  { user_id, order_id, trade_id }: PositionFill,
  type: 'pnl' | 'fee',
  change: Amount,
  other: AccountKey,
  freed: bigint,
): void {
  if (change === 0n) return
  const text = `${contract.name}:${order_id}`
  const [ref, record] = ['futures_trade', trade_id]
  bookCash(ctx, { user_id, contract, type, change, text, trade_id, other, kind: type, ref, record, freed })
}
const share = (of: Amount, part: bigint, whole: bigint): Amount => ((of * part) / whole) as Amount

/** The size is 0 again: its record, and the running parts begin anew. Its liquidation is over with it. */
function closePosition(ctx: Ctx, contract: Contract, row: PositionRow, long: boolean, text: string): void {
  const { tx, state, at } = ctx
  const pnl = (row.pnl + row.fee + row.fund) as Amount
  if (row.user_id !== PLATFORM) {
    const entry = averagePrice(contract, row.opened, row.opened_value)
    const exit = averagePrice(contract, row.closed, row.closed_value)
    tx.append(POSITION_CLOSE, {
      id: nextId(tx, state.counters, 'position_close'),
      user_id: row.user_id,
      contract: contract.id,
      account: contract.account,
      side: long ? 'long' : 'short',
      pnl,
      pnl_pnl: row.pnl,
      pnl_fund: row.fund,
      pnl_fee: row.fee,
      text,
      max_size: row.max_size,
      accum_size: row.closed,
      first_open_at: row.open_at,
      long_price: long ? entry : exit,
      short_price: long ? exit : entry,
      at,
    })
    positionEnded(ctx, row.user_id, contract.id, long)
  }
  row.margin = row.pnl = row.fee = row.fund = ZERO
  row.history_pnl = (row.history_pnl + pnl) as Amount
  row.history_point = (row.history_point + row.point_fee) as Amount
  row.last_close_pnl = pnl
  row.point_fee = row.max_size = ZERO
  row.opened = row.opened_value = row.closed = row.closed_value = ZERO
  row.open_at = 0
}
/** Of so many contracts for so much in the settle currency. */
export function averagePrice({ terms }: Contract, size: Amount, value: Amount): Price {
  if (size === 0n || value === 0n) return 0n as Price
  return (
    terms.kind === 'linear' ? (value * ONE) / (contractsIn(size) * terms.q) : (size * ONE) / value
  ) as Price
}
