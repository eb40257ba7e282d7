/** Candle intervals: the kept series that each is put together from, and where its buckets begin. */
export interface Interval {
  readonly name: string
  /** Seconds of the series that it is made from. */
  readonly base: number
  /** Seconds; of a month the average, for estimates only. */
  readonly seconds: number
  /** The start of the bucket that a second falls into. */
  readonly start: (second: number) => number
  /** The start of the bucket after the one that starts here. */
  readonly next: (start: number) => number
}
const DAY = 86_400
/** 1970-01-05 was the first Monday. */
export const MONDAY = 4 * DAY

export function regular(name: string, seconds: number, base: number, origin = 0): Interval {
  return {
    name,
    base,
    seconds,
    start: (second) => second - ((((second - origin) % seconds) + seconds) % seconds),
    next: (start) => start + seconds,
  }
}
/** Of the calendar. `ahead` is how many seconds its zone is before UTC. */
export function monthly(base: number, ahead = 0): Interval {
  const begin = (second: number, later: number): number => {
    const date = new Date((second + ahead) * 1000)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later) / 1000 - ahead
  }
  return {
    name: '30d',
    base,
    seconds: 30 * DAY,
    start: (second) => begin(second, 0),
    next: (start) => begin(start, 1),
  }
}
export const INTERVALS: readonly Interval[] = [
  regular('1s', 1, 1),
  regular('10s', 10, 10),
  regular('1m', 60, 60),
  regular('5m', 300, 300),
  regular('15m', 900, 300),
  regular('30m', 1_800, 300),
  regular('1h', 3_600, 3_600),
  regular('2h', 7_200, 3_600),
  regular('4h', 14_400, 3_600),
  regular('8h', 28_800, 3_600),
  regular('1d', DAY, DAY),
  regular('7d', 7 * DAY, DAY, MONDAY),
  monthly(DAY),
]
export const intervalOf = (name: string): Interval =>
  INTERVALS.find((interval) => interval.name === (name === '1w' ? '7d' : name))!
