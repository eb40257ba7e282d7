import { fillPosition } from '../../src/core/futures/positions.ts'
import { OrderRow, type Side } from '../../src/core/tables/exchange/order.ts'
import type { DueItem } from '../../src/core/tables/due.ts'
import type { ContractPrice } from '../../src/core/tables/futures/prices.ts'
import { FUNDING, type FundingRecord } from '../../src/core/tables/futures/records.ts'
import {
  amountOfContracts,
  type Contract,
  type ContractConfig,
} from '../../src/core/tables/world/contracts.ts'
import type { Ctx } from '../../src/core/state.ts'
import { Tx } from '../../src/machine/table.ts'
import { ZERO, format, priceOf, type Price, type Rate } from '../../src/money/amount.ts'
import { Engine } from '../spot/engine.ts'
import { BTC_USDT, CONTRACTS, futuresWorld } from './world.ts'

const SECOND = 1e6

/** The core's rules with contracts in their world, on a clock that is moved through everything that falls due. */
export class Desk extends Engine {
  readonly fundings: FundingRecord[] = []
  /** What fell due, by its command. */
  readonly ran: string[] = []
  private traded = 0

  constructor(contracts: readonly ContractConfig[] = Object.values(CONTRACTS)) {
    super()
    this.must('world.configure', { config: futuresWorld(contracts) })
    this.must('futures.begin', { seed: false })
    this.index({ BTC: '60000', ETH: '3000' })
  }
  protected override applied(tx: Tx): void {
    // The world is configured before this object is whole.
    const fundings = this.fundings as FundingRecord[] | undefined
    fundings?.push(...tx.appendedTo(FUNDING))
  }
  get second(): number {
    return Math.floor(this.at / SECOND)
  }
  contract(id: string): Contract {
    return this.state.world.mustContract(id)
  }
  index(prices: Readonly<Record<string, string | null>>): void {
    this.must('prices.set', { prices, actor: null })
  }
  price(id = BTC_USDT): ContractPrice {
    return this.state.futures.priceOf(id)!
  }
  mark(id = BTC_USDT): string {
    return format(this.price(id).mark)
  }
  /** What no command does by itself: a change of rows, with all checks after it. */
  apply<T>(change: (ctx: Ctx) => T): T {
    const tx = new Tx()
    this.at++
    const reply = change({ state: this.state, tx, at: this.at })
    this.state.check()
    this.applied(tx)
    return reply
  }
  /** Moves the clock; all that is due on the way happens at its time. */
  advance(seconds: number): void {
    const until = this.at + seconds * SECOND
    for (;;) {
      const item = this.state.due.next()
      if (item === undefined || item.at > until) break
      // A command counts the clock on by one.
      this.at = Math.max(this.at, item.at - 1)
      this.runItem(item)
    }
    this.at = until
  }
  protected runItem({ id, command }: DueItem): void {
    this.ran.push(command)
    this.must('due.run', { id })
  }
  /** To a full minute, and through its work. */
  toMinute(second: number): void {
    this.advance(second - this.at / SECOND)
  }

  /** A resting order, as a row; whoever it is of. */
  rest(id: string, side: Side, contracts: number, price: string): number {
    const amount = amountOfContracts(BigInt(contracts))
    const order = this.traded--
    const rank = 1_000_000 - order
    this.apply(({ state, tx, at }) => {
      tx.put(
        state.futures.orders,
        OrderRow.of({
          id: rank,
          user_id: 1,
          pair: id,
          side,
          type: 'limit',
          account: 'futures',
          time_in_force: 'gtc',
          text: 'api',
          amend_text: '-',
          price: priceOf(price),
          amount,
          left: amount,
          filled: ZERO,
          filled_total: ZERO,
          held: ZERO,
          fee: ZERO,
          gt_fee: ZERO,
          point_fee: ZERO,
          iceberg: ZERO,
          shown: amount,
          refreshed: false,
          rank,
          stp_id: 0,
          stp_act: '-',
          status: 'open',
          finish_as: 'open',
          create_at: at,
          update_at: at,
          more: null,
        }),
      )
    })
    return rank
  }
  take(order: number): void {
    this.apply(({ state, tx }) => tx.remove(state.futures.orders, order))
  }
  lastPrice(id: string, price: string): void {
    this.apply(({ state, tx }) => (state.futures.writeFigures(tx, id).last = priceOf(price)))
  }
  /** As if the minutes had given it. */
  setRow(id: string, change: Partial<ContractPrice>): void {
    this.apply(({ state, tx }) => tx.put(state.futures.prices, { ...this.price(id), ...change }))
  }
  follow(id = BTC_USDT): void {
    this.must('futures.mark', { contracts: [id] })
  }

  /** A user with money in the account of a contract. */
  holder(amount: string, id = BTC_USDT): number {
    const { group, settle, currency } = this.contract(id)
    const user_id = this.user({})
    const credit = { user_id, account: group, currency, amount, currency_pair: null, settle, actor: null }
    this.must('user.credit', credit)
    return user_id
  }
  /** One buys from the other, without fees. */
  trade(id: string, buyer: number, seller: number, contracts: number, price: string): void {
    const at: Price = priceOf(price)
    this.apply((ctx) => {
      const trade_id = ++this.traded
      for (const [user_id, sign] of [[buyer, 1n] as const, [seller, -1n] as const])
        fillPosition(ctx, this.contract(id), {
          user_id,
          mode: 'single',
          contracts: sign * BigInt(contracts),
          price: at,
          rate: 0n as Rate,
          order_id: 1,
          order_text: 'api',
          trade_id,
        })
    })
  }
  cash(user: number, id = BTC_USDT): string {
    const { group, settle, currency } = this.contract(id)
    return format(this.state.ledger.balance(user, `${group}:${settle}`, currency))
  }
  platform(name: 'funding' | 'rounding', id = BTC_USDT): string {
    const { settle, name: contract, currency } = this.contract(id)
    const account =
      name === 'funding'
        ? (`futures.funding:${settle}.${contract}` as const)
        : (`futures.rounding:${settle}` as const)
    return format(this.state.ledger.balance(0, account, currency))
  }
}
