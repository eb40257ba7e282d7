import { refuse } from '../../labels.ts'
import { ONE, ZERO, format, type Amount, type Price } from '../../money/amount.ts'
import { unpricedFor } from '../contract-margin/available.ts'
import { abs } from '../contracts/terms.ts'
import { nextId } from '../counters.ts'
import { bookChanged, canFill, settleDown, sweep, wouldTake, type SweepEnd } from '../exchange/engine.ts'
import type { Ctx, State } from '../state.ts'
import {
  OrderRow,
  opposite,
  type FinishAs,
  type Order,
  type OrderExtras,
  type Placed,
  type Side,
} from '../tables/exchange/order.ts'
import type { Position, PositionMode } from '../tables/futures/positions.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { atIndex, availableOf, canNotBear, isCross, nearIndex } from './figures.ts'
import type { AccountPath, NewContractOrder } from './inputs.ts'
import { isSharedFor, isUnifiedFor } from './money.ts'
import { isDual, positionOf } from './positions.ts'
import { followBook } from './follow.ts'
import { countTaken } from './stats.ts'
import { addStops, readStops, type NewStop } from './stops.ts'
import {
  checkAccount,
  checkBankruptcy,
  checkDeviation,
  checkIcebergSign,
  checkMarginMode,
  checkOpening,
  checkRiskLimit,
  checkRoom,
  checkSize,
  checkTick,
  checkTrading,
  checkUnused,
  contractNamed,
  openingBeside,
  openingPart,
  parseOrderPrice,
  parseSize,
  readIceberg,
  priceWithin,
  readSlip,
  readText,
  readTif,
  refuseFraction,
  refuseIceberg,
  refuseLiquidating,
  refusePortfolio,
  worstClose,
} from './rules.ts'
import { CONTRACTS, closable, modeOf, trimReducing, type ContractTaker } from './venue.ts'

/** An order, checked and in numbers. */
interface Draft {
  readonly contract: Contract
  readonly placed: Placed
  readonly bound: Price | undefined
  readonly position: Position
  /** Contracts of it that would open. */
  readonly opening: bigint
  /** The same if it rests beside those that rest already. */
  readonly beside: bigint
  /** Of an order that only reduces: what it has beyond the position. */
  readonly beyond: Amount
  /** What protects it when it is filled. */
  readonly stops: readonly NewStop[]
}

/** What most orders leave out. */
export const PLAIN: Omit<NewContractOrder, 'contract' | 'size' | 'price' | 'tif'> = {
  iceberg: null,
  text: null,
  close: null,
  reduce_only: null,
  auto_size: null,
  stp_act: null,
  market_order_slip_ratio: null,
  pos_margin_mode: null,
  tpsl_tp_trigger_price: null,
  tpsl_sl_trigger_price: null,
  bbo: null,
}

/**
 * Checks an order, matches it, and leaves it resting or ended; then what its owner has must carry it. `own` is what the
 * platform calls an order that it places on somebody's behalf, and why it did.
 */
export function placeOrder(
  ctx: Ctx,
  path: AccountPath,
  input: NewContractOrder,
  own: OwnOrder | null = null,
): Order {
  const draft = readDraft(ctx, path, input, own)
  const before = spareOf(ctx.state, path.user_id, draft.contract)
  const row = OrderRow.first(draft.placed, ZERO)
  row.left = (row.left - draft.beyond) as Amount
  const taker = takerOf(draft.contract, row, draft.bound)
  refuseAtOnce(ctx, taker)
  const { contract, placed, position } = draft
  if (draft.beside > 0n)
    checkRiskLimit(ctx.state, contract, position, placed.side, {
      contracts: contractsIn(placed.amount),
      price: placed.price,
      first: placed.time_in_force === 'ioc' || placed.time_in_force === 'fok',
      replaces: undefined,
    })
  addStops(ctx, draft.contract, draft.placed, draft.stops)
  const order = matchTaker(ctx, taker, draft.placed.id, finishAs(draft.placed), draft.beyond)
  // Some of what seemed to stand against it ended when its turn came.
  if (order.time_in_force === 'fok' && order.finish_as !== 'filled' && order.finish_as !== 'reduce_only')
    refuseUnfilled()
  guard(ctx, draft.contract, order, taker, draft, before)
  return order
}

export const takerOf = (market: Contract, order: OrderRow, bound: Price | undefined): ContractTaker => ({
  order,
  market,
  bound,
  byQuote: false,
  touched: new Set(),
  opened: 0n,
  foreseen: undefined,
})

/**
 * Sweeps the book; what is left rests or ends. `ends` tells how, by why the sweep ended. `beyond` is what an order that
 * only reduces was sent for beyond the position: it was no part of the sweep.
 */
export function matchTaker(
  ctx: Ctx,
  taker: ContractTaker,
  rank: number,
  ends: (end: SweepEnd) => FinishAs,
  beyond = ZERO,
): OrderRow {
  const { market } = taker
  const before = taker.order.filled
  const { waiting } = ctx.state.futures
  waiting.matching = taker.order.id
  const end = sweep(ctx, CONTRACTS, taker)
  waiting.matching = 0
  countTaken(ctx, market, taker.order.side, (taker.order.filled - before) as Amount)
  taker.order.left = (taker.order.left + beyond) as Amount
  const finish_as = end === 'filled' && beyond > 0n ? 'reduce_only' : ends(end)
  const order = settleDown(ctx, CONTRACTS, taker, finish_as, rank)
  bookChanged(ctx, ctx.state.futures, market.id)
  taker.touched.add(order.user_id)
  for (const userId of taker.touched) trimReducing(ctx, userId, market)
  followBook(ctx, market)
  return ctx.state.futures.orders.get(order.id) ?? order
}
const finishAs =
  ({ time_in_force }: Placed) =>
  (end: SweepEnd): FinishAs => {
    if (end === 'filled') return 'filled'
    if (end === 'stp') return 'stp'
    return time_in_force === 'ioc' || time_in_force === 'fok' ? 'ioc' : 'open'
  }

/** After its fills an order's owner must stay above maintenance, and have what the orders need. */
export function guard(
  ctx: Ctx,
  contract: Contract,
  order: Order,
  { opened }: Pick<ContractTaker, 'opened'>,
  { opening, beside }: Pick<Draft, 'opening' | 'beside'>,
  before: Amount | undefined,
): void {
  const { state } = ctx
  const position = positionOf(state, order.user_id, contract, modeOf(state, order, contract.account))
  // What only reduces is never refused for margin, but for what gives it away.
  if (opening === 0n && opened === 0n && (beside === 0n || order.status !== 'open')) {
    if (before !== undefined && order.filled > 0n) refuseGiving(state, contract, order, before)
    return
  }
  if (opened > 0n && canNotBear(state, position))
    refuse(
      'LIQUIDATE_IMMEDIATELY',
      `size: the position would be liquidated at once at the mark price ${format(state.futures.markOf(contract.id))}, or near ${format(atIndex(state)(contract.id))}, the price by the index alone; order less, or add margin`,
    )
  const { cross, own } = availableOf(state, order.user_id, contract)
  const available = isCross(position) ? cross : own
  if (available >= 0n) return
  const unpriced = unpricedFor(state, order.user_id, contract)
  if (unpriced !== undefined) state.prices.requireFirm(unpriced, 'what positions in it leave is not known')
  if (before !== undefined && before < 0n)
    refuse(
      'TRADE_RESTRICTED',
      'this account has no margin to spare: only orders that reduce a position pass until it has repaid or added money',
    )
  refuse(
    'INSUFFICIENT_AVAILABLE',
    `margin: ${format(-available as Amount)} ${contract.currency} are missing for this order; order less, or ${isUnifiedFor(state, order.user_id, contract) ? 'add money to the unified account' : `POST /wallet/transfers to ${contract.group}`}`,
  )
}
/** What a unified account's currencies leave before an order; undefined for an account that stands on its own cash. */
export const spareOf = (state: State, userId: number, contract: Contract): Amount | undefined =>
  isSharedFor(state, userId, contract) ? availableOf(state, userId, contract).cross : undefined
/**
 * Money that a unified account has borrowed, or coins that stand for it, must not leave it by a bad bargain: closing at a
 * price that is worse than the believed one is for accounts that can spare it.
 */
function refuseGiving(state: State, contract: Contract, order: Order, before: Amount): void {
  const price = ((order.filled_total * ONE) / order.filled) as Price
  const near = nearIndex(state)(contract.id)
  if (order.side === 'buy' ? price <= near : price >= near) return
  const { cross } = availableOf(state, order.user_id, contract)
  if (cross >= 0n || cross >= before) return
  refuse(
    'TRADE_RESTRICTED',
    `price: this account has no margin to spare, and closing at ${format(price)} would leave it less; close at ${format(near)} or better`,
  )
}

export interface OwnOrder {
  /** Null: the client's. */
  readonly text: string | null
  readonly origin: string
  /** It is as large as what it closes, whatever sizes its contract takes from clients. */
  readonly anySize?: boolean
}
/** The checks in the order in which the specification (1.8) lists them: the first that fails answers. */
function readDraft(ctx: Ctx, path: AccountPath, input: NewContractOrder, own: OwnOrder | null): Draft {
  const { state } = ctx
  const { user_id } = path
  // 1: what can be said of the order by itself.
  const known = state.world.contractNamed(path.group, path.settle, input.contract)
  const dual = isDual(state, user_id, known?.account ?? `${path.group}/${path.settle}`)
  const flags = checkFlags(input, dual)
  const { closes, reduceOnly } = flags
  const { contracts: given, fraction } = parseSize(input.size)
  checkGiven(given !== 0n || fraction, closes, input)
  const asked = parseOrderPrice(input.price)
  const tif = readTif(input.tif, input.bbo === null ? asked : undefined)
  checkDirection(input.bbo, given)
  const market = input.bbo === null && asked === 0n
  const rests = tif === 'gtc' || tif === 'poc'
  const text = own?.text ?? readText(input.text)
  const stp_id = state.stp.groupOf(user_id)
  if (input.stp_act !== null && stp_id === 0)
    refuse(
      'INVALID_PARAM_VALUE',
      `stp_act: "${input.stp_act}" needs an account in an STP group; POST /account/stp_groups makes one`,
    )
  const iceberg = readIceberg(input.iceberg, closes ? undefined : given, tif)
  if (input.market_order_slip_ratio !== null && !market)
    refuse('INVALID_PARAM_VALUE', 'market_order_slip_ratio: only a market order (price 0) has one')
  // 2: the contract.
  const contract = contractNamed(state, path, input.contract, known)
  const slip = readSlip(contract, input.market_order_slip_ratio)
  const { price, missing } =
    input.bbo === null
      ? { price: priceWithin(contract, asked, input.price), missing: undefined }
      : bboPrice(state, contract, input.bbo)
  checkTrading(ctx, contract)
  const position = closes
    ? positionOf(state, user_id, contract, closingMode(input.auto_size))
    : positionOf(
        state,
        user_id,
        contract,
        modeOf(
          state,
          { user_id, side: sideOf(given), more: reduceOnly ? { reduce_only: true } : null },
          contract.account,
        ),
      )
  const resolved = closes ? -contractsIn(position.size) : given
  if (closes) {
    checkDirection(input.bbo, resolved)
    if (input.iceberg !== null) checkIcebergSign(input.iceberg, resolved)
  }
  const side = sideOf(resolved)
  const sent = abs(resolved)
  const opening = openingPart(position, side, sent, reduceOnly)
  const beside = rests && !reduceOnly ? openingBeside(state, contract, position, side, sent) : opening
  if (beside > 0n) checkOpening(ctx, contract)
  // 3 to 5.
  checkAccount(state, user_id, contract)
  checkTick(contract, price)
  if (fraction) refuseFraction(input.size, 'size')
  refuseLiquidating(state, user_id, contract)
  refusePortfolio(state, user_id, contract, { dual, isolated: !isCross(position) })
  checkMarginMode(position, input.pos_margin_mode)
  // 6 to 9.
  if (!closes && own?.anySize !== true) checkSize(contract, resolved, market)
  const priced = !market && missing === undefined
  if (priced) checkDeviation(state, contract, price)
  if (rests) checkRoom(state, user_id, contract)
  checkUnused(state, user_id, contract, text)
  // 10 to 12; what follows is seen when it is matched.
  const size = reduceOnly ? reducingSize(state, contract, position, side, sent, rests, closes) : sent
  if (iceberg > size) refuseIceberg(input.iceberg!, size)
  const reduces = size > opening
  if (reduces && priced) checkBankruptcy(state, contract, position, side, price)
  if (missing !== undefined) refuse('CONTRACT_NO_COUNTER', missing)
  if (market && state.futures.book(contract.id).facing(side) === undefined)
    refuse(
      'CONTRACT_NO_COUNTER',
      `there is nothing to ${side} against in ${contract.name}; place a limit order`,
    )
  const stops = readStops(state, contract, input, user_id, side, price, opening === sent)
  const placed: Placed = {
    id: nextId(ctx.tx, state.counters, CONTRACTS.counter),
    user_id,
    pair: contract.id,
    side,
    type: market ? 'market' : 'limit',
    account: contract.group,
    time_in_force: tif,
    text,
    amend_text: '-',
    price,
    amount: amountOfContracts(sent),
    iceberg: amountOfContracts(iceberg),
    stp_id,
    stp_act: input.stp_act ?? '-',
    create_at: ctx.at,
    more: extrasOf(input, reduceOnly || onlyReducing(contract, rests), closes, own),
    row: undefined,
    rank: 0,
    level: undefined,
    previous: undefined,
    next: undefined,
    openIndex: 0,
    openList: undefined,
  }
  const bound = market ? marketBound(state, contract, side, slip, reduces ? position : undefined) : price
  const beyond = amountOfContracts(sent - size)
  return { contract, placed, bound, position, opening, beside, beyond, stops }
}

/** What is being delisted takes what reduces: an order that rests there stays that, whatever becomes of the position first. */
const onlyReducing = ({ config }: Contract, rests: boolean): boolean => rests && config.status === 'delisting'

export function checkFlags(
  { close, auto_size, reduce_only }: Pick<NewContractOrder, 'close' | 'auto_size' | 'reduce_only'>,
  dual: boolean,
): { readonly closes: boolean; readonly reduceOnly: boolean } {
  if (auto_size !== null && !dual)
    refuse('INVALID_PARAM_VALUE', 'auto_size: only for dual mode; use close with size 0')
  if (close === true && dual && auto_size === null)
    refuse(
      'INVALID_PARAM_VALUE',
      'close: in dual mode name the side with auto_size close_long or close_short',
    )
  const closes = close === true || auto_size !== null
  return { closes, reduceOnly: closes || reduce_only === true }
}
/** Size 0 is for what closes a position, and for nothing else. */
function checkGiven(some: boolean, closes: boolean, { size }: NewContractOrder): void {
  if (!some && !closes)
    refuse(
      'INVALID_PARAM_VALUE',
      'size: 0 is for orders that close a position; name close or auto_size with it',
    )
  if (some && closes)
    refuse('INVALID_PARAM_VALUE', `size: an order with close or auto_size has size 0, not ${size}`)
}
const closingMode = (auto_size: NewContractOrder['auto_size']): PositionMode =>
  auto_size === null ? 'single' : auto_size === 'close_long' ? 'dual_long' : 'dual_short'
const sideOf = (contracts: bigint): Side => (contracts > 0n ? 'buy' : 'sell')
/** What only reduces needs something to reduce, and never more than it; what would rest is not cut. */
function reducingSize(
  state: State,
  contract: Contract,
  position: Position,
  side: Side,
  size: bigint,
  rests: boolean,
  closes: boolean,
): bigint {
  if (position.size === 0n)
    refuse(
      'POSITION_EMPTY',
      closes
        ? `there is no position in ${contract.name} to close`
        : `reduce_only: there is no position in ${contract.name} to reduce`,
    )
  const most = closable(position, side)
  if (most === 0n)
    refuse(
      'INCREASE_POSITION',
      `reduce_only: a ${side} order would increase the position; ${opposite(side)} instead`,
    )
  if (!rests) return size < most ? size : most
  if (closes) {
    const other = state.futures
      .openOrders(position.user_id, contract.id)
      .find((order) => order.more?.close === true && order.side === side)
    if (other !== undefined)
      refuse('POSITION_IN_CLOSE', `the order ${other.id} closes this position already; cancel it first`)
  }
  if (size > most)
    refuse(
      'REDUCE_EXCEEDED',
      `size: ${size} is more than the position of ${most} contracts that it may reduce`,
    )
  return size
}
function checkDirection(bbo: NewContractOrder['bbo'], size: bigint): void {
  if (bbo !== null && size !== 0n && size > 0n !== (bbo.direction === 'buy'))
    refuse(
      'INVALID_PARAM_VALUE',
      `direction: "${bbo.direction}" does not agree with the sign of size ${size}`,
    )
}
/** A book may have too few prices: that is refused in its turn, and until then nothing is asked of the price. */
function bboPrice(
  state: State,
  contract: Contract,
  { level, direction }: NonNullable<NewContractOrder['bbo']>,
): { readonly price: Price; readonly missing: string | undefined } {
  const levels = state.futures.book(contract.id).depth(opposite(direction), level)
  const found = levels[level - 1]
  if (found !== undefined) return { price: found.price, missing: undefined }
  const missing = `level: the book of ${contract.name} has only ${levels.length} prices to ${direction} at`
  return { price: 0n as Price, missing }
}

/** The worst price of a market order: its slip from the last price, and what its owner can bear. */
export function marketBound(
  state: State,
  contract: Contract,
  side: Side,
  slip: bigint,
  reduced: Position | undefined,
): Price {
  const last = state.futures.lastPrice(contract.id) ?? state.futures.markOf(contract.id)
  const by = (last * (side === 'buy' ? ONE + slip : ONE - slip)) / ONE
  const worst = reduced === undefined ? undefined : worstClose(state, contract, reduced)
  if (worst === undefined) return by as Price
  return (side === 'buy' ? (worst < by ? worst : by) : worst > by ? worst : by) as Price
}

function extrasOf(
  input: NewContractOrder,
  reduceOnly: boolean,
  closes: boolean,
  own: OwnOrder | null,
): OrderExtras | null {
  const { auto_size, market_order_slip_ratio, pos_margin_mode, channel } = input
  const { tpsl_tp_trigger_price, tpsl_sl_trigger_price } = input
  if (
    !reduceOnly &&
    !closes &&
    auto_size === null &&
    market_order_slip_ratio === null &&
    pos_margin_mode === null &&
    channel === undefined &&
    tpsl_tp_trigger_price === null &&
    tpsl_sl_trigger_price === null &&
    own === null
  )
    return null
  return {
    ...(reduceOnly && { reduce_only: true }),
    ...(closes && { close: true }),
    ...(auto_size !== null && { auto_size }),
    ...(market_order_slip_ratio !== null && { market_order_slip_ratio }),
    ...(pos_margin_mode !== null && { pos_margin_mode }),
    ...(channel !== undefined && { channel }),
    ...(tpsl_tp_trigger_price !== null && { tpsl_tp_trigger_price }),
    ...(tpsl_sl_trigger_price !== null && { tpsl_sl_trigger_price }),
    ...(own !== null && { origin: own.origin }),
  }
}

/** Post-only that would take, and fill-or-kill that can't be filled, leave no order behind. */
export function refuseAtOnce(ctx: Ctx, taker: ContractTaker): void {
  const { time_in_force } = taker.order
  if (time_in_force === 'poc' && wouldTake(ctx.state.futures, taker))
    refuse(
      'ORDER_POC_IMMEDIATE',
      'a post-only order (tif poc) would match at once; choose a price on your own side of the book',
    )
  if (time_in_force === 'fok' && !canFill(ctx.state.futures, taker)) refuseUnfilled()
}
const refuseUnfilled = (): never =>
  refuse('ORDER_FOK', 'a fill-or-kill order (tif fok) can not be filled at once and in full')
