import { ONE, ZERO, type Amount } from '../../money/amount.ts'
import { abs, baseOf, quoteOf } from '../contracts/terms.ts'
import { schedule } from '../due.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import type { Side } from '../tables/exchange/order.ts'
import {
  CONTRACT_STAT,
  ContractFlowRow,
  minuteSlot,
  type ContractStat,
  type Flow,
  type Holders,
} from '../tables/futures/stats.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'

/** Every five minutes there is a record of each perpetual contract; of one that is held, or was traded, every minute. */
export const STAT_SECONDS = 300
/** With more holders the record is a command of its own, so that nobody waits for all contracts. */
const AT_ONCE_MAX = 2_000

const NO_FLOW: Flow = {
  bought: ZERO,
  sold: ZERO,
  long_liq: ZERO,
  long_liq_base: ZERO,
  long_liq_quote: ZERO,
  short_liq: ZERO,
  short_liq_base: ZERO,
  short_liq_quote: ZERO,
}
/** Without the name of the contract. */
export function flowOf({ futures }: State, contract: string): Flow {
  const { id: _id, ...flow } = futures.flows.get(contract) ?? { ...NO_FLOW, id: contract }
  return flow
}
const plus = (amount: Amount, more: bigint): Amount => (amount + more) as Amount
const rowOf = ({ futures }: State, id: string): ContractFlowRow =>
  new ContractFlowRow(futures.flows.get(id) ?? { ...NO_FLOW, id })

export function countTaken({ state, tx }: Ctx, { id, group }: Contract, side: Side, amount: Amount): void {
  if (amount === 0n || group !== 'futures') return
  const row = rowOf(state, id)
  if (side === 'buy') row.bought = plus(row.bought, amount)
  else row.sold = plus(row.sold, amount)
  tx.put(state.futures.flows, row)
}
/** So many contracts of a position were closed because it was liquidated, at the present mark price. */
export function countLiquidated(
  { state, tx }: Ctx,
  contract: Contract,
  long: boolean,
  contracts: bigint,
): void {
  const { id, group, terms } = contract
  if (contracts === 0n || group !== 'futures') return
  const mark = state.futures.markOf(id)
  const amount = amountOfContracts(contracts)
  const [base, quote] = [baseOf(terms, contracts, mark), quoteOf(terms, contracts, mark)]
  const row = rowOf(state, id)
  if (long) {
    row.long_liq = plus(row.long_liq, amount)
    row.long_liq_base = plus(row.long_liq_base, base)
    row.long_liq_quote = plus(row.long_liq_quote, quote)
  } else {
    row.short_liq = plus(row.short_liq, amount)
    row.short_liq_base = plus(row.short_liq_base, base)
    row.short_liq_quote = plus(row.short_liq_quote, quote)
  }
  tx.put(state.futures.flows, row)
}

/** How many hold a side of a contract: the insurance fund is no holder among others. */
export function usersIn(
  { futures: { positions } }: State,
  contract: string,
): { readonly longs: number; readonly shorts: number; readonly fund: Amount } {
  const { longs, shorts } = positions.sumsOf(contract)
  const fund = positions.get(PLATFORM, contract, 'single')?.size ?? ZERO
  return { longs: longs - (fund > 0n ? 1 : 0), shorts: shorts - (fund < 0n ? 1 : 0), fund }
}
/** What the fund holds is part of the open interest. */
export function holdersOf(state: State, { id }: Contract): Holders {
  const { futures } = state
  const { positions } = futures
  const { long } = positions.sumsOf(id)
  const { longs, shorts, fund } = usersIn(state, id)
  const sizes = new BigInt64Array(positions.countIn(id) - (fund === 0n ? 0 : 1))
  let filled = 0
  // The side is the last bit, so that sorting by size keeps it.
  for (const { user_id, size } of positions.heldIn(id))
    if (user_id !== PLATFORM) sizes[filled++] = abs(contractsIn(size)) * 2n + (size > 0n ? 1n : 0n)
  sizes.sort()
  const top = { long: 0n, short: 0n, longs: 0, shorts: 0 }
  for (let i = 0; i < Math.min(filled, Math.max(1, Math.floor(filled / 5))); i++) {
    const one = sizes[filled - 1 - i]!
    if (one % 2n === 1n) {
      top.long += one / 2n
      top.longs++
    } else {
      top.short += one / 2n
      top.shorts++
    }
  }
  return {
    mark: futures.markOf(id),
    open_interest: long as Amount,
    longs,
    shorts,
    top_long: (top.long * ONE) as Amount,
    top_short: (top.short * ONE) as Amount,
    top_longs: top.longs,
    top_shorts: top.shorts,
  }
}

/** At a full minute. What has no record then is as it was in the one before; `held`: at that one. */
export function keepStats(
  ctx: Ctx,
  contracts: readonly Contract[],
  second: number,
  at: number,
  held: ReadonlySet<string>,
): void {
  for (const contract of contracts) {
    if (contract.group !== 'futures') continue
    const moves = held.has(contract.id) || isMoving(ctx.state, contract, second)
    if (second % STAT_SECONDS !== 0 && !moves) continue
    if (ctx.state.futures.positions.countIn(contract.id) <= AT_ONCE_MAX) keepStat(ctx, contract, second)
    else schedule(ctx, at, 'futures.stat', { contract: contract.id, t: second })
  }
}
const MINUTE = 60
/**
 * Whether anybody holds it, or traded it in the last minute. The growing candle tells that: trades leave memory, and a
 * rule may lean on nothing that is there by luck.
 */
function isMoving({ futures }: State, { id }: Contract, second: number): boolean {
  if (futures.positions.countIn(id) > 0) return true
  const { candles } = futures
  const [newest] = candles.tail(id, candles.spans[0]!.seconds)
  return newest !== undefined && newest.open_time >= second - MINUTE
}
export function statContract(ctx: Ctx, { contract, t }: { contract: string; t: number }): null {
  keepStat(ctx, ctx.state.world.mustContract(contract), t)
  return null
}
function keepStat({ tx, state }: Ctx, contract: Contract, t: number): void {
  const { id } = contract
  const row: ContractStat = { ...flowOf(state, id), contract: id, t, ...holdersOf(state, contract) }
  if (t % STAT_SECONDS === 0) tx.append(CONTRACT_STAT, row)
  else tx.put(state.futures.minutes, { slot: minuteSlot(id, t), ...row })
}
