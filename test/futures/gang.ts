import { unrealised } from '../../src/core/contracts/position.ts'
import { holdingOf } from '../../src/core/futures/positions.ts'
import type { Mode } from '../../src/core/tables/unified/accounts.ts'
import { leavingLimit } from '../../src/core/unified/guard.ts'
import { borrowable } from '../../src/core/unified/loans.ts'
import { ZERO, format, priceOf, roundDown, type Amount } from '../../src/money/amount.ts'
import { Chaos, type Id } from './chaos.ts'
import { BTC_USD, BTC_USDT, DATED, ETH_USDT } from './world.ts'

const INDEX: Readonly<Record<string, bigint>> = { BTC: 60_000n, ETH: 3_000n }

const LINEAR = [BTC_USDT, ETH_USDT] as const
/** With contracts that are settled in coins, and such as end in the midst of it. */
export const EVERY: readonly Id[] = [...LINEAR, BTC_USD, DATED]

const worthAt = (currency: string, amount: bigint): bigint =>
  currency === 'USDT' ? amount : amount * (INDEX[currency] ?? 0n)

/**
 * Every account belongs to one person and the index never moves: whatever they do to each other and to the mark, what
 * they have together, valued at the index, can only become less. Whatever it rises by came from the fund or the operator.
 */
export class Gang extends Chaos {
  private readonly began: bigint
  private readonly contracts: readonly Id[]
  constructor(seed: number, modes: readonly Mode[] = ['classic'], ids: readonly Id[] = LINEAR) {
    super(seed, 4, ids, modes)
    this.contracts = ids
    this.must('insurance.fund', { settle: 'usdt', amount: '20000', actor: null })
    if (ids.includes(BTC_USD)) this.must('insurance.fund', { settle: 'btc', amount: '0.3', actor: null })
    this.began = this.worth()
  }
  /** What the fund and the operator have lost to them; fees are no loss of anybody else's, so they hide nothing here. */
  taken(): bigint {
    let fees = 0n
    for (const { currency, amount } of this.state.ledger.named(0, 'fees')) fees += worthAt(currency, amount)
    return this.worth() + fees - this.began
  }
  private worth(): bigint {
    let sum = 0n
    for (const user of this.users) {
      // Whatever it is in, and what is owed.
      for (const { currency, amount } of this.state.ledger.ownedBy(user)) sum += worthAt(currency, amount)
      for (const account of ['futures/usdt', 'futures/btc', 'delivery/usdt'])
        for (const row of this.state.futures.positions.heldBy(user, account)) {
          const { base, terms, currency } = this.contract(row.contract)
          sum += worthAt(currency, unrealised(terms, holdingOf(row), priceOf(String(INDEX[base]))))
        }
    }
    return sum
  }
  override step(): void {
    if (this.below(8) === 0) this.squeeze(this.pick(this.users))
    if (this.below(12) === 0) this.load()
    super.step()
  }
  /** As large a position as one can bear, against another of them, and nothing left beside it. */
  private load(): void {
    const [user, other] = [this.pick(this.users), this.pick(this.users)]
    if (user === other || !this.state.margin.isUnified(user)) return
    const id = this.pick(LINEAR)
    const sign = this.pick([1, -1])
    const price = this.tick(id, Number(this.mark(id)))
    for (let size = 60_000; size > 50; size = Math.floor(size / 2)) {
      this.run('futures.place', this.input(other, id, -sign * size, price))
      const outcome = this.run('futures.place', this.input(user, id, sign * size, price, { tif: 'ioc' }))
      if ('label' in outcome || outcome.reply.filled === 0n) continue
      this.log.push(`loaded ${user} ${id} ${sign * size}`)
      this.squeeze(user)
      if (this.below(3) > 0) this.press(user, id, sign)
      return
    }
  }
  /** Everything else out of the book, and the mark against him as far as it goes. */
  private press(user: number, id: Id, sign: number): void {
    for (const one of this.users)
      this.run('futures.cancel_all', {
        ...this.path(one, id),
        contract: null,
        side: null,
        exclude_reduce_only: false,
        text: null,
      })
    const price = Number(INDEX[this.contract(id).base]) * (1 - sign * this.pick([0.01, 0.02, 0.029]))
    this.print(
      id,
      price,
      this.users.filter((one) => one !== user),
      40,
    )
  }
  /** A last price, and both sides of the book held for a while. */
  private print(id: Id, price: number, by: readonly number[], seconds: number): void {
    const [one, other] = [this.pick(by), this.pick(by)]
    const step = id === ETH_USDT ? 0.01 : 0.1
    this.log.push(`paint ${id} ${price}`)
    for (const [user, size, at] of [
      [one, -1, price],
      [other, 1, price],
      [one, 1, price - step],
      [other, -1, price + step],
    ] as const)
      this.run('futures.place', this.input(user, id, size, this.tick(id, at)))
    this.advance(seconds)
    this.follow(id)
    this.log.push(`  ${this.mark(id)}`)
    this.count('paint')
  }
  /** Takes out of a unified account all that it may, and borrows all that it may first: what stays is as thin as can be. */
  private squeeze(user_id: number): void {
    if (!this.state.margin.isUnified(user_id)) return
    if (this.below(2) === 0) {
      const most = (borrowable(this.state, user_id, 'unified', 'USDT') / this.pick([1n, 11n])) as Amount
      const amount = format(roundDown(most, 8))
      const rest = { scope: 'unified', repaid_all: false, text: null, known_id: null }
      this.run('margin.loan', { user_id, currency: 'USDT', type: 'borrow', amount, ...rest })
    }
    for (const currency of ['USDT', 'BTC', 'ETH']) {
      const most = roundDown(leavingLimit(this.state, user_id, 'spot', currency) ?? ZERO, 8)
      if (most <= 0n) continue
      this.log.push(`out ${user_id} ${format(most)} ${currency}`)
      this.count(`squeeze ${this.moveOut(user_id, currency, format(most))}`)
    }
  }
  /** In place of an honest move: a print, and both sides of the book held for half a minute. */
  protected override moveIndex(): void {
    const id = this.pick(this.contracts)
    const index = Number(INDEX[this.contract(id).base])
    const price = index * (1 + this.pick([0.001, 0.004, 0.01, 0.028, 0.05]) * (this.below(2001) / 1000 - 1))
    this.print(id, price, this.users, this.pick([1, 40]))
  }
}
