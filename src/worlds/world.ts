import { signedHeaders } from '../api/signature.ts'
import { verifyStore } from '../checks/ledger-check.ts'
import { replayStore } from '../checks/replay-store.ts'
import type { Beginning } from '../composition/embedding.ts'
import { ConfigError, type Config } from '../config.ts'
import { Divergence } from '../machine/replay.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { createLog } from '../runtime/log.ts'
import { randomHex, sumsKey } from '../runtime/secrets.ts'
import { MemoryStore } from '../store/memory.ts'
import type { Snapshot as Look } from '../store/store.ts'
import { fetchOf } from './fetching.ts'
import { readWorld, writeWorld, type Kept } from './file.ts'
import { stepOf, timeOf } from './moments.ts'
import {
  KontorError,
  type Account,
  type CallOptions,
  type ForkOptions,
  type Kontor,
  type KontorClock,
  type KontorOptions,
  type Snapshot,
  type Verification,
} from './public.ts'
import { Recording } from './recording.ts'
import { configOf, embedded, refuseOther } from './settings.ts'

/** What `import 'kontor'` calls startKontor. */
export async function startWorld(options: KontorOptions = {}): Promise<Kontor> {
  const { from, port, record } = options
  if (from !== undefined) refuseOther(options)
  if (from !== undefined && record !== undefined)
    throw new ConfigError('record: a recording begins with a new world, so that it can be begun again')
  if (from === undefined) return World.begin(configOf(options), options)
  const kept = typeof from === 'string' ? readWorld(from) : keptOf(from)
  return World.goOn({ ...kept, config: embedded(kept.config, port) }, options)
}

/** A new world with these settings. */
export const startOn = (config: Config, options: KontorOptions): Promise<Kontor> =>
  World.begin(config, options)

/** What a snapshot looks like from outside; what it holds is nobody's business. */
class WorldSnapshot implements Snapshot {
  readonly time: number
  readonly sequence: number
  readonly #kept: Kept
  constructor(kept: Kept) {
    this.#kept = kept
    this.time = kept.beginning.at / 1e6
    this.sequence = kept.beginning.image.head.sequence
  }
  static keptOf(snapshot: Snapshot): Kept {
    if (!(snapshot instanceof WorldSnapshot))
      throw new ConfigError('from: must be a file, or what snapshot() of another platform answered')
    return snapshot.#kept
  }
}
const keptOf = (snapshot: Snapshot): Kept => WorldSnapshot.keptOf(snapshot)

type Signer = Pick<Account, 'key' | 'secret'>
interface Parts {
  readonly config: Config
  readonly platform: Platform
  readonly port: KontorOptions['port']
  readonly fault: { error: unknown }
  readonly recording: Recording | undefined
}
class World implements Kontor {
  readonly url: string
  readonly port: number | undefined
  readonly fetch: typeof globalThis.fetch
  readonly clock: KontorClock
  private readonly parts: Parts
  private closing: Promise<void> | undefined

  private constructor(parts: Parts) {
    this.parts = parts
    const { platform, port } = parts
    this.url = platform.url
    this.port = port === 'none' ? undefined : Number(new URL(platform.url).port)
    this.fetch = fetchOf((request, body) => {
      this.refuseGone()
      return platform.answer(request, body)
    })
    const moved = async (body: object): Promise<number> =>
      (await this.operator<{ now: number }>('POST', '/clock', body)).now
    this.clock = {
      now: () => platform.desk.clock.peek() / 1e6,
      set: (when) => moved({ now: timeOf(when) }),
      advance: (step) => moved({ advance_seconds: stepOf(step) }),
    }
  }
  /** A first start. What it leads to is where every reset leads. */
  static async begin(given: Config, options: KontorOptions): Promise<World> {
    const config = { ...given, secretKey: given.secretKey ?? randomHex(32) }
    const recording = options.record === undefined ? undefined : new Recording(options.record, config)
    const world = await World.start(config, options, new MemoryStore(), undefined, recording).catch(
      (error: unknown) => {
        recording?.close()
        throw error
      },
    )
    try {
      const { platform } = world.parts
      platform.resetsTo(await platform.capture())
    } catch (error) {
      await world.close()
      throw error
    }
    return world
  }
  static goOn({ config, beginning }: Kept, options: ForkOptions): Promise<World> {
    return World.start(config, options, new MemoryStore(beginning.image), beginning, undefined)
  }
  private static async start(
    config: Config,
    { port, log = (line) => void process.stderr.write(`${line}\n`) }: ForkOptions,
    store: MemoryStore,
    beginning: Beginning | undefined,
    recording: Recording | undefined,
  ): Promise<World> {
    const fault: Parts['fault'] = { error: undefined }
    const fatal = (error: unknown): void => {
      fault.error ??= error
    }
    const platform = await startPlatform(config, createLog('warn', log), fatal, store, {
      closed: port === 'none',
      ...(beginning !== undefined && { beginning }),
      ...(recording !== undefined && { witness: recording }),
    })
    recording?.begin(platform.credentials)
    return new World({ config, platform, port, fault, recording })
  }

  get key(): string {
    return this.credentials.key
  }
  get secret(): string {
    return this.credentials.secret
  }
  get accounts(): readonly Account[] {
    return this.credentials.accounts
  }
  get operatorToken(): string {
    return this.credentials.operator_token
  }
  private get credentials(): Platform['credentials'] {
    return this.parts.platform.credentials
  }

  async call<T>(method: string, path: string, body?: unknown, { as = 'demo' }: CallOptions = {}): Promise<T> {
    const signer = typeof as === 'string' ? this.account(as) : as
    const url = new URL(path.startsWith('/api/v4/') ? path : `/api/v4${path}`, this.url)
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = signedHeaders(signer, {
      method: method.toUpperCase(),
      path: url.pathname,
      query: url.search.slice(1),
      body: text,
      timestamp: String(this.parts.platform.desk.clock.seconds()),
    })
    return this.send(method, url, headers, text)
  }
  operator<T>(method: string, path: string, body?: unknown): Promise<T> {
    const url = new URL(path.startsWith('/operator/v1/') ? path : `/operator/v1${path}`, this.url)
    const text = body === undefined ? undefined : JSON.stringify(body)
    return this.send(method, url, { Authorization: `Bearer ${this.operatorToken}` }, text)
  }
  private async send<T>(
    method: string,
    url: URL,
    headers: Record<string, string>,
    body: string | undefined,
  ): Promise<T> {
    const response = await this.fetch(url, {
      method: method.toUpperCase(),
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const reply = (text === '' ? undefined : JSON.parse(text)) as T
    if (response.ok) return reply
    const { label = '', message = '' } = reply as { label?: string; message?: string }
    throw new KontorError(response.status, label, message)
  }
  private account(login: string): Signer {
    const found = this.accounts.find(({ login_name }) => login_name === login)
    if (found === undefined)
      throw new ConfigError(
        `as: there is no demo account "${login}"; there are ${this.accounts.map(({ login_name }) => login_name).join(', ')}`,
      )
    return found
  }

  async snapshot(): Promise<Snapshot> {
    return new WorldSnapshot(await this.kept())
  }
  async fork({ port = this.parts.port, ...options }: ForkOptions = {}): Promise<Kontor> {
    const { config, beginning } = await this.kept()
    // Of a port that was chosen there is one.
    const free = port === this.parts.port && port !== 'none' ? 0 : port
    return World.goOn({ config: embedded(config, free), beginning }, { ...options, port: free ?? 0 })
  }
  async save(file: string): Promise<void> {
    writeWorld(file, await this.kept())
  }
  private async kept(): Promise<Kept> {
    this.refuseGone()
    const { config, platform } = this.parts
    return { config, beginning: await platform.capture() }
  }
  async reset(): Promise<void> {
    this.refuseGone()
    if (this.parts.recording !== undefined) await this.operator('POST', '/reset')
    else await this.parts.platform.reset()
  }
  async verify(): Promise<Verification> {
    this.refuseGone()
    const { config, platform } = this.parts
    const look = lookAt(platform.desk.store as MemoryStore)
    const { wrong, batches } = await verifyStore(look, { key: sumsKey(config.secretKey!) })
    const faults = [...wrong]
    try {
      await replayStore(look)
    } catch (error) {
      if (!(error instanceof Divergence)) throw error
      faults.push(error.message)
    }
    return { balanced: faults.length === 0, faults, batches }
  }
  close(): Promise<void> {
    return (this.closing ??= this.parts.platform.stop().finally(() => this.parts.recording?.close()))
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
  private refuseGone(): void {
    const { error } = this.parts.fault
    if (error !== undefined) throw new Error('this platform stopped by a fault', { cause: error })
    if (this.closing !== undefined) throw new Error('this platform is closed')
  }
}

/** What is looked at stands still between two turns only: nothing may be under way. */
const lookAt = (store: MemoryStore): Look => ({
  kind: 'memory',
  query: (sql, values = []) => store.query(sql, values),
  integrity: () => Promise.resolve([]),
  tail: () => Promise.resolve([]),
  each: (sql, row) => store.scan(sql, row),
  portions: async (sql, act) => act(await store.query(sql, [])),
  close: () => Promise.resolve(),
})
