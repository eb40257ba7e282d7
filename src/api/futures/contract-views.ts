import { basisRate, ontoMark } from '../../core/contracts/prices.ts'
import { indexOf, settlePriceNow } from '../../core/futures/prices.ts'
import { usersIn } from '../../core/futures/stats.ts'
import type { State } from '../../core/state.ts'
import { amountOfContracts, type Contract } from '../../core/tables/world/contracts.ts'
import { ONE, ONE_RATE, format, roundDown, type Amount, type Price, type Rate } from '../../money/amount.ts'
import type { JsonSchema } from '../fields.ts'
import { bool, decimalText, int, int64, num, shape, str } from '../shapes.ts'
import type { Look } from './order-views.ts'
import { sizeShape } from './sizes.ts'

/** What a contract's prices are now; before its first evaluation the index is all there is. */
export interface ContractFigures {
  readonly index: Price
  readonly mark: Price
  readonly fundingRate: Rate
  /** Unix seconds; 0 of dated ones. */
  readonly nextFunding: number
}
export function figuresOf(state: State, contract: Contract, now: number): ContractFigures {
  const { id, terms, funding } = contract
  const row = state.futures.priceOf(id)
  const index = row?.index ?? indexOf(state, contract)
  const interval = funding?.intervalSeconds ?? 0
  const multiple = interval === 0 ? 0 : (Math.floor(now / interval) + 1) * interval
  return {
    index,
    mark: row?.mark ?? ontoMark(terms, index),
    fundingRate: row?.funding_rate ?? (0n as Rate),
    nextFunding: row === undefined || row.next_funding === 0 ? multiple : row.next_funding,
  }
}

const commonMembers = {
  name: str,
  type: str,
  quanto_multiplier: decimalText,
  leverage_min: decimalText,
  leverage_max: decimalText,
  maintenance_rate: decimalText,
  mark_type: str,
  mark_price: decimalText,
  index_price: decimalText,
  last_price: decimalText,
  maker_fee_rate: decimalText,
  taker_fee_rate: decimalText,
  order_price_round: decimalText,
  mark_price_round: decimalText,
  risk_limit_base: decimalText,
  risk_limit_step: decimalText,
  risk_limit_max: decimalText,
  order_price_deviate: decimalText,
  ref_discount_rate: decimalText,
  ref_rebate_rate: decimalText,
  orderbook_id: int64,
  trade_id: int64,
  config_change_time: num,
  in_delisting: bool,
  orders_limit: int,
  create_time: num,
  status: str,
}
const sizeMembers = (size: JsonSchema) => ({
  order_size_min: size,
  order_size_max: size,
  trade_size: size,
  position_size: size,
})
export const contractShape = shape({
  ...commonMembers,
  ...sizeMembers(sizeShape),
  funding_rate: decimalText,
  funding_rate_indicative: decimalText,
  funding_interval: int,
  funding_next_apply: num,
  funding_offset: int,
  funding_cap_ratio: decimalText,
  funding_rate_limit: decimalText,
  funding_impact_value: decimalText,
  interest_rate: decimalText,
  enable_decimal: bool,
  enable_bonus: bool,
  enable_credit: bool,
  enable_circuit_breaker: bool,
  launch_time: int64,
  delisting_time: int64,
  delisted_time: int64,
  market_order_slip_ratio: decimalText,
  market_order_size_max: decimalText,
  contract_type: str,
  long_users: int,
  short_users: int,
  cross_leverage_default: decimalText,
  is_pre_market: bool,
})
export const deliveryContractShape = shape({
  ...commonMembers,
  ...sizeMembers(int64),
  underlying: str,
  cycle: str,
  basis_rate: decimalText,
  basis_value: decimalText,
  basis_impact_value: decimalText,
  settle_price: decimalText,
  settle_price_interval: int,
  settle_price_duration: int,
  settle_fee_rate: decimalText,
  expire_time: int64,
})

function commonView(state: State, contract: Contract, { index, mark }: ContractFigures, { sizes }: Look) {
  const { futures } = state
  const { id, name, shown: config, terms, settling } = contract
  const { book_id, volume } = futures.figuresOf(id)
  const [first, last] = [terms.tiers[0]!, terms.tiers.at(-1)!]
  return {
    name,
    type: config.type,
    quanto_multiplier: config.quanto_multiplier,
    leverage_min: config.leverage_min,
    leverage_max: config.leverage_max,
    maintenance_rate: format(first.maintenance),
    mark_type: 'index',
    mark_price: format(mark),
    index_price: format(index),
    last_price: format(futures.lastPrice(id) ?? mark),
    maker_fee_rate: config.maker_fee_rate,
    taker_fee_rate: config.taker_fee_rate,
    order_price_round: config.order_price_round,
    mark_price_round: config.mark_price_round,
    risk_limit_base: format(first.limit),
    // Above zero: clients count up to the most in steps of this.
    risk_limit_step: format(last === first ? first.limit : ((last.limit - first.limit) as Amount)),
    risk_limit_max: format(last.limit),
    order_price_deviate: config.order_price_deviate,
    ref_discount_rate: '0',
    ref_rebate_rate: '0',
    orderbook_id: book_id,
    trade_id: futures.trades.of(id).at(-1)?.id ?? 0,
    config_change_time: config.config_change_time,
    in_delisting: settling || config.status === 'delisting',
    orders_limit: config.orders_limit,
    create_time: config.create_time,
    status: settling ? 'delisting' : config.status,
    order_size_min: sizes(amountOfContracts(contract.sizeMin)),
    order_size_max: sizes(amountOfContracts(contract.sizeMax)),
    trade_size: sizes(volume),
    position_size: sizes(futures.positions.sumsOf(id).long as Amount),
  }
}
const RATE_DECIMALS = 6
const cut = (rate: bigint): string => format(roundDown(rate as Amount, RATE_DECIMALS))

export function contractView(state: State, contract: Contract, now: number, look: Look) {
  const { shown: config, terms } = contract
  const figures = figuresOf(state, contract, now)
  const { longs, shorts } = usersIn(state, contract.id)
  const rate = format(figures.fundingRate)
  // As it is defined: the limit as a share of what the highest leverage leaves above the maintenance rate.
  const room = (ONE * ONE) / contract.leverageMax - terms.tiers[0]!.maintenance
  return {
    ...commonView(state, contract, figures, look),
    funding_rate: rate,
    funding_rate_indicative: rate,
    funding_interval: config.funding_interval,
    funding_next_apply: figures.nextFunding,
    funding_offset: 0,
    funding_cap_ratio: room <= 0n ? '0' : cut(((contract.funding?.limit ?? 0n) * ONE) / room),
    funding_rate_limit: config.funding_rate_limit,
    funding_impact_value: config.funding_impact_value,
    interest_rate: config.interest_rate,
    enable_decimal: false,
    enable_bonus: false,
    enable_credit: true,
    enable_circuit_breaker: false,
    launch_time: config.launch_time,
    delisting_time: config.delisting_time,
    delisted_time: config.delisted_time,
    market_order_slip_ratio: config.market_order_slip_ratio,
    market_order_size_max: config.market_order_size_max,
    contract_type: '',
    long_users: longs,
    short_users: shorts,
    cross_leverage_default: format(contract.crossDefault),
    is_pre_market: config.status === 'prelaunch',
  }
}

/** How far a dated contract is from its index: the difference, and what that is for a year. */
export function basisOf(
  { config }: Contract,
  { index, mark }: ContractFigures,
  now: number,
): { readonly basis_rate: string; readonly basis_value: string } {
  const days = (config.expire_time - now) / 86_400
  return {
    basis_rate: index === 0n ? '0' : format(basisRate(mark, index, days)),
    basis_value: format((mark - index) as Price),
  }
}
export function deliveryContractView(state: State, contract: Contract, now: number, look: Look) {
  const { id, shown: config } = contract
  const figures = figuresOf(state, contract, now)
  return {
    ...commonView(state, contract, figures, look),
    underlying: config.underlying,
    cycle: config.cycle,
    ...basisOf(contract, figures, now),
    basis_impact_value: config.basis_impact_value,
    settle_price: format(settlePriceNow(contract, state.futures.priceOf(id))),
    settle_price_interval: 60,
    settle_price_duration: 1_800,
    settle_fee_rate: config.settle_fee_rate,
    expire_time: config.expire_time,
  }
}

const tierMembers = {
  tier: int,
  risk_limit: decimalText,
  initial_rate: decimalText,
  maintenance_rate: decimalText,
  leverage_max: decimalText,
  deduction: decimalText,
}
export const tierShape = shape({ ...tierMembers, 'contract?': str })
export const tableShape = shape(tierMembers)
export const tierViews = ({ terms }: Contract) =>
  terms.tiers.map(({ limit, maintenance, leverageMax, deduction }, i) => ({
    tier: i + 1,
    risk_limit: format(limit),
    initial_rate: cut((ONE_RATE * ONE) / leverageMax),
    maintenance_rate: format(maintenance),
    leverage_max: format(leverageMax),
    deduction: format(deduction),
  }))
