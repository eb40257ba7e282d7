import { refuse } from '../../labels.ts'
import type { State } from '../state.ts'
import type { MarginAccount } from '../tables/unified/accounts.ts'

/** Unified calls are for accounts in a unified mode. */
export function requireUnified(state: State, userId: number): MarginAccount {
  const account = state.margin.of(userId)
  if (account.mode === 'classic')
    refuse(
      'ACCOUNT_EXCEPTION',
      'this account is classic: it has no unified account; PUT /unified/unified_mode switches to one',
    )
  return account
}
/** Modes in which all currencies carry each other. */
export function requireShared(state: State, userId: number): MarginAccount {
  const account = requireUnified(state, userId)
  if (account.mode === 'single_currency')
    refuse(
      'MARGIN_NOT_SUPPORTED',
      'in single_currency mode nothing is lent; PUT /unified/unified_mode to multi_currency or portfolio first',
    )
  return account
}
