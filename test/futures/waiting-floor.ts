import type { NewContractPriceOrder } from '../../src/core/futures/price-orders.ts'
import type { ContractPriceOrder } from '../../src/core/tables/futures/price-orders.ts'
import { movedMarks } from '../../src/core/futures/prices.ts'
import { Floor } from './floor.ts'
import { BTC_USDT } from './world.ts'

export interface Asked {
  readonly size?: number
  readonly price?: string
  readonly tif?: 'gtc' | 'ioc'
  readonly text?: string
  readonly close?: boolean
  readonly reduce_only?: boolean
  readonly auto_size?: 'close_long' | 'close_short'
  readonly type?: 'last' | 'mark' | 'index'
  readonly expiration?: number
  readonly kind?: NewContractPriceOrder['order_type']
  readonly margin?: 'isolated' | 'cross'
}

/** Orders that wait for a price, beside those that do not. */
export class WaitingFloor extends Floor {
  asked(user: number, rule: 1 | 2, trigger: string, one: Asked, id = BTC_USDT): NewContractPriceOrder {
    return {
      ...this.path(user, id),
      initial: {
        contract: this.contract(id).name,
        size: String(one.size ?? 0),
        price: one.price ?? '0',
        tif: one.tif ?? null,
        text: one.text ?? null,
        close: one.close ?? false,
        reduce_only: one.reduce_only ?? false,
        auto_size: one.auto_size ?? null,
      },
      trigger: { price: trigger, price_type: one.type ?? 'last', rule, expiration: one.expiration ?? 0 },
      order_type: one.kind ?? '',
      pos_margin_mode: one.margin ?? null,
    }
  }
  wait(user: number, rule: 1 | 2, trigger: string, one: Asked, id = BTC_USDT): number {
    return this.must('futures.price_order.create', this.asked(user, rule, trigger, one, id)).id
  }
  notWaiting(user: number, rule: 1 | 2, trigger: string, one: Asked, id = BTC_USDT): string {
    const outcome = this.run('futures.price_order.create', this.asked(user, rule, trigger, one, id))
    return 'label' in outcome ? outcome.label : 'it waits'
  }
  row(id: number): ContractPriceOrder {
    return this.state.futures.waiting.prices.table.get(id)!
  }
  /** How it stands: its status, how it ended, why. */
  told(id: number): string {
    const { status, finish_as, reason } = this.row(id)
    return [status, finish_as, reason].filter((word) => word !== '').join(' ')
  }
  /** The order that it placed. */
  placedBy(id: number): string {
    const order = this.state.futures.orders.get(this.row(id).trade_id)
    return order === undefined ? 'none' : `${order.text} ${order.side} ${order.finish_as}`
  }
  /** A trade between two that hold enough, which is the last price then. */
  print(price: string, [maker, taker]: readonly [number, number], id = BTC_USDT): void {
    this.place(maker, id, -1, price)
    this.place(taker, id, 1, price, { tif: 'ioc' })
  }
  /** Contracts whose mark time has moved, and somebody cares. */
  marksDue(): string[] {
    return movedMarks(this.state, this.at)
  }
  /** Two with money enough for all that a test does. */
  pair(id = BTC_USDT): [number, number] {
    const amount = this.contract(id).settle === 'btc' ? '100' : '5000000'
    return [this.holder(amount, id), this.holder(amount, id)]
  }
}
