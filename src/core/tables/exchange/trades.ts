import type { Amount, Price } from '../../../money/amount.ts'
import { Table, type LogSpec, type TableSpec } from '../../../machine/table.ts'
import type { Market } from '../world/markets.ts'
import type { Placed, OrderAccount, Side } from './order.ts'

/** A trade as everybody sees it. */
export interface Trade {
  readonly id: number
  readonly pair: string
  /** Counts the trades of its market. */
  readonly sequence: number
  /** The taker's side. */
  readonly side: Side
  readonly price: Price
  readonly amount: Amount
  /** Microseconds. */
  readonly at: number
}
const tradeSpec = (name: string): TableSpec<Trade> => ({
  name,
  key: ['id'],
  columns: {
    id: 'int',
    pair: 'text',
    sequence: 'int',
    side: 'text',
    price: 'amount',
    amount: 'amount',
    at: 'int',
  },
  // History from the start; the newest stay in memory for those who ask.
  live: () => false,
  // Old ones are removed by their numbers alone.
  rewritten: true,
  numbered: true,
})
export const SPOT_TRADE = tradeSpec('spot_trade')
export const CONTRACT_TRADE = tradeSpec('contract_trade')

/** One side of a trade as its owner sees it. */
export interface Fill {
  readonly trade_id: number
  readonly role: 'taker' | 'maker'
  readonly user_id: number
  readonly order_id: number
  readonly pair: string
  readonly sequence: number
  readonly side: Side
  readonly account: OrderAccount
  readonly price: Price
  readonly amount: Amount
  readonly fee: Amount
  readonly fee_currency: string
  readonly gt_fee: Amount
  readonly point_fee: Amount
  readonly text: string
  readonly amend_text: string
  readonly at: number
}
export const SPOT_FILL: LogSpec<Fill> = {
  name: 'spot_fill',
  columns: {
    trade_id: 'int',
    role: 'text',
    user_id: 'int',
    order_id: 'int',
    pair: 'text',
    sequence: 'int',
    side: 'text',
    account: 'text',
    price: 'amount',
    amount: 'amount',
    fee: 'amount',
    fee_currency: 'text',
    gt_fee: 'amount',
    point_fee: 'amount',
    text: 'text',
    amend_text: 'text',
    at: 'int',
  },
}

/** Exactly one of the three is above zero, unless the rate is 0. */
export interface Charge {
  readonly fee: Amount
  readonly gt: Amount
  readonly points: Amount
}
/** A fill as it is written: all that it says, the trade, the order and the charge know. */
export class FillRow implements Fill {
  readonly role: 'taker' | 'maker'
  readonly fee_currency: string
  private readonly trade: Trade
  private readonly placed: Placed
  private readonly charge: Charge
  constructor(trade: Trade, role: 'taker' | 'maker', placed: Placed, charge: Charge, market: Market) {
    this.role = role
    this.fee_currency = placed.side === 'buy' ? market.base : market.quote
    this.trade = trade
    this.placed = placed
    this.charge = charge
  }
  get trade_id(): number {
    return this.trade.id
  }
  get user_id(): number {
    return this.placed.user_id
  }
  get order_id(): number {
    return this.placed.id
  }
  get pair(): string {
    return this.trade.pair
  }
  get sequence(): number {
    return this.trade.sequence
  }
  get side(): Side {
    return this.placed.side
  }
  get account(): OrderAccount {
    return this.placed.account
  }
  get price(): Price {
    return this.trade.price
  }
  get amount(): Amount {
    return this.trade.amount
  }
  get fee(): Amount {
    return this.charge.fee
  }
  get gt_fee(): Amount {
    return this.charge.gt
  }
  get point_fee(): Amount {
    return this.charge.points
  }
  get text(): string {
    return this.placed.text
  }
  get amend_text(): string {
    return this.placed.amend_text
  }
  get at(): number {
    return this.trade.at
  }
}

export const RECENT_MAX = 2_000

/** The newest rows by name, as they were at one moment; and of which names the store knows more. */
export interface Remembered<Row> {
  readonly recent: readonly (readonly [name: string, rows: readonly Row[]])[]
  readonly trimmed: readonly string[]
}
export const remembered = <Row>(
  recent: ReadonlyMap<string, readonly Row[]>,
  trimmed: ReadonlySet<string>,
): Remembered<Row> => ({
  recent: Array.from(recent, ([name, rows]) => [name, [...rows]] as const),
  trimmed: [...trimmed],
})

/** The newest trades of each market in memory, oldest first. */
export class Trades {
  readonly table: Table<Trade>
  private readonly recent = new Map<string, Trade[]>()
  private readonly trimmed = new Set<string>()
  constructor(spec: TableSpec<Trade>) {
    this.table = new Table(spec)
    this.table.observe((before, after, signal) => {
      // What leaves the table's memory stays here: the lists have bounds of their own.
      if (signal === 'eviction') return
      if (after !== undefined && before === undefined) {
        const list = this.of(after.pair)
        if (signal === 'undo') list.unshift(after)
        else list.push(after)
        if (list.length > 2 * RECENT_MAX) {
          list.splice(0, RECENT_MAX)
          this.trimmed.add(after.pair)
        }
      } else if (after === undefined && before !== undefined) {
        // An undo takes the newest back; what is too old to be kept goes from the other end, out of the store as well.
        const list = this.of(before.pair)
        if (signal === 'undo') {
          if (list.at(-1)?.id === before.id) list.pop()
        } else if (list[0]?.id === before.id) list.shift()
      }
    })
  }
  /** Oldest first. */
  of(pair: string): Trade[] {
    let list = this.recent.get(pair)
    if (list === undefined) this.recent.set(pair, (list = []))
    return list
  }
  /** Whether memory knows all trades from this id on. */
  covers(pair: string, id: number): boolean {
    return !this.trimmed.has(pair) || (this.of(pair)[0]?.id ?? Infinity) <= id
  }
  /** At start: what the store knows of the newest, oldest first. */
  prime(pair: string, trades: readonly Trade[]): void {
    this.recent.set(pair, [...trades])
    if (trades.length >= RECENT_MAX) this.trimmed.add(pair)
  }
  /** Nothing more comes to a market: what it was is in the store. */
  forget(pair: string): void {
    this.recent.delete(pair)
    this.trimmed.add(pair)
  }
  /** What is remembered beside the table: others may go on from there. */
  get memory(): Remembered<Trade> {
    return remembered(this.recent, this.trimmed)
  }
  set memory(memory: Remembered<Trade>) {
    this.clear()
    for (const [pair, trades] of memory.recent) this.recent.set(pair, [...trades])
    for (const pair of memory.trimmed) this.trimmed.add(pair)
  }
  /** Before priming, and after a reset. */
  clear(): void {
    this.recent.clear()
    this.trimmed.clear()
  }
}
