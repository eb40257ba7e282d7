import { refuse } from '../../labels.ts'
import { ZERO, format, type Amount } from '../../money/amount.ts'
import type { AccountKey } from '../ledger/accounts.ts'
import type { Line } from '../ledger/ledger.ts'
import type { State } from '../state.ts'
import type { AccountKind } from '../tables/transfers.ts'
import { availableOf } from './figures.ts'
import { POINTS, cashName, debtOf, settledIn, type Settled } from './money.ts'

/** Of an account that money is moved to or from; undefined where it is none of contracts. */
export function settledBy(kind: AccountKind, settle: string): Settled | undefined {
  if (kind !== 'futures' && kind !== 'delivery') return undefined
  return settledIn(kind, settle)
}
/** What positions and orders need stays, and unrealised profit never leaves. */
export function guardContractOutflow(
  state: State,
  userId: number,
  settled: Settled,
  currency: string,
  amount: Amount,
): void {
  if (currency === POINTS) return
  const { own } = availableOf(state, userId, settled)
  if (amount <= own) return
  refuse(
    'FUTURES_BALANCE_NOT_ENOUGH',
    `not enough ${currency} in the ${cashName(settled)} account: ${format(own < 0n ? ZERO : own)} available, ${format(amount)} needed`,
  )
}
/** Where money that comes in goes: what realised losses left owing is paid first, in the same entry. */
export function inflowLines(
  state: State,
  userId: number,
  settled: Settled,
  currency: string,
  amount: Amount,
): Line[] {
  const cash: AccountKey = { owner: userId, name: cashName(settled) }
  const owed = currency === POINTS ? 0n : -debtOf(state, userId, settled)
  const paid = owed < amount ? owed : amount
  const lines: Line[] = []
  if (paid > 0n)
    lines.push({
      owner: userId,
      name: settled.debt,
      currency,
      amount: paid as Amount,
    })
  if (paid < amount) lines.push({ ...cash, currency, amount: (amount - paid) as Amount })
  return lines
}
