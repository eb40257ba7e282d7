import assert from 'node:assert/strict'
import { format, type Amount } from '../../src/money/amount.ts'
import { Client, OperatorClient, type Credential, type Reply } from '../support/client.ts'
import { TOKEN, allPerms } from '../support/platform.ts'
import { DAY, ETH_OUTSIDE } from '../support/wallet.ts'

/** What customers ask for; each request carries a mark that no other one has, so that it is found again whatever became of it. */
export const KINDS = ['transfer', 'push', 'withdrawal', 'spot order', 'contract order'] as const
export type Kind = (typeof KINDS)[number]

/** What somebody asked for once. */
export interface Claim {
  readonly kind: Kind
  readonly mark: string
  readonly user_id: number
  /** What it was acknowledged by; undefined: nobody answered, so it may have happened or not. */
  id: number | undefined
  /** Of an order: how much of it was told to be filled, and whether it was told to be over. */
  filled: string
  over: boolean
}
interface Customer {
  readonly user_id: number
  readonly credential: Credential
  readonly open: Claim[]
}
const FUNDS: readonly (readonly [account: string, currency: string, amount: string])[] = [
  ['spot', 'USDT', '10000000'],
  ['spot', 'BTC', '1000'],
  ['spot', 'ETH', '10000'],
  ['futures', 'USDT', '1000000'],
]
/** An account may have 1,000 orders open in a market; few are enough. */
const OPEN_MAX = 6
/** A hundred-millionth, the least that is transferred: amounts of it are marks. */
const GRAIN = 10n ** 10n

/** Customers who move money in every way at once, each waiting for the reply before the next request, and write down what they are told. */
export class Money {
  readonly claims = new Map<string, Claim>()
  readonly acknowledged: Record<Kind | 'cancellation', number> = {
    transfer: 0,
    push: 0,
    withdrawal: 0,
    'spot order': 0,
    cancellation: 0,
    'contract order': 0,
  }
  private readonly customers: Customer[] = []
  private readonly random: () => number
  private workers: Promise<void>[] = []
  private running = false
  private wrong: assert.AssertionError | undefined
  private made = 0
  constructor(random: () => number) {
    this.random = random
  }
  get replies(): number {
    return Object.values(this.acknowledged).reduce((sum, count) => sum + count, 0)
  }
  async prepare(url: string, count: number): Promise<void> {
    const operator = new OperatorClient(url, TOKEN)
    const verified_at = Math.floor(Date.now() / 1000) - 2 * DAY
    await operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 1 })
    await operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    for (let i = 0; i < count; i++) {
      const { user_id } = await operator.ok('POST', '/users', { login_name: `customer_${i}` })
      const key = { name: 'money', mode: 1, perms: allPerms(), ip_whitelist: [] }
      const credential = await operator.ok('POST', `/users/${user_id}/keys`, key)
      for (const [account, currency, amount] of FUNDS) {
        const settle = account === 'futures' ? { settle: 'usdt' } : {}
        await operator.ok('POST', `/users/${user_id}/credit`, { account, currency, amount, ...settle })
      }
      const saved = { currency: 'ETH', chain: 'ETH', address: ETH_OUTSIDE, verified: true, verified_at }
      await operator.ok('POST', `/users/${user_id}/saved_addresses`, saved)
      this.customers.push({ user_id, credential, open: [] })
    }
  }
  start(url: string): void {
    this.running = true
    this.workers = this.customers.map((customer) => this.work(customer, new Client(url, customer.credential)))
  }
  /** Ends when everybody has met the end of the platform; tells what somebody should not have been told. */
  async stop(): Promise<void> {
    this.running = false
    await Promise.all(this.workers)
    if (this.wrong !== undefined) throw this.wrong
  }
  private async work(customer: Customer, client: Client): Promise<void> {
    try {
      while (this.running) if (!(await this.step(customer, client))) return
    } catch (error) {
      // The connection ended: what was asked for last stays without an answer.
      if (error instanceof assert.AssertionError) this.wrong ??= error
    }
  }
  /** False: the platform says itself that it does not know what became of a request. */
  private async step(customer: Customer, client: Client): Promise<boolean> {
    const die = this.random()
    if (die < 0.3) return this.transfer(customer, client)
    if (die < 0.4) return this.push(customer, client)
    if (die < 0.45) return this.withdraw(customer, client)
    if (die < 0.7)
      return customer.open.length > OPEN_MAX ? this.cancel(customer, client) : this.spot(customer, client)
    return this.contract(customer, client)
  }
  private claim(kind: Kind, mark: string, { user_id }: Customer): Claim {
    const claim: Claim = { kind, mark, user_id, id: undefined, filled: '0', over: false }
    this.claims.set(`${kind} ${mark}`, claim)
    return claim
  }
  private amountMark(): string {
    return format((GRAIN * BigInt(++this.made)) as Amount)
  }
  private told(claim: Claim, reply: Reply, id: (body: Reply['body']) => unknown): boolean {
    if (reply.status === 503) return false
    // Everybody has money for everything: who is refused has lost some.
    assert.ok(reply.status < 300, `${claim.kind} ${claim.mark} was refused: ${reply.text}`)
    claim.id = Number(id(reply.body))
    this.acknowledged[claim.kind]++
    return true
  }
  private async transfer(customer: Customer, client: Client): Promise<boolean> {
    const amount = this.amountMark()
    const claim = this.claim('transfer', amount, customer)
    const body = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount }
    return this.told(claim, await client.post('/wallet/transfers', body), ({ tx_id }) => tx_id)
  }
  private async push(customer: Customer, client: Client): Promise<boolean> {
    const amount = this.amountMark()
    const claim = this.claim('push', amount, customer)
    const others = this.customers.filter((one) => one !== customer)
    const { user_id: receive_uid } = others[Math.floor(this.random() * others.length)]!
    const body = { receive_uid, currency: 'ETH', amount }
    return this.told(claim, await client.post('/withdrawals/push', body), ({ id }) => id)
  }
  private async withdraw(customer: Customer, client: Client): Promise<boolean> {
    const withdraw_order_id = `k${++this.made}`
    const claim = this.claim('withdrawal', withdraw_order_id, customer)
    const body = { currency: 'ETH', chain: 'ETH', amount: '0.05', address: ETH_OUTSIDE, withdraw_order_id }
    const reply = await client.post('/withdrawals', body)
    return this.told(claim, reply, ({ withdraw_id }) => String(withdraw_id).slice(1))
  }
  private async spot(customer: Customer, client: Client): Promise<boolean> {
    const text = `t-k${++this.made}`
    const claim = this.claim('spot order', text, customer)
    const side = this.random() < 0.5 ? 'buy' : 'sell'
    const price = String(50_000 + Math.floor(this.random() * 6))
    const body = { text, currency_pair: 'BTC_USDT', side, amount: '0.01', price }
    const reply = await client.post('/spot/orders', body)
    if (!this.told(claim, reply, ({ id }) => id)) return false
    claim.filled = reply.body.filled_amount
    claim.over = reply.body.status !== 'open'
    if (!claim.over) customer.open.push(claim)
    return true
  }
  private async cancel(customer: Customer, client: Client): Promise<boolean> {
    const claim = customer.open.shift()!
    const reply = await client.delete(`/spot/orders/${claim.id}`, { currency_pair: 'BTC_USDT' })
    if (reply.status === 503) return false
    // Somebody may have filled it meanwhile.
    if (reply.status !== 200) return true
    claim.filled = reply.body.filled_amount
    claim.over = true
    this.acknowledged.cancellation++
    return true
  }
  private async contract(customer: Customer, client: Client): Promise<boolean> {
    const text = `t-k${++this.made}`
    const claim = this.claim('contract order', text, customer)
    const size = (1 + Math.floor(this.random() * 5)) * (this.random() < 0.5 ? 1 : -1)
    // Half of them take what is there; what is left of them goes.
    const price = String(60_000 + (this.random() < 0.5 ? -1 : 1) * Math.floor(this.random() * 4))
    const body = { text, contract: 'BTC_USDT', size, price, tif: this.random() < 0.8 ? 'ioc' : 'gtc' }
    const reply = await client.post('/futures/usdt/orders', body)
    if (!this.told(claim, reply, ({ id }) => id)) return false
    claim.filled = String(Math.abs(size) - Math.abs(Number(reply.body.left)))
    claim.over = reply.body.status !== 'open'
    return true
  }
}
