import type { State } from '../../core/state.ts'
import { requireUnified } from '../../core/unified/accounts.ts'
import { unifiedPortfolio } from '../../core/unified/portfolio.ts'
import { riskOf, type UnitFigures } from '../../core/risk/risk.ts'
import {
  SPOT_TERM,
  greeksOf,
  initialOf,
  marginResult,
  spotInUse,
  type FuturesPosition,
  type MarginResult,
  type OptionsPosition,
  type Scenario,
  type UnitPosition,
} from './scenarios.ts'
import { refuse } from '../../labels.ts'
import { add, format } from '../../money/amount.ts'
import { PUBLIC, endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { flag, listOf, object, oneOf, optional, text, withDefault } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, decimalText, int64, shape, str } from '../shapes.ts'
import { currencyField, pairField } from '../wallet.ts'
import { up } from './views.ts'

const MOST = 100
const DECIMALS = 8
const signedNumber = text({
  max: 40,
  pattern: /^-?\d{1,15}(\.\d{1,18})?$/,
  mend: 'must be a decimal string such as "-1.5"',
})
/** A floating-point figure as a canonical decimal. */
function shown(value: number): string {
  if (!Number.isFinite(value)) return '0'
  // From 10^21 on toFixed tells an exponent; such a number is whole.
  if (Math.abs(value) >= 1e21) return String(BigInt(value))
  const fixed = value.toFixed(DECIMALS).replace(/\.?0+$/, '')
  return fixed === '-0' || fixed === '' ? '0' : fixed
}
const body = object({
  spot_balances: withDefault(listOf(object({ currency: currencyField, equity: signedNumber }), MOST), []),
  spot_orders: withDefault(
    listOf(
      object({
        currency_pairs: pairField,
        order_price: signedNumber,
        count: optional(signedNumber),
        left: signedNumber,
        type: oneOf('buy', 'sell'),
      }),
      MOST,
    ),
    [],
  ),
  futures_positions: withDefault(listOf(object({ contract: pairField, size: signedNumber }), MOST), []),
  futures_orders: withDefault(
    listOf(object({ contract: pairField, size: signedNumber, left: signedNumber }), MOST),
    [],
  ),
  options_positions: withDefault(listOf(object({ options_name: pairField, size: signedNumber }), MOST), []),
  options_orders: withDefault(
    listOf(object({ options_name: pairField, size: signedNumber, left: signedNumber }), MOST),
    [],
  ),
  spot_hedge: withDefault(flag(), false),
})
type Body = typeof body extends { read(value: unknown, name: string): infer B } ? B : never

const OPTION_NAME = /^([A-Z0-9]+)_([A-Z0-9]+)-(\d{4})(\d{2})(\d{2})-(\d+(?:\.\d+)?)-([CP])$/
const YEAR_MS = 365 * 86_400e3
/** BTC_USDT-20261225-60000-C: underlying, day of expiry (08:00 UTC), strike, call or put. */
function readOption(name: string, now: number): { symbol: string; option: Omit<OptionsPosition, 'size'> } {
  const match = OPTION_NAME.exec(name.toUpperCase())
  if (match === null)
    refuse(
      'INVALID_PARAM_VALUE',
      `options_name: "${name}" must look like BTC_USDT-20261225-60000-C (underlying, expiry, strike, C or P)`,
    )
  const expiry = Date.UTC(Number(match[3]), Number(match[4]) - 1, Number(match[5]), 8)
  const years = Math.max(0, (expiry - now) / YEAR_MS)
  const term = match.slice(3, 6).join('')
  return { symbol: match[1]!, option: { strike: Number(match[6]), years, call: match[7] === 'C', term } }
}

interface Unit {
  spot: number
  /** Orders that would raise, or lower, the delta. */
  readonly held: { futures: FuturesPosition[]; options: OptionsPosition[] }
  readonly long: { futures: FuturesPosition[]; options: OptionsPosition[] }
  readonly short: { futures: FuturesPosition[]; options: OptionsPosition[] }
}
/** The positions and orders of a request, by underlying. */
function unitsOf(state: State, request: Body, now: number): Map<string, Unit> {
  const units = new Map<string, Unit>()
  const none = () => ({ futures: [], options: [] })
  const unit = (name: string): Unit => {
    const { currency } = state.world.currency(name)
    let found = units.get(currency)
    if (found === undefined)
      units.set(currency, (found = { spot: 0, held: none(), long: none(), short: none() }))
    return found
  }
  for (const { currency, equity } of request.spot_balances)
    if (currency.toUpperCase() !== 'USDT') unit(currency).spot += Number(equity)
  for (const { currency_pairs, left, type } of request.spot_orders) {
    const { base } = state.world.market(currency_pairs)
    const size = type === 'buy' ? Number(left) : -Number(left)
    if (request.spot_hedge)
      (size > 0 ? unit(base).long : unit(base).short).futures.push({ size, term: SPOT_TERM })
  }
  const baseOf = (contract: string): string => contract.toUpperCase().split('_')[0]!
  /** BTC_USDT is perpetual, BTC_USDT_20261225 ends on a day. */
  const termOf = (contract: string): string => contract.split('_')[2] ?? SPOT_TERM
  for (const { contract, size } of request.futures_positions)
    unit(baseOf(contract)).held.futures.push({ size: Number(size), term: termOf(contract) })
  for (const { contract, left } of request.futures_orders) {
    const size = Number(left)
    const one = unit(baseOf(contract))
    ;(size > 0 ? one.long : one.short).futures.push({ size, term: termOf(contract) })
  }
  for (const { options_name, size } of request.options_positions) {
    const { symbol, option } = readOption(options_name, now)
    unit(symbol).held.options.push({ ...option, size: Number(size) })
  }
  for (const { options_name, left } of request.options_orders) {
    const { symbol, option } = readOption(options_name, now)
    const size = Number(left)
    const raises = size > 0 === option.call
    const one = unit(symbol)
    ;(raises ? one.long : one.short).options.push({ ...option, size })
  }
  return units
}

const rangeShape = shape({
  price_percentage: decimalText,
  implied_volatility_percentage: decimalText,
  profit_loss: decimalText,
})
const rangeView = ({ price, volatility, profit }: Scenario) => ({
  price_percentage: shown(price),
  implied_volatility_percentage: shown(volatility),
  profit_loss: shown(profit),
})
const resultView = (type: string, result: MarginResult) => ({
  type,
  profit_loss_ranges: result.scenarios.map(rangeView),
  max_loss: rangeView(result.worst),
  mr1: shown(result.scenarioLoss),
  mr2: shown(result.basis),
  mr3: shown(result.volatility),
  mr4: shown(result.shortOptions),
})
const greekShape = { delta: decimalText, gamma: decimalText, theta: decimalText, vega: decimalText }
function greekView(price: number, position: UnitPosition, hedge: number) {
  const { delta, gamma, theta, vega } = greeksOf(price, position, hedge)
  return { delta: shown(delta), gamma: shown(gamma), theta: shown(theta), vega: shown(vega) }
}
/** The unit as it stands, and with the orders of one direction filled; the worst of the three counts. */
function unitView(state: State, symbol: string, unit: Unit, spotHedge: boolean) {
  const price = Number(format(state.prices.of(symbol)))
  const position: UnitPosition = { spot: unit.spot, ...unit.held }
  const hedge = spotInUse(price, position, spotHedge)
  const withOrders = (orders: Unit['long']): UnitPosition => ({
    spot: unit.spot,
    futures: [...unit.held.futures, ...orders.futures],
    options: [...unit.held.options, ...orders.options],
  })
  const results = [
    ['original_position', position],
    ['long_delta_original_position', withOrders(unit.long)],
    ['short_delta_original_position', withOrders(unit.short)],
  ] as const
  const margins = results.map(([type, of]) => ({ type, result: marginResult(price, of, hedge) }))
  const maintenance = Math.max(...margins.map(({ result }) => result.maintenance))
  return {
    maintenance,
    view: {
      symbol,
      spot_in_use: shown(hedge),
      maintain_margin: shown(maintenance),
      initial_margin: shown(initialOf(maintenance)),
      margin_result: margins.map(({ type, result }) => resultView(type, result)),
      ...greekView(price, position, hedge),
    },
  }
}

/** The account's own, in exact figures; contracts on one underlying and the spot that stands against them. */
function riskUnit(symbol: string, figures: UnitFigures | undefined) {
  const none = { gamma: '0', theta: '0', vega: '0' }
  if (figures === undefined)
    return { symbol, spot_in_use: '0', maintain_margin: '0', initial_margin: '0', delta: '0', ...none }
  const { unit, inUse, maintenance, initial, orders } = figures
  return {
    symbol,
    spot_in_use: format(inUse),
    maintain_margin: up(maintenance),
    initial_margin: up(add(initial, orders)),
    delta: format(add(unit.delta, inUse)),
    ...none,
  }
}

export const calculatorEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/unified/portfolio_calculator',
    summary: 'Estimates the portfolio margin of made-up positions over 33 scenarios',
    access: PUBLIC,
    limit: LIMITS.public,
    body,
    status: 200,
    reply: shape({
      maintain_margin_total: decimalText,
      initial_margin_total: decimalText,
      calculate_time: int64,
      risk_unit: array(
        shape({
          symbol: str,
          spot_in_use: decimalText,
          maintain_margin: decimalText,
          initial_margin: decimalText,
          margin_result: array(
            shape({
              type: str,
              profit_loss_ranges: array(rangeShape),
              max_loss: rangeShape,
              mr1: decimalText,
              mr2: decimalText,
              mr3: decimalText,
              mr4: decimalText,
            }),
          ),
          ...greekShape,
        }),
      ),
    }),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'],
    handle: async ({ desk, body: request }) =>
      desk.core.read((state) => {
        const now = desk.clock.seconds() * 1000
        const units = [...unitsOf(state, request, now)].map(([symbol, unit]) =>
          unitView(state, symbol, unit, request.spot_hedge),
        )
        const total = units.reduce((sum, { maintenance }) => sum + maintenance, 0)
        return {
          maintain_margin_total: shown(total),
          initial_margin_total: shown(initialOf(total)),
          calculate_time: Math.floor(now / 1000),
          risk_unit: units.map(({ view }) => view),
        }
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/risk_units',
    summary: "Shows the account's risk unit of each underlying; meaningful in portfolio mode",
    access: signed('unified'),
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({
      user_id: int64,
      spot_hedge: bool,
      risk_units: array(
        shape({
          symbol: str,
          spot_in_use: decimalText,
          maintain_margin: decimalText,
          initial_margin: decimalText,
          ...greekShape,
        }),
      ),
    }),
    refuses: ['ACCOUNT_EXCEPTION'],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => {
        const { user_id } = caller.user
        const account = requireUnified(state, user_id)
        const hedged = account.settings.spot_hedge === true
        const figures = account.mode === 'portfolio' ? riskOf(unifiedPortfolio(state, user_id)) : undefined
        const units = new Map<string, UnitFigures | undefined>()
        for (const { asset } of figures?.assets ?? [])
          if (asset.currency !== 'USDT' && asset.price > 0n) units.set(asset.currency, undefined)
        for (const one of figures?.contracts?.units ?? []) units.set(one.unit.currency, one)
        return {
          user_id,
          spot_hedge: hedged,
          risk_units: [...units]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([symbol, of]) => riskUnit(symbol, of)),
        }
      }),
  }),
]
