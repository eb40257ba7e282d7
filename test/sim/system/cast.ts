import { ETH_OUTSIDE } from '../../support/wallet.ts'
import type { Credential } from '../../support/client.ts'
import type { House } from './house.ts'
import { ONE, amount, text, type Model } from './model.ts'
import { TRON } from './outside.ts'
import { CONTRACTS } from './stray.ts'

export interface Member {
  readonly user: number
  readonly credential: Credential
}
export interface Family {
  readonly main: Member
  readonly sub: Member
  /** Those who get deposits don't withdraw: what deposits lock would hold it. */
  readonly withdraws: boolean
}
const FAMILIES = 6
const STRAYS = 6
const DEEP = 5_000

/** Who takes part: families, whom the model follows, and strays, whom it does not. More of them come as time goes by. */
export class Cast {
  readonly withdrawing: Family[] = []
  readonly deposited: Family[] = []
  readonly families: Family[] = []
  /** Of families. */
  readonly members = new Map<number, Member>()
  readonly strays: Member[] = []
  /** Whom a model follows: nobody else does anything to them. */
  readonly followed = new Set<number>()
  private maker: Member | undefined
  private readonly house: House
  private readonly model: Model

  constructor(house: House, model: Model) {
    this.house = house
    this.model = model
  }
  async begin(): Promise<void> {
    for (let i = 0; i < FAMILIES; i++) await this.family(i < FAMILIES - 2)
    for (let i = 0; i < STRAYS; i++) await this.stray()
    const { user_id, credential } = await this.house.user()
    this.maker = { user: user_id, credential }
    const funds = { account: 'futures', currency: 'USDT', amount: '50000000', settle: 'usdt' }
    await this.house.ok('POST', `/users/${user_id}/credit`, funds)
  }
  async family(withdraws: boolean): Promise<void> {
    const main = await this.member()
    const family = { main, sub: await this.member(main.user), withdraws }
    this.families.push(family)
    ;(withdraws ? this.withdrawing : this.deposited).push(family)
    await this.house.ok('POST', `/users/${main.user}/saved_addresses`, {
      currency: 'ETH',
      chain: 'ETH',
      address: ETH_OUTSIDE,
      verified: true,
      verified_at: 1_799_000_000,
    })
    for (const [currency, sum] of [
      ['BTC', 20n],
      ['USDT', 1_000_000n],
      ['ETH', 50n],
    ] as const)
      await this.credit(main, currency, sum * ONE)
  }
  async stray(): Promise<void> {
    const { user_id, credential } = await this.house.user()
    this.strays.push({ user: user_id, credential })
    await this.house.ok('POST', `/users/${user_id}/saved_addresses`, {
      ...TRON,
      verified: true,
      verified_at: 1_799_000_000,
    })
    for (const [account, currency, sum] of [
      ['spot', 'USDT', '50000'],
      ['spot', 'ETH', '20'],
      ['futures', 'USDT', '20000'],
    ] as const)
      await this.house.ok('POST', `/users/${user_id}/credit`, {
        account,
        currency,
        amount: sum,
        ...(account === 'futures' && { settle: 'usdt' }),
      })
  }
  /**
   * Somebody stands on both sides of each book: else the fund, which tries every second to be rid of what it took over,
   * would do nothing else for the whole of a long move of the clock.
   */
  async standBy(): Promise<void> {
    const { state } = this.house
    const { credential } = this.maker!
    for (const name of CONTRACTS) {
      const id = `futures/usdt/${name}`
      const { tick } = state.world.mustContract(id)
      const mark = state.futures.markOf(id)
      const query = { contract: name }
      await this.house.call(credential, { method: 'DELETE', path: '/futures/usdt/orders', query })
      for (const side of [1n, -1n]) {
        const price = ((mark - (side * mark) / 300n) / tick) * tick
        const body = { contract: name, size: Number(side) * DEEP, price: text(price), tif: 'gtc' }
        await this.house.call(credential, { method: 'POST', path: '/futures/usdt/orders', body })
      }
    }
  }
  private async member(parent?: number): Promise<Member> {
    const { user_id, credential } = await this.house.user(parent)
    const rates = { maker: amount('0.002'), taker: amount('0.002') }
    this.model.market.rates.set(user_id, rates)
    const member = { user: user_id, credential }
    this.members.set(user_id, member)
    this.followed.add(user_id)
    return member
  }
  async credit({ user }: Member, currency: string, sum: bigint): Promise<void> {
    await this.house.ok('POST', `/users/${user}/credit`, { account: 'spot', currency, amount: text(sum) })
    this.model.give(user, currency, sum)
  }
}
