import { ONE, parseRate, type Price } from '../../money/amount.ts'

/** How far behind the extreme a trailing order follows: by a part of it, or by a distance. */
export interface Offset {
  readonly kind: 'ratio' | 'distance'
  readonly by: bigint
}

/** Where a trailing order fires: a buy above the lowest price, a sell below the highest. Not on a tick yet. */
export function trailPrice(buys: boolean, extreme: Price, { kind, by }: Offset): Price {
  if (kind === 'distance') return (buys ? extreme + by : extreme - by) as Price
  return (buys ? (extreme * (ONE + by)) / ONE : (extreme * (ONE - by) + ONE - 1n) / ONE) as Price
}
/** Down to the tick for a buy, up to it for a sell: towards what it follows. */
export function trailTrigger(buys: boolean, price: Price, tick: Price): Price {
  const beyond = price % tick
  if (beyond === 0n) return price
  // The remainder of a price below zero is below zero.
  const down = price - (beyond < 0n ? beyond + tick : beyond)
  return (buys ? down : down + tick) as Price
}

const OFFSET = /^(\d{1,15}(?:\.\d{1,18})?)(%?)$/
/** "0.1" is a distance, "0.1%" a part of the price, below all of it; undefined: neither. */
export function readOffset(text: string): Offset | undefined {
  const found = OFFSET.exec(text)
  const by = found === null ? undefined : parseRate(found[1]!)
  if (by === undefined || by === 0n) return undefined
  if (found![2] === '') return { kind: 'distance', by }
  const ratio = by / 100n
  return ratio > 0n && ratio < ONE ? { kind: 'ratio', by: ratio } : undefined
}
