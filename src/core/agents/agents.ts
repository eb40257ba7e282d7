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
