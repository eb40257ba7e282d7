/**
 * Portfolio margin of one underlying over 33 scenarios: eleven prices from -15 % to +15 % times three
 * volatilities. Options are valued by Black-Scholes (no interest, no dividends). These figures are estimates
 * for display and never move money, so they are plain floating point.
 */
export interface FuturesPosition {
  /** Units of the underlying, signed. */
  readonly size: number
  /** When it ends: prices of different terms can move apart. Perpetual ones have the spot price's. */
  readonly term: string
}
export interface OptionsPosition {
  readonly size: number
  readonly strike: number
  /** Years until it expires. */
  readonly years: number
  readonly call: boolean
  readonly term: string
}
export interface UnitPosition {
  readonly spot: number
  readonly futures: readonly FuturesPosition[]
  readonly options: readonly OptionsPosition[]
}
export interface Scenario {
  readonly price: number
  readonly volatility: number
  readonly profit: number
}
export interface Greeks {
  readonly delta: number
  readonly gamma: number
  readonly theta: number
  readonly vega: number
}
export const PRICE_STEPS = [-0.15, -0.12, -0.09, -0.06, -0.03, 0, 0.03, 0.06, 0.09, 0.12, 0.15] as const
export const VOLATILITY_STEPS = [-0.25, 0, 0.25] as const
/** The volatility that options are valued at, a year. */
export const VOLATILITY = 0.6
const DAYS = 365
/** A short option needs at least this part of its underlying's worth. */
const SHORT_OPTION_RATE = 0.005
const INITIAL_FACTOR = 1.2
/** What stands against each other in different terms is charged this part of its worth, */
const BASIS_RATE = 0.005
/** and so many percent of volatility. */
const VOLATILITY_SPREAD = 5

const density = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)
/** Abramowitz and Stegun 26.2.17: seven decimals. */
function cumulative(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x))
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const upper = density(x) * series
  return x >= 0 ? 1 - upper : upper
}
const moments = (spot: number, { strike, years }: OptionsPosition, sigma: number) => {
  const spread = sigma * Math.sqrt(years)
  const d1 = (Math.log(spot / strike) + (sigma * sigma * years) / 2) / spread
  return { d1, d2: d1 - spread, spread }
}
export function optionValue(spot: number, option: OptionsPosition, sigma: number): number {
  const inner = option.call ? spot - option.strike : option.strike - spot
  if (option.years <= 0 || sigma <= 0 || spot <= 0 || option.strike <= 0) return Math.max(0, inner)
  const { d1, d2 } = moments(spot, option, sigma)
  return option.call
    ? spot * cumulative(d1) - option.strike * cumulative(d2)
    : option.strike * cumulative(-d2) - spot * cumulative(-d1)
}
/** theta is by day, vega by a percent of volatility. */
export function optionGreeks(spot: number, option: OptionsPosition, sigma: number): Greeks {
  // A currency without a price: nothing is known of what moves with it.
  if (spot <= 0) return { delta: 0, gamma: 0, theta: 0, vega: 0 }
  const ahead = option.call ? 1 : -1
  if (option.years <= 0) {
    const inside = (spot - option.strike) * ahead > 0
    return { delta: inside ? ahead : 0, gamma: 0, theta: 0, vega: 0 }
  }
  const { d1, spread } = moments(spot, option, sigma)
  return {
    delta: option.call ? cumulative(d1) : cumulative(d1) - 1,
    gamma: density(d1) / (spot * spread),
    theta: -(spot * density(d1) * sigma) / (2 * Math.sqrt(option.years)) / DAYS,
    vega: (spot * density(d1) * Math.sqrt(option.years)) / 100,
  }
}

export function greeksOf(price: number, { futures, options }: UnitPosition, hedge = 0): Greeks {
  const sum = { delta: hedge, gamma: 0, theta: 0, vega: 0 }
  for (const { size } of futures) sum.delta += size
  for (const option of options) {
    const greeks = optionGreeks(price, option, VOLATILITY)
    sum.delta += greeks.delta * option.size
    sum.gamma += greeks.gamma * option.size
    sum.theta += greeks.theta * option.size
    sum.vega += greeks.vega * option.size
  }
  return sum
}
export function scenariosOf(price: number, { futures, options }: UnitPosition, hedge = 0): Scenario[] {
  const linear = futures.reduce((sum, { size }) => sum + size, hedge)
  return PRICE_STEPS.flatMap((move) =>
    VOLATILITY_STEPS.map((volatility): Scenario => {
      const then = price * (1 + move)
      const sigma = VOLATILITY * (1 + volatility)
      const bent = options.reduce(
        (sum, option) =>
          sum + option.size * (optionValue(then, option, sigma) - optionValue(price, option, VOLATILITY)),
        0,
      )
      return { price: move, volatility, profit: linear * (then - price) + bent }
    }),
  )
}
/** How much of one sign stands against as much of the other, over all terms. */
function spread(parts: readonly (readonly [term: string, size: number])[]): number {
  const terms = new Map<string, number>()
  for (const [term, size] of parts) terms.set(term, (terms.get(term) ?? 0) + size)
  const sizes = [...terms.values()]
  const net = Math.abs(sizes.reduce((sum, size) => sum + size, 0))
  return (sizes.reduce((sum, size) => sum + Math.abs(size), 0) - net) / 2
}
/** The term of spot and of perpetual contracts: funding keeps their prices together. */
export const SPOT_TERM = 'spot'
/** Deltas of spot, futures and options of different terms that only the same price makes a hedge of each other. */
function basisRisk(price: number, { futures, options }: UnitPosition, hedge: number): number {
  const deltas = options.map(
    (option) => [option.term, option.size * optionGreeks(price, option, VOLATILITY).delta] as const,
  )
  const parts = [
    [SPOT_TERM, hedge] as const,
    ...futures.map(({ term, size }) => [term, size] as const),
    ...deltas,
  ]
  return spread(parts) * price * BASIS_RATE
}
/** The same for the vegas of options: volatilities of different terms can move apart too. */
function volatilityRisk(price: number, { options }: UnitPosition): number {
  const vegas = options.map(
    (option) => [option.term, option.size * optionGreeks(price, option, VOLATILITY).vega] as const,
  )
  return spread(vegas) * VOLATILITY_SPREAD
}
export interface MarginResult {
  readonly scenarios: readonly Scenario[]
  readonly worst: Scenario
  /** mr1: the loss of the worst scenario. */
  readonly scenarioLoss: number
  /** mr2 and mr3: prices, and volatilities, of different terms move apart. */
  readonly basis: number
  readonly volatility: number
  /** mr4: the least that short options need. */
  readonly shortOptions: number
  readonly maintenance: number
}
export function marginResult(price: number, position: UnitPosition, hedge: number): MarginResult {
  const scenarios = scenariosOf(price, position, hedge)
  const worst = scenarios.reduce((least, one) => (one.profit < least.profit ? one : least))
  const scenarioLoss = Math.max(0, -worst.profit)
  const shortOptions =
    position.options.reduce((sum, { size }) => sum + Math.max(0, -size), 0) * price * SHORT_OPTION_RATE
  const basis = basisRisk(price, position, hedge)
  const volatility = volatilityRisk(price, position)
  const maintenance = Math.max(scenarioLoss + basis + volatility, shortOptions)
  return { scenarios, worst, scenarioLoss, basis, volatility, shortOptions, maintenance }
}
/** How much spot hedges the derivatives: as much as stands against their delta. */
export function spotInUse(price: number, position: UnitPosition, spotHedge: boolean): number {
  if (!spotHedge) return 0
  const { delta } = greeksOf(price, position)
  if (delta === 0 || position.spot === 0 || Math.sign(delta) === Math.sign(position.spot)) return 0
  return Math.sign(position.spot) * Math.min(Math.abs(position.spot), Math.abs(delta))
}
export const initialOf = (maintenance: number): number => maintenance * INITIAL_FACTOR
