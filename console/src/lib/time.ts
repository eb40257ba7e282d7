/** Times come as seconds (number or text), milliseconds or dates: all become milliseconds. */
export function millis(value: number | string | undefined | null): number | undefined {
  if (value === undefined || value === null || value === '' || value === '0' || value === 0) return undefined
  const number = typeof value === 'number' ? value : Number(value)
  if (Number.isNaN(number)) {
    const read = Date.parse(String(value))
    return Number.isNaN(read) ? undefined : read
  }
  if (number > 1e14) return number / 1000
  return number > 1e11 ? number : number * 1000
}

const formats = new Map<string, Intl.DateTimeFormat>()
function format(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  let made = formats.get(name)
  if (made === undefined) formats.set(name, (made = new Intl.DateTimeFormat('en-GB', options)))
  return made
}
const parts = (name: string, options: Intl.DateTimeFormatOptions, at: number): string =>
  format(name, options).format(at).replace(',', '')

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false } as const
const DAY = { day: '2-digit', month: 'short' } as const
export const clockText = (at: number): string => parts('clock', CLOCK, at)
export const dayText = (at: number): string => parts('day', { ...DAY, year: 'numeric' }, at)
/** "15 Nov 14:02:11". */
export const shortText = (at: number): string => parts('short', { ...DAY, ...CLOCK }, at)
export const minuteText = (at: number): string =>
  parts('minute', { ...DAY, hour: '2-digit', minute: '2-digit', hour12: false }, at)
export const exactText = (at: number): string =>
  parts('exact', { ...DAY, year: 'numeric', ...CLOCK, timeZoneName: 'short' }, at)
export const utcText = (at: number): string =>
  new Date(at)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$/, 'Z')

/** "3 min ago", "in 2 h": the largest unit that fits. */
export function relative(at: number, now: number): string {
  const difference = at - now
  const size = Math.abs(difference)
  if (size < 5_000) return 'now'
  const told = span(size)
  return difference < 0 ? `${told} ago` : `in ${told}`
}
export function span(ms: number): string {
  const steps: readonly (readonly [number, string])[] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ]
  const index = steps.findIndex(([step]) => ms >= step)
  if (index === -1) return '0 s'
  const [step, name] = steps[index]!
  const whole = Math.floor(ms / step)
  const next = steps[index + 1]
  // Two units where the first alone would hide a lot: "1 d 6 h", "12 d".
  if (next === undefined || whole >= 3) return `${whole} ${name}`
  const rest = Math.floor((ms - whole * step) / next[0])
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[1]}`
}
