import { ETH_OUTSIDE } from '../../support/wallet.ts'
import type { Credential } from '../../support/client.ts'
import type { House } from './house.ts'
import { ONE, amount, text, type Model } from './model.ts'

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

/** Who takes part: families, whom the model follows, and strays, whom it does not. More of them come as time goes by. */
export class Cast {
  readonly withdrawing: Family[] = []
  readonly deposited: Family[] = []
  readonly families: Family[] = []
  /** Of families. */
  readonly members = new Map<number, Member>()
  readonly strays: Member[] = []
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
   * Somebody buys what the fund took over, or sells it back to it, where it would else try every second of a long move.
   */
  async relieveFund(): Promise<void> {
    const { state } = this.house
    for (const { id, name, group, settle, tick } of state.world.allContracts) {
      const size = state.futures.positions.get(0, id, 'single')?.size ?? 0n
      if (size === 0n) continue
      const mark = state.futures.markOf(id)
      const price = ((mark + (size > 0n ? -1n : 1n) * (mark / 300n)) / tick) * tick
      const body = { contract: name, size: Number(size / ONE), price: text(price), tif: 'gtc' }
      await this.house.call(this.maker!.credential, { method: 'POST', path: `/${group}/${settle}/orders`, body })
    }
  }
  private async member(parent?: number): Promise<Member> {
    const { user_id, credential } = await this.house.user(parent)
    const rates = { maker: amount('0.002'), taker: amount('0.002') }
    this.model.market.rates.set(user_id, rates)
    const member = { user: user_id, credential }
    this.members.set(user_id, member)
    return member
  }
  async credit({ user }: Member, currency: string, sum: bigint): Promise<void> {
    await this.house.ok('POST', `/users/${user}/credit`, { account: 'spot', currency, amount: text(sum) })
    this.model.give(user, currency, sum)
  }
}
