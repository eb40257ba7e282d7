import type { Model, Operation } from './linear.ts'

/**
 * One family of accounts in one currency, as a single sequential service: transfers, withdrawals and resting orders with
 * ids of the client's choice, which take effect once; balance reads. Whatever takes money away from an account is a
 * `move`: to another account, or out (a withdrawal, or an order's locked money, which a cancel brings back).
 */
export type LedgerInput =
  | {
      readonly kind: 'move'
      readonly id: string
      readonly from: string
      readonly to: string | undefined
      readonly amount: bigint
    }
  | { readonly kind: 'cancel'; readonly id: string }
  | { readonly kind: 'find'; readonly id: string }
  | { readonly kind: 'read'; readonly account: string }
export type LedgerOutput =
  /** Of a move or a cancel: done; the id is used; not enough money; nothing there to cancel. */
  | { readonly is: 'ok' | 'duplicate' | 'short' | 'gone' }
  /** Of a find. */
  | { readonly is: 'none' | 'there' | 'cancelled' }
  | { readonly is: 'amount'; readonly amount: bigint }
export type LedgerOperation = Operation<LedgerInput, LedgerOutput>

interface LedgerState {
  readonly amounts: readonly bigint[]
  /** Bits by id: moves that happened, and those that were cancelled. */
  readonly used: bigint
  readonly cancelled: bigint
}

export function ledgerModel(
  initial: Readonly<Record<string, bigint>>,
  history: readonly LedgerOperation[],
): Model<LedgerState, LedgerInput, LedgerOutput> {
  const places = new Map(Object.keys(initial).map((account, place) => [account, place]))
  const moves = new Map<string, { readonly bit: bigint; readonly move: LedgerInput & { kind: 'move' } }>()
  for (const { input } of history)
    if (input.kind === 'move' && !moves.has(input.id))
      moves.set(input.id, { bit: 1n << BigInt(moves.size), move: input })
  const place = (account: string): number => {
    const found = places.get(account)
    if (found === undefined) throw new TypeError(`no account ${account} in this family`)
    return found
  }
  const added = (state: LedgerState, account: string, amount: bigint): bigint[] =>
    state.amounts.map((was, at) => (at === place(account) ? was + amount : was))
  const move = (
    state: LedgerState,
    input: LedgerInput & { kind: 'move' },
  ): LedgerState | 'duplicate' | 'short' => {
    const { bit } = moves.get(input.id)!
    if ((state.used & bit) !== 0n) return 'duplicate'
    if (state.amounts[place(input.from)]! < input.amount) return 'short'
    const less = { ...state, amounts: added(state, input.from, -input.amount), used: state.used | bit }
    return input.to === undefined ? less : { ...less, amounts: added(less, input.to, input.amount) }
  }
  const cancel = (state: LedgerState, id: string): LedgerState | 'gone' => {
    const known = moves.get(id)
    if (known === undefined || (state.used & known.bit) === 0n || (state.cancelled & known.bit) !== 0n)
      return 'gone'
    return {
      ...state,
      amounts: added(state, known.move.from, known.move.amount),
      cancelled: state.cancelled | known.bit,
    }
  }
  const find = (state: LedgerState, id: string): LedgerOutput['is'] => {
    const known = moves.get(id)
    if (known === undefined || (state.used & known.bit) === 0n) return 'none'
    return (state.cancelled & known.bit) === 0n ? 'there' : 'cancelled'
  }
  return {
    init: () => ({ amounts: Object.values(initial), used: 0n, cancelled: 0n }),
    step: (state, input, output) => {
      switch (input.kind) {
        case 'move':
        case 'cancel': {
          const after = input.kind === 'move' ? move(state, input) : cancel(state, input.id)
          if (typeof after === 'string') return output?.is === after ? state : undefined
          return output === undefined || output.is === 'ok' ? after : undefined
        }
        case 'find':
          return output === undefined || output.is === find(state, input.id) ? state : undefined
        case 'read':
          if (output === undefined) return state
          return output.is === 'amount' && output.amount === state.amounts[place(input.account)]
            ? state
            : undefined
      }
    },
    key: ({ amounts, used, cancelled }) => `${amounts.join()} ${used.toString(16)} ${cancelled.toString(16)}`,
  }
}

/**
 * What is known of attempts without an answer. A client tries again under the same id, so of all attempts at one thing
 * at most one takes effect, and the search need not tell them apart: one that was answered "ok" is the one; where
 * another attempt was told "duplicate" (or "gone"), it happened before that answer; else they are one attempt that began with
 * the first. Reads without an answer say nothing.
 */
export function settled(history: readonly LedgerOperation[]): LedgerOperation[] {
  const kept: LedgerOperation[] = []
  const unanswered = new Map<string, LedgerOperation[]>()
  for (const operation of history) {
    const { input, output } = operation
    if (output !== undefined) kept.push(operation)
    else if (input.kind === 'move' || input.kind === 'cancel') {
      const key = `${input.kind} ${input.id}`
      unanswered.set(key, [...(unanswered.get(key) ?? []), operation])
    }
  }
  for (const [key, attempts] of unanswered) {
    const answered = kept.filter(({ input }) => 'id' in input && `${input.kind} ${input.id}` === key)
    if (answered.some(({ output }) => output!.is === 'ok')) continue
    const [first] = attempts.sort((a, b) => a.call - b.call) as [LedgerOperation]
    const known = answered
      .filter(({ output }) => output!.is === 'duplicate' || (output!.is === 'gone' && placed(kept, key)))
      .map(({ ret }) => ret)
    kept.push({ ...first, ret: Math.min(Infinity, ...known) })
  }
  return kept
}
/** "Gone" says that it was cancelled only where it is known to have been there. */
const placed = (kept: readonly LedgerOperation[], key: string): boolean =>
  kept.some(
    ({ input, output }) => input.kind === 'move' && `cancel ${input.id}` === key && output!.is === 'ok',
  )
