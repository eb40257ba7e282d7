import {
  ONE,
  ONE_RATE,
  amountOf,
  decimalsOf,
  parseAmount,
  priceOf,
  rateOf,
  type Rate,
} from '../../../money/amount.ts'
import { CONTRACT_STATUSES, contractId, type ContractConfig, type TierConfig } from './contracts.ts'
import type { WorldConfig } from './config.ts'

/** What a configuration file must say of a contract; all else has usual values. */
export type GivenContract = Partial<ContractConfig> &
  Pick<
    ContractConfig,
    | 'group'
    | 'settle'
    | 'type'
    | 'quanto_multiplier'
    | 'order_price_round'
    | 'mark_price_round'
    | 'leverage_max'
    | 'tiers'
  >

const USUAL = {
  order_size_min: 1,
  order_size_max: 1_000_000,
  market_order_size_max: '0',
  leverage_min: '1',
  cross_leverage_default: '10',
  maker_fee_rate: '0.0002',
  taker_fee_rate: '0.0005',
  order_price_deviate: '0.2',
  market_order_slip_ratio: '0.05',
  funding_interval: 28_800,
  interest_rate: '0.0003',
  funding_rate_limit: '0.003',
  funding_impact_value: '10000',
  orders_limit: 100,
  status: 'trading',
  create_time: 0,
  launch_time: 0,
  delisting_time: 0,
  delisted_time: 0,
  config_change_time: 0,
  cycle: '',
  expire_time: 0,
} as const
const OF_GROUP = {
  futures: { mark_bound: '0.03', mark_bound_year: '0', settle_fee_rate: '0', basis_impact_value: '0' },
  delivery: {
    mark_bound: '0.05',
    mark_bound_year: '0.04',
    settle_fee_rate: '0.00015',
    basis_impact_value: '100000',
  },
} as const

/** A configuration file may leave the usual rules out. Members in the order in which all contracts have them. */
export function completeContract(given: GivenContract): ContractConfig {
  const underlying = given.underlying ?? given.name ?? ''
  const name = given.name ?? (given.group === 'delivery' ? '' : underlying)
  return {
    ...USUAL,
    ...OF_GROUP[given.group],
    risk_limit_table: underlying,
    ...given,
    name,
    underlying,
  }
}
/** What dated contracts are made of: it has no date of its own. */
export const isTemplate = ({ group, expire_time }: ContractConfig): boolean =>
  group === 'delivery' && expire_time === 0
/** The id of a template says what its contracts are on. */
export const templateId = ({ group, settle, underlying }: ContractConfig): string =>
  contractId(group, settle, underlying)

/** What an operator may change at run time. */
export const CONTRACT_SETTINGS = [
  'order_price_deviate',
  'order_size_max',
  'market_order_slip_ratio',
  'orders_limit',
  'funding_rate_limit',
  'leverage_max',
  'tiers',
  'status',
  'delisting_time',
  'delisted_time',
] as const satisfies readonly (keyof ContractConfig)[]
export type ContractChange = Partial<Pick<ContractConfig, (typeof CONTRACT_SETTINGS)[number]>>
/** All that may have changed a contract since its file: `settling` and `delisted` are its end. */
export type ContractOverlay = Omit<ContractChange, 'status'> &
  Partial<Pick<ContractConfig, 'config_change_time' | 'risk_limit_table'>> & {
    readonly status?: ContractConfig['status'] | 'settling'
  }

const UNDERLYING = /^([A-Z0-9]{1,20})_([A-Z0-9]{1,20})$/
const SIZE_MAX = 1_000_000_000
const LEVERAGE_DECIMALS = 2
const TIERS_MAX = 100
const DAY = 86_400

/** All contracts of a configuration; the error says where it is wrong. */
export function checkContracts(world: WorldConfig): void {
  const precisions = new Map(world.currencies.map(({ currency, precision }) => [currency, precision]))
  const known = new Set<string>()
  for (const [i, given] of (world.contracts ?? []).entries()) {
    const where = `contracts[${i}]`
    const config = completeContract(given)
    if (config.expire_time !== 0 || config.cycle !== '')
      throw new TypeError(
        `${where}.expire_time and cycle must be left out: the platform lists dated contracts by itself, every Friday`,
      )
    if (config.group === 'delivery' && config.name !== '' && config.name !== config.underlying)
      throw new TypeError(
        `${where}.name must be left out, or ${config.underlying}: dated contracts get their names from their dates`,
      )
    checkNames(config, world.settle, precisions, where)
    checkContract(config, precisions.get(config.settle.toUpperCase())!, where)
    const id = contractId(config.group, config.settle, config.name || config.underlying)
    if (known.has(id)) throw new TypeError(`${where}: ${id} is there twice`)
    known.add(id)
  }
}
/** The built-in contracts that a file which names none, but other currencies, can have. */
export const fitting = (contracts: readonly ContractConfig[], world: WorldConfig): ContractConfig[] =>
  contracts.filter((contract) => {
    try {
      checkContracts({ ...world, contracts: [contract] })
      return true
    } catch {
      return false
    }
  })

function checkNames(
  { group, settle, name, underlying, type }: ContractConfig,
  settles: WorldConfig['settle'],
  precisions: ReadonlyMap<string, number>,
  where: string,
): void {
  if (!settles[group].includes(settle))
    throw new TypeError(
      `${where}.settle ${settle} is not among settle.${group} (${settles[group].join(', ')}), in lower case`,
    )
  const currency = settle.toUpperCase()
  if (!precisions.has(currency))
    throw new TypeError(`${where}.settle names ${currency}, which is not among the currencies`)
  const [, base, quote] = UNDERLYING.exec(underlying) ?? []
  if (base === undefined)
    throw new TypeError(`${where}.underlying must be an index such as BTC_USDT, not "${underlying}"`)
  if (group === 'futures' && name !== underlying)
    throw new TypeError(`${where}.name must be its underlying, ${underlying}`)
  if (!precisions.has(base))
    throw new TypeError(`${where}.underlying names ${base}, which is not among the currencies`)
  // Index prices are in USDT, or in USD by the configured rate.
  if (type === 'direct' && (quote !== 'USDT' || settle !== 'usdt'))
    throw new TypeError(`${where}: a direct contract is on an index in USDT and settles in usdt`)
  if (type === 'inverse' && (quote !== 'USD' || base !== currency))
    throw new TypeError(
      `${where}: an inverse contract settles in what it is on: ${currency}_USD for settle ${settle}`,
    )
}

/** The rules of one contract; `precision` is that of its settle currency. */
export function checkContract(config: ContractConfig, precision: number, where: string): void {
  checkTicks(config, precision, where)
  const whole = (name: 'order_size_min' | 'order_size_max' | 'orders_limit', low: number): void => {
    if (!Number.isSafeInteger(config[name]) || config[name] < low || config[name] > SIZE_MAX)
      throw new TypeError(`${where}.${name} must be a whole number from ${low} to ${SIZE_MAX}`)
  }
  whole('order_size_min', 1)
  whole('order_size_max', config.order_size_min)
  whole('orders_limit', 1)
  const most = amountOf(config.market_order_size_max)
  if (most % ONE !== 0n || most > BigInt(config.order_size_max) * ONE)
    throw new TypeError(
      `${where}.market_order_size_max must be a whole number of contracts, at most order_size_max; "0" is the same as that`,
    )
  for (const name of ['order_price_deviate', 'market_order_slip_ratio', 'mark_bound'] as const)
    between(config, name, where)
  for (const name of ['maker_fee_rate', 'taker_fee_rate', 'funding_rate_limit', 'settle_fee_rate'] as const)
    if (rateOf(config[name]) >= ONE_RATE / 10n) throw new TypeError(`${where}.${name} must be below 0.1`)
  const { funding_interval } = config
  if (
    !Number.isSafeInteger(funding_interval) ||
    funding_interval < 60 ||
    funding_interval % 60 !== 0 ||
    DAY % funding_interval !== 0
  )
    throw new TypeError(
      `${where}.funding_interval must be seconds of whole minutes that a day is a multiple of, such as 28800`,
    )
  if (!CONTRACT_STATUSES.includes(config.status))
    throw new TypeError(`${where}.status must be one of ${CONTRACT_STATUSES.join(', ')}`)
  if (config.delisted_time !== 0 && config.delisted_time < config.delisting_time)
    throw new TypeError(`${where}.delisted_time must not be before delisting_time`)
  checkLeverage(config, where)
  checkTiers(config, where)
}
function between(
  config: ContractConfig,
  name: 'order_price_deviate' | 'market_order_slip_ratio' | 'mark_bound',
  where: string,
): void {
  const rate = rateOf(config[name])
  if (rate === 0n || rate >= ONE_RATE) throw new TypeError(`${where}.${name} must be above 0 and below 1`)
}
/** Linear values must be exact: a price times a size never has more decimals than the settle currency. */
function checkTicks(config: ContractConfig, precision: number, where: string): void {
  const q = amountOf(config.quanto_multiplier)
  if (config.type === 'inverse' && q !== 0n)
    throw new TypeError(`${where}.quanto_multiplier must be "0": an inverse contract is one USD`)
  if (config.type === 'direct' && q === 0n)
    throw new TypeError(`${where}.quanto_multiplier must be above 0: so much is one contract`)
  for (const name of ['order_price_round', 'mark_price_round'] as const) {
    const tick = priceOf(config[name])
    if (tick === 0n) throw new TypeError(`${where}.${name} must be above 0`)
    const decimals = decimalsOf(q) + decimalsOf(tick)
    if (decimals > precision)
      throw new TypeError(
        `${where}.${name}: with quanto_multiplier it has ${decimals} decimals, and ${config.settle.toUpperCase()} has ${precision}`,
      )
  }
}
function checkLeverage(config: ContractConfig, where: string): void {
  for (const name of ['leverage_min', 'leverage_max', 'cross_leverage_default'] as const) {
    const leverage = rateOf(config[name])
    if (leverage < ONE_RATE || decimalsOf(leverage) > LEVERAGE_DECIMALS)
      throw new TypeError(`${where}.${name} must be 1 or more, with at most ${LEVERAGE_DECIMALS} decimals`)
  }
  if (rateOf(config.leverage_min) > rateOf(config.leverage_max))
    throw new TypeError(`${where}.leverage_min must not be above leverage_max`)
}
/** Limits and rates rise, leverages fall, and whoever has just opened at the most is not liquidated at once. */
function checkTiers({ tiers, leverage_max, taker_fee_rate }: ContractConfig, where: string): void {
  if (tiers.length === 0 || tiers.length > TIERS_MAX)
    throw new TypeError(`${where}.tiers must have 1 to ${TIERS_MAX} tiers`)
  const tf = rateOf(taker_fee_rate)
  let below: TierConfig | undefined
  for (const [i, tier] of tiers.entries()) {
    const at = `${where}.tiers[${i}]`
    for (const name of ['risk_limit', 'maintenance_rate', 'leverage_max'] as const)
      if ((parseAmount(tier[name]) ?? 0n) === 0n)
        throw new TypeError(`${at}.${name} must be a decimal string above 0`)
    const [leverage, maintenance] = [rateOf(tier.leverage_max), rateOf(tier.maintenance_rate)]
    if (leverage < ONE_RATE) throw new TypeError(`${at}.leverage_max must be 1 or more`)
    if (below !== undefined) {
      if (amountOf(tier.risk_limit) <= amountOf(below.risk_limit))
        throw new TypeError(`${at}.risk_limit must be above that of the tier before it`)
      if (maintenance <= rateOf(below.maintenance_rate))
        throw new TypeError(`${at}.maintenance_rate must be above that of the tier before it`)
      if (leverage >= rateOf(below.leverage_max))
        throw new TypeError(`${at}.leverage_max must be below that of the tier before it`)
    }
    if (!leavesRoom(maintenance, leverage, tf))
      throw new TypeError(`${at}.maintenance_rate must be below 1 / leverage_max - taker_fee_rate`)
    below = tier
  }
  if (rateOf(leverage_max) > rateOf(tiers[0]!.leverage_max))
    throw new TypeError(`${where}.leverage_max must not be above that of the first tier`)
}
const leavesRoom = (maintenance: Rate, leverage: Rate, tf: Rate): boolean =>
  (maintenance + tf) * leverage < ONE * ONE
