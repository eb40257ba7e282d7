import { Sorted } from '../sorted.ts'
import { Table, type TableSpec } from '../../machine/table.ts'

/** Every kind of work that can fall due, by the command that does it, with what the command is given. */
export interface DueWork {
  readonly 'agents.candle': {
    currency_pair: string
    side: 'buy' | 'sell'
    price: string
    amount: string
    run: number
  }
  readonly 'agents.contract_look': Readonly<Record<string, never>>
  readonly 'agents.look': Readonly<Record<string, never>>
  readonly 'agents.trade': { currency_pair: string; side: 'buy' | 'sell'; price: string; amount: string }
  readonly 'chain.pause': { chain: string; paused: boolean; after: number }
  readonly 'chain.wake': { chain: string }
  readonly 'contract.look': Readonly<Record<string, never>>
  readonly 'contract.sweep': { contract: string }
  readonly 'futures.fund': { contract: string; sum: string; after: string }
  readonly 'futures.minute': Readonly<Record<string, never>>
  readonly 'futures.cancel_rest': {
    user_id: number
    group: 'futures' | 'delivery'
    settle: string
    contract: string | null
    side: 'buy' | 'sell' | null
    exclude_reduce_only: boolean
    text: string | null
    upto: number
  }
  readonly 'futures.chase.look': { contract: string; after: number; again: boolean }
  readonly 'futures.countdown.strike': { id: string }
  readonly 'futures.fire': { contract: string }
  readonly 'futures.liquidate': { user_id: number; contract: string; mode: string; id: number }
  readonly 'futures.look': Readonly<Record<string, never>>
  readonly 'futures.stat': { contract: string; t: number }
  readonly 'futures.price_order.expire': { id: number }
  readonly 'futures.trail.follow': { contract: string; price_type: 'last' | 'mark' | 'index'; price: string }
  readonly 'futures.unwind': { contract: string }
  readonly 'lending.charge': { hour: number; rates: Readonly<Record<string, string>>; after: string }
  readonly 'lending.hour': Readonly<Record<string, never>>
  readonly 'market.cancel_rest': { currency_pair: string; after: number }
  readonly 'margin.check': { accounts: readonly { user_id: number; scope: string }[] }
  readonly 'margin.liquidate': { id: number; user_id: number; scope: string; tries: number }
  readonly 'margin.recheck': { user_id: number; scope: string; after: number }
  readonly 'prices.expire': Readonly<Record<string, never>>
  readonly 'proposal.effect': { id: number }
  readonly 'proposal.expire': { id: number }
  readonly 'push.expire': { id: number }
  readonly 'spot.cancel_rest': {
    user_id: number
    currency_pair: string | null
    side: 'buy' | 'sell' | null
    account: 'spot' | 'margin' | 'unified' | 'cross_margin' | null
    trade_quote: string | null
    upto: number
  }
  readonly 'spot.countdown.strike': { id: string }
  readonly 'spot.pov.look': { id: number }
  readonly 'spot.price_order.expire': { id: number }
  readonly 'spot.price_order.fire': { currency_pair: string }
  readonly 'spot.ratios': { day?: number; after?: number }
  readonly 'user.stop': {
    user_id: number
    upper: {
      withdrawal: number
      order: number
      price_order: number
      contract_order?: number
      contract_price_order?: number
      trail_order?: number
    }
  }
  readonly 'withdrawal.refund': { id: number }
}
export type DueCommand = keyof DueWork

/**
 * Work that falls due: interest, expiries, daily figures. A due item is a row that names a command and its
 * input; the ticker runs items in the order of their time, each as a command of its own.
 */
export interface DueItem {
  readonly id: number
  /** Microseconds. */
  readonly at: number
  readonly command: DueCommand
  readonly input: Readonly<Record<string, unknown>>
}
export const DUE: TableSpec<DueItem> = {
  name: 'due',
  key: ['id'],
  columns: { id: 'int', at: 'int', command: 'text', input: 'json' },
}
/** An item whose command failed: put aside with its error, so that the others go on. */
export interface FailedItem extends DueItem {
  readonly error: string
  readonly failed_at: number
}
export const DUE_FAILED: TableSpec<FailedItem> = {
  name: 'due_failed',
  key: ['id'],
  columns: { ...DUE.columns, error: 'text', failed_at: 'int' },
}

export class Due {
  readonly table = new Table(DUE)
  readonly failed = new Table(DUE_FAILED)
  /** Latest first, so that the next one is taken off the end. */
  private readonly sorted = new Sorted<DueItem>(
    (one, other) => one.at > other.at || (one.at === other.at && one.id > other.id),
  )
  constructor() {
    this.table.observe((before, after) => {
      if (before !== undefined) this.sorted.remove(before)
      if (after !== undefined) this.sorted.add(after)
    })
  }
  next(): DueItem | undefined {
    return this.sorted.last
  }
  /** What comes next, the first of it first. */
  coming(count: number): DueItem[] {
    return this.sorted.items.slice(-count).reverse()
  }
}
