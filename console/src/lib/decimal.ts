/**
 * Amounts and prices as the API writes them: decimal texts. Reckoned as bigint at 18 decimals like the platform itself, so
 * that no digit is lost; never as a float.
 */
export type Decimal = bigint

export const PLACES = 18
const ONE = 10n ** BigInt(PLACES)
export const ZERO: Decimal = 0n
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/

/** Undefined: that is no number, or one with more decimals than there are. */
export function parse(text: string): Decimal | undefined {
  const match = FORM.exec(text.trim())
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  if (whole === '' && fraction === '') return undefined
  const shift = PLACES - fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  if (shift < 0) {
    const cut = 10n ** BigInt(-shift)
    if (digits % cut !== 0n) return undefined
    return sign === '-' ? -(digits / cut) : digits / cut
  }
  const value = digits * 10n ** BigInt(shift)
  return sign === '-' ? -value : value
}
/** Of texts that the platform sent; rubbish is zero. */
export const dec = (text: string | undefined | null): Decimal =>
  text === undefined || text === null ? ZERO : (parse(text) ?? ZERO)

export function text(value: Decimal): string {
  const negative = value < 0n
  const digits = (negative ? -value : value).toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  const whole = digits.slice(0, -PLACES)
  return (negative ? '-' : '') + (fraction === '' ? whole : `${whole}.${fraction}`)
}
export const mul = (a: Decimal, b: Decimal): Decimal => (a * b) / ONE
/** Towards zero; by nothing gives nothing. */
export const div = (a: Decimal, b: Decimal): Decimal => (b === 0n ? 0n : (a * ONE) / b)
export const min = (a: Decimal, b: Decimal): Decimal => (a < b ? a : b)
export const max = (a: Decimal, b: Decimal): Decimal => (a > b ? a : b)
export const abs = (a: Decimal): Decimal => (a < 0n ? -a : a)
export const sum = (list: Iterable<Decimal>): Decimal => {
  let total = 0n
  for (const one of list) total += one
  return total
}
/** To so many decimals, towards minus infinity. */
export function floor(value: Decimal, places: number): Decimal {
  const step = 10n ** BigInt(PLACES - places)
  const rest = value % step
  return rest === 0n ? value : value - (rest < 0n ? rest + step : rest)
}
export function ceil(value: Decimal, places: number): Decimal {
  return -floor(-value, places)
}
/** How many decimals it is written with. */
export const placesOf = (value: Decimal): number => (text(value).split('.')[1] ?? '').length
/** One unit of the last of so many places. */
export const unit = (places: number): Decimal => 10n ** BigInt(PLACES - places)
/** For drawing alone: widths of bars, points of a chart. */
export const approximate = (value: Decimal | string | undefined): number =>
  value === undefined ? NaN : Number(typeof value === 'string' ? value : text(value))

const THIN = '\u2009'
const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+(?!\d))/g, THIN)

export interface Shown {
  readonly sign: '' | '+' | '−'
  readonly whole: string
  /** Without its point; empty: there is none. */
  readonly fraction: string
  /** Digits were left away. */
  readonly cut: boolean
}
/** As it stands on the screen: at most so many decimals, cut and never rounded up; zeros at the end go unless `fixed`. */
export function show(
  value: string | Decimal,
  { places, fixed = false, signed = false }: { places?: number; fixed?: boolean; signed?: boolean } = {},
): Shown {
  const exact = typeof value === 'string' ? (parse(value) ?? ZERO) : value
  const negative = exact < 0n
  const [whole = '0', all = ''] = text(abs(exact)).split('.')
  const kept = places === undefined ? all : all.slice(0, places)
  const fraction = fixed && places !== undefined ? kept.padEnd(places, '0') : kept.replace(/0+$/, '')
  return {
    sign: negative ? '−' : signed && exact > 0n ? '+' : '',
    whole: grouped(whole),
    fraction,
    cut: all.length > kept.length,
  }
}
export function display(value: string | Decimal, options: Parameters<typeof show>[1] = {}): string {
  const { sign, whole, fraction } = show(value, options)
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
}
/** A share as per cent: 0.0132 is 1.32. */
export const percent = (share: Decimal | string, places = 2): string =>
  `${display((typeof share === 'string' ? dec(share) : share) * 100n, { places, fixed: true })}\u202f%`
