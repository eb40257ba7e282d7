import { lockedName, marginName, type DebtName, type LockedName } from '../../ledger/accounts.ts'

/** Money that is lent to one place: the unified account, or the isolated account of a pair. */
export interface LoanAccounts {
  /** "unified", or the pair. */
  readonly scope: string
  readonly pair: string
  /** Names of the user's ledger accounts. */
  readonly free: 'spot' | `margin:${string}`
  readonly held: LockedName
  readonly debt: DebtName
  readonly interest: DebtName
}
export const UNIFIED: LoanAccounts = {
  scope: 'unified',
  pair: '',
  free: 'spot',
  held: lockedName('spot'),
  debt: 'debt.unified',
  interest: 'debt.interest.unified',
}
export function loanAccountsOf(scope: string): LoanAccounts {
  if (scope === UNIFIED.scope) return UNIFIED
  const free = marginName(scope)
  return {
    scope,
    pair: scope,
    free,
    held: lockedName(free),
    debt: `debt.${free}`,
    interest: `debt.interest.${free}`,
  }
}
