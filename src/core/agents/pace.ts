import { cancelOpen } from '../spot/cancel.ts'
import { schedule, unschedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import { AGENT_LOGINS, PACE_SETTING as SETTING } from './agents.ts'
import { applyLook, type AgentLook } from './look.ts'

const DAY_MICROS = 86_400e6
/** Looks in one day of the clock after which the agents slow down: what bounds the growth of the history. */
const DAY_LOOKS_MAX = 20_000
/** Microseconds between two looks when the day's looks are used up. */
const SLOW_MICROS = 10_000_000

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

/** How often the agents look at a market from now on; null takes their orders off the books and lets them rest. */
export function paceAgents(ctx: Ctx, input: { every: number | null }): null {
  const pace = paceOf(ctx.state)
  unschedule(ctx, pace.due_id)
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

export interface NextLook {
  readonly currency_pair: string
  /** Microseconds: the moment that is looked at. */
  readonly at: number
  /** Microseconds to the next look, and the looks of this day so far. */
  readonly wait: number
  readonly day: number
  readonly looks: number
}
/** Which market's turn it is; undefined while the agents rest. */
export function nextLook(state: State): NextLook | undefined {
  const pace = paceOf(state)
  const { pairs } = state.agents
  const currency_pair = pairs[pace.turn % pairs.length]
  if (pace.every === null || currency_pair === undefined) return undefined
  const day = Math.floor(pace.at / DAY_MICROS)
  const looks = day === pace.day ? pace.looks + 1 : 1
  const wait = looks > DAY_LOOKS_MAX ? Math.max(pace.every, SLOW_MICROS) : pace.every
  return { currency_pair, at: pace.at, wait, day, looks }
}
/** Due, where nobody drives the agents: nothing. Where somebody does, he takes the item and answers with `agents.act`. */
export const wakeAgents = (): null => null

/**
 * The agents have looked: what they want done is done. `due_id` is the item that woke them, and makes the next one due; null is a
 * look outside of the pace.
 */
export function actAgents(ctx: Ctx, input: { due_id: number | null; look: AgentLook | null }): null {
  const { state } = ctx
  if (input.look !== null) applyLook(ctx, input.look)
  if (input.due_id === null) return null
  unschedule(ctx, input.due_id)
  const pace = paceOf(state)
  const next = nextLook(state)
  if (next === undefined || pace.due_id !== input.due_id) return null
  // What was missed while the clock stood or the platform was down is not made up for.
  const at = next.at + next.wait > ctx.at ? next.at + next.wait : ctx.at + next.wait
  const due_id = schedule(ctx, at, 'agents.look', {})
  keep(ctx, { every: pace.every, at, due_id, turn: pace.turn + 1, day: next.day, looks: next.looks })
  return null
}
