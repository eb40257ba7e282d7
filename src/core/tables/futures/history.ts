import type { PriceHistory } from '../spot/spot.ts'
import type { FundingRecord } from './records.ts'

export type { FundingRecord } from './records.ts'

/** What contracts were before the platform's own first trade: candles of `mark_`, `index_` and `premium_` series too. */
export interface ContractHistory extends PriceHistory {
  /** Fundings of a contract, by its id; newest first. */
  fundings(id: string): readonly FundingRecord[]
}
