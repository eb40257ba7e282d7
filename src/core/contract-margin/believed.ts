import { ONE, rateOf, type Price } from '../../money/amount.ts'
import type { State } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import type { ContractPrice } from '../tables/futures/prices.ts'
import { endOf, markBoundAt, type Contract } from '../tables/world/contracts.ts'
import type { Prices } from './needs.ts'

/**
 * What a contract is worth by its index alone: the index itself; in its last half hour the mean at which it ends if that stays
 * where it is. The mark may say anything else until then, and everybody can count what is going to be paid.
 */
function worthByIndex(contract: Contract, { index, minute, settle_sum, settle_count }: ContractPrice): Price {
  const end = endOf(contract)
  if (settle_count === 0 || end === 0) return index
  const left = BigInt(Math.max(0, Math.floor((end - minute) / 60)))
  return ((settle_sum + index * left) / (BigInt(settle_count) + left)) as Price
}

/** How far from its index a mark is believed without more; dated contracts add what their time is worth. */
const BELIEVED = rateOf('0.005')
/**
 * A mark follows our own book within bounds, so one party can move it. Who opens a position, or takes money out, must
 * be able to bear it near the index too: else two accounts of one person open at a moved mark what others pay when it
 * comes back.
 */
export const nearIndex =
  ({ futures, world }: State): Prices =>
  (id) => {
    const row = futures.priceOf(id)
    if (row === undefined) return 0n as Price
    const contract = world.mustContract(id)
    const { believed } = futures
    // One order asks for the same several times.
    if (believed?.row === row && believed.contract === contract) return believed.price
    const price = believedOf(contract, row)
    futures.believed = { row, contract, price }
    return price
  }
function believedOf(contract: Contract, row: ContractPrice): Price {
  const { mark, at } = row
  const index = worthByIndex(contract, row)
  const far = (index * (BELIEVED + markBoundAt(contract, at) - contract.markBound)) / ONE
  return mark > index + far ? ((index + far) as Price) : mark < index - far ? ((index - far) as Price) : mark
}
/**
 * And must not be at its maintenance margin at the index itself: the fund takes a liquidated position over as near to the
 * mark as that margin is, and sells it as far from the index as a mark is believed. Who may have both would be paid for it.
 * What time is worth makes no difference to that: a book can say so one minute, and say otherwise in the next.
 */
export const atIndex =
  ({ futures, world }: State): Prices =>
  (id) => {
    const row = futures.priceOf(id)
    if (row === undefined) return 0n as Price
    return row.settle_count === 0 ? row.index : worthByIndex(world.mustContract(id), row)
  }

/**
 * And while the index has no firm price, of one who opens by an order that rested: what the feed has said once of a price that
 * jumped, or where it says nothing, as much as a price may differ before it is doubted. When it is known it is too late.
 */
export function atDoubt({ prices, world, futures }: State, contract: Contract, long: boolean): Prices {
  const { reading } = prices.quote(contract.base)
  const mark = futures.markOf(contract.id)
  const far = (mark * world.priceJump) / ONE
  const doubted =
    reading === 0n ? ((long ? mark - far : mark + far) as Price) : world.inQuoteOf(contract, reading)
  return (id) => (id === contract.id ? doubted : futures.markOf(id))
}

/** Whether a user holds something whose mark is not believed. */
export function isDoubtful(state: State, userId: number, account: string): boolean {
  const near = nearIndex(state)
  for (const { contract } of state.futures.positions.heldBy(userId, account))
    if (near(contract) !== state.futures.markOf(contract)) return true
  return false
}
/** Whether a user holds something that the mark says more of than the index; `instead` as in `unitOf`. */
export function isFlattered(state: State, userId: number, account: string, instead?: Position): boolean {
  const index = atIndex(state)
  const flatters = ({ contract, size }: Position): boolean => {
    const [mark, real] = [state.futures.markOf(contract), index(contract)]
    return size > 0n ? real < mark : size < 0n && real > mark
  }
  if (instead !== undefined && flatters(instead)) return true
  for (const row of state.futures.positions.heldBy(userId, account))
    if (row.id !== instead?.id && flatters(row)) return true
  return false
}
/** For each contract the mark or what is believed of it, whichever leaves the user with less. */
export function worsePrices(state: State, userId: number, account: string, instead?: Position): Prices {
  const near = nearIndex(state)
  const nets = new Map<string, bigint>()
  const count = ({ contract, size }: Position): void => {
    nets.set(contract, (nets.get(contract) ?? 0n) + size)
  }
  for (const row of state.futures.positions.heldBy(userId, account)) if (row.id !== instead?.id) count(row)
  if (instead !== undefined) count(instead)
  return (id) => {
    const [mark, believed] = [state.futures.markOf(id), near(id)]
    const higher = mark > believed ? mark : believed
    const lower = mark > believed ? believed : mark
    return (nets.get(id) ?? 0n) > 0n ? lower : higher
  }
}
