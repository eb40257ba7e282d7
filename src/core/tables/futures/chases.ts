import type { Amount, Price } from '../../../money/amount.ts'
import { GroupIndex, Table, type TableSpec } from '../../../machine/table.ts'
import { SortedIds } from '../../sorted.ts'
import type { FinishAs, Side } from '../exchange/order.ts'

export type ChaseStatus = 'active' | 'success' | 'cancelled' | 'failed'

/** Keeps a post-only order at the best price of its side, or at a gap from it. It lives as long as that order. */
export interface ChaseOrder {
  readonly id: number
  readonly user_id: number
  /** The contract's id. */
  readonly contract: string
  /** group/settle. */
  readonly account: string
  readonly side: Side
  /** Contracts, signed: above zero buys. */
  readonly amount: Amount
  /** Where it stays behind; 0: nowhere. */
  readonly limit: Price
  /** As they were sent; '': not. */
  readonly price_limit: string
  readonly offset_limit: string
  /** 1: at the best price; 2: at a gap from it. */
  readonly price_type: 1 | 2
  readonly gap_kind: 'ratio' | 'distance'
  readonly gap: Amount
  /** As it was sent. */
  readonly price_gap_value: string
  readonly reduce_only: boolean
  readonly text: string
  readonly dual: boolean
  /** What was asked for; '': nothing. */
  readonly pos_margin_mode: 'isolated' | 'cross' | ''
  readonly status: ChaseStatus
  readonly suborder_id: number
  /** The price that it wanted last. */
  readonly chase_price: Price
  /** Of its order, when it ended. */
  readonly suborder_price: Price
  readonly suborder_finish_as: FinishAs | ''
  readonly filled: Amount
  readonly filled_total: Amount
  readonly reason: string
  readonly error_label: string
  /** Microseconds; 0: not yet. */
  readonly created_at: number
  readonly amended_at: number
  readonly ended_at: number
  readonly updated_at: number
}
export const CHASE_ORDER: TableSpec<ChaseOrder> = {
  name: 'chase_order',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    side: 'text',
    amount: 'amount',
    limit: 'amount',
    price_limit: 'text',
    offset_limit: 'text',
    price_type: 'int',
    gap_kind: 'text',
    gap: 'amount',
    price_gap_value: 'text',
    reduce_only: 'bool',
    text: 'text',
    dual: 'bool',
    pos_margin_mode: 'text',
    status: 'text',
    suborder_id: 'int',
    chase_price: 'amount',
    suborder_price: 'amount',
    suborder_finish_as: 'text',
    filled: 'amount',
    filled_total: 'amount',
    reason: 'text',
    error_label: 'text',
    created_at: 'int',
    amended_at: 'int',
    ended_at: 'int',
    updated_at: 'int',
  },
  live: isChasing,
}
export function isChasing({ status }: Pick<ChaseOrder, 'status'>): boolean {
  return status === 'active'
}
/** What those who chase in a contract saw of its book last, and when they look again. */
export interface ChaseLine {
  readonly contract: string
  /** 0: there was none. */
  readonly bid: Price
  readonly ask: Price
  /** Microseconds. */
  readonly looked_at: number
  /** The look that is planned, or going on; 0: none. */
  readonly due_id: number
}
export const CHASE_LINE: TableSpec<ChaseLine> = {
  name: 'chase_line',
  key: ['contract'],
  columns: { contract: 'text', bid: 'amount', ask: 'amount', looked_at: 'int', due_id: 'int' },
}
const byId = (a: ChaseOrder, b: ChaseOrder): number => a.id - b.id

export class Chases {
  readonly table = new Table(CHASE_ORDER)
  readonly lines = new Table(CHASE_LINE)
  private readonly byAccount = this.chasing(({ user_id, account }) => `${user_id}/${account}`)
  private readonly byContract = new Map<string, SortedIds>()

  constructor() {
    this.table.observe((before, after) => {
      const [was, is] = [before, after].map((row) => row !== undefined && isChasing(row))
      if (was === is) return
      const { id, contract } = (after ?? before)!
      let ids = this.byContract.get(contract)
      if (ids === undefined) this.byContract.set(contract, (ids = new SortedIds()))
      if (is === true) ids.add(id)
      else ids.remove(id)
    })
  }
  private chasing<K>(groupOf: (order: ChaseOrder) => K): GroupIndex<ChaseOrder, K> {
    return new GroupIndex(this.table, (order) => (isChasing(order) ? groupOf(order) : undefined))
  }
  of(userId: number, account: string): ChaseOrder[] {
    return [...this.byAccount.get(`${userId}/${account}`)].sort(byId)
  }
  count(userId: number, account: string): number {
    return this.byAccount.count(`${userId}/${account}`)
  }
  /** Those in a contract that come after an id, `most` of them, lowest id first. */
  after(contract: string, id: number, most: number): ChaseOrder[] {
    const found: ChaseOrder[] = []
    for (const next of this.byContract.get(contract)?.after(id) ?? []) {
      if (found.length === most) break
      found.push(this.table.get(next)!)
    }
    return found
  }
  countIn(contract: string): number {
    return this.byContract.get(contract)?.size ?? 0
  }
}
