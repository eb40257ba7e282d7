import { bodyDigest, sign as hmac, signatureString } from '../api/signature.ts'
import { ConfigError, readConfig } from '../config.ts'
import { readCredentials } from '../runtime/genesis.ts'
import type { Command } from './main.ts'
import { settingOptions, type Arguments } from './options.ts'

export const sign: Command = {
  usage: 'kontor sign METHOD PATH [options]',
  summary: 'prints the headers that sign a request',
  detail: `Prints KEY, Timestamp and SIGN for a request, such as
  kontor sign GET /api/v4/wallet/fee --query currency_pair=BTC_USDT
Without --key and --secret it uses the main account of credentials.json in the data folder.`,
  options: {
    key: { value: 'KEY', help: 'API key' },
    secret: { value: 'SECRET', help: 'its secret' },
    query: { value: 'TEXT', help: 'query string as it stands in the URL, without the question mark' },
    body: { value: 'TEXT', help: 'request body, exactly as it is sent' },
    timestamp: { value: 'SECONDS', help: 'Unix time in seconds (default: now)' },
    curl: { help: 'prints a whole curl command instead' },
    ...settingOptions('data'),
  },
  words: 2,
  run: (args) => Promise.resolve(run(args)),
}

function run({ env, values, flags, words }: Arguments): number {
  const method = words[0]!.toUpperCase()
  const [path, inPath = ''] = words[1]!.split('?', 2) as [string, string?]
  if (!path.startsWith('/'))
    throw new ConfigError(`PATH "${path}" must begin with /, such as /api/v4/wallet/fee`)
  const query = values['query'] ?? inPath
  const timestamp = values['timestamp'] ?? String(Math.floor(Date.now() / 1000))
  const { key, secret, url } = credentials(env, values)
  const body = values['body']
  const message = signatureString({
    method,
    path,
    query,
    bodyDigest: bodyDigest(body === undefined ? undefined : Buffer.from(body)),
    timestamp,
  })
  const headers = [`KEY: ${key}`, `Timestamp: ${timestamp}`, `SIGN: ${hmac(secret, message)}`]
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
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function credentials(
  env: Arguments['env'],
  values: Arguments['values'],
): { key: string; secret: string; url: string } {
  const { key, secret } = values
  if ((key === undefined) !== (secret === undefined))
    throw new ConfigError('--key and --secret belong together; give both, or neither for the demo account')
  const config = readConfig({ KONTOR_DATA: env['KONTOR_DATA'] })
  const known = readCredentials(config)
  const url = known?.url ?? 'http://127.0.0.1:8080'
  if (key !== undefined && secret !== undefined) return { key, secret, url }
  if (known === undefined || known.key === '')
    throw new ConfigError(`there is no key in ${config.data}/credentials.json; give --key and --secret`)
  return { key: known.key, secret: known.secret, url }
}
