import { countBefore } from '../sorted.ts'
import {
  ZERO,
  add,
  min,
  overDown,
  overUp,
  subtract,
  timesDown,
  timesUp,
  type Amount,
  type Price,
  type Rate,
} from '../../money/amount.ts'

/**
 * The risk engine: pure arithmetic from what an account holds and owes to every figure of its margin. It knows
 * no tables and no clock, so that a figure can be computed again by hand. Assets are rounded down and
 * liabilities up, each at 18 decimals.
 */
/** A slice ends at `upTo` units of the currency; the last one is open. */
export interface DiscountSlice {
  readonly upTo: Amount | undefined
  readonly discount: Rate
}
export interface MarginSlice {
  readonly upTo: Amount | undefined
  /** The initial margin is 1 / leverage of a slice: divided by, so that thirds and ninths come out whole. */
  readonly leverage: Rate
  readonly maintenance: Rate
}
export interface RiskAsset {
  readonly currency: string
  readonly price: Price
  readonly available: Amount
  /** What open orders hold. */
  readonly freeze: Amount
  readonly borrowed: Amount
  /** Interest owed. */
  readonly interest: Amount
  /** Of the equity: deposits that are credited but locked. They trade, but carry nothing. Left out: none. */
  readonly locked?: Amount
  /** What cross positions in contracts have won or lost, and the margins of isolated ones. Left out: none. */
  readonly pnl?: Amount
  readonly isolated?: Amount
  /** Whether a positive equity counts. */
  readonly collateral: boolean
  readonly discounts: readonly DiscountSlice[]
  readonly margins: readonly MarginSlice[]
}
/** An open order: what it gives when it is filled, and what it then gets less the highest fee. */
export interface RiskOrder {
  readonly gives: string
  readonly given: Amount
  readonly gets: string
  readonly got: Amount
}
/**
 * Orders that give and get the same currencies, those first that bring least for what they give, with sums up to each:
 * which of them lose at some prices is one look, however many there are.
 */
export class Ladder implements RiskOrder {
  readonly gives: string
  readonly gets: string
  /** Of the first i orders, at index i. */
  private readonly givenUpTo: readonly bigint[]
  private readonly gotUpTo: readonly bigint[]
  private readonly sorted: readonly RiskOrder[]

  /** At least one, all of the same two currencies. */
  constructor(orders: readonly RiskOrder[]) {
    this.gives = orders[0]!.gives
    this.gets = orders[0]!.gets
    this.sorted = [...orders].sort((a, b) => {
      const difference = a.got * b.given - b.got * a.given
      return difference < 0n ? -1 : difference > 0n ? 1 : 0
    })
    const given: bigint[] = [0n]
    const got: bigint[] = [0n]
    for (const [i, order] of this.sorted.entries()) {
      given.push(given[i]! + order.given)
      got.push(got[i]! + order.got)
    }
    this.givenUpTo = given
    this.gotUpTo = got
  }
  get given(): Amount {
    return this.givenUpTo.at(-1)! as Amount
  }
  get got(): Amount {
    return this.gotUpTo.at(-1)! as Amount
  }
  /** What those lose that lose: cost / whole is what a unit given takes away, gain / all what a unit got brings. */
  loss(cost: bigint, whole: bigint, gain: bigint, all: bigint): bigint {
    if (whole === 0n) return 0n
    const losing = countBefore(
      this.sorted,
      // Without anything to bring, everything that is given is lost.
      ({ given, got }) => all === 0n || cost * given * all > gain * got * whole,
    )
    const up = (cost * this.givenUpTo[losing]! + whole - 1n) / whole
    const down = all === 0n ? 0n : (gain * this.gotUpTo[losing]!) / all
    return up > down ? up - down : 0n
  }
}
/** Contracts on one underlying, for an account whose risk is that of a portfolio. */
export interface RiskUnit {
  readonly currency: string
  readonly price: Price
  /** In units of the currency, signed: what positions make of it, and what open orders would add or take. */
  readonly delta: Amount
  readonly buys: Amount
  readonly sells: Amount
  /** Whether spot stands against it. */
  readonly hedge: boolean
}
/** What contracts need of an account that holds them beside its money. */
export interface ContractRisk {
  /** Profits and losses of cross positions, in the money of the margin. */
  readonly pnl: Amount
  /** Of cross positions, and of open orders; the units' is not among it. */
  readonly initial: Amount
  readonly maintenance: Amount
  readonly orders: Amount
  /** What cross positions are worth, and with them what open orders are: it moves with prices. */
  readonly positions: () => Amount
  readonly value: () => Amount
  readonly units: readonly RiskUnit[]
}
export interface RiskInput {
  readonly assets: readonly RiskAsset[]
  readonly orders: readonly Ladder[]
  readonly contracts?: ContractRisk
  /** A currency that makes the margin unknown, because it is owed and has no price that can be relied on. */
  readonly unpriced?: string
}
export interface AssetFigures {
  readonly asset: RiskAsset
  readonly equity: Amount
  readonly liability: Amount
  /** What the equity adds to the margin balance: discounted when positive, in full when negative. */
  readonly counted: Amount
  readonly initial: Amount
  readonly maintenance: Amount
}
export interface UnitFigures {
  readonly unit: RiskUnit
  /** Of the spot, signed: as much as stands against the delta, whatever of the open orders is filled. */
  readonly inUse: Amount
  readonly maintenance: Amount
  readonly initial: Amount
  /** What open orders need beside that. */
  readonly orders: Amount
}
/** The part of contracts in the figures. */
export interface ContractFigures {
  readonly pnl: Amount
  readonly initial: Amount
  readonly maintenance: Amount
  readonly orders: Amount
  readonly units: readonly UnitFigures[]
}
export interface RiskFigures {
  readonly assets: readonly AssetFigures[]
  /** Left out: there are none. */
  readonly contracts?: ContractFigures
  readonly orderLoss: Amount
  readonly marginBalance: Amount
  readonly initialMargin: Amount
  readonly maintenanceMargin: Amount
  readonly available: Amount
  /** Zero when nothing is owed. */
  readonly initialRate: Rate
  readonly maintenanceRate: Rate
  readonly total: Amount
  readonly borrowed: Amount
  readonly liability: Amount
  readonly equity: Amount
}

export const equityOf = (asset: RiskAsset): Amount =>
  (asset.available +
    asset.freeze -
    asset.borrowed -
    asset.interest +
    (asset.pnl ?? 0n) -
    (asset.isolated ?? 0n)) as Amount
/** What is free: the margins of isolated positions are spoken for. */
export const freeOf = ({ available, isolated }: RiskAsset): Amount =>
  (isolated === undefined || isolated < 0n ? available : available - isolated) as Amount
export const liabilityOf = ({ borrowed, interest }: RiskAsset): Amount => add(borrowed, interest)

/** Price times amount, assets down and debts away from zero. */
const worth = (amount: Amount, price: Price): Amount =>
  amount < 0n ? (-timesUp(-amount as Amount, price) as Amount) : timesDown(amount, price)

/** Equity in money of the margin: concave, so a part of a change is never worth less than its share of it. */
export function countedValue(asset: RiskAsset, whole: Amount): Amount {
  const equity = asset.locked === undefined ? whole : subtract(whole, asset.locked)
  if (equity <= 0n) return worth(equity, asset.price)
  if (!asset.collateral) return ZERO
  let lower = ZERO
  let sum = ZERO
  for (const { upTo, discount } of asset.discounts) {
    const upper = upTo === undefined ? equity : min(equity, upTo)
    if (upper > lower) sum = add(sum, timesDown(subtract(upper, lower), discount))
    if (upTo === undefined || equity <= upTo) break
    lower = upTo
  }
  return timesDown(sum, asset.price)
}
/** Margin that a liability needs: each slice at its tier's rate. */
export function marginOf(asset: RiskAsset, liability: Amount, kind: 'initial' | 'maintenance'): Amount {
  let lower = ZERO
  let sum = ZERO
  for (const slice of asset.margins) {
    const upper = slice.upTo === undefined ? liability : min(liability, slice.upTo)
    if (upper > lower) {
      const part = subtract(upper, lower)
      sum = add(sum, kind === 'initial' ? overUp(part, slice.leverage) : timesUp(part, slice.maintenance))
    }
    if (slice.upTo === undefined || liability <= slice.upTo) break
    lower = slice.upTo
  }
  return timesUp(sum, asset.price)
}

/**
 * What the margin balance would lose if open orders were filled, in whole or in part. The equity that all
 * orders of a currency take away or bring is valued together and shared among them by size: by concavity no
 * partial fill is worse than its share.
 */
export function orderLossOf({ assets, orders }: RiskInput): Amount {
  if (orders.length === 0) return ZERO
  const taken = new Map<string, bigint>()
  const brought = new Map<string, bigint>()
  for (const { gives, given, gets, got } of orders) {
    taken.set(gives, (taken.get(gives) ?? 0n) + given)
    brought.set(gets, (brought.get(gets) ?? 0n) + got)
  }
  const costs = new Map<string, { cost: bigint; gain: bigint }>()
  for (const asset of assets) {
    const equity = equityOf(asset)
    const now = countedValue(asset, equity)
    const without = countedValue(asset, (equity - (taken.get(asset.currency) ?? 0n)) as Amount)
    const withAll = countedValue(asset, (equity + (brought.get(asset.currency) ?? 0n)) as Amount)
    costs.set(asset.currency, { cost: now - without, gain: withAll - now })
  }
  let loss = 0n
  for (const ladder of orders) {
    const { gives, gets } = ladder
    loss += ladder.loss(costs.get(gives)!.cost, taken.get(gives)!, costs.get(gets)!.gain, brought.get(gets)!)
  }
  return loss as Amount
}

/** A move of 15 % of what an underlying's contracts and spot leave open; the initial margin is 1.2 times that. */
const STRESS = [15n, 100n] as const
const INITIAL = [12n, 10n] as const
const partUp = (amount: bigint, [over, under]: readonly [bigint, bigint]): Amount =>
  ((amount * over + under - 1n) / under) as Amount
const sizeOf = (amount: bigint): Amount => (amount < 0n ? -amount : amount) as Amount

function unitFigures(input: RiskInput, unit: RiskUnit): UnitFigures {
  const { currency, price, delta, buys, sells } = unit
  const asset = unit.hedge ? assetIn(input, currency) : undefined
  // Whatever part of the spot orders is filled, this much is there.
  let [least, most] = [0n, 0n]
  if (asset !== undefined) {
    const equity = equityOf(asset)
    least = equity - asset.freeze
    most = equity
    for (const order of input.orders) if (order.gets === currency) most += order.got
  }
  const inUse = (of: bigint): bigint => {
    if (of < 0n) return least <= 0n ? 0n : least < -of ? least : -of
    return most >= 0n ? 0n : -most < of ? most : -of
  }
  const needed = (of: bigint): Amount => partUp(timesUp(sizeOf(of + inUse(of)), price), STRESS)
  const maintenance = needed(delta)
  const [up, down] = [needed(delta + buys), needed(delta - sells)]
  const worst = up > down ? up : down
  const initial = partUp(maintenance, INITIAL)
  return {
    unit,
    inUse: inUse(delta) as Amount,
    maintenance,
    initial,
    orders: worst > maintenance ? subtract(partUp(worst, INITIAL), initial) : ZERO,
  }
}
function contractFigures(input: RiskInput, contracts: ContractRisk): ContractFigures {
  const units = contracts.units.map((unit) => unitFigures(input, unit))
  let { initial, maintenance, orders } = contracts
  for (const unit of units) {
    initial = add(initial, unit.initial)
    maintenance = add(maintenance, unit.maintenance)
    orders = add(orders, unit.orders)
  }
  return { pnl: contracts.pnl, initial, maintenance, orders, units }
}

const ratio = (value: Amount, of: Amount): Rate =>
  (of === 0n
    ? 0n
    : value < 0n
      ? -overDown(-value as Amount, of as bigint as Rate)
      : overDown(value, of as bigint as Rate)) as Rate

export function riskOf(input: RiskInput): RiskFigures {
  const orderLoss = orderLossOf(input)
  const contracts = input.contracts === undefined ? undefined : contractFigures(input, input.contracts)
  let counted = ZERO
  let initialMargin = contracts === undefined ? ZERO : add(contracts.initial, contracts.orders)
  let maintenanceMargin = contracts?.maintenance ?? ZERO
  let total = contracts?.pnl ?? ZERO
  let borrowed = ZERO
  let liabilities = ZERO
  const assets = input.assets.map((asset): AssetFigures => {
    const liability = liabilityOf(asset)
    const equity = equityOf(asset)
    const figures = {
      asset,
      equity,
      liability,
      counted: countedValue(asset, equity),
      initial: marginOf(asset, liability, 'initial'),
      maintenance: marginOf(asset, liability, 'maintenance'),
    }
    counted = add(counted, figures.counted)
    initialMargin = add(initialMargin, figures.initial)
    maintenanceMargin = add(maintenanceMargin, figures.maintenance)
    total = add(total, worth(add(asset.available, asset.freeze), asset.price))
    borrowed = add(borrowed, timesUp(asset.borrowed, asset.price))
    liabilities = add(liabilities, timesUp(liability, asset.price))
    return figures
  })
  const marginBalance = subtract(counted, orderLoss)
  return {
    assets,
    ...(contracts !== undefined && { contracts }),
    orderLoss,
    marginBalance,
    initialMargin,
    maintenanceMargin,
    available: subtract(marginBalance, initialMargin),
    initialRate: ratio(marginBalance, initialMargin),
    maintenanceRate: ratio(marginBalance, maintenanceMargin),
    total,
    borrowed,
    liability: liabilities,
    equity: subtract(total, liabilities),
  }
}
/** What is owed and what positions are worth, for each unit of equity; 0 where there is none. */
export function leverageOf(
  { contracts }: Pick<RiskInput, 'contracts'>,
  { liability, equity }: Pick<RiskFigures, 'liability' | 'equity'>,
): Rate {
  return equity > 0n ? ratio(add(liability, contracts?.positions() ?? ZERO), equity) : (0n as Rate)
}
const replaced = (input: RiskInput, changed: RiskAsset): RiskInput => ({
  ...input,
  assets: input.assets.map((asset) => (asset.currency === changed.currency ? changed : asset)),
})
export const assetIn = (input: RiskInput, currency: string): RiskAsset | undefined =>
  input.assets.find((asset) => asset.currency === currency)

/** Available margin after a loan: the equity stays as it is, the liability grows. */
export function availableAfterLoan(input: RiskInput, currency: string, amount: Amount): Amount {
  const asset = assetIn(input, currency)!
  const after = {
    ...asset,
    available: add(asset.available, amount),
    borrowed: add(asset.borrowed, amount),
  }
  return riskOf(replaced(input, after)).available
}
/** Available margin after an amount has left. Less spot hedges less, too. */
export function availableAfterLeaving(input: RiskInput, currency: string, amount: Amount): Amount {
  const asset = assetIn(input, currency)!
  return riskOf(replaced(input, { ...asset, available: subtract(asset.available, amount) })).available
}

/** The largest multiple of `unit` up to `cap` that passes; passing ends once and for all. */
function largest(cap: Amount, unit: Amount, passes: (amount: Amount) => boolean): Amount {
  let high = cap < 0n ? 0n : cap / unit
  if (high === 0n) return ZERO
  if (passes((high * unit) as Amount)) return (high * unit) as Amount
  let low = 0n
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (passes((middle * unit) as Amount)) low = middle
    else high = middle
  }
  return (low * unit) as Amount
}
/** The most that can be borrowed with available margin at or above zero afterwards, up to a cap. */
export function borrowableOf(input: RiskInput, currency: string, cap: Amount, unit: Amount): Amount {
  const asset = assetIn(input, currency)!
  const { available } = riskOf(input)
  if (available < 0n || input.unpriced !== undefined) return ZERO
  const now = marginOf(asset, liabilityOf(asset), 'initial')
  const room = add(available, now)
  return largest(cap, unit, (amount) => marginOf(asset, add(liabilityOf(asset), amount), 'initial') <= room)
}
/** The most that can leave with available margin at or above zero; all of it where nothing is owed or held in contracts. */
export function transferableOf(input: RiskInput, currency: string, unit: Amount): Amount {
  const asset = assetIn(input, currency)
  if (asset === undefined || freeOf(asset) <= 0n) return ZERO
  if (input.contracts === undefined && input.assets.every((one) => liabilityOf(one) === 0n))
    return (asset.available - (asset.available % unit)) as Amount
  if (input.unpriced !== undefined || availableAfterLeaving(input, currency, ZERO) < 0n) return ZERO
  return largest(freeOf(asset), unit, (amount) => availableAfterLeaving(input, currency, amount) >= 0n)
}
