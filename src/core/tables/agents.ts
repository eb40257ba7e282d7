import { parsePrice, type Price } from '../../money/amount.ts'
import { Table, type TableSpec } from '../../machine/table.ts'

/**
 * What the market agents of the sandbox think of one market. They think outside (src/agents): here are the texts that
 * they go on from, which are opinions, not money.
 */
export interface AgentMarket {
  readonly pair: string
  /** State of the generator that all decisions are drawn from. */
  readonly seed: number
  /** The price that the agents believe in. A row that an older version wrote holds a number; so do the next two. */
  readonly fair: string | number
  /** The price that it wanders around. */
  readonly anchor: string | number
  /** Direction of the last steps, for those who follow it. */
  readonly trend: string | number
  readonly scenario: Scenario | null
}
export const SCENARIOS = ['crash', 'gap', 'thin_book', 'de_peg'] as const
export type ScenarioName = (typeof SCENARIOS)[number]
/** Of contracts: what else happens to one happens to the market of what it follows. */
export const CONTRACT_SCENARIOS = ['thin_book', 'basis'] as const
export type ContractScenarioName = (typeof CONTRACT_SCENARIOS)[number]
export interface Scenario {
  /** `replay`: candles are being played, and the agents have no opinion of their own. */
  readonly name: ScenarioName | ContractScenarioName | 'replay'
  /** The relative change of the price, such as -0.2. */
  readonly change: number
  /** Microseconds. */
  readonly from: number
  readonly until: number
  readonly start: string | number
}
export const AGENT_MARKET: TableSpec<AgentMarket> = {
  name: 'agent_market',
  key: ['pair'],
  columns: { pair: 'text', seed: 'int', fair: 'json', anchor: 'json', trend: 'json', scenario: 'json' },
}
/** What they think of one contract: how far from its base it should be, and where that has brought them. */
export interface AgentContract {
  /** The contract's id. */
  readonly id: string
  readonly seed: number
  /** A share of the price. */
  readonly basis: string
  readonly fair: string
  readonly trend: string
  readonly scenario: Scenario | null
}
export const AGENT_CONTRACT: TableSpec<AgentContract> = {
  name: 'agent_contract',
  key: ['id'],
  columns: { id: 'text', seed: 'int', basis: 'text', fair: 'text', trend: 'text', scenario: 'json' },
}
/** The setting that tells how often the agents look; `every` is null while they rest. */
export const PACE_SETTING = 'agents.pace'
/** The same of contracts, which have a turn of their own. */
export const CONTRACT_PACE_SETTING = 'agents.contracts.pace'

export class Agents {
  readonly markets = new Table(AGENT_MARKET)
  /** Those that were looked at. */
  readonly contracts = new Table(AGENT_CONTRACT)
  /** The markets that the agents look at, in the order of their names. */
  get pairs(): string[] {
    return [...this.markets.values()].map(({ pair }) => pair).sort()
  }
}

/** The agents' accounts, by login name. */
export const MAKER = 'agent_maker'
export const NOISE = 'agent_noise'
export const MOMENTUM = 'agent_momentum'
export const AGENT_LOGINS = [MAKER, NOISE, MOMENTUM] as const
/** What they are called in a recorded look. */
export const LOGIN_OF = { maker: MAKER, noise: NOISE, momentum: MOMENTUM } as const
export type AgentName = keyof typeof LOGIN_OF

const DECIMALS = 18
/** An opinion as a price, cut to what an amount holds; undefined for what is none. */
export function opinionPrice(opinion: string | number): Price | undefined {
  const [whole, decimals = ''] = String(opinion).split('.')
  return parsePrice(decimals === '' ? whole! : `${whole!}.${decimals.slice(0, DECIMALS)}`)
}
