import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedHeaders } from '../../../src/api/signature.ts'
import { replayStore } from '../../../src/checks/replay-store.ts'
import { verifyStore } from '../../../src/checks/ledger-check.ts'
import type { State } from '../../../src/core/state.ts'
import { BUILT_IN_WORLD } from '../../../src/core/world/built-in.ts'
import { sumsKey } from '../../../src/runtime/secrets.ts'
import { openSnapshot } from '../../../src/store/open.ts'
import { fetchOf } from '../../../src/worlds/fetching.ts'
import type { Credential } from '../../support/client.ts'
import { SECRET_KEY, TestPlatform } from '../../support/platform.ts'
import { checkReply } from '../../support/shape.ts'

const START = 1_800_000_600
const LATE_SECONDS = 600
const folder = (): string => mkdtempSync(join(tmpdir(), 'kontor-system-'))

export interface Call {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}
export interface Answer {
  readonly status: number
  /** '' where it was not refused. */
  readonly label: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are looked into freely
  readonly body: any
}

/** The whole platform in this process, on real files, with a clock that only the simulation moves; it can be stopped, killed and given another configuration. */
export class House {
  private data = folder()
  readonly happened = { stops: 0, kills: 0, evicted: 0, configurations: 0 }
  private platform!: TestPlatform
  private fetch!: typeof globalThis.fetch
  private config: string | undefined

  async open(): Promise<void> {
    this.take(await TestPlatform.start(this.env(), this.data))
  }
  private env(): Record<string, string> {
    return {
      KONTOR_CLOCK: String(START),
      KONTOR_SECRET_KEY: SECRET_KEY,
      ...(this.config !== undefined && { KONTOR_CONFIG: this.config }),
    }
  }
  private take(platform: TestPlatform): void {
    this.platform = platform
    this.fetch = fetchOf((request, body) => platform.platform.answer(request, body))
  }
  get state(): State {
    return this.platform.platform.desk.core.state
  }
  get operator(): TestPlatform['operator'] {
    return this.platform.operator
  }
  user(parent?: number): ReturnType<TestPlatform['user']> {
    return this.platform.user(parent === undefined ? {} : { parent })
  }
  key(userId: number, perms: Parameters<TestPlatform['key']>[1]): Promise<Credential> {
    return this.platform.key(userId, perms)
  }

  /** Signed as any client signs; `late`: by a clock that is ten minutes behind. */
  async call(credential: Credential, { method, path, query, body }: Call, late = false): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const search = query === undefined ? '' : new URLSearchParams(query).toString()
    const full = `/api/v4${path}`
    const now = Math.floor(this.platform.now())
    const headers = signedHeaders(credential, {
      method,
      path: full,
      query: search,
      body: text,
      timestamp: String(late ? now - LATE_SECONDS : now),
    })
    const response = await this.fetch(`http://127.0.0.1${full}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: { ...headers, ...(text !== undefined && { 'Content-Type': 'application/json' }) },
      ...(text !== undefined && { body: text }),
    })
    const raw = await response.text()
    const answered = raw === '' ? undefined : (JSON.parse(raw) as { label?: string })
    assert.ok(response.status < 500, `${method} ${full} → ${response.status} ${raw}`)
    const refused = response.status >= 300
    const label = refused ? (answered?.label ?? '') : ''
    assert.ok(!refused || label !== '', `${method} ${full} → ${response.status} without a label: ${raw}`)
    checkReply(method, full, {
      status: response.status,
      headers: response.headers,
      text: raw,
      body: answered,
    })
    return { status: response.status, label, body: answered }
  }

  /** Everything that is under way is through. */
  async settle(): Promise<void> {
    await this.platform.platform.desk.core.idle()
    assert.deepEqual(this.platform.faults, [])
  }
  async stopAndStart(): Promise<void> {
    this.happened.stops++
    this.take(await this.restarted())
  }
  private async restarted(): Promise<TestPlatform> {
    await this.platform.platform.stop()
    return TestPlatform.start(this.env(), this.data)
  }
  /** The files as they are at this moment are all that is left: what the tables lack is in the journal alone. */
  async kill(): Promise<void> {
    this.happened.kills++
    await this.settle()
    const [before, files] = [this.platform, this.data]
    this.data = folder()
    cpSync(files, this.data, { recursive: true })
    await before.platform.stop()
    rmSync(files, { recursive: true, force: true })
    this.take(await TestPlatform.start(this.env(), this.data))
  }
  /** From here on the tables stand still. */
  holdBack(): Promise<void> {
    return this.platform.platform.desk.store.holdBack(true)
  }
  async reconfigure(fee: string): Promise<void> {
    this.happened.configurations++
    const currencies = BUILT_IN_WORLD.currencies.map((one) =>
      one.currency === 'BTC'
        ? { ...one, chains: one.chains.map((chain) => ({ ...chain, withdraw_fix: fee })) }
        : one,
    )
    this.config ??= join(folder(), 'world.json')
    writeFileSync(this.config, JSON.stringify({ currencies }))
    this.take(await this.restarted())
  }
  /** Rows that no rule needs leave memory at once. */
  async evict(): Promise<void> {
    await this.settle()
    for (const table of this.state.tables) {
      const { live } = table.spec
      if (live === undefined) continue
      for (const row of [...table.values()])
        if (!live(row)) {
          table.swap(table.keyOf(row), undefined, 'eviction')
          this.happened.evicted++
        }
    }
  }
  /** The files hold what memory holds, every sum is right, and the recorded commands lead to the same rows. */
  async verify(): Promise<string[]> {
    await this.settle()
    const snapshot = await openSnapshot({ data: this.data, databaseUrl: undefined })
    try {
      const { wrong } = await verifyStore(snapshot, { key: sumsKey(SECRET_KEY) })
      const { commands } = await replayStore(snapshot)
      assert.ok(commands > 0)
      return [...wrong]
    } finally {
      await snapshot.close()
    }
  }
  async close(): Promise<void> {
    await this.platform.platform.stop()
    rmSync(this.data, { recursive: true, force: true })
  }
}
