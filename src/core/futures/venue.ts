import { ZERO, timesDown, timesUp, roundUp, type Amount, type Rate } from '../../money/amount.ts'
import { openingMargin } from '../contracts/margin.ts'
import { abs, fillValue, quoteOf } from '../contracts/terms.ts'
import { nextId } from '../counters.ts'
import { bookChanged, endOrder, type Settled, type Taker, type Venue } from '../exchange/engine.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { riskOf } from '../risk/risk.ts'
import { feeSetting } from '../spot/fees.ts'
import type { Ctx, State } from '../state.ts'
import type { FinishAs, Order, OrderRow, Side } from '../tables/exchange/order.ts'
import type { Charge, Trade } from '../tables/exchange/trades.ts'
import { PositionRow, type Position, type PositionMode } from '../tables/futures/positions.ts'
import { CONTRACT_FILL } from '../tables/futures/records.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import type { Supposed } from '../unified/contracts.ts'
import { atDoubt, isDoubtful, isFlattered } from '../contract-margin/believed.ts'
import { unifiedPortfolio } from '../unified/portfolio.ts'
import { countVolume } from './activity.ts'
import { contractRates, type ContractRates } from './fees.ts'
import {
  atIndex,
  cashLeft,
  isBrokeAt,
  isCross,
  leverageOf,
  nearIndex,
  needsOf,
  reducesOnly,
  standingOf,
  unitOf,
  type Prices,
} from './figures.ts'
import { POINTS, cashName, isSharedFor, note } from './money.ts'
import { fillPosition, foresee, holdingOf, isDual, positionOf, type Foreseen } from './positions.ts'
import { chaseEnded, stopsEnded, stopsFilled } from './waiting.ts'

export interface ContractTaker extends Taker<Contract> {
  /** Accounts whose positions it has changed: what only reduces them is looked at afterwards. */
  readonly touched: Set<number>
  /** Contracts that its fills opened. */
  opened: bigint
  /** What the fill that was admitted last does to the resting order's position. */
  foreseen: Foreseen | undefined
}

/** Contracts: nothing is held, a fill changes two positions, and margin decides what may be done. */
export const CONTRACTS: Venue<ContractTaker> = {
  exchange: (state) => state.futures,
  counter: 'contract_order',
  holds: false,
  admit,
  settle,
  release: () => undefined,
  ended: (ctx, _market, order) => {
    if (order.more === null) return
    if (hasStops(order)) stopsEnded(ctx, order)
    chaseEnded(ctx, order)
  },
}
const hasStops = ({ more }: Pick<Order, 'more'>): boolean =>
  more !== null && (more.tpsl_tp_trigger_price ?? more.tpsl_sl_trigger_price) !== undefined

/** The position that an order is about. */
export function modeOf(
  state: State,
  order: Pick<Order, 'user_id' | 'side' | 'more'>,
  account: string,
): PositionMode {
  if (!isDual(state, order.user_id, account)) return 'single'
  const buys = order.side === 'buy'
  return buys !== reducesOnly(order) ? 'dual_long' : 'dual_short'
}
const signed = (side: Side, contracts: bigint): bigint => (side === 'buy' ? contracts : -contracts)

/** How many contracts an order of a side can close of a position. */
export function closable({ size }: Pick<Position, 'size'>, side: Side): bigint {
  const contracts = contractsIn(size)
  return side === 'buy' ? (contracts < 0n ? -contracts : 0n) : contracts > 0n ? contracts : 0n
}

/**
 * What only reduces never opens, and a resting order that its owner's margin no longer carries ends instead of being
 * filled: who could still trade through it would choose what others must pay for.
 */
function admit(ctx: Ctx, taker: ContractTaker, maker: OrderRow, amount: Amount): Amount {
  const { state } = ctx
  const { market } = taker
  const mode = modeOf(state, maker, market.account)
  const position = positionOf(state, maker.user_id, market, mode)
  let admitted = amount
  if (reducesOnly(maker)) {
    const most = amountOfContracts(closable(position, maker.side))
    if (most === 0n) {
      endOrder(ctx, CONTRACTS, market, maker, 'reduce_only')
      return ZERO
    }
    if (most < admitted) admitted = most
  }
  const rate = ratesOf(state, maker.user_id, market)[maker.refreshed ? 'taker' : 'maker']
  const foreseen = foresee(market, position, signed(maker.side, contractsIn(admitted)), maker.price, rate)
  taker.foreseen = foreseen
  if (carries(state, market, foreseen)) return admitted
  endOrder(ctx, CONTRACTS, market, maker, 'liquidated')
  return ZERO
}
/** Whether an account would stay above its maintenance margin after a fill. */
function carries(state: State, contract: Contract, foreseen: Foreseen): boolean {
  const { terms } = contract
  const { before, contracts, price, fee, filled } = foreseen
  const holding = holdingOf(before)
  const after = new PositionRow(before)
  after.size = amountOfContracts(filled.size)
  after.cost = filled.cost
  if (isCross(before)) after.margin = ZERO
  else {
    const held = abs(holding.size)
    const kept = held === 0n ? ZERO : before.margin - (before.margin * filled.closed) / held
    const more =
      filled.opened > 0n ? openingMargin(terms, filled.openedValue, leverageOf(before, contract)) : 0n
    after.margin = (kept + more) as Amount
  }
  const change = filled.realised - fee
  const { user_id } = before
  const shared = isSharedFor(state, user_id, contract)
  // Where earlier losses were lent, what comes in repays them.
  const lent = shared && (state.futures.accounts.get(user_id, contract.account)?.borrowed ?? 0n) > 0n
  const stays = lent ? below(filled.realised) + below(-fee) : change
  const bears = (prices?: Prices): boolean => {
    const standing = standingOf(state, user_id, contract, after, change, prices)
    if (isBrokeAt(standing) || (standing.maintenance === 0n && standing.balance < 0n)) return false
    if (isCross(after) || after.size === 0n) return true
    const { pnl, maintenance } = needsOf(state, after, prices)
    if (after.margin + pnl <= maintenance) return false
    // What closes may be lent, the margin of what opens is not.
    if (shared && filled.opened === 0n) return true
    return cashLeft(unitOf(state, user_id, contract, after, stays, prices)) >= 0n
  }
  const near = nearIndex(state)
  const believed = near(contract.id)
  const closes = filled.opened === 0n
  // What closes at a fair price helps, whatever the account has left.
  const fair = contracts > 0n ? price <= believed : price >= believed
  if (!bears()) return false
  // Where all marks are believed it is the same question again.
  const doubtful =
    believed !== state.futures.markOf(contract.id) || isDoubtful(state, user_id, contract.account)
  if (doubtful && !(closes && fair) && !bears(near)) return false
  if (!closes && isFlattered(state, user_id, contract.account, after) && !bears(atIndex(state))) return false
  if (
    !closes &&
    state.prices.quote(contract.base).firm === 0n &&
    !bears(atDoubt(state, contract, contracts > 0n))
  )
    return false
  return !shared || !closes || fair || !weakens(state, user_id, { instead: after, cash: change })
}
const below = (amount: bigint): bigint => (amount < 0n ? amount : 0n)
/** Whether what is supposed leaves a unified account with less margin to spare than it has, and with none. */
export function weakens(state: State, userId: number, supposed: Supposed): boolean {
  const { available } = riskOf(unifiedPortfolio(state, userId, [], 'firm', supposed))
  return available < 0n && available < riskOf(unifiedPortfolio(state, userId, [], 'firm')).available
}

export function ratesOf(state: State, userId: number, contract: Contract): ContractRates {
  return contractRates(feeSetting(state, state.users.must(userId)).vip, contract)
}

/** Both positions, their records, and the trade that everybody sees. */
function settle(ctx: Ctx, taker: ContractTaker, maker: OrderRow, amount: Amount, sequence: number): Settled {
  const { state, tx, at } = ctx
  const { order, market } = taker
  const { terms } = market
  const { price } = maker
  const id = nextId(tx, state.counters, 'contract_trade')
  const trade: Trade = { id, pair: market.id, sequence, side: order.side, price, amount, at }
  const contracts = contractsIn(amount)
  const value = fillValue(terms, contracts, price)
  const of: FillOf = { trade, contracts, value }
  const makerRate = ratesOf(state, maker.user_id, market)[maker.refreshed ? 'taker' : 'maker']
  const made = fillSide(ctx, market, maker, 'maker', of, makerRate, taker.foreseen)
  // The fund takes part without a fee.
  const rate = order.user_id === PLATFORM ? (0n as Rate) : ratesOf(state, order.user_id, market).taker
  const took = fillSide(ctx, market, order, 'taker', of, rate)
  taker.opened += took.opened
  taker.touched.add(maker.user_id).add(order.user_id)
  tx.put(state.futures.trades.table, trade)
  // What is linear is exact: the value is what was paid in the quote currency.
  const quote = terms.kind === 'linear' ? value : quoteOf(terms, contracts, price)
  state.futures.candles.add(tx, market.id, at, price, amount, quote)
  return { value: timesDown(amount, price), taker: took.charge, maker: made.charge }
}
/** What both sides of a fill share. */
interface FillOf {
  readonly trade: Trade
  readonly contracts: bigint
  readonly value: Amount
}
interface SideFilled {
  readonly charge: Charge
  readonly opened: bigint
}
function fillSide(
  ctx: Ctx,
  contract: Contract,
  order: OrderRow,
  role: 'taker' | 'maker',
  { trade: { id, price, amount }, contracts, value }: FillOf,
  rate: Rate,
  foreseen?: Foreseen,
): SideFilled {
  const { user_id } = order
  const points = role === 'taker' ? pointsFor(ctx, contract, order, value, rate) : undefined
  const filled = fillPosition(ctx, contract, {
    user_id,
    mode: user_id === PLATFORM ? 'single' : modeOf(ctx.state, order, contract.account),
    contracts: signed(order.side, contracts),
    price,
    value,
    rate,
    foreseen,
    points,
    order_id: order.id,
    order_text: order.text,
    trade_id: id,
  })
  if (filled.opened > 0n && hasStops(order)) stopsFilled(ctx, order, filled.opened)
  const charge: Charge = { fee: filled.fee, gt: ZERO, points: points ?? ZERO }
  if (user_id !== PLATFORM) {
    countVolume(ctx, contract, user_id, role, value)
    ctx.tx.append(CONTRACT_FILL, {
      trade_id: id,
      role,
      user_id,
      order_id: order.id,
      contract: contract.id,
      account: contract.account,
      side: order.side,
      size: amount,
      close_size: amountOfContracts(filled.closed),
      price,
      value,
      fee: filled.fee,
      point_fee: charge.points,
      text: order.text,
      at: ctx.at,
    })
  }
  return { charge, opened: filled.opened }
}
const POINT_DECIMALS = 8
/** A taker who chose to pays in points, one for a USDT by the index price, where there are enough. */
function pointsFor(
  ctx: Ctx,
  contract: Contract,
  { id, user_id: userId }: Pick<Order, 'id' | 'user_id'>,
  value: Amount,
  rate: Rate,
): Amount | undefined {
  const { state } = ctx
  if (userId === PLATFORM || rate <= 0n) return undefined
  if (feeSetting(state, state.users.must(userId)).debit !== 2) return undefined
  const price = state.prices.quote(contract.currency).firm
  if (price === 0n) return undefined
  const points = roundUp(timesUp(timesUp(value, rate), price), POINT_DECIMALS)
  const name = cashName(state, userId, contract)
  if (state.ledger.balance(userId, name, POINTS) < points) return undefined
  state.ledger.post(ctx, {
    kind: 'point_fee',
    ref: `futures_trade:${state.counters.get('contract_trade')!.value}`,
    lines: [
      { owner: userId, name, currency: POINTS, amount: -points as Amount },
      { owner: PLATFORM, name: 'fees', currency: POINTS, amount: points },
    ],
  })
  note(ctx, contract, {
    user_id: userId,
    type: 'point_fee',
    change: -points as Amount,
    text: `${contract.name}:${id}`,
    contract: contract.id,
    trade_id: state.counters.get('contract_trade')!.value,
  })
  return points
}

/** Ends an open order, and the book is another one. */
export function takeOff(ctx: Ctx, order: OrderRow, finish_as: FinishAs): OrderRow {
  const contract = ctx.state.world.mustContract(order.pair)
  const ended = endOrder(ctx, CONTRACTS, contract, order, finish_as)
  bookChanged(ctx, ctx.state.futures, contract.id)
  return ended
}

/**
 * Orders that only reduce never exceed the position together: the excess ends from the one that is hardest to fill, and
 * all of them with the position.
 */
export function trimReducing(ctx: Ctx, userId: number, contract: Contract): void {
  const { state } = ctx
  if (userId === PLATFORM) return
  for (const side of ['buy', 'sell'] as const) {
    if ((state.futures.sides.of(userId, contract.id, side)?.reducing ?? 0) === 0) continue
    const orders = state.futures
      .openOrders(userId, contract.id)
      .filter((order) => order.side === side && reducesOnly(order))
    const position = positionOf(state, userId, contract, modeOf(state, orders[0]!, contract.account))
    const most = amountOfContracts(closable(position, side))
    let left = orders.reduce((sum, order) => sum + order.left, 0n)
    const hardest = orders.sort((a, b) =>
      a.price === b.price ? b.id - a.id : a.price < b.price === (side === 'buy') ? -1 : 1,
    )
    for (const order of hardest) {
      if (left <= most) break
      takeOff(ctx, order, most === 0n ? 'position_closed' : 'reduce_out')
      left -= order.left
    }
  }
}
