import { secondsOf } from '../time.ts'
import { audit } from '../audit.ts'
import { cyclesAt, dateName } from '../contracts/dates.ts'
import { schedule, unschedule } from '../due.ts'
import { followPrices } from '../futures/prices.ts'
import { settlePositions } from '../futures/settlement.ts'
import { followBooks } from '../futures/follow.ts'
import { takeOff } from '../futures/venue.ts'
import { cancelWaiting, onlyReduces, waitingIn } from '../futures/waiting.ts'
import type { Ctx, State } from '../state.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import type { ContractOverlay } from '../tables/world/contract-rules.ts'
import { contractId, type Contract, type ContractConfig } from '../tables/world/contracts.ts'
import type { ListedContract } from '../tables/world/listed.ts'
import { CONTRACT_SETTING } from '../tables/world/world.ts'

/**
 * What time does to contracts: dated ones are listed and expire, others open and are delisted. One due item stands at the
 * next moment at which anything happens to any of them. At its end a contract loses its orders, in portions, then its
 * positions, and is gone from the lists; what happened in it stays.
 */
const LOOK = 'contracts.look'
/** Orders that one command ends. */
const PORTION = 100

/** Runs at every start: what came due meanwhile happens now, and the next moment is planned. */
export function beginContracts(ctx: Ctx, _input: Record<string, never>): null {
  for (const { id, settling, config } of ctx.state.world.allContracts)
    if (settling || config.status === 'delisting') planSweep(ctx, id)
  return lookAtContracts(ctx, _input)
}
/** Due. */
export function lookAtContracts(ctx: Ctx, _input: Record<string, never>): null {
  const now = secondsOf(ctx.at)
  for (const contract of ctx.state.world.allContracts) step(ctx, contract, now)
  listDated(ctx, now)
  planLook(ctx)
  return null
}
const reached = (time: number, now: number): boolean => time !== 0 && time <= now

function step(ctx: Ctx, { id, settling, config }: Contract, now: number): void {
  if (settling) return
  if (reached(config.expire_time, now) || reached(config.delisted_time, now)) {
    layPhase(ctx, id, 'settling')
    planSweep(ctx, id)
    audit(ctx, 'machine', 'contract.end', { contract: id })
  } else if (mayBeDelisted(config) && reached(config.delisting_time, now)) {
    layOverlay(ctx, id, { status: 'delisting' })
    planSweep(ctx, id)
    audit(ctx, 'machine', 'contract.delisting', { contract: id })
  } else if (config.status === 'prelaunch' && reached(config.launch_time, now))
    layOverlay(ctx, id, { status: 'trading' })
}
/** What an operator has stopped stays so until one lets it go on; then its time has come. */
const mayBeDelisted = ({ status }: ContractConfig): boolean =>
  status !== 'delisting' && status !== 'circuit_breaker'
/** The moments that `step` waits for. */
function* momentsOf({ settling, config }: Contract): Iterable<number> {
  if (settling) return
  yield config.expire_time
  yield config.delisted_time
  if (mayBeDelisted(config)) yield config.delisting_time
  if (config.status === 'prelaunch') yield config.launch_time
}

/** One contract for each date of each template; a row whose date has come nearer is of another cycle. */
function listDated(ctx: Ctx, now: number): void {
  const { listed, templates } = ctx.state.world.contracts
  const fresh: string[] = []
  for (const [template, { group, settle, underlying }] of [...templates].sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const { cycle, expire_time } of cyclesAt(now)) {
      const name = `${underlying}_${dateName(expire_time)}`
      const id = contractId(group, settle, name)
      const known = listed.get(id)
      if (known === undefined) {
        const row: ListedContract = {
          id,
          template,
          name,
          cycle,
          create_time: now,
          expire_time,
          phase: 'listed',
          config: null,
        }
        ctx.tx.put(listed, row)
        fresh.push(id)
      } else if (known.phase === 'listed' && known.cycle !== cycle) ctx.tx.put(listed, { ...known, cycle })
    }
  followPrices(ctx, fresh)
}

/** The due item stands where the next thing happens; one that stands elsewhere goes. */
export function planLook(ctx: Ctx): void {
  const { state, tx } = ctx
  const { settings } = state.world
  let next = Infinity
  for (const contract of state.world.allContracts)
    for (const time of momentsOf(contract)) if (time !== 0 && time < next) next = time
  const at = Math.max(next * 1e6, ctx.at)
  const planned = settings.get(LOOK)?.value as { due_id: number; at: number } | undefined
  const stands = planned !== undefined && state.due.table.get(planned.due_id) !== undefined
  if (stands && planned.at === at) return
  if (stands) unschedule(ctx, planned.due_id)
  if (next !== Infinity)
    tx.put(settings, { name: LOOK, value: { due_id: schedule(ctx, at, 'contract.look', {}), at } })
  else if (planned !== undefined) tx.remove(settings, LOOK)
}

/** An operator's change, or what time has changed: it outlives restarts and new files. */
export function layOverlay({ state, tx }: Ctx, id: string, change: ContractOverlay): void {
  const name = CONTRACT_SETTING + id
  const before = state.world.settings.get(name)?.value as ContractOverlay | undefined
  tx.put(state.world.settings, { name, value: { ...before, ...change } })
}
/** Dated ones have a row of their own to say it in. An ended one keeps the rules that it had, whatever the file says. */
function layPhase(ctx: Ctx, id: string, phase: 'settling' | 'ended'): void {
  const { state, tx } = ctx
  const { listed } = state.world.contracts
  const row = listed.get(id)
  if (row === undefined) {
    layOverlay(ctx, id, { status: phase === 'ended' ? 'delisted' : phase })
    return
  }
  const { config } = state.world.mustContract(id)
  const kept: ContractConfig | null = phase === 'ended' ? { ...config, status: 'delisted' } : null
  tx.put(listed, { ...row, phase, config: kept })
  const name = CONTRACT_SETTING + id
  if (phase === 'ended' && state.world.settings.get(name) !== undefined) tx.remove(state.world.settings, name)
}
const planSweep = (ctx: Ctx, contract: string): number =>
  schedule(ctx, ctx.at, 'contract.sweep', { contract })

/**
 * Due: one portion of what a contract loses. One that is being delisted loses the orders that may open a position, one
 * that has ended all of them; when those are gone and nobody holds it any more, it is over.
 */
export function sweepContract(ctx: Ctx, input: { contract: string }): null {
  const { state } = ctx
  const contract = state.world.findContract(input.contract)
  if (contract === undefined) return null
  const { id, settling, config } = contract
  if (!settling && config.status !== 'delisting') return null
  // What waits for a price first: one that fires would place an order of its own.
  const waiting = waitingIn(state, id).filter((one) => settling || !onlyReduces(one))
  cancelWaiting(ctx, waiting.slice(0, PORTION), 'contract_delisted')
  const orders = ordersIn(state, id, (order) => settling || mayOpen(order))
  for (const order of orders) takeOff(ctx, order, 'cancelled')
  if (orders.length > 0) followBooks(ctx, [id])
  if (orders.length === PORTION || waiting.length > PORTION) planSweep(ctx, id)
  else if (settling && settlePositions(ctx, contract)) planSweep(ctx, id)
  else if (settling) endContract(ctx, contract)
  return null
}
/** A plain order on the other side of a position turns it round when the position has shrunk before it is filled. */
const mayOpen = ({ more }: OrderRow): boolean => more?.reduce_only !== true && more?.close !== true

function ordersIn(state: State, id: string, meant: (order: OrderRow) => boolean): OrderRow[] {
  const orders: OrderRow[] = []
  const book = state.futures.book(id)
  for (const side of ['buy', 'sell'] as const)
    for (const order of book.queue(side)) {
      if (orders.length === PORTION) return orders
      if (meant(order)) orders.push(order)
    }
  return orders
}
/** Nothing is left in it: it leaves the lists. Whoever closes its last position calls this. */
export function endContract(ctx: Ctx, { id }: Contract): void {
  layPhase(ctx, id, 'ended')
  audit(ctx, 'machine', 'contract.ended', { contract: id })
}

/** A file was taken in: dated contracts that it makes no longer, and that nobody is in, have ended. `before` it came. */
export function endWithoutTemplate(ctx: Ctx, kept: ReadonlySet<string>): void {
  const { listed } = ctx.state.world.contracts
  for (const { id, template, phase } of [...listed.values()])
    if (phase !== 'ended' && !kept.has(template)) layPhase(ctx, id, 'ended')
}
