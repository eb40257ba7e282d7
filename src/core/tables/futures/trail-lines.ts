import type { Price } from '../../../money/amount.ts'
import { trailPrice } from '../../contracts/trails.ts'
import { Sorted } from '../../sorted.ts'
import type { PriceType } from './triggers.ts'

/** All trailing orders whose extreme is the same: a price that goes on changes one row, however many follow it. */
export interface TrailGroup {
  readonly id: number
  readonly contract: string
  readonly price_type: PriceType
  /** Whether they buy, and so follow the lowest price. */
  readonly buys: boolean
  readonly extremum: Price
}
/** What a group must know of a member. */
interface Trailing {
  readonly id: number
  readonly offset_kind: 'ratio' | 'distance'
  readonly offset: bigint
}
interface Entry {
  readonly id: number
  readonly price: Price
}
/** Groups that follow one price in one direction. */
interface Line {
  /** By their extremes: the one that a price passes first stands last. */
  readonly extremes: Sorted<Entry>
  /** By where their nearest member fires: the one that a price reaches first stands last. */
  readonly triggers: Sorted<Entry & { readonly trail: number }>
}
/** The nearest stands last; of equal ones the one with the lowest id. */
const members = (): Sorted<Trailing> =>
  new Sorted((one, other) => (one.offset === other.offset ? one.id > other.id : one.offset > other.offset))

class Group {
  row: TrailGroup | undefined
  readonly ratio = members()
  readonly distance = members()
  /** As it stands in its line. */
  extreme: Entry | undefined
  trigger: (Entry & { readonly trail: number }) | undefined

  get size(): number {
    return this.ratio.items.length + this.distance.items.length
  }
  /** The member that fires first, and where; before the tick is rounded, which keeps their order. */
  nearest(): (Entry & { readonly trail: number }) | undefined {
    const { row } = this
    if (row === undefined) return undefined
    let found: (Entry & { readonly trail: number }) | undefined
    for (const trail of [this.ratio.last, this.distance.last]) {
      if (trail === undefined) continue
      const price = trailPrice(row.buys, row.extremum, { kind: trail.offset_kind, by: trail.offset })
      const nearer =
        found === undefined ||
        (price === found.price ? trail.id < found.trail : price < found.price === row.buys)
      if (nearer) found = { id: row.id, price, trail: trail.id }
    }
    return found
  }
}

/**
 * Trailing orders that are active, by the group that keeps their extreme: whatever the price does, only what it passes or
 * reaches is looked at.
 */
export class TrailLines {
  private readonly groups = new Map<number, Group>()
  private readonly lines = new Map<string, Line>()

  join(groupId: number, trail: Trailing): void {
    const group = this.groups.get(groupId) ?? this.begin(groupId)
    group[trail.offset_kind].add(trail)
    this.arrange(group)
  }
  leave(groupId: number, trail: Trailing): void {
    const group = this.groups.get(groupId)!
    group[trail.offset_kind].remove(trail)
    this.arrange(group)
    this.drop(groupId, group)
  }
  /** The row of a group is another one now. Rows of groups and members are loaded in any order. */
  follow(groupId: number, row: TrailGroup | undefined): void {
    const group = this.groups.get(groupId) ?? this.begin(groupId)
    if (row !== undefined) group.row = row
    this.arrange(group, row === undefined)
    group.row = row
    this.drop(groupId, group)
  }
  private begin(groupId: number): Group {
    const group = new Group()
    this.groups.set(groupId, group)
    return group
  }
  private drop(groupId: number, group: Group): void {
    if (group.row === undefined && group.size === 0) this.groups.delete(groupId)
  }
  /** Puts a group where it belongs, or takes it out. */
  private arrange(group: Group, out = false): void {
    const { row } = group
    if (row === undefined) return
    const line = this.lineOf(row.contract, row.price_type, row.buys)
    if (group.extreme !== undefined) line.extremes.remove(group.extreme)
    if (group.trigger !== undefined) line.triggers.remove(group.trigger)
    group.extreme = out ? undefined : { id: row.id, price: row.extremum }
    group.trigger = out ? undefined : group.nearest()
    if (group.extreme !== undefined) line.extremes.add(group.extreme)
    if (group.trigger !== undefined) line.triggers.add(group.trigger)
  }
  private lineOf(contract: string, type: PriceType, buys: boolean): Line {
    const name = lineName(contract, type, buys)
    let line = this.lines.get(name)
    if (line === undefined) {
      const behind = (one: Entry, other: Entry): boolean =>
        one.price === other.price ? one.id > other.id : one.price > other.price !== buys
      line = {
        // A buy's low is passed by what is below it: the highest first.
        extremes: new Sorted(behind),
        triggers: new Sorted((one, other) =>
          one.price === other.price ? one.trail > other.trail : one.price > other.price === buys,
        ),
      }
      this.lines.set(name, line)
    }
    return line
  }
  /** The member of all groups that fires first, and where, before the tick is rounded. */
  nearest(contract: string, type: PriceType, buys: boolean): Entry | undefined {
    const last = this.lines.get(lineName(contract, type, buys))?.triggers.last
    return last === undefined ? undefined : { id: last.trail, price: last.price }
  }
  /** Groups whose extreme a price has passed, the nearest first; some of them. */
  passed(contract: string, type: PriceType, buys: boolean, price: Price, most: number): number[] {
    const entries = this.lines.get(lineName(contract, type, buys))?.extremes.items ?? []
    const found: number[] = []
    for (let i = entries.length - 1; i >= 0 && found.length < most; i--) {
      const entry = entries[i]!
      if (buys ? price >= entry.price : price <= entry.price) break
      found.push(entry.id)
    }
    return found
  }
  /** A group whose extreme is this price. */
  at(contract: string, type: PriceType, buys: boolean, price: Price): number | undefined {
    const last = this.lines.get(lineName(contract, type, buys))?.extremes.last
    return last?.price === price ? last.id : undefined
  }
  sizeOf(groupId: number): number {
    return this.groups.get(groupId)?.size ?? 0
  }
  /** Their ids, lowest first. */
  membersOf(groupId: number): number[] {
    const group = this.groups.get(groupId)
    if (group === undefined) return []
    return [...group.ratio.items, ...group.distance.items].map(({ id }) => id).sort((a, b) => a - b)
  }
}
const lineName = (contract: string, type: PriceType, buys: boolean): string => `${contract}/${type}/${buys}`
