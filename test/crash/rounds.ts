import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorClient } from '../support/client.ts'
import { TOKEN } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { Load, checkAgainstStore } from './load.ts'

const CUSTOMERS = 12
/** A round that kills before anything was acknowledged shows nothing. */
const ACKNOWLEDGED_MIN = 20

export interface RoundsReport {
  readonly rounds: number
  readonly acknowledged: number
  /** Unanswered requests that had been committed. */
  readonly survivors: number
}

/** Kill -9 in the middle of load, again and again on the same data; every start must find all that was acknowledged. */
export async function crashRounds(
  rounds: number,
  databaseUrl: string | undefined,
  random: () => number,
): Promise<RoundsReport> {
  const data = mkdtempSync(join(tmpdir(), 'kontor-crash-'))
  const env = {
    KONTOR_DATA: data,
    KONTOR_OPERATOR_TOKEN: TOKEN,
    ...(databaseUrl !== undefined && { KONTOR_DATABASE_URL: databaseUrl }),
  }
  const load = new Load()
  let platform = await PlatformProcess.start(env)
  let survivors = 0
  try {
    await load.prepare(platform.url, CUSTOMERS)
    for (let round = 1; round <= rounds; round++) {
      const before = load.acknowledged
      load.start(platform.url)
      await sleep(30 + random() * 300)
      // At times right at the start of the next turn, at times in the middle of a batch.
      while (load.acknowledged < before + ACKNOWLEDGED_MIN) await sleep(1)
      await platform.kill()
      await load.stop()
      survivors += await checkAgainstStore(load, { data, databaseUrl })
      platform = await PlatformProcess.start(env)
      const proof = await new OperatorClient(platform.url, TOKEN).ok('GET', '/ledger/proof')
      assert.equal(proof.balanced, true)
    }
  } finally {
    await platform.kill()
    rmSync(data, { recursive: true, force: true })
  }
  return { rounds, acknowledged: load.acknowledged, survivors }
}

/** A small repeatable generator, so that a failed run can be told by its seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
