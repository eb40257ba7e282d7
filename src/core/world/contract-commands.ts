import { secondsOf } from '../time.ts'
import { notFound, refuse } from '../../labels.ts'
import { decimalsOf, rateOf } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import { dateName } from '../contracts/dates.ts'
import { schedule } from '../due.ts'
import { followBooks } from '../futures/follow.ts'
import { takeOff } from '../futures/venue.ts'
import { cancelWaiting, waitingIn } from '../futures/waiting.ts'
import type { Ctx, State } from '../state.ts'
import type { Actor } from '../tables/audit.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import { checkContract, type ContractChange } from '../tables/world/contract-rules.ts'
import type { ContractConfig } from '../tables/world/contracts.ts'
import { layOverlay, lookAtContracts } from './contract-listing.ts'

/** An operator's change of a contract's rules. New tiers act at once; whoever is beyond them is looked at next. */
export function changeContract(
  ctx: Ctx,
  input: { contract: string; change: ContractChange; actor: Actor },
): ContractConfig {
  const { world } = ctx.state
  const contract =
    world.findContract(input.contract) ??
    notFound('CONTRACT_NOT_FOUND', `contract: there is no ${input.contract}`)
  const { id, name, terms, config, settling } = contract
  const change = withLeverage(config, input.change)
  if (settling || config.status === 'delisted')
    refuse('CONTRACT_IN_DELISTING', `contract: ${id} has come to its end; nothing of it can be changed`)
  try {
    checkContract({ ...config, ...change }, decimalsOf(terms.unit), id)
  } catch (error) {
    refuse('INVALID_PARAM_VALUE', (error as Error).message)
  }
  const now = secondsOf(ctx.at)
  layOverlay(ctx, id, {
    ...change,
    ...(change.tiers !== undefined && { risk_limit_table: newTable(ctx.state, `${name}_${dateName(now)}`) }),
    config_change_time: now,
  })
  audit(ctx, input.actor, 'contract.change', { contract: id, ...change })
  lookAtContracts(ctx, {})
  if (change.tiers !== undefined) {
    ctx.state.futures.watch.lookAtHolders(id)
    // Nobody is liquidated in this command, whoever must be is in the next.
    schedule(ctx, ctx.at, 'futures.look', {})
  }
  return world.mustContract(id).config
}

/** A table of tiers is known by its name, so another one has another, of the same day too. */
function newTable({ world }: State, name: string): string {
  const known = new Set(world.contracts.all.map(({ config }) => config.risk_limit_table))
  let free = name
  for (let i = 2; known.has(free); i++) free = `${name}_${i}`
  return free
}
/** Tiers that allow less than the contract did bring its leverage down with them, where nothing else is said of it. */
function withLeverage({ leverage_max }: ContractConfig, change: ContractChange): ContractChange {
  const most = change.tiers?.[0]?.leverage_max
  if (most === undefined || change.leverage_max !== undefined || rateOf(most) >= rateOf(leverage_max))
    return change
  return { ...change, leverage_max: most }
}

/** Orders of one command; the caller goes on until nothing is left. */
const PORTION = 100
/**
 * Takes orders of some owners, such as the market agents, off the book of a contract; without owners everybody's, and
 * what waits for a price there. Tells how many it took.
 */
export function cancelContractOrders(
  ctx: Ctx,
  input: { contract: string; owners: readonly number[] | null; actor: Actor },
): number {
  const { futures, world } = ctx.state
  const { id } = world.mustContract(input.contract)
  const orders: OrderRow[] = []
  for (const side of ['buy', 'sell'] as const)
    for (const order of futures.book(id).queue(side)) {
      if (orders.length === PORTION) break
      if (input.owners === null || input.owners.includes(order.user_id)) orders.push(order)
    }
  const waiting = input.owners === null ? waitingIn(ctx.state, id).slice(0, PORTION - orders.length) : []
  cancelWaiting(ctx, waiting, 'contract_changed')
  for (const order of orders) takeOff(ctx, order, 'cancelled')
  if (orders.length > 0) followBooks(ctx, [id])
  const count = orders.length + waiting.length
  if (count > 0) audit(ctx, input.actor, 'contract.cancel_orders', { contract: id, orders: count })
  return count
}
