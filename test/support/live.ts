import { OperatorClient, type Reply } from './client.ts'
import { LIVE, TOKEN, TestPlatform } from './platform.ts'

/** As quick as a live platform may be. */
export const LIVE_ENV = { ...LIVE, KONTOR_RATE_LIMITS: '100' }

/** A platform in live mode with two admins and two operators. Its chains are simulated, and driven past the API. */
export class LivePlatform {
  platform: TestPlatform
  admin: OperatorClient
  second!: OperatorClient
  private readonly tokens = new Map<string, string>()
  private constructor(platform: TestPlatform) {
    this.platform = platform
    this.admin = platform.operator
  }
  static async start(env: Record<string, string> = {}): Promise<LivePlatform> {
    const live = new LivePlatform(await TestPlatform.start({ ...LIVE_ENV, ...env }))
    const { token } = await live.admin.ok('POST', '/operators', { name: 'second', role: 'admin' })
    live.tokens.set('second', token as string)
    live.second = live.as('second')
    return live
  }
  as(name: string): OperatorClient {
    return new OperatorClient(this.platform.url, this.tokens.get(name)!)
  }
  async confirm(reply: Reply, by = this.second): Promise<Reply['body']> {
    if (reply.status !== 202) throw new Error(`no proposal: ${reply.status} ${reply.text}`)
    return by.ok('POST', `/proposals/${String(reply.body.proposal.id)}/confirm`)
  }
  /** Asked for by one admin, confirmed by the other. */
  async both(method: string, path: string, body?: unknown): Promise<Reply['body']> {
    return this.confirm(await this.admin.call(method, path, body))
  }
  async operator(name: string, role = 'operator'): Promise<OperatorClient> {
    const asked = await this.admin.call('POST', '/operators', { name, role })
    const { token_second_half } = await this.confirm(asked)
    this.tokens.set(name, `${String(asked.body.token_first_half)}${String(token_second_half)}`)
    return this.as(name)
  }
  /** Money, which in live mode nobody can make by a call. */
  async credit(user_id: number, currency: string, amount: string): Promise<void> {
    await this.platform.platform.desk.core.submit('user.credit', {
      user_id,
      account: 'spot',
      currency,
      amount,
      currency_pair: null,
      settle: null,
      actor: null,
    })
  }
  async mine(chain: string, blocks: number): Promise<void> {
    const { core, chains } = this.platform.platform.desk
    await chains.step(chain, { hurry: true })
    await core.submit('sim.mine', { chain, blocks, actor: 'test' })
    await chains.step(chain)
  }
  async pass(seconds: number): Promise<void> {
    const { clock } = this.platform.platform.desk
    clock.distance = clock.distanceTo(clock.peek() + seconds * 1e6)
    // The ticker looks five times a second.
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  async restart(env: Record<string, string> = {}): Promise<void> {
    this.platform = await this.platform.restart(env)
    this.admin = new OperatorClient(this.platform.url, TOKEN)
    this.second = this.as('second')
  }
  async stop(): Promise<void> {
    await this.platform.stop()
  }
}
