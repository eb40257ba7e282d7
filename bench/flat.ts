import { median } from './load-generator.ts'

/** Fewer figures than this tell nothing. */
const LEAST = 9

export interface Flatness {
  readonly flat: boolean | undefined
  readonly text: string
}
/**
 * Whether a figure stays where it is: the median of the last third of its course against that of the second (the first is
 * the warming up). `slack` is what it may differ by in any case: a lag of nothing may become a lag of a few.
 */
export function flatness(
  course: readonly number[],
  { share = 0.1, slack }: { readonly share?: number; readonly slack: number },
): Flatness {
  if (course.length < LEAST) return { flat: undefined, text: `too few figures to tell (${course.length})` }
  const third = Math.floor(course.length / 3)
  const before = median(course.slice(-2 * third, -third))
  const last = median(course.slice(-third))
  const flat = last <= before * (1 + share) + slack
  const shown = `${before.toFixed(1)} in the second third, ${last.toFixed(1)} in the last`
  return { flat, text: `${flat ? 'flat' : 'NOT FLAT'}: ${shown}` }
}
