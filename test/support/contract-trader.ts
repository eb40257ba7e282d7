import { ok, type Client, type Reply } from './client.ts'
import type { TestPlatform } from './platform.ts'

/** Somebody who trades contracts, with money in a settle currency's account. */
export class ContractTrader {
  readonly user_id: number
  readonly client: Client
  private readonly base: string
  constructor(user_id: number, client: Client, base: string) {
    this.user_id = user_id
    this.client = client
    this.base = base
  }
  static async of(
    platform: TestPlatform,
    amount: string,
    { group = 'futures', settle = 'usdt' }: { group?: 'futures' | 'delivery'; settle?: string } = {},
  ): Promise<ContractTrader> {
    const { user_id, client } = await platform.user()
    await platform.credit(user_id, settle.toUpperCase(), amount, { account: group, settle })
    return new ContractTrader(user_id, client, `/${group}/${settle}`)
  }
  place(contract: string, size: number, price: string, more: object = {}): Promise<Reply> {
    return this.client.post(`${this.base}/orders`, { contract, size, price, ...more })
  }
  async placed(contract: string, size: number, price: string, more: object = {}): Promise<Reply['body']> {
    return ok(await this.place(contract, size, price, more), 201)
  }
}
