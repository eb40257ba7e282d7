import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { PERMISSIONS, type Perm } from '../../src/core/tables/keys.ts'
import { startPlatform, type Platform } from '../../src/platform.ts'
import { createLog } from '../../src/runtime/log.ts'
import { Client, OperatorClient, type Credential } from './client.ts'
import { gatewaysAsked } from './gateways.ts'
import { recordTransitions } from './recorder.ts'
import { remoteAsked, remoteSettings, type RemoteFront } from './remote-front.ts'

/** Drawn once, at random, as live mode wants them. */
export const TOKEN = 'ce1b6a5f0d7340f3a1f4d5a86b2c97e80dfb42c6e1954f7a'
export const SECRET_KEY = '5f0c9e3b7a61d84e2c05f7b8916ad3e4407b2d9fc815e63a0fd2b4987c6e1a35'
/** Live mode on the built-in world, whose chains are simulated. */
export const LIVE = {
  KONTOR_MODE: 'live',
  KONTOR_SECRET_KEY: SECRET_KEY,
  KONTOR_RATE_LIMITS: '1',
  KONTOR_SIMULATED_CHAINS: 'allow',
} as const

/** The whole platform in this process, on a free port, in a folder of its own. */
export class TestPlatform {
  readonly platform: Platform
  readonly data: string
  readonly operator: OperatorClient
  readonly faults: unknown[]
  private readonly env: Record<string, string>
  private constructor(platform: Platform, data: string, env: Record<string, string>, faults: unknown[]) {
    this.platform = platform
    this.data = data
    this.env = env
    this.faults = faults
    this.operator = new OperatorClient(platform.operatorUrl, env['KONTOR_OPERATOR_TOKEN'] ?? TOKEN)
  }
  static async start(
    env: Record<string, string> = {},
    data = mkdtempSync(join(tmpdir(), 'kontor-')),
  ): Promise<TestPlatform> {
    const remote = remoteAsked(env)
    const config = readConfig({
      ...(remote === undefined ? {} : await remoteSettings()),
      KONTOR_PORT: '0',
      KONTOR_DATA: data,
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_AGENTS: 'off',
      KONTOR_LOG: 'error',
      KONTOR_RATE_LIMITS: 'off',
      ...gatewaysAsked(),
      ...env,
    })
    const faults: unknown[] = []
    const log = createLog(config.log, (line) => {
      process.stderr.write(`${line}\n`)
    })
    const platform = await startPlatform(config, log, (error) => faults.push(error))
    recordTransitions(platform.desk.core.commits)
    const made = new TestPlatform(platform, data, env, faults)
    made.remote = await remote?.(config)
    return made
  }
  /** In front of it, where the tests run so; operators come to the platform itself. */
  private remote: RemoteFront | undefined
  get url(): string {
    return this.remote?.url ?? this.platform.url
  }
  get now(): () => number {
    return () => this.platform.desk.clock.peek() / 1e6
  }
  client(credential?: Credential): Client {
    return new Client(this.url, credential, this.now)
  }
  /** The demo main account, or one of its sub-accounts by login name. */
  demo(login = 'demo'): Client {
    const account = this.platform.credentials.accounts.find(({ login_name }) => login_name === login)!
    return this.client(account)
  }
  private made = 0
  /** A new account with a key that may do everything. */
  async user(
    options: { parent?: number; vip?: number; perms?: readonly Perm[]; ip_whitelist?: string[] } = {},
  ): Promise<{
    user_id: number
    client: Client
    credential: Credential
  }> {
    const { perms, ip_whitelist, ...rest } = options
    const { user_id } = await this.operator.ok('POST', '/users', {
      login_name: `user_${++this.made}_${Date.now()}`,
      ...rest,
    })
    const credential = await this.key(user_id, perms ?? allPerms(options.parent !== undefined), ip_whitelist)
    return { user_id, client: this.client(credential), credential }
  }
  async key(userId: number, perms: readonly Perm[], ip_whitelist: string[] = []): Promise<Credential> {
    return this.operator.ok('POST', `/users/${userId}/keys`, { name: 'test', mode: 1, perms, ip_whitelist })
  }
  async credit(
    userId: number,
    currency: string,
    amount: string,
    account: Record<string, unknown> = { account: 'spot' },
  ): Promise<void> {
    await this.operator.ok('POST', `/users/${userId}/credit`, { ...account, currency, amount })
  }
  /** Another operator, with a token of its own. */
  async colleague(name: string, role = 'operator'): Promise<OperatorClient> {
    const { token } = await this.operator.ok('POST', '/operators', { name, role })
    return new OperatorClient(this.url, token as string)
  }
  /** Free money of one account, as the operator sees it. */
  async balance(userId: number, currency: string, account = 'spot'): Promise<string> {
    const rows = await this.operator.ok('GET', `/users/${userId}/balances`)
    return (
      rows.find(
        (row: { account: string; currency: string }) => row.account === account && row.currency === currency,
      )?.available ?? '0'
    )
  }
  /** Stops and starts again on the same data. */
  async restart(env: Record<string, string> = {}): Promise<TestPlatform> {
    await this.remote?.stop()
    await this.platform.stop()
    return TestPlatform.start({ ...this.env, ...env }, this.data)
  }
  async stop(): Promise<void> {
    await this.remote?.stop()
    await this.platform.stop()
    rmSync(this.data, { recursive: true, force: true })
  }
}

export const allPerms = (sub = false): Perm[] =>
  PERMISSIONS.filter((name) => !sub || name !== 'withdrawal').map((name) => ({ name, read_only: false }))
