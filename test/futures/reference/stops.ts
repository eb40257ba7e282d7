import { dec } from './numbers.ts'
import type { NewOrder } from './orders.ts'
import { checkAhead, checkRoom, readTrigger } from './triggers.ts'
import { endPriceOrder } from './waiting.ts'
import { isWaiting, refuse, type Contract, type Order, type PriceOrder, type World } from './world.ts'

/** 2.4 of the specification: the stops of an order, and what else goes on with an order and ends with it. */

interface NewStop {
  readonly trigger: bigint
  readonly above: boolean
}
/** Only what opens, and nothing else, has any. */
export function readStops(w: World, c: Contract, input: NewOrder, order: Order, opens: boolean): NewStop[] {
  const { last } = w.priceOf(c.id)
  const stops: NewStop[] = []
  for (const [text, above] of [
    [input.takeProfit, order.buy],
    [input.stopLoss, !order.buy],
  ] as const) {
    if (text === null) continue
    if (!opens) refuse('INVALID_PARAM_VALUE')
    const trigger = readTrigger(c, dec(text))
    checkAhead(trigger, above, order.market ? last : order.price)
    stops.push({ trigger, above })
  }
  if (stops.length > 0) checkRoom(w, input, stops.length)
  return stops
}
export function addStops(w: World, order: Order, stops: readonly NewStop[]): void {
  for (const { trigger, above } of stops) {
    const id = w.next('price order')
    w.priceOrders.set(id, {
      id,
      user: order.user,
      contract: order.contract,
      kind: order.buy ? 'close-long-order' : 'close-short-order',
      type: 'last',
      above,
      trigger,
      initial: {
        size: '0',
        price: 0n,
        tif: 'ioc',
        text: '',
        close: false,
        reduceOnly: true,
        autoSize: null,
        marginMode: null,
      },
      of: order.id,
      status: 'inactive',
      finish: '',
      reason: '',
      placed: 0,
      ended: 0,
    })
  }
}
export const stopsOf = (w: World, order: number): PriceOrder[] =>
  [...w.priceOrders.values()].filter((row) => row.of === order && row.of !== 0 && isWaiting(row))

/** It has opened so many contracts: that many are protected, beside those before. */
export function stopsBegin(w: World, { id, buy }: Order, opened: bigint): void {
  for (const stop of stopsOf(w, id)) {
    stop.status = 'open'
    stop.initial.size = String(BigInt(stop.initial.size) + (buy ? -opened : opened))
    w.meet('stop open')
  }
}
/** It has ended, and what it might have protected never comes, or is gone again. */
export function stopsEnd(w: World, { id, filled }: Order): void {
  for (const stop of stopsOf(w, id)) {
    if (stop.status !== 'inactive') continue
    if (filled > 0n) endPriceOrder(w, stop, 'cancelled', 'position_closed')
    else {
      Object.assign(stop, { status: 'invalid', reason: 'order_ended', ended: w.at })
      w.meet('stop invalid')
    }
  }
}

/** A chase lives as long as its order. */
export function chaseEnds(w: World, order: Order): void {
  const { id, price, finish, filled, filledTotal } = order
  for (const chase of w.chasing()) {
    // Its first order may end before anybody has said which it is.
    if (order.more?.['origin'] !== `chase_order:${chase.id}`) continue
    const failed = chase.label !== '' || (finish !== 'filled' && finish !== 'cancelled')
    Object.assign(chase, {
      status: failed ? 'failed' : finish === 'filled' ? 'success' : 'cancelled',
      order: id,
      reason: failed && chase.label === '' ? finish : '',
      end: { price, finish, filled, filledTotal },
      ended: w.at,
    })
    w.meet(`chase ${chase.status}`)
  }
}
