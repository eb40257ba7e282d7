import { cancelOpen } from '../spot/cancel.ts'
import { schedule, unschedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import { AGENT_LOGINS, PACE_SETTING as SETTING } from '../tables/agents.ts'
import { stepAgents } from './step.ts'

const DAY_MICROS = 86_400e6
/** Looks in one day of the clock after which the agents slow down: what bounds the growth of the history. */
const DAY_LOOKS_MAX = 20_000
/** Microseconds between two looks when the day's looks are used up. */
const SLOW_MICROS = 10_000_000

/** What a look outside of the pace stands for. */
export const ONE_LOOK_SECONDS = 10

interface Pace {
  /** Microseconds from one look to the next; null: the agents rest. */
  readonly every: number | null
  /** Microseconds: the next look's own time, to which it keeps however late the clock comes to it. */
  readonly at: number
  readonly due_id: number
  /** Counts the looks: markets are looked at in turn. */
  readonly turn: number
  /** The day of the last look, and its looks so far. */
  readonly day: number
  readonly looks: number
}
const BEFORE: Pace = { every: null, at: 0, due_id: 0, turn: 0, day: 0, looks: 0 }
const paceOf = (state: State): Pace =>
  (state.world.settings.get(SETTING)?.value as Pace | undefined) ?? BEFORE
const keep = ({ tx, state }: Ctx, value: Pace): void => tx.put(state.world.settings, { name: SETTING, value })

/**
 * How often the agents look at a market from now on; null takes their orders off the books and lets them rest.
 * `look`: at every market once now, so that all books are full.
 */
export function paceAgents(ctx: Ctx, input: { every: number | null; look?: boolean }): null {
  const pace = paceOf(ctx.state)
  unschedule(ctx, pace.due_id)
  if (input.look === true)
    for (const currency_pair of ctx.state.agents.pairs)
      stepAgents(ctx, { currency_pair, at: ctx.at, elapsed: ONE_LOOK_SECONDS })
  if (input.every === null) {
    withdrawOrders(ctx)
    keep(ctx, { ...pace, every: null })
    return null
  }
  // From the whole second on: commands of the same second do not shift the looks.
  const at = ctx.at - (ctx.at % 1e6) + input.every
  keep(ctx, { ...pace, every: input.every, at, due_id: schedule(ctx, at, 'agents.look', {}) })
  return null
}
function withdrawOrders(ctx: Ctx): void {
  const { users, spot } = ctx.state
  for (const login of AGENT_LOGINS) {
    const agent = users.byLogin.get(login)
    if (agent !== undefined) cancelOpen(ctx, spot.openOrders(agent.user_id))
  }
}

/** Due: a look at the market whose turn it is, and the next one is due. */
export function lookAtMarket(ctx: Ctx): null {
  const { state } = ctx
  const pace = paceOf(state)
  const { pairs } = state.agents
  const currency_pair = pairs[pace.turn % pairs.length]
  if (pace.every === null || currency_pair === undefined) return null
  const day = Math.floor(pace.at / DAY_MICROS)
  const looks = day === pace.day ? pace.looks + 1 : 1
  const wait = looks > DAY_LOOKS_MAX ? Math.max(pace.every, SLOW_MICROS) : pace.every
  stepAgents(ctx, { currency_pair, at: pace.at, elapsed: (wait * pairs.length) / 1e6 })
  // What was missed while the clock stood or the platform was down is not made up for.
  const at = pace.at + wait > ctx.at ? pace.at + wait : ctx.at + wait
  const due_id = schedule(ctx, at, 'agents.look', {})
  keep(ctx, { every: pace.every, at, due_id, turn: pace.turn + 1, day, looks })
  return null
}
