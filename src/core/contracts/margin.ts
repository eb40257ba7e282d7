import { ONE, ZERO, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { ceilOver, tierOf, valueUp, type Terms } from './terms.ts'

const times = (value: Amount, rate: Rate): bigint => ceilOver(value * rate, ONE)
const over = (value: Amount, leverage: Rate): bigint => ceilOver(value * ONE, leverage)

/** What a position of a value must have to be opened: its share by the leverage, and what closing costs. */
export const initialMargin = ({ tf }: Terms, value: Amount, leverage: Rate): Amount =>
  (over(value, leverage) + times(value, tf)) as Amount
/** What an opening fill gives an isolated position: whole units, because it is money that stays there. */
export function openingMargin(terms: Terms, value: Amount, leverage: Rate): Amount {
  const { unit } = terms
  return (ceilOver(initialMargin(terms, value, leverage), unit) * unit) as Amount
}
/** Below it, or at it, the position is liquidated. */
export function maintenanceMargin(terms: Terms, value: Amount): Amount {
  if (value === 0n) return ZERO
  const { maintenance, deduction } = tierOf(terms, value)
  return (times(value, maintenance) - deduction + times(value, terms.tf)) as Amount
}
/** The rate of the tiers together, of a value. */
export function averageMaintenance(terms: Terms, value: Amount): Rate {
  if (value === 0n) return terms.tiers[0]!.maintenance
  const { maintenance, deduction } = tierOf(terms, value)
  return (((times(value, maintenance) - deduction) * ONE) / value) as Rate
}
/** The most that may be held and ordered at a leverage: the largest tier that allows it. */
export function riskLimit({ tiers }: Terms, leverage: Rate): Amount {
  let limit = tiers[0]!.limit
  for (const tier of tiers) if (tier.leverageMax >= leverage) limit = tier.limit
  return limit
}

/** What the margin of an order is counted with, beside its own price. */
export interface OrderTerms {
  readonly leverage: Rate
  /** What the account pays as a taker. */
  readonly takerRate: Rate
  readonly mark: Price
}
/** Of contracts that would open: their margin and the fee, in which no price but their own has a say. */
export const fixedMargin = (
  terms: Terms,
  value: Amount,
  { leverage, takerRate }: Pick<OrderTerms, 'leverage' | 'takerRate'>,
): Amount => (initialMargin(terms, value, leverage) + times(value, takerRate)) as Amount
/** What contracts bought dearer than the mark price, or sold for less, lose at once. */
export function atOnce(
  terms: Terms,
  side: 'buy' | 'sell',
  contracts: bigint,
  price: Price,
  mark: Price,
): Amount {
  const value = valueUp(terms, contracts, price)
  const atMark = valueUp(terms, contracts, mark)
  const dearer = (side === 'buy') === (terms.kind === 'linear') ? value - atMark : atMark - value
  return (dearer > 0n ? dearer : 0n) as Amount
}

/** Both sides of one contract in cross margin: the smaller one costs only its closing. */
export function hedged(terms: Terms, long: Amount, short: Amount, of: (value: Amount) => Amount): Amount {
  const [more, less] = long >= short ? [long, short] : [short, long]
  return (of(more) + times(less, terms.tf)) as Amount
}
