import { watchChases } from './chases.ts'
import { isCross, closable } from './margin.ts'
import { E, abs, ceilDiv, ceilTo, dec, floorDiv, floorTo, max, min } from './numbers.ts'
import { checkSize, checkTrading, contractOf, place, refuseLiquidating } from './orders.ts'
import { stopsOf } from './stops.ts'
import { modeOf } from './trading.ts'
import { checkAhead, checkRoom, priceNow, readTrigger, type Path } from './triggers.ts'
import {
  Refused,
  isTrailing,
  isWaiting,
  refuse,
  type Contract,
  type Initial,
  type PriceOrder,
  type PriceType,
  type Trail,
  type World,
} from './world.ts'

/** 2.14 of the specification: orders that wait for a price, and trails. */

const TYPES = ['last', 'mark', 'index'] as const
const CLIENT_TEXT = /^t-[0-9A-Za-z_.-]{1,28}$/

const sideOf = (kind: string): 'long' | 'short' | undefined =>
  kind === '' ? undefined : kind.includes('close-long') ? 'long' : 'short'

export interface NewPriceOrder extends Path {
  readonly contract: string
  readonly initial: Omit<Initial, 'tif'> & { readonly tif: string | null }
  readonly kind: string
  readonly type: PriceType
  readonly above: boolean
  readonly trigger: bigint
  readonly expiration: number
}
/** The order as it is read before it is placed: its position and its margin are looked at when it is. */
function readInitial(
  w: World,
  path: Path,
  c: Contract,
  given: NewPriceOrder['initial'],
  kind: string,
): Initial {
  const dual = w.isDual(path.user, path.account)
  const side = sideOf(kind)
  const closes = given.close || given.autoSize !== null
  if ((given.autoSize !== null && !dual) || (given.close && dual && given.autoSize === null))
    refuse('INVALID_PARAM_VALUE')
  if (given.size.includes('.')) refuse('INVALID_PRECISION')
  const size = BigInt(given.size)
  if ((size === 0n) !== closes) refuse('INVALID_PARAM_VALUE')
  if (side !== undefined) {
    if (given.autoSize !== null && given.autoSize !== `close_${side}`) refuse('INVALID_PARAM_VALUE')
    // Only a plan closes a part.
    if (size !== 0n && (!kind.startsWith('plan-') || size < 0n !== (side === 'long')))
      refuse('INVALID_PARAM_VALUE')
  }
  const tif = given.tif ?? (given.price === 0n ? 'ioc' : 'gtc')
  if (given.price === 0n && tif !== 'ioc') refuse('INVALID_PARAM_VALUE')
  checkTrading(w, c)
  if (w.account(path.user, path.account) === undefined) refuse('USER_NOT_FOUND')
  if (given.price % c.tick !== 0n) refuse('INVALID_PRECISION')
  refuseLiquidating(w, path.user, c)
  if (!closes) checkSize(c, abs(size), given.price === 0n)
  return { ...given, tif, reduceOnly: closes || given.reduceOnly || side !== undefined }
}
export function createPriceOrder(w: World, input: NewPriceOrder): number {
  const { user, account, kind, type, above, trigger } = input
  const c = contractOf(w, account, input.contract)
  const initial = readInitial(w, input, c, input.initial, kind)
  readTrigger(c, trigger)
  checkRoom(w, input)
  checkAhead(trigger, above, priceNow(w, c, type))
  const side = sideOf(kind)
  if (side !== undefined) {
    const { size } = w.position(user, c, w.isDual(user, account) ? `dual_${side}` : 'single')
    if (side === 'long' ? size <= 0n : size >= 0n) refuse('POSITION_EMPTY')
  }
  const id = w.next('price order')
  w.priceOrders.set(id, {
    id,
    user,
    contract: c.id,
    kind,
    type,
    above,
    trigger,
    initial,
    of: 0,
    status: 'open',
    finish: '',
    reason: '',
    placed: 0,
    ended: 0,
  })
  if (input.expiration > 0)
    w.schedule(w.at + input.expiration * 1e6, 'futures.price_order.expire', '', { id })
  return id
}
function waitingOrder(w: World, { user, account }: Path, id: number): PriceOrder {
  const row = w.priceOrders.get(id)
  if (row?.user !== user || !row.contract.startsWith(`${account}/`)) return refuse('ORDER_NOT_FOUND')
  return isWaiting(row) ? row : refuse('ORDER_FINISHED')
}
/** Null: as it was. */
export function amendPriceOrder(
  w: World,
  path: Path,
  id: number,
  change: { size: string | null; price: bigint | null; trigger: bigint | null; type: PriceType | null },
): number {
  const row = waitingOrder(w, path, id)
  const c = w.contract(row.contract)
  const { initial: before } = row
  const price = change.price ?? before.price
  const size = change.size ?? before.size
  const tif = (price === 0n) === (before.price === 0n) ? before.tif : null
  // The size of a stop is what its order has opened.
  if (row.of !== 0 && change.size !== null) refuse('INVALID_PARAM_VALUE')
  if (row.of !== 0 && price % c.tick !== 0n) refuse('INVALID_PRECISION')
  const initial =
    row.of !== 0 ? { ...before, price } : readInitial(w, path, c, { ...before, size, price, tif }, row.kind)
  const trigger = change.trigger === null ? row.trigger : readTrigger(c, change.trigger)
  const type = change.type ?? row.type
  const moved = trigger !== row.trigger || type !== row.type
  // Before its order is filled that one's price counts.
  const order = row.status === 'inactive' ? w.orders.get(row.of) : undefined
  if (moved) checkAhead(trigger, row.above, order === undefined ? priceNow(w, c, type) : order.price)
  const same = initial.size === before.size && initial.price === before.price && initial.tif === before.tif
  if (!moved && same) refuse('NO_CHANGE')
  Object.assign(row, { trigger, type, initial })
  return id
}
export function endPriceOrder(w: World, row: PriceOrder, finish: string, reason: string): void {
  Object.assign(row, { status: 'finished', finish, reason, ended: w.at })
  w.due = w.due.filter(({ kind, input }) => kind !== 'futures.price_order.expire' || input['id'] !== row.id)
  w.meet(`price order ${finish}${reason === '' ? '' : ` ${reason}`}`)
}
export function cancelPriceOrder(w: World, path: Path, id: number): void {
  endPriceOrder(w, waitingOrder(w, path, id), 'cancelled', '')
}
export function cancelPriceOrders(w: World, path: Path, contract: string | null): void {
  const only = contract === null ? undefined : contractOf(w, path.account, contract).id
  for (const row of w.priceOrders.values())
    if (
      isWaiting(row) &&
      row.user === path.user &&
      row.contract.startsWith(`${path.account}/`) &&
      (only === undefined || row.contract === only)
    )
      endPriceOrder(w, row, 'cancelled', '')
}
export function expirePriceOrder(w: World, id: number): void {
  const row = w.priceOrders.get(id)!
  if (row.status === 'open') endPriceOrder(w, row, 'expired', '')
}

export interface NewTrail extends Path {
  readonly contract: string
  readonly amount: string
  readonly activation: bigint
  readonly above: boolean | null
  readonly type: PriceType
  readonly offset: string
  readonly reduceOnly: boolean
  readonly related: boolean
  readonly marginMode: string | null
  readonly positionMode: string | null
}
export function readOffset(c: Contract, text: string): Trail['offset'] {
  const ratio = text.endsWith('%')
  const by = ratio ? dec(text.slice(0, -1)) / 100n : dec(text)
  if (by === 0n || (ratio && by >= E)) refuse('INVALID_PARAM_VALUE')
  if (!ratio && by % c.tick !== 0n) refuse('INVALID_PRECISION')
  return { by, ratio }
}
export function readAmount(text: string): bigint {
  if (text.includes('.')) refuse('INVALID_PRECISION')
  return BigInt(text) === 0n ? refuse('INVALID_PARAM_VALUE') : BigInt(text)
}
export function createTrail(w: World, input: NewTrail): number {
  const { user, account } = input
  if (input.related && !input.reduceOnly) refuse('INVALID_PARAM_VALUE')
  const c = contractOf(w, account, input.contract)
  const amount = readAmount(input.amount)
  const offset = readOffset(c, input.offset)
  checkTrading(w, c)
  if (w.account(user, account) === undefined) refuse('USER_NOT_FOUND')
  const activation = input.activation === 0n ? 0n : readTrigger(c, input.activation)
  refuseLiquidating(w, user, c)
  checkSize(c, abs(amount), true)
  checkRoom(w, input)
  const dual = w.isDual(user, account)
  if (input.positionMode !== null && (input.positionMode === 'dual') !== dual) refuse('INVALID_PARAM_VALUE')
  const buy = amount > 0n
  const row = w.position(user, c, modeOf(w, { user, buy, reduceOnly: input.reduceOnly }, c))
  if (input.marginMode !== null && input.marginMode !== (isCross(row) ? 'cross' : 'isolated'))
    refuse('INVALID_PARAM_VALUE')
  if (input.related && closable(row, buy) === 0n) refuse('POSITION_EMPTY')
  const now = priceNow(w, c, input.type) ?? refuse('INVALID_PARAM_VALUE')
  const trail: Trail = {
    id: w.next('trail'),
    user,
    contract: c.id,
    amount,
    activation,
    above: input.above ?? activation >= now,
    type: input.type,
    offset,
    offsetText: input.offset,
    reduceOnly: input.reduceOnly,
    related: input.related,
    marginMode: input.marginMode,
    status: 'pending',
    extremum: 0n,
    placed: 0,
    label: '',
    ended: 0,
  }
  w.trails.set(trail.id, trail)
  begin(w, trail, now)
  return trail.id
}
const begins = ({ activation, above }: Trail, now: bigint): boolean =>
  activation === 0n || (above ? now >= activation : now <= activation)
function begin(w: World, trail: Trail, now: bigint): void {
  if (begins(trail, now)) activate(w, trail, now)
}
function activate(w: World, trail: Trail, now: bigint): void {
  follow(w, trail.contract, trail.type, now)
  Object.assign(trail, { status: 'active', extremum: now })
  w.meet('trail active')
}
/** Those that are active follow the price: a buy down, a sell up. */
function follow(w: World, contract: string, type: PriceType, price: bigint): void {
  for (const trail of w.trails.values())
    if (trail.status === 'active' && trail.contract === contract && trail.type === type)
      trail.extremum = trail.amount > 0n ? min(trail.extremum, price) : max(trail.extremum, price)
}
/** Where it fires, before it is on a tick. */
function firesAt({ amount, extremum, offset: { by, ratio } }: Trail): bigint {
  if (!ratio) return amount > 0n ? extremum + by : extremum - by
  return amount > 0n ? floorDiv(extremum * (E + by), E) : ceilDiv(extremum * (E - by), E)
}
/** Towards what it follows. */
export const triggerOf = (c: Contract, trail: Trail): bigint =>
  trail.amount > 0n ? floorTo(firesAt(trail), c.tick) : ceilTo(firesAt(trail), c.tick)

function trailOf(w: World, { user, account }: Path, id: number): Trail {
  const trail = w.trails.get(id)
  if (trail?.user !== user || !trail.contract.startsWith(`${account}/`)) return refuse('ORDER_NOT_FOUND')
  return isTrailing(trail) ? trail : refuse('ORDER_FINISHED')
}
export function updateTrail(
  w: World,
  path: Path,
  id: number,
  change: {
    amount: string | null
    activation: bigint | null
    above: boolean | null
    type: PriceType | null
    offset: string | null
  },
): number {
  const trail = trailOf(w, path, id)
  const c = w.contract(trail.contract)
  const amount = change.amount === null ? trail.amount : readAmount(change.amount)
  if (amount > 0n !== trail.amount > 0n) refuse('INVALID_PARAM_VALUE')
  checkSize(c, abs(amount), true)
  const active = trail.status === 'active'
  const offset = change.offset === null ? trail.offset : readOffset(c, change.offset)
  const type = change.type ?? trail.type
  const now = priceNow(w, c, type) ?? refuse('INVALID_PARAM_VALUE')
  const activation =
    change.activation === null
      ? trail.activation
      : change.activation === 0n
        ? 0n
        : readTrigger(c, change.activation)
  const above = change.above ?? (active || change.activation === null ? trail.above : activation >= now)
  // What has begun keeps where it began.
  if (active && (activation !== trail.activation || above !== trail.above)) refuse('INVALID_PARAM_VALUE')
  const offsetText = change.offset ?? trail.offsetText
  const turned = type !== trail.type
  if (
    amount === trail.amount &&
    activation === trail.activation &&
    above === trail.above &&
    !turned &&
    offsetText === trail.offsetText
  )
    refuse('NO_CHANGE')
  Object.assign(trail, { amount, offset, offsetText, type, activation, above })
  touch(w, c.id)
  if (!active) begin(w, trail, now)
  else if (turned) {
    // Another price has another extreme.
    trail.extremum = now
    activate(w, trail, now)
  }
  return id
}
function endTrail(w: World, trail: Trail, status: Trail['status']): void {
  Object.assign(trail, { status, ended: w.at })
  w.meet(`trail ${status}`)
}
export const stopTrail = (w: World, path: Path, id: number): void =>
  endTrail(w, trailOf(w, path, id), 'cancelled')
export function stopTrails(w: World, path: Path, contract: string | null, related: string | null): void {
  const only = contract === null ? undefined : contractOf(w, path.account, contract).id
  for (const trail of w.trails.values())
    if (
      isTrailing(trail) &&
      trail.user === path.user &&
      trail.contract.startsWith(`${path.account}/`) &&
      (only === undefined || trail.contract === only) &&
      (related === null || (trail.related && trail.amount < 0n === (related === 'long')))
    )
      endTrail(w, trail, 'cancelled')
}

/** All of somebody's, or all in a contract: nobody waits for anything any more. */
export function cancelWaiting(w: World, rows: readonly (PriceOrder | Trail)[], reason: string): void {
  for (const row of rows)
    if ('kind' in row) endPriceOrder(w, row, 'cancelled', reason)
    else endTrail(w, row, 'cancelled')
}
/** A position has ended: what would close it goes with it. */
export function closersEnd(w: World, user: number, contract: string, long: boolean): void {
  for (const row of w.waiting()) {
    if (row.user !== user || row.contract !== contract) continue
    if ('kind' in row) {
      if (sideOf(row.kind) !== (long ? 'long' : 'short') || row.status !== 'open') continue
      // While its order is open, that may open another position.
      if (row.of !== 0 && (w.orders.has(row.of) || w.matching === row.of)) {
        row.status = 'inactive'
        row.initial.size = '0'
        w.meet('stop inactive again')
      } else endPriceOrder(w, row, 'cancelled', 'position_closed')
    } else if (row.related && row.amount < 0n === long) endTrail(w, row, 'cancelled')
  }
}

/** A price of a contract may be another one now. */
export function touch(w: World, contract: string): void {
  if ([...w.waiting(), ...w.chasing()].some((row) => row.contract === contract)) w.moved.add(contract)
}
/** What a command fires at most; the rest is due at once. */
const AT_ONCE = 50
/** A command is through: whatever its prices have reached is placed, one after the other. */
export function fire(w: World): void {
  let fired = 0
  for (;;) {
    const [contract] = w.moved
    if (contract === undefined) return
    w.moved.delete(contract)
    for (;;) {
      const work = reached(w, w.contract(contract))
      if (work === undefined) break
      if (fired === AT_ONCE) {
        w.schedule(w.at, 'futures.fire', contract)
        break
      }
      fired++
      work()
    }
    watchChases(w, contract)
  }
}
/** The nearest trigger of those above that the price has reached, then of those below; of equal ones the oldest. */
function nearest<T extends { readonly id: number }>(
  rows: readonly T[],
  price: bigint,
  of: (row: T) => { readonly above: boolean; readonly at: bigint },
): T | undefined {
  for (const above of [true, false]) {
    const found = rows
      .filter((row) => of(row).above === above && (above ? price >= of(row).at : price <= of(row).at))
      .sort((a, b) => {
        const by = above ? of(a).at - of(b).at : of(b).at - of(a).at
        return by === 0n ? a.id - b.id : by > 0n ? 1 : -1
      })
    if (found[0] !== undefined) return found[0]
  }
  return undefined
}
function reached(w: World, c: Contract): (() => void) | undefined {
  if (c.status !== 'trading' || (c.expires !== 0 && c.expires * 1e6 <= w.at)) return undefined
  for (const type of TYPES) {
    const price = priceNow(w, c, type)
    if (price === undefined) continue
    const orders = [...w.priceOrders.values()].filter(
      (row) => row.status === 'open' && row.contract === c.id && row.type === type,
    )
    const order = nearest(orders, price, ({ above, trigger }) => ({ above, at: trigger }))
    if (order !== undefined) return () => firePriceOrder(w, c, order)
    follow(w, c.id, type, price)
    const trails = [...w.trails.values()].filter((row) => row.contract === c.id && row.type === type)
    const pending = trails.filter(({ status }) => status === 'pending')
    const next = nearest(pending, price, ({ above, activation }) => ({ above, at: activation }))
    if (next !== undefined) return () => activate(w, next, price)
    const active = trails.filter(({ status }) => status === 'active')
    for (const buys of [true, false]) {
      // The one whose line is nearest fires first, and only where its trigger, on a tick, is reached.
      const [first] = active
        .filter(({ amount }) => amount > 0n === buys)
        .sort((a, b) => {
          const by = buys ? firesAt(a) - firesAt(b) : firesAt(b) - firesAt(a)
          return by === 0n ? a.id - b.id : by > 0n ? 1 : -1
        })
      if (first === undefined) continue
      const at = triggerOf(c, first)
      if (buys ? price >= at : price <= at) return () => fireTrail(w, c, first)
    }
  }
  return undefined
}
/** All of the order is placed, or it has failed. */
function tryTo(w: World, work: () => number): { readonly placed: number; readonly label: string } {
  try {
    return { placed: w.whole(work), label: '' }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { placed: 0, label: error.label }
  }
}
export const PLAIN = {
  autoSize: null,
  stpAct: null,
  iceberg: null,
  slip: null,
  slipRate: null,
  close: false,
  takeProfit: null,
  stopLoss: null,
} as const
const accountOf = ({ account }: Contract): string => account

function firePriceOrder(w: World, c: Contract, { id, user, initial, of }: PriceOrder): void {
  endPriceOrder(w, w.priceOrders.get(id)!, 'succeeded', '')
  const given = CLIENT_TEXT.test(initial.text) ? initial.text : null
  const { placed, label } = tryTo(w, () => {
    for (const other of stopsOf(w, of)) endPriceOrder(w, other, 'cancelled', 'other_stop_fired')
    return place(
      w,
      { ...PLAIN, ...initial, user, account: accountOf(c), contract: c.name, text: given },
      { text: given === null ? `ao-${id}` : null, origin: `price_order:${id}`, anySize: of !== 0 },
    ).id
  })
  const row = w.priceOrders.get(id)!
  row.placed = placed
  if (label === '') return
  Object.assign(row, { finish: 'failed', reason: label })
  w.meet(`price order failed ${label}`)
}
function fireTrail(w: World, c: Contract, { id, user, amount, reduceOnly, marginMode }: Trail): void {
  endTrail(w, w.trails.get(id)!, 'success')
  const { placed, label } = tryTo(
    w,
    () =>
      place(
        w,
        {
          ...PLAIN,
          user,
          account: accountOf(c),
          contract: c.name,
          size: String(amount),
          price: 0n,
          tif: 'ioc',
          text: null,
          reduceOnly,
          marginMode,
        },
        { text: `apiv4-auto-trail-o-${id}`, origin: `trail_order:${id}` },
      ).id,
  )
  const row = w.trails.get(id)!
  row.placed = placed
  if (label === '') return
  Object.assign(row, { status: 'failed', label })
  w.meet(`trail failed ${label}`)
}
