import type { Price } from '../../../money/amount.ts'
import { Sorted } from '../../sorted.ts'

/** Which price of a contract is waited for. */
export const PRICE_TYPES = ['last', 'mark', 'index'] as const
export type PriceType = (typeof PRICE_TYPES)[number]

/** Waits until a price of a contract is at or above a figure, or at or below it. */
export interface Trigger {
  readonly id: number
  readonly contract: string
  readonly price_type: PriceType
  readonly above: boolean
  readonly price: Price
}
interface Queues {
  readonly above: Sorted<Trigger>
  readonly below: Sorted<Trigger>
}
/** The next to be reached stands last; of equal ones the one with the lowest id. */
const queue = (above: boolean): Sorted<Trigger> =>
  new Sorted((one, other) => {
    if (one.price === other.price) return one.id > other.id
    return above ? one.price > other.price : one.price < other.price
  })

/** All that waits in this way, by contract and kind of price. */
export class Triggers {
  private readonly queues = new Map<string, Queues>()

  add(trigger: Trigger): void {
    const name = nameOf(trigger.contract, trigger.price_type)
    let queues = this.queues.get(name)
    if (queues === undefined) this.queues.set(name, (queues = { above: queue(true), below: queue(false) }))
    queues[trigger.above ? 'above' : 'below'].add(trigger)
  }
  remove(trigger: Trigger): void {
    const queues = this.queues.get(nameOf(trigger.contract, trigger.price_type))!
    queues[trigger.above ? 'above' : 'below'].remove(trigger)
  }
  /** The id of the next one that this price has reached. */
  reached(contract: string, type: PriceType, price: Price): number | undefined {
    const queues = this.queues.get(nameOf(contract, type))
    if (queues === undefined) return undefined
    const { last: above } = queues.above
    if (above !== undefined && price >= above.price) return above.id
    const { last: below } = queues.below
    return below !== undefined && price <= below.price ? below.id : undefined
  }
}
const nameOf = (contract: string, type: PriceType): string => `${contract}/${type}`
