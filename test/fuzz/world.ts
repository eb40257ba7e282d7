import assert from 'node:assert/strict'
import { Browser, signedIn } from '../support/console.ts'
import { ok, type Client, type Credential, OperatorClient } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { DAY, ETH_OUTSIDE } from '../support/wallet.ts'
import { scopeOf, type Pool } from './pool.ts'

/** Somebody who calls, with money, orders, positions and debts. */
export interface Actor {
  readonly user_id: number
  readonly client: Client
  readonly credential: Credential
  readonly kind: string
}
const RICH: Readonly<Record<string, string>> = {
  USDT: '10000000',
  BTC: '100',
  ETH: '1000',
  GT: '1000',
  DOGE: '1000000',
}
const SETTINGS = {
  // The windows are counted, but nobody runs into them.
  KONTOR_RATE_LIMITS: '100000',
  KONTOR_AUTH_FAILURES: '1000000',
  KONTOR_LOG: 'error',
  KONTOR_WS_CONNECTIONS: '5000',
} as const
const FUNDS = 'margin'

/** A platform whose accounts have something to lose. */
export class FuzzWorld {
  readonly platform: TestPlatform
  actors: Actor[] = []
  /** Its token may be lost to what is sent; the root's is not. */
  admin!: OperatorClient
  account!: Browser
  desk!: Browser
  private made = 0
  private constructor(platform: TestPlatform) {
    this.platform = platform
  }
  static async open(gateways: number): Promise<FuzzWorld> {
    const platform = await TestPlatform.start({ ...SETTINGS, KONTOR_GATEWAYS: String(gateways) })
    const world = new FuzzWorld(platform)
    await world.people()
    return world
  }
  get url(): string {
    return this.platform.url
  }

  /** Everybody anew: those before may be locked, liquidated or without a key. */
  async people(): Promise<void> {
    const { operator } = this.platform
    await operator.ok('PUT', '/faults', [])
    await operator.call('POST', '/markets/resume', {})
    await operator.call('POST', '/markets/BTC_USDT/resume', {})
    await operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    const maker = await this.rich('maker')
    await this.books(maker)
    const classic = await this.rich('classic')
    const unified = await this.rich('unified', 'multi_currency')
    const portfolio = await this.rich('portfolio', 'portfolio')
    await this.trades(classic)
    await this.wallet(classic, maker.user_id)
    await this.waits(classic)
    await this.borrows(unified)
    const parent = classic.user_id
    const sub = await this.platform.user({ parent })
    await this.credit(sub.user_id)
    this.actors = [classic, classic, unified, portfolio, { ...sub, kind: 'sub' }, maker]
    await this.sessions()
  }
  /** Another operator, and everybody signed in anew. */
  async sessions(): Promise<void> {
    const name = `fuzz_${++this.made}_${Date.now()}`
    const { token } = await this.platform.operator.ok('POST', '/operators', { name, role: 'admin' })
    this.admin = new OperatorClient(this.url, token as string)
    this.account = await signedIn(this.platform, { user_id: this.actors[0]!.user_id })
    this.desk = await signedIn(this.platform, { operator: name })
  }
  private async credit(userId: number): Promise<void> {
    for (const [currency, amount] of Object.entries(RICH))
      await this.platform.operator.call('POST', `/users/${userId}/credit`, {
        account: 'spot',
        currency,
        amount,
      })
  }
  private async rich(kind: string, mode?: string): Promise<Actor> {
    const { user_id, client, credential } = await this.platform.user()
    await this.credit(user_id)
    for (const settle of ['usdt', 'btc']) {
      const currency = settle.toUpperCase()
      const amount = settle === 'usdt' ? '1000000' : '10'
      for (const account of mode === undefined ? ['futures', 'delivery'] : [])
        await this.platform.operator.call('POST', `/users/${user_id}/credit`, {
          account,
          currency,
          settle,
          amount,
        })
    }
    if (mode !== undefined) ok(await client.put('/unified/unified_mode', { mode }), 204)
    return { user_id, client, credential, kind }
  }
  /** What the operator did before may be in the way: then it is not there, and what is asked for is refused. */
  private async books({ client }: Actor): Promise<void> {
    for (const [currency_pair, mid, amount] of [
      ['BTC_USDT', 60_000, '0.5'],
      ['ETH_USDT', 3_000, '5'],
    ] as const)
      for (let i = 1; i <= 5; i++) {
        await client.post('/spot/orders', { currency_pair, side: 'buy', amount, price: String(mid - i * 10) })
        await client.post('/spot/orders', {
          currency_pair,
          side: 'sell',
          amount,
          price: String(mid + i * 10),
        })
      }
    for (let i = 1; i <= 5; i++)
      for (const sign of [1, -1])
        await client.post('/futures/usdt/orders', {
          contract: 'BTC_USDT',
          size: 500 * sign,
          price: String(60_000 - i * 10 * sign),
        })
  }
  private async trades({ client }: Actor): Promise<void> {
    const spot = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01' }
    await client.post('/spot/orders', { ...spot, price: '61000', text: 't-taken' })
    await client.post('/spot/orders', { ...spot, price: '50000', text: 't-waits' })
    await client.post('/spot/price_orders', {
      market: 'BTC_USDT',
      trigger: { price: '50000', rule: '<=', expiration: 3600 },
      put: {
        type: 'limit',
        side: 'buy',
        price: '50000',
        amount: '0.01',
        account: 'normal',
        time_in_force: 'gtc',
      },
    })
    await client.post('/wallet/transfers', {
      currency: 'USDT',
      from: 'spot',
      to: FUNDS,
      amount: '10000',
      currency_pair: 'BTC_USDT',
    })
    await client.post('/margin/uni/loans', {
      currency: 'USDT',
      currency_pair: 'BTC_USDT',
      type: 'borrow',
      amount: '1000',
    })
    await client.post('/futures/usdt/orders', { contract: 'BTC_USDT', size: 50, price: '61000' })
    await client.post('/futures/usdt/orders', {
      contract: 'BTC_USDT',
      size: 5,
      price: '55000',
      text: 't-contract',
    })
    await client.post('/futures/usdt/price_orders', {
      initial: { contract: 'BTC_USDT', size: -5, price: '0', tif: 'ioc', reduce_only: true },
      trigger: { strategy_type: 0, price_type: 0, price: '50000', rule: 2 },
    })
  }
  /** Money on its way in and out, and to others. */
  private async wallet({ client, user_id }: Actor, to: number): Promise<void> {
    const { operator } = this.platform
    const saved = {
      currency: 'ETH',
      chain: 'ETH',
      address: ETH_OUTSIDE,
      verified: true,
      verified_at: Math.floor(this.platform.now() - 2 * DAY),
    }
    await operator.call('POST', `/users/${user_id}/saved_addresses`, saved)
    const { currency, chain, address } = saved
    for (let i = 0; i < 3; i++) {
      await client.post('/withdrawals', {
        currency,
        chain,
        address,
        amount: '1',
        withdraw_order_id: `fuzz-${i}`,
      })
      await client.post('/withdrawals/push', { receive_uid: to, currency, amount: '1' })
      await operator.call('POST', `/chains/ETH/deposits`, { user_id, currency, amount: '2' })
    }
    await operator.call('POST', '/chains/ETH/mine', { blocks: 2 })
  }
  /** Orders that wait, and contracts with a date. */
  private async waits({ client }: Actor): Promise<void> {
    const trail = { contract: 'BTC_USDT', amount: '-5', price_type: 1, price_offset: '2%' }
    for (let i = 0; i < 3; i++) {
      await client.post('/futures/usdt/autoorder/v1/trail/create', trail)
      await client.post('/futures/usdt/autoorder/v1/chase/create', { contract: 'BTC_USDT', amount: '5' })
    }
    const dated = (await client.get('/delivery/usdt/contracts')).body as { name: string }[]
    const contract = dated.find(({ name }) => name.startsWith('BTC_USDT'))?.name
    if (contract === undefined) return
    for (const [size, price] of [
      [5, '55000'],
      [-5, '65000'],
    ] as const)
      await client.post('/delivery/usdt/orders', { contract, size, price })
    await client.post('/account/stp_groups', { name: `fuzz ${this.made}` })
    await client.post('/spot/pov_orders', {
      currency_pair: 'BTC_USDT',
      side: 'buy',
      amount: '0.01',
      participation_rate: 0.1,
      ttl: '3600',
      limit_price: '51000',
    })
  }
  private async borrows({ client }: Actor): Promise<void> {
    await client.post('/unified/loans', { currency: 'ETH', amount: '10', type: 'borrow' })
    await client.post('/futures/usdt/orders', { contract: 'BTC_USDT', size: -50, price: '59000' })
    await client.post('/spot/orders', {
      currency_pair: 'ETH_USDT',
      side: 'sell',
      amount: '1',
      price: '3500',
      account: 'unified',
      text: 't-unified',
    })
  }
  /** What they have is what later requests name. */
  async learn(pool: Pool): Promise<void> {
    for (const { client, user_id } of this.actors) {
      pool.see({ user_id })
      for (const path of [
        '/spot/open_orders',
        '/futures/usdt/orders?status=open',
        '/futures/usdt/price_orders?status=open',
        '/spot/price_orders?status=open',
        '/futures/usdt/positions',
        '/wallet/saved_address?currency=USDT',
        '/sub_accounts',
        '/wallet/withdrawals',
        '/wallet/push',
        '/account/stp_groups',
        '/spot/pov_orders',
        '/delivery/usdt/orders?status=open',
        '/futures/usdt/autoorder/v1/trail/list',
        '/futures/usdt/autoorder/v1/chase/list',
      ]) {
        const [plain, query = ''] = path.split('?') as [string, string?]
        pool.see((await client.get(plain, query)).body, scopeOf(plain), user_id)
      }
    }
    for (const { group, settle, name } of await this.platform.operator.ok('GET', '/contracts')) {
      const account = `${String(group)}/${String(settle)}`
      pool.contracts.set(account, [...new Set([...(pool.contracts.get(account) ?? []), name as string])])
    }
    for (const path of [
      '/chains',
      '/markets',
      '/withdrawals',
      '/deposits',
      '/push',
      '/sockets',
      '/chains/ETH/transactions',
    ])
      pool.see((await this.platform.operator.call('GET', path)).body, scopeOf(path))
  }

  /** Nothing was made of nothing, whatever was sent. */
  async prove(): Promise<void> {
    const { platform } = this.platform
    assert.deepEqual(this.platform.faults, [])
    await platform.desk.core.idle()
    platform.desk.core.state.check()
    const proof = await this.platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true, JSON.stringify(proof))
    const due = await this.platform.operator.ok('GET', '/due')
    assert.deepEqual(due, [], 'due work failed')
    assert.deepEqual(
      Object.keys(Object.prototype as object),
      [],
      'the prototype of everything has a new member',
    )
    assert.equal((await this.platform.operator.ok('GET', '/status')).mode, 'sandbox')
  }
  async close(): Promise<void> {
    await this.platform.stop()
  }
}
