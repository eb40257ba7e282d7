import type { Amount, Price, Rate } from '../../../money/amount.ts'
import { GroupIndex, Table, type TableSpec } from '../../../machine/table.ts'
import type { Side } from '../exchange/order.ts'

/** How a POV order ended; empty while it is open. */
export type TerminatedAs = '' | 'filled' | 'cancelled' | 'expired' | 'failed'

/** An order that follows the market: each second it takes a share of what others have traded. */
export interface PovOrder {
  readonly id: number
  readonly user_id: number
  readonly pair: string
  readonly side: Side
  /** Base. */
  readonly amount: Amount
  readonly left: Amount
  readonly participation_rate: Rate
  /** Seconds. */
  readonly ttl: number
  /** As it was asked for; empty: none. */
  readonly limit_price: string
  readonly trigger_price: string
  /** The worst price that it takes. */
  readonly bound: Price
  /** Which way the last price must come to the trigger. */
  readonly rule: '' | '>=' | '<='
  readonly text: string
  readonly status: 'open' | 'finished'
  readonly terminated_as: TerminatedAs
  readonly reason: string
  /** What the ledger holds for it, in the currency that it pays with. */
  readonly held: Amount
  /** Base that it may take and has not, because it was less than an order's minimum. */
  readonly budget: Amount
  /** The market's volume at its last look, and what its owner has traded since. */
  readonly seen_volume: Amount
  readonly own: Amount
  /** Microseconds; 0: not yet. */
  readonly start_at: number
  readonly end_at: number
  readonly expire_at: number
  readonly create_at: number
  readonly update_at: number
  readonly due_id: number
}
export const SPOT_POV_ORDER: TableSpec<PovOrder> = {
  name: 'spot_pov_order',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    pair: 'text',
    side: 'text',
    amount: 'amount',
    left: 'amount',
    participation_rate: 'amount',
    ttl: 'int',
    limit_price: 'text',
    trigger_price: 'text',
    bound: 'amount',
    rule: 'text',
    text: 'text',
    status: 'text',
    terminated_as: 'text',
    reason: 'text',
    held: 'amount',
    budget: 'amount',
    seen_volume: 'amount',
    own: 'amount',
    start_at: 'int',
    end_at: 'int',
    expire_at: 'int',
    create_at: 'int',
    update_at: 'int',
    due_id: 'int',
  },
  live: ({ status }) => status === 'open',
}

export class PovOrders {
  readonly table = new Table(SPOT_POV_ORDER)
  private readonly byUser = new GroupIndex(this.table, ({ status, user_id }) =>
    status === 'open' ? user_id : undefined,
  )
  private readonly byPlace = new GroupIndex(this.table, ({ status, user_id, pair }) =>
    status === 'open' ? `${user_id}/${pair}` : undefined,
  )
  /** How many are open: most markets have none, and then a fill need not look. */
  open = 0
  constructor() {
    this.table.observe((before, after) => {
      if (before?.status === 'open') this.open--
      if (after?.status === 'open') this.open++
    })
  }
  /** Oldest first. */
  openOf(userId: number): PovOrder[] {
    return [...this.byUser.get(userId)].sort((a, b) => a.id - b.id)
  }
  /** Of the few that are open. */
  openWithText(userId: number, text: string): PovOrder | undefined {
    return this.openOf(userId).find((order) => order.text === text)
  }
  openAt(userId: number, pair: string): PovOrder[] {
    return [...this.byPlace.get(`${userId}/${pair}`)].sort((a, b) => a.id - b.id)
  }
  openCount(userId: number): number {
    return this.byUser.count(userId)
  }
}
