import {
  ONE_PRICE,
  ONE_RATE,
  ZERO,
  negate,
  overDown,
  rateOf,
  type Amount,
  type Price,
  type Rate,
} from '../../money/amount.ts'
import type { State } from '../state.ts'
import { lockedHere } from '../family.ts'
import type { Market } from '../tables/world/markets.ts'
import { riskOrder } from '../tables/unified/ladders.ts'
import { UNIFIED, loanAccountsOf, type LoanAccounts } from '../tables/unified/loan-accounts.ts'
import { marginSlices } from '../tables/world/unified.ts'
import { CASH, contractsOf, withContracts, type Supposed } from './contracts.ts'
import type { Trust } from './trust.ts'
import {
  Ladder,
  liabilityOf,
  riskOf,
  type MarginSlice,
  type RiskAsset,
  type RiskFigures,
  type RiskInput,
  type RiskOrder,
} from '../risk/risk.ts'

/** Gathers from the state what the risk engine works with. */
export type { Trust } from './trust.ts'
const FULL = [{ upTo: undefined, discount: ONE_RATE }] as const

export const owedOf = (
  state: State,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
): { principal: Amount; interest: Amount } => ({
  principal: negate(state.ledger.balance(userId, accounts.debt, currency)),
  interest: negate(state.ledger.balance(userId, accounts.interest, currency)),
})

const NO_TERMS: readonly MarginSlice[] = [{ upTo: undefined, leverage: ONE_RATE, maintenance: ONE_RATE }]

function assetOf(
  state: State,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  freeze: Amount,
  terms: Pick<RiskAsset, 'locked' | 'price' | 'collateral' | 'discounts' | 'margins'>,
): RiskAsset {
  const { principal, interest } = owedOf(state, userId, accounts, currency)
  return {
    currency,
    available: state.ledger.balance(userId, accounts.free, currency),
    freeze,
    borrowed: principal,
    interest,
    ...terms,
  }
}
function heldBy(orders: readonly RiskOrder[]): Map<string, Amount> {
  const held = new Map<string, Amount>()
  for (const { gives, given } of orders) held.set(gives, ((held.get(gives) ?? 0n) + given) as Amount)
  return held
}

/** What POV orders hold is their owner's as what resting orders hold is: at the worst it trades at their bound. */
function povLadders({ spot, world }: State, userId: number): Ladder[] {
  if (spot.povOrders.open === 0) return []
  return spot.povOrders.openOf(userId).map(({ pair, side, bound: price, left, held }) => {
    return new Ladder([riskOrder(world.market(pair), { side, price, left, held })])
  })
}

/**
 * A unified account. What withdrawals hold is on its way out and counts for nothing; `more` names currencies
 * that must be among the assets though the account has none of them.
 */
export function unifiedPortfolio(
  state: State,
  userId: number,
  more: readonly string[] = [],
  trust: Trust = 'known',
  supposed?: Supposed,
): RiskInput {
  const account = state.margin.of(userId)
  const contracts = contractsOf(state, userId, trust, supposed)
  const orders = [...state.ladders.of(userId, UNIFIED.scope), ...povLadders(state, userId)]
  const held = heldBy(orders)
  const currencies = new Set(more)
  for (const name of [UNIFIED.free, UNIFIED.debt, UNIFIED.interest])
    for (const { currency, amount } of state.ledger.named(userId, name))
      if (amount !== 0n) currencies.add(currency)
  for (const { gives, gets } of orders) currencies.add(gives).add(gets)
  if (contracts !== undefined) {
    currencies.add(CASH)
    if (account.settings.spot_hedge === true)
      for (const { currency } of contracts.risk.units) currencies.add(currency)
  }
  let unpriced = contracts?.unpriced
  const assets = [...currencies].sort().map((currency) => {
    const terms = state.world.loanTerms(currency)
    const quote = state.prices.quote(currency)
    const unreliable = trust === 'firm' && quote.firm === 0n
    // What leaves the platform carries what it carries, and nothing new.
    const leaving = trust === 'firm' && state.world.isLeaving(currency)
    const asset = assetOf(state, userId, UNIFIED, currency, held.get(currency) ?? ZERO, {
      locked: lockedHere(state, userId, currency),
      price: quote.known,
      collateral:
        terms !== undefined && !unreliable && !leaving && !account.not_collateral.includes(currency),
      discounts: terms?.discounts ?? [],
      margins: terms === undefined ? NO_TERMS : marginSlices(terms, ownLeverage(account.leverage[currency])),
    })
    if (unreliable && liabilityOf(asset) > 0n) unpriced ??= currency
    return contracts === undefined || currency !== CASH ? asset : withContracts(asset, contracts)
  })
  return {
    assets,
    orders,
    ...(contracts !== undefined && { contracts: contracts.risk }),
    ...(unpriced !== undefined && { unpriced }),
  }
}
const ownLeverage = (text: string | undefined): Rate | undefined =>
  text === undefined ? undefined : rateOf(text)

/** Units of the quote currency for one of the base currency, by index prices. */
export function pairPrice(state: State, market: Market, trust: Trust = 'known'): Price {
  const quote = state.prices.quote(market.quote)[trust]
  return quote === 0n
    ? (0n as Price)
    : (overDown(state.prices.quote(market.base)[trust] as bigint as Amount, quote) as bigint as Price)
}
/** The isolated account of a pair, in units of its quote currency; nothing is discounted there. */
export function isolatedPortfolio(
  state: State,
  userId: number,
  market: Market,
  trust: Trust = 'known',
): RiskInput {
  const accounts = loanAccountsOf(market.id)
  const orders = state.ladders.of(userId, market.id)
  const held = heldBy(orders)
  const price = pairPrice(state, market)
  const own = ownLeverage(state.margin.of(userId).pair_leverage[market.id])
  const assets = (
    [
      [market.base, price],
      [market.quote, ONE_PRICE],
    ] as const
  ).map(([currency, unit]) =>
    assetOf(state, userId, accounts, currency, held.get(currency) ?? ZERO, {
      price: unit,
      collateral: true,
      discounts: FULL,
      margins: isolatedSlices(state, market, unit, own),
    }),
  )
  // Its two currencies are worth something only in terms of each other.
  const unpriced =
    trust === 'known'
      ? undefined
      : [market.base, market.quote].find((currency) => state.prices.quote(currency).firm === 0n)
  return unpriced === undefined ? { assets, orders } : { assets, orders, unpriced }
}
/** Who trades with leverage L borrows up to L - 1 times his own money: the initial rate is 1 / (L - 1). */
function isolatedSlices(state: State, market: Market, price: Price, own: Rate | undefined): MarginSlice[] {
  const config = state.world.isolatedMarket(market.id)
  if (config === undefined || price === 0n) return [...NO_TERMS]
  return config.tiers.map(({ upper_limit, mmr, leverage }) => {
    const tier = rateOf(leverage)
    const used = own !== undefined && own < tier ? own : tier
    return {
      upTo: upper_limit === '' ? undefined : overDown(rateOf(upper_limit) as bigint as Amount, price),
      leverage: (used - ONE_RATE) as Rate,
      maintenance: rateOf(mmr),
    }
  })
}

/** The portfolio behind a loan scope. */
export const portfolioOf = (
  state: State,
  userId: number,
  scope: string,
  more: readonly string[] = [],
  trust: Trust = 'known',
): RiskInput =>
  scope === UNIFIED.scope
    ? unifiedPortfolio(state, userId, more, trust)
    : isolatedPortfolio(state, userId, state.world.market(scope), trust)
export const figuresOf = (state: State, userId: number, scope: string, trust: Trust = 'known'): RiskFigures =>
  riskOf(portfolioOf(state, userId, scope, [], trust))
