import { refuse } from '../../labels.ts'
import { ZERO, add, format, negate, type Amount } from '../../money/amount.ts'
import { lockedName } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import type { AccountRef } from './accounts.ts'

/** What stays in a margin account with debt is worth at least so many times what is owed. */
const COVER = 2n

/** Worth in USDT of some accounts of a user, in both currencies of the pair. */
function worth(state: State, userId: number, names: readonly string[], pair: string): Amount {
  const { base, quote } = state.world.market(pair)
  let sum = ZERO
  for (const name of names)
    for (const currency of [base, quote])
      sum = add(sum, state.prices.worth(currency, state.ledger.balance(userId, name, currency)))
  return sum
}
/** Runs after the money has left: what is owed in the account must still be covered. */
export function checkMarginCover(ctx: Ctx, userId: number, from: AccountRef): void {
  if (from.kind !== 'margin') return
  const { state } = ctx
  const { name, currency_pair: pair } = from
  const owed = negate(worth(state, userId, [`debt.${name}`, `debt.interest.${name}`], pair))
  if (owed <= 0n) return
  const left = worth(state, userId, [name, lockedName(name)], pair)
  if (left < owed * COVER)
    refuse(
      'MARGIN_TRANSFER_FAILED',
      `the ${pair} margin account owes ${format(owed)} USDT and would keep ${format(left)}; ${String(COVER)} times the debt must stay: repay first, or move less`,
    )
}
