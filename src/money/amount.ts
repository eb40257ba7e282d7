/**
 * Money is a branded bigint at one global scale of 18 decimals: exact, and an amount can't be mixed up with a
 * price. Text is parsed once, at the edge. The direction of a rounding is part of a function's name.
 */
declare const unit: unique symbol
type Fixed<Unit extends string> = bigint & { readonly [unit]: Unit }

/** A quantity of one currency in units of 10^-18, signed. */
export type Amount = Fixed<'amount'>
/** Quote units for one base unit, at the same scale. */
export type Price = Fixed<'price'>
/** A dimensionless ratio (fee rate, margin rate), at the same scale. */
export type Rate = Fixed<'rate'>

export const DECIMALS = 18
/** One unit, whatever of. */
export const ONE = 10n ** 18n
export const ONE_PRICE = ONE as Price
export const ONE_RATE = ONE as Rate
export const ZERO = 0n as Amount

/** Digits before the point that are accepted: 10^20 units is beyond any supply, and bounds the bigint. */
const WHOLE_MAX = 20
/** Digits that a plain number holds exactly, so that they become a bigint at once. */
const NUMBER_DIGITS = 15

/** `wholeMax` is Infinity for sums of accepted amounts, which must be read back all the same. */
function parseFixed(text: string, wholeMax = WHOLE_MAX): bigint | undefined {
  const { length } = text
  let point = -1
  let digits = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code === POINT && point === -1) point = i
    else if (code >= DIGIT_0 && code <= DIGIT_0 + 9) digits = digits * 10 + code - DIGIT_0
    else return undefined
  }
  const whole = point === -1 ? length : point
  const decimals = point === -1 ? 0 : length - point - 1
  if (whole === 0 || whole > wholeMax || decimals > DECIMALS || (point !== -1 && decimals === 0))
    return undefined
  if (whole + decimals <= NUMBER_DIGITS) return BigInt(digits) * UNITS[decimals]!
  return BigInt(text.slice(0, whole) + text.slice(whole + 1)) * UNITS[decimals]!
}
const POINT = 46
const DIGIT_0 = 48
const UNITS = Array.from({ length: DECIMALS + 1 }, (_, decimals) => 10n ** BigInt(DECIMALS - decimals))
/** The least step of an amount that has so many decimals, 18 at most. */
export function stepOf(decimals: number): bigint {
  const step = UNITS[decimals]
  if (step === undefined) throw new TypeError(`no amount has ${decimals} decimals`)
  return step
}

/** Reads an unsigned decimal; undefined when it is not one (sign, exponent, over 18 decimals …). */
export const parseAmount = (text: string): Amount | undefined => parseFixed(text) as Amount | undefined
export const parsePrice = (text: string): Price | undefined => parseFixed(text) as Price | undefined
export const parseRate = (text: string): Rate | undefined => parseFixed(text) as Rate | undefined

/** For texts that our own code or checked configuration wrote; may carry a minus sign. */
export function amountOf(text: string): Amount {
  const negative = text.startsWith('-')
  const value = parseFixed(negative ? text.slice(1) : text, Infinity)
  if (value === undefined) throw new TypeError(`not a decimal: ${text}`)
  return (negative ? -value : value) as Amount
}
export const priceOf = (text: string): Price => amountOf(text) as bigint as Price
export const rateOf = (text: string): Rate => amountOf(text) as bigint as Rate

/** What stands before the first digit that is not zero, by how many zeros follow the point. */
const LEADS = Array.from({ length: DECIMALS + 1 }, (_, zeros) => `0.${'0'.repeat(zeros)}`)

/** Canonical: no exponent, no trailing zeros, no point without decimals. Every row of every batch goes through it. */
export function format(value: Amount | Price | Rate): string {
  if (value === 0n) return '0'
  if (value < 0n) return `-${format(-value as Amount)}`
  const digits = value.toString()
  let end = digits.length
  const point = end - DECIMALS
  while (end > point && digits.charCodeAt(end - 1) === DIGIT_0) end--
  if (point <= 0) return LEADS[-point]! + digits.slice(0, end)
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
}

/** The same amount as replies write it, whoever wrote it how. */
export const canonical = (text: string): string => format(amountOf(text))

export function decimalsOf(value: Amount | Price | Rate): number {
  const text = format(value)
  const point = text.indexOf('.')
  return point === -1 ? 0 : text.length - point - 1
}

export const add = (a: Amount, b: Amount): Amount => (a + b) as Amount
export const subtract = (a: Amount, b: Amount): Amount => (a - b) as Amount
export const negate = (a: Amount): Amount => -a as Amount
export const min = (a: Amount, b: Amount): Amount => (a < b ? a : b)
export const max = (a: Amount, b: Amount): Amount => (a > b ? a : b)

/** base x price, or amount x rate, rounded towards zero at 18 decimals. Both factors not negative. */
export const timesDown = (amount: Amount, factor: Price | Rate): Amount => ((amount * factor) / ONE) as Amount
/** The same, rounded away from zero. */
export const timesUp = (amount: Amount, factor: Price | Rate): Amount =>
  ((amount * factor + ONE - 1n) / ONE) as Amount
/** amount / price, rounded towards zero. */
export const overDown = (amount: Amount, price: Price | Rate): Amount => ((amount * ONE) / price) as Amount
/** amount / price, rounded away from zero. */
export const overUp = (amount: Amount, price: Price | Rate): Amount =>
  ((amount * ONE + price - 1n) / price) as Amount

/** The smallest amount at a precision: unitOf(8) is 0.00000001. */
export const unitOf = (decimals: number): Amount => UNITS[decimals]! as Amount
/** Cuts to a precision, towards zero. */
export const roundDown = (amount: Amount, decimals: number): Amount =>
  (amount - (amount % UNITS[decimals]!)) as Amount
/** Lifts to a precision, away from zero, for amounts that are not negative. */
export function roundUp(amount: Amount, decimals: number): Amount {
  const rest = amount % UNITS[decimals]!
  return (rest === 0n ? amount : amount - rest + UNITS[decimals]!) as Amount
}
