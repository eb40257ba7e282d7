import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { answers, type DatabaseOf } from '../../test/support/cluster.ts'
import { freePorts } from '../../test/support/ports.ts'
import type { DatabaseFailures } from '../../test/support/failures.ts'
import { until } from '../../test/support/raw.ts'

/**
 * Three database machines on loopback, from the files in deploy/: an etcd, a Patroni and a PostgreSQL each. Addresses, ports and
 * folders are put in their place; everything else is as an operator has it.
 */
const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const COUNT = 3
const NUMBERS = [1, 2, 3] as const
const PASSWORD = 'kontor-password'

export class MissingProgram extends Error {}

export class DatabaseMachines implements DatabaseFailures {
  private readonly folder: string
  private readonly bin: string
  private readonly user: { uid: number; gid: number } | undefined
  private readonly etcds = new Map<number, ChildProcess>()
  private readonly patronis = new Map<number, ChildProcess>()
  private readonly ports: {
    readonly peer: number
    readonly client: number
    readonly rest: number
    readonly postgres: number
  }[]
  private dead: number | undefined
  private constructor(folder: string, ports: readonly number[]) {
    this.folder = folder
    this.bin = postgresFolder()
    this.user = userOf()
    this.ports = NUMBERS.map((_, i) => {
      const [peer, client, rest, postgres] = ports.slice(i * 4) as [number, number, number, number]
      return { peer, client, rest, postgres }
    })
  }
  static async start(folder: string): Promise<DatabaseMachines> {
    for (const program of ['etcd', 'patroni'])
      if (!onPath(program))
        throw new MissingProgram(`${program} is not installed: apt-get install patroni etcd-server`)
    chmodSync(folder, 0o755)
    const machines = new DatabaseMachines(folder, await freePorts(4 * COUNT))
    for (const number of NUMBERS) machines.startEtcd(number)
    await until(
      () => answers(`http://127.0.0.1:${machines.ports[0]!.client}/health`),
      30_000,
      () => 'etcd has no leader',
    )
    for (const number of NUMBERS) machines.startPatroni(number)
    await machines.whole(120_000)
    return machines
  }
  /** A database with a user of its own, as the runbook has it. */
  async database(): Promise<DatabaseOf> {
    await this.administer(`create role kontor login password '${PASSWORD}'`)
    await this.administer('create database kontor owner kontor')
    return {
      name: 'kontor',
      login: `kontor:${PASSWORD}`,
      ports: this.ports.map(({ postgres }) => postgres),
      query: (sql) => this.ask(sql, { user: 'kontor', password: PASSWORD, database: 'kontor' }),
    }
  }
  /** The number of the machine that has the primary. */
  async primary(): Promise<number | undefined> {
    return this.first('primary')
  }
  /** Power off: nothing of the machine runs any more but its etcd. */
  async killPrimary(): Promise<void> {
    const number = (await this.primary())!
    this.dead = number
    const patroni = this.patronis.get(number)!
    this.patronis.delete(number)
    patroni.kill('SIGSTOP')
    for (const pid of this.servers(number)) signal(pid, 'SIGKILL')
    patroni.kill('SIGKILL')
    return Promise.resolve()
  }
  /** PostgreSQL alone dies; its Patroni sees it. */
  async crashPrimary(): Promise<void> {
    const number = (await this.primary())!
    for (const pid of this.servers(number)) signal(pid, 'SIGKILL')
  }
  /** The machine hangs, and comes back when somebody else is the primary. */
  async hangPrimary(): Promise<() => void> {
    const number = (await this.primary())!
    const all = [this.patronis.get(number)!.pid!, ...this.servers(number)]
    for (const pid of all) signal(pid, 'SIGSTOP')
    return () => {
      for (const pid of all.toReversed()) signal(pid, 'SIGCONT')
    }
  }
  async switchOver(): Promise<void> {
    const leader = (await this.primary())!
    const reply = await fetch(`http://127.0.0.1:${this.ports[leader - 1]!.rest}/switchover`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from('patroni:CHANGE-restapi').toString('base64')}` },
      body: JSON.stringify({ leader: `db${leader}` }),
    })
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`)
  }
  killEtcd(number = 1): void {
    this.etcds.get(number)?.kill('SIGKILL')
    this.etcds.delete(number)
  }
  /** Whatever was killed is started again, and follows. */
  async mend(): Promise<void> {
    for (const number of NUMBERS) if (!this.etcds.has(number)) this.startEtcd(number, 'existing')
    if (this.dead !== undefined) this.startPatroni(this.dead)
    this.dead = undefined
    await this.whole()
  }
  /** The synchronous standby hangs for so long. */
  async parted(ms: number): Promise<void> {
    const number = await this.first('sync')
    if (number === undefined) throw new Error('there is no synchronous standby')
    const all = this.servers(number)
    for (const pid of all) signal(pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, ms))
    for (const pid of all) signal(pid, 'SIGCONT')
  }
  /** A primary, a synchronous standby and one more, all of them running. */
  async whole(ms = 90_000): Promise<void> {
    const look = async (): Promise<boolean> => {
      const up = await Promise.all(this.ports.map(({ rest }) => answers(`http://127.0.0.1:${rest}/health`)))
      return (
        up.every(Boolean) && (await this.primary()) !== undefined && (await this.first('sync')) !== undefined
      )
    }
    await until(look, ms, () => `the database machines are not whole: ${this.logs()}`)
  }
  logs(): string {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => `\n--- ${name}\n${readFileSync(join(this.folder, name), 'utf8').slice(-1500)}`)
      .join('')
  }
  close(): void {
    for (const [number, patroni] of this.patronis) {
      patroni.kill('SIGKILL')
      for (const pid of this.servers(number)) signal(pid, 'SIGKILL')
    }
    for (const etcd of this.etcds.values()) etcd.kill('SIGKILL')
  }

  private async first(role: 'primary' | 'sync'): Promise<number | undefined> {
    const found = await Promise.all(this.ports.map(({ rest }) => answers(`http://127.0.0.1:${rest}/${role}`)))
    const place = found.indexOf(true)
    return place === -1 ? undefined : place + 1
  }
  private administer(sql: string): Promise<Record<string, unknown>[]> {
    return this.ask(sql, { user: 'postgres', password: 'CHANGE-superuser', database: 'postgres' })
  }
  private async ask(
    sql: string,
    login: { user: string; password: string; database: string },
  ): Promise<Record<string, unknown>[]> {
    const leader = await this.primary()
    if (leader === undefined) throw new Error('there is no primary')
    const client = new pg.Client({ host: '127.0.0.1', port: this.ports[leader - 1]!.postgres, ...login })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  /** Processes of a machine's PostgreSQL, the first of them first. */
  private servers(number: number): number[] {
    const file = join(this.folder, `db${number}`, 'postmaster.pid')
    if (!existsSync(file)) return []
    const first = Number(readFileSync(file, 'utf8').split('\n')[0])
    try {
      const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8')
        .split(' ')
        .filter(Boolean)
        .map(Number)
      return [first, ...children]
    } catch {
      return []
    }
  }
  /** The addresses of deploy/ become those of here. */
  private here(text: string): string {
    return text
      .replaceAll(/10\.0\.0\.1([123]):(2380|2379|8008|5432)/g, (_, machine: string, port: string) => {
        const { peer, client, rest, postgres } = this.ports[Number(machine) - 1]!
        return `127.0.0.1:${{ 2380: peer, 2379: client, 8008: rest, 5432: postgres }[port]!}`
      })
      .replaceAll('10.0.0.0/24', '127.0.0.1/32')
  }
  private startEtcd(number: number, state = 'new'): void {
    const text = this.here(own(readFileSync(join(DEPLOY, 'etcd/etcd.default'), 'utf8'), number))
    const env: Record<string, string> = { PATH: process.env['PATH']! }
    for (const [, name, value] of text.matchAll(/^(ETCD_\w+)="(.*)"$/gm)) env[name!] = value!
    env['ETCD_DATA_DIR'] = join(this.folder, `etcd${number}`)
    env['ETCD_LISTEN_CLIENT_URLS'] = env['ETCD_ADVERTISE_CLIENT_URLS']!
    env['ETCD_INITIAL_CLUSTER_STATE'] = state
    mkdirSync(env['ETCD_DATA_DIR'], { recursive: true, mode: 0o700 })
    this.etcds.set(number, this.spawn('etcd', [], env, `etcd${number}`))
  }
  private startPatroni(number: number): void {
    const port = this.ports[number - 1]!.postgres
    const data = join(this.folder, `db${number}`)
    const replaced: readonly (readonly [string, string])[] = [
      [`10.0.0.1${number},127.0.0.1:5432`, `127.0.0.1:${port}`],
      ['/var/lib/postgresql/15/kontor', data],
      ['/usr/lib/postgresql/15/bin', this.bin],
      ['/var/lib/postgresql/.pgpass-patroni', join(this.folder, `pgpass${number}`)],
      ['/var/run/postgresql', this.folder],
    ]
    let text = own(readFileSync(join(DEPLOY, 'patroni/patroni.yml'), 'utf8'), number)
    for (const [from, to] of replaced) {
      if (!text.includes(from)) throw new Error(`deploy/patroni/patroni.yml has no "${from}"`)
      text = text.replaceAll(from, to)
    }
    const file = join(this.folder, `patroni${number}.yml`)
    writeFileSync(file, this.here(text), { mode: 0o600 })
    if (this.user !== undefined)
      for (const path of [file, this.folder]) chownSync(path, this.user.uid, this.user.gid)
    const env = { PATH: process.env['PATH']!, LANG: 'C.UTF-8', HOME: this.folder }
    this.patronis.set(number, this.spawn('patroni', [file], env, `patroni${number}`, this.user))
  }
  private spawn(
    program: string,
    args: readonly string[],
    env: Record<string, string>,
    name: string,
    user?: { uid: number; gid: number },
  ): ChildProcess {
    const child = spawn(program, args, { env, cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'], ...user })
    const log = join(this.folder, `${name}.log`)
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => appendFileSync(log, bytes))
    return child
  }
}

/** The lines marked * are this machine's. */
const own = (text: string, number: number): string =>
  text
    .split('\n')
    .map((line) =>
      /#\s*\*|^ETCD_(?!INITIAL_CLUSTER=)|listen:|connect_address:/.test(line)
        ? ofMachine(line, number)
        : line,
    )
    .join('\n')
const ofMachine = (line: string, number: number): string =>
  line.replaceAll('10.0.0.11', `10.0.0.1${number}`).replaceAll('db1', `db${number}`)

function onPath(program: string): boolean {
  return process.env['PATH']!.split(':').some((folder) => existsSync(join(folder, program)))
}
function postgresFolder(): string {
  const base = '/usr/lib/postgresql'
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions
    .map((version) => join(base, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'postgres')))
  if (found === undefined)
    throw new MissingProgram(`there is no PostgreSQL in ${base}: apt-get install postgresql`)
  return found
}
/** PostgreSQL does not run as root. */
function userOf(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (option: string): number =>
    Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
