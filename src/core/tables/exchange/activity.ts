import { dayOf } from '../../time.ts'
import { ZERO, type Amount, type Rate } from '../../../money/amount.ts'
import { GroupIndex, Table, type TableSpec, type Tx } from '../../../machine/table.ts'

/** What an account did in a day, for its fill ratio. */
export interface ActivityDay {
  /** user_id x 10^5 + day. */
  readonly id: number
  readonly user_id: number
  /** Days since 1970, UTC. */
  readonly day: number
  /** Placements, cancellations and amendments. */
  readonly requests: number
  /** USDT traded, weighted by market and role. */
  readonly volume: Amount
}
const daySpec = (name: string): TableSpec<ActivityDay> => ({
  name,
  key: ['id'],
  columns: { id: 'int', user_id: 'int', day: 'int', requests: 'int', volume: 'amount' },
})
/** The ratio of the last midnight. */
export interface FillRatio {
  readonly user_id: number
  readonly ratio: Rate
  /** Over the main account and all its sub-accounts. */
  readonly main_ratio: Rate
  /** Seconds. */
  readonly updated_at: number
}
const ratioSpec = (name: string): TableSpec<FillRatio> => ({
  name,
  key: ['user_id'],
  columns: { user_id: 'int', ratio: 'amount', main_ratio: 'amount', updated_at: 'int' },
})

/** Days fit into five digits for two centuries. */
const DAYS_MAX = 100_000

export class Activity {
  readonly days: Table<ActivityDay>
  readonly ratios: Table<FillRatio>
  private readonly byUser: GroupIndex<ActivityDay, number>

  constructor(venue: 'spot' | 'contract') {
    this.days = new Table(daySpec(`${venue}_activity`))
    this.ratios = new Table(ratioSpec(`${venue}_ratio`))
    this.byUser = new GroupIndex(this.days, (row) => row.user_id)
  }

  of(userId: number): IterableIterator<ActivityDay> {
    return this.byUser.get(userId)
  }
  add(tx: Tx, userId: number, at: number, requests: number, volume: Amount): void {
    const day = dayOf(at)
    const id = userId * DAYS_MAX + day
    const before = this.days.get(id)
    let row = tx.own(before)
    if (row === undefined) {
      row = {
        id,
        user_id: userId,
        day,
        requests: before?.requests ?? 0,
        volume: before?.volume ?? ZERO,
        stamp: tx.stamp,
      }
      tx.replace(this.days, id, before, row)
    }
    row.requests += requests
    if (volume > 0n) row.volume = (row.volume + volume) as Amount
  }
}
