import type { Price } from '../../../money/amount.ts'
import { Sorted } from '../../sorted.ts'
import type { ContractAccounts } from './accounts.ts'
import { otherSide, positionId, type Position, type Positions } from './positions.ts'

/** The mark price of a contract at which a unit is to be looked at again: at or below it, or at or above it. */
export interface Arm {
  readonly contract: string
  readonly price: Price
  readonly above: boolean
}
interface Armed extends Arm {
  readonly unit: Unit
}

/** One isolated position is a unit of risk by itself; all cross positions of an account are one together. */
export const isolatedUnit = (position: Position): string => position.id
export const crossUnit = (userId: number, account: string): string => `${userId}/${account}`
/** A unit that is to be looked at; its owner where all cross positions of an account are meant, else a position's own. */
export interface Unit {
  readonly name: string
  readonly owner: { readonly userId: number; readonly account: string } | undefined
}

/**
 * Which units must be looked at: those that something has changed, and those whose price was reached. An index of
 * positions and accounts: what it knows follows from their rows, so that all that it ever answers is who to look at, never
 * too few.
 */
export class RiskWatch {
  private readonly changed = new Map<string, Unit>()
  /** Units by user and account: the same text again and again is put together once. */
  private readonly crossed = new Map<number, Map<string, Unit>>()
  /** Is among those that have changed: a fill tells of the same one again and again. */
  private noted: Unit | undefined
  private readonly arms = new Map<string, readonly Armed[]>()
  private readonly below = new Map<string, Sorted<Armed>>()
  private readonly above = new Map<string, Sorted<Armed>>()

  private readonly positions: Positions

  constructor(positions: Positions, accounts: ContractAccounts) {
    this.positions = positions
    positions.table.observe((before, after) => {
      const row = (after ?? before)!
      // The fund is never liquidated.
      if (row.user_id === 0) return
      const crossed = before?.leverage === 0n && after?.leverage === 0n
      if (!crossed) {
        this.noteIsolated(isolatedUnit(row))
        // The larger of two sides has a say in what the other one needs.
        const other = otherSide(row.mode)
        if (other !== undefined) this.noteIsolated(positionId(row.user_id, row.contract, other))
      }
      this.noteCross(row.user_id, positions.accountOf(row.contract))
    })
    accounts.table.observe((before, after) => {
      const { user_id, account } = (after ?? before)!
      this.noteCross(user_id, account)
    })
  }
  private noteIsolated(name: string): void {
    this.changed.set(name, { name, owner: undefined })
  }
  private noteCross(userId: number, account: string): void {
    const owner = this.noted?.owner
    if (owner?.userId === userId && owner.account === account) return
    let units = this.crossed.get(userId)
    if (units === undefined) this.crossed.set(userId, (units = new Map<string, Unit>()))
    let unit = units.get(account)
    if (unit === undefined)
      units.set(account, (unit = { name: crossUnit(userId, account), owner: { userId, account } }))
    this.changed.set(unit.name, unit)
    this.noted = unit
  }
  /** Something beside its rows has changed that its positions stand on. */
  lookAt(userId: number, account: string): void {
    if (this.positions.holds(userId, account)) this.noteCross(userId, account)
  }
  /** The rules of a contract are others: the prices that its holders wait for are no longer true. */
  lookAtHolders(contract: string): void {
    for (const row of this.positions.heldIn(contract))
      if (row.user_id === 0) continue
      else if (row.leverage === 0n) this.noteCross(row.user_id, this.positions.accountOf(contract))
      else this.noteIsolated(isolatedUnit(row))
  }
  /** What a mark price has reached is to be looked at. */
  reach(contract: string, mark: Price): void {
    const below = this.below.get(contract)
    while (below?.last !== undefined && mark <= below.last.price) this.fire(below.last.unit)
    const above = this.above.get(contract)
    while (above?.last !== undefined && mark >= above.last.price) this.fire(above.last.unit)
  }
  private fire(unit: Unit): void {
    this.disarm(unit)
    this.changed.set(unit.name, unit)
  }
  /** All that must be looked at now; whoever takes them arms them again. */
  take(): Unit[] {
    if (this.changed.size === 0) return []
    const units = [...this.changed.values()]
    this.changed.clear()
    this.noted = undefined
    return units
  }
  /** To be looked at another time. */
  again(unit: Unit): void {
    this.changed.set(unit.name, unit)
  }
  get waiting(): number {
    return this.changed.size
  }
  arm(unit: Unit, arms: readonly Arm[]): void {
    this.disarm(unit)
    if (arms.length === 0) return
    const armed = arms.map((arm) => ({ ...arm, unit }))
    this.arms.set(unit.name, armed)
    for (const one of armed) this.listOf(one).add(one)
  }
  private disarm({ name }: Unit): void {
    const armed = this.arms.get(name)
    if (armed === undefined) return
    this.arms.delete(name)
    for (const one of armed) this.listOf(one).remove(one)
  }
  /** The next to be reached stands last. */
  private listOf({ contract, above }: Arm): Sorted<Armed> {
    const lists = above ? this.above : this.below
    let list = lists.get(contract)
    if (list === undefined) {
      const nearer = above
        ? (one: Armed, other: Armed): boolean => one.price > other.price
        : (one: Armed, other: Armed): boolean => one.price < other.price
      list = new Sorted<Armed>((one, other) =>
        one.price === other.price ? one.unit.name < other.unit.name : nearer(one, other),
      )
      lists.set(contract, list)
    }
    return list
  }
}
