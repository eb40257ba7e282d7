import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { makePrivateFile } from '../files.ts'
import { postgresSession } from './postgres-client.ts'
import { SqliteLock } from './sqlite-connection.ts'
import { StoreUnavailable } from './store.ts'

/** The process that a database belongs to, as people are told. */
export interface Owner {
  readonly pid: number
  readonly host: string
  /** Where it listens; a command that works on the store by itself gives its name. */
  readonly at: string
  /** ISO time. */
  readonly since: string
}
/**
 * Says whether a living process owns the database. It guards nobody's money (the epoch does, see Store.open): it keeps
 * a start from ending a platform that somebody needs. It is held by the operating system or by a database session, so
 * that a dead owner holds nothing.
 */
export interface OwnerLock {
  /** False: somebody else has it. Held until `release`, or until the process ends. */
  take(me: Owner): Promise<boolean>
  /** Whoever else holds it, as far as it can be told; undefined when nobody does. Changes nothing. */
  holder(): Promise<Owner | undefined>
  /** False when what held it is gone (a session that broke): it may be taken again. */
  readonly held: boolean
  release(): Promise<void>
}

const NOBODY_KNOWS: Owner = { pid: 0, host: '', at: '', since: '' }
export const lockPath = (data: string): string => join(data, 'kontor.lock')

export const thisProcess = (at: string): Owner => ({
  pid: process.pid,
  host: hostname(),
  at,
  since: new Date().toISOString(),
})

/** Of an embedded store: a lock of the operating system on a file beside the database. */
export class FolderLock implements OwnerLock {
  private readonly path: string
  private lock: SqliteLock | undefined
  held = false

  constructor(data: string) {
    this.path = lockPath(data)
  }
  take(me: Owner): Promise<boolean> {
    return this.asked(() => {
      makePrivateFile(this.path)
      return (this.held ||= this.opened().take(JSON.stringify(me)))
    })
  }
  holder(): Promise<Owner | undefined> {
    return this.asked(() => {
      if (this.held || !existsSync(this.path)) return undefined
      const who = this.opened().who()
      if (who === undefined) return undefined
      return /^\{.*\}$/.test(who) ? (JSON.parse(who) as Owner) : NOBODY_KNOWS
    })
  }
  release(): Promise<void> {
    this.lock?.close()
    this.lock = undefined
    this.held = false
    return Promise.resolve()
  }
  private opened(): SqliteLock {
    return (this.lock ??= new SqliteLock(this.path))
  }
  private asked<T>(act: () => T): Promise<T> {
    return new Promise((resolve) => {
      try {
        resolve(act())
      } catch (error) {
        const why = (error as Error).message
        const mend = /not a database|malformed/i.test(why)
          ? 'stop what runs on this folder, and remove the file'
          : 'the folder and the files in it must be writable for this user'
        throw new StoreUnavailable(`${this.path} can't be used: ${why}; ${mend}`, { cause: error })
      }
    })
  }
}

/** What lives in this process alone is nobody else's. */
export class NoLock implements OwnerLock {
  readonly held = true
  take(): Promise<boolean> {
    return Promise.resolve(true)
  }
  holder(): Promise<undefined> {
    return Promise.resolve(undefined)
  }
  release(): Promise<void> {
    return Promise.resolve()
  }
}

/** Of all advisory locks in this database ours; the second half is the schema that the tables are in. */
const LOCK_CLASS = 727275
const SCHEMA = `hashtext(coalesce(current_schema(), '')) & 2147483647`
/** A machine that is gone without a word is noticed by the server after some 20 seconds, not after two hours. */
const SESSION = [
  'set tcp_keepalives_idle = 5',
  'set tcp_keepalives_interval = 5',
  'set tcp_keepalives_count = 3',
  'set tcp_user_timeout = 20000',
  'set idle_session_timeout = 0',
]
const NAME_BYTES = 63
const NAME = /^kontor (\d+) (\S*) (.*)$/

/** In PostgreSQL: an advisory lock of a session that is there for nothing else, and says in its name who holds it. */
export class SessionLock implements OwnerLock {
  private readonly url: string
  private session: pg.Client | undefined
  held = false

  constructor(url: string) {
    this.url = url
  }
  async take(me: Owner): Promise<boolean> {
    if (this.held) return true
    const session = await this.opened(sessionName(me))
    const { rows } = await session.query<{ taken: boolean }>(
      `select pg_try_advisory_lock(${LOCK_CLASS}, ${SCHEMA}) as taken`,
    )
    this.held = rows[0]!.taken && this.session === session
    return this.held
  }
  async holder(): Promise<Owner | undefined> {
    const session = await this.opened('kontor')
    const { rows } = await session.query<{ name: string; since: Date | null }>(
      `select application_name as name, backend_start as since from pg_stat_activity where pid in
        (select pid from pg_locks where locktype = 'advisory' and granted and classid = ${LOCK_CLASS}
          and objid::bigint = (${SCHEMA})::bigint
          and database = (select oid from pg_database where datname = current_database()))`,
    )
    if (this.held || rows[0] === undefined) return undefined
    const since = rows[0].since?.toISOString() ?? ''
    const [, pid, host, at] = NAME.exec(rows[0].name) ?? []
    return pid === undefined ? { ...NOBODY_KNOWS, since } : { pid: Number(pid), host: host!, at: at!, since }
  }
  async release(): Promise<void> {
    const session = this.session
    this.session = undefined
    this.held = false
    await session?.end().catch(() => undefined)
  }
  private async opened(name: string): Promise<pg.Client> {
    if (this.session !== undefined) return this.session
    const session = await postgresSession(this.url, name)
    const gone = (): void => {
      if (this.session !== session) return
      this.session = undefined
      this.held = false
    }
    session.on('error', gone)
    session.on('end', gone)
    this.session = session
    // Older servers do not know all of them.
    for (const sql of SESSION) await session.query(sql).catch(() => undefined)
    return session
  }
}
/** A session's name has 63 bytes: a long host name gives way. */
function sessionName({ pid, host, at }: Owner): string {
  const rest = NAME_BYTES - `kontor ${pid}  ${at}`.length
  return `kontor ${pid} ${host.replace(/[^\x21-\x7e]/g, '').slice(0, Math.max(1, rest))} ${at}`
}
