import { Refusal, notFound, refuse } from '../../labels.ts'
import { format, priceOf, type Amount, type Price } from '../../money/amount.ts'
import { readOffset, type Offset } from '../contracts/trails.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import { TRAIL_CHANGE, isTrailing, type TrailOrder } from '../tables/futures/trails.ts'
import type { PriceType } from '../tables/futures/triggers.ts'
import { isFrozen } from '../tables/users.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import type { AccountPath, NewContractOrder } from './inputs.ts'
import { settledOf } from './money.ts'
import { PLAIN, placeOrder } from './place.ts'
import { isDual, positionOf } from './positions.ts'
import {
  checkAccount,
  checkMarginMode,
  checkSize,
  checkTrading,
  contractNamed,
  readSize,
  refuseLiquidating,
} from './rules.ts'
import { checkModes, checkWaitingRoom, priceNow, readTrigger, readWaitingText } from './triggers.ts'
import { modeOf } from './venue.ts'
import { endTrail, forgetGroup } from './waiting.ts'

export interface NewTrailOrder extends AccountPath {
  readonly contract: string
  /** Digits, signed. */
  readonly amount: string
  /** "0": at once. */
  readonly activation_price: string
  /** Null: whichever lies ahead. */
  readonly is_gte: boolean | null
  readonly price_type: PriceType
  readonly price_offset: string
  readonly reduce_only: boolean
  readonly position_related: boolean
  readonly text: string | null
  readonly pos_margin_mode: 'isolated' | 'cross' | null
  readonly position_mode: 'single' | 'dual' | null
}

export function createTrail(ctx: Ctx, input: NewTrailOrder): TrailOrder {
  const { state, tx, at } = ctx
  const { user_id, reduce_only, position_related, price_type } = input
  if (position_related && !reduce_only)
    refuse('INVALID_PARAM_VALUE', 'position_related: only an order with reduce_only belongs to a position')
  const contract = contractNamed(state, input, input.contract)
  const size = readAmount(input.amount)
  const offset = checkOffset(contract, input.price_offset)
  const text = readWaitingText(input.text, 'text')
  checkTrading(ctx, contract)
  if (contract.config.status === 'delisting' && !reduce_only)
    refuse('CONTRACT_IN_DELISTING', `contract: ${contract.name} is being delisted; only reducing orders pass`)
  checkAccount(state, user_id, contract)
  const activation = readActivation(contract, input.activation_price)
  refuseLiquidating(state, user_id, contract)
  checkSize(contract, size, true)
  checkWaitingRoom(state, user_id, contract)
  checkModes(state, user_id, contract, input.position_mode)
  const side = size > 0n ? 'buy' : 'sell'
  const order = { user_id, side, more: reduce_only ? { reduce_only } : null } as const
  const position = positionOf(state, user_id, contract, modeOf(state, order, contract.account))
  checkMarginMode(position, input.pos_margin_mode)
  if (position_related && (size > 0n ? position.size >= 0n : position.size <= 0n))
    refuse(
      'POSITION_EMPTY',
      `position_related: there is no position in ${contract.name} that it would reduce`,
    )
  const now = checkPriced(state, contract, price_type)
  const row: TrailOrder = {
    id: nextId(tx, state.counters, 'trail_order'),
    user_id,
    contract: contract.id,
    account: contract.account,
    side,
    amount: amountOfContracts(size),
    activation_price: activation,
    is_gte: input.is_gte ?? activation >= now,
    price_type,
    offset_kind: offset.kind,
    offset: offset.by as Amount,
    price_offset: input.price_offset,
    reduce_only,
    position_related,
    text,
    dual: isDual(state, user_id, contract.account),
    pos_margin_mode: input.pos_margin_mode ?? '',
    status: 'pending',
    group_id: 0,
    extremum_price: 0n as Price,
    trigger_price: 0n as Price,
    suborder_id: 0,
    reason: '',
    error_label: '',
    created_at: at,
    activated_at: 0,
    ended_at: 0,
    updated_at: at,
  }
  noteChange(ctx, row, true)
  return begin(ctx, row, now)
}
function readAmount(text: string): bigint {
  const size = readSize(text, 'amount')
  if (size === 0n)
    refuse('INVALID_PARAM_VALUE', 'amount: it must not be 0; above zero buys, below zero sells')
  return size
}
function checkOffset({ tick, name, shown }: Contract, text: string): Offset {
  const offset = readOffset(text)
  if (offset === undefined)
    refuse(
      'INVALID_PARAM_VALUE',
      `price_offset: "${text}" must be a distance such as "10", or a part of the price such as "0.5%", below 100%`,
    )
  if (offset.kind === 'distance' && offset.by % tick !== 0n)
    refuse(
      'INVALID_PRECISION',
      `price_offset: ${text} is not a multiple of ${shown.order_price_round}, the step of prices of ${name}`,
    )
  return offset
}
const readActivation = (contract: Contract, text: string): Price =>
  /^0*(\.0*)?$/.test(text) ? (0n as Price) : readTrigger(contract, text, 'activation_price')
function checkPriced(state: State, contract: Contract, type: PriceType): Price {
  return (
    priceNow(state, contract.id, type) ??
    refuse('INVALID_PARAM_VALUE', `price_type: ${contract.name} has no ${type} price yet; follow another one`)
  )
}
/** Where its activation price is behind it, or it has none, it follows the price from now on; else it waits. */
function begin(ctx: Ctx, trail: TrailOrder, now: Price): TrailOrder {
  const { activation_price, is_gte } = trail
  const active = activation_price === 0n || (is_gte ? now >= activation_price : now <= activation_price)
  if (active) return activateTrail(ctx, trail, now)
  ctx.tx.put(ctx.state.futures.waiting.trails.table, trail)
  return trail
}
export function activateTrail(ctx: Ctx, trail: TrailOrder, now: Price): TrailOrder {
  const { state, tx } = ctx
  const { trails } = state.futures.waiting
  const { contract, price_type, amount } = trail
  const buys = amount > 0n
  // All that follow this price have come as far as it is now.
  followTrails(ctx, contract, price_type, now)
  let group_id = trails.lines.at(contract, price_type, buys, now)
  if (group_id === undefined) {
    group_id = nextId(tx, state.counters, 'trail_group')
    tx.put(trails.groups, { id: group_id, contract, price_type, buys, extremum: now })
  }
  const active: TrailOrder = {
    ...trail,
    status: 'active',
    group_id,
    activated_at: ctx.at,
    updated_at: ctx.at,
  }
  tx.put(trails.table, active)
  return active
}
function noteChange(ctx: Ctx, trail: TrailOrder, is_create: boolean): void {
  const { tx, state, at } = ctx
  const { user_id, amount, is_gte, activation_price, price_type, price_offset } = trail
  tx.append(TRAIL_CHANGE, {
    id: nextId(tx, state.counters, 'trail_change'),
    trail_id: trail.id,
    user_id,
    amount,
    is_gte,
    activation_price,
    price_type,
    price_offset,
    is_create,
    at,
  })
}

/** Groups that one command brings on, and members that it moves from one to another. */
const GROUPS_MAX = 100
const MOVES_MAX = 200
/**
 * A price has gone on beyond the extremes of some: they have a new one together. The smaller groups go into the largest,
 * so that the next step of the price has fewer of them.
 */
export function followTrails(ctx: Ctx, contract: string, type: PriceType, price: Price): void {
  const { state, tx } = ctx
  const { lines, groups, table } = state.futures.waiting.trails
  for (const buys of [true, false]) {
    const passed = lines.passed(contract, type, buys, price, GROUPS_MAX + 1)
    if (passed.length === 0) continue
    const some = passed.slice(0, GROUPS_MAX)
    const largest = some.reduce((one, other) => (lines.sizeOf(other) > lines.sizeOf(one) ? other : one))
    let moves = MOVES_MAX
    for (const id of some) {
      const size = lines.sizeOf(id)
      if (id === largest || size > moves) tx.put(groups, { ...groups.get(id)!, extremum: price })
      else {
        moves -= size
        for (const member of lines.membersOf(id)) tx.put(table, { ...table.get(member)!, group_id: largest })
        tx.remove(groups, id)
      }
    }
    if (passed.length > GROUPS_MAX) {
      const rest = { contract, price_type: type, price: format(price) }
      schedule(ctx, ctx.at, 'futures.trail.follow', rest)
    }
  }
}
/** Due: the others that a price has passed. */
export function followTrailsRest(
  ctx: Ctx,
  input: { contract: string; price_type: PriceType; price: string },
): null {
  followTrails(ctx, input.contract, input.price_type, priceOf(input.price))
  ctx.state.futures.waiting.touch(input.contract)
  return null
}

/** The price has come back by its offset: a market order, by all the rules of any order. */
export function fireTrail(ctx: Ctx, trail: TrailOrder): void {
  const { state, tx } = ctx
  const { table } = state.futures.waiting.trails
  const { id, user_id, reduce_only, pos_margin_mode } = trail
  const fired = endTrail(ctx, trail, 'success')
  const { group, settle } = settledOf(trail.account)
  const order: NewContractOrder = {
    ...PLAIN,
    contract: state.world.mustContract(trail.contract).name,
    size: String(contractsIn(trail.amount)),
    price: '0',
    tif: 'ioc',
    reduce_only,
    pos_margin_mode: pos_margin_mode === '' ? null : pos_margin_mode,
  }
  const mark = tx.mark()
  try {
    if (isFrozen(state.users, user_id))
      refuse('ACCOUNT_LOCKED', `account ${user_id} is frozen; it places no orders`)
    const own = { text: suborderText(id), origin: `trail_order:${id}` }
    const placed = placeOrder(ctx, { user_id, group, settle }, order, own)
    tx.put(table, { ...fired, suborder_id: placed.id })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    tx.put(table, { ...fired, status: 'failed', error_label: error.label, reason: error.message })
  }
}
export const suborderText = (id: number): string => `apiv4-auto-trail-o-${id}`

/** By id, or by the text that the client gave it: of several the newest. */
function trailOf(state: State, path: AccountPath, name: number | string): TrailOrder {
  const { trails } = state.futures.waiting
  const account = `${path.group}/${path.settle}`
  const trail =
    typeof name === 'number'
      ? trails.table.get(name)
      : trails.of(path.user_id, account).findLast(({ text }) => text === name)
  if (trail?.user_id !== path.user_id || trail.account !== account)
    return notFound(
      'ORDER_NOT_FOUND',
      `this account has no trail order ${name} in ${path.group} ${path.settle}`,
    )
  refuseEndedTrail(trail)
  return trail
}
export function refuseEndedTrail({ id, status }: TrailOrder): void {
  if (!isTrailing({ status })) refuse('ORDER_FINISHED', `trail order ${id} has ended already (${status})`)
}

export function stopTrail(ctx: Ctx, input: AccountPath & { id: number | string }): TrailOrder {
  return endTrail(ctx, trailOf(ctx.state, input, input.id), 'cancelled')
}
export function stopTrails(
  ctx: Ctx,
  input: AccountPath & { contract: string | null; related: 'long' | 'short' | null },
): TrailOrder[] {
  const { state } = ctx
  const only = input.contract === null ? undefined : contractNamed(state, input, input.contract).id
  return state.futures.waiting.trails
    .of(input.user_id, `${input.group}/${input.settle}`)
    .filter(({ contract }) => only === undefined || contract === only)
    .filter((trail) => input.related === null || relatedTo(trail) === input.related)
    .map((trail) => endTrail(ctx, trail, 'cancelled'))
}
/** The side of the position that it belongs to. */
export const relatedTo = ({ position_related, amount }: TrailOrder): 'long' | 'short' | undefined =>
  position_related ? (amount < 0n ? 'long' : 'short') : undefined

/** Null: as it was. */
export interface TrailUpdate extends AccountPath {
  readonly id: number
  readonly amount: string | null
  readonly activation_price: string | null
  readonly is_gte: boolean | null
  readonly price_type: PriceType | null
  readonly price_offset: string | null
}
export function updateTrail(ctx: Ctx, input: TrailUpdate): TrailOrder {
  const { state, tx } = ctx
  const trail = trailOf(state, input, input.id)
  const contract = state.world.mustContract(trail.contract)
  const size = input.amount === null ? contractsIn(trail.amount) : readAmount(input.amount)
  if (size > 0n !== trail.amount > 0n)
    refuse('INVALID_PARAM_VALUE', 'amount: the sign of a trail order can not change; create another one')
  checkSize(contract, size, true)
  const active = trail.status === 'active'
  const offset = input.price_offset === null ? undefined : checkOffset(contract, input.price_offset)
  const price_type = input.price_type ?? trail.price_type
  const now = checkPriced(state, contract, price_type)
  const activation_price =
    input.activation_price === null
      ? trail.activation_price
      : readActivation(contract, input.activation_price)
  const is_gte =
    input.is_gte ?? (active || input.activation_price === null ? trail.is_gte : activation_price >= now)
  if (active && (activation_price !== trail.activation_price || is_gte !== trail.is_gte))
    refuse('INVALID_PARAM_VALUE', `activation_price: trail order ${trail.id} has been activated already`)
  const after: TrailOrder = {
    ...trail,
    amount: amountOfContracts(size),
    activation_price,
    is_gte,
    price_type,
    ...(offset !== undefined && {
      offset_kind: offset.kind,
      offset: offset.by as Amount,
      price_offset: input.price_offset!,
    }),
    updated_at: ctx.at,
  }
  if (
    after.amount === trail.amount &&
    after.activation_price === trail.activation_price &&
    after.is_gte === trail.is_gte &&
    after.price_type === trail.price_type &&
    after.offset_kind === trail.offset_kind &&
    after.offset === trail.offset
  )
    refuse('NO_CHANGE', `trail order ${trail.id} is like this already`)
  noteChange(ctx, after, false)
  state.futures.waiting.touch(contract.id)
  if (!active) return begin(ctx, after, now)
  if (price_type === trail.price_type) {
    tx.put(state.futures.waiting.trails.table, after)
    return after
  }
  // Another price has another extreme: it begins anew.
  const moved = activateTrail(ctx, after, now)
  forgetGroup(ctx, trail.group_id)
  return moved
}
