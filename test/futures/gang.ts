import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import { Chaos } from './chaos.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

const INDEX: Readonly<Record<string, bigint>> = { BTC: 60_000n, ETH: 3_000n }

/**
 * Every account belongs to one person and the index never moves: whatever they do to each other and to the mark, what
 * they have together, valued at the index, can only become less. Whatever it rises by came from the fund or the operator.
 */
export class Gang extends Chaos {
  private readonly began: bigint
  constructor(seed: number) {
    super(seed, 4, [BTC_USDT, ETH_USDT])
    this.must('insurance.fund', { settle: 'usdt', amount: '20000', actor: null })
    this.began = this.worth()
  }
  /** What the fund and the operator have lost to them; fees are no loss of anybody else's, so they hide nothing here. */
  taken(): bigint {
    return this.worth() + this.state.ledger.balance(0, 'fees', 'USDT') - this.began
  }
  private worth(): bigint {
    let sum = 0n
    for (const user of this.users) {
      for (const name of ['futures:usdt', 'debt.futures:usdt', 'spot'] as const)
        sum += this.state.ledger.balance(user, name, 'USDT')
      for (const row of this.state.futures.positions.heldBy(user, 'futures/usdt')) {
        const { base, terms } = this.contract(row.contract)
        sum += contractsIn(row.size) * terms.q * INDEX[base]! - row.cost
      }
    }
    return sum
  }
  /** In place of an honest move: a print, and both sides of the book held for half a minute. */
  protected override moveIndex(): void {
    const id = this.pick([BTC_USDT, ETH_USDT] as const)
    const index = Number(INDEX[this.contract(id).base])
    const price = index * (1 + this.pick([0.001, 0.004, 0.01, 0.028, 0.05]) * (this.below(2001) / 1000 - 1))
    const [one, other] = [this.pick(this.users), this.pick(this.users)]
    const step = id === BTC_USDT ? 0.1 : 0.01
    this.log.push(`paint ${id} ${price}`)
    for (const [user, size, at] of [
      [one, -1, price],
      [other, 1, price],
      [one, 1, price - step],
      [other, -1, price + step],
    ] as const)
      this.run('futures.place', this.input(user, id, size, this.tick(id, at)))
    this.advance(this.pick([1, 40]))
    this.follow(id)
    this.log.push(`  ${this.mark(id)}`)
    this.count('paint')
  }
}
