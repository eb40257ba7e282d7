import type { Amount, Price, Rate } from '../../../money/amount.ts'
import { atOnce, fixedMargin, type OrderTerms } from '../../contracts/margin.ts'
import { valueUp, type Terms } from '../../contracts/terms.ts'
import { Sorted } from '../../sorted.ts'
import type { Order, OrderRow, Side } from '../exchange/order.ts'
import { contractsIn } from '../world/contracts.ts'

type Resting = Pick<Order, 'id' | 'price' | 'left' | 'more'>
/** An order that would be among those of a side. */
export interface NewAmong {
  readonly contracts: bigint
  readonly price: Price
  /** It never rests: whatever it closes, it closes first. */
  readonly first: boolean
  /** The one that it stands for. */
  readonly replaces: Resting | undefined
}
/** A contract; another object once its rules are others. */
interface Ruled {
  readonly terms: Terms
}
/** What sums were made with. */
interface SumTerms {
  readonly contract: Ruled
  readonly leverage: Rate
  readonly takerRate: Rate
}
/** What one order was counted with, which leaves the sums as it came to them. */
interface Counted {
  readonly of: Resting['price']
  readonly contracts: bigint
  readonly by: SumTerms | Ruled
  readonly value: bigint
  readonly fixed: bigint
}
interface Kept {
  last: Counted | undefined
  valued: Ruled | undefined
  value: bigint
  summed: SumTerms | undefined
  fixed: bigint
}
/**
 * One side of an account's open orders in a contract, those that may open a position: the best price first, then the
 * oldest, because that decides which of them reduce a position. Each order asks for their sums, so that they are kept.
 */
export class OrderSide {
  private readonly side: Side
  private readonly orders: Sorted<Resting>
  /** Contracts of all of them. */
  contracts = 0n
  /** How many orders there are that only reduce; they are no part of the rest. */
  reducing = 0
  /** Sums that somebody has asked for. */
  private readonly kept: Kept = {
    last: undefined,
    valued: undefined,
    value: 0n,
    summed: undefined,
    fixed: 0n,
  }

  constructor(side: Side) {
    this.side = side
    this.orders = new Sorted<Resting>(
      side === 'buy'
        ? (a, b) => (a.price === b.price ? a.id < b.id : a.price > b.price)
        : (a, b) => (a.price === b.price ? a.id < b.id : a.price < b.price),
    )
  }
  get isEmpty(): boolean {
    return this.reducing === 0 && this.orders.items.length === 0
  }
  add(order: Resting): void {
    if (order.more?.reduce_only === true) {
      this.reducing++
      return
    }
    this.orders.add(order)
    this.count(order, 1n)
  }
  remove(order: Resting): void {
    if (order.more?.reduce_only === true) {
      this.reducing--
      return
    }
    this.orders.remove(order)
    this.count(order, -1n)
  }
  private count({ left, price }: Resting, sign: 1n | -1n): void {
    const { kept } = this
    const { valued, summed } = kept
    const contracts = contractsIn(left)
    this.contracts += sign * contracts
    const by = summed ?? valued
    if (by === undefined) return
    const { value, fixed } = this.counted(contracts, price, by)
    kept.fixed += sign * fixed
    if (valued === undefined) return
    const same = summed === undefined || summed.contract === valued
    kept.value += sign * (same ? value : valueUp(valued.terms, contracts, price))
  }
  /** Most orders that leave are the ones that came last. */
  private counted(contracts: bigint, of: Price, by: SumTerms | Ruled): Counted {
    const { last } = this.kept
    if (last?.by === by && last.of === of && last.contracts === contracts) return last
    const { terms } = 'contract' in by ? by.contract : by
    const value = valueUp(terms, contracts, of)
    const fixed = 'contract' in by ? fixedMargin(terms, value, by) : 0n
    return (this.kept.last = { of, contracts, by, value, fixed })
  }
  /** What they are worth at their own prices. */
  valueOf(contract: Ruled): Amount {
    const { kept } = this
    if (kept.valued !== contract) {
      kept.valued = contract
      kept.value = this.sum(({ left, price }) => valueUp(contract.terms, contractsIn(left), price))
    }
    return kept.value as Amount
  }
  /**
   * What they and one more are worth at their own prices, but for the first `reduces` contracts of them: those close the
   * position on the other side.
   */
  openingValue(contract: Ruled, reduces: bigint, one: NewAmong): Amount {
    const { terms } = contract
    const { replaces } = one
    if (reduces === 0n) {
      const instead = replaces === undefined ? 0n : valueUp(terms, contractsIn(replaces.left), replaces.price)
      return (this.valueOf(contract) - instead + valueUp(terms, one.contracts, one.price)) as Amount
    }
    let value = 0n
    const count = (contracts: bigint, price: Price): void => {
      const free = contracts < reduces ? contracts : reduces
      reduces -= free
      value += valueUp(terms, contracts - free, price)
    }
    let counted = false
    for (const { id, left, price } of this.orders.items) {
      const behind = this.side === 'buy' ? price < one.price : price > one.price
      if (!counted && (one.first || behind)) {
        count(one.contracts, one.price)
        counted = true
      }
      if (id !== replaces?.id) count(contractsIn(left), price)
    }
    if (!counted) count(one.contracts, one.price)
    return value as Amount
  }
  /** What they need beside a position of which `reduces` contracts are closed first. */
  marginOf(contract: Ruled, reduces: bigint, order: OrderTerms): Amount {
    const { terms } = contract
    const { leverage, takerRate, mark } = order
    const { kept } = this
    const known = kept.summed
    if (known?.contract !== contract || known.leverage !== leverage || known.takerRate !== takerRate) {
      kept.summed = { contract, leverage, takerRate }
      kept.fixed = this.sum(({ left, price }) => fixedOf(terms, contractsIn(left), price, order))
    }
    let margin = kept.fixed
    // Only the first ones reduce, or would lose something at once.
    for (const { left, price } of this.orders.items) {
      if (reduces === 0n && (this.side === 'buy' ? price <= mark : price >= mark)) break
      const contracts = contractsIn(left)
      const free = contracts < reduces ? contracts : reduces
      const opens = contracts - free
      if (free > 0n) {
        reduces -= free
        margin -= fixedOf(terms, contracts, price, order)
        if (opens > 0n) margin += fixedOf(terms, opens, price, order)
      }
      if (opens > 0n) margin += atOnce(terms, this.side, opens, price, mark)
    }
    return margin as Amount
  }
  private sum(of: (order: Resting) => bigint): bigint {
    let sum = 0n
    for (const order of this.orders.items) sum += of(order)
    return sum
  }
}
const fixedOf = (
  terms: Terms,
  contracts: bigint,
  price: Price,
  order: Pick<OrderTerms, 'leverage' | 'takerRate'>,
): Amount => fixedMargin(terms, valueUp(terms, contracts, price), order)

/** Of an account in a contract. */
interface BothSides extends Readonly<Record<Side, OrderSide>> {
  readonly ofUser: number
  readonly ofContract: string
}
/** The sides of all accounts, in each contract. Nothing depends on what is remembered here: it follows from the orders. */
export class OrderSides {
  private readonly byUser = new Map<number, Map<string, BothSides>>()
  /** Those that were asked for last, which are asked for again. */
  private askedLast: BothSides | undefined
  /** Those that became empty last stay until others do: who had an order there is the next to have one. */
  private emptied: BothSides | undefined

  follow(was: OrderRow | undefined, is: OrderRow | undefined): void {
    const { user_id, pair, side } = (is ?? was)!.placed
    const both = this.make(user_id, pair)
    const own = both[side]
    if (was !== undefined) own.remove(was)
    if (is !== undefined) own.add(is)
    else if (areEmpty(both)) this.leave(both)
  }
  of(userId: number, contract: string, side: Side): OrderSide | undefined {
    return this.known(userId, contract)?.[side]
  }
  private known(userId: number, contract: string): BothSides | undefined {
    const { askedLast } = this
    if (askedLast?.ofUser === userId && askedLast.ofContract === contract) return askedLast
    const found = this.byUser.get(userId)?.get(contract)
    if (found !== undefined) this.askedLast = found
    return found
  }
  private make(userId: number, contract: string): BothSides {
    const known = this.known(userId, contract)
    if (known !== undefined) return known
    let contracts = this.byUser.get(userId)
    if (contracts === undefined) this.byUser.set(userId, (contracts = new Map<string, BothSides>()))
    const sides: BothSides = {
      ofUser: userId,
      ofContract: contract,
      buy: new OrderSide('buy'),
      sell: new OrderSide('sell'),
    }
    contracts.set(contract, sides)
    return sides
  }
  private leave(both: BothSides): void {
    const before = this.emptied
    this.emptied = both
    if (before === undefined || before === both || !areEmpty(before)) return
    if (this.askedLast === before) this.askedLast = undefined
    const contracts = this.byUser.get(before.ofUser)!
    contracts.delete(before.ofContract)
    if (contracts.size === 0) this.byUser.delete(before.ofUser)
  }
}
const areEmpty = ({ buy, sell }: BothSides): boolean => buy.isEmpty && sell.isEmpty
