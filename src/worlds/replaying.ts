import { readFileSync } from 'node:fs'
import { masked } from '../api/request-log.ts'
import { signedHeaders } from '../api/signature.ts'
import { ConfigError } from '../config.ts'
import { Answers } from './comparing.ts'
import type { Account, Kontor, ReplayOptions, ReplayReport } from './public.ts'
import { SESSION_FORMAT, jsonIn, type By, type SessionHeader, type SessionRequest } from './recording.ts'
import { sessionConfig } from './settings.ts'
import { startOn } from './world.ts'

type Signer = Pick<Account, 'key' | 'secret'>
interface Session {
  readonly header: SessionHeader
  /** With the line that each stands on. */
  readonly requests: readonly (readonly [line: number, request: SessionRequest])[]
}
/** Where requests are sent, and who sends them. */
interface Target {
  readonly fetch: typeof globalThis.fetch
  readonly url: string
  /** What a request carries as its time. */
  readonly second: () => Promise<string>
  readonly token: string
  readonly accounts: readonly Account[]
  /** Its ids and times are its own. */
  readonly foreign: boolean
}

/** What `import 'kontor'` calls replayTraffic. */
export async function replayFile(file: string, options: ReplayOptions = {}): Promise<ReplayReport> {
  const session = sessionIn(file)
  if (options.against !== undefined) return replay(session, elsewhere(options.against, options))
  const world = await startOn(sessionConfig(session.header.settings), { port: 'none' })
  try {
    return await replay(session, within(world))
  } finally {
    await world.close()
  }
}

const within = (world: Kontor): Target => ({
  fetch: world.fetch,
  url: world.url,
  second: () => Promise.resolve(String(Math.floor(world.clock.now()))),
  token: world.operatorToken,
  accounts: world.accounts,
  foreign: false,
})
function elsewhere(against: string, { credentials }: ReplayOptions): Target {
  if (credentials === undefined)
    throw new ConfigError(
      'against: needs the credentials of that platform: what it wrote to credentials.json',
    )
  const url = against.replace(/\/$/, '')
  const second = async (): Promise<string> => {
    const response = await fetch(`${url}/api/v4/spot/time`)
    const { server_time } = (await response.json()) as { server_time: number }
    return String(Math.floor(server_time / 1000))
  }
  const { operator_token: token, accounts } = credentials
  return { fetch: globalThis.fetch, url, second, token, accounts, foreign: true }
}

function sessionIn(file: string): Session {
  let lines: string[]
  try {
    lines = readFileSync(file, 'utf8').split('\n')
  } catch (error) {
    throw new ConfigError(`${file} can't be read: ${(error as Error).message}`)
  }
  const parsed = lines.map((line, i) => [i + 1, line === '' ? undefined : jsonIn(line)] as const)
  const header = parsed[0]![1] as Partial<SessionHeader> | string | undefined
  if (typeof header !== 'object' || header.kontor_session === undefined)
    throw new ConfigError(
      `${file} is not a recorded session: its first line does not say so; make one with: kontor record FILE`,
    )
  if (header.kontor_session !== SESSION_FORMAT)
    throw new ConfigError(
      `${file} was recorded in format ${header.kontor_session}, this version reads ${SESSION_FORMAT}: record the session again with this version`,
    )
  const requests: (readonly [number, SessionRequest])[] = []
  for (const [line, value] of parsed.slice(1)) {
    if (value === undefined) continue
    const { method, path, status } = value as Partial<SessionRequest>
    if (typeof method !== 'string' || typeof path !== 'string' || typeof status !== 'number')
      throw new ConfigError(
        `${file}, line ${line}: is not a request; was the file cut off? Record the session again`,
      )
    requests.push([line, value as SessionRequest])
  }
  return { header: header as SessionHeader, requests }
}

async function replay({ header, requests }: Session, target: Target): Promise<ReplayReport> {
  const answers = new Answers(target.foreign)
  const sender = new Sender(target, header, answers)
  for (const [line, request] of requests) {
    const answer = await sender.send(request)
    // A fault that was asked for keeps the reply: what it was can't be told.
    if (answer === undefined) continue
    const { status, text } = answer
    const words = `${request.method} ${request.path}${request.query === undefined ? '' : `?${request.query}`}`
    answers.compare(line, words, request.path, request, {
      status,
      reply: text === '' ? undefined : jsonIn(masked(text)),
    })
    if (status < 300 && text !== '') sender.learn(request, jsonIn(text))
  }
  return { requests: requests.length, differences: answers.differences }
}

/** Sends what was recorded, as it would be said here: with the keys and the ids of this world. */
class Sender {
  private readonly target: Target
  private readonly answers: Answers
  private readonly logins: ReadonlyMap<string, Signer>
  /** Of keys and operators that were made on the way. */
  private readonly keys = new Map<string, Signer>()
  private readonly tokens = new Map<string, string>()
  /** Seconds of the recorded clock. */
  private at: number

  constructor(target: Target, { accounts, settings }: SessionHeader, answers: Answers) {
    this.target = target
    this.answers = answers
    this.at = settings.clockStart ?? 0
    this.logins = new Map(target.accounts.map((account) => [account.login_name, account]))
    for (const { login_name, user_id } of accounts) {
      const here = target.accounts.find((account) => account.login_name === login_name)
      if (here === undefined)
        throw new ConfigError(
          `the session has an account "${login_name}", which this platform has no key for`,
        )
      answers.learn('user', user_id, here.user_id)
    }
  }
  async send(request: SessionRequest): Promise<{ status: number; text: string } | undefined> {
    const { method, by } = request
    const path = this.answers.pathHere(request.path)
    const query = this.answers.queryHere(request.query ?? '', request.path)
    const body = this.bodyOf(request)
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    this.at = request.at
    const { url, fetch } = this.target
    try {
      const response = await fetch(`${url}${path}${query === '' ? '' : `?${query}`}`, {
        method,
        headers: {
          ...(await this.headers(by, { method, path, query, body: text })),
          ...(text !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(text !== undefined && method !== 'GET' && { body: text }),
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      if (request.dropped !== true) throw error
      return undefined
    }
  }
  /** What a reply gives that was masked in the recording. */
  learn(request: SessionRequest, reply: unknown): void {
    const recorded = request.reply as { key?: unknown; name?: unknown } | undefined
    const { key, secret, token } = (reply ?? {}) as { key?: unknown; secret?: unknown; token?: unknown }
    if (typeof recorded?.key === 'string' && typeof key === 'string' && typeof secret === 'string')
      this.keys.set(recorded.key, { key, secret })
    if (
      request.path === '/operator/v1/operators' &&
      typeof recorded?.name === 'string' &&
      typeof token === 'string'
    )
      this.tokens.set(recorded.name, token)
  }
  private bodyOf({ path, body, at }: SessionRequest): unknown {
    if (body === undefined) return undefined
    const { now } = body as { now?: unknown }
    // Another platform has another time: its clock goes as far as the recorded one went.
    if (this.target.foreign && path === '/operator/v1/clock' && typeof now === 'number')
      return { advance_seconds: Math.max(0, at - this.at) }
    return this.answers.bodyHere(body, path)
  }
  private async headers(
    by: By | undefined,
    parts: { method: string; path: string; query: string; body: string | undefined },
  ): Promise<Record<string, string>> {
    if (by === undefined) return {}
    const { login, key, operator } = by
    if (operator !== undefined)
      return { Authorization: `Bearer ${this.tokens.get(operator) ?? this.target.token}` }
    const signer = login === undefined ? this.keys.get(key!) : this.logins.get(login)
    // A key that nobody made in this session: the platform says what it thinks of it.
    if (signer === undefined) return { KEY: key ?? '' }
    return signedHeaders(signer, { ...parts, timestamp: await this.target.second() })
  }
}
