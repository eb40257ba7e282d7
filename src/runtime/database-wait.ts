import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Log } from './log.ts'
import { postgresAnswers } from '../store/postgres-client.ts'
import { StoreAway } from '../store/store.ts'

const AGAIN_MS = 1_000
const TELL_MS = 10_000

/**
 * Tries until the database answers, or the time is up: then the start ends with StoreAway. What no waiting mends (a
 * wrong password, a database that does not exist) is told at once. An embedded store is always there.
 */
export async function waitForDatabase(
  { databaseUrl, databaseWait }: Pick<Config, 'databaseUrl' | 'databaseWait'>,
  log: Log,
  tell: (detail: string) => void,
): Promise<void> {
  if (databaseUrl === undefined) return
  const began = performance.now()
  const waitMs = databaseWait * 1000
  for (let toldAt = -Infinity; ;) {
    const left = began + waitMs - performance.now()
    try {
      await postgresAnswers(databaseUrl, Math.max(left, AGAIN_MS))
      if (toldAt > -Infinity) log.info('the database answers')
      return
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error
      const now = performance.now()
      if (now - began >= waitMs)
        throw new StoreAway(`${error.message}; gave up after ${databaseWait} s (KONTOR_DATABASE_WAIT)`, {
          cause: error,
        })
      if (now - toldAt >= TELL_MS) {
        toldAt = now
        log.warn(`${error.message}; it is tried again for up to ${databaseWait} s (KONTOR_DATABASE_WAIT)`)
      }
      tell(`waiting for the database, ${Math.floor((now - began) / 1000)} s of ${databaseWait} s`)
    }
    await sleep(Math.min(AGAIN_MS, Math.max(0, began + waitMs - performance.now())))
  }
}
