import { refuse } from '../../labels.ts'
import { untilMicros } from '../fields.ts'

const DAY_SECONDS = 86_400

export interface Span {
  /** Microseconds, both inclusive. */
  readonly from: number
  readonly to: number
}
/**
 * The span of time that a history call asks for. What is left out is filled in, and the reply's headers say
 * what was applied.
 */
export function timeSpan(
  call: {
    readonly desk: { readonly clock: { peek(): number } }
    set(name: string, value: string | number): void
  },
  query: { readonly from: number | null; readonly to: number | null },
  days: { readonly usual: number; readonly most: number },
): Span {
  const now = call.desk.clock.peek() / 1e6
  const usual = days.usual * DAY_SECONDS
  const to = query.to ?? (query.from === null ? now : Math.max(query.from, Math.min(now, query.from + usual)))
  // Where the beginning is ours, an end that lies in the future makes it no later, and the span no longer.
  const from = query.from ?? Math.min(now, to) - usual
  if (from > to) refuse('INVALID_PARAM_VALUE', `from: ${from} is after to, ${to}`)
  if (query.from !== null && to - from > days.most * DAY_SECONDS)
    refuse('INVALID_PARAM_VALUE', `from, to: the span is more than ${days.most} days; ask for less at a time`)
  call.set('X-Applied-From', Math.floor(from))
  call.set('X-Applied-To', Math.floor(to))
  return { from: Math.floor(from * 1e6), to: untilMicros(to) }
}

const SKIP_MAX = 100_000
/** Rows to skip for a page; a list is not paged through for ever. */
export function skipped(page: number, limit: number): number {
  const skip = (page - 1) * limit
  if (skip > SKIP_MAX)
    refuse(
      'INVALID_PARAM_VALUE',
      `page: limit x (page - 1) is ${skip}; at most ${SKIP_MAX}. Narrow the time range instead`,
    )
  return skip
}
