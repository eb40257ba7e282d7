import { readSecret } from '../config-secrets.ts'
import { ConfigError, readConfig, type Config } from '../config.ts'
import { credentialsPath, readCredentials, type Credentials } from '../runtime/credentials.ts'
import { ask } from './asking.ts'
import { settingOptions, type Command, type Arguments, type OptionSpecs } from './options.ts'
import { platformSecond, signedHeaders } from './signing.ts'

/** The platform did not do what it was asked for; the message says why, and how to mend it. Exit code 1. */
export class NotDone extends Error {}

export interface User {
  readonly user_id: number
  readonly login_name: string
}
/** The operator API of a running platform, as commands call it. */
export class OperatorApi {
  readonly url: string
  /** The same, unless operators have an address of their own. */
  readonly tradingUrl: string
  private readonly token: string
  private readonly tokenFrom: string
  private readonly known: Credentials | undefined
  private readonly waitMs: number | undefined
  constructor({ env, values }: Pick<Arguments, 'env' | 'values'>, waitMs?: number) {
    this.waitMs = waitMs
    const config = readConfig({
      KONTOR_DATA: env['KONTOR_DATA'],
      KONTOR_CREDENTIALS: env['KONTOR_CREDENTIALS'],
    })
    const path = credentialsPath(config)
    const known = credentialsIn(config, path)
    const given = readSecret(env, 'KONTOR_OPERATOR_TOKEN', (setting, why) => {
      throw new ConfigError(`${setting} ${why}`)
    })
    const url = values['url'] ?? known?.operator_url ?? known?.url
    if (url === undefined || (given === undefined && (known?.operator_token ?? '') === ''))
      throw new ConfigError(
        known === undefined
          ? `there is no ${path}: name the data folder of the platform with --data, or give --url and set KONTOR_OPERATOR_TOKEN`
          : `${path} holds no operator token; set KONTOR_OPERATOR_TOKEN`,
      )
    if (!/^https?:\/\/[^\s/?#]+\/?$/.test(url))
      throw new ConfigError(`--url "${url}" must be such as http://127.0.0.1:8080`)
    this.url = url.replace(/\/$/, '')
    this.tradingUrl = values['url'] === undefined ? (known?.url ?? this.url) : this.url
    this.known = known
    this.token = given ?? known!.operator_token
    this.tokenFrom = given === undefined ? path : 'KONTOR_OPERATOR_TOKEN'
  }

  async get<T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T> {
    return this.call<T>('GET', withQuery(path, query))
  }
  async delete<T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T> {
    return this.call<T>('DELETE', withQuery(path, query))
  }
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const answer = await this.send(method, `/operator/v1${path}`, sent, {
      Authorization: `Bearer ${this.token}`,
    })
    const { status } = answer
    const { reply, label, message } = this.read(answer)
    if (status < 300) return reply as T
    if (status === 401)
      throw new ConfigError(
        `${this.url} does not take the operator token of ${this.tokenFrom}: set KONTOR_OPERATOR_TOKEN, or name the folder of this platform with --data`,
      )
    if (status === 404 && message.includes('is not an address') && !message.includes('did you mean')) {
      const [asked] = path.split('?') as [string]
      const why = asked.includes('//')
        ? 'a part of it is empty, such as a variable of the shell that was not set'
        : `it runs in live mode, which can't be driven, or in another version`
      throw new NotDone(`${this.url} has no ${method} ${asked}: ${why}`)
    }
    throw new NotDone(`${message} (${status} ${label})`)
  }
  /** A call of the trading API, signed by a demo account; the path is whole, with its query. */
  async signed(
    login: string,
    method: string,
    pathAndQuery: string,
    body: string | undefined,
  ): Promise<unknown> {
    const accounts = this.known?.accounts ?? []
    const account = accounts.find(({ login_name }) => login_name === login)
    if (account === undefined)
      throw new ConfigError(
        `there is no key of "${login}" in credentials.json; it has ${accounts.map(({ login_name }) => login_name).join(', ') || 'none'}`,
      )
    const mark = pathAndQuery.indexOf('?')
    const path = mark === -1 ? pathAndQuery : pathAndQuery.slice(0, mark)
    const query = mark === -1 ? '' : pathAndQuery.slice(mark + 1)
    const timestamp = await platformSecond(this.url, () => undefined)
    const headers = signedHeaders(account, { method, path, query, body, timestamp })
    const answer = await this.send(method, pathAndQuery, body, headers)
    const { reply, label, message } = this.read(answer)
    if (answer.status >= 300) throw new NotDone(`${message} (${answer.status} ${label})`)
    return reply
  }
  /** By login name, or by id. */
  async user(name: string): Promise<User> {
    const [found] = await this.get<User[]>('/users', { login_name: name })
    if (found !== undefined) return found
    if (/^\d{1,15}$/.test(name)) {
      const [user] = await this.get<User[]>('/users', { from: name, limit: '1' })
      if (user?.user_id === Number(name)) return user
    }
    const some = await this.get<User[]>('/users', { limit: '5' })
    const names = some.map(({ login_name, user_id }) => `${login_name} (${user_id})`).join(', ')
    throw new NotDone(
      `there is no user "${name}"; give a login name or an id, such as ${names || 'one that you make'}`,
    )
  }

  private read({ text }: { text: string }): { reply: unknown; label: string; message: string } {
    let reply: unknown
    try {
      reply = text === '' ? undefined : JSON.parse(text)
    } catch {
      throw new NotDone(`what answers at ${this.url} is not this platform; give its address with --url`)
    }
    const { label = '', message = '' } = (reply ?? {}) as { label?: string; message?: string }
    return { reply, label, message }
  }
  private async send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }> {
    try {
      return await ask(`${this.url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
        body,
        waitMs: this.waitMs,
      })
    } catch (error) {
      const { code } = (error as Error).name === 'AbortError' ? {} : (error as NodeJS.ErrnoException)
      throw new NotDone(
        `no platform answers at ${this.url}${code === undefined ? '' : ` (${code})`}: start it with "kontor start", or name another with --url or --data`,
      )
    }
  }
}
function credentialsIn(config: Pick<Config, 'data' | 'credentials'>, path: string): Credentials | undefined {
  try {
    return readCredentials(config)
  } catch (error) {
    throw new ConfigError(`${path} can't be read: ${(error as Error).message.split('\n', 1)[0]!}`)
  }
}
function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

/** What a drive has to say: for programs, and for people. */
export interface Said {
  readonly json: unknown
  readonly text: string
}
export interface Drive extends Pick<Command, 'usage' | 'detail' | 'words'> {
  readonly options?: OptionSpecs
  /** Answers what is to be printed; undefined: it has printed all by itself. */
  readonly run: (api: OperatorApi, args: Arguments) => Promise<Said | undefined>
}
/** A command that drives a running platform through its operator API. */
export const drive = ({ run, options, detail, ...rest }: Drive): Command => ({
  ...rest,
  detail: `${detail}

Drives a running platform through its operator API. Where it is, and the token, come from credentials.json in the data
folder; KONTOR_OPERATOR_TOKEN (or KONTOR_OPERATOR_TOKEN_FILE) and --url come first.
Exit codes: 0 done, 1 the platform is not there or refused, 2 wrong words, settings or token.`,
  options: {
    ...options,
    json: { help: 'prints JSON' },
    url: { value: 'URL', help: 'address of the platform (default: that of credentials.json)' },
    ...settingOptions('data', 'credentials'),
  },
  run: async (args) => {
    try {
      const said = await run(new OperatorApi(args), args)
      if (said !== undefined)
        process.stdout.write(`${args.flags.has('json') ? JSON.stringify(said.json) : said.text}\n`)
      return 0
    } catch (error) {
      if (!(error instanceof NotDone)) throw error
      process.stderr.write(`kontor: ${error.message}\n`)
      return 1
    }
  },
})

/** A whole number option, as the query wants it. */
export function countOf(values: Arguments['values'], name: string, max: number): string | undefined {
  const value = values[name]
  if (value !== undefined && (!/^[1-9]\d{0,6}$/.test(value) || Number(value) > max))
    throw new ConfigError(`--${name} "${value}" must be a whole number from 1 to ${max}`)
  return value
}
/** `BTC` is BTC_USDT. */
export function pairOf(word: string): string {
  if (!/^[A-Za-z0-9]+([_/][A-Za-z0-9]+)?$/.test(word))
    throw new ConfigError(`"${word}" must be a currency such as BTC, or a pair such as ETH_BTC`)
  const pair = word.toUpperCase().replace('/', '_')
  return pair.includes('_') ? pair : `${pair}_USDT`
}
/** Rows under each other. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]!.length))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
