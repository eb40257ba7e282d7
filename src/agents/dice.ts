import { unitOf, type Amount } from '../money/amount.ts'

/** A seeded generator whose state is a plain number, so that a row can keep it. */
export class Dice {
  state: number
  constructor(state: number) {
    this.state = state >>> 0
  }
  /** From 0 up to, but not, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** Bell-shaped around 0, of deviation 1 (sum of uniforms). */
  bell(): number {
    return (this.next() + this.next() + this.next() + this.next() - 2) * Math.sqrt(3)
  }
}

/** An opinion becomes an exact figure of so many decimals: what an order needs. */
export const exact = (opinion: number, decimals: number): Amount =>
  (BigInt(Math.round(opinion * 10 ** decimals)) * unitOf(decimals)) as Amount

const DIGITS = 15
const DECIMALS_MAX = 18
/** An opinion as the core keeps it: a decimal text of so many digits. The next look goes on from the text. */
export function opinionText(opinion: number): string {
  const magnitude = opinion === 0 ? 0 : Math.floor(Math.log10(Math.abs(opinion)))
  const text = opinion.toFixed(Math.min(DECIMALS_MAX, Math.max(0, DIGITS - 1 - magnitude)))
  const short = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return short === '-0' ? '0' : short
}

/** Currencies that keep to one dollar wander much less. */
const PEGGED = new Set(['USDT', 'USDC'])
/** Deviation of one day's change. */
export function dayVolatility(base: string, quote: string): number {
  if (PEGGED.has(base) && PEGGED.has(quote)) return 0.0006
  return base === 'BTC' ? 0.022 : quote === 'BTC' ? 0.02 : 0.035
}
export function hashText(text: string): number {
  let hash = 2_166_136_261
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619) >>> 0
  return hash
}
