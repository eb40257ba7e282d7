import type { ChainConfig, CurrencyStatus, CurrencyTransport } from './chains.ts'
import type { ContractConfig } from './contracts.ts'
import type { MarketConfig } from './markets.ts'
import type { Policy } from './policy.ts'
import type { UnifiedConfig } from './unified.ts'

/**
 * What is traded and under which rules. The configuration file is taken into the state by a command, so that
 * a replay needs nothing but the commands, and an operator's changes outlive a restart.
 */
export interface CurrencyConfig extends CurrencyTransport {
  readonly currency: string
  readonly name: string
  /** Decimals of its smallest unit. */
  readonly precision: number
  /** SPOT: main area; PILOT: innovation area. */
  readonly asset_class: 'SPOT' | 'PILOT'
  /** No chains, deposits or withdrawals through the API. */
  readonly low_cap: boolean
  /** Left out: listed. withdraw_only: on its way out, see checkListing. */
  readonly status?: CurrencyStatus
}
export interface PriceFeedConfig {
  /** Answers a JSON object of prices in USDT by currency. */
  readonly url: string
  /** Between two looks. */
  readonly seconds: number
  /** After this long without an answer its prices are no longer used. */
  readonly stale_seconds: number
  /** A reading that differs by more than this part of the last one waits for a second; left out: 0.05. */
  readonly jump?: string
  /** A second source, which bears a jump out at once. */
  readonly second_url?: string
}
export interface WorldConfig {
  readonly currencies: readonly CurrencyConfig[]
  readonly chains: readonly ChainConfig[]
  readonly policy: Policy
  /** Where index prices come from, beside operators; left out: nowhere else. */
  readonly price_feed?: PriceFeedConfig
  /** Units of a money for one USDT: CNY and USD. */
  readonly exchange_rates: Readonly<Record<string, string>>
  readonly markets: readonly MarketConfig[]
  /** Perpetual contracts, and what dated ones are made of; left out: none. */
  readonly contracts?: readonly ContractConfig[]
  readonly settle: { readonly futures: readonly string[]; readonly delivery: readonly string[] }
  /** Lending, collateral and margin. */
  readonly unified: UnifiedConfig
  readonly limits: {
    readonly keys_max: number
    /** Most that a contract account may hold after a transfer, in units of its settle currency. */
    readonly contract_ceiling: string
    /** Open orders of one account in one market; left out: 1,000. */
    readonly open_orders_max?: number
    /** Sub-accounts of one main account; left out: 500. */
    readonly sub_accounts_max?: number
  }
}
