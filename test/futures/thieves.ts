import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import { Floor, type More } from './floor.ts'
import { prove } from './prove.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

/** Accounts that belong together, on a floor whose honest prices are known; what must be true is proven at each turn. */
export class Thieves extends Floor {
  readonly members: number[] = []
  private readonly indices: Record<string, number>

  /** The fund has something to lose, unless a test wants otherwise. */
  constructor(prices: Readonly<Record<string, number>>, fund = '10000') {
    super()
    this.indices = { ...prices }
    if (fund !== '0') this.must('insurance.fund', { settle: 'usdt', amount: fund, actor: null })
    this.honestAt({})
  }
  join(amount: string): number {
    const user = this.holder(amount)
    this.members.push(user)
    return user
  }
  /** Cash, debt and what positions have won at the index: nothing that anybody could paint. */
  worth(users: readonly number[] = this.members): number {
    let sum = 0n
    for (const user of users) {
      sum += this.state.ledger.balance(user, 'futures:usdt', 'USDT')
      sum += this.state.ledger.balance(user, 'debt.futures:usdt', 'USDT')
      sum += this.state.ledger.balance(user, 'spot', 'USDT')
      for (const row of this.state.futures.positions.heldBy(user, 'futures/usdt')) {
        const { base, terms } = this.contract(row.contract)
        const index = BigInt(Math.round(this.indices[base]! * 100))
        sum += (contractsIn(row.size) * terms.q * index) / 100n - row.cost
      }
    }
    return Number(format(sum as Amount))
  }
  drain(): void {
    for (;;) {
      const item = this.state.due.next()
      if (item === undefined || item.at > this.at) break
      this.runItem(item)
    }
    prove(this.state, { quiet: true })
  }
  send(user: number, id: string, size: number, price: string, more: More = {}): string {
    const outcome = this.run('futures.place', this.input(user, id, size, price, more))
    this.drain()
    return 'label' in outcome ? outcome.label : 'placed'
  }
  /** One buys from the other, who has offered it. */
  swap(buyer: number, seller: number, id: string, size: number, price: string): void {
    this.place(seller, id, -size, price)
    this.place(buyer, id, size, price)
    this.drain()
  }
  /** Out of his contracts, where he may: whether he could. */
  takeOut(user_id: number, amount: string): boolean {
    const out = {
      currency: 'USDT',
      from: 'futures',
      to: 'spot',
      currency_pair: null,
      settle: 'usdt',
    } as const
    const outcome = this.run('transfer.create', { user_id, amount, ...out })
    this.drain()
    return !('label' in outcome)
  }
  cancelAll(user: number): void {
    const all = { contract: null, side: null, exclude_reduce_only: false, text: null }
    this.must('futures.cancel_all', { ...this.path(user, BTC_USDT), ...all })
  }
  /** Nobody else is in the book: two of them print a last price and hold both sides of it for half a minute. */
  paint(one: number, other: number, id: string, price: number, stay = false): void {
    this.place(one, id, -1, String(price))
    this.place(other, id, 1, String(price))
    this.place(one, id, 1, (price - 0.1).toFixed(1))
    this.place(other, id, -1, (price + 0.1).toFixed(1))
    this.advance(40)
    this.follow(id)
    this.drain()
    if (stay) return
    this.cancelAll(one)
    this.cancelAll(other)
  }
  /** What everybody else pays is what the mark says again. */
  honestAt(prices: Readonly<Record<string, number>>): void {
    Object.assign(this.indices, prices)
    for (const [base, id] of [
      ['BTC', BTC_USDT],
      ['ETH', ETH_USDT],
    ] as const) {
      this.markAt(String(this.indices[base]), id)
      this.drain()
    }
    this.advance(3)
    this.drain()
  }
  honest(): void {
    this.honestAt({})
  }
  /** What a feed says: one more reading. */
  fed(prices: Readonly<Record<string, number>>): void {
    Object.assign(this.indices, prices)
    const texts = Object.entries(this.indices).map(([base, price]) => [base, String(price)] as const)
    this.must('prices.feed', { prices: Object.fromEntries(texts) })
    this.drain()
  }
}
