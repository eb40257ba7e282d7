import { agentsSetting } from '../core/agents/commands.ts'
import { MadeHistory } from '../core/agents/history.ts'
import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import type { State } from '../core/state.ts'
import type { Log } from './log.ts'

/** A look at one market in turn, this often while somebody is there. */
const BUSY_MICROS = 1_000_000
/** And this seldom when nobody is. */
const IDLE_MICROS = 120_000_000
const IDLE_AFTER_MS = 120_000
const WATCH_MS = 1_000
/** Looks of one move of the clock: a move takes seconds, however far it goes. */
const MOVE_LOOKS_MAX = 2_000

/**
 * Sets the pace of the market agents. When they look is work that falls due in the core, on the platform's clock;
 * what they do is decided there too, from a seed.
 */
export class AgentDriver {
  private readonly core: Core<State, Commands>
  private readonly log: Log
  private readonly seed: number
  /** How many requests there have been: agents rest while nobody asks. */
  private readonly requests: () => number
  private timer: NodeJS.Timeout | undefined
  private seen = 0
  private lastAsked = Date.now()
  private every = 0
  private moving = false

  constructor(core: Core<State, Commands>, log: Log, seed: number, requests: () => number) {
    this.core = core
    this.log = log
    this.seed = seed
    this.requests = requests
  }
  /** Makes the agents at the first start, then lets them run. */
  async start(): Promise<void> {
    await this.core.submit('agents.begin', { seed: this.seed })
    const { state } = this.core
    const setting = agentsSetting({ state })!
    state.spot.history = new MadeHistory(state.world.allMarkets, setting.seed, setting.began_at)
    this.lastAsked = Date.now()
    await this.pace(BUSY_MICROS, true)
    this.timer = setInterval(() => void this.watch(), WATCH_MS)
  }
  stop(): void {
    clearInterval(this.timer)
    this.core.state.spot.history = undefined
  }
  /** The clock is about to move so far: the agents live through it, in longer steps the farther it goes. */
  async duringMove<T>(micros: number, move: () => Promise<T>): Promise<T> {
    this.moving = true
    try {
      await this.pace(Math.max(BUSY_MICROS, Math.ceil(micros / MOVE_LOOKS_MAX)))
      return await move()
    } finally {
      this.moving = false
      await this.pace(BUSY_MICROS)
    }
  }
  private async watch(): Promise<void> {
    const now = Date.now()
    const asked = this.requests()
    if (asked !== this.seen) this.lastAsked = now
    this.seen = asked
    const every = now - this.lastAsked > IDLE_AFTER_MS ? IDLE_MICROS : BUSY_MICROS
    // Who comes back finds books that are up to date.
    if (!this.moving && every !== this.every) await this.pace(every, every === BUSY_MICROS)
  }
  private async pace(every: number, look = false): Promise<void> {
    if (this.core.writesStopped !== undefined || this.core.held !== undefined) return
    this.every = every
    await this.core
      .submit('agents.pace', { every, look })
      .catch((error: unknown) => this.log.warn('the market agents kept their pace', { every, error }))
  }
}

/** Where agents were and are no longer wanted, their orders leave the books. */
export async function restAgents(core: Core<State, Commands>): Promise<void> {
  if (agentsSetting(core) !== undefined) await core.submit('agents.pace', { every: null })
}
