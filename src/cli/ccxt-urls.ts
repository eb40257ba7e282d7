import { ConfigError, readConfig } from '../config.ts'
import { credentialsPath, readCredentials } from '../runtime/credentials.ts'
import { settingOptions, type Command, type Arguments } from './options.ts'

/** The entries of `urls.api` of ccxt's exchange `gate`; a test holds them against the installed version. */
const PUBLIC = ['wallet', 'futures', 'margin', 'delivery', 'spot', 'options', 'sub_accounts', 'earn']
const PRIVATE = [
  'withdrawals',
  'wallet',
  'futures',
  'margin',
  'delivery',
  'spot',
  'options',
  'subAccounts',
  'unified',
  'rebate',
  'earn',
  'account',
  'loan',
  'otc',
]
export const CCXT_PRODUCTS = { public: PUBLIC, private: PRIVATE } as const

export const ccxtUrls: Command = {
  usage: 'kontor ccxt-urls [--url URL]',
  detail: `Prints, as JSON, the option "urls" of ccxt's exchange "gate" with every address replaced by this platform's:
  new ccxt.gate({ urls: JSON.parse(…), apiKey, secret })
and of ccxt.pro's too, with the addresses of the sockets: there call await exchange.loadHttpProxyAgent() before the first
watch call, without which ccxt opens no plain ws:// address.`,
  options: {
    url: { value: 'URL', help: 'address of the platform (default: that of credentials.json)' },
    ...settingOptions('data', 'credentials'),
  },
  words: 0,
  run: (args) => Promise.resolve(run(args)),
}
function run({ env, values }: Arguments): number {
  const config = readConfig({
    KONTOR_DATA: env['KONTOR_DATA'],
    KONTOR_CREDENTIALS: env['KONTOR_CREDENTIALS'],
  })
  const url = values['url'] ?? readCredentials(config)?.url
  if (url === undefined)
    throw new ConfigError(
      `there is no ${credentialsPath(config)}: name the data folder with --data, or give --url`,
    )
  const root = url.replace(/\/$/, '')
  const base = `${root}/api/v4`
  const all = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, base]))
  process.stdout.write(
    `${JSON.stringify({ api: { public: all(PUBLIC), private: all(PRIVATE), ...sockets(root) } }, null, 2)}\n`,
  )
  return 0
}

/** Of ccxt.pro, which reads the product out of the address: `fx` and `op-` must be in it. */
function sockets(root: string): object {
  const base = root.replace(/^http/, 'ws')
  const both = (path: string) => ({ usdt: `${base}${path}/usdt`, btc: `${base}${path}/btc` })
  return {
    ws: `${base}/ws/v4/`,
    spot: `${base}/ws/v4/`,
    swap: both('/fx-ws/v4/ws'),
    future: both('/fx-ws/v4/ws/delivery'),
    option: both('/op-ws/v4/ws'),
  }
}
