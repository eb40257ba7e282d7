import { nearIndex, needsOf } from '../../../src/core/futures/figures.ts'
import type { Counter } from '../../../src/core/counters.ts'
import type { Account } from '../../../src/core/ledger/ledger.ts'
import type { State } from '../../../src/core/state.ts'
import type { DueItem } from '../../../src/core/tables/due.ts'
import { Batch } from '../../../src/machine/batch.ts'
import { Core } from '../../../src/machine/core.ts'
import type { Tx } from '../../../src/machine/table.ts'
import { plant } from '../../support/plant.ts'

/** A command that was carried out, at the moment that it was: whether it will ever be recorded nobody knows yet. */
export interface Applied {
  readonly state: State
  readonly tx: Tx
  readonly at: number
  readonly input: Readonly<Record<string, unknown>>
}
type Submit = (this: Core<State, never>, type: string, input: Applied['input'], ...view: unknown[]) => unknown

/** Tells of every command that a platform of this process carries out, until the answer is called. */
export function overhear(told: (applied: Applied) => void): () => void {
  let asked: { readonly state: State; readonly input: Applied['input'] } | undefined
  const undoSubmit = plant(
    Core.prototype as unknown as { submit: Submit },
    'submit',
    (original) =>
      function (type, input, ...view) {
        asked = { state: this.state, input }
        try {
          return original.call(this, type, input, ...view)
        } finally {
          asked = undefined
        }
      },
  )
  // Commands that are carried out a second time pass here too, and were not asked for.
  const undoAdd = plant(
    Batch.prototype,
    'add',
    (original) =>
      function (this: Batch, tx, at, ...rest) {
        if (asked !== undefined) told({ ...asked, tx, at })
        original.call(this, tx, at, ...rest)
      },
  )
  return () => {
    undoAdd()
    undoSubmit()
  }
}

/** What a model that knows one contract alone can't know by itself. */
export interface Elsewhere {
  /** What was due, where that was the command. */
  readonly item?: DueItem
  /** Units whose liquidation began, in the order in which that was: nothing says which goes first. */
  readonly begun: readonly string[]
  /** Everybody draws ids from the same counters: the first of this command, by the reference's names of them. */
  readonly first: Readonly<Record<string, number>>
  /** What the fund had, and has; and what its positions in other contracts have won or lost. */
  readonly fund?: FundMoney
  /** What the hour that was charged costs of each unit of USDT that is owed. */
  readonly hourly?: bigint
  /** The fund's next order in this contract was planned: what it is worth depends on all contracts. */
  readonly wakes: boolean
}
export interface FundMoney {
  readonly before: bigint
  readonly after: bigint
  readonly elsewhere: bigint
}
const COUNTERS: Readonly<Record<string, string>> = {
  contract_order: 'order',
  contract_price_order: 'price order',
  trail_order: 'trail',
  chase_order: 'chase',
}
const FUND = { owner: 0, name: 'insurance:futures.usdt', currency: 'USDT' } as const
const FUNDED = /^(?:futures\.(?:liquidate|unwind|fund)|margin\.liquidate)$/

/** The unit that an item of due work liquidates. */
export function unitOf({ input }: DueItem): string {
  const { user_id, contract, mode } = input as { user_id: number; contract: string; mode: string }
  return mode === 'cross' ? `${user_id}/${contract}` : `${user_id}/${contract}/${mode}`
}
/** Undefined: nothing that matters there. */
export function elsewhere(
  { state, tx, input }: Applied,
  contract: string,
  isOurs: (user: unknown) => boolean,
): Elsewhere | undefined {
  let item: DueItem | undefined
  let wakes = false
  const begun: { readonly id: number; readonly unit: string }[] = []
  const first: Record<string, number> = {}
  const drawn: Record<string, number> = {}
  for (const { table, key, before } of tx.touched) {
    const { name } = table.spec
    if (name === 'due') {
      if (before !== undefined && key === input['id']) item = before as DueItem
      const row = before === undefined ? state.due.table.get(key) : undefined
      if (row?.command === 'futures.liquidate' && isOurs(row.input['user_id']))
        begun.push({ id: row.input['id'] as number, unit: unitOf(row) })
      if (row?.command === 'futures.unwind' && row.input['contract'] === contract) wakes = true
    } else if (name === 'counter' && COUNTERS[key as string] !== undefined) {
      const counter = COUNTERS[key as string]!
      drawn[counter] ??= ((before as Counter | undefined)?.value ?? 0) + 1
    } else if (before === undefined && COUNTERS[name] !== undefined) {
      // Undefined: made and gone within the command.
      const row = table.get(key) as { readonly user_id: number; readonly pair?: string } | undefined
      const counter = COUNTERS[name]
      // The fund's own orders are drawn from the same counter.
      if (row !== undefined && (isOurs(row.user_id) || (row.user_id === 0 && row.pair === contract)))
        first[counter] = Math.min(first[counter] ?? Infinity, key as number)
    }
  }
  // Where nobody else had a part in it, all that was drawn counts: places in a queue are no rows.
  const looked = item?.command === 'futures.chase.look' && item.input['contract'] === contract
  if (looked || isOurs(input['user_id'])) Object.assign(first, drawn)
  const funded = (item !== undefined && FUNDED.test(item.command)) || holdsIn(state, contract) || wakes
  if (!funded && item === undefined && begun.length === 0 && Object.keys(first).length === 0) return undefined
  return {
    ...(item !== undefined && { item }),
    begun: begun.sort((a, b) => a.id - b.id).map(({ unit }) => unit),
    first,
    wakes,
    ...(item?.command === 'lending.hour' && { hourly: hourlyOf(tx) }),
    ...(funded && { fund: fundOf(state, tx, contract) }),
  }
}
function hourlyOf({ appended, logs }: Tx): bigint {
  for (const [i, row] of appended.entries()) {
    const { currency, rate } = row as { readonly currency?: string; readonly rate?: bigint }
    if (logs[i]!.name === 'loan_rate' && currency === 'USDT') return rate!
  }
  return 0n
}
const holdsIn = (state: State, contract: string): boolean =>
  (state.futures.positions.table.get(`0/${contract}/single`)?.size ?? 0n) !== 0n
function fundOf(state: State, tx: Tx, contract: string): FundMoney {
  const after = state.ledger.balance(FUND.owner, FUND.name, FUND.currency)
  const row = tx.touched.find(({ table, key }) => {
    if (table !== (state.ledger.accounts as unknown)) return false
    const { owner, name, currency } = state.ledger.accounts.get(key)!
    return owner === FUND.owner && name === FUND.name && currency === FUND.currency
  })
  const near = nearIndex(state)
  let sum = 0n
  for (const account of ['futures/usdt', 'delivery/usdt'])
    for (const held of state.futures.positions.heldBy(FUND.owner, account))
      if (held.contract !== contract) sum += needsOf(state, held, near).pnl
  const before = row === undefined ? after : ((row.before as Account | undefined)?.amount ?? 0n)
  return { before, after, elsewhere: sum }
}
