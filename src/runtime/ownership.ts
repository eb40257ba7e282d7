import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Owner, OwnerLock } from '../store/owner.ts'
import { StoreUnavailable } from '../store/store.ts'
import type { Log } from './log.ts'

/** After a take-over: how often to see whether the old owner has let go. A supervisor that restarts it is slower. */
const SOON_MS = 50
const SOON_TIMES = 200
const LATER_MS = 1_000

/** Before somebody who is alive, or whom nobody can see, counts as the owner; and before one who is known to be dead does. */
const LOOKS = 6
const DEAD_LOOKS = 400

const TAKE_IT = 'or take it over with: kontor start --take-over'
const ANOTHER_FOLDER = `stop that one, name another folder with --data, ${TAKE_IT}`
const ANOTHER_DATABASE = `stop that one, name another database, ${TAKE_IT}`

/** Holds the owner's lock of a database, or follows it until it is free. */
export class Ownership {
  private readonly lock: OwnerLock
  private readonly me: Owner
  private readonly log: Log
  private timer: NodeJS.Timeout | undefined
  private tries = 0
  private had = false
  private ended = false

  private constructor(lock: OwnerLock, me: Owner, log: Log) {
    this.lock = lock
    this.me = me
    this.log = log
  }
  /** Refuses in one line where a living process has it, unless it is to be taken over. */
  static async claim(
    lock: OwnerLock,
    me: Owner,
    { takeOver, databaseUrl, data }: Pick<Config, 'takeOver' | 'databaseUrl' | 'data'>,
    log: Log,
    mend = databaseUrl === undefined ? ANOTHER_FOLDER : ANOTHER_DATABASE,
  ): Promise<Ownership> {
    const ownership = new Ownership(lock, me, log)
    // A server takes a moment to see that a killed owner's connection is gone.
    for (let looks = 1; ; looks++) {
      if (await lock.take(me)) break
      const owner = await lock.holder()
      if (looks < (isDead(owner, me) ? DEAD_LOOKS : LOOKS)) {
        await sleep(SOON_MS)
        continue
      }
      if (!takeOver) {
        await lock.release()
        const what = databaseUrl === undefined ? `KONTOR_DATA ${data}` : 'KONTOR_DATABASE_URL: the database'
        throw new StoreUnavailable(`${what} is in use by ${ownerText(owner)}: ${mend}`)
      }
      log.warn(`the database is taken over from ${ownerText(owner)}`)
      break
    }
    ownership.follow()
    return ownership
  }
  /** Nobody's yet: a standby takes it when it takes the lease. */
  static later(lock: OwnerLock, me: Owner, log: Log): Ownership {
    return new Ownership(lock, me, log)
  }
  /** From whoever has it: he is about to let go, or gone. */
  async takeOver(): Promise<void> {
    await this.lock.take(this.me).catch((error: unknown) => {
      this.log.debug('the lock of the database could not be taken', { error })
    })
    this.follow()
  }
  async release(): Promise<void> {
    this.ended = true
    clearTimeout(this.timer)
    await this.lock.release()
  }
  /** Looks from time to time: the lock comes free with the end of the old owner, and is lost with a broken session. */
  private follow(): void {
    if (this.ended) return
    const soon = !this.lock.held && this.tries++ < SOON_TIMES
    this.timer = setTimeout(() => void this.look(), soon ? SOON_MS : LATER_MS).unref()
  }
  private async look(): Promise<void> {
    if (this.had && !this.lock.held)
      this.log.warn('the session that held the lock of the database broke; it is taken again')
    this.had = this.lock.held
    if (!this.lock.held)
      await this.lock.take(this.me).then(
        (held) => held && this.log.debug('the lock of the database is held'),
        (error: unknown) => this.log.debug('the lock of the database could not be taken', { error }),
      )
    if (this.ended) await this.lock.release()
    else this.follow()
  }
}

export function ownerText(owner: Owner | undefined): string {
  if (owner === undefined || owner.pid === 0) return 'another process'
  const { pid, host, at, since } = owner
  return `process ${pid} on ${host} (${at}${since === '' ? '' : `, since ${since}`})`
}

/** Nobody holds it any more, or a process of this machine that is not there any more. */
function isDead(owner: Owner | undefined, me: Owner): boolean {
  if (owner === undefined) return true
  if (owner.pid === 0 || owner.host === '' || !me.host.startsWith(owner.host)) return false
  return isGone(owner.pid)
}
/** A number of this machine that no process has. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
