import type { Client, Reply } from './client.ts'
import { ok } from './client.ts'
import type { TestPlatform } from './platform.ts'

/** A trader of contracts with money in an account and short words for what such traders do. */
export class ContractTrader {
  readonly user_id: number
  readonly client: Client
  readonly base: string
  constructor(user_id: number, client: Client, base = '/futures/usdt') {
    this.user_id = user_id
    this.client = client
    this.base = base
  }
  /** `funds` go to the account of the path, through spot. */
  static async of(
    platform: TestPlatform,
    funds: string,
    options: { vip?: number; base?: string } = {},
  ): Promise<ContractTrader> {
    const { base = '/futures/usdt', ...rest } = options
    const { user_id, client } = await platform.user(rest)
    const trader = new ContractTrader(user_id, client, base)
    if (funds !== '0') await trader.fund(platform, funds)
    return trader
  }
  async fund(platform: TestPlatform, amount: string): Promise<void> {
    const [, to, settle] = this.base.split('/') as [string, string, string]
    const currency = settle.toUpperCase()
    await platform.credit(this.user_id, currency, amount)
    ok(await this.client.post('/wallet/transfers', { currency, from: 'spot', to, settle, amount }))
  }
  get(path: string, query: Record<string, string | number | boolean> = {}): Promise<Reply> {
    return this.client.get(`${this.base}${path}`, query)
  }
  post(path: string, body?: unknown): Promise<Reply> {
    return this.client.post(`${this.base}${path}`, body)
  }
  /** Parameters of position calls are in the query. */
  ask(path: string, query: Record<string, string | number | boolean>): Promise<Reply> {
    return this.client.request('POST', `${this.base}${path}`, { query })
  }
  delete(path: string, query: Record<string, string | number | boolean> = {}): Promise<Reply> {
    return this.client.delete(`${this.base}${path}`, query)
  }
  /** A null price is a market order. */
  place(size: number | string, price: string | null, more: object = {}): Promise<Reply> {
    const kind = price === null ? { price: '0', tif: 'ioc' } : { price }
    return this.post('/orders', { contract: 'BTC_USDT', size, ...kind, ...more })
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async placed(size: number | string, price: string | null, more: object = {}): Promise<any> {
    return ok(await this.place(size, price, more), 201)
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async order(id: number | string): Promise<any> {
    return ok(await this.get(`/orders/${id}`))
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async position(contract = 'BTC_USDT'): Promise<any> {
    return ok(await this.get(`/positions/${contract}`))
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async account(): Promise<any> {
    return ok(await this.get('/accounts'))
  }
}

/** The index of BTC, and with it the mark of what follows it while nobody trades. */
export const setIndex = (platform: TestPlatform, prices: Record<string, string>): Promise<unknown> =>
  platform.operator.ok('PUT', '/prices', prices)
