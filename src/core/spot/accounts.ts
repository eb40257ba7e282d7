import { lockedName, marginName, type FreeName } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import type { Ctx, State } from '../state.ts'
import { borrowForOrder, repayFromOrder } from '../unified/guard.ts'
import type { User } from '../tables/users.ts'
import type { Market } from '../tables/world/markets.ts'
import { ZERO, type Amount } from '../../money/amount.ts'
import type { Order, OrderAccount, OrderExtras, Side, SpotAccount } from '../tables/exchange/order.ts'
import type { OrderMoney } from '../tables/spot/money.ts'

/** Whether the account is in a unified mode: its spot balances are then its unified balances. */
export const isUnified = (state: State, user: User): boolean => state.margin.isUnified(user.user_id)

/**
 * Where an order's money comes from and goes to: the one place that decides it. What an order asks for
 * becomes what its record shows; an unnamed account is the usual one.
 */
export function orderAccount(state: State, user: User, asked: SpotAccount | null): SpotAccount {
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
/** In a unified mode these are the same balances. */
export const BALANCES: readonly OrderAccount[] = ['spot', 'unified', 'cross_margin']
/**
 * The accounts of orders that a call means when it names one: spot and unified are the same balances, margin
 * accounts are apart. On a classic account `unified` finds only what it traded when it was unified.
 */
export function accountsMeant(state: State, userId: number, asked: OrderAccount): readonly OrderAccount[] {
  if (asked === 'margin') return ['margin']
  return asked === 'spot' || state.margin.isUnified(userId) ? BALANCES : ['unified', 'cross_margin']
}
/** Whether an order is one of those; without a name every order is. */
export const isMeant = (state: State, order: Order, asked: OrderAccount | null): boolean =>
  asked === null || accountsMeant(state, order.user_id, asked).includes(order.account)

/** The ledger account behind an order's account; what orders hold is beside it. */
export const freeName = (account: OrderAccount, pair: string): FreeName =>
  account === 'margin' ? marginName(pair) : 'spot'
export function moneyOf(state: State, account: OrderAccount, market: Market): OrderMoney {
  const known = account === 'margin' ? state.spot.marginMoney : state.spot.money
  let money = known.get(market.id)
  if (money === undefined) {
    const free = freeName(account, market.id)
    const held = lockedName(free)
    const { ledger } = state
    money = {
      freeBase: ledger.purpose(free, market.base),
      heldBase: ledger.purpose(held, market.base),
      freeQuote: ledger.purpose(free, market.quote),
      heldQuote: ledger.purpose(held, market.quote),
    }
    known.set(market.id, money)
  }
  return money
}

/** Runs before an order's money is held: the place where auto_borrow finds what is missing. Tells how much it lent. */
export function borrowMissing(
  ctx: Ctx,
  order: {
    readonly user: User
    readonly account: OrderAccount
    readonly market: Market
    readonly side: Side
    readonly more: OrderExtras | null
  },
  needed: Amount,
): Amount {
  const { user, account, market, side } = order
  return order.more?.auto_borrow === true
    ? borrowForOrder(ctx, user.user_id, account, market, side, needed)
    : ZERO
}
/** Runs when an order has ended: the place where auto_repay gives back what was borrowed. */
export function repayBorrowed(ctx: Ctx, order: Order): void {
  repayFromOrder(ctx, order, order.more)
}
