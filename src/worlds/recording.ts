import { closeSync, openSync, writeSync } from 'node:fs'
import { masked, type Turn, type Witness, type WitnessedRequest } from '../api/request-log.ts'
import { ConfigError, readConfig, type Config } from '../config.ts'
import type { Credentials } from '../runtime/credentials.ts'
import { VERSION } from '../version.ts'

/** How a session is written; counts up when that changes. */
export const SESSION_FORMAT = 1
/** The settings that a world follows from, and no secret. */
export type WorldSettings = Pick<
  Config,
  'clockStart' | 'agents' | 'agentsSeed' | 'rateLimits' | 'timestamps' | 'signUp' | 'authFailures'
> & {
  /** Left out: the built-in one. */
  readonly world?: Config['world']
}
export interface SessionHeader {
  readonly kontor_session: number
  readonly version: string
  readonly settings: WorldSettings
  readonly accounts: readonly { readonly login_name: string; readonly user_id: number }[]
}
/** Who sent it: a demo account by its login, another key by its name, an operator by his. */
export interface By {
  readonly login?: string
  readonly key?: string
  readonly operator?: string
}
export interface SessionRequest {
  /** Seconds of the platform's clock. */
  readonly at: number
  readonly by?: By
  readonly method: string
  readonly path: string
  readonly query?: string
  /** JSON as it is, everything else as a text. */
  readonly body?: unknown
  readonly status: number
  readonly reply?: unknown
  /** A fault kept the reply from its client. */
  readonly dropped?: true
}
const settingsOf = ({
  clockStart,
  agents,
  agentsSeed,
  rateLimits,
  timestamps,
  signUp,
  authFailures,
  world,
}: Config): WorldSettings => ({
  clockStart,
  agents,
  agentsSeed,
  rateLimits,
  timestamps,
  signUp,
  authFailures,
  ...(JSON.stringify(world) !== JSON.stringify(readConfig({}).world) && { world }),
})

/**
 * Writes a session down, request by request, so that it can be sent again. Requests take turns meanwhile: in the order
 * in which they stand in the file they were carried out.
 */
export class Recording implements Witness {
  private readonly file: string
  private readonly config: Config
  private readonly descriptor: number
  private open = true
  private logins = new Map<string, string>()
  private last: Promise<void> = Promise.resolve()

  constructor(file: string, config: Config) {
    if (config.clockStart === undefined)
      throw new ConfigError(
        "record: needs a clock that stands, because a session is sent again on one; leave clock: 'real' out",
      )
    this.file = file
    this.config = config
    try {
      this.descriptor = openSync(file, 'w')
    } catch (error) {
      throw new ConfigError(`record: ${this.file} can't be written: ${(error as Error).message}`)
    }
  }
  begin({ accounts }: Credentials): void {
    this.logins = new Map(accounts.map(({ key, login_name }) => [key, login_name]))
    this.write({
      kontor_session: SESSION_FORMAT,
      version: VERSION,
      settings: settingsOf(this.config),
      accounts: accounts.map(({ login_name, user_id }) => ({ login_name, user_id })),
    } satisfies SessionHeader)
  }
  async turn(): Promise<Turn> {
    const before = this.last
    let leave: Turn = () => undefined
    this.last = new Promise((resolve) => (leave = resolve))
    await before
    return leave
  }
  see(request: WitnessedRequest): void {
    const { method, path, query, body, at, status, reply, dropped } = request
    // Who was not let in did nothing; and nobody could sign wrongly in the same way again.
    if (status === 401) return
    this.write({
      at: at / 1e6,
      ...byOf(request, this.logins),
      method,
      path,
      ...(query !== '' && { query: masked(query) }),
      ...(body !== undefined && body.length > 0 && { body: jsonIn(masked(body.toString())) }),
      status,
      ...(reply !== '' && { reply: jsonIn(masked(reply)) }),
      ...(dropped && { dropped }),
    } satisfies SessionRequest)
  }
  close(): void {
    if (this.open) closeSync(this.descriptor)
    this.open = false
  }
  private write(line: object): void {
    if (this.open) writeSync(this.descriptor, `${JSON.stringify(line)}\n`)
  }
}

function byOf(
  { key, operator }: WitnessedRequest,
  logins: ReadonlyMap<string, string>,
): { readonly by?: By } {
  if (operator !== undefined) return { by: { operator } }
  if (key === undefined) return {}
  const login = logins.get(key)
  return { by: login === undefined ? { key } : { login } }
}
/** What JSON would write in the same way. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
