import { commands, type Commands } from '../../src/core/commands.ts'
import { PLAIN, type NewOrder } from '../../src/core/spot/place.ts'
import { DECLARED, State } from '../../src/core/state.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { isPlatform } from '../../src/core/ledger/accounts.ts'
import type { DomainEvent } from '../../src/events/event.ts'
import { Core } from '../../src/machine/core.ts'
import type { CommittedBatch } from '../../src/machine/stream.ts'
import { MemoryStore } from '../../src/store/memory.ts'
import { newSums } from '../../src/store/seals.ts'

export const orderOf = (
  market: string,
  side: 'buy' | 'sell',
  amount: string,
  price: string,
  more: Partial<NewOrder> = {},
): NewOrder => ({
  ...PLAIN,
  currency_pair: market,
  type: 'limit',
  side,
  amount,
  price,
  time_in_force: null,
  ...more,
})
export const NO_AMENDMENT = {
  amount: null,
  price: null,
  amend_text: null,
  stop_profit: null,
  stop_loss: null,
} as const

/** The real core over a store in memory, and a subscriber from its first batch on. */
export class EventBench {
  readonly state = new State()
  readonly core: Core<State, Commands>
  private at = 1_700_000_000_000_000
  private readonly store = new MemoryStore()
  private users = 0
  private readonly place

  constructor() {
    this.core = new Core<State, Commands>(
      this.state,
      commands,
      { sequence: 0, hash: '' },
      {
        commit: (batch) => this.store.commit(batch),
        now: () => (this.at += 300_000),
        fatal: (error) => {
          throw error
        },
        defect: (error) => {
          throw error
        },
        check: (state) => state.check(),
        waitingMax: 10_000,
      },
    )
    this.place = this.core.commits.subscribe(100_000, () => undefined)
  }
  async open(): Promise<this> {
    const sums = newSums('5'.repeat(64))
    const head = await this.store.open(sums, DECLARED)
    this.core.restart(head)
    this.place.take()
    this.store.sealBehind(head.hash, sums)
    await this.core.submit('world.configure', { config: BUILT_IN_WORLD })
    return this
  }
  /** What has been committed since the last call. */
  async committed(): Promise<readonly CommittedBatch[]> {
    await this.core.idle()
    return this.place.take().batches
  }
  async user(funds: Readonly<Record<string, string>>): Promise<number> {
    const { user_id } = await this.core.submit('user.create', {
      login_name: `user_${++this.users}`,
      email: null,
      password_hash: null,
      remark: '',
      vip: 0,
      parent_id: 0,
      type: 1,
      actor: null,
    })
    const rest = { account: 'spot', currency_pair: null, settle: null, actor: null } as const
    for (const [currency, amount] of Object.entries(funds))
      await this.core.submit('user.credit', { user_id, currency, amount, ...rest })
    return user_id
  }
  async close(): Promise<void> {
    await this.core.idle()
    await this.store.close()
  }
}

/** What somebody knows who hears events alone. */
export class Follower {
  /** Of a market's side, by price. */
  readonly books = new Map<string, Map<bigint, bigint>>()
  readonly balances = new Map<string, bigint>()
  /** Where an event did not begin with what the last one ended with. */
  readonly gaps: string[] = []

  hear(events: readonly DomainEvent[]): void {
    for (const event of events)
      if (event.kind === 'book_level') {
        const name = `${event.market} ${event.side}`
        const prices = this.books.get(name) ?? new Map<bigint, bigint>()
        this.books.set(name, prices)
        const amount = (prices.get(event.price) ?? 0n) + event.change
        if (amount === 0n) prices.delete(event.price)
        else prices.set(event.price, amount)
      } else if (event.kind === 'balance') {
        const name = `${event.owner} ${event.account} ${event.currency}`
        if ((this.balances.get(name) ?? 0n) !== event.before) this.gaps.push(name)
        this.balances.set(name, event.after)
      }
  }
  /** Best first, as the state's own book tells it. */
  depth(market: string, side: 'buy' | 'sell'): { price: bigint; amount: bigint }[] {
    return [...(this.books.get(`${market} ${side}`) ?? [])]
      .map(([price, amount]) => ({ price, amount }))
      .sort((one, other) => (one.price < other.price === (side === 'sell') ? -1 : 1))
  }
}
export const balancesIn = (state: State): Map<string, bigint> =>
  new Map(
    [...state.ledger.accounts.values()]
      .filter(({ owner }) => !isPlatform(owner))
      .map(({ owner, name, currency, amount }) => [`${owner} ${name} ${currency}`, amount]),
  )
