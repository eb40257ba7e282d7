import type { Amount, Price } from '../../../money/amount.ts'
import { GroupIndex, Table, type LogSpec, type TableSpec } from '../../../machine/table.ts'
import { trailTrigger } from '../../contracts/trails.ts'
import type { Side } from '../exchange/order.ts'
import { TrailLines, type TrailGroup } from './trail-lines.ts'
import { Triggers, type PriceType, type Trigger } from './triggers.ts'

/** `pending`: its activation price has not been reached. */
export type TrailStatus = 'pending' | 'active' | 'success' | 'cancelled' | 'failed'

/** Follows the best price since it was activated, and places a market order when the price has come back by an offset. */
export interface TrailOrder {
  readonly id: number
  readonly user_id: number
  /** The contract's id. */
  readonly contract: string
  /** group/settle. */
  readonly account: string
  readonly side: Side
  /** Contracts, signed: above zero buys. */
  readonly amount: Amount
  /** 0: active at once. */
  readonly activation_price: Price
  /** Whether it is activated at or above that price; else at or below it. */
  readonly is_gte: boolean
  readonly price_type: PriceType
  readonly offset_kind: 'ratio' | 'distance'
  readonly offset: Amount
  /** As it was sent. */
  readonly price_offset: string
  readonly reduce_only: boolean
  /** It goes with the position that it reduces. */
  readonly position_related: boolean
  readonly text: string
  readonly dual: boolean
  /** What was asked for; '': nothing. */
  readonly pos_margin_mode: 'isolated' | 'cross' | ''
  readonly status: TrailStatus
  /** While it is active: the group that keeps the extreme for it; else 0. */
  readonly group_id: number
  /** What they were when it ended; 0 before. */
  readonly extremum_price: Price
  readonly trigger_price: Price
  /** The order that it placed; 0: none. */
  readonly suborder_id: number
  readonly reason: string
  readonly error_label: string
  /** Microseconds; 0: not yet. */
  readonly created_at: number
  readonly activated_at: number
  readonly ended_at: number
  readonly updated_at: number
}
export const TRAIL_ORDER: TableSpec<TrailOrder> = {
  name: 'trail_order',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    side: 'text',
    amount: 'amount',
    activation_price: 'amount',
    is_gte: 'bool',
    price_type: 'text',
    offset_kind: 'text',
    offset: 'amount',
    price_offset: 'text',
    reduce_only: 'bool',
    position_related: 'bool',
    text: 'text',
    dual: 'bool',
    pos_margin_mode: 'text',
    status: 'text',
    group_id: 'int',
    extremum_price: 'amount',
    trigger_price: 'amount',
    suborder_id: 'int',
    reason: 'text',
    error_label: 'text',
    created_at: 'int',
    activated_at: 'int',
    ended_at: 'int',
    updated_at: 'int',
  },
  live: isTrailing,
}
export function isTrailing({ status }: Pick<TrailOrder, 'status'>): boolean {
  return status === 'pending' || status === 'active'
}
export const TRAIL_GROUP: TableSpec<TrailGroup> = {
  name: 'trail_group',
  key: ['id'],
  columns: { id: 'int', contract: 'text', price_type: 'text', buys: 'bool', extremum: 'amount' },
}
/** What a trailing order was when it was created, and after each change of it. */
export interface TrailChange {
  readonly id: number
  readonly trail_id: number
  readonly user_id: number
  readonly amount: Amount
  readonly is_gte: boolean
  readonly activation_price: Price
  readonly price_type: PriceType
  readonly price_offset: string
  readonly is_create: boolean
  readonly at: number
}
export const TRAIL_CHANGE: LogSpec<TrailChange> = {
  name: 'trail_change',
  columns: {
    id: 'int',
    trail_id: 'int',
    user_id: 'int',
    amount: 'amount',
    is_gte: 'bool',
    activation_price: 'amount',
    price_type: 'text',
    price_offset: 'text',
    is_create: 'bool',
    at: 'int',
  },
}

const activationOf = ({ id, contract, price_type, is_gte, activation_price }: TrailOrder): Trigger => ({
  id,
  contract,
  price_type,
  above: is_gte,
  price: activation_price,
})
const byId = (a: TrailOrder, b: TrailOrder): number => a.id - b.id

export class Trails {
  readonly table = new Table(TRAIL_ORDER)
  readonly groups = new Table(TRAIL_GROUP)
  private readonly activations = new Triggers()
  readonly lines = new TrailLines()
  private readonly byUser = this.waiting(({ user_id }) => user_id)
  private readonly byAccount = this.waiting(({ user_id, account }) => `${user_id}/${account}`)
  private readonly byContract = this.waiting(({ contract }) => contract)

  constructor() {
    this.table.observe((before, after) => {
      if (before?.status === 'pending') this.activations.remove(activationOf(before))
      else if (before?.status === 'active') this.lines.leave(before.group_id, before)
      if (after?.status === 'pending') this.activations.add(activationOf(after))
      else if (after?.status === 'active') this.lines.join(after.group_id, after)
    })
    this.groups.observe((before, after) => this.lines.follow((after ?? before)!.id, after))
  }
  private waiting<K>(groupOf: (order: TrailOrder) => K | undefined): GroupIndex<TrailOrder, K> {
    return new GroupIndex(this.table, (order) => (isTrailing(order) ? groupOf(order) : undefined))
  }
  /** The next one that a price activates. */
  activated(contract: string, type: PriceType, price: Price): TrailOrder | undefined {
    const id = this.activations.reached(contract, type, price)
    return id === undefined ? undefined : this.table.get(id)
  }
  /** The next one whose price has come back far enough. */
  reached(contract: string, type: PriceType, price: Price, tick: Price): TrailOrder | undefined {
    for (const buys of [true, false]) {
      const nearest = this.lines.nearest(contract, type, buys)
      if (nearest === undefined) continue
      const trigger = trailTrigger(buys, nearest.price, tick)
      if (buys ? price >= trigger : price <= trigger) return this.table.get(nearest.id)
    }
    return undefined
  }
  of(userId: number, account?: string): TrailOrder[] {
    const found = account === undefined ? this.byUser.get(userId) : this.byAccount.get(`${userId}/${account}`)
    return [...found].sort(byId)
  }
  count(userId: number, account: string): number {
    return this.byAccount.count(`${userId}/${account}`)
  }
  in(contract: string): TrailOrder[] {
    return [...this.byContract.get(contract)].sort(byId)
  }
  countIn(contract: string): number {
    return this.byContract.count(contract)
  }
}
