import { ZERO, add, overDown, timesUp, type Amount, type Rate } from '../../money/amount.ts'
import { assetIn, type RiskFigures, type RiskInput } from './risk.ts'

/**
 * How an account in debt stands, from well to badly: below 110 % of its initial margin it is warned, below
 * 100 % it is restricted (no loan and no order that raises its risk), below 100 % of its maintenance margin it
 * is locked and liquidated. The rules look at the figures themselves; a level is what is told and recorded.
 */
export const RISK_LEVELS = ['normal', 'warned', 'restricted', 'locked'] as const
export type RiskLevel = (typeof RISK_LEVELS)[number]

const WARNED_PERCENT = 110n
/** A better level is reached only 2 % above its border: an account at a border does not swing with each tick. */
const EASED_PERCENT = 102n

/** Below which margin balance an account is at a level. */
function borderOf({ initialMargin, maintenanceMargin }: RiskFigures, level: number): bigint {
  if (level === 3) return maintenanceMargin
  return level === 2 ? initialMargin : (initialMargin * WARNED_PERCENT) / 100n
}
/** The worst level whose border lies above a margin balance. Positions are liquidated at their border already. */
function riskLevelAt(figures: RiskFigures, balance: bigint): number {
  if (figures.contracts !== undefined && balance === borderOf(figures, 3)) return 3
  for (const level of [3, 2, 1]) if (balance < borderOf(figures, level)) return level
  return 0
}
/** The level of an account that was told another before. Who owes nothing needs no margin. */
export function riskLevelOf(figures: RiskFigures, before: RiskLevel = 'normal'): RiskLevel {
  const { marginBalance, maintenanceMargin } = figures
  if (maintenanceMargin === 0n) return 'normal'
  const now = riskLevelAt(figures, marginBalance)
  const eased = riskLevelAt(figures, (marginBalance * 100n) / EASED_PERCENT)
  const stays = Math.min(RISK_LEVELS.indexOf(before), eased)
  return RISK_LEVELS[now === 3 ? 3 : Math.max(now, Math.min(stays, 2))]!
}
/** Below 100 % of the maintenance margin. */
export const mustLiquidate = (figures: RiskFigures): boolean => riskLevelOf(figures) === 'locked'
/** Below 100 % of the initial margin. */
export const isRestricted = (figures: RiskFigures): boolean =>
  figures.maintenanceMargin > 0n && figures.available < 0n

/**
 * How far every price may move, as a ratio, before the account can reach another level: what lies between its
 * margin balance and a border, over all that moves with prices. As long as no price has moved that far it
 * needs no look.
 */
export function distanceOf(input: RiskInput, figures: RiskFigures, level: RiskLevel): Rate {
  const exposure = exposureOf(input, figures)
  const known = RISK_LEVELS.indexOf(level)
  const borders = [1, 2, 3].filter((next) => next > known).map((next) => borderOf(figures, next))
  if (known > 0) borders.push((borderOf(figures, known) * EASED_PERCENT) / 100n)
  let least: bigint | undefined
  for (const border of borders) {
    const between = figures.marginBalance - border
    const moves = (exposure + border) as Rate
    const ratio = moves === 0n ? 0n : overDown((between < 0n ? -between : between) as Amount, moves)
    if (least === undefined || ratio < least) least = ratio
  }
  return (least ?? 0n) as Rate
}
function exposureOf(input: RiskInput, figures: RiskFigures): bigint {
  // What positions need moves with prices too, in the highest tier by as much as they do.
  const held = input.contracts?.value() ?? ZERO
  let exposure = add(held, held)
  for (const { counted } of figures.assets)
    exposure = add(exposure, (counted < 0n ? -counted : counted) as Amount)
  for (const { gives, given, gets, got } of input.orders)
    for (const [currency, amount] of [
      [gives, given],
      [gets, got],
    ] as const) {
      const asset = assetIn(input, currency)
      if (asset !== undefined) exposure = add(exposure, timesUp(amount, asset.price))
    }
  return exposure
}
