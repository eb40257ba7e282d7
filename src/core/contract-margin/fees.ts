import { rateOf, type Rate } from '../../money/amount.ts'
import type { Contract } from '../tables/world/contracts.ts'

/** Rates of contracts by VIP tier, from 0 to 16: maker, taker. A contract's own are the most that anybody pays there. */
const TIERS: readonly (readonly [maker: string, taker: string])[] = [
  ['0.0002', '0.0005'],
  ['0.0002', '0.0005'],
  ['0.0002', '0.0005'],
  ['0.00019', '0.00048'],
  ['0.00018', '0.00048'],
  ['0.00017', '0.00045'],
  ['0.00016', '0.00042'],
  ['0.00015', '0.000375'],
  ['0.00013', '0.00035'],
  ['0.00012', '0.00032'],
  ['0.0001', '0.0003'],
  ['0.00008', '0.00028'],
  ['0.00006', '0.00026'],
  ['0.00004', '0.00024'],
  ['0.00002', '0.00022'],
  ['0', '0.0002'],
  ['-0.00005', '0.00018'],
]

export interface ContractRates {
  /** Below zero: a rebate. */
  readonly maker: Rate
  readonly taker: Rate
}
const RATES: readonly ContractRates[] = TIERS.map(([maker, taker]) => ({
  maker: rateOf(maker),
  taker: rateOf(taker),
}))
const smaller = (a: Rate, b: Rate): Rate => (a < b ? a : b)
/** Nobody gets more for an order that rests than whoever takes it pays: two accounts of one person would trade for that. */
const atMostPaid = (maker: Rate, taker: Rate): Rate => (maker < -taker ? (-taker as Rate) : maker)

/** What an account of a tier pays; the tier is its main account's (`feeSetting`). Without a contract: the table's. */
export function contractRates(vip: number, contract?: Contract): ContractRates {
  const tier = RATES[Math.min(vip, RATES.length - 1)]!
  if (contract === undefined) return tier
  const { makerMax, terms } = contract
  return { maker: atMostPaid(smaller(tier.maker, makerMax), terms.tf), taker: smaller(tier.taker, terms.tf) }
}
