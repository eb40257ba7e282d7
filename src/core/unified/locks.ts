import { refuse } from '../../labels.ts'
import { ONE_RATE, ONE_PRICE, ZERO, format, min, type Amount, type Price } from '../../money/amount.ts'
import type { State } from '../state.ts'
import { leavingRoom, strayedLocks } from '../family.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { portfolioOf } from './portfolio.ts'
import type { RiskInput } from '../risk/risk.ts'

/**
 * The portfolio that a new loan is judged by. Locked deposits that were sold or moved on are somebody's collateral by
 * now; their worth is taken off here, so that no loan of the family stands on them. Old loans are judged without it:
 * nobody is liquidated because of a deposit.
 */
export function lendingPortfolio(
  state: State,
  userId: number,
  scope: string,
  more: readonly string[],
): RiskInput {
  const input = portfolioOf(state, userId, scope, more, 'firm')
  const strayed = strayedLocks(state, userId)
  if (strayed === 0n) return input
  const price = scope === UNIFIED.scope ? ONE_PRICE : perQuote(state, state.world.market(scope).quote)
  const taken = {
    currency: '',
    price,
    available: -strayed as Amount,
    freeze: ZERO,
    borrowed: ZERO,
    interest: ZERO,
    collateral: true,
    discounts: [],
    margins: [{ upTo: undefined, leverage: ONE_RATE, maintenance: ONE_RATE }],
  }
  return { ...input, assets: [...input.assets, taken] }
}
/** Units of a quote currency for one USDT, rounded up. */
function perQuote(state: State, quote: string): Price {
  const price = state.prices.of(quote)
  return (price === 0n ? 0n : (ONE_RATE * ONE_RATE + price - 1n) / price) as Price
}

/** What locked deposits leave to be lent to the family; undefined: they have no say. */
export const lendingRoom = (state: State, userId: number, currency: string, cap: Amount): Amount => {
  const room = leavingRoom(state, userId)
  if (room === undefined) return cap
  return room.usdt <= 0n ? ZERO : min(cap, state.prices.fromUsdt(currency, room.usdt))
}
export function refuseOnLocks(state: State, userId: number, currency: string, amount: Amount): void {
  const most = lendingRoom(state, userId, currency, amount)
  if (amount > most)
    refuse(
      'INITIAL_MARGIN_TOO_LOW',
      `amount: a loan of ${format(amount)} ${currency} is worth more than what this account and its family own beside deposits that are still locked; at most ${format(most)} can be borrowed`,
    )
}
