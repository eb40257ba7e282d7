import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorClient } from './client.ts'
import { exchange } from './plain-http.ts'
import { freePort, freePorts } from './ports.ts'
import { SECRET_KEY, TOKEN } from './platform.ts'
import { kontor } from './process.ts'
import { TcpProxy } from './proxy.ts'
import { until } from './raw.ts'
import { Supervised } from './supervised.ts'

/** What a standby logs when its memory is as far as the journal. */
const FOLLOWS = 'standing by: memory follows'

/** What all cores have alike. */
export const CLUSTER_ENV = {
  KONTOR_OPERATOR_TOKEN: TOKEN,
  KONTOR_SECRET_KEY: SECRET_KEY,
  KONTOR_DEMO_KEY: 'a'.repeat(32),
  KONTOR_DEMO_SECRET: 'b'.repeat(64),
  KONTOR_AGENTS: 'off',
  KONTOR_GATEWAYS: '0',
  KONTOR_RATE_LIMITS: 'off',
  KONTOR_LOG: 'info',
} as const

/** Where a database's servers listen, and how to ask whichever is primary. */
export interface DatabaseOf {
  readonly name: string
  readonly ports: readonly number[]
  /** User and password of the URL, where it needs them. */
  readonly login?: string
  query(sql: string): Promise<Record<string, unknown>[]>
}
export interface ClusterOptions {
  readonly database: DatabaseOf
  readonly cores?: number
  readonly gateways?: number
  readonly leaseMs?: number
  readonly env?: Readonly<Record<string, string>>
  /** Without links that can fail: for who measures, and has no time for them. */
  readonly direct?: boolean
}
export interface CoreMachine {
  readonly node: string
  readonly url: string
  readonly supervised: Supervised
  /** To each server of the database, and from the gateways. */
  readonly database: readonly TcpProxy[]
  readonly line: TcpProxy
  /** Where gateways reach it. */
  readonly reached: string
}
export interface GatewayMachine {
  readonly url: string
  readonly supervised: Supervised
}

/** Cores and gateways as processes of their own, with a link that can fail between every two parts. */
export class Cluster {
  readonly cores: CoreMachine[] = []
  readonly gateways: GatewayMachine[] = []
  readonly database: DatabaseOf
  private readonly folder = mkdtempSync(join(tmpdir(), 'kontor-cluster-'))
  private readonly shared: Record<string, string>
  private readonly direct: boolean
  private constructor({ database, leaseMs = 1000, env = {}, direct = false }: ClusterOptions) {
    this.database = database
    this.direct = direct
    this.shared = {
      ...CLUSTER_ENV,
      KONTOR_LEASE_MS: String(leaseMs),
      KONTOR_CERTS: join(this.folder, 'certs'),
      ...env,
    }
  }
  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options)
    try {
      const { cores = 2, gateways = 2 } = options
      if (gateways > 0) await cluster.certificates()
      for (let i = 1; i <= cores; i++) await cluster.addCore(`core${i}`, gateways > 0)
      for (let i = 1; i <= gateways; i++) await cluster.addGateway(`gateway${i}`)
      await cluster.ready()
      await cluster.standing()
      return cluster
    } catch (error) {
      await cluster.close()
      throw error
    }
  }
  /** Where clients go. */
  get urls(): string[] {
    return (this.gateways.length > 0 ? this.gateways : this.cores).map(({ url }) => url)
  }
  async active(ms = 20_000): Promise<CoreMachine> {
    let found: CoreMachine | undefined
    const look = async (): Promise<boolean> => {
      const ready = await Promise.all(this.cores.map(({ url }) => answers(`${url}/readyz`)))
      found = this.cores[ready.indexOf(true)]
      return found !== undefined
    }
    await until(look, ms, () => `no core is ready: ${this.logs()}`)
    return found!
  }
  async operator(): Promise<OperatorClient> {
    return new OperatorClient((await this.active()).url, TOKEN)
  }
  /** Every core but the active one follows the journal in memory. */
  async standing(ms = 180_000): Promise<void> {
    const active = await this.active()
    const follow = (): boolean =>
      this.cores.every((core) => core === active || core.supervised.process.errors.includes(FOLLOWS))
    await until(follow, ms, () => `no standby follows: ${this.logs()}`)
  }
  /** Somebody serves, through every door. */
  async ready(ms = 60_000): Promise<void> {
    await this.active(ms)
    for (const { url } of this.gateways)
      await until(
        () => answers(`${url}/readyz`),
        ms,
        () => `${url} is not ready: ${this.logs()}`,
      )
  }
  /** `kontor promote`, as an operator calls it. */
  async promote(node?: string): Promise<string> {
    const { code, output, errors } = await kontor(['promote', ...(node === undefined ? [] : [node])], {
      ...this.shared,
      KONTOR_DATABASE_URL: this.databaseUrl(),
    })
    assert.equal(code, 0, errors + output)
    return output
  }
  async verify(): Promise<void> {
    const { code, output, errors } = await kontor(['verify'], {
      ...this.shared,
      KONTOR_DATA: join(this.folder, 'verify'),
      KONTOR_DATABASE_URL: this.databaseUrl(),
    })
    assert.equal(code, 0, errors + output)
  }
  logs(): string {
    return [
      ...this.cores.map(({ supervised }) => supervised),
      ...this.gateways.map(({ supervised }) => supervised),
    ]
      .map(
        ({ name, log, exits }) =>
          `\n--- ${name} (${exits.map(({ code }) => code).join()})\n${log.slice(-3000)}`,
      )
      .join('')
  }
  async close(): Promise<void> {
    await Promise.all([...this.gateways, ...this.cores].map(({ supervised }) => supervised.stop()))
    for (const { database, line } of this.cores) for (const link of [...database, line]) await link.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  private databaseUrl(ports = this.database.ports): string {
    return urlOf(this.database, ports)
  }
  private async certificates(): Promise<void> {
    const { code, errors } = await kontor(['certs', this.shared['KONTOR_CERTS']!])
    assert.equal(code, 0, errors)
  }
  private async addCore(node: string, listens: boolean): Promise<void> {
    const [port, listen] = (await freePorts(2)) as [number, number]
    const database = await Promise.all(this.database.ports.map((one) => TcpProxy.start(one)))
    const line = await TcpProxy.start(listen)
    const reached = this.direct ? `127.0.0.1:${listen}` : line.address
    const env = {
      ...this.shared,
      KONTOR_NODE: node,
      KONTOR_PORT: String(port),
      KONTOR_DATA: join(this.folder, node),
      KONTOR_DATABASE_URL: this.databaseUrl(this.direct ? undefined : database.map((one) => one.port)),
      ...(listens && { KONTOR_CORE_LISTEN: `127.0.0.1:${listen}`, KONTOR_CORE_ADDRESS: reached }),
    }
    const supervised = new Supervised(node, env, ['standby'])
    this.cores.push({ node, url: `http://127.0.0.1:${port}`, supervised, database, line, reached })
    // The first one makes the world; the others find it.
    if (this.cores.length === 1) await this.active(60_000)
  }
  async addGateway(node: string): Promise<void> {
    const port = await freePort()
    const env = {
      KONTOR_NODE: node,
      KONTOR_PORT: String(port),
      KONTOR_LOG: 'info',
      KONTOR_CERTS: this.shared['KONTOR_CERTS']!,
    }
    const list = this.cores.map(({ reached }) => reached).join()
    const supervised = new Supervised(node, env, ['gateway', '--core', list])
    this.gateways.push({ url: `http://127.0.0.1:${port}`, supervised })
  }
}

export async function answers(url: string, ms = 1000): Promise<boolean> {
  try {
    return (await exchange(url, 'GET', undefined, {}, ms)).status === 200
  } catch {
    return false
  }
}
/** All at once, so that they differ. */
export const urlOf = ({ login = 'postgres', name, ports: all }: DatabaseOf, ports = all): string =>
  `postgresql://${login}@${ports.map((port) => `127.0.0.1:${port}`).join()}/${name}?target_session_attrs=read-write`
