import { Refusal, notFound, refuse } from '../../labels.ts'
import { format, parsePrice } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import type { ContractPriceOrder, InitialOrder, PriceOrderKind } from '../tables/futures/price-orders.ts'
import { isClientText } from '../tables/exchange/order.ts'
import type { PriceType } from '../tables/futures/triggers.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { isFrozen } from '../tables/users.ts'
import { marginModeOf } from './figures.ts'
import type { AccountPath, NewContractOrder } from './inputs.ts'
import { settledOf } from './money.ts'
import { PLAIN, checkFlags, placeOrder } from './place.ts'
import { isDual, positionOf } from './positions.ts'
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
import {
  checkAhead,
  checkWaitingRoom,
  priceNow,
  priceWords,
  readTrigger,
  readWaitingText,
} from './triggers.ts'
import { endPriceOrder } from './waiting.ts'

/** The order to be placed, as a client sends it. */
export interface NewInitial {
  readonly contract: string
  readonly size: string
  readonly price: string
  readonly tif: 'gtc' | 'ioc' | null
  readonly text: string | null
  readonly close: boolean
  readonly reduce_only: boolean
  readonly auto_size: 'close_long' | 'close_short' | null
}
export interface NewContractPriceOrder extends AccountPath {
  readonly initial: NewInitial
  readonly trigger: {
    readonly price: string
    readonly price_type: PriceType
    readonly rule: 1 | 2
    /** Seconds; 0: none. */
    readonly expiration: number
  }
  readonly order_type: PriceOrderKind
  readonly pos_margin_mode: 'isolated' | 'cross' | null
}

/** Which side a kind closes; undefined: it is none of those. */
const sideOf = (kind: PriceOrderKind): 'long' | 'short' | undefined =>
  kind === '' ? undefined : kind.includes('close-long') ? 'long' : 'short'

export function createPriceOrder(ctx: Ctx, input: NewContractPriceOrder): ContractPriceOrder {
  const { state, tx, at } = ctx
  const { trigger, order_type } = input
  const contract = contractNamed(state, input, input.initial.contract)
  const initial = readInitial(ctx, contract, input.user_id, input.initial, order_type)
  const trigger_price = readTrigger(contract, trigger.price, 'trigger.price')
  checkWaitingRoom(state, input.user_id, contract)
  const { price_type, rule, expiration } = trigger
  const now = priceNow(state, contract.id, price_type)
  checkAhead(trigger_price, rule === 1, now, 'trigger.price', priceWords(price_type))
  const long = sideOf(order_type)
  if (long !== undefined) checkHeld(state, contract, input.user_id, long)
  const id = nextId(tx, state.counters, 'contract_price_order')
  const row: ContractPriceOrder = {
    id,
    user_id: input.user_id,
    contract: contract.id,
    account: contract.account,
    order_type,
    price_type,
    rule,
    trigger_price,
    expiration,
    initial: { ...initial, pos_margin_mode: input.pos_margin_mode ?? '' },
    pos_margin_mode: input.pos_margin_mode ?? marginModeOf(state, input.user_id, contract.id),
    status: 'open',
    finish_as: '',
    reason: '',
    trade_id: 0,
    me_order_id: 0,
    due_id: expiration === 0 ? 0 : schedule(ctx, at + expiration * 1e6, 'futures.price_order.expire', { id }),
    created_at: at,
    ended_at: 0,
  }
  tx.put(state.futures.waiting.prices.table, row)
  return row
}
function checkHeld(state: State, contract: Contract, userId: number, side: 'long' | 'short'): void {
  const mode = isDual(state, userId, contract.account) ? (`dual_${side}` as const) : 'single'
  const { size } = positionOf(state, userId, contract, mode)
  if (side === 'long' ? size <= 0n : size >= 0n)
    refuse('POSITION_EMPTY', `order_type: there is no ${side} position in ${contract.name} to close`)
}

/** Read like an order; margin, deviation and the position are looked at when it is placed. */
function readInitial(
  ctx: Ctx,
  contract: Contract,
  userId: number,
  given: NewInitial,
  kind: PriceOrderKind,
): InitialOrder {
  const { state } = ctx
  const side = sideOf(kind)
  const flags = checkFlags(
    { ...given, reduce_only: given.reduce_only || side !== undefined },
    isDual(state, userId, contract.account),
  )
  const size = readSize(given.size, 'initial.size')
  if (size === 0n && !flags.closes)
    refuse(
      'INVALID_PARAM_VALUE',
      'initial.size: 0 is for orders that close a position; name close or auto_size with it',
    )
  if (size !== 0n && flags.closes)
    refuse('INVALID_PARAM_VALUE', `initial.size: an order with close or auto_size has size 0, not ${size}`)
  if (side !== undefined) checkKind(kind, side, size, given.auto_size)
  const price = readPrice(contract, given.price, 'initial.price')
  const tif = given.tif ?? (price === 0n ? 'ioc' : 'gtc')
  if (price === 0n && tif !== 'ioc')
    refuse('INVALID_PARAM_VALUE', `initial.tif: a market order (price 0) is ioc, not ${tif}`)
  const text = readWaitingText(given.text, 'initial.text')
  checkTrading(ctx, contract)
  if (contract.config.status === 'delisting' && !flags.reduceOnly)
    refuse('CONTRACT_IN_DELISTING', `contract: ${contract.name} is being delisted; only reducing orders pass`)
  checkAccount(state, userId, contract)
  checkTick(contract, price, 'initial.price')
  refuseLiquidating(state, userId, contract)
  if (!flags.closes) checkSize(contract, size, price === 0n)
  return {
    size: String(size),
    price: format(price),
    tif,
    text,
    close: given.close,
    reduce_only: flags.reduceOnly,
    auto_size: given.auto_size ?? '',
    pos_margin_mode: '',
  }
}
function checkKind(
  kind: PriceOrderKind,
  side: 'long' | 'short',
  size: bigint,
  auto_size: NewInitial['auto_size'],
): void {
  if (auto_size !== null && auto_size !== `close_${side}`)
    refuse('INVALID_PARAM_VALUE', `initial.auto_size: "${auto_size}" does not agree with order_type ${kind}`)
  if (size === 0n) return
  if (!kind.startsWith('plan-'))
    refuse(
      'INVALID_PARAM_VALUE',
      `initial.size: ${kind} closes the whole position; size is 0, with close or auto_size`,
    )
  if (size < 0n !== (side === 'long'))
    refuse('INVALID_PARAM_VALUE', `initial.size: ${size} would not reduce a ${side} position`)
}

/** One that an account has and that waits. */
function waitingOf({ futures }: State, path: AccountPath, id: number): ContractPriceOrder {
  const order = futures.waiting.prices.table.get(id)
  if (order?.user_id !== path.user_id || order.account !== `${path.group}/${path.settle}`)
    return notFound(
      'ORDER_NOT_FOUND',
      `this account has no price order ${id} in ${path.group} ${path.settle}`,
    )
  refuseEnded(order)
  return order
}
export function refuseEnded({ id, status, finish_as }: ContractPriceOrder): void {
  if (status === 'finished' || status === 'invalid')
    refuse('ORDER_FINISHED', `price order ${id} has ended already (${finish_as || status})`)
}

/** Null: as it was. */
export interface PriceOrderChange extends AccountPath {
  readonly id: number
  readonly size: string | null
  readonly price: string | null
  readonly trigger_price: string | null
  readonly price_type: PriceType | null
  readonly auto_size: 'close_long' | 'close_short' | null
  readonly close: boolean | null
}
export function amendPriceOrder(ctx: Ctx, change: PriceOrderChange): ContractPriceOrder {
  const { state, tx } = ctx
  const order = waitingOf(state, change, change.id)
  const { size, price, trigger_price, price_type, auto_size, close } = change
  if ([size, price, trigger_price, price_type, auto_size, close].every((one) => one === null))
    refuse(
      'MISSING_REQUIRED_PARAM',
      'Missing required parameter: size, amount, price, trigger_price, price_type, auto_size or close (at least one of them)',
    )
  const stop = order.me_order_id !== 0
  if (stop && (size !== null || auto_size !== null || close !== null))
    refuse('INVALID_PARAM_VALUE', `size: that of a stop is what its order ${order.me_order_id} has filled`)
  const contract = state.world.mustContract(order.contract)
  const before = order.initial
  const initial = stop
    ? { ...before, price: format(readStopPrice(contract, price ?? before.price)) }
    : readInitial(
        ctx,
        contract,
        order.user_id,
        {
          contract: contract.name,
          size: size ?? before.size,
          price: price ?? before.price,
          // A market order that gets a price, or a limit order that loses it, gets the usual one.
          tif: isMarket(price ?? before.price) === isMarket(before.price) ? before.tif : null,
          text: before.text,
          close: close ?? before.close,
          reduce_only: before.reduce_only,
          auto_size: auto_size ?? (before.auto_size === '' ? null : before.auto_size),
        },
        order.order_type,
      )
  const type = price_type ?? order.price_type
  const trigger =
    trigger_price === null ? order.trigger_price : readTrigger(contract, trigger_price, 'trigger_price')
  if (trigger !== order.trigger_price || type !== order.price_type) {
    const parent = order.status === 'inactive' ? state.futures.orders.get(order.me_order_id) : undefined
    const [now, words] =
      parent === undefined || parent.price === 0n
        ? [priceNow(state, contract.id, type), priceWords(type)]
        : [parent.price, "the order's price"]
    checkAhead(trigger, order.rule === 1, now, 'trigger_price', words)
  }
  const after: ContractPriceOrder = {
    ...order,
    initial: { ...initial, pos_margin_mode: before.pos_margin_mode },
    price_type: type,
    trigger_price: trigger,
  }
  if (isSame(order, after)) refuse('NO_CHANGE', `price order ${order.id} is like this already`)
  tx.put(state.futures.waiting.prices.table, after)
  return after
}
const isMarket = (price: string): boolean => parsePrice(price) === 0n
function readStopPrice(contract: Contract, text: string): ReturnType<typeof readPrice> {
  const price = readPrice(contract, text)
  checkTick(contract, price)
  return price
}
const isSame = (one: ContractPriceOrder, other: ContractPriceOrder): boolean =>
  one.trigger_price === other.trigger_price &&
  one.price_type === other.price_type &&
  (Object.keys(one.initial) as (keyof InitialOrder)[]).every(
    (name) => one.initial[name] === other.initial[name],
  )

export function cancelPriceOrder(ctx: Ctx, input: AccountPath & { id: number }): ContractPriceOrder {
  return endPriceOrder(ctx, waitingOf(ctx.state, input, input.id), 'cancelled', '')
}
/** Of an account, all or those in a contract. */
export function cancelPriceOrders(
  ctx: Ctx,
  input: AccountPath & { contract: string | null },
): ContractPriceOrder[] {
  const { state } = ctx
  const only = input.contract === null ? undefined : contractNamed(state, input, input.contract).id
  return state.futures.waiting.prices
    .of(input.user_id, `${input.group}/${input.settle}`)
    .filter(({ contract }) => only === undefined || contract === only)
    .map((order) => endPriceOrder(ctx, order, 'cancelled', ''))
}
/** Due: it waited in vain. */
export function expirePriceOrder(ctx: Ctx, input: { id: number }): null {
  const order = ctx.state.futures.waiting.prices.table.get(input.id)
  if (order?.status === 'open') endPriceOrder(ctx, order, 'expired', '')
  return null
}

/**
 * Its price has been reached: its order is placed, by all the rules of any order. Who can print a price can fire it, and
 * gets no more by that than by the order itself.
 */
export function firePriceOrder(ctx: Ctx, order: ContractPriceOrder): void {
  const { state, tx } = ctx
  const { prices } = state.futures.waiting
  const { id, user_id, initial } = order
  // Out of the queue first: what it places may move the price again.
  const fired = endPriceOrder(ctx, order, 'succeeded', '')
  const { group, settle } = settledOf(order.account)
  const input: NewContractOrder = {
    ...PLAIN,
    contract: state.world.mustContract(order.contract).name,
    size: initial.size,
    price: initial.price,
    tif: initial.tif,
    text: isClientText(initial.text) ? initial.text : null,
    close: initial.close,
    reduce_only: initial.reduce_only,
    auto_size: initial.auto_size === '' ? null : initial.auto_size,
    pos_margin_mode: initial.pos_margin_mode === '' ? null : initial.pos_margin_mode,
  }
  const mark = tx.mark()
  try {
    if (isFrozen(state.users, user_id))
      refuse('ACCOUNT_LOCKED', `account ${user_id} is frozen; it places no orders`)
    // The other stop of the same order has nothing to protect any more.
    if (order.me_order_id !== 0)
      for (const sibling of prices.ofOrder(order.me_order_id))
        endPriceOrder(ctx, sibling, 'cancelled', 'other_stop_fired')
    const own = {
      text: input.text === null ? `ao-${id}` : null,
      origin: `price_order:${id}`,
      // A stop has the size that fills gave it.
      anySize: order.me_order_id !== 0,
    }
    const placed = placeOrder(ctx, { user_id, group, settle }, input, own)
    tx.put(prices.table, { ...fired, trade_id: placed.id })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    tx.put(prices.table, { ...fired, finish_as: 'failed', reason: error.label })
  }
}
