import { isCross } from './margin.ts'
import { E, abs, ceilTo, dec, floorTo, max, min } from './numbers.ts'
import { amend, checkSize, checkTrading, contractOf, place, refuseLiquidating } from './orders.ts'
import { followBook } from './prices.ts'
import { endOrder } from './trading.ts'
import { checkRoom, type Path } from './triggers.ts'
import { PLAIN, readAmount, readOffset, touch } from './waiting.ts'
import { Refused, refuse, type Chase, type Contract, type World } from './world.ts'

/** 2.14 of the specification: orders that are kept at the best price of their side, or at a gap from it. */

/** One is amended at most once in this time, and a book is looked at as often. */
const SECOND = 1e6

export interface NewChase extends Path {
  readonly contract: string
  readonly amount: string
  /** "0": none. */
  readonly priceLimit: string | null
  readonly offsetLimit: string | null
  readonly reduceOnly: boolean
  readonly text: string
  readonly type: number
  readonly gapType: number | null
  readonly gap: string | null
  readonly dual: boolean | null
  readonly marginMode: string | null
  readonly positionMode: string | null
}
function readGap(c: Contract, { type, gapType, gap }: NewChase): Chase['gap'] {
  if (type === 1) return undefined
  if (gapType === null || gap === null) return refuse('MISSING_REQUIRED_PARAM')
  return readOffset(c, gapType === 2 ? `${gap}%` : gap)
}
/** Never nearer to the other side than was asked for. */
const onTick = (c: Contract, buys: boolean, price: bigint): bigint =>
  buys ? floorTo(price, c.tick) : ceilTo(price, c.tick)

function readLimit(c: Contract, { priceLimit, offsetLimit }: NewChase, buys: boolean, best: bigint): bigint {
  if (offsetLimit === null) {
    const limit = dec(priceLimit!)
    return limit % c.tick === 0n ? limit : refuse('INVALID_PRECISION')
  }
  const { by, ratio } = readOffset(c, offsetLimit)
  const away = ratio ? (best * by) / E : by
  const limit = buys ? best + away : best - away
  return limit > 0n ? onTick(c, buys, limit) : refuse('INVALID_PARAM_VALUE')
}
/** The best price of a side; of the others' orders alone where one is named. */
const bestOf = (w: World, c: Contract, buys: boolean, besides = 0): bigint | undefined =>
  w.side(c.id, buys).find(({ id }) => id !== besides)?.price

function wantedPrice(c: Contract, { amount, gap, limit }: Chase, best: bigint): bigint {
  const buys = amount > 0n
  const away = gap === undefined ? 0n : gap.ratio ? (best * gap.by) / E : gap.by
  let price = buys ? best - away : best + away
  if (limit > 0n) price = buys ? min(price, limit) : max(price, limit)
  return max(c.tick, onTick(c, buys, price))
}

export function createChase(w: World, input: NewChase): number {
  const { user, account } = input
  const c = contractOf(w, account, input.contract)
  const amount = readAmount(input.amount)
  const buys = amount > 0n
  const { priceLimit, offsetLimit } = input
  if (priceLimit !== null && offsetLimit !== null && dec(priceLimit) !== 0n) refuse('INVALID_PARAM_VALUE')
  if (priceLimit === null && offsetLimit === null) refuse('MISSING_REQUIRED_PARAM')
  const gap = readGap(c, input)
  const dual = w.isDual(user, account)
  if (input.dual !== null && input.dual !== dual) refuse('INVALID_PARAM_VALUE')
  if (input.positionMode !== null && (input.positionMode === 'dual') !== dual) refuse('INVALID_PARAM_VALUE')
  checkTrading(w, c)
  if (w.account(user, account) === undefined) refuse('USER_NOT_FOUND')
  refuseLiquidating(w, user, c)
  checkSize(c, abs(amount), false)
  const best = bestOf(w, c, buys) ?? refuse('CONTRACT_NO_COUNTER')
  const limit = readLimit(c, input, buys, best)
  checkRoom(w, input)
  const chase: Chase = {
    id: w.next('chase'),
    user,
    contract: c.id,
    amount,
    limit,
    gap,
    text: input.text,
    order: 0,
    wanted: best,
    amended: w.at,
    status: 'active',
    label: '',
    reason: '',
    end: undefined,
    ended: 0,
  }
  w.chases.set(chase.id, chase)
  chase.wanted = wantedPrice(c, chase, best)
  const order = place(
    w,
    {
      ...PLAIN,
      user,
      account,
      contract: c.name,
      size: String(amount),
      price: chase.wanted,
      tif: 'poc',
      text: null,
      reduceOnly: input.reduceOnly,
      marginMode: input.marginMode,
    },
    { text: `apiv4-auto-chase-o-${chase.id}`, origin: `chase_order:${chase.id}` },
  )
  chase.order = order.id
  return chase.id
}

function stop(w: World, { order, contract }: Chase): void {
  endOrder(w, w.orders.get(order)!, 'cancelled')
  followBook(w, w.contract(contract))
}
/** By its id, or by the text that its owner gave it: of several the newest. */
export function stopChase(w: World, { user, account }: Path, name: number | string): void {
  const own = [...w.chases.values()].filter(
    (one) => one.user === user && one.contract.startsWith(`${account}/`),
  )
  const chase =
    typeof name === 'number'
      ? own.find(({ id }) => id === name)
      : own.findLast(({ text, status }) => text === name && status === 'active')
  if (chase === undefined) return refuse('ORDER_NOT_FOUND')
  if (chase.status !== 'active') refuse('ORDER_FINISHED')
  stop(w, chase)
}
export function stopChases(
  w: World,
  { user, account }: Path,
  contract: string | null,
  mode: string | null,
): void {
  const only = contract === null ? undefined : contractOf(w, account, contract).id
  for (const chase of w.chasing()) {
    if (chase.user !== user || !chase.contract.startsWith(`${account}/`)) continue
    if (only !== undefined && chase.contract !== only) continue
    const [row] = w.positionsOf(user, w.contract(chase.contract))
    if (mode === null || mode === (isCross(row!) ? 'cross' : 'isolated')) stop(w, chase)
  }
}

const bestNow = (w: World, contract: string): { bid: bigint; ask: bigint } => ({
  bid: w.side(contract, true)[0]?.price ?? 0n,
  ask: w.side(contract, false)[0]?.price ?? 0n,
})
const chasingIn = (w: World, contract: string): Chase[] =>
  w.chasing().filter((chase) => chase.contract === contract)
const LOOK = 'futures.chase.look'
/** A command is through: where the best prices are others than those who chase saw last, they look again. */
export function watchChases(w: World, contract: string): void {
  if (chasingIn(w, contract).length === 0) return
  if (w.due.some(({ kind, of }) => kind === LOOK && of === contract)) return
  const seen = w.seen.get(contract)
  const { bid, ask } = bestNow(w, contract)
  if (seen !== undefined && seen.bid === bid && seen.ask === ask) return
  w.schedule(Math.max(w.at, (seen?.at ?? 0) + SECOND), LOOK, contract)
}
/** What leaves an order where it is, and ends no chase. */
const STAYS: readonly string[] = [
  'ORDER_POC_IMMEDIATE',
  'PRICE_TOO_DEVIATED',
  'PRICE_OVER_BANKRUPT',
  'TRADE_RESTRICTED',
  'POSITION_IN_LIQUIDATION',
]
export function lookAtChases(w: World, c: Contract): void {
  const chases = chasingIn(w, c.id).sort((a, b) => a.id - b.id)
  if (chases.length === 0) {
    w.seen.delete(c.id)
    return
  }
  // What they change themselves is for the next look.
  w.seen.set(c.id, { ...bestNow(w, c.id), at: w.at })
  let again = false
  if (c.status === 'trading' && (c.expires === 0 || c.expires * 1e6 > w.at))
    for (const { id } of chases) if (isTooSoon(w, c, w.chases.get(id)!)) again = true
  if (again) w.schedule(w.at + SECOND, LOOK, c.id)
  else touch(w, c.id)
}
function isTooSoon(w: World, c: Contract, chase: Chase): boolean {
  const { id, amount, gap } = chase
  const order = w.orders.get(chase.order)
  if (order === undefined) return false
  // At the best price it may be the best itself; behind a gap it would run away from itself.
  const best = bestOf(w, c, amount > 0n, gap === undefined ? 0 : order.id)
  const wanted = best === undefined ? order.price : wantedPrice(c, chase, best)
  if (wanted === order.price) return false
  if (w.at < chase.amended + SECOND) return true
  const path = { user: chase.user, account: c.account }
  try {
    w.whole(() => amend(w, { ...path, id: order.id, size: null, price: wanted, amendText: null }))
    Object.assign(w.chases.get(id)!, { wanted, amended: w.at })
    w.meet('chase amended')
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (STAYS.includes(error.label)) {
      w.meet(`chase stays ${error.label}`)
      return false
    }
    w.chases.get(id)!.label = error.label
    stop(w, w.chases.get(id)!)
    w.meet(`chase failed ${error.label}`)
  }
  return false
}
