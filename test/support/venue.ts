import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, OperatorClient, ok, type Credential } from './client.ts'
import { allPerms, TOKEN } from './platform.ts'
import { PlatformProcess } from './process.ts'

/** Orders that one of the crowd leaves in a book. */
const KEPT_MAX = 100

/** A trader of a venue: his key, and a client of REST that signs with it. */
export interface Member {
  readonly user_id: number
  readonly credential: Credential
  readonly client: Client
}

/**
 * The platform in a process of its own as users have it: with its market agents, and with a crowd that trades besides,
 * because agents look at a market only every few seconds.
 */
export class Venue {
  readonly platform: PlatformProcess
  readonly operator: OperatorClient
  private readonly data: string
  private readonly busy: Promise<void>[] = []
  private ended = false
  private failure: unknown
  private made = 0

  private constructor(platform: PlatformProcess, data: string) {
    this.platform = platform
    this.data = data
    this.operator = new OperatorClient(platform.url, TOKEN)
  }
  static async open(env: Record<string, string> = {}): Promise<Venue> {
    const data = mkdtempSync(join(tmpdir(), 'kontor-'))
    const platform = await PlatformProcess.start({
      KONTOR_DATA: data,
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_AGENTS: 'on',
      ...env,
    })
    return new Venue(platform, data)
  }
  get url(): string {
    return this.platform.url
  }
  /** Of a socket. */
  address(path = '/ws/v4/'): string {
    return this.url.replace(/^http/, 'ws') + path
  }
  async member(funds: Readonly<Record<string, string>> = {}): Promise<Member> {
    const login_name = `member_${++this.made}_${Date.now()}`
    const { user_id } = await this.operator.ok('POST', '/users', { login_name })
    const key = { name: 'test', mode: 1, perms: allPerms(), ip_whitelist: [] }
    const credential = await this.operator.ok('POST', `/users/${user_id}/keys`, key)
    for (const [currency, amount] of Object.entries(funds))
      await this.operator.ok('POST', `/users/${user_id}/credit`, { account: 'spot', currency, amount })
    return { user_id, credential, client: new Client(this.url, credential) }
  }
  /** Public REST. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async read(path: string, query: Readonly<Record<string, string | number | boolean>>): Promise<any> {
    return ok(await new Client(this.url).get(path, query))
  }
  /** Best bid and best ask of now. */
  async spread(pair: string): Promise<[bid: number, ask: number]> {
    const { bids, asks } = await this.read('/spot/order_book', { currency_pair: pair, limit: 1 })
    return [Number(bids[0][0]), Number(asks[0][0])]
  }
  /** So many prices more on each side, away from the best: what is better moves them over the edge of what is shown. */
  async deepen(pair: string, funds: Readonly<Record<string, string>>, amount: string, levels: number) {
    const { client } = await this.member(funds)
    const { precision } = await this.read(`/spot/currency_pairs/${pair}`, {})
    const [bid, ask] = await this.spread(pair)
    const priceOf = (side: string, i: number): number =>
      side === 'buy' ? bid * (0.99 - i / 1e4) : ask * (1.01 + i / 1e4)
    for (const side of ['buy', 'sell'])
      for (let first = 0; first < levels; first += 10) {
        const batch = Array.from({ length: 10 }, (_, i) => ({
          text: `t-${side}${first + i}`,
          currency_pair: pair,
          side,
          amount,
          price: priceOf(side, first + i).toFixed(precision as number),
        }))
        const made = ok(await client.post('/spot/batch_orders', batch)) as { succeeded: boolean }[]
        if (!made.every(({ succeeded }) => succeeded)) throw new Error(JSON.stringify(made))
      }
  }
  /** Somebody who places and takes back orders in a market, and trades now and then, until the end. */
  async crowd(pair: string, funds: Readonly<Record<string, string>>, amount: string): Promise<void> {
    const { client } = await this.member(funds)
    const { precision } = await this.read(`/spot/currency_pairs/${pair}`, {})
    const kept: string[] = []
    const round = async (turn: number): Promise<void> => {
      const [bid, ask] = await this.spread(pair)
      const side = turn % 2 === 0 ? 'buy' : 'sell'
      const away = 1 + ((turn % 7) + 1) / 1000
      const price = side === 'buy' ? bid / away : ask * away
      const order = { currency_pair: pair, side, amount, price: price.toFixed(precision as number) }
      const { id } = ok(await client.post('/spot/orders', order), 201)
      // Across the spread: a trade with whoever is there.
      const taken = {
        ...order,
        price: (side === 'buy' ? ask * 1.01 : bid / 1.01).toFixed(precision as number),
      }
      if (turn % 5 === 0) ok(await client.post('/spot/orders', { ...taken, time_in_force: 'ioc' }), 201)
      if (turn % 3 === 0) kept.push(id as string)
      const gone = turn % 3 !== 0 ? (id as string) : kept.length > KEPT_MAX ? kept.shift() : undefined
      if (gone !== undefined) await client.delete(`/spot/orders/${gone}`, { currency_pair: pair })
    }
    this.busy.push(
      (async () => {
        for (let turn = 0; !this.ended; turn++) {
          await round(turn)
          await sleep(30)
        }
      })().catch((error: unknown) => {
        this.failure = error
      }),
    )
  }
  async close(): Promise<void> {
    this.ended = true
    await Promise.all(this.busy)
    await this.platform.kill('SIGTERM')
    rmSync(this.data, { recursive: true, force: true })
    if (this.failure !== undefined) throw this.failure as Error
  }
}

/** Waits until it is so; fails with what was wanted. */
export async function until<T>(
  wanted: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  ms = 30_000,
): Promise<T> {
  const end = Date.now() + ms
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error(`not in ${ms} ms: ${wanted}`)
    await sleep(25)
  }
}
