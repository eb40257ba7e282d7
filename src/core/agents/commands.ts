import { refuse } from '../../labels.ts'
import { schedule } from '../due.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import { followIndex } from '../futures/prices.ts'
import { cancelOpen } from '../spot/cancel.ts'
import type { Side } from '../tables/exchange/order.ts'
import { readBase, readPrice } from '../spot/rules.ts'
import { fireTriggers } from '../spot/triggers.ts'
import type { Ctx } from '../state.ts'
import { createUser } from '../users/commands.ts'
import { AGENT_LOGINS, MAKER, NOISE, type AgentMarket, type ScenarioName } from '../tables/agents.ts'
import { agentId, applyLook, placeAgents, type AgentLook } from './look.ts'

const VIP = 16
const SETTING = 'agents'
export interface AgentsSetting {
  readonly seed: number
  /** Seconds: the made-up history ends here. */
  readonly began_at: number
}

/** At the first start with agents: their accounts, and where they begin in each market. Later it does nothing. */
export function beginAgents(
  ctx: Ctx,
  input: { seed: number; seeds: Readonly<Record<string, number>> },
): null {
  const { state, tx, at } = ctx
  if (state.world.settings.get(SETTING) !== undefined) return null
  const value: AgentsSetting = { seed: input.seed, began_at: Math.floor(at / 1e6) }
  tx.put(state.world.settings, { name: SETTING, value })
  for (const login_name of AGENT_LOGINS)
    createUser(ctx, {
      login_name,
      email: null,
      password_hash: null,
      remark: 'market agent of the sandbox',
      vip: VIP,
      parent_id: 0,
      type: 1,
      actor: null,
    })
  for (const { id, config } of state.world.allMarkets) {
    const price = config.reference_price
    const seed = input.seeds[id] ?? input.seed
    tx.put(state.agents.markets, { pair: id, seed, fair: price, anchor: price, trend: '0', scenario: null })
  }
  return null
}
export const agentsSetting = (ctx: Pick<Ctx, 'state'>): AgentsSetting | undefined =>
  ctx.state.world.settings.get(SETTING)?.value as AgentsSetting | undefined

export function agentMarket(ctx: Ctx, currency_pair: string): AgentMarket {
  const market = ctx.state.world.market(currency_pair)
  return ctx.state.agents.markets.get(market.id) ?? refuseOff()
}
const refuseOff = (): never =>
  refuse('REQUEST_FORBIDDEN', 'the market agents are off (KONTOR_AGENTS); start the platform with them on')

export interface NewScenario {
  readonly name: ScenarioName
  readonly currency_pair: string
  /** Relative, such as -0.2; null is the scenario's usual one. */
  readonly change: number | null
  readonly seconds: number
  readonly actor: Actor
  /** Its first look, which happens within the call; null where nobody drives the agents. */
  readonly look: AgentLook | null
}
export const USUAL_CHANGE: Record<ScenarioName, number> = {
  crash: -0.2,
  gap: -0.1,
  thin_book: 0,
  de_peg: -0.1,
}
/** What traders fear, on demand. */
export function startScenario(ctx: Ctx, { look, ...input }: NewScenario): AgentMarket {
  const row = agentMarket(ctx, input.currency_pair)
  if (look === null) return refuseOff()
  const change = input.change ?? USUAL_CHANGE[input.name]
  ctx.tx.put(ctx.state.agents.markets, {
    ...row,
    scenario: {
      name: input.name,
      change,
      from: ctx.at,
      until: ctx.at + input.seconds * 1e6,
      start: row.fair,
    },
  })
  audit(ctx, input.actor, 'agents.scenario', { ...input })
  applyLook(ctx, look)
  return ctx.state.agents.markets.get(row.pair)!
}

export interface ReplayedTrade {
  readonly seconds: number
  readonly side: Side
  readonly price: string
  readonly amount: string
}
/** A list of trades is played again at its own pace, each when it is due. */
export function replayTrades(
  ctx: Ctx,
  input: { currency_pair: string; trades: readonly ReplayedTrade[]; speed: number; actor: Actor },
): { trades: number; until: number } {
  const { pair } = agentMarket(ctx, input.currency_pair)
  const market = ctx.state.world.market(pair)
  const begin = input.trades[0]!.seconds
  let until = ctx.at
  for (const { seconds, side, price, amount } of input.trades) {
    readPrice(market, price)
    readBase(market, amount)
    until = Math.max(until, Math.round(ctx.at + ((seconds - begin) / input.speed) * 1e6))
    schedule(ctx, until, 'agents.trade', { currency_pair: pair, side, price, amount })
  }
  audit(ctx, input.actor, 'agents.replay', { currency_pair: pair, trades: input.trades.length })
  return { trades: input.trades.length, until: Math.floor(until / 1e6) }
}
/** Due: the maker stands at the price and another agent takes it; orders of others on the way are met first. */
export function replayTrade(
  ctx: Ctx,
  input: { currency_pair: string; side: Side; price: string; amount: string },
): null {
  const row = agentMarket(ctx, input.currency_pair)
  const market = ctx.state.world.market(row.pair)
  const maker = agentId(ctx, MAKER)
  cancelOpen(ctx, ctx.state.spot.openOrders(maker, row.pair))
  ctx.tx.put(ctx.state.agents.markets, { ...row, fair: input.price, anchor: input.price })
  placeAgents(ctx, market, maker, input.side === 'buy' ? 'sell' : 'buy', input.amount, input.price, 'gtc')
  placeAgents(ctx, market, agentId(ctx, NOISE), input.side, input.amount, input.price, 'ioc')
  fireTriggers(ctx, row.pair)
  followIndex(ctx, market.base)
  return null
}
