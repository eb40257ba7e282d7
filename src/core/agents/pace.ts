import { cancelOpen } from '../spot/cancel.ts'
import { schedule, unschedule } from '../due.ts'
import { followIndex } from '../futures/prices.ts'
import type { Ctx, State } from '../state.ts'
import { AGENT_LOGINS, CONTRACT_PACE_SETTING, PACE_SETTING } from '../tables/agents.ts'
import { applyContractLook, isTraded, withdrawContractOrders, type ContractLook } from './contract-look.ts'
import { applyLook, type AgentLook } from './look.ts'

const DAY_MICROS = 86_400e6
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

/** What the agents look at in turn: each kind has a pace of its own. */
export interface Turn {
  readonly setting: string
  readonly command: 'agents.look' | 'agents.contract_look'
  /** Microseconds after the whole second: two kinds of looks never fall due together, so their order is always the same. */
  readonly offset: number
  /** Looks in one day of the clock after which the agents slow down: what bounds the growth of the history. */
  readonly dayMax: number
  /** In the order of their names. */
  names(state: State, at: number): string[]
}
export const MARKETS: Turn = {
  setting: PACE_SETTING,
  command: 'agents.look',
  offset: 0,
  dayMax: 20_000,
  names: ({ agents }) => agents.pairs,
}
export const CONTRACTS: Turn = {
  setting: CONTRACT_PACE_SETTING,
  command: 'agents.contract_look',
  offset: 500_000,
  dayMax: 10_000,
  names: ({ world }, at) =>
    world.allContracts
      .filter((contract) => isTraded(contract, at))
      .map(({ id }) => id)
      .sort(),
}

const paceOf = (state: State, { setting }: Turn): Pace =>
  (state.world.settings.get(setting)?.value as Pace | undefined) ?? BEFORE
const keep = ({ tx, state }: Ctx, { setting }: Turn, value: Pace): void =>
  tx.put(state.world.settings, { name: setting, value })

export interface NewPace {
  /** Microseconds from one look at a market to the next; null: they rest. */
  readonly every: number | null
  /** The same of contracts; left out: as often. */
  readonly contracts?: number
}
/** How often the agents look from now on; null takes their orders off the books and lets them rest. */
export function paceAgents(ctx: Ctx, input: NewPace): null {
  const { agents, world } = ctx.state
  if (input.every === null) {
    withdrawOrders(ctx)
    withdrawContractOrders(ctx)
  }
  for (const { id } of [...agents.contracts.values()])
    if (!world.allContracts.some((contract) => contract.id === id)) ctx.tx.remove(agents.contracts, id)
  setPace(ctx, MARKETS, input.every)
  if (world.allContracts.length > 0)
    setPace(ctx, CONTRACTS, input.every === null ? null : (input.contracts ?? input.every))
  // Whether they look decides whether their opinion is an index.
  followIndex(ctx)
  return null
}
function setPace(ctx: Ctx, turn: Turn, every: number | null): void {
  const pace = paceOf(ctx.state, turn)
  unschedule(ctx, pace.due_id)
  if (every === null) {
    keep(ctx, turn, { ...pace, every: null })
    return
  }
  // From the whole second on: commands of the same second do not shift the looks.
  const at = ctx.at - (ctx.at % 1e6) + every + turn.offset
  keep(ctx, turn, { ...pace, every, at, due_id: schedule(ctx, at, turn.command, {}) })
}
function withdrawOrders(ctx: Ctx): void {
  const { users, spot } = ctx.state
  for (const login of AGENT_LOGINS) {
    const agent = users.byLogin.get(login)
    if (agent !== undefined) cancelOpen(ctx, spot.openOrders(agent.user_id))
  }
}

export interface NextLook {
  /** Of the market, or the contract. */
  readonly name: string
  /** Microseconds: the moment that is looked at. */
  readonly at: number
  /** Microseconds to the next look, and the looks of this day so far. */
  readonly wait: number
  readonly day: number
  readonly looks: number
  /** How many are looked at in turn. */
  readonly count: number
}
/** Whose turn it is; undefined while the agents rest. */
export function nextLook(state: State, turn: Turn = MARKETS): NextLook | undefined {
  const pace = paceOf(state, turn)
  if (pace.every === null) return undefined
  const names = turn.names(state, pace.at)
  const name = names[pace.turn % names.length]
  if (name === undefined) return undefined
  const day = Math.floor(pace.at / DAY_MICROS)
  const looks = day === pace.day ? pace.looks + 1 : 1
  const wait = looks > turn.dayMax ? Math.max(pace.every, SLOW_MICROS) : pace.every
  return { name, at: pace.at, wait, day, looks, count: names.length }
}
/** Due, where nobody drives the agents: nothing. Where somebody does, he takes the item and answers with `agents.act`. */
export const wakeAgents = (): null => null

/**
 * The agents have looked: what they want done is done. `due_id` is the item that woke them, and makes the next one due; null is a
 * look outside of the pace.
 */
export function actAgents(ctx: Ctx, input: { due_id: number | null; look: AgentLook | null }): null {
  if (input.look !== null) applyLook(ctx, input.look)
  return passTurn(ctx, MARKETS, input.due_id)
}
/** The same of a contract. */
export function actContracts(ctx: Ctx, input: { due_id: number | null; look: ContractLook | null }): null {
  if (input.look !== null) applyContractLook(ctx, input.look)
  return passTurn(ctx, CONTRACTS, input.due_id)
}
function passTurn(ctx: Ctx, turn: Turn, woken: number | null): null {
  if (woken === null) return null
  unschedule(ctx, woken)
  const pace = paceOf(ctx.state, turn)
  if (pace.every === null || pace.due_id !== woken) return null
  // Where nothing is traded now, something may be later.
  const { at: now, wait, day, looks } = nextLook(ctx.state, turn) ?? { ...pace, wait: pace.every }
  // What was missed while the clock stood or the platform was down is not made up for.
  const at = now + wait > ctx.at ? now + wait : ctx.at + wait
  const due_id = schedule(ctx, at, turn.command, {})
  keep(ctx, turn, { every: pace.every, at, due_id, turn: pace.turn + 1, day, looks })
  return null
}
