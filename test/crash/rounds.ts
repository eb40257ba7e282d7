import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorClient } from '../support/client.ts'
import { compiled } from '../support/compiled.ts'
import { asWith } from '../support/machine.ts'
import { TOKEN } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { eventually } from '../support/wallet.ts'
import type { Death } from './die-at-commit.ts'
import { checkMoney, type Place } from './money-check.ts'
import { Money } from './money.ts'

const CUSTOMERS = 8
/** A round that kills before anything was acknowledged shows nothing. */
const ACKNOWLEDGED_MIN = 20
const COMMITS_MAX = 40
/** A start takes about as long. */
const START_MS = 1_200
const PATIENCE_MS = 60_000
const DIES = compiled('crash/die-at-commit.js')

/** How a platform dies in a round, and how often of a hundred times. */
export const WAYS = {
  'at any moment': 50,
  'right after a commit': 20,
  'right before a commit': 15,
  'at any moment, and again while it starts': 15,
} as const
export type Way = keyof typeof WAYS

export interface RoundReport {
  readonly way: Way
  /** Requests that were answered well in this round. */
  readonly acknowledged: number
  /** Unanswered requests that had been committed. */
  readonly survivors: number
}

/** One platform that is killed again and again under traffic that moves money in every way, on the same data. */
export class KillRounds {
  readonly money: Money
  readonly place: Place
  private readonly random: () => number
  /** As which machine its processes take this one; undefined: as it is. */
  private readonly machine: Readonly<Record<string, string>>
  private constructor(place: Place, random: () => number, cores: number | undefined) {
    this.place = place
    this.random = random
    this.machine = cores === undefined ? {} : asWith(cores)
    this.money = new Money(random)
  }
  static async begin(
    databaseUrl: string | undefined,
    random: () => number,
    cores?: number,
  ): Promise<KillRounds> {
    const data = mkdtempSync(join(tmpdir(), 'kontor-crash-'))
    const rounds = new KillRounds({ data, databaseUrl }, random, cores)
    const platform = await rounds.start()
    try {
      await rounds.money.prepare(platform.url, CUSTOMERS)
    } finally {
      await platform.kill()
    }
    return rounds
  }
  /** A start, traffic, a death, and a look at what is left. */
  async round(way: Way = this.draw()): Promise<RoundReport> {
    const before = this.money.replies
    const commits =
      way === 'right after a commit' ? 'after' : way === 'right before a commit' ? 'before' : undefined
    const platform = commits === undefined ? await this.started(way) : await this.doomed(commits)
    try {
      // Blocks come by themselves: it may have died of the commit of one.
      await proved(platform.url).catch(async (error: unknown) => {
        if (commits === undefined) throw error
        await Promise.race([platform.exit, sleep(PATIENCE_MS, undefined, { ref: false })])
        if (platform.child.signalCode !== 'SIGKILL') throw error
      })
      this.money.start(platform.url)
      if (commits === undefined) {
        await sleep(30 + this.random() * 300)
        // At times right at the start of the next turn, at times in the middle of a batch.
        const late = Date.now() + PATIENCE_MS
        while (this.money.replies < before + ACKNOWLEDGED_MIN && Date.now() < late) await sleep(1)
        await platform.kill()
      } else await Promise.race([platform.exit, sleep(PATIENCE_MS, undefined, { ref: false })])
      await this.money.stop()
      assert.equal(platform.child.signalCode, 'SIGKILL', platform.errors)
    } finally {
      await platform.kill()
    }
    const survivors = await checkMoney(this.money, this.place)
    return { way, acknowledged: this.money.replies - before, survivors }
  }
  /** What was on its way comes to its end, once; and the recorded commands lead to the same rows. */
  async finish(): Promise<void> {
    const platform = await this.start()
    try {
      const operator = new OperatorClient(platform.url, TOKEN)
      await eventually(async () => {
        await operator.ok('POST', '/chains/ETH/mine', { blocks: 15 })
        const all = (await operator.ok('GET', '/withdrawals?limit=1000')) as { status: string }[]
        return all.every(({ status }) => status === 'DONE')
      }, 'the end of all withdrawals')
      await proved(platform.url)
      assert.equal(await platform.kill('SIGTERM'), 0, platform.errors)
      await checkMoney(this.money, this.place, { replay: true })
    } finally {
      await platform.kill()
    }
  }
  remove(): void {
    rmSync(this.place.data, { recursive: true, force: true })
  }
  private draw(): Way {
    let left = this.random() * 100
    for (const [way, share] of Object.entries(WAYS)) if ((left -= share) < 0) return way as Way
    return 'at any moment'
  }
  private get env(): Record<string, string> {
    const { data, databaseUrl } = this.place
    return {
      KONTOR_DATA: data,
      KONTOR_OPERATOR_TOKEN: TOKEN,
      ...(databaseUrl !== undefined && { KONTOR_DATABASE_URL: databaseUrl }),
    }
  }
  private async started(way: Way): Promise<PlatformProcess> {
    if (way === 'at any moment, and again while it starts') {
      const first = PlatformProcess.begin({ ...this.env, ...this.machine })
      await sleep(this.random() * START_MS)
      await first.kill()
    }
    return this.start()
  }
  private start(): Promise<PlatformProcess> {
    return PlatformProcess.start({ ...this.env, ...this.machine })
  }
  private doomed(when: 'before' | 'after'): Promise<PlatformProcess> {
    const death: Death = {
      env: this.env,
      commit: 1 + Math.floor(this.random() * COMMITS_MAX),
      when,
      credential: { key: '', secret: '' },
      walk: { kind: 'serve' },
    }
    return PlatformProcess.program(DIES, [JSON.stringify(death)], this.machine)
  }
}
async function proved(url: string): Promise<void> {
  const proof = await new OperatorClient(url, TOKEN).ok('GET', '/ledger/proof')
  for (const name of ['balanced', 'contracts_match', 'reserves_match']) assert.equal(proof[name], true, name)
}

/** A small repeatable generator, so that a failed run can be told by its seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
