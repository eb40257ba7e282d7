import { Sorted } from '../../sorted.ts'
import type { Price } from '../../../money/amount.ts'
import { GroupIndex, Table, type TableSpec } from '../../../machine/table.ts'
import type { OrderType, Side } from '../exchange/order.ts'

export type TriggerRule = '>=' | '<='
export type PriceOrderStatus = 'open' | 'cancelled' | 'finish' | 'failed' | 'expired'
export type PriceOrderAccount = 'normal' | 'margin' | 'unified'
/** The order that is placed when the price is reached. */
export interface PutOrder {
  readonly type: OrderType
  readonly side: Side
  readonly price: string
  readonly amount: string
  readonly account: PriceOrderAccount
  readonly time_in_force: 'gtc' | 'ioc'
  readonly auto_borrow: boolean
  readonly auto_repay: boolean
  readonly text: string
}
/** Waits for the last price to reach its trigger, then places an order. It holds no money while it waits. */
export interface PriceOrder {
  readonly id: number
  readonly user_id: number
  readonly pair: string
  readonly trigger_price: Price
  readonly rule: TriggerRule
  /** Seconds. */
  readonly expiration: number
  readonly put: PutOrder
  readonly status: PriceOrderStatus
  readonly reason: string
  /** Microseconds; ended_at is 0 while it waits. */
  readonly created_at: number
  readonly ended_at: number
  readonly fired_order_id: number
  readonly due_id: number
  /** The order whose stop it is, or 0: when one stop of an order fires the other goes. */
  readonly parent_id: number
}
export const SPOT_PRICE_ORDER: TableSpec<PriceOrder> = {
  name: 'spot_price_order',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    pair: 'text',
    trigger_price: 'amount',
    rule: 'text',
    expiration: 'int',
    put: 'json',
    status: 'text',
    reason: 'text',
    created_at: 'int',
    ended_at: 'int',
    fired_order_id: 'int',
    due_id: 'int',
    parent_id: 'int',
  },
  live: (order) => order.status === 'open',
}

/** Waiting price orders of one market and rule; the next to fire is the last. */
class Waiting extends Sorted<PriceOrder> {
  private readonly rule: TriggerRule
  constructor(rule: TriggerRule) {
    super((one, other) => {
      if (one.trigger_price === other.trigger_price) return one.id > other.id
      return rule === '>=' ? one.trigger_price > other.trigger_price : one.trigger_price < other.trigger_price
    })
    this.rule = rule
  }
  reached(last: Price): PriceOrder | undefined {
    const next = this.last
    if (next === undefined) return undefined
    return (this.rule === '>=' ? last >= next.trigger_price : last <= next.trigger_price) ? next : undefined
  }
}

export class PriceOrders {
  readonly table = new Table(SPOT_PRICE_ORDER)
  private readonly waiting = new Map<string, Record<TriggerRule, Waiting>>()
  private readonly byUser = new GroupIndex(this.table, (order) =>
    order.status === 'open' ? order.user_id : undefined,
  )
  private readonly byParent = new GroupIndex(this.table, (order) =>
    order.status === 'open' && order.parent_id !== 0 ? order.parent_id : undefined,
  )
  constructor() {
    this.table.observe((before, after) => {
      if (before?.status === 'open') this.queue(before.pair, before.rule).remove(before)
      if (after?.status === 'open') this.queue(after.pair, after.rule).add(after)
    })
  }
  /** The next one that the last price has reached. */
  reached(pair: string, last: Price): PriceOrder | undefined {
    const queues = this.waiting.get(pair)
    return queues === undefined ? undefined : (queues['>='].reached(last) ?? queues['<='].reached(last))
  }
  /** Some of those that wait on a market, lowest id first. */
  openAt(pair: string, most: number): PriceOrder[] {
    const queues = this.waiting.get(pair)
    if (queues === undefined) return []
    return [...queues['>='].items, ...queues['<='].items].sort((a, b) => a.id - b.id).slice(0, most)
  }
  openOf(userId: number): PriceOrder[] {
    return [...this.byUser.get(userId)].sort((a, b) => a.id - b.id)
  }
  openCount(userId: number): number {
    return this.byUser.count(userId)
  }
  siblings(order: PriceOrder): PriceOrder[] {
    return order.parent_id === 0 ? [] : this.stopsOf(order.parent_id)
  }
  /** The waiting stops of an order. */
  stopsOf(orderId: number): PriceOrder[] {
    return [...this.byParent.get(orderId)].sort((a, b) => a.id - b.id)
  }
  private queue(pair: string, rule: TriggerRule): Waiting {
    let queues = this.waiting.get(pair)
    if (queues === undefined)
      this.waiting.set(pair, (queues = { '>=': new Waiting('>='), '<=': new Waiting('<=') }))
    return queues[rule]
  }
}
