import { agentsSetting } from '../core/agents/commands.ts'
import { MadeHistory } from '../core/agents/history.ts'
import type { Commands } from '../core/commands.ts'
import type { Core } from '../core/core.ts'
import type { State } from '../core/state.ts'
import type { Log } from './log.ts'

/** A look at one market in turn, this often while somebody is there, and seldom when nobody is. */
const BUSY_MS = 500
const IDLE_MS = 20_000
const IDLE_AFTER_MS = 120_000
export const AGENTS_SEED = 20_240_229

/** Drives the market agents: it only says when; what they do is decided in the core, from a seed. */
export class AgentDriver {
  private readonly core: Core<State, Commands>
  private readonly log: Log
  /** How many requests there have been: agents rest while nobody asks. */
  private readonly requests: () => number
  private timer: NodeJS.Timeout | undefined
  private turn = 0
  private seen = 0
  private lastStep = 0
  private lastAsked = Date.now()

  constructor(core: Core<State, Commands>, log: Log, requests: () => number) {
    this.core = core
    this.log = log
    this.requests = requests
  }
  /** Makes the agents at the first start, then lets them run. */
  async start(): Promise<void> {
    await this.core.submit('agents.begin', { seed: AGENTS_SEED })
    const { state } = this.core
    const setting = agentsSetting({ state })!
    state.spot.history = new MadeHistory(state.world.allMarkets, setting.seed, setting.began_at)
    this.lastAsked = Date.now()
    this.timer = setInterval(() => this.tick(), BUSY_MS)
  }
  stop(): void {
    clearInterval(this.timer)
    this.core.state.spot.history = undefined
  }
  private tick(): void {
    const now = Date.now()
    const asked = this.requests()
    if (asked !== this.seen) this.lastAsked = now
    this.seen = asked
    if (now - this.lastAsked > IDLE_AFTER_MS && now - this.lastStep < IDLE_MS) return
    if (this.core.writesStopped !== undefined) return
    this.lastStep = now
    const pairs = [...this.core.state.agents.markets.values()].map(({ pair }) => pair).sort()
    const currency_pair = pairs[this.turn++ % pairs.length]
    if (currency_pair === undefined) return
    this.core
      .submit('agents.step', { currency_pair })
      .catch((error: unknown) => this.log.warn('the market agents missed a step', { currency_pair, error }))
  }
}
