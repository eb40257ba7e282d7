import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodyDigest, sign, signatureString } from '../../../src/api/signature.ts'
import { replayStore } from '../../../src/checks/replay-store.ts'
import { verifyStore } from '../../../src/checks/ledger-check.ts'
import { readConfig } from '../../../src/config.ts'
import type { AgentLook } from '../../../src/core/agents/look.ts'
import type { State } from '../../../src/core/state.ts'
import { BUILT_IN_WORLD } from '../../../src/core/world/built-in.ts'
import { microsNow } from '../../../src/http/words.ts'
import { Core } from '../../../src/machine/core.ts'
import type { ClosedBatch } from '../../../src/machine/loose.ts'
import { startPlatform, type Platform } from '../../../src/platform.ts'
import { Housekeeper } from '../../../src/runtime/housekeeper.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { sumsKey } from '../../../src/runtime/secrets.ts'
import { databasePath, openSnapshot } from '../../../src/store/open.ts'
import { SqliteStore } from '../../../src/store/sqlite.ts'
import { Fenced, type Snapshot, type Store } from '../../../src/store/store.ts'
import type { Credential } from '../../support/client.ts'
import { SECRET_KEY, TOKEN, allPerms } from '../../support/platform.ts'
import { plant } from '../../support/plant.ts'
import { checkBody } from '../../support/shape.ts'
import { OneThreadStore } from './one-thread.ts'
import { overhear, type Applied } from './overheard.ts'
import type { Sight } from './shadow.ts'

const START = 1_800_000_600
const LATE_SECONDS = 600
/** Replies whose shape is looked at. */
const SHAPES_FIRST = 1_000
const SHAPES_EACH = 8
/** One of the first lives runs the store with its threads, and then one in so many: later ones are long. */
const THREADS_FIRST = 6
const THREADS_EACH = 48
/** The market that the model follows. */
export const MODEL_PAIR = 'BTC_USDT'
/** Where a new configuration has coarser prices, every other time. */
export const COARSE = { pair: 'XRP_USDT', contract: 'BTC_USD' } as const
/** Requests while the world is reset, each a turn later than the one before. */
const RESET_CALLS = 4
const TIDY_AHEAD = 91 * 86_400e6
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
  /** Names and values in turn. */
  readonly headers: readonly (string | number)[]
}
/** What becomes of the append that a platform dies at: it never was, or nobody hears that it is. */
export type Death = 'lost' | 'unheard'

class Died extends Error {
  constructor() {
    super('the process died')
  }
}
const commandsOf = ({ commands }: ClosedBatch): string =>
  typeof commands === 'string' ? commands : `[${commands.join(',')}]`
/** A store whose platform dies at an append. */
class Mortality {
  private left = Infinity
  private death: Death = 'lost'
  /** The commands of the append that it died at. */
  diedOf: string | undefined
  readonly store: Store

  /** `recorded`: told the commands of each append that is. */
  constructor(store: Store, recorded: (commands: string) => void) {
    this.store = store
    const append = store.commit.bind(store)
    let under: Promise<unknown> = Promise.resolve()
    const commit: typeof append = (batch) => {
      const landed = append(batch).then((head) => {
        recorded(commandsOf(batch))
        return head
      })
      under = landed.catch(() => undefined)
      return landed
    }
    store.commit = async (batch) => {
      this.left--
      if (this.left > 0) return commit(batch)
      this.diedOf ??= commandsOf(batch)
      // What comes behind it finds nobody either.
      if (this.left === 0 && this.death === 'unheard') void commit(batch).catch(() => undefined)
      // Appends land in their order: those before it are not still on their way when it is told.
      await under
      throw new Died()
    }
  }
  dieAt(append: number, death: Death): void {
    this.left = append
    this.death = death
  }
}
/** One life of the platform: from a start to a stop or a death. */
interface Life {
  readonly platform: Platform
  readonly store: Store
  readonly mortality: Mortality
  readonly faults: unknown[]
  readonly agents: boolean
}
/** Whatever market agents think of a market and a contract, they do nothing there: their looks are recorded without orders. */
const withoutLooksAt = (pair: string, contract: string): (() => void) =>
  plant(
    Core.prototype as unknown as { submit: Submit },
    'submit',
    (original) =>
      function (type, input, ...view) {
        const { look } = input
        const idle =
          type.startsWith('agents.') && (look?.currency_pair === pair || look?.contract === contract)
        return original.call(this, type, idle ? { ...input, look: { ...look, orders: [] } } : input, ...view)
      },
  )
type Submit = (
  this: unknown,
  type: string,
  input: { readonly look?: (Partial<AgentLook> & { readonly contract?: string }) | null },
  ...view: readonly unknown[]
) => Promise<unknown>

/** The whole platform in this process, on real files, with a clock that only the simulation moves; it can be stopped, killed and given another configuration. */
export class House {
  private data = folder()
  readonly happened = { stops: 0, kills: 0, evicted: 0, configurations: 0 }
  private life!: Life
  private config: string | undefined
  private configs: string | undefined
  /** Told whenever there is another process, or another world. */
  begun: () => void = () => undefined
  refused: (label: string) => void = () => undefined
  /** Told of commands when they are recorded, in their order. */
  recorded: (commands: string) => void = () => undefined
  /** Told of commands when they are carried out: some of them are never recorded. */
  applied: (applied: Applied) => void = () => undefined

  private misheard: unknown
  private undo: () => void = () => undefined
  private readonly threaded: number
  constructor(threaded: number) {
    this.threaded = threaded % THREADS_FIRST
  }
  async open(): Promise<void> {
    // Within the command nobody would hear of it.
    const undoHeard = overhear((applied) => {
      try {
        this.applied(applied)
      } catch (error) {
        this.misheard ??= error
      }
    })
    const undoLooks = withoutLooksAt(MODEL_PAIR, `futures/usdt/${MODEL_PAIR}`)
    this.undo = () => {
      undoLooks()
      undoHeard()
    }
    this.take(await this.started())
  }
  private async started(env: Readonly<Record<string, string>> = {}): Promise<Life> {
    const config = readConfig({
      KONTOR_DATA: this.data,
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_AGENTS: 'off',
      KONTOR_LOG: 'error',
      KONTOR_RATE_LIMITS: 'off',
      KONTOR_GATEWAYS: '0',
      KONTOR_CLOCK: String(START),
      KONTOR_SECRET_KEY: SECRET_KEY,
      ...(this.config !== undefined && { KONTOR_CONFIG: this.config }),
      ...env,
    })
    const faults: unknown[] = []
    const log = createLog(config.log, (line) => {
      // Those who die, or are taken over, tell of it.
      if (!/the process died|taken over|has taken over/.test(line)) process.stderr.write(`${line}\n`)
    })
    const path = databasePath(this.data)
    const store =
      (this.lives++ - this.threaded) % THREADS_EACH === 0 ? new SqliteStore(path) : new OneThreadStore(path)
    const mortality = new Mortality(store, (commands) => this.recorded(commands))
    const fatal = (error: unknown): void => void faults.push(error)
    const platform = await startPlatform(config, log, fatal, store, { closed: true })
    return { platform, store, mortality, faults, agents: env['KONTOR_AGENTS'] === 'on' }
  }
  private take(life: Life): void {
    this.life = life
    this.begun()
  }
  get platform(): Platform {
    return this.life.platform
  }
  get state(): State {
    return this.platform.desk.core.state
  }
  /** The batch that memory stands at; NaN while there is one on its way. */
  get stands(): number {
    const { core } = this.platform.desk
    return core.waiting === 0 ? core.committed.sequence : NaN
  }
  /** Whether there are market agents in this life. */
  get agents(): boolean {
    return this.life.agents
  }
  /** Seconds. */
  get now(): number {
    return this.platform.desk.clock.peek() / 1e6
  }
  private lives = 0
  private calls = 0
  private made = 0
  async user(parent?: number): Promise<{ user_id: number; credential: Credential }> {
    const { user_id } = await this.ok('POST', '/users', {
      login_name: `user_${++this.made}_${Date.now()}`,
      ...(parent !== undefined && { parent }),
    })
    const credential = await this.ok('POST', `/users/${user_id}/keys`, {
      name: 'sim',
      mode: 1,
      perms: allPerms(parent !== undefined),
      ip_whitelist: [],
    })
    return { user_id, credential }
  }

  /** Signed as any client signs; `late`: by a clock that is ten minutes behind. */
  call(credential: Credential, { method, path, query, body }: Call, late = false): Promise<Answer> {
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const rawQuery = query === undefined ? '' : new URLSearchParams(query).toString()
    return this.signed(credential, method, `/api/v4${path}`, rawQuery, text, late ? LATE_SECONDS : 0)
  }
  signed(
    credential: Credential,
    method: string,
    path: string,
    query: string,
    body: Buffer | undefined,
    behind = 0,
  ): Promise<Answer> {
    const timestamp = String(Math.floor(this.now) - behind)
    const message = signatureString({ method, path, query, bodyDigest: bodyDigest(body), timestamp })
    const headers = { key: credential.key, timestamp, sign: sign(credential.secret, message) }
    return this.sent(method, path, query, headers, body)
  }
  operate(method: string, path: string, body?: unknown, token = TOKEN): Promise<Answer> {
    return this.operateRaw(method, path, body === undefined ? undefined : JSON.stringify(body), token)
  }
  operateRaw(method: string, path: string, body: string | undefined, token = TOKEN): Promise<Answer> {
    const [plain, query = ''] = path.split('?') as [string, string?]
    const text = body === undefined ? undefined : Buffer.from(body)
    return this.sent(method, `/operator/v1${plain}`, query, { authorization: `Bearer ${token}` }, text)
  }
  /** As a page of the console asks. */
  page(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    return this.sent(method, `/console${path}`, '', headers, text)
  }
  /** For steps that must succeed. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are looked into freely
  async ok(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.operate(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path} → ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  private async sent(
    method: string,
    path: string,
    rawQuery: string,
    headers: Readonly<Record<string, string>>,
    text: Buffer | undefined,
  ): Promise<Answer> {
    const request = {
      method,
      path,
      rawQuery,
      headers: { ...headers, ...(text !== undefined && { 'content-type': 'application/json' }) },
      hasBody: text !== undefined,
      ip: '127.0.0.1',
      inTime: microsNow(),
    }
    const { status, headers: told, text: raw = '' } = await this.platform.answer(request, text)
    const body = raw === '' ? undefined : (JSON.parse(raw) as { label?: string })
    if (!this.dying) assert.ok(status < 500, `${method} ${path} → ${status} ${raw}`)
    const refused = status >= 300
    const label = refused ? (body?.label ?? '') : ''
    assert.ok(!refused || label !== '', `${method} ${path} → ${status} without a label: ${raw}`)
    if (refused) this.refused(label)
    // The same few shapes all the time: the first of them, and then some.
    if (this.calls++ < SHAPES_FIRST || this.calls % SHAPES_EACH === 0)
      checkBody(method, path, { status, text: raw, body })
    return { status, label, body, headers: told }
  }

  /** What is due by now is done. */
  async drain(): Promise<void> {
    await this.ok('PUT', '/prices', {})
    await this.settle()
  }
  /** Everything that is under way is through. */
  async settle(): Promise<void> {
    await this.platform.desk.core.idle()
    if (this.misheard !== undefined) throw this.misheard as Error
    assert.deepEqual(this.life.faults, [])
  }
  /** The next life has market agents, who leave the model's market alone; lives after it have none. */
  async withAgents(): Promise<void> {
    this.happened.stops++
    await this.platform.stop()
    this.take(await this.started({ KONTOR_AGENTS: 'on' }))
  }
  async stopAndStart(): Promise<void> {
    this.happened.stops++
    await this.platform.stop()
    this.take(await this.started())
  }
  private dying = false
  /**
   * The process dies at an append, the `append`-th from now, of what `act` does or of what falls due meanwhile; tells
   * which commands were in it, if it came to that. The files are all that is left.
   */
  async die(append: number, death: Death, act: () => Promise<void>): Promise<string | undefined> {
    const { mortality, faults } = this.life
    await this.settle()
    mortality.dieAt(append, death)
    this.dying = true
    await act().finally(() => (this.dying = false))
    for (const fault of faults) if (!(fault instanceof Died)) throw fault as Error
    this.happened.kills++
    await this.holdBack()
    await this.moved()
    return mortality.diedOf
  }
  /** The files as they are at this moment are all that is left. */
  async kill(): Promise<void> {
    this.happened.kills++
    await this.settle()
    // The tables stand still, so that files are copied that were there at one moment; what they lack is in the journal.
    await this.holdBack()
    await this.moved()
  }
  private async moved(): Promise<void> {
    const [before, files] = [this.life, this.data]
    this.data = folder()
    cpSync(files, this.data, { recursive: true })
    await before.store.holdBack(false).catch(() => undefined)
    await before.platform.stop()
    rmSync(files, { recursive: true, force: true })
    this.take(await this.started())
  }
  /**
   * A second process takes the files over while the first one lives, which tries to go on: nothing that `act` sends to it
   * may land. Tells how it was answered.
   */
  async takeOver(act: () => Promise<Answer>): Promise<Answer> {
    const before = this.life
    await this.settle()
    const life = await this.started({ KONTOR_TAKE_OVER: 'on' })
    this.dying = true
    const answer = await act().finally(() => (this.dying = false))
    assert.ok(before.faults.length > 0 && before.faults.every((fault) => fault instanceof Fenced))
    await before.platform.stop()
    this.take(life)
    return answer
  }
  /** Back to the world of the first start. */
  async reset(): Promise<void> {
    await this.settle()
    // Who asks meanwhile is asked to come again, or comes too early: it makes no difference.
    this.dying = true
    const [{ status }] = await Promise.all([
      this.operate('POST', '/reset'),
      ...Array.from({ length: RESET_CALLS }, (_, i) => this.afterTurns(i)),
    ]).finally(() => (this.dying = false))
    assert.ok(status < 300, `POST /reset → ${status}`)
    this.begun()
  }
  private async afterTurns(turns: number): Promise<void> {
    for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
    await this.operate('PUT', '/prices', { XRP: '0.5' })
  }
  /** From here on the tables stand still. */
  holdBack(): Promise<void> {
    return this.life.store.holdBack(true)
  }
  /** Another file: fees, and how fine prices are where orders may be in the way, which are cancelled then. */
  async reconfigure(fee: string): Promise<void> {
    const coarse = this.happened.configurations++ % 2 === 0
    const { markets, contracts = [] } = BUILT_IN_WORLD
    const currencies = BUILT_IN_WORLD.currencies.map((one) =>
      one.currency === 'BTC'
        ? { ...one, chains: one.chains.map((chain) => ({ ...chain, withdraw_fix: fee })) }
        : one,
    )
    const world = {
      currencies,
      markets: markets.map((one) => (one.id === COARSE.pair && coarse ? { ...one, precision: 3 } : one)),
      contracts: contracts.map((one) =>
        one.underlying === COARSE.contract
          ? { ...one, order_size_min: 5, ...(coarse && { order_price_round: '0.5' }) }
          : one,
      ),
    }
    this.configs ??= folder()
    this.config = join(this.configs, 'world.json')
    writeFileSync(this.config, JSON.stringify(world))
    await this.platform.stop()
    const names = `${COARSE.pair},futures/btc/${COARSE.contract}`
    this.take(await this.started({ KONTOR_CANCEL_ORDERS: names }))
  }
  /** The housekeeper of some later day: what is kept for a time only leaves the files. */
  async tidy(): Promise<void> {
    const { core, clock } = this.platform.desk
    const log = createLog('error', (line) => void process.stderr.write(`${line}\n`))
    const later = { peek: () => clock.peek() + TIDY_AHEAD } as typeof clock
    await new Housekeeper({ core, store: this.life.store, clock: later, log }).sweep()
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
  /** The tables as they are when everything under way is through. */
  async sight<T>(act: (sight: Sight) => Promise<T>): Promise<T> {
    const { store } = this.life
    if (!(store instanceof OneThreadStore)) return this.look(act)
    await this.settle()
    return act(await store.look())
  }
  /** The files, as another process sees them. */
  private async look<T>(act: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    await this.settle()
    // Else it would look, wait and look again until the tables have caught up.
    await this.life.store.query('select 1', [])
    const snapshot = await openSnapshot({ data: this.data, databaseUrl: undefined })
    try {
      return await act(snapshot)
    } finally {
      await snapshot.close()
    }
  }
  /** Every sum of the files is right; `replayed`: and all recorded commands lead to the same rows, from the first one on. */
  verify(replayed: boolean): Promise<string[]> {
    return this.look(async (snapshot) => {
      const { wrong } = await verifyStore(snapshot, { key: sumsKey(SECRET_KEY) })
      if (replayed) assert.ok((await replayStore(snapshot)).commands > 0)
      return [...wrong]
    })
  }
  async close(): Promise<void> {
    await this.platform.stop()
    this.undo()
    for (const one of [this.data, this.configs])
      if (one !== undefined) rmSync(one, { recursive: true, force: true })
  }
}
