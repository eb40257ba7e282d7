import type { Price } from '../../../money/amount.ts'
import { GroupIndex, Table, type TableSpec } from '../../../machine/table.ts'
import { Triggers, type PriceType, type Trigger } from './triggers.ts'

/** `inactive`: the order that it protects has no fill yet; `invalid`: and never got one. */
export type PriceOrderStatus = 'open' | 'finished' | 'inactive' | 'invalid'
export type PriceOrderEnd = 'cancelled' | 'succeeded' | 'failed' | 'expired'
/** Those that close a position go with it. Of an order are the two that protect what it opens. */
export const POSITION_KINDS = [
  'close-long-position',
  'close-short-position',
  'plan-close-long-position',
  'plan-close-short-position',
] as const
export type PositionKind = (typeof POSITION_KINDS)[number]
export type OrderKind = 'close-long-order' | 'close-short-order'
export type PriceOrderKind = PositionKind | OrderKind | ''

/** The order that is placed when the price is reached. */
export interface InitialOrder {
  /** Digits, signed. */
  readonly size: string
  /** "0": a market order. */
  readonly price: string
  readonly tif: 'gtc' | 'ioc'
  readonly text: string
  readonly close: boolean
  readonly reduce_only: boolean
  readonly auto_size: 'close_long' | 'close_short' | ''
  /** What was asked for; '': nothing. */
  readonly pos_margin_mode: 'isolated' | 'cross' | ''
}
/** Waits for a price of its contract, then places an order. It has no margin while it waits. */
export interface ContractPriceOrder {
  readonly id: number
  readonly user_id: number
  /** The contract's id. */
  readonly contract: string
  /** group/settle. */
  readonly account: string
  readonly order_type: PriceOrderKind
  readonly price_type: PriceType
  /** 1: at or above; 2: at or below. */
  readonly rule: 1 | 2
  readonly trigger_price: Price
  /** Seconds; 0: it waits for ever. */
  readonly expiration: number
  readonly initial: InitialOrder
  /** Of the position when it was created. */
  readonly pos_margin_mode: 'isolated' | 'cross'
  readonly status: PriceOrderStatus
  /** '' while it waits. */
  readonly finish_as: PriceOrderEnd | ''
  readonly reason: string
  /** The order that it placed; 0: none. */
  readonly trade_id: number
  /** The order that it protects; 0: none. */
  readonly me_order_id: number
  readonly due_id: number
  /** Microseconds; ended_at is 0 while it waits. */
  readonly created_at: number
  readonly ended_at: number
}
export const CONTRACT_PRICE_ORDER: TableSpec<ContractPriceOrder> = {
  name: 'contract_price_order',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    order_type: 'text',
    price_type: 'text',
    rule: 'int',
    trigger_price: 'amount',
    expiration: 'int',
    initial: 'json',
    pos_margin_mode: 'text',
    status: 'text',
    finish_as: 'text',
    reason: 'text',
    trade_id: 'int',
    me_order_id: 'int',
    due_id: 'int',
    created_at: 'int',
    ended_at: 'int',
  },
  live: isWaiting,
}
export function isWaiting({ status }: ContractPriceOrder): boolean {
  return status === 'open' || status === 'inactive'
}
const triggerOf = ({ id, contract, price_type, rule, trigger_price }: ContractPriceOrder): Trigger => ({
  id,
  contract,
  price_type,
  above: rule === 1,
  price: trigger_price,
})
/** Which side it closes; undefined: it is bound to none. */
export const closesLong = ({ order_type }: ContractPriceOrder): boolean | undefined =>
  order_type === '' ? undefined : order_type.includes('close-long')
const byId = (a: ContractPriceOrder, b: ContractPriceOrder): number => a.id - b.id
const sideName = (user: number, contract: string, long: boolean): string => `${user}/${contract}/${long}`

export class ContractPriceOrders {
  readonly table = new Table(CONTRACT_PRICE_ORDER)
  private readonly triggers = new Triggers()
  private readonly byUser = this.waiting(({ user_id }) => user_id)
  private readonly byAccount = this.waiting(({ user_id, account }) => `${user_id}/${account}`)
  private readonly byContract = this.waiting(({ contract }) => contract)
  private readonly byOrder = this.waiting(({ me_order_id }) => (me_order_id === 0 ? undefined : me_order_id))
  private readonly bySide = this.waiting((order) => {
    const long = closesLong(order)
    return long === undefined ? undefined : sideName(order.user_id, order.contract, long)
  })

  constructor() {
    this.table.observe((before, after) => {
      if (before?.status === 'open') this.triggers.remove(triggerOf(before))
      if (after?.status === 'open') this.triggers.add(triggerOf(after))
    })
  }
  private waiting<K>(
    groupOf: (order: ContractPriceOrder) => K | undefined,
  ): GroupIndex<ContractPriceOrder, K> {
    return new GroupIndex(this.table, (order) => (isWaiting(order) ? groupOf(order) : undefined))
  }
  /** The next one that a price has reached. */
  reached(contract: string, type: PriceType, price: Price): ContractPriceOrder | undefined {
    const id = this.triggers.reached(contract, type, price)
    return id === undefined ? undefined : this.table.get(id)
  }
  /** All that wait, of an account (group/settle) or of all of them; lowest id first. */
  of(userId: number, account?: string): ContractPriceOrder[] {
    const found = account === undefined ? this.byUser.get(userId) : this.byAccount.get(`${userId}/${account}`)
    return [...found].sort(byId)
  }
  count(userId: number, account: string): number {
    return this.byAccount.count(`${userId}/${account}`)
  }
  /** Those that wait in a contract, whoever's they are; lowest id first. */
  in(contract: string): ContractPriceOrder[] {
    return [...this.byContract.get(contract)].sort(byId)
  }
  countIn(contract: string): number {
    return this.byContract.count(contract)
  }
  /** Those that close a side of somebody's. */
  closing(userId: number, contract: string, long: boolean): ContractPriceOrder[] {
    if (this.byContract.count(contract) === 0) return []
    const name = sideName(userId, contract, long)
    return this.bySide.count(name) === 0 ? [] : [...this.bySide.get(name)].sort(byId)
  }
  /** Those that protect what an order opens. */
  ofOrder(orderId: number): ContractPriceOrder[] {
    return this.byOrder.count(orderId) === 0 ? [] : [...this.byOrder.get(orderId)].sort(byId)
  }
}
