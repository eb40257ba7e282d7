import type { Amount } from '../../money/amount.ts'
import { deleverageScore, type Score } from '../contracts/liquidation.ts'
import { maintenanceMargin } from '../contracts/margin.ts'
import { unrealised } from '../contracts/position.ts'
import { LEGS_MAX, boundKnown, type RoughLeg } from '../contracts/rough.ts'
import { abs, valueUp } from '../contracts/terms.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { countBefore } from '../sorted.ts'
import type { State } from '../state.ts'
import { otherSide, type Position } from '../tables/futures/positions.ts'
import { Followed, Holder, Ranking, goesFirst, type Scored } from '../tables/futures/rankings.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { isCross, needsOf, standingOf } from './figures.ts'
import { isSharedFor, isUnifiedFor, totalOf } from './money.ts'
import { holdingOf } from './positions.ts'

/** So many of the first are sought at once. */
const FIRST = 32
/** And so many times as many when that was not enough. */
const MORE = 4

/**
 * Who goes first on a side of a contract: by score, then by the lowest user id. In the order of the queue, as it was when the first of them was asked for. No more of it is made than is gone through.
 * `user` is somebody whom what is done meanwhile makes another: he has the place that he had.
 */
export function* queueOf(state: State, contract: Contract, long: boolean, user: number): Generator<Scored> {
  const ranking = rankingOf(state, contract, long)
  const holder = ranking.holders.get(user)
  if (holder !== undefined) list(state, contract, ranking, [holder])
  let most = FIRST
  for (let place = 0; ; place++) {
    for (; !ranking.isSure(place) && ranking.below > -Infinity; most *= MORE)
      lookFurther(state, contract, ranking, place + most)
    const next = ranking.first.items[place]
    if (next === undefined) return
    yield next
  }
}
/** All who may be among so many that go first are known exactly from here on. */
function lookFurther(state: State, contract: Contract, ranking: Ranking, most: number): void {
  const below = ranking.boundOf(most)
  if (below >= ranking.below) return
  const found: Holder[] = []
  for (const holder of ranking.holders.values()) if (holder.high >= below) found.push(holder)
  list(state, contract, ranking, found)
  ranking.below = below
}
function list(state: State, contract: Contract, ranking: Ranking, holders: readonly Holder[]): void {
  ranking.list(holders.filter((holder) => !holder.listed && exactOf(state, contract, holder) !== undefined))
}
const exactOf = (state: State, contract: Contract, holder: Holder): Scored | undefined => {
  if (holder.scored !== undefined) return holder.scored
  const scored = scoredOf(state, contract, holder.row)
  return scored === undefined ? undefined : holder.know(scored)
}

/** What is known of a side, as it is now. */
function rankingOf(state: State, contract: Contract, long: boolean): Ranking {
  const ranking = knownOf(state, contract, long)
  for (const userId of ranking.others) ranking.changed.add(userId)
  rankChanged(state, contract, long, ranking, Infinity)
  return ranking
}
/** Of one that is new all holders are yet to be looked at. */
function knownOf(state: State, contract: Contract, long: boolean): Ranking {
  const { positions, rankings } = state.futures
  const known = rankings.get(contract.id, long)
  if (known !== undefined) {
    if (haveMoved(state, known)) known.bound()
    return known
  }
  const ranking = new Ranking()
  for (const { size, user_id } of positions.heldIn(contract.id))
    if (size > 0n === long) ranking.changed.add(user_id)
  rankings.keep(contract.id, long, ranking)
  return ranking
}
/** Holders that one step of a liquidation looks at beforehand. */
const BEFOREHAND = 100
/**
 * Somebody is being liquidated, and it may come to deleveraging: what must be known of thousands by then is gathered in
 * portions on the way there.
 */
export function prepareQueue(state: State, contract: Contract, long: boolean): void {
  rankChanged(state, contract, long, knownOf(state, contract, long), BEFOREHAND)
}
function rankChanged(state: State, contract: Contract, long: boolean, ranking: Ranking, most: number): void {
  const { changed } = ranking
  let ranked = 0
  for (const userId of changed) {
    if (ranked++ === most) return
    changed.delete(userId)
    rank(state, contract, long, ranking, userId)
  }
}
/** Whether a mark or the terms of a contract that scores hang on are others. */
function haveMoved({ futures, world }: State, { followed }: Ranking): boolean {
  let moved = false
  for (const [id, known] of followed) {
    const [contract, mark] = [world.findContract(id), futures.markOf(id)]
    if (!known.hasMoved(contract, mark)) continue
    moved = true
    // Nobody holds anything in one that is no more.
    if (contract === undefined) followed.delete(id)
    else known.follow(contract, mark)
  }
  return moved
}
/** Puts a user in his place, or out of the queue. */
function rank(state: State, contract: Contract, long: boolean, ranking: Ranking, userId: number): void {
  const { positions } = state.futures
  const single = positions.get(userId, contract.id, 'single')
  const row =
    single === undefined || single.size === 0n
      ? positions.get(userId, contract.id, long ? 'dual_long' : 'dual_short')
      : single
  const held = row !== undefined && row.size !== 0n && row.size > 0n === long && userId !== PLATFORM
  const unified = held && isCross(row) && isUnifiedFor(state, userId, contract)
  if (unified) ranking.others.add(userId)
  else ranking.others.delete(userId)
  const holder = held ? holderOf(state, contract, ranking, row, unified) : undefined
  ranking.put(userId, holder)
  if (holder !== undefined && holder.high >= ranking.below) list(state, contract, ranking, [holder])
}
/** Undefined: it is being liquidated, and out. Where all currencies carry it, that is seen when its score is asked for. */
function holderOf(
  state: State,
  contract: Contract,
  ranking: Ranking,
  row: Position,
  unified: boolean,
): Holder | undefined {
  if (unified && isSharedFor(state, row.user_id, contract)) return new Holder(row, undefined)
  if (!isCross(row))
    return row.liquidating === 0 ? new Holder(row, isolatedOf(state, ranking, row)) : undefined
  const account = state.futures.accounts.get(row.user_id, contract.account)
  if (account !== undefined && account.liquidating !== 0) return undefined
  return new Holder(row, crossOf(state, contract, ranking, row))
}
function isolatedOf(state: State, ranking: Ranking, row: Position): Holder['rough'] {
  const own = legOf(followedOf(state, ranking, row.contract), row)
  const side = otherSide(row.mode)
  const other = side === undefined ? undefined : state.futures.positions.get(row.user_id, row.contract, side)
  const beside = other === undefined ? 0 : Number(abs(contractsIn(other.size)))
  return { own, stand: { base: Number(row.margin), legs: [own], beside } }
}
/** All cross positions of the account, and its cash beside the margins of isolated ones. */
function crossOf(state: State, contract: Contract, ranking: Ranking, row: Position): Holder['rough'] {
  const own = legOf(followedOf(state, ranking, row.contract), row)
  const legs = [own]
  let cash: bigint = totalOf(state, row.user_id, contract)
  for (const one of state.futures.positions.heldBy(row.user_id, contract.account)) {
    if (one.id === row.id) continue
    if (!isCross(one)) {
      cash -= one.margin
      continue
    }
    const leg = legOf(followedOf(state, ranking, one.contract), one)
    const same = legs.findIndex(({ on }) => on === leg.on)
    if (same === -1) legs.push(leg)
    else legs[same] = bothOf(legs[same]!, leg)
  }
  return legs.length > LEGS_MAX ? undefined : { own, stand: { base: Number(cash), legs, beside: 0 } }
}
function legOf(on: Followed, { size, cost }: Position): RoughLeg {
  const [held, paid] = [Number(abs(contractsIn(size))), Number(abs(cost))]
  return size > 0n
    ? { on, long: held, longPaid: paid, short: 0, shortPaid: 0 }
    : { on, long: 0, longPaid: 0, short: held, shortPaid: paid }
}
/** Both sides of a contract in dual mode. */
const bothOf = (one: RoughLeg, other: RoughLeg): RoughLeg => ({
  on: one.on,
  long: one.long + other.long,
  longPaid: one.longPaid + other.longPaid,
  short: one.short + other.short,
  shortPaid: one.shortPaid + other.shortPaid,
})
function followedOf({ futures, world }: State, { followed }: Ranking, id: string): Followed {
  const known = followed.get(id)
  if (known !== undefined) return known
  const made = new Followed(world.mustContract(id), futures.markOf(id))
  followed.set(id, made)
  return made
}

/** Undefined: it is being liquidated, and out. */
function scoredOf(state: State, contract: Contract, row: Position): Scored | undefined {
  if (inLiquidation(state, row, contract)) return undefined
  return { id: row.id, user_id: row.user_id, score: scoreOf(state, contract, row) }
}
function scoreOf(state: State, contract: Contract, row: Position): Score {
  const held = holdingOf(row)
  const mark = state.futures.markOf(contract.id)
  const pnl = unrealised(contract.terms, held, mark)
  if (!isCross(row)) {
    const equity = (row.margin + pnl) as Amount
    // Many of them are looked at when a mark has moved: no more is counted than what is needed.
    if (row.mode !== 'single') return deleverageScore(pnl, held, needsOf(state, row).maintenance, equity)
    const value = valueUp(contract.terms, abs(held.size), mark)
    return deleverageScore(pnl, held, maintenanceMargin(contract.terms, value), equity)
  }
  const standing = standingOf(state, row.user_id, contract)
  return deleverageScore(pnl, held, standing.maintenance, standing.balance)
}
function inLiquidation(state: State, row: Position, contract: Contract): boolean {
  if (!isCross(row)) return row.liquidating !== 0
  if (isSharedFor(state, row.user_id, contract)) return state.margin.isLocked(row.user_id, UNIFIED.scope)
  return (state.futures.accounts.get(row.user_id, contract.account)?.liquidating ?? 0) !== 0
}

/** All of a side, each scored exactly as it stands now. */
export function scoredQueue(state: State, contract: Contract, long: boolean): Scored[] {
  const all: Scored[] = []
  for (const row of state.futures.positions.heldIn(contract.id)) {
    if (row.size > 0n !== long || row.user_id === PLATFORM) continue
    const scored = scoredOf(state, contract, row)
    if (scored !== undefined) all.push(scored)
  }
  return all.sort((one, other) => (goesFirst(one, other) ? -1 : 1))
}
/** Its fifth of the queue of its side: 1 goes first, 5 last; 6: not in it. `told`: the queue of a side, made by somebody before. */
export function adlRanking(
  state: State,
  contract: Contract,
  position: Position,
  told?: (long: boolean) => readonly Scored[],
): number {
  if (position.size === 0n) return 6
  const own = scoredOf(state, contract, position)
  if (own === undefined) return 6
  const long = position.size > 0n
  const { first, others } =
    told === undefined
      ? placeOf(state, contract, rankingOf(state, contract, long), own)
      : placeAmong(told(long), own)
  return Math.floor((first * 5) / (others + 1)) + 1
}
interface Place {
  /** How many others go first, and how many there are: where it stood itself makes no difference. */
  readonly first: number
  readonly others: number
}
function placeAmong(queue: readonly Scored[], own: Scored): Place {
  const first = countBefore(queue, (one) => goesFirst(one, own))
  const before = queue.findIndex(({ user_id }) => user_id === own.user_id)
  if (before === -1) return { first, others: queue.length }
  return { first: before < first ? first - 1 : first, others: queue.length - 1 }
}
function placeOf(state: State, contract: Contract, { holders }: Ranking, own: Scored): Place {
  const at = { low: -Infinity, high: Infinity }
  boundKnown(at, own.score)
  let [first, others] = [0, 0]
  for (const holder of holders.values()) {
    if (holder.row.user_id === own.user_id) continue
    const apart = holder.low > at.high || holder.high < at.low
    const scored = apart ? undefined : exactOf(state, contract, holder)
    if (!apart && scored === undefined) continue
    others++
    if (scored === undefined ? holder.low > at.high : goesFirst(scored, own)) first++
  }
  return { first, others }
}
