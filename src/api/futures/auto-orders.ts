import type { State } from '../../core/state.ts'
import { isCross, leverageOf } from '../../core/futures/figures.ts'
import { positionOf } from '../../core/futures/positions.ts'
import { modeOf } from '../../core/futures/venue.ts'
import type { Side } from '../../core/tables/exchange/order.ts'
import type { Contract } from '../../core/tables/world/contracts.ts'
import { refuse } from '../../labels.ts'
import { canonical, format } from '../../money/amount.ts'
import {
  flag,
  id,
  integer,
  oneOfNumbers,
  optional,
  text,
  time,
  untilMicros,
  withDefault,
  type Field,
} from '../fields.ts'
import { refuseBackwards, type Filter } from './lists.ts'
import { contractField } from './paths.ts'

/** What the calls of trailing and of chasing orders have in common. */

const PAGES_MAX = 1_000
export const pageFields = {
  page_num: withDefault(integer(1, PAGES_MAX), 1),
  page_size: withDefault(integer(1, 100), 20),
}
/** All that can be said of a query for a list by itself. */
export function checkSpan({ start_at, end_at }: Pick<AutoFilter, 'start_at' | 'end_at'>): void {
  refuseBackwards(start_at, end_at, ['start_at', 'end_at'])
}
export const pageOf = ({ page_num, page_size }: { page_num: number; page_size: number }) => ({
  limit: page_size,
  offset: (page_num - 1) * page_size,
})
export const autoListFields = {
  contract: optional(contractField),
  is_finished: withDefault(flag(), false),
  start_at: optional(time()),
  end_at: optional(time()),
  ...pageFields,
  hide_cancel: withDefault(flag(), false),
  // 0 is what some clients send for "both".
  reduce_only: optional(oneOfNumbers(0, 1, 2)),
  side: optional(oneOfNumbers(0, 1, 2)),
}
export interface AutoFilter {
  readonly is_finished: boolean
  readonly start_at: number | null
  readonly end_at: number | null
  readonly hide_cancel: boolean
  readonly reduce_only: 0 | 1 | 2 | null
  readonly side: 0 | 1 | 2 | null
}
interface AutoOrder {
  readonly side: Side
  readonly reduce_only: boolean
  readonly created_at: number
}
const sideOf = (side: AutoFilter['side']): Side | null => (side === 1 ? 'buy' : side === 2 ? 'sell' : null)
/** Of those in memory, which have not ended. */
export function isMeant(order: AutoOrder, filter: AutoFilter): boolean {
  const side = sideOf(filter.side)
  return (
    (side === null || order.side === side) &&
    (!filter.reduce_only || order.reduce_only === (filter.reduce_only === 1)) &&
    (filter.start_at === null || order.created_at >= filter.start_at * 1e6) &&
    (filter.end_at === null || order.created_at <= untilMicros(filter.end_at))
  )
}
/** Of those in the store, which have. `column` is the time that is asked for. */
export function storedAuto(where: Filter, filter: AutoFilter, column: string): Filter {
  where.and(`"status" not in ('pending', 'active')`).and('"side" = ?', sideOf(filter.side))
  if (filter.hide_cancel) where.and(`"status" <> 'cancelled'`)
  if (filter.reduce_only) where.and(filter.reduce_only === 1 ? '"reduce_only"' : 'not "reduce_only"')
  return where.between(column, { from: filter.start_at, to: filter.end_at })
}

/** By id, or by the text that the client gave it. */
export const NAMED = { id: optional(id()), text: optional(text({ max: 64 })) }
/** Ids that some clients send as digits in a string. */
export function digitsId(): Field<number> {
  const inner = id()
  return {
    ...inner,
    read: (value, name) =>
      inner.read(typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value, name),
  }
}
/** A distance, or with % a part of a price; which of them is asked for is the rules' to say. */
export function offsetField(): Field<string> {
  const inner = text({ max: 40, example: '0.5%' })
  return {
    ...inner,
    read: (value, name) => {
      const read = inner.read(value, name)
      return TOO_FINE.test(read)
        ? refuse('INVALID_PRECISION', `${name}: "${read}" has more than 18 decimals`)
        : read
    },
  }
}
/** As replies write it, whoever wrote it how; '': none. */
export function shownOffset(text: string): string {
  if (text === '') return ''
  return text.endsWith('%') ? `${canonical(text.slice(0, -1))}%` : canonical(text)
}
const TOO_FINE = /^\d+\.\d{19,}%?$/

export const STATUS_CODES = { pending: 1, active: 2, success: 4, cancelled: 5, failed: 6 } as const
/** Of the position that it is about, as it is now. */
export function positionWords(
  state: State,
  contract: Contract | undefined,
  order: { readonly user_id: number; readonly side: Side; readonly reduce_only: boolean },
): { readonly margin: string; readonly leverage: string } {
  if (contract === undefined) return { margin: '', leverage: '' }
  const { user_id, side, reduce_only } = order
  const more = reduce_only ? { reduce_only } : null
  const mode = modeOf(state, { user_id, side, more }, contract.account)
  const position = positionOf(state, user_id, contract, mode)
  const leverage = format(leverageOf(position, contract))
  return { margin: isCross(position) ? 'cross' : 'isolated', leverage }
}
export const sideWords = (side: Side, reduceOnly: boolean): string =>
  side === 'buy' ? (reduceOnly ? 'close short' : 'open long') : reduceOnly ? 'close long' : 'open short'
/** Seconds, a dot, six digits; '': not yet. */
export function precise(micros: number): string {
  if (micros === 0) return ''
  return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`
}
