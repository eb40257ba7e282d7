import { endpoint, type AnyEndpoint, type Desk, type SessionAccess } from '../api/endpoint.ts'
import { oneOf, withDefault } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { array, decimalText, int64, shape, str } from '../api/shapes.ts'
import { candles } from '../api/spot/candles.ts'
import { intervalOf } from '../api/spot/intervals.ts'
import { LEDGER_LINE, type Account } from '../core/ledger/ledger.ts'
import type { State } from '../core/state.ts'
import { ZERO, add, format, roundDown, timesDown, type Amount, type Price } from '../money/amount.ts'

const ACCESS: SessionAccess = { kind: 'session', subject: 'account', permission: 'wallet' }
const HOUR_SECONDS = 3_600
/** How far apart the points are, and which candles tell the prices. */
const RANGES = {
  '24h': { seconds: HOUR_SECONDS, points: 24, interval: '1h' },
  '7d': { seconds: 6 * HOUR_SECONDS, points: 28, interval: '1h' },
  '30d': { seconds: 24 * HOUR_SECONDS, points: 30, interval: '1d' },
} as const
/** Of an account that had nothing an hour ago. */
const FIRST_HOUR = { seconds: 60, points: 60, interval: '1m' } as const
type Range = keyof typeof RANGES
type Grid = (typeof RANGES)[Range] | typeof FIRST_HOUR
const ACCOUNTS_MAX = 100
const SHOWN_DECIMALS = 8
const CACHE_MS = 30_000
const CACHE_MAX = 1_000

interface Point {
  readonly time: number
  readonly total: string
}

/** What an account was worth over time. */
export const worthEndpoints = (): readonly AnyEndpoint[] => {
  const cache = new Map<string, { readonly at: number; readonly points: Promise<Point[]> }>()
  return [
    endpoint({
      method: 'GET',
      path: '/worth',
      summary:
        'What the account was worth over time, in USDT at the prices of then; up to half a minute old. Of an account that is younger than the range: since it had anything',
      access: ACCESS,
      limit: LIMITS.consoleAccount,
      query: { range: withDefault(oneOf('24h', '7d', '30d'), '24h') },
      status: 200,
      reply: shape({ currency: str, points: array(shape({ time: int64, total: decimalText })) }),
      refuses: [],
      handle: async ({ desk, caller, query }) => {
        const name = `${caller.user.user_id} ${query.range} ${desk.clock.distance}`
        const now = Date.now()
        let known = cache.get(name)
        if (known === undefined || now - known.at > CACHE_MS) {
          known = { at: now, points: lineOf(desk, caller.user.user_id, query.range) }
          cache.delete(name)
          if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value!)
          cache.set(name, known)
          known.points.catch(() => cache.delete(name))
        }
        return { currency: 'USDT', points: await known.points }
      },
    }),
  ]
}

/** Coarse first. Where there was nothing at all of its moments, the next one shows more. */
const GRIDS: readonly Grid[] = [RANGES['30d'], RANGES['7d'], RANGES['24h'], FIRST_HOUR]
async function lineOf(desk: Desk, userId: number, range: Range): Promise<Point[]> {
  let line: Point[] = []
  for (const grid of GRIDS.slice(GRIDS.indexOf(RANGES[range]))) {
    line = await pointsOf(desk, userId, grid)
    const young = line.every(({ total }, i) => (total === '0') === i < line.length - 1)
    if (!young) break
  }
  return line
}
async function pointsOf(desk: Desk, userId: number, grid: Grid): Promise<Point[]> {
  const { seconds, points } = grid
  const now = desk.clock.seconds()
  const last = Math.floor(now / seconds) * seconds
  const times = Array.from({ length: points }, (_, i) => last - (points - 1 - i) * seconds)
  const { accounts, present } = await desk.core.read((state) => ({
    accounts: [...state.ledger.ownedBy(userId)].slice(0, ACCOUNTS_MAX),
    present: presentWorth(state, userId),
  }))
  const amounts = await Promise.all(accounts.map((account) => amountsOf(desk, account, times)))
  const currencies = [...new Set(accounts.map(({ currency }) => currency))]
  const prices = new Map(
    await Promise.all(
      currencies.map(async (currency) => {
        // Before there was any of it no price matters, and old prices are dear to find.
        const begun = times.findIndex((_, i) =>
          accounts.some((account, a) => account.currency === currency && amounts[a]![i] !== ZERO),
        )
        const held = begun === -1 ? [] : times.slice(begun)
        const found = await pricesOf(desk, currency, held, grid)
        return [currency, new Map(held.map((time, i) => [time, found[i]!]))] as const
      }),
    ),
  )
  const totals = times.map((time, i) =>
    accounts.reduce((sum, { currency }, a) => {
      const price = prices.get(currency)!.get(time)
      return price === undefined ? sum : add(sum, timesDown(amounts[a]![i]!, price))
    }, ZERO),
  )
  return [...times.map((time, i) => pointOf(time, totals[i]!)), pointOf(now, present)]
}
const pointOf = (time: number, total: Amount): Point => ({
  time,
  total: format(total < 0n ? total : roundDown(total, SHOWN_DECIMALS)),
})
function presentWorth({ ledger, prices }: State, userId: number): Amount {
  let sum = ZERO
  for (const { currency, amount } of ledger.ownedBy(userId)) sum = add(sum, prices.worth(currency, amount))
  return sum
}

/** The last line of an account at a moment tells its balance then. From the newest back: one that has long rested costs one look. */
async function amountsOf(desk: Desk, { id }: Account, times: readonly number[]): Promise<Amount[]> {
  const amounts = times.map(() => ZERO)
  let line: { readonly at: number; readonly after: Amount } | undefined
  for (let i = times.length - 1; i >= 0; i--) {
    const at = times[i]! * 1e6
    if (line === undefined || line.at > at) {
      const where = 'where "account" = ? and "at" <= ? order by "at" desc, "id" desc limit 1'
      ;[line] = await desk.store.select(LEDGER_LINE, where, [id, at])
      if (line === undefined) break
    }
    amounts[i] = line.after
  }
  return amounts
}

/** Closing prices of the market against USDT; where there is none, the present price stands for all. */
async function pricesOf(
  desk: Desk,
  currency: string,
  times: readonly number[],
  grid: Grid,
): Promise<Price[]> {
  if (times.length === 0) return []
  const pair = `${currency}_USDT`
  const { present, traded } = await desk.core.read(({ prices, world }) => ({
    present: prices.of(currency),
    traded: world.findMarket(pair) !== undefined,
  }))
  if (!traded) return times.map(() => present)
  const interval = intervalOf(grid.interval)
  const list = await candles(desk, pair, interval, () => ({
    first: interval.start(times[0]! - interval.seconds),
    last: interval.start(times[times.length - 1]!),
  }))
  const closes = new Map(list.map(({ open_time, close }) => [open_time, close]))
  return times.map((time) => {
    const close = closes.get(interval.start(time - 1)) ?? 0n
    return close === 0n ? present : close
  })
}
