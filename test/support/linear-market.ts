import type { Model, Operation } from './linear.ts'

/**
 * One market as a single sequential service: limit orders with a text each, matched by price and then by time. What an
 * order's reply says is left of it shows which orders were before it, so a history tells whether the order was kept.
 */
export type MarketInput =
  | {
      readonly kind: 'place'
      readonly text: string
      readonly side: 'buy' | 'sell'
      readonly price: number
      readonly amount: number
    }
  | { readonly kind: 'cancel'; readonly text: string }
  | { readonly kind: 'find'; readonly text: string }
export type MarketOutput =
  { readonly is: 'open' | 'closed' | 'cancelled'; readonly left: number } | { readonly is: 'none' }
export type MarketOperation = Operation<MarketInput, MarketOutput>

interface Resting {
  readonly text: string
  readonly price: number
  readonly left: number
}
interface MarketState {
  /** Best first, and of one price the oldest. */
  readonly buy: readonly Resting[]
  readonly sell: readonly Resting[]
  /** What was left of cancelled ones. Every other one that was placed and is not open has been filled. */
  readonly cancelled: ReadonlyMap<string, number>
  readonly placed: ReadonlySet<string>
}

export const marketModel: Model<MarketState, MarketInput, MarketOutput> = {
  init: () => ({ buy: [], sell: [], cancelled: new Map(), placed: new Set() }),
  step: (state, input, output) => {
    switch (input.kind) {
      case 'place': {
        const after = place(state, input)
        return output === undefined || alike(output, found(after, input.text)) ? after : undefined
      }
      case 'cancel': {
        const before = found(state, input.text)
        if (before.is !== 'open') return output?.is === 'none' ? state : undefined
        if (output !== undefined && !alike(output, { is: 'cancelled', left: before.left })) return undefined
        const without = (list: readonly Resting[]): Resting[] =>
          list.filter(({ text }) => text !== input.text)
        return {
          ...state,
          buy: without(state.buy),
          sell: without(state.sell),
          cancelled: new Map([...state.cancelled, [input.text, before.left]]),
        }
      }
      case 'find':
        return output === undefined || alike(output, found(state, input.text)) ? state : undefined
    }
  },
  key: ({ buy, sell, cancelled }) =>
    [...buy, { text: '|', left: 0 }, ...sell].map(({ text, left }) => `${text}:${left}`).join() +
    [...cancelled]
      .map(([text, left]) => `${text}=${left}`)
      .sort()
      .join(),
}

function place(state: MarketState, order: MarketInput & { kind: 'place' }): MarketState {
  const sign = order.side === 'buy' ? 1 : -1
  const against: Resting[] = []
  let { amount: left } = order
  for (const resting of order.side === 'buy' ? state.sell : state.buy) {
    const taken = (order.price - resting.price) * sign >= 0 ? Math.min(left, resting.left) : 0
    left -= taken
    if (taken < resting.left) against.push({ ...resting, left: resting.left - taken })
  }
  const own = order.side === 'buy' ? state.buy : state.sell
  const behind = own.findIndex(({ price }) => (order.price - price) * sign > 0)
  const at = behind === -1 ? own.length : behind
  const with_ =
    left === 0 ? own : [...own.slice(0, at), { text: order.text, price: order.price, left }, ...own.slice(at)]
  const placed = new Set(state.placed).add(order.text)
  return order.side === 'buy'
    ? { ...state, placed, buy: with_, sell: against }
    : { ...state, placed, buy: against, sell: with_ }
}
function found(state: MarketState, text: string): MarketOutput {
  if (!state.placed.has(text)) return { is: 'none' }
  const cancelled = state.cancelled.get(text)
  if (cancelled !== undefined) return { is: 'cancelled', left: cancelled }
  const open = [...state.buy, ...state.sell].find((resting) => resting.text === text)
  return open === undefined ? { is: 'closed', left: 0 } : { is: 'open', left: open.left }
}
const alike = (a: MarketOutput, b: MarketOutput): boolean =>
  a.is === b.is && (a.is === 'none' || a.left === (b as { left: number }).left)

/** An order or a cancel without an answer that a later look shows to have happened, happened before that look's answer. */
export function settledMarket(history: readonly MarketOperation[]): MarketOperation[] {
  const seen = new Map<string, number>()
  /** Those that are spoken for. */
  const cancels = new Set<string>()
  for (const { input, output, ret } of history) {
    if (output === undefined || output.is === 'none') continue
    const note = (key: string): void => void seen.set(key, Math.min(seen.get(key) ?? Infinity, ret))
    note(`place ${input.text}`)
    if (output.is === 'cancelled') note(`cancel ${input.text}`)
    if (input.kind === 'cancel') cancels.add(input.text)
  }
  return history.flatMap((operation) => {
    const { input, output } = operation
    if (output !== undefined) return [operation]
    // Beside one that did it, or another that may have, a cancel that nobody answered changes nothing.
    if (input.kind === 'find' || (input.kind === 'cancel' && cancels.has(input.text))) return []
    if (input.kind === 'cancel') cancels.add(input.text)
    return [{ ...operation, ret: seen.get(`${input.kind} ${input.text}`) ?? Infinity }]
  })
}
