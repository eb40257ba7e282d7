import { readFileSync, statSync } from 'node:fs'
import { ConfigError } from '../config.ts'
import { columns, drive, pairOf, type OperatorApi } from './operator-api.ts'

type Candle = [time: number, open: string, high: string, low: string, close: string, volume: string]
interface Played {
  readonly candles: number
  readonly from: number
  readonly until: number
  readonly shift: number
}
const PORTION = 1_000
const FILE_BYTES = 100_000_000

export const candles = drive({
  usage: 'kontor candles import FILE MARKET [--json]',
  detail: `Reads candles from a CSV file and has the market agents trade them, such as
  kontor candles import btc-1h.csv BTC
The first line may name the columns: time (or timestamp, date), open, high, low, close, volume, in any order; without
it they stand in this order. Times are Unix seconds or milliseconds, or dates such as 2024-01-31T08:00:00Z. The first
candle begins with the next interval of the platform's clock; move the clock to see days of them at once.`,
  words: [3, 3],
  run: async (api, { words }) => {
    if (words[0] !== 'import') throw new ConfigError(`"${words[0]!}" is not import; usage: ${candles.usage}`)
    const pair = pairOf(words[2]!)
    const list = readCandles(words[1]!)
    const played = await play(api, pair, list)
    const when = (seconds: number): string => new Date(seconds * 1000).toISOString()
    return {
      json: { currency_pair: pair, ...played },
      text: columns([
        ['candles', `${played.candles} of ${pair}`],
        ['from', when(played.from)],
        ['until', when(played.until)],
      ]),
    }
  },
})
async function play(api: OperatorApi, pair: string, list: readonly Candle[]): Promise<Played> {
  const interval = intervalOf(list)
  let first: Played | undefined
  let last: Played | undefined
  for (let i = 0; i < list.length; i += PORTION) {
    last = await api.call<Played>('POST', '/agents/candles', {
      currency_pair: pair,
      interval,
      shift: first?.shift,
      candles: list.slice(i, i + PORTION),
    })
    first ??= last
  }
  return { ...first!, until: last!.until, candles: list.length }
}

export function readCandles(file: string): Candle[] {
  let text: string
  try {
    if (statSync(file).size > FILE_BYTES) throw new Error('it is larger than 100 MB; split it')
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${file} can't be read: ${(error as Error).message}`)
  }
  const list = parseCandles(text, file)
  if (list.length < 2) throw new ConfigError(`${file} holds ${list.length} candles; at least 2 are needed`)
  return list
}
const COLUMNS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const
const OTHER_NAMES: Readonly<Record<string, string>> = {
  timestamp: 'time',
  date: 'time',
  datetime: 'time',
  open_time: 'time',
  'open time': 'time',
  unix: 'time',
  vol: 'volume',
  base_volume: 'volume',
}
/** Oldest first, whatever the order of the file. */
export function parseCandles(text: string, file: string): Candle[] {
  const lines = text.split(/\r?\n/)
  const first = lines.findIndex((line) => line.trim() !== '')
  if (first === -1) return []
  const heading = cells(lines[first]!).map((name) => name.toLowerCase())
  const named = heading.map((name) => OTHER_NAMES[name] ?? name)
  const hasHeading = named.includes('open')
  const places = COLUMNS.map((name, i) => (hasHeading ? named.indexOf(name) : i))
  for (const [i, place] of places.entries())
    if (place === -1)
      throw new ConfigError(`${file}: the heading has no column "${COLUMNS[i]!}" (${heading.join(', ')})`)
  const list: Candle[] = []
  for (const [i, line] of lines.entries()) {
    if (i < first || (hasHeading && i === first) || line.trim() === '') continue
    const all = cells(line)
    const [time, ...amounts] = places.map((place) => all[place] ?? '')
    const seconds = secondsOf(time!)
    if (seconds === undefined || amounts.some((amount) => !/^\d+(\.\d+)?$/.test(amount)))
      throw new ConfigError(`${file}, line ${i + 1}: "${line.slice(0, 80)}" is not ${COLUMNS.join(',')}`)
    list.push([seconds, ...(amounts.map(plain) as [string, string, string, string, string])])
  }
  return list.sort(([a], [b]) => a - b)
}
const cells = (line: string): string[] =>
  line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"|"$/g, ''))
/** At most 18 decimals. */
const plain = (amount: string): string => amount.replace(/(\.\d{18})\d+$/, '$1')
function secondsOf(text: string): number | undefined {
  if (/^\d{9,10}(\.\d+)?$/.test(text)) return Math.floor(Number(text))
  if (/^\d{12,13}$/.test(text)) return Math.floor(Number(text) / 1000)
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text)
    ? text
    : `${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}`
  const millis = Date.parse(zoned)
  return Number.isNaN(millis) ? undefined : Math.floor(millis / 1000)
}
/** The shortest distance of two neighbours. */
function intervalOf(list: readonly Candle[]): number {
  let least = Infinity
  for (let i = 1; i < list.length; i++) least = Math.min(least, list[i]![0] - list[i - 1]![0])
  if (least < 1)
    throw new ConfigError('two candles begin in the same second; give one series of one interval')
  return least
}
