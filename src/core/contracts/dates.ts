/**
 * When dated contracts end: Fridays at 08:00 UTC. Times are Unix seconds; the calendar is counted, because the rules know
 * no clock and no zone.
 */
const DAY = 86_400
const WEEK = 7 * DAY
/** 1970-01-02, 08:00: the first Friday. */
const FIRST_FRIDAY = DAY + 8 * 3_600

export const DATED_CYCLES = ['WEEKLY', 'BI-WEEKLY', 'QUARTERLY', 'BI-QUARTERLY'] as const
export interface DatedCycle {
  readonly cycle: (typeof DATED_CYCLES)[number]
  readonly expire_time: number
}

/** The first Friday, 08:00, that is later. */
export const fridayAfter = (time: number): number =>
  FIRST_FRIDAY + (Math.floor((time - FIRST_FRIDAY) / WEEK) + 1) * WEEK

interface Day {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
}
/** The day of a moment in the Gregorian calendar: years are counted from March, so that a leap day is a year's last. */
export function dayAt(time: number): Day {
  const days = Math.floor(time / DAY) + 719_468
  const era = Math.floor(days / 146_097)
  const ofEra = days - era * 146_097
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const fromMarch = Math.floor((5 * ofYear + 2) / 153)
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  return {
    year: year + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  }
}
const isQuarterEnd = (friday: number): boolean => {
  const { month } = dayAt(friday)
  return month % 3 === 0 && dayAt(friday + WEEK).month !== month
}
function quarterAfter(friday: number): number {
  do friday += WEEK
  while (!isQuarterEnd(friday))
  return friday
}

/**
 * The contracts that an underlying has at a moment, the first to end first. The quarters are looked for behind the two
 * weeks, so that each date is there once: a quarter's contract ends its days as a weekly one.
 */
export function cyclesAt(time: number): readonly DatedCycle[] {
  const weekly = fridayAfter(time)
  const quarterly = quarterAfter(weekly + WEEK)
  const dates = [weekly, weekly + WEEK, quarterly, quarterAfter(quarterly)]
  return dates.map((expire_time, i) => ({ cycle: DATED_CYCLES[i]!, expire_time }))
}

/** YYYYMMDD, as names of contracts and tables have it. */
export function dateName(time: number): string {
  const { year, month, day } = dayAt(time)
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${year}${two(month)}${two(day)}`
}
