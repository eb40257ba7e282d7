import type { Account } from '../../../src/core/ledger/ledger.ts'
import type { DueItem } from '../../../src/core/tables/due.ts'
import type { DebtTold, OrderTold, StepTold } from './debts.ts'
import type { Applied } from './overheard.ts'
import { CURRENCIES } from './unified-model.ts'

const INSURANCE = 'insurance'
/** Markets that collateral is sold in, and no model follows. */
const OTHERS = ['ETH_USDT', 'SOL_USDT', 'ETH_BTC']
export interface Looked {
  readonly user_id: number
}
/** What was overheard of a command about unified accounts in debt, for all of them. */
export interface Told extends Omit<DebtTold, 'steps' | 'next'> {
  readonly item: DueItem | undefined
  readonly steps: readonly (StepTold & Looked)[]
  readonly nexts: ReadonlyMap<number, { readonly at: number; readonly tries: number }>
  readonly rates: ReadonlyMap<string, bigint>
}
/** As far as it is about one of them. */
export function toldOf(told: Told, user: number): DebtTold {
  const { at, price, best, orders, fund } = told
  const steps = told.steps.filter(({ user_id }) => user_id === user)
  return { at, price, best, orders, fund, steps, next: told.nexts.get(user) }
}

/** Undefined: nothing of theirs. */
export function overhearDebts(
  { state, tx, at, input }: Applied,
  isOurs: (user: unknown) => boolean,
): Told | undefined {
  const touched =
    typeof input['id'] === 'number'
      ? tx.touched.find(({ table, key }) => table.spec.name === 'due' && key === input['id'])
      : undefined
  const item = touched?.before as DueItem | undefined
  const { command, input: given = input } = item ?? {}
  const accounts = given['accounts'] as readonly Looked[] | undefined
  const about =
    command === 'lending.hour' ||
    ((command === 'margin.liquidate' || command === 'margin.recheck') &&
      given['scope'] === 'unified' &&
      isOurs(given['user_id'])) ||
    (Array.isArray(accounts) && accounts.some(({ user_id }) => isOurs(user_id)))
  if (!about) return undefined
  const steps: (StepTold & Looked)[] = []
  const rates = new Map<string, bigint>()
  for (const [i, row] of tx.appended.entries()) {
    if (tx.logs[i]!.name === 'liquidation_step') steps.push(row as StepTold & Looked)
    if (tx.logs[i]!.name !== 'loan_rate') continue
    const { currency, rate } = row as unknown as { currency: string; rate: bigint }
    rates.set(currency, rate)
  }
  const orders = new Map<number, OrderTold>()
  for (const { step, detail } of steps)
    if (step === 'sold') {
      const id = detail['order_id'] as number
      const { pair, side, amount: size, filled, filled_total, fee } = state.spot.orders.get(id)!
      orders.set(id, { pair, side, amount: size, filled, filled_total, fee })
    }
  const nexts = new Map<number, { at: number; tries: number }>()
  const before = new Map<string, bigint>()
  const seen = new Set<string>()
  const after = new Map<string, bigint>()
  const prices = new Map<string, bigint>()
  for (const currency of CURRENCIES) {
    prices.set(currency, state.prices.of(currency))
    after.set(currency, state.ledger.balance(0, INSURANCE, currency))
    before.set(currency, after.get(currency)!)
  }
  for (const { table, key, before: was } of tx.touched) {
    if (table.spec.name === 'due' && was === undefined) {
      const row = state.due.table.get(key)
      if (row?.command === 'margin.liquidate')
        nexts.set(row.input['user_id'] as number, { at: row.at, tries: row.input['tries'] as number })
    } else if (table === (state.ledger.accounts as unknown)) {
      const { owner, name, currency } = state.ledger.accounts.get(key)!
      if (owner !== 0 || name !== INSURANCE || seen.has(currency)) continue
      seen.add(currency)
      before.set(currency, (was as Account | undefined)?.amount ?? 0n)
    }
  }
  const price = (currency: string): bigint => prices.get(currency)!
  const best = new Map<string, bigint>()
  for (const pair of OTHERS)
    for (const side of ['buy', 'sell'] as const) {
      const { halted, config } = state.world.market(pair)
      const first = state.spot.book(pair).facing(side)?.price
      if (first !== undefined && !halted && config.trade_status === 'tradable')
        best.set(`${side} ${pair}`, first)
    }
  return { at, item, steps, orders, nexts, rates, price, best, fund: { before, after } }
}
