import { ZERO, type Amount, type Price } from '../../money/amount.ts'
import { abs, ceilOver, fillValue, valueDown, valueUp, type Terms } from './terms.ts'

/** Size and cost have the same sign: above zero it is long. */
export interface Holding {
  readonly size: bigint
  /** What its contracts were bought (sold) for, a multiple of the unit. */
  readonly cost: Amount
}
/** What a fill does to a position: it may end one and begin the next. */
export interface Filled extends Holding {
  /** Contracts that it closed, and the profit of that. */
  readonly closed: bigint
  readonly realised: Amount
  /** Contracts that it opened, and their value. */
  readonly opened: bigint
  readonly openedValue: Amount
}

/** `contracts` has the sign of the side: above zero they are bought. */
export function fill(
  terms: Terms,
  holding: Holding,
  contracts: bigint,
  price: Price,
  value = fillValue(terms, abs(contracts), price),
): Filled {
  const { size } = holding
  const against = size !== 0n && size > 0n !== contracts > 0n
  const all = abs(contracts)
  if (!against) {
    const opens = contracts > 0n
    return {
      size: size + contracts,
      cost: (opens ? holding.cost + value : holding.cost - value) as Amount,
      closed: 0n,
      realised: ZERO,
      opened: all,
      openedValue: value,
    }
  }
  const closing = smaller(abs(size), all)
  const closingValue = closing === all ? value : fillValue(terms, closing, price)
  const left = reduce(terms, holding, closing, closingValue)
  const opened = all - closing
  // The two parts of one fill are worth what the fill is: nothing is lost between them.
  const openedValue = (value - closingValue) as Amount
  const sign = contracts > 0n ? 1n : -1n
  return {
    size: left.size + sign * opened,
    cost: (left.cost + sign * openedValue) as Amount,
    closed: closing,
    realised: left.realised,
    opened,
    openedValue,
  }
}
/** Closes `contracts` of it for a value. What is rounded is rounded so that the profit is less. */
export function reduce(
  terms: Terms,
  { size, cost }: Holding,
  contracts: bigint,
  value: Amount,
): Holding & { readonly realised: Amount } {
  const [held, paid] = [abs(size), abs(cost)]
  const gains = size > 0n === (terms.kind === 'linear')
  const share = paid * contracts
  const { unit } = terms
  const released =
    contracts === held ? paid : gains ? ceilOver(share, held * unit) * unit : (share / (held * unit)) * unit
  const sign = size > 0n ? 1n : -1n
  return {
    size: size - sign * contracts,
    cost: (cost - sign * released) as Amount,
    realised: (gains ? value - released : released - value) as Amount,
  }
}
/** What closing it at a price would bring, before fees: never told too high. */
export function unrealised(terms: Terms, { size, cost }: Holding, price: Price): Amount {
  if (size === 0n) return ZERO
  const held = abs(size)
  const gains = size > 0n === (terms.kind === 'linear')
  const paid = abs(cost)
  return (gains ? valueDown(terms, held, price) - paid : paid - valueUp(terms, held, price)) as Amount
}
/** For people: nothing is computed with it. */
export function entryPrice({ kind, q }: Terms, { size, cost }: Holding): Price {
  if (size === 0n || cost === 0n) return 0n as Price
  const [held, paid] = [abs(size), abs(cost)]
  return (kind === 'linear' ? (paid * SCALE) / (held * q) : (held * SCALE * SCALE) / paid) as Price
}
const SCALE = 10n ** 18n
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
