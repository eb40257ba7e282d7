import { amountOf, format, type Amount } from '../../money/amount.ts'
import type { BasisStep } from '../tables/futures/prices.ts'

/** Seconds whose samples are averaged. */
export const SAMPLES = 30

/**
 * One sample a second of how far the middle of the book is from the index: what it is at the full second. Only changes
 * are kept, so that a second in which nothing happens costs nothing; before the first they are 0.
 */
export function basisAt(steps: readonly BasisStep[], second: number): bigint {
  let sum = 0n
  for (const [i, [from, basis]] of steps.entries()) {
    const first = Math.max(from, second - SAMPLES + 1)
    const last = Math.min((steps[i + 1]?.[0] ?? Infinity) - 1, second)
    if (last >= first) sum += BigInt(last - first + 1) * amountOf(basis)
  }
  return sum / BigInt(SAMPLES)
}
/** The last step that counts in a second; undefined: none does. */
export function stepAt(steps: readonly BasisStep[], second: number): BasisStep | undefined {
  for (let i = steps.length - 1; i >= 0; i--) if (steps[i]![0] <= second) return steps[i]
  return undefined
}
/** In this second it has become another: the next sample is the first that tells. */
export function withStep(steps: readonly BasisStep[], second: number, basis: bigint): readonly BasisStep[] {
  const text = format(basis as Amount)
  const from = second + 1
  if ((steps.at(-1)?.[1] ?? '0') === text) return steps
  const kept: BasisStep[] = []
  for (let i = 0; i < steps.length; i++) {
    const next = steps[i + 1]
    if (steps[i]![0] !== from && (next === undefined || next[0] > second - SAMPLES + 1)) kept.push(steps[i]!)
  }
  if ((kept.at(-1)?.[1] ?? '0') !== text) kept.push([from, text])
  return kept
}
