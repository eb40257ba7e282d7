/** What `import 'kontor'` gives: everything here is public, and nothing here knows the inside. */

export interface KontorOptions {
  /** 0 (default): a free port of 127.0.0.1; a port of your choice; or none: then `call`, `operator` and `fetch` are the way in. */
  readonly port?: number | 'none'
  /**
   * Where its clock stands until it is moved: Unix seconds, a date such as 2031-01-31T08:00 (UTC), or a Date; default:
   * 2026-01-01. `'real'`: it runs with the real time.
   */
  readonly clock?: number | string | Date
  /** Market agents that keep the books full; default true. */
  readonly agents?: boolean
  /** What the agents draw from: the same seed and the same calls give the same digits. */
  readonly seed?: number
  /** A multiplier of all rate limits; default 'off', because on a clock that stands no limit ever recovers. */
  readonly rateLimits?: number | 'off'
  /** A file with currencies, chains, markets, fees and policies: docs/CONFIG.md. */
  readonly config?: string
  /** Key and secret of the demo account, and what those of its sub-accounts follow from; default: made up. */
  readonly demo?: { readonly key: string; readonly secret: string }
  readonly operatorToken?: string
  /** Any other setting of the README by its name, such as { KONTOR_TIMESTAMPS: 'strict' }. */
  readonly settings?: Readonly<Record<string, string>>
  /** Go on from this world: a snapshot, or a file that `save` wrote. It keeps its clock, keys and settings. */
  readonly from?: Snapshot | string
  /** Write every request and its answer to this file, for `replayTraffic` and `kontor replay-traffic`. */
  readonly record?: string
  /** Who gets its warnings and errors, as lines of JSON; default: standard error. */
  readonly log?: (line: string) => void
}
/** Of a fork and of a loaded world, which keep everything else. */
export type ForkOptions = Pick<KontorOptions, 'port' | 'log'>

/** One platform: its own world, its own clock, its own keys. Many of them live in one process and share nothing. */
export interface Kontor {
  /** Where it is reached; the base URL of the trading API is this and `/api/v4`. Without a port only `fetch` knows it. */
  readonly url: string
  /** Undefined: none. */
  readonly port: number | undefined
  /** Of the demo account. */
  readonly key: string
  readonly secret: string
  /** The demo account and its sub-accounts, with their keys. */
  readonly accounts: readonly Account[]
  readonly operatorToken: string
  readonly clock: KontorClock
  /**
   * A signed call of the trading API, without a port: `call('POST', '/spot/orders', { … })`. Answers the parsed reply;
   * throws a KontorError when it is refused.
   */
  call<T = unknown>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>
  /** The same of the operator API: `operator('POST', '/users/10001/credit', { … })`. */
  operator<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  /** Both APIs in the shape of `fetch`, without a port: for clients that take a fetch of yours. Hosts don't matter. */
  readonly fetch: typeof globalThis.fetch
  /** Its world as it is now. Costs milliseconds; any number of platforms can go on from it. */
  snapshot(): Promise<Snapshot>
  /** Another platform that goes on from here, on its own. */
  fork(options?: ForkOptions): Promise<Kontor>
  /** Back to where it began, keys, clock and all; others are not touched. Its URL stays. */
  reset(): Promise<void>
  /** Writes its world into one file, which holds its keys: for `startKontor({ from: file })`. */
  save(file: string): Promise<void>
  /** Adds the whole ledger up again and builds the state again from the recorded commands. */
  verify(): Promise<Verification>
  /** Finishes what is under way, and leaves nothing open. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
export interface Account {
  readonly login_name: string
  readonly user_id: number
  readonly key: string
  readonly secret: string
}
export interface CallOptions {
  /** Login name of a demo account, or a key and secret; default: demo. */
  readonly as?: string | { readonly key: string; readonly secret: string }
}
export interface KontorClock {
  /** Unix seconds. */
  now(): number
  /** To a later moment; everything due in between has happened when it resolves. Answers the new time. */
  set(when: number | string | Date): Promise<number>
  /** By seconds, or by a step such as '1d12h'. */
  advance(step: number | string): Promise<number>
}
/** A world at one moment; nothing changes it. */
export interface Snapshot {
  /** Unix seconds of its clock. */
  readonly time: number
  /** How many batches led to it. */
  readonly sequence: number
}
export interface Verification {
  readonly balanced: boolean
  /** One line for each fault; empty when all is well. */
  readonly faults: readonly string[]
  readonly batches: number
}
export interface ReplayOptions {
  /** The base URL of a platform that runs already; left out: a new world with the settings of the recording. */
  readonly against?: string
  /** Of that platform: what its operator and its accounts sign with (its credentials.json). */
  readonly credentials?: {
    readonly operator_token: string
    readonly accounts: readonly Account[]
  }
}
export interface ReplayReport {
  readonly requests: number
  /** Empty: every answer was the recorded one. */
  readonly differences: readonly Difference[]
}
export interface Difference {
  /** Which line of the file. */
  readonly line: number
  readonly request: string
  /** Where in the answer, such as status or reply.0.price. */
  readonly where: string
  readonly recorded: string
  readonly replayed: string
}

/** A call that was refused. */
export class KontorError extends Error {
  readonly status: number
  readonly label: string
  constructor(status: number, label: string, message: string) {
    super(`${status} ${label}: ${message}`)
    this.name = 'KontorError'
    this.status = status
    this.label = label
  }
}
