import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { sign as hmac } from '../api/signature.ts'
import { ConfigError } from '../config.ts'
import { CHANNEL_BY_NAME } from '../sockets/channels.ts'
import { productOf } from '../sockets/paths.ts'
import { ADDRESSES, prefixIn } from '../sockets/products.ts'
import { quiet } from './log.ts'
import { NotDone, countOf } from './operator-api.ts'
import { settingOptions, type Arguments, type Command } from './options.ts'
import { credentials, platformUrl } from './sign.ts'
import { platformSecond } from './signing.ts'

export const watch: Command = {
  usage: 'kontor watch CHANNEL [PAYLOAD …] [--at PATH] [--count N] [--raw]',
  detail: `Subscribes to a channel and prints what it pushes, one JSON line each, until Ctrl-C, such as
  kontor watch spot.tickers BTC_USDT
  kontor watch spot.candlesticks 1m BTC_USDT
  kontor watch spot.orders '!all'
  kontor watch futures.tickers BTC_USDT
  kontor watch futures.orders 0 '!all' --at /v4/ws/btc
Words after the channel are the elements of its payload; a single one that begins with [ or { is taken as JSON.
Channels of contracts are those of /v4/ws/usdt unless --at names another address; what stands for the user id in the
payload of their private ones is not looked at.
Private channels are signed with the key of a demo account of credentials.json (--as), or with --key, whose secret is
read from --secret-file or the environment variable KONTOR_SIGN_SECRET. The channels are listed at /docs.
It does not connect again: it says why the stream ended.
Exit codes: 0 ended by Ctrl-C or --count, 1 the platform is not there, refused or closed, 2 wrong words or settings.`,
  options: {
    at: { value: 'PATH', help: "another address of the channel's product, such as /v4/ws/delivery/usdt" },
    count: { value: 'N', help: 'ends after so many pushes' },
    raw: { help: 'prints whole frames as they came, the answer to the subscription too' },
    as: { value: 'LOGIN', help: 'demo (default), demo_bot or demo_treasury: which demo account signs' },
    key: { value: 'KEY', help: 'API key' },
    'secret-file': { value: 'FILE', help: 'a file that holds its secret (or set KONTOR_SIGN_SECRET)' },
    secret: { value: 'SECRET', help: 'refused: use --secret-file or KONTOR_SIGN_SECRET' },
    url: { value: 'URL', help: 'address of the platform (default: that of credentials.json)' },
    ...settingOptions('data', 'credentials'),
  },
  words: [1, 200],
  run: async (args) => {
    try {
      return await run(args)
    } catch (error) {
      if (!(error instanceof NotDone)) throw error
      note(error.message)
      return 1
    }
  },
}
const note = (line: string): void => void process.stderr.write(`kontor: ${quiet(line)}\n`)

async function run({ env, values, flags, words }: Arguments): Promise<number> {
  const [channel, ...rest] = words as [string, ...string[]]
  const count = Number(countOf(values, 'count', 1_000_000) ?? Infinity)
  const payload = payloadOf(rest)
  const known = CHANNEL_BY_NAME.get(channel)
  const isPrivate = known !== undefined && known.access !== 'public'
  const signer = isPrivate ? credentials(env, values) : undefined
  const url = signer?.url ?? platformUrl(env, values)
  const time = signer === undefined ? Math.floor(Date.now() / 1000) : Number(await platformSecond(url, note))
  const auth = signer && {
    method: 'api_key',
    KEY: signer.key,
    SIGN: hmac(signer.secret, `channel=${channel}&event=subscribe&time=${time}`),
  }
  const ws = await opened(`${url.replace(/^http/, 'ws')}${pathOf(values['at']) ?? addressOf(channel)}`)
  ws.send(JSON.stringify({ time, id: 1, channel, event: 'subscribe', payload, auth }))
  await follow(ws, { channel, count, raw: flags.has('raw') })
  return 0
}
function payloadOf(words: readonly string[]): unknown {
  const [first] = words
  if (words.length !== 1 || !/^\s*[[{]/.test(first!)) return words.length === 0 ? undefined : words
  try {
    return JSON.parse(first!) as unknown
  } catch {
    throw new ConfigError(`PAYLOAD ${first!.slice(0, 80)} is not JSON; put it between single quotes`)
  }
}
function pathOf(at: string | undefined): string | undefined {
  if (at === undefined || productOf(at) !== undefined) return at
  throw new ConfigError(`--at ${at.slice(0, 80)} is no address of sockets; /v4/ws/btc is one`)
}
/** What is not known is asked for where most channels are: the platform says what is wrong with it. */
const addressOf = (channel: string): string =>
  (ADDRESSES[prefixIn(channel)] ?? ADDRESSES['spot']!).split(' ', 1)[0]!

/** How long a handshake may take. */
const PATIENCE_MS = 10_000
async function opened(url: string): Promise<WebSocket> {
  let ws: WebSocket
  try {
    ws = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: PATIENCE_MS })
  } catch {
    throw new ConfigError(`--url "${url}" must be such as http://127.0.0.1:8080`)
  }
  return new Promise((resolve, reject) => {
    ws.once('open', () => resolve(ws))
    ws.once('unexpected-response', (request, response: IncomingMessage) => {
      void refusal(response).then((why) => {
        reject(new NotDone(`${url} refuses sockets: ${why}`))
        request.destroy()
      })
    })
    ws.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new NotDone(
          `no platform answers at ${url} (${error.code ?? error.message}): start it with "kontor start", or name another with --url or --data`,
        ),
      ),
    )
  })
}
async function refusal(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text = (text + String(chunk)).slice(0, 4_096)
  try {
    const { label, message } = JSON.parse(text) as { label: string; message: string }
    return `${message} (${response.statusCode!} ${label})`
  } catch {
    return `status ${response.statusCode!}; is this the platform's address?`
  }
}

interface Followed {
  readonly channel: string
  readonly count: number
  readonly raw: boolean
}
interface Frame {
  readonly id?: unknown
  readonly channel?: string
  readonly event?: string
  readonly result?: { readonly type?: string; readonly msg?: string }
  readonly error?: { readonly code: number; readonly message: string } | null
}
/** The platform asks for a sign of life every 20 s: after so long without one it is gone. */
const SILENT_MS = 60_000
/** Whole books of contracts have an event of their own. */
const PUSHES: ReadonlySet<string> = new Set(['update', 'all'])
/** Until there is a reason to end it. */
async function follow(ws: WebSocket, { channel, count, raw }: Followed): Promise<void> {
  let left = count
  let stop: (error?: Error) => void = () => undefined
  const ended = new Promise<void>((resolve, reject) => {
    stop = (error) => (error === undefined ? resolve() : reject(error))
  })
  const silent = setTimeout(
    () => stop(new NotDone(`nothing came for ${SILENT_MS / 1000} s: the platform is gone`)),
    SILENT_MS,
  )
  const print = (text: string): void => {
    if (process.stdout.write(`${quiet(text)}\n`)) return
    // Who reads slowly is served slowly, and in the end cut by the platform, like any other.
    ws.pause()
    process.stdout.once('drain', () => ws.resume())
  }
  ws.on('ping', () => void silent.refresh())
  ws.on('message', (data: Buffer) => {
    silent.refresh()
    if (left <= 0) return
    const text = data.toString()
    const frame = JSON.parse(text) as Frame
    if (raw) print(text)
    if (frame.error !== undefined && frame.error !== null) {
      const reason = reasonOf(frame.error.message)
      stop(new NotDone(reason.includes(channel) ? reason : `${channel}: ${reason}`))
    } else if (frame.channel === channel && PUSHES.has(frame.event ?? '')) {
      if (!raw) print(JSON.stringify(frame.result))
      if (--left === 0) stop()
    } else if (frame.event === 'update') note(frame.result?.msg ?? text)
  })
  ws.once('close', (code: number, reason: Buffer) =>
    stop(new NotDone(`the connection was closed: ${closing(code, reason.toString())}`)),
  )
  const leave = (): void => stop()
  process.once('SIGINT', leave)
  process.once('SIGTERM', leave)
  // A reader that has seen enough, such as head, ends it.
  void once(process.stdout, 'error').then(leave)
  try {
    await ended
  } finally {
    clearTimeout(silent)
    ws.removeAllListeners('close')
    ws.terminate()
  }
}
/** A refusal of a key is JSON text, with REST's label. */
function reasonOf(message: string): string {
  try {
    const { label, message: said } = JSON.parse(message) as { label: string; message: string }
    return `${said} (${label})`
  } catch {
    return message
  }
}
const CODES: Readonly<Record<number, string>> = {
  1001: 'the platform stops',
  1006: 'the line broke',
  1012: 'the sandbox was reset',
}
const closing = (code: number, reason: string): string => `${code} ${reason || (CODES[code] ?? '')}`.trimEnd()
