import type { Amount, Price } from '../../../money/amount.ts'
import { Table, type LogSpec, type TableSpec } from '../../../machine/table.ts'

/** What takers and liquidations have done in a contract since it was listed; what a span of time saw is a difference. */
export interface Flow {
  /** Contracts that takers bought and sold. */
  readonly bought: Amount
  readonly sold: Amount
  /** Of liquidated longs and shorts: contracts, in the base currency, in the quote currency. */
  readonly long_liq: Amount
  readonly long_liq_base: Amount
  readonly long_liq_quote: Amount
  readonly short_liq: Amount
  readonly short_liq_base: Amount
  readonly short_liq_quote: Amount
}
export interface ContractFlow extends Flow {
  /** The contract's id. */
  readonly id: string
}
/** As its table has it, quicker to copy than a plain one: written on until it is put into the table, never after. */
export class ContractFlowRow implements ContractFlow {
  readonly id: string
  bought: Amount
  sold: Amount
  long_liq: Amount
  long_liq_base: Amount
  long_liq_quote: Amount
  short_liq: Amount
  short_liq_base: Amount
  short_liq_quote: Amount

  constructor(from: ContractFlow) {
    this.id = from.id
    this.bought = from.bought
    this.sold = from.sold
    this.long_liq = from.long_liq
    this.long_liq_base = from.long_liq_base
    this.long_liq_quote = from.long_liq_quote
    this.short_liq = from.short_liq
    this.short_liq_base = from.short_liq_base
    this.short_liq_quote = from.short_liq_quote
  }
}
const FLOW_COLUMNS = {
  bought: 'amount',
  sold: 'amount',
  long_liq: 'amount',
  long_liq_base: 'amount',
  long_liq_quote: 'amount',
  short_liq: 'amount',
  short_liq_base: 'amount',
  short_liq_quote: 'amount',
} as const
export const CONTRACT_FLOW: TableSpec<ContractFlow> = {
  name: 'contract_flow',
  key: ['id'],
  columns: { id: 'text', ...FLOW_COLUMNS },
  revive: (row) => new ContractFlowRow(row),
}
export const contractFlows = (): Table<ContractFlow> => new Table(CONTRACT_FLOW)

/** Who holds a contract at a moment. */
export interface Holders {
  readonly mark: Price
  readonly open_interest: Amount
  readonly longs: number
  readonly shorts: number
  /** Of the fifth of them with the largest positions, at least one: what they hold, and how many they are. */
  readonly top_long: Amount
  readonly top_short: Amount
  readonly top_longs: number
  readonly top_shorts: number
}
/** Both, at a full minute. */
export interface ContractStat extends Flow, Holders {
  readonly contract: string
  /** Unix seconds. */
  readonly t: number
}
const STAT_COLUMNS = {
  contract: 'text',
  t: 'int',
  ...FLOW_COLUMNS,
  mark: 'amount',
  open_interest: 'amount',
  longs: 'int',
  shorts: 'int',
  top_long: 'amount',
  top_short: 'amount',
  top_longs: 'int',
  top_shorts: 'int',
} as const
/** Those of each fifth minute stay for ever. */
export const CONTRACT_STAT: LogSpec<ContractStat> = { name: 'contract_stat', columns: STAT_COLUMNS }

/** Those of the minutes between live in slots that are used again: each contract keeps those of its last day. */
export interface ContractMinute extends ContractStat {
  readonly slot: string
}
export const MINUTES_KEPT = 1_440
export const minuteSlot = (contract: string, t: number): string => `${contract}/${(t / 60) % MINUTES_KEPT}`
export const CONTRACT_MINUTE: TableSpec<ContractMinute> = {
  name: 'contract_minute',
  key: ['slot'],
  columns: { slot: 'text', ...STAT_COLUMNS },
  live: () => false,
  rewritten: true,
}
export const contractMinutes = (): Table<ContractMinute> => new Table(CONTRACT_MINUTE)
