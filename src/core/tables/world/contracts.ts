import {
  ONE,
  ONE_RATE,
  amountOf,
  canonical,
  priceOf,
  rateOf,
  unitOf,
  type Amount,
  type Price,
  type Rate,
} from '../../../money/amount.ts'
import { DATED_CYCLES } from '../../contracts/dates.ts'
import type { FundingTerms } from '../../contracts/prices.ts'
import { withDeductions, type Terms } from '../../contracts/terms.ts'
import {
  clearingName,
  contractDebt,
  contractName,
  type AccountName,
  type FreeName,
} from '../../ledger/accounts.ts'
import type { ContractGroup } from '../exchange/order.ts'

export interface TierConfig {
  readonly risk_limit: string
  readonly maintenance_rate: string
  readonly leverage_max: string
}
export const CONTRACT_STATUSES = ['prelaunch', 'trading', 'delisting', 'delisted', 'circuit_breaker'] as const
export type ContractStatus = (typeof CONTRACT_STATUSES)[number]
export const CYCLES = DATED_CYCLES
export type Cycle = (typeof CYCLES)[number]

/** The rules of one contract, as the configuration and the operator write them; in the words of the API. */
export interface ContractConfig {
  readonly group: ContractGroup
  /** In lower case: usdt, btc. */
  readonly settle: string
  readonly name: string
  /** The index that it follows: BTC_USDT, BTC_USD. */
  readonly underlying: string
  readonly type: 'direct' | 'inverse'
  readonly quanto_multiplier: string
  readonly order_price_round: string
  readonly mark_price_round: string
  readonly order_size_min: number
  readonly order_size_max: number
  /** "0": order_size_max. */
  readonly market_order_size_max: string
  readonly leverage_min: string
  readonly leverage_max: string
  readonly cross_leverage_default: string
  readonly maker_fee_rate: string
  readonly taker_fee_rate: string
  readonly order_price_deviate: string
  readonly market_order_slip_ratio: string
  readonly funding_interval: number
  readonly interest_rate: string
  readonly funding_rate_limit: string
  readonly funding_impact_value: string
  readonly orders_limit: number
  readonly risk_limit_table: string
  readonly tiers: readonly TierConfig[]
  /** How far from the index the mark may be; delivery adds `mark_bound_year` for each year left. */
  readonly mark_bound: string
  readonly mark_bound_year: string
  readonly status: ContractStatus
  /** Unix seconds; 0: none. */
  readonly create_time: number
  readonly launch_time: number
  readonly delisting_time: number
  readonly delisted_time: number
  readonly config_change_time: number
  // Of dated contracts.
  readonly cycle: Cycle | ''
  readonly expire_time: number
  readonly settle_fee_rate: string
  readonly basis_impact_value: string
}

/** A contract's rules in the numbers that matching and margin work with. */
export interface Contract {
  readonly config: ContractConfig
  /** The same as replies show it, however the file or an operator wrote the figures. */
  readonly shown: ContractConfig
  /** group/settle/name: unique among all contracts, and the `pair` of its orders, trades and candles. */
  readonly id: string
  /** The candles of its mark and of its index. */
  readonly markSeries: string
  readonly indexSeries: string
  /** group/settle: the account that it is settled in. */
  readonly account: string
  readonly group: ContractGroup
  readonly settle: string
  /** The settle currency. */
  readonly currency: string
  /** Ledger accounts: of users' cash and debt, and of what the contract's positions have paid and got. */
  readonly cash: FreeName
  readonly debt: AccountName
  readonly clearing: AccountName
  readonly name: string
  /** The currency whose index price it follows, and whether in USD. */
  readonly base: string
  readonly inUsd: boolean
  readonly terms: Terms
  /** Of orders: one contract. */
  readonly lot: Amount
  readonly tick: Price
  readonly priceMax: Price
  /** Contracts. */
  readonly sizeMin: bigint
  readonly sizeMax: bigint
  readonly marketSizeMax: bigint
  readonly makerMax: Rate
  readonly deviate: Rate
  readonly slip: Rate
  readonly leverageMin: Rate
  readonly leverageMax: Rate
  readonly crossDefault: Rate
  /** Of an isolated position whose owner has never named a leverage. */
  readonly isolatedFirst: Rate
  /** Undefined: it has no funding. */
  readonly funding: FundingTerms | undefined
  readonly impactValue: Amount
  readonly markBound: Rate
  readonly markBoundYear: Rate
  /** Microseconds; 0: never. */
  readonly expireAt: number
  /** The same of its end, whichever comes first: that, or when it is delisted. */
  readonly endAt: number
  readonly settleFee: Rate
  /** Its end has come: its orders go, its positions are closed, nobody trades. */
  readonly settling: boolean
}

/** What the names of series of a contract's figures begin with. */
export const MARK_SERIES = 'mark_'
export const INDEX_SERIES = 'index_'

export const contractId = (group: ContractGroup, settle: string, name: string): string =>
  `${group}/${settle}/${name}`
/** group/settle of a contract's id. */
export const accountOfContract = (id: string): string => id.slice(0, id.lastIndexOf('/'))
export const nameOfContract = (id: string): string => id.slice(id.lastIndexOf('/') + 1)

/** One contract of an order or position row, whose amounts have 18 decimals like all others. */
export const CONTRACT = ONE as Amount
export const contractsIn = (amount: Amount): bigint => amount / ONE
export const amountOfContracts = (contracts: bigint): Amount => (contracts * ONE) as Amount

const TICKS_MAX = BigInt(Number.MAX_SAFE_INTEGER)
export function compileContract(given: ContractConfig, precision: number, settling = false): Contract {
  // Whoever only looks at the status takes no order then.
  const config: ContractConfig = settling ? { ...given, status: 'circuit_breaker' } : given
  const { group, settle, name } = config
  const tick = priceOf(config.order_price_round)
  const inverse = config.type === 'inverse'
  const sizeMax = BigInt(config.order_size_max)
  const marketMax = amountOf(config.market_order_size_max) / ONE
  const account = `${group}/${settle}`
  const id = contractId(group, settle, name)
  return {
    config,
    shown: shownTerms(config),
    id,
    markSeries: MARK_SERIES + id,
    indexSeries: INDEX_SERIES + id,
    account,
    group,
    settle,
    currency: settle.toUpperCase(),
    cash: contractName(group, settle),
    debt: contractDebt(group, settle),
    clearing: clearingName(group, settle, name),
    name,
    base: config.underlying.split('_')[0]!,
    inUsd: config.underlying.endsWith('_USD'),
    terms: {
      kind: inverse ? 'inverse' : 'linear',
      q: inverse ? (ONE as Amount) : amountOf(config.quanto_multiplier),
      unit: unitOf(precision),
      tf: rateOf(config.taker_fee_rate),
      tick,
      markTick: priceOf(config.mark_price_round),
      tiers: withDeductions(
        config.tiers.map(({ risk_limit, maintenance_rate, leverage_max }) => ({
          limit: amountOf(risk_limit),
          maintenance: rateOf(maintenance_rate),
          leverageMax: rateOf(leverage_max),
        })),
      ),
    },
    lot: CONTRACT,
    tick,
    priceMax: (tick * TICKS_MAX) as Price,
    sizeMin: BigInt(config.order_size_min),
    sizeMax,
    marketSizeMax: marketMax === 0n ? sizeMax : marketMax,
    makerMax: rateOf(config.maker_fee_rate),
    deviate: rateOf(config.order_price_deviate),
    slip: rateOf(config.market_order_slip_ratio),
    leverageMin: rateOf(config.leverage_min),
    leverageMax: rateOf(config.leverage_max),
    crossDefault: within(config, rateOf(config.cross_leverage_default)),
    isolatedFirst: within(config, FIRST_LEVERAGE),
    funding:
      group === 'futures'
        ? {
            interest: rateOf(config.interest_rate),
            intervalSeconds: config.funding_interval,
            limit: rateOf(config.funding_rate_limit),
          }
        : undefined,
    impactValue: amountOf(config.funding_impact_value),
    markBound: rateOf(config.mark_bound),
    markBoundYear: rateOf(config.mark_bound_year),
    expireAt: config.expire_time * 1e6,
    endAt: endSecond(config) * 1e6,
    settleFee: rateOf(config.settle_fee_rate),
    settling,
  }
}
const DECIMAL_TERMS = [
  'quanto_multiplier',
  'order_price_round',
  'mark_price_round',
  'market_order_size_max',
  'leverage_min',
  'leverage_max',
  'cross_leverage_default',
  'maker_fee_rate',
  'taker_fee_rate',
  'order_price_deviate',
  'market_order_slip_ratio',
  'interest_rate',
  'funding_rate_limit',
  'funding_impact_value',
  'mark_bound',
  'mark_bound_year',
  'settle_fee_rate',
  'basis_impact_value',
] as const satisfies readonly (keyof ContractConfig)[]
function shownTerms(config: ContractConfig): ContractConfig {
  const shown: Partial<Record<(typeof DECIMAL_TERMS)[number], string>> = {}
  for (const name of DECIMAL_TERMS) shown[name] = canonical(config[name])
  const tiers = config.tiers.map(({ risk_limit, maintenance_rate, leverage_max }) => ({
    risk_limit: canonical(risk_limit),
    maintenance_rate: canonical(maintenance_rate),
    leverage_max: canonical(leverage_max),
  }))
  return { ...config, ...shown, tiers }
}
const FIRST_LEVERAGE = rateOf('10')
/** What nobody has chosen is a leverage that may be chosen. */
function within({ leverage_min, leverage_max }: ContractConfig, leverage: Rate): Rate {
  const [least, most] = [rateOf(leverage_min), rateOf(leverage_max)]
  return leverage < least ? least : leverage > most ? most : leverage
}

/** Unix seconds at which it is settled; 0: it goes on. A dated one may be delisted before its date. */
export const endOf = ({ config }: Contract): number => endSecond(config)
function endSecond({ expire_time, delisted_time }: ContractConfig): number {
  if (expire_time === 0 || delisted_time === 0) return expire_time + delisted_time
  return Math.min(expire_time, delisted_time)
}
/** How far from the index its mark may be at a time. */
export function markBoundAt({ markBound, markBoundYear, expireAt }: Contract, at: number): Rate {
  if (markBoundYear === 0n || expireAt <= at) return markBound
  return (markBound + (markBoundYear * BigInt(expireAt - at)) / YEAR) as Rate
}
const YEAR = 365n * 86_400n * 1_000_000n
/** Where nothing else is said: no leverage. */
export const NO_LEVERAGE = ONE_RATE
