import type { Amount, Price, Rate } from '../../../money/amount.ts'
import { Table, type Observer, type TableSpec } from '../../../machine/table.ts'
import type { MarkGround } from '../../contracts/prices.ts'
import type { Contract } from '../world/contracts.ts'

/** From this Unix second's sample on, until the next step: a decimal text. */
export type BasisStep = readonly [from: number, basis: string]

/** What the prices of a contract are made of, and what was made of it last. */
export interface ContractPrice {
  /** The contract's id. */
  readonly id: string
  readonly index: Price
  readonly mark: Price
  /** What the samples of (best bid + best ask) / 2 - index were, as far back as the mark looks; oldest first. */
  readonly steps: readonly BasisStep[]
  readonly funding_rate: Rate
  /** Premiums of the running period. */
  readonly premiums: number
  readonly weighted: Amount
  /** What one long contract has paid by all fundings: 18 decimals of the settle currency. */
  readonly funding_sum: Amount
  /** Unix second of the next funding, and of the last minute that was worked on; 0: none. */
  readonly next_funding: number
  readonly minute: number
  /** Full minutes of index that a settlement averages: their sum and number. */
  readonly settle_sum: Amount
  readonly settle_count: number
  /** Microseconds of the mark's last evaluation. */
  readonly at: number
}
/** What a mark was made of last, and what that was made for. Nothing depends on what is remembered here. */
export interface KeptGround extends Pick<ContractPrice, 'index' | 'funding_rate' | 'next_funding'> {
  readonly contract: Contract
  readonly second: number
  readonly step: BasisStep | undefined
  readonly ground: MarkGround
}
export interface Believed {
  readonly row: ContractPrice
  readonly contract: Contract
  readonly price: Price
}
/** As its table has it, quicker to copy than a plain one: written on until it is put into the table, never after. */
export class ContractPriceRow implements ContractPrice {
  readonly id: string
  index: Price
  mark: Price
  steps: readonly BasisStep[]
  funding_rate: Rate
  premiums: number
  weighted: Amount
  funding_sum: Amount
  next_funding: number
  minute: number
  settle_sum: Amount
  settle_count: number
  at: number

  constructor(from: ContractPrice) {
    this.id = from.id
    this.index = from.index
    this.mark = from.mark
    this.steps = from.steps
    this.funding_rate = from.funding_rate
    this.premiums = from.premiums
    this.weighted = from.weighted
    this.funding_sum = from.funding_sum
    this.next_funding = from.next_funding
    this.minute = from.minute
    this.settle_sum = from.settle_sum
    this.settle_count = from.settle_count
    this.at = from.at
  }
}
export const CONTRACT_PRICE: TableSpec<ContractPrice> = {
  name: 'contract_price',
  key: ['id'],
  columns: {
    id: 'text',
    index: 'amount',
    mark: 'amount',
    steps: 'json',
    funding_rate: 'amount',
    premiums: 'int',
    weighted: 'amount',
    funding_sum: 'amount',
    next_funding: 'int',
    minute: 'int',
    settle_sum: 'amount',
    settle_count: 'int',
    at: 'int',
  },
  revive: (row) => new ContractPriceRow(row),
}
/** `first` hears of every change before anybody else does. */
export function contractPrices(first: Observer<ContractPrice>): Table<ContractPrice> {
  const prices = new Table(CONTRACT_PRICE)
  prices.observe(first)
  return prices
}
