import { agentsSetting, USUAL_CHANGE, type NewScenario } from '../core/agents/commands.ts'
import { USUAL_BASIS, type NewContractScenario } from '../core/agents/contract-commands.ts'
import type { AgentContract, AgentMarket, Scenario } from '../core/tables/agents.ts'
import { CONTRACTS, MARKETS, nextLook } from '../core/agents/pace.ts'
import type { Commands } from '../core/commands.ts'
import type { DueItem } from '../core/tables/due.ts'
import type { State } from '../core/state.ts'
import type { Core } from '../machine/core.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import { lookAtContract } from './contract-mind.ts'
import { hashText } from './dice.ts'
import { MadeContractHistory } from './contract-history.ts'
import { MadeHistory } from './history.ts'
import type { Moment } from './ladder.ts'
import { lookAt } from './mind.ts'

/** A look at one market in turn, this often while somebody is there. */
const BUSY_MICROS = 1_000_000
/** And this seldom when nobody is. */
const IDLE_MICROS = 120_000_000
const IDLE_AFTER_MS = 120_000
const WATCH_MS = 1_000
/** Looks of one move of the clock: a move takes seconds, however far it goes. */
const MOVE_LOOKS_MAX = 2_000
/** Of contracts: a look places as many orders, and each of them is margined. */
const MOVE_CONTRACT_LOOKS_MAX = 250
/** What a look outside of the pace stands for. */
const ONE_LOOK_SECONDS = 10

interface Parts {
  readonly core: Core<State, Commands>
  readonly clock: Clock
  readonly log: Log
  readonly seed: number
  /** How many requests there have been: agents rest while nobody asks. */
  readonly requests: () => number
  /** The clock stands until it is moved: who looks on it costs nothing, and the same moves must give the same digits. */
  readonly stands: boolean
}

/**
 * The market agents. When they look is due work of the core, on the platform's clock; what they think of what they see is
 * thought here, from a seed, and what they want done goes into the core as one command for each look. A look is thought and
 * applied in one turn: nothing comes in between, and a move of the clock goes on only after it.
 */
export class AgentDriver {
  private readonly parts: Parts
  private readonly core: Parts['core']
  private timer: NodeJS.Timeout | undefined
  private seen = 0
  private lastAsked = Date.now()
  private every = 0
  private moving = false
  /** Whether somebody listens on a socket: he may never ask for anything. */
  watched: () => boolean = () => false

  constructor(parts: Parts) {
    this.parts = parts
    this.core = parts.core
  }
  /** Makes the agents at the first start, then lets them run. `goesOn`: the world is one that just worked. */
  async start(goesOn = false): Promise<void> {
    const { state } = this.core
    if (agentsSetting({ state }) === undefined) await this.begin(state)
    const setting = agentsSetting({ state })!
    const made = new MadeHistory(state.world.allMarkets, setting.seed, setting.began_at)
    state.spot.history = made
    state.futures.history = new MadeContractHistory(state.world, made, setting)
    this.lastAsked = Date.now()
    if (!goesOn) await this.pace(BUSY_MICROS, true)
    if (!this.parts.stands) this.timer = setInterval(() => void this.watch(), WATCH_MS)
  }
  stop(): void {
    clearInterval(this.timer)
    this.core.state.spot.history = undefined
    this.core.state.futures.history = undefined
  }
  /** The ticker's question whether an item that falls due is the agents': if so, what becomes of it. */
  take({ id, command }: DueItem): Promise<unknown> | undefined {
    if (command !== MARKETS.command && command !== CONTRACTS.command) return undefined
    const { state } = this.core
    const turn = command === MARKETS.command ? MARKETS : CONTRACTS
    const next = nextLook(state, turn)
    const moment = next === undefined ? undefined : { at: next.at, elapsed: (next.wait * next.count) / 1e6 }
    if (turn === MARKETS) {
      const look = moment === undefined ? null : lookAt(state, next!.name, moment)
      return this.core.submit('agents.act', { due_id: id, look })
    }
    const look = moment === undefined ? null : lookAtContract(state, next!.name, moment)
    return this.core.submit('agents.contract_act', { due_id: id, look })
  }
  /** What traders fear, on demand; its first look is in the same command. */
  scenario(input: Omit<NewScenario, 'look'>): Promise<AgentMarket> {
    const { state } = this.core
    const at = this.parts.clock.peek()
    const pair = state.world.findMarket(input.currency_pair)?.id ?? ''
    const row = state.agents.markets.get(pair)
    const change = input.change ?? USUAL_CHANGE[input.name]
    const until = at + input.seconds * 1e6
    const begun: Scenario | undefined =
      row === undefined ? undefined : { name: input.name, change, from: at, until, start: row.fair }
    const look = lookAt(state, pair, { at, elapsed: ONE_LOOK_SECONDS }, begun)
    return this.core.submit('agents.scenario', { ...input, look })
  }
  /** The same of a contract. */
  contractScenario(input: Omit<NewContractScenario, 'look'>): Promise<AgentContract> {
    const at = this.parts.clock.peek()
    const change = input.change ?? (input.name === 'basis' ? USUAL_BASIS : 0)
    const begun: Scenario = {
      name: input.name,
      change,
      from: at,
      until: at + input.seconds * 1e6,
      start: '0',
    }
    const moment = { at, elapsed: ONE_LOOK_SECONDS }
    const look = lookAtContract(this.core.state, input.contract, moment, begun)
    return this.core.submit('agents.contract_scenario', { ...input, look })
  }
  /** The clock is about to move so far: the agents live through it, in longer steps the farther it goes. */
  async duringMove<T>(micros: number, move: () => Promise<T>): Promise<T> {
    this.moving = true
    try {
      const step = (looks: number): number => Math.max(BUSY_MICROS, Math.ceil(micros / looks))
      await this.pace(step(MOVE_LOOKS_MAX), false, step(MOVE_CONTRACT_LOOKS_MAX))
      return await move()
    } finally {
      this.moving = false
      await this.pace(BUSY_MICROS)
    }
  }

  private async begin(state: State): Promise<void> {
    const { seed } = this.parts
    const seeds = Object.fromEntries(
      state.world.allMarkets.map(({ id }) => [id, (hashText(id) ^ seed) >>> 0]),
    )
    await Promise.all([this.core.submit('agents.begin', { seed, seeds }), ...this.lookAtAll()])
  }
  /** At every market once now, so that all books are full. */
  private lookAtAll(): Promise<unknown>[] {
    const { state } = this.core
    const moment = (): Moment => ({ at: this.parts.clock.peek(), elapsed: ONE_LOOK_SECONDS })
    const markets = state.agents.pairs.map((pair) =>
      this.core.submit('agents.act', { due_id: null, look: lookAt(state, pair, moment()) }),
    )
    const contracts = CONTRACTS.names(state, this.parts.clock.peek()).map((id) =>
      this.core.submit('agents.contract_act', { due_id: null, look: lookAtContract(state, id, moment()) }),
    )
    return [...markets, ...contracts]
  }
  private async watch(): Promise<void> {
    const now = Date.now()
    const asked = this.parts.requests()
    if (asked !== this.seen || this.watched()) this.lastAsked = now
    this.seen = asked
    const every = now - this.lastAsked > IDLE_AFTER_MS ? IDLE_MICROS : BUSY_MICROS
    // Who comes back finds books that are up to date.
    if (!this.moving && every !== this.every) await this.pace(every, every === BUSY_MICROS)
  }
  private async pace(every: number, look = false, contracts = every): Promise<void> {
    if (this.core.writesStopped !== undefined || this.core.held !== undefined) return
    this.every = every
    try {
      await Promise.all([
        ...(look ? this.lookAtAll() : []),
        this.core.submit('agents.pace', { every, contracts }),
      ])
    } catch (error) {
      this.parts.log.warn('the market agents kept their pace', { every, error })
    }
  }
}

/** Where agents were and are no longer wanted, their orders leave the books. */
export async function restAgents(core: Core<State, Commands>): Promise<void> {
  if (agentsSetting(core) !== undefined) await core.submit('agents.pace', { every: null })
}
