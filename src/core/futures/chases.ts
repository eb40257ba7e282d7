import { Refusal, notFound, refuse, type Label } from '../../labels.ts'
import { ONE, ZERO, format, parseRate, type Amount, type Price } from '../../money/amount.ts'
import { readOffset, trailTrigger, type Offset } from '../contracts/trails.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import type { Side } from '../tables/exchange/order.ts'
import { isChasing, type ChaseLine, type ChaseOrder } from '../tables/futures/chases.ts'
import { amountOfContracts, type Contract } from '../tables/world/contracts.ts'
import { SECOND } from '../time.ts'
import { amendOrder } from './amend.ts'
import { marginModeOf } from './figures.ts'
import { followBook } from './follow.ts'
import type { AccountPath } from './inputs.ts'
import { settledOf } from './money.ts'
import { PLAIN, placeOrder } from './place.ts'
import { isDual } from './positions.ts'
import {
  checkAccount,
  checkSize,
  checkTick,
  checkTrading,
  contractNamed,
  readPrice,
  readSize,
  refuseLiquidating,
} from './rules.ts'
import { checkModes, checkWaitingRoom, isTrading, readWaitingText } from './triggers.ts'
import { takeOff } from './venue.ts'
import { chaseOrigin } from './waiting.ts'

/** How often one is amended at most. */
const INTERVAL = SECOND
/** Those that one command looks at; the others follow a little later, so that many of them leave room for everybody else. */
const PORTION = 50
const PAUSE = SECOND / 10

export interface NewChaseOrder extends AccountPath {
  readonly contract: string
  /** Digits, signed. */
  readonly amount: string
  /** "0": none. */
  readonly price_limit: string | null
  readonly offset_limit: string | null
  readonly reduce_only: boolean
  readonly text: string | null
  readonly price_type: 1 | 2
  readonly price_gap_type: 1 | 2 | null
  readonly price_gap_value: string | null
  readonly is_dual_mode: boolean | null
  readonly pos_margin_mode: 'isolated' | 'cross' | null
  readonly position_mode: 'single' | 'dual' | null
}

export function createChase(ctx: Ctx, input: NewChaseOrder): ChaseOrder {
  const { state, tx, at } = ctx
  const { user_id, reduce_only, price_type } = input
  const { table } = state.futures.waiting.chases
  const contract = contractNamed(state, input, input.contract)
  const size = readSize(input.amount, 'amount')
  if (size === 0n)
    refuse('INVALID_PARAM_VALUE', 'amount: it must not be 0; above zero buys, below zero sells')
  const side: Side = size > 0n ? 'buy' : 'sell'
  checkLimits(input)
  const gap = readGap(contract, input)
  const text = readWaitingText(input.text, 'text')
  const dual = isDual(state, user_id, contract.account)
  if (input.is_dual_mode !== null && input.is_dual_mode !== dual)
    refuse('INVALID_PARAM_VALUE', `is_dual_mode: the account is in ${dual ? 'dual' : 'single'} mode`)
  checkModes(state, user_id, contract, input.position_mode)
  // What any order is asked for before its price: without a price to chase there would be another answer.
  checkTrading(ctx, contract)
  checkAccount(state, user_id, contract)
  refuseLiquidating(state, user_id, contract)
  checkSize(contract, size, false)
  const best = bestOf(state, contract, side, 0)
  if (best === undefined)
    refuse(
      'CONTRACT_NO_COUNTER',
      `there is no ${side === 'buy' ? 'bid' : 'ask'} in ${contract.name} to chase; place a limit order`,
    )
  const limit = readLimit(contract, side, input, best)
  checkWaitingRoom(state, user_id, contract)
  const id = nextId(tx, state.counters, 'chase_order')
  const row: ChaseOrder = {
    id,
    user_id,
    contract: contract.id,
    account: contract.account,
    side,
    amount: amountOfContracts(size),
    limit,
    price_limit: input.price_limit ?? '',
    offset_limit: input.offset_limit ?? '',
    price_type,
    gap_kind: gap.kind,
    gap: gap.by as Amount,
    price_gap_value: input.price_gap_value ?? '',
    reduce_only,
    text,
    dual,
    pos_margin_mode: input.pos_margin_mode ?? '',
    status: 'active',
    suborder_id: 0,
    chase_price: best,
    suborder_price: 0n as Price,
    suborder_finish_as: '',
    filled: ZERO,
    filled_total: ZERO,
    reason: '',
    error_label: '',
    created_at: at,
    amended_at: at,
    ended_at: 0,
    updated_at: at,
  }
  // Before its order is there: that may end at once, and this with it.
  tx.put(table, row)
  const chase_price = wantedPrice(contract, row, best)
  const order = {
    ...PLAIN,
    contract: contract.name,
    size: String(size),
    price: format(chase_price),
    tif: 'poc',
    reduce_only,
    pos_margin_mode: input.pos_margin_mode,
  } as const
  const own = { text: `apiv4-auto-chase-o-${id}`, origin: chaseOrigin(id) }
  const placed = placeOrder(ctx, input, order, own)
  const chasing: ChaseOrder = { ...table.get(id)!, suborder_id: placed.id, chase_price }
  tx.put(table, chasing)
  return chasing
}

function readGap(contract: Contract, { price_type, price_gap_type, price_gap_value }: NewChaseOrder): Offset {
  if (price_type === 1) return { kind: 'distance', by: 0n }
  if (price_gap_type === null || price_gap_value === null)
    refuse(
      'MISSING_REQUIRED_PARAM',
      `Missing required parameter: ${price_gap_type === null ? 'price_gap_type' : 'price_gap_value'} (price_type 2 has a gap)`,
    )
  const gap = price_gap_type === 1 ? readOffset(price_gap_value) : percentOf(price_gap_value)
  if (gap === undefined || (price_gap_type === 1 && gap.kind === 'ratio'))
    refuse(
      'INVALID_PARAM_VALUE',
      `price_gap_value: "${price_gap_value}" must be ${price_gap_type === 1 ? 'a distance above 0' : 'a percentage above 0 and below 100'}`,
    )
  if (gap.kind === 'distance') checkTick(contract, gap.by as Price, 'price_gap_value')
  return gap
}
function percentOf(text: string): Offset | undefined {
  const value = parseRate(text)
  if (value === undefined || value === 0n || value >= 100n * ONE) return undefined
  return { kind: 'ratio', by: value / 100n }
}
/** One of them, and not both. */
function checkLimits({ price_limit, offset_limit }: NewChaseOrder): void {
  if (price_limit !== null && offset_limit !== null && parseRate(price_limit) !== 0n)
    refuse('INVALID_PARAM_VALUE', 'offset_limit: name it or price_limit, not both')
  if (offset_limit === null && price_limit === null)
    refuse(
      'MISSING_REQUIRED_PARAM',
      'Missing required parameter: price_limit ("0" for none), or offset_limit',
    )
}
/** A price, or a distance from where the chase begins; 0: none. */
function readLimit(
  contract: Contract,
  side: Side,
  { price_limit, offset_limit }: NewChaseOrder,
  best: Price,
): Price {
  if (offset_limit === null) {
    const price = readPrice(contract, price_limit!, 'price_limit')
    checkTick(contract, price, 'price_limit')
    return price
  }
  const offset = readOffset(offset_limit)
  if (offset === undefined)
    refuse(
      'INVALID_PARAM_VALUE',
      `offset_limit: "${offset_limit}" must be a distance above 0, or a part with %`,
    )
  if (offset.kind === 'distance') checkTick(contract, offset.by as Price, 'offset_limit')
  const away = offset.kind === 'distance' ? offset.by : (best * offset.by) / ONE
  const limit = (side === 'buy' ? best + away : best - away) as Price
  if (limit <= 0n) refuse('INVALID_PARAM_VALUE', `offset_limit: "${offset_limit}" is more than the price`)
  return trailTrigger(side === 'buy', limit, contract.tick)
}

/** The best price of a side; where an order is named, of the others there. */
function bestOf(state: State, contract: Contract, side: Side, besides: number): Price | undefined {
  const book = state.futures.book(contract.id)
  if (besides === 0) return book[side].best?.price
  for (const order of book.queue(side)) if (order.id !== besides) return order.price
  return undefined
}
/** Where its order belongs: at the best price or behind it, and never beyond its limit. */
function wantedPrice({ tick }: Contract, chase: ChaseOrder, best: Price): Price {
  const { side, price_type, gap_kind, gap, limit } = chase
  const buys = side === 'buy'
  let price: bigint = best
  if (price_type === 2) {
    const away = gap_kind === 'distance' ? gap : (best * gap) / ONE
    price = buys ? best - away : best + away
  }
  if (limit !== 0n && (buys ? price > limit : price < limit)) price = limit
  const onTick = trailTrigger(buys, price as Price, tick)
  return onTick > 0n ? onTick : tick
}

/** Something has changed in the book of a contract: those who chase there look at it, once in a while. */
export function watchChases(ctx: Ctx, contract: string): void {
  const { state } = ctx
  const { chases } = state.futures.waiting
  if (chases.countIn(contract) === 0) return
  const line = chases.lines.get(contract)
  if (line !== undefined && line.due_id !== 0) return
  const seen = bestNow(state, contract)
  if (line !== undefined && line.bid === seen.bid && line.ask === seen.ask) return
  plan(ctx, contract, Math.max(ctx.at, (line?.looked_at ?? 0) + INTERVAL), line)
}
const bestNow = ({ futures }: State, contract: string): Pick<ChaseLine, 'bid' | 'ask'> => {
  const { buy, sell } = futures.book(contract)
  return { bid: buy.best?.price ?? (0n as Price), ask: sell.best?.price ?? (0n as Price) }
}
function plan(ctx: Ctx, contract: string, at: number, line: ChaseLine | undefined): void {
  const due_id = schedule(ctx, at, 'futures.chase.look', { contract, after: 0, again: false })
  const { lines } = ctx.state.futures.waiting.chases
  ctx.tx.put(lines, { contract, bid: 0n as Price, ask: 0n as Price, looked_at: 0, ...line, due_id })
}

/** Due: a portion of those who chase in a contract. */
export function lookAtChases(ctx: Ctx, input: { contract: string; after: number; again: boolean }): null {
  const { state, tx } = ctx
  const { chases } = state.futures.waiting
  const line = chases.lines.get(input.contract)
  const contract = state.world.findContract(input.contract)
  if (line === undefined) return null
  if (contract === undefined || chases.countIn(contract.id) === 0) {
    tx.remove(chases.lines, line.contract)
    return null
  }
  // What they see is what there was when they began: what they themselves change is for the next look.
  const seen = input.after === 0 ? bestNow(state, contract.id) : line
  const left = chases.after(contract.id, input.after, PORTION + 1)
  let { again } = input
  if (isTrading(ctx, contract))
    for (const chase of left.slice(0, PORTION)) if (!look(ctx, contract, chase)) again = true
  const { bid, ask } = seen
  const more = left.length > PORTION
  const rest = { contract: contract.id, after: left[PORTION - 1]?.id ?? 0, again }
  tx.put(chases.lines, {
    contract: contract.id,
    bid,
    ask,
    looked_at: ctx.at,
    due_id: more ? schedule(ctx, ctx.at + PAUSE, 'futures.chase.look', rest) : 0,
  })
  if (more) return null
  if (again) plan(ctx, contract.id, ctx.at + INTERVAL, chases.lines.get(contract.id))
  else state.futures.waiting.touch(contract.id)
  return null
}
/** What keeps an order where it is, but ends no chase. */
const STAYS: ReadonlySet<Label> = new Set<Label>([
  'ORDER_POC_IMMEDIATE',
  'PRICE_TOO_DEVIATED',
  'PRICE_OVER_BANKRUPT',
  'TRADE_RESTRICTED',
  'POSITION_IN_LIQUIDATION',
])
/** False: it was amended a moment ago, and must be looked at again. */
function look(ctx: Ctx, contract: Contract, chase: ChaseOrder): boolean {
  const { state, tx } = ctx
  const { table } = state.futures.waiting.chases
  const order = state.futures.orders.get(chase.suborder_id)
  if (order === undefined) return true
  // At the best price it may be the best itself; at a gap it would run away from itself.
  const best = bestOf(state, contract, chase.side, chase.price_type === 1 ? 0 : order.id)
  const wanted = best === undefined ? order.price : wantedPrice(contract, chase, best)
  if (wanted === order.price) return true
  if (ctx.at < chase.amended_at + INTERVAL) return false
  const { group, settle } = settledOf(chase.account)
  const path = { user_id: chase.user_id, group, settle }
  const mark = tx.mark()
  try {
    const change = { id: order.id, size: null, price: format(wanted), amend_text: null }
    amendOrder(ctx, path, change)
    const now = table.get(chase.id)!
    tx.put(table, { ...now, chase_price: wanted, amended_at: ctx.at, updated_at: ctx.at })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    if (STAYS.has(error.label)) return true
    tx.put(table, { ...chase, reason: error.message, error_label: error.label })
    takeOff(ctx, order, 'cancelled')
    followBook(ctx, contract)
  }
  return true
}

/** By id, or by the text that the client gave it: of several the newest. */
function chaseOf(state: State, path: AccountPath, name: number | string): ChaseOrder {
  const { chases } = state.futures.waiting
  const account = `${path.group}/${path.settle}`
  const chase =
    typeof name === 'number'
      ? chases.table.get(name)
      : chases.of(path.user_id, account).findLast(({ text }) => text === name)
  if (chase?.user_id !== path.user_id || chase.account !== account)
    return notFound(
      'ORDER_NOT_FOUND',
      `this account has no chase order ${name} in ${path.group} ${path.settle}`,
    )
  refuseEndedChase(chase)
  return chase
}
export function refuseEndedChase({ id, status }: ChaseOrder): void {
  if (!isChasing({ status })) refuse('ORDER_FINISHED', `chase order ${id} has ended already (${status})`)
}
/** Its order goes, and it with that. */
function stop(ctx: Ctx, chase: ChaseOrder): ChaseOrder {
  const { futures, world } = ctx.state
  takeOff(ctx, futures.orders.get(chase.suborder_id)!, 'cancelled')
  followBook(ctx, world.mustContract(chase.contract))
  return futures.waiting.chases.table.get(chase.id)!
}
export const stopChase = (ctx: Ctx, input: AccountPath & { id: number | string }): ChaseOrder =>
  stop(ctx, chaseOf(ctx.state, input, input.id))
export function stopChases(
  ctx: Ctx,
  input: AccountPath & { contract: string | null; pos_margin_mode: 'isolated' | 'cross' | null },
): ChaseOrder[] {
  const { state } = ctx
  const only = input.contract === null ? undefined : contractNamed(state, input, input.contract).id
  return state.futures.waiting.chases
    .of(input.user_id, `${input.group}/${input.settle}`)
    .filter(({ contract }) => only === undefined || contract === only)
    .filter(
      (chase) =>
        input.pos_margin_mode === null ||
        marginModeOf(state, chase.user_id, chase.contract) === input.pos_margin_mode,
    )
    .map((chase) => stop(ctx, chase))
}
