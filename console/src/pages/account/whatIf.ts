import type { Endpoints } from '../../api/schema.d.ts'
import { PLACES, dec, div, min, mul, sum, type Decimal } from '../../lib/decimal.ts'

export type Explanation = Endpoints['GET /console/v1/risk']['reply']
export type RiskCurrency = Explanation['currencies'][number]
/** What the platform would say of the margin, at prices of the reader's choice. */
export interface Outlook {
  readonly balance: Decimal
  readonly initial: Decimal
  readonly maintenance: Decimal
  readonly available: Decimal
  /** Undefined: nothing is owed. */
  readonly initialRate: Decimal | undefined
  readonly maintenanceRate: Decimal | undefined
}
const ONE = 10n ** BigInt(PLACES)
/** As the platform rounds: what is held down, what is owed up. */
const mulUp = (a: Decimal, b: Decimal): Decimal => (a * b + ONE - 1n) / ONE
const divUp = (a: Decimal, b: Decimal): Decimal => (b === 0n ? 0n : (a * ONE + b - 1n) / b)

/** A price moved by so many per cent. */
export const moved = (price: Decimal, percent: number): Decimal => (price * BigInt(100 + percent)) / 100n

/** The parts of an amount that lie in each tier; the last tier may be open. */
function slices<T extends { readonly up_to: string }>(
  amount: Decimal,
  tiers: readonly T[],
): readonly (readonly [Decimal, T])[] {
  const parts: (readonly [Decimal, T])[] = []
  let lower = 0n
  for (const tier of tiers) {
    const upper = tier.up_to === '' ? amount : min(amount, dec(tier.up_to))
    if (upper > lower) parts.push([upper - lower, tier])
    if (upper === amount) break
    lower = upper
  }
  return parts
}
function countedOf(one: RiskCurrency, price: Decimal): Decimal {
  const equity = dec(one.equity.value) - dec(one.locked_deposits)
  if (equity <= 0n) return -mulUp(-equity, price)
  if (!one.collateral) return 0n
  return mul(
    sum(slices(equity, one.discount_tiers).map(([part, tier]) => mul(part, dec(tier.discount)))),
    price,
  )
}

/**
 * The margin if one currency's price were another by so many per cent. What open orders could lose stays as it is: the
 * explanation tells their sums alone.
 */
export function outlook(of: Explanation, currency: string, percent: number): Outlook {
  let balance = -dec(of.figures['spot_order_loss']?.value)
  let initial = 0n
  let maintenance = 0n
  for (const one of of.currencies) {
    const now = dec(one.price)
    const price = one.currency === currency ? moved(now, percent) : now
    const owed = slices(dec(one.liability), one.margin_tiers)
    balance += countedOf(one, price)
    initial += mulUp(sum(owed.map(([part, tier]) => divUp(part, dec(tier.initial_leverage)))), price)
    maintenance += mulUp(sum(owed.map(([part, tier]) => mulUp(part, dec(tier.maintenance_rate)))), price)
  }
  return {
    balance,
    initial,
    maintenance,
    available: balance - initial,
    initialRate: initial === 0n ? undefined : div(balance, initial),
    maintenanceRate: maintenance === 0n ? undefined : div(balance, maintenance),
  }
}
