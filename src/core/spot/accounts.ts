import { refuse } from '../../labels.ts'
import { lockedName, marginName } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import type { User } from '../users/users.ts'
import type { Order, OrderAccount, OrderExtras } from './order.ts'

/** Whether the account is in a unified mode: its spot balances are then its unified balances. */
export const isUnified = (_state: State, _user: User): boolean => false

/**
 * Where an order's money comes from and goes to: the one place that decides it. What an order asks for
 * becomes what its record shows; an unnamed account is the usual one.
 */
export function orderAccount(state: State, user: User, asked: OrderAccount | null): OrderAccount {
  const unified = isUnified(state, user)
  switch (asked) {
    case null:
    case 'spot':
      return unified ? 'unified' : 'spot'
    case 'margin':
      return 'margin'
    case 'unified':
    case 'cross_margin':
      if (!unified)
        refuse(
          'ACCOUNT_EXCEPTION',
          `account: "${asked}" needs a unified account and this one is classic; use spot, or PUT /unified/unified_mode first`,
        )
      return 'unified'
  }
}
/** The ledger account behind an order's account; what orders hold is beside it. */
export const freeName = (account: OrderAccount, pair: string): string =>
  account === 'margin' ? marginName(pair) : 'spot'
const SPOT_LOCKED = lockedName('spot')
export const heldName = (account: OrderAccount, pair: string): string =>
  account === 'margin' ? lockedName(marginName(pair)) : SPOT_LOCKED

/** Runs before an order's money is held: the place where auto_borrow finds what is missing. */
export function borrowMissing(_ctx: Ctx, account: OrderAccount, more: OrderExtras | null): void {
  if (more?.auto_borrow === true && account !== 'unified')
    refuse(
      'INVALID_PARAM_VALUE',
      `auto_borrow: true is for accounts that can borrow, and this order's account is ${account}; leave it out`,
    )
}
/** Runs when an order has ended: the place where auto_repay gives back what was borrowed. */
export function repayBorrowed(_ctx: Ctx, _order: Order): void {
  // A classic account owes nothing that an order could repay.
}
