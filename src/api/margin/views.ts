import { lockedName, marginName } from '../../core/ledger/accounts.ts'
import type { State } from '../../core/state.ts'
import { loanAccountsOf } from '../../core/tables/unified/loan-accounts.ts'
import { figuresOf, owedOf } from '../../core/unified/portfolio.ts'
import type { Market } from '../../core/tables/world/markets.ts'
import { format, overDown, roundDown, type Amount, type Rate } from '../../money/amount.ts'
import { bool, decimalText, shape, str } from '../shapes.ts'

export const marginCurrencyShape = shape({
  currency: str,
  available: decimalText,
  locked: decimalText,
  borrowed: decimalText,
  interest: decimalText,
})
export const marginAccountShape = shape({
  currency_pair: str,
  account_type: str,
  leverage: decimalText,
  locked: bool,
  risk: decimalText,
  mmr: decimalText,
  base: marginCurrencyShape,
  quote: marginCurrencyShape,
})
const RATE_SHOWN = 4
const shown = (rate: Rate): string => format(roundDown(rate as bigint as Amount, RATE_SHOWN))

/** Pairs that an account has ever moved money into, also of markets that are gone. */
export function openedPairs(state: State, userId: number): string[] {
  const pairs = new Set<string>()
  for (const { name } of state.ledger.ownedBy(userId)) {
    const match = /^margin:([^.]+)/.exec(name)
    if (match !== null) pairs.add(match[1]!)
  }
  return [...pairs].sort()
}
/** A pair that is named: a market, or one that is gone where the account has had money. */
export function pairNamed(state: State, userId: number, name: string): string {
  const known = state.world.findMarket(name)?.id
  if (known !== undefined) return known
  const gone = name.toUpperCase()
  return openedPairs(state, userId).includes(gone) ? gone : state.world.market(name).id
}
export const leverageOf = (state: State, userId: number, pair: string): string =>
  state.margin.of(userId).pair_leverage[pair] ?? state.world.isolatedMarket(pair)?.tiers[0]?.leverage ?? '1'

/** mmr: margin balance over maintenance margin; risk: everything there over everything owed. 0 without debt. */
export function marginAccountView(state: State, userId: number, pair: string) {
  const book = loanAccountsOf(pair)
  const market = state.world.findMarket(pair)
  const [base, quote] = pair.split('_') as [string, string]
  const active = market !== undefined && state.ledger.named(userId, marginName(pair)).next().done !== true
  const side = (currency: string) => {
    const owed = owedOf(state, userId, book, currency)
    return {
      currency,
      available: format(state.ledger.balance(userId, book.free, currency)),
      locked: format(state.ledger.balance(userId, lockedName(book.free), currency)),
      borrowed: format(owed.principal),
      interest: format(owed.interest),
    }
  }
  return {
    currency_pair: pair,
    account_type: active ? 'mmr' : 'inactive',
    leverage: leverageOf(state, userId, pair),
    locked: state.users.must(userId).state === 2 || state.margin.isLocked(userId, pair),
    ...rates(state, userId, market),
    base: side(base),
    quote: side(quote),
  }
}
function rates(state: State, userId: number, market: Market | undefined): { risk: string; mmr: string } {
  // Where there is no market any more nothing is owed.
  if (market === undefined) return { risk: '0', mmr: '0' }
  const { liability, total, maintenanceRate } = figuresOf(state, userId, market.id)
  return {
    risk: liability === 0n ? '0' : shown(overDown(total, liability as bigint as Rate) as bigint as Rate),
    mmr: maintenanceRate < 0n ? '0' : shown(maintenanceRate),
  }
}
