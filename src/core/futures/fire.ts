import { schedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import { PRICE_TYPES } from '../tables/futures/triggers.ts'
import { watchChases } from './chases.ts'
import { firePriceOrder } from './price-orders.ts'
import { activateTrail, fireTrail, followTrails } from './trails.ts'
import { isTrading, priceNow } from './triggers.ts'

/** Orders that one command fires; what a longer cascade leaves is due at once, as commands of their own. */
const FIRED_MAX = 50

/**
 * A command is through: what waits for a price that it may have moved is looked at, so that what is fired comes after all
 * that the command did, and is no part of what it may still refuse.
 */
export function fireWaiting(ctx: Ctx): void {
  const { waiting } = ctx.state.futures
  for (let contract = waiting.take(); contract !== undefined; contract = waiting.take()) {
    let fire: (() => void) | undefined
    while ((fire = reached(ctx, contract)) !== undefined) {
      if (waiting.fired === FIRED_MAX) {
        schedule(ctx, ctx.at, 'futures.fire', { contract })
        break
      }
      waiting.fired++
      fire()
    }
    watchChases(ctx, contract)
  }
}
/** What fires next in a contract: the last price first, then mark and index. */
function reached(ctx: Ctx, id: string): (() => void) | undefined {
  const { state } = ctx
  const contract = state.world.findContract(id)
  // Where nothing is traded they go on waiting.
  if (contract === undefined || !isTrading(ctx, contract)) return undefined
  const { prices, trails } = state.futures.waiting
  for (const type of PRICE_TYPES) {
    const price = priceNow(state, id, type)
    if (price === undefined) continue
    const order = prices.reached(id, type, price)
    if (order !== undefined) return () => firePriceOrder(ctx, order)
    if (trails.countIn(id) === 0) continue
    followTrails(ctx, id, type, price)
    const activated = trails.activated(id, type, price)
    if (activated !== undefined) return () => void activateTrail(ctx, activated, price)
    const trail = trails.reached(id, type, price, contract.tick)
    if (trail !== undefined) return () => fireTrail(ctx, trail)
  }
  return undefined
}
/** Due: the rest of a long cascade. */
export function fireRest(ctx: Ctx, input: { contract: string }): null {
  ctx.state.futures.waiting.touch(input.contract)
  return null
}
