import { spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { copyFile, lchown, mkdir, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './ports.ts'
import { binaries, copyOwned, IDENTITY, makeCluster, NOBODY, ROOT } from './postgres.ts'
import { TcpProxy } from './proxy.ts'

/**
 * Two real PostgreSQL servers on TCP: a primary and its synchronous standby, made from a base copy of the stopped data
 * folder. What one acknowledges, the other has on its disk. Beside the servers' own ports stand links that can fail.
 */
export type Name = 'a' | 'b'
const other = (name: Name): Name => (name === 'a' ? 'b' : 'a')

/** When the standard input closes, because the tests ended or died, the server is stopped; restarts come over it as well. */
const GUARD = `trap '' INT TERM
"$@" <&- >>"$0.log" 2>&1 & server=$!
echo $server
read -r _
kill -QUIT $server 2>/dev/null; wait $server`
/** The folder goes when the tests have gone, whatever their end, and the servers with them. */
const BROOM = `trap '' INT TERM
read -r _; sleep 2; rm -rf "$0"`

export class PostgresNode {
  readonly name: Name
  readonly data: string
  readonly port: number
  private readonly native: string
  private guard: ChildProcess | undefined
  private pid = 0
  constructor(name: Name, folder: string, native: string, port: number) {
    this.name = name
    this.data = join(folder, name)
    this.native = native
    this.port = port
  }
  get running(): boolean {
    return this.guard !== undefined
  }
  async start(): Promise<void> {
    const guard = spawn(
      '/bin/sh',
      ['-c', GUARD, this.data, join(this.native, 'bin', 'postgres'), '-D', this.data],
      { ...IDENTITY, cwd: tmpdir(), stdio: ['pipe', 'pipe', 'ignore'] },
    )
    const line = await new Promise<string>((resolve, reject) => {
      guard.stdout.once('data', (text: Buffer) => resolve(text.toString()))
      guard.once('error', reject)
    })
    this.pid = Number(line.trim())
    guard.unref()
    guard.stdout.destroy()
    ;(guard.stdin as unknown as { unref(): void }).unref()
    this.guard = guard
    for (let attempt = 0; ; attempt++) {
      try {
        await this.query('select 1')
        return
      } catch (error) {
        if (attempt === 400 || zombie(this.pid))
          throw new Error(`PostgreSQL ${this.name} did not start: ${this.log().slice(-2000)}`, {
            cause: error,
          })
        await sleep(50)
      }
    }
  }
  /** One statement on a connection of its own, past every link. */
  async query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: this.port,
      user: 'postgres',
      database,
      connectionTimeoutMillis: 5000,
    })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  /** As when the machine loses its power: no process of the server does anything any more. */
  async kill(): Promise<void> {
    const { guard, pid } = this
    if (guard === undefined) return
    signal(pid, 'SIGSTOP')
    for (const child of childrenOf(pid)) signal(child, 'SIGKILL')
    signal(pid, 'SIGKILL')
    await this.ended(guard)
  }
  /** A clean stop: everything that was sent reaches the standby first. */
  async stop(): Promise<void> {
    const { guard, pid } = this
    if (guard === undefined) return
    signal(pid, 'SIGINT')
    for (let look = 0; look < 400 && !zombie(pid); look++) await sleep(25)
    await this.ended(guard)
  }
  /** Nothing of the server runs until it is told to go on: a machine that hangs. */
  pause(): void {
    signal(this.pid, 'SIGSTOP')
    for (const child of childrenOf(this.pid)) signal(child, 'SIGSTOP')
  }
  resume(): void {
    for (const child of childrenOf(this.pid)) signal(child, 'SIGCONT')
    signal(this.pid, 'SIGCONT')
  }
  log(): string {
    return existsSync(`${this.data}.log`) ? readFileSync(`${this.data}.log`, 'utf8') : ''
  }
  private async ended(guard: ChildProcess): Promise<void> {
    this.guard = undefined
    const gone = new Promise((resolve) => guard.once('exit', resolve))
    guard.ref()
    guard.stdin!.end()
    if (guard.exitCode === null) await gone
  }
}

export interface PairOptions {
  /** `true` syncs for real; kill -9 needs it not, because the system keeps what was written. */
  readonly durable?: boolean
  /** Clients and the standby come through proxies: `links`. */
  readonly proxied?: boolean
  readonly settings?: readonly string[]
}

export class PostgresPair {
  readonly nodes: Readonly<Record<Name, PostgresNode>>
  /** Where clients reach each server, and where the standby reaches its primary. Only with `proxied`. */
  readonly links: Readonly<Record<Name | 'replication', TcpProxy>> | undefined
  private readonly folder: string
  private primaryName: Name = 'a'
  private made = 0
  private constructor(
    folder: string,
    nodes: Readonly<Record<Name, PostgresNode>>,
    links: Readonly<Record<Name | 'replication', TcpProxy>> | undefined,
  ) {
    this.folder = folder
    this.nodes = nodes
    this.links = links
  }
  static async start({
    durable = false,
    proxied = false,
    settings = [],
  }: PairOptions = {}): Promise<PostgresPair> {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-pair-'))
    const broom = spawn('/bin/sh', ['-c', BROOM, folder], { stdio: ['pipe', 'ignore', 'ignore'] })
    broom.unref()
    ;(broom.stdin as unknown as { unref(): void }).unref()
    const native = await binaries(folder)
    if (ROOT) chownSync(folder, NOBODY, NOBODY)
    const [portA, portB] = [await freePort(), await freePort()]
    const a = new PostgresNode('a', folder, native, portA)
    const b = new PostgresNode('b', folder, native, portB)
    makeCluster(native, folder, a.data)
    appendFileSync(
      join(a.data, 'postgresql.conf'),
      [
        '',
        "listen_addresses = '127.0.0.1'",
        `unix_socket_directories = ''`,
        'shared_buffers = 64MB',
        'wal_level = replica',
        'hot_standby = on',
        'wal_retrieve_retry_interval = 200ms',
        'wal_receiver_timeout = 5s',
        'wal_sender_timeout = 5s',
        ...(durable ? [] : ['fsync = off', 'full_page_writes = off']),
        ...settings,
        '',
      ].join('\n'),
    )
    own(join(a.data, 'postgresql.auto.conf'), `port = ${a.port}\n`)
    copyOwned(a.data, b.data)
    const links = proxied
      ? {
          a: await TcpProxy.start(a.port),
          b: await TcpProxy.start(b.port),
          replication: await TcpProxy.start(a.port),
        }
      : undefined
    const pair = new PostgresPair(folder, { a, b }, links)
    await a.start()
    pair.follow(b)
    await a.query(`select pg_create_physical_replication_slot('b', true)`)
    await b.start()
    await pair.synchronous()
    return pair
  }
  get primary(): PostgresNode {
    return this.nodes[this.primaryName]
  }
  get standby(): PostgresNode {
    return this.nodes[other(this.primaryName)]
  }
  /** A new, empty database; the URL names both servers and wants the one that can be written. */
  async database(): Promise<string> {
    const name = `kontor_${process.pid}_${++this.made}`
    await this.primary.query(`create database ${name}`)
    return this.url(name)
  }
  url(database: string): string {
    const hosts = [this.address('a'), this.address('b')].join(',')
    return `postgresql://postgres@${hosts}/${database}?target_session_attrs=read-write`
  }
  /** Of one server alone, whatever it is. */
  urlOf(name: Name, database: string): string {
    return `postgresql://postgres@${this.address(name)}/${database}`
  }
  address(name: Name): string {
    return this.links?.[name].address ?? `127.0.0.1:${this.nodes[name].port}`
  }
  /** The primary is gone at once, and everything that it had not sent with it. */
  async killPrimary(): Promise<void> {
    await this.primary.kill()
  }
  /** The standby takes writes from now on, with nobody behind it. The old primary must be dead (or fenced off by the caller). */
  async promote(): Promise<void> {
    const node = this.standby
    await node.query('select pg_promote(true, 60)')
    this.primaryName = node.name
  }
  /** Both, as an operator's fail-over does. */
  async failOver(): Promise<void> {
    await this.killPrimary()
    await this.promote()
  }
  /** The server that is not the primary becomes its synchronous standby, from a base copy made of the running one. */
  async rejoin(): Promise<void> {
    const { primary, standby } = this
    await standby.kill()
    await rm(standby.data, { recursive: true, force: true })
    await primary.query(
      `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '${standby.name}' and not active`,
    )
    await primary.query(`select pg_create_physical_replication_slot('${standby.name}', true)`)
    const client = new pg.Client({
      host: '127.0.0.1',
      port: primary.port,
      user: 'postgres',
      database: 'postgres',
    })
    await client.connect()
    await client.query(`select pg_backup_start('rejoin', true)`)
    await copyRunning(primary.data, standby.data)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await client.end()
    own(join(standby.data, 'backup_label'), rows[0]!.labelfile)
    own(join(standby.data, 'postgresql.auto.conf'), `port = ${standby.port}\n`)
    this.follow(standby)
    await standby.start()
    await this.synchronous()
  }
  /** The primary goes on without its standby: what it acknowledges now, it alone has. */
  async alone(): Promise<void> {
    await this.primary.query(`alter system set synchronous_standby_names = ''`)
    await this.primary.query('select pg_reload_conf()')
  }
  /** The primary acknowledges what its standby has on its disk, from when this resolves. */
  async synchronous(): Promise<void> {
    const { primary, standby } = this
    await primary.query(`alter system set synchronous_standby_names = '${standby.name}'`)
    await primary.query('select pg_reload_conf()')
    for (let attempt = 0; ; attempt++) {
      const rows = await primary.query(
        `select 1 from pg_stat_replication where application_name = '${standby.name}' and sync_state = 'sync' and state = 'streaming'`,
      )
      if (rows.length > 0) return
      if (attempt === 200) throw new Error(`the standby does not follow: ${standby.log().slice(-2000)}`)
      await sleep(50)
    }
  }
  async close(): Promise<void> {
    await Promise.all([this.nodes.a.kill(), this.nodes.b.kill()])
    for (const link of Object.values(this.links ?? {})) await link.close()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  /** Makes a stopped data folder that of a standby of the primary. */
  private follow(node: PostgresNode): void {
    this.links?.replication.retarget(this.primary.port)
    const port = this.links?.replication.port ?? this.primary.port
    own(
      join(node.data, 'postgresql.auto.conf'),
      [
        `port = ${node.port}`,
        `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=${node.name}'`,
        `primary_slot_name = '${node.name}'`,
        '',
      ].join('\n'),
    )
    own(join(node.data, 'standby.signal'), '')
  }
}

function own(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
  if (ROOT) chownSync(path, NOBODY, NOBODY)
}
/** Of a server that runs, between pg_backup_start and pg_backup_stop: files may come and go, the log makes it whole. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label'])
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
async function copyRunning(from: string, to: string, top = true): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  if (ROOT) await lchown(to, NOBODY, NOBODY)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) {
      if (top && EMPTY.has(entry.name)) {
        await mkdir(target, { mode: 0o700 })
        if (ROOT) await lchown(target, NOBODY, NOBODY)
      } else await copyRunning(source, target, false)
    } else if (entry.isFile() && !(top && LEFT_OUT.has(entry.name))) {
      try {
        await copyFile(source, target)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
        throw error
      }
      if (ROOT) await lchown(target, NOBODY, NOBODY)
    }
  }
}
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
const zombie = (pid: number): boolean => {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return true
  }
}
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
