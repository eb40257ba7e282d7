import type { Client, Reply } from './client.ts'
import { ok } from './client.ts'
import type { TestPlatform } from './platform.ts'

/** A trader with money and short words for what traders do. */
export class Trader {
  readonly user_id: number
  readonly client: Client
  constructor(user_id: number, client: Client) {
    this.user_id = user_id
    this.client = client
  }
  static async of(
    platform: TestPlatform,
    funds: Readonly<Record<string, string>>,
    options: { vip?: number; parent?: number } = {},
  ): Promise<Trader> {
    const { user_id, client } = await platform.user(options)
    for (const [currency, amount] of Object.entries(funds)) await platform.credit(user_id, currency, amount)
    return new Trader(user_id, client)
  }
  place(side: 'buy' | 'sell', amount: string, price: string | null, more: object = {}): Promise<Reply> {
    const market = price === null ? { type: 'market', time_in_force: 'ioc' } : { price }
    return this.client.post('/spot/orders', { currency_pair: 'BTC_USDT', side, amount, ...market, ...more })
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async placed(side: 'buy' | 'sell', amount: string, price: string | null, more: object = {}): Promise<any> {
    return ok(await this.place(side, amount, price, more), 201)
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async order(id: string, pair = 'BTC_USDT'): Promise<any> {
    return ok(await this.client.get(`/spot/orders/${id}`, { currency_pair: pair }))
  }
  /** `available/locked` of a currency. */
  async money(currency: string): Promise<string> {
    const [row] = ok(await this.client.get('/spot/accounts', { currency }))
    return `${row.available}/${row.locked}`
  }
}
