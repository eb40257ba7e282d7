/** Money, prices and rates are whole numbers of 10^-18; what is divided is rounded where the specification says so. */
export const E = 10n ** 18n

export const floorDiv = (a: bigint, b: bigint): bigint => {
  const whole = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? whole - 1n : whole
}
export const ceilDiv = (a: bigint, b: bigint): bigint => -floorDiv(-a, b)
export const abs = (a: bigint): bigint => (a < 0n ? -a : a)
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
export const clamp = (a: bigint, low: bigint, high: bigint): bigint => max(low, min(high, a))
export const floorTo = (a: bigint, step: bigint): bigint => floorDiv(a, step) * step
export const ceilTo = (a: bigint, step: bigint): bigint => ceilDiv(a, step) * step
/** Half away from zero. */
export const halfTo = (a: bigint, step: bigint): bigint =>
  (a < 0n ? -1n : 1n) * floorDiv(2n * abs(a) + step, 2n * step) * step
export const median = (a: bigint, b: bigint, c: bigint): bigint =>
  [a, b, c].sort((x, y) => (x < y ? -1 : x > y ? 1 : 0))[1]!

/** A decimal text. */
export function dec(text: string): bigint {
  const [, sign, whole, rest = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!
  const value = BigInt(whole!) * E + BigInt(rest.padEnd(18, '0'))
  return sign === '-' ? -value : value
}

/** Over and under, under above 0. */
export interface Fraction {
  readonly over: bigint
  readonly under: bigint
}
export const less = (a: Fraction, b: Fraction): boolean => a.over * b.under < b.over * a.under
