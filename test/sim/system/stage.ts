import type { Cast, Member } from './cast.ts'
import type { Answer, House } from './house.ts'
import { TRON } from './outside.ts'

type Query = Readonly<Record<string, string>>
/** What somebody has: by currency in his spot account, and USDT in his contract account as `futures`. */
export type Funds = Readonly<Record<string, string>>

/** Somebody with a part in a scene. */
export class Guest implements Member {
  readonly user: number
  readonly credential: Member['credential']
  private readonly house: House
  constructor(house: House, { user, credential }: Member) {
    this.house = house
    this.user = user
    this.credential = credential
  }
  private call(method: string, path: string, more: { query?: Query; body?: unknown }): Promise<Answer> {
    return this.house.call(this.credential, { method, path, ...more })
  }
  get(path: string, query?: Query): Promise<Answer> {
    return this.call('GET', path, query === undefined ? {} : { query })
  }
  post(path: string, body: unknown): Promise<Answer> {
    return this.call('POST', path, { body })
  }
  put(path: string, body: unknown): Promise<Answer> {
    return this.call('PUT', path, { body })
  }
  delete(path: string, query?: Query): Promise<Answer> {
    return this.call('DELETE', path, query === undefined ? {} : { query })
  }
  /** Settings of positions are in the query. */
  ask(path: string, query: Query): Promise<Answer> {
    return this.call('POST', path, { query })
  }
  spot(side: 'buy' | 'sell', amount: string, price: string, more: object = {}): Promise<Answer> {
    return this.post('/spot/orders', { currency_pair: 'ETH_USDT', side, amount, price, ...more })
  }
  contract(contract: string, size: number, price: string, more: object = {}): Promise<Answer> {
    return this.post('/futures/usdt/orders', { contract, size, price, ...more })
  }
  /** In portions, as large as one request may have them. */
  async many(path: string, count: number, order: (i: number) => object): Promise<void> {
    for (let from = 0; from < count; from += BATCH)
      await this.post(
        path,
        Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => order(from + i)),
      )
  }
}
const BATCH = 10
const STRAYS_MAX = 40

/** Where a scene is played: whom it needs comes, and stays as a stray where there is room. */
export class Stage {
  readonly house: House
  readonly cast: Cast
  readonly n: readonly number[]
  /** A move of the clock, with somebody standing by on the books. */
  readonly clock: (seconds: number) => Promise<void>
  constructor(house: House, cast: Cast, n: readonly number[], clock: (seconds: number) => Promise<void>) {
    this.house = house
    this.cast = cast
    this.n = n
    this.clock = clock
  }
  async guest(funds: Funds = {}, parent?: Guest): Promise<Guest> {
    const { user_id, credential } = await this.house.user(parent?.user)
    const guest = new Guest(this.house, { user: user_id, credential })
    // Who has what the model's market trades might be liquidated there; among too many nobody does anything twice.
    const { strays } = this.cast
    if (parent === undefined && funds['BTC'] === undefined && strays.length < STRAYS_MAX) strays.push(guest)
    for (const [name, amount] of Object.entries(funds))
      await this.credit(
        guest,
        name === 'futures'
          ? { account: 'futures', currency: 'USDT', settle: 'usdt', amount }
          : { account: 'spot', currency: name, amount },
      )
    return guest
  }
  credit({ user }: Guest, body: object): Promise<Answer> {
    return this.operate('POST', `/users/${user}/credit`, body)
  }
  operate(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.house.operate(method, path, body)
  }
  /** Indices of what the model's market is not in. */
  prices(prices: Readonly<Record<'ETH' | 'SOL' | 'GT' | 'XRP', string>> | Query): Promise<Answer> {
    return this.operate('PUT', '/prices', prices)
  }
  /** The mark price of a perpetual contract, times something, on its tick. */
  mark(contract: string, times = 1): string {
    const { state } = this.house
    return ((Number(state.futures.markOf(`futures/usdt/${contract}`)) / 1e18) * times).toFixed(1)
  }
  /** The index of a currency, times something. */
  index(currency: string, times = 1): string {
    return ((Number(this.house.state.prices.of(currency)) / 1e18) * times).toFixed(2)
  }
}
/** Where a withdrawal of his may go at once. */
export const saveAddress = (stage: Stage, { user }: Guest, address: string = TRON.address): Promise<Answer> =>
  stage.operate('POST', `/users/${user}/saved_addresses`, {
    ...TRON,
    address,
    verified: true,
    verified_at: 1_799_000_000,
  })
export type Scene = (stage: Stage) => Promise<void>
