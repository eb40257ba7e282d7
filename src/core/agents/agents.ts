import { unitOf, type Amount } from '../../money/amount.ts'
import { Table, type TableSpec } from '../../machine/table.ts'

/** What the market agents of the sandbox think of one market. Prices here are opinions, not money. */
export interface AgentMarket {
  readonly pair: string
  /** State of the generator that all decisions are drawn from. */
  readonly seed: number
  /** The price that the agents believe in. */
  readonly fair: number
  /** The price that it wanders around. */
  readonly anchor: number
  /** Direction of the last steps, for those who follow it. */
  readonly trend: number
  readonly scenario: Scenario | null
}
export const SCENARIOS = ['crash', 'gap', 'thin_book', 'de_peg'] as const
export type ScenarioName = (typeof SCENARIOS)[number]
export interface Scenario {
  /** `replay`: candles are being played, and the agents have no opinion of their own. */
  readonly name: ScenarioName | 'replay'
  /** The relative change of the price, such as -0.2. */
  readonly change: number
  /** Microseconds. */
  readonly from: number
  readonly until: number
  readonly start: number
}
export const AGENT_MARKET: TableSpec<AgentMarket> = {
  name: 'agent_market',
  key: ['pair'],
  columns: { pair: 'text', seed: 'int', fair: 'json', anchor: 'json', trend: 'json', scenario: 'json' },
}
/** The setting that tells how often the agents look; `every` is null while they rest. */
export const PACE_SETTING = 'agents.pace'

export class Agents {
  readonly markets = new Table(AGENT_MARKET)
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

/** A seeded generator whose state is a plain number, so that a row can keep it. */
export class Dice {
  state: number
  constructor(state: number) {
    this.state = state >>> 0
  }
  /** From 0 up to, but not, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** Bell-shaped around 0, of deviation 1 (sum of uniforms). */
  bell(): number {
    return (this.next() + this.next() + this.next() + this.next() - 2) * Math.sqrt(3)
  }
}

/** An opinion becomes an exact figure of so many decimals: what an order needs. */
export const exact = (opinion: number, decimals: number): Amount =>
  (BigInt(Math.round(opinion * 10 ** decimals)) * unitOf(decimals)) as Amount

/** Currencies that keep to one dollar wander much less. */
const PEGGED = new Set(['USDT', 'USDC'])
/** Deviation of one day's change. */
export function dayVolatility(base: string, quote: string): number {
  if (PEGGED.has(base) && PEGGED.has(quote)) return 0.0006
  return base === 'BTC' ? 0.022 : quote === 'BTC' ? 0.02 : 0.035
}
export function hashText(text: string): number {
  let hash = 2_166_136_261
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619) >>> 0
  return hash
}
