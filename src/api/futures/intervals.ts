import { refuse } from '../../labels.ts'
import { MONDAY, monthly, regular, type Interval } from '../spot/intervals.ts'
import { refuseBackwards } from './lists.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const SHORT: readonly Interval[] = [
  regular('10s', 10, 10),
  regular('30s', 30, 10),
  regular('1m', 60, 60),
  regular('5m', 300, 300),
  regular('15m', 900, 300),
  regular('30m', 1_800, 300),
  regular('1h', HOUR, HOUR),
  regular('2h', 2 * HOUR, HOUR),
  regular('4h', 4 * HOUR, HOUR),
  regular('6h', 6 * HOUR, HOUR),
  regular('8h', 8 * HOUR, HOUR),
  regular('12h', 12 * HOUR, HOUR),
]
/** A day and longer, in a zone that is so far before UTC: 7d from the epoch, 1w from Monday, 30d the calendar's month. */
function long(ahead: number): readonly Interval[] {
  const base = ahead === 0 ? DAY : HOUR
  return [
    regular('1d', DAY, base, -ahead),
    regular('7d', 7 * DAY, base, -ahead),
    regular('1w', 7 * DAY, base, MONDAY - ahead),
    monthly(base, ahead),
  ]
}
const ZONES = { utc0: [...SHORT, ...long(0)], utc8: [...SHORT, ...long(8 * HOUR)] } as const
export type Zone = 'utc0' | 'utc8' | 'all'
export const CONTRACT_INTERVALS = ZONES.utc0.map(({ name }) => name)
export const contractInterval = (name: string, zone: Zone = 'utc0'): Interval =>
  ZONES[zone === 'utc8' ? 'utc8' : 'utc0'].find((interval) => interval.name === name)!

const POINTS_USUAL = 100
/** First and last bucket that a query asks for. `limit` counts back from `to`, and can't go with `from`. */
export function contractRange(
  query: { readonly limit: number | null; readonly from: number | null; readonly to: number | null },
  interval: Interval,
  now: number,
  most: number,
): { first: number; last: number } {
  const { limit } = query
  if (limit !== null && query.from !== null)
    refuse('INVALID_PARAM_VALUE', 'limit: can not be used together with from; leave one of them out')
  // As they were sent: in one bucket of a long interval they look like the right order.
  refuseBackwards(query.from, query.to)
  const from = query.from === null ? undefined : interval.start(Math.floor(query.from))
  const usual = from === undefined ? now : Math.min(now, from + (most - 1) * interval.seconds)
  const to = interval.start(Math.floor(query.to ?? usual))
  const last = Math.min(to, interval.start(now))
  // Where the beginning is ours, an end that lies in the future makes it no later.
  let first = from ?? last
  if (from === undefined) for (let i = 1; i < (limit ?? POINTS_USUAL); i++) first = interval.start(first - 1)
  if ((from === undefined ? last - first : to - first) / interval.seconds > most - 1)
    refuse(
      'INVALID_PARAM_VALUE',
      `Candlestick range too broad: at most ${most} points for each request; narrow from and to`,
    )
  return { first, last }
}
