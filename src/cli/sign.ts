import { readFileSync } from 'node:fs'
import { ConfigError, readConfig, type Config } from '../config.ts'
import { credentialsPath, readCredentials, type Credentials } from '../runtime/credentials.ts'
import { settingOptions, type Command, type Arguments } from './options.ts'
import { platformSecond, signedHeaders } from './signing.ts'

export const sign: Command = {
  usage: 'kontor sign METHOD PATH [options]',
  detail: `Prints KEY, Timestamp and SIGN for a request, such as
  kontor sign GET /api/v4/wallet/fee --query currency_pair=BTC_USDT
The time is that of the platform, whose clock may have been moved; where none answers it is this machine's, with a
note on stderr. Without --key it uses the main account of credentials.json in the data folder. The secret of another key is read
from --secret-file or the environment variable KONTOR_SIGN_SECRET, never from the command line, which all can read.`,
  options: {
    key: { value: 'KEY', help: 'API key' },
    'secret-file': { value: 'FILE', help: 'a file that holds its secret (or set KONTOR_SIGN_SECRET)' },
    secret: { value: 'SECRET', help: 'refused: use --secret-file or KONTOR_SIGN_SECRET' },
    query: { value: 'TEXT', help: 'query string as it stands in the URL, without the question mark' },
    body: { value: 'TEXT', help: 'request body, exactly as it is sent' },
    timestamp: { value: 'SECONDS', help: "Unix time in seconds (default: the platform's)" },
    url: { value: 'URL', help: 'address of the platform (default: that of credentials.json)' },
    curl: { help: 'prints a whole curl command instead' },
    ...settingOptions('data', 'credentials'),
  },
  words: 2,
  run,
}

async function run({ env, values, flags, words }: Arguments): Promise<number> {
  const method = words[0]!.toUpperCase()
  // Only the first question mark divides: a value may hold others.
  const [path, ...inPath] = words[1]!.split('?') as [string, ...string[]]
  if (!path.startsWith('/'))
    throw new ConfigError(`PATH "${path}" must begin with /, such as /api/v4/wallet/fee`)
  const query = values['query'] ?? inPath.join('?')
  const { url, ...signer } = credentials(env, values)
  const timestamp = values['timestamp'] ?? (await platformSecond(url, note))
  const body = values['body']
  const signed = signedHeaders(signer, { method, path, query, body, timestamp })
  const headers = Object.entries(signed).map(([name, value]) => `${name}: ${value}`)
  if (!flags.has('curl')) process.stdout.write(`${headers.join('\n')}\n`)
  else {
    const data = body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`]
    const target = quoted(`${url}${path}${query === '' ? '' : `?${query}`}`)
    const parts = [
      `curl -sS -X ${method} ${target}`,
      ...headers.map((header) => `-H ${quoted(header)}`),
      ...data,
    ]
    process.stdout.write(`${parts.join(' \\\n  ')}\n`)
  }
  return 0
}
const note = (line: string): void => void process.stderr.write(`kontor: ${line}\n`)
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function secretOf(env: Arguments['env'], file: string | undefined): string {
  const given = env['KONTOR_SIGN_SECRET']
  if (file === undefined) {
    if (given !== undefined && given !== '') return given
    throw new ConfigError('--key needs its secret: give --secret-file, or set KONTOR_SIGN_SECRET')
  }
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`--secret-file ${file} can't be read: ${(error as Error).message}`)
  }
}
/** Whose key signs: that of --key; of --as, or the main one, of credentials.json. */
export function credentials(
  env: Arguments['env'],
  values: Arguments['values'],
): { key: string; secret: string; url: string } {
  const { key, as: login } = values
  if (values['secret'] !== undefined)
    throw new ConfigError(
      '--secret would show the secret to everybody on this machine; use --secret-file or KONTOR_SIGN_SECRET',
    )
  if (key !== undefined && login !== undefined)
    throw new ConfigError('--key and --as name two keys: give one')
  const secret = key === undefined ? undefined : secretOf(env, values['secret-file'])
  const { config, known } = credentialsOf(env)
  const url = platformUrl(env, values)
  if (key !== undefined && secret !== undefined) return { key, secret, url }
  const own = login === undefined ? known : known?.accounts.find(({ login_name }) => login_name === login)
  if (own === undefined && login !== undefined)
    throw new ConfigError(
      `there is no key of "${login}" in ${credentialsPath(config)}; it has ${known?.accounts.map(({ login_name }) => login_name).join(', ') || 'none'}`,
    )
  if (own === undefined || own.key === '')
    throw new ConfigError(`there is no key in ${credentialsPath(config)}; give --key and --secret-file`)
  return { key: own.key, secret: own.secret, url }
}
/** Where the platform is: --url, what credentials.json says, or the usual place. */
export function platformUrl(env: Arguments['env'], values: Arguments['values']): string {
  return (values['url'] ?? credentialsOf(env).known?.url ?? 'http://127.0.0.1:8080').replace(/\/$/, '')
}
function credentialsOf(env: Arguments['env']): { config: Config; known: Credentials | undefined } {
  const config = readConfig({
    KONTOR_DATA: env['KONTOR_DATA'],
    KONTOR_CREDENTIALS: env['KONTOR_CREDENTIALS'],
  })
  return { config, known: readCredentials(config) }
}
