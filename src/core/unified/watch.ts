import type { Price, Rate } from '../../money/amount.ts'
import type { State } from '../state.ts'
import { UNIFIED } from './loan-book.ts'
import { portfolioOf } from './portfolio.ts'
import { distanceOf, levelOf } from './levels.ts'
import { riskOf } from './risk.ts'

/**
 * Knows which accounts a price can bring to another level: to a warning, a restriction, a liquidation. At each look at an account it computes how far prices
 * may move before the account needs another look, and keeps it, for every currency it holds or owes, at the
 * lower and upper price where that is. A tick then finds the accounts it concerns at the end of a sorted
 * list; all others, and those without the currency, cost nothing. It only ever decides whom to look at:
 * the state says what is to be done, so that losing it (a restart) loses nothing.
 */
const ONE = 10n ** 18n

interface Watched {
  readonly key: string
  readonly user_id: number
  readonly scope: string
  /** Currency → the prices between which nothing can happen. */
  readonly bounds: ReadonlyMap<string, { readonly low: bigint; readonly high: bigint }>
}
interface Mark {
  readonly at: bigint
  readonly watched: Watched
}
/** Marks sorted so that the next to be reached is the last. */
class Side {
  readonly marks: Mark[] = []
  /** +1: reached by a rise, so the lowest is last; -1: by a fall. */
  private readonly sign: 1n | -1n
  constructor(sign: 1n | -1n) {
    this.sign = sign
  }
  private place(at: bigint, key: string): number {
    let low = 0
    let high = this.marks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.marks[middle]!
      const before = other.at === at ? other.watched.key > key : (other.at - at) * this.sign > 0n
      if (before) low = middle + 1
      else high = middle
    }
    return low
  }
  add(mark: Mark): void {
    this.marks.splice(this.place(mark.at, mark.watched.key), 0, mark)
  }
  remove(at: bigint, key: string): void {
    this.marks.splice(this.place(at, key), 1)
  }
  reached(price: bigint): Watched | undefined {
    const next = this.marks.at(-1)
    return next !== undefined && (price - next.at) * this.sign >= 0n ? next.watched : undefined
  }
}

export interface Suspect {
  readonly user_id: number
  readonly scope: string
}
export class RiskWatch {
  private readonly state: State
  private readonly watched = new Map<string, Watched>()
  private readonly falls = new Map<string, Side>()
  private readonly rises = new Map<string, Side>()
  /** Accounts whose balances, debts or orders have changed since they were looked at. */
  private readonly changed = new Map<string, Suspect>()
  /** How many accounts have been looked at. */
  looks = 0

  constructor(state: State) {
    this.state = state
    state.margin.loans.observe((before, after) => {
      const { user_id, scope } = (after ?? before)!
      this.changed.set(`${user_id}/${scope}`, { user_id, scope })
    })
    state.margin.alerts.observe((before, after) => this.touch((after ?? before)!.user_id))
    state.margin.table.observe((before, after) => this.touch((after ?? before)!.user_id))
    state.ledger.accounts.observe((before, after) => this.touch((after ?? before)!.owner))
    state.spot.orders.observe((before, after) => this.touch((after ?? before)!.user_id))
  }
  private touch(userId: number): void {
    if (userId === 0 || !this.state.margin.owes(userId)) return
    for (const { scope } of this.state.margin.loansOf(userId))
      this.changed.set(`${userId}/${scope}`, { user_id: userId, scope })
  }
  /** Puts accounts back that could not be handed on. */
  again(suspects: readonly Suspect[]): void {
    for (const suspect of suspects) this.changed.set(`${suspect.user_id}/${suspect.scope}`, suspect)
  }
  /** Looks at up to `most` accounts that need it, and tells those that have reached another level. */
  suspects(most: number): { readonly found: Suspect[]; readonly more: boolean } {
    const found: Suspect[] = []
    let looked = 0
    for (const [key, suspect] of this.changed) {
      if (looked++ >= most) return { found, more: true }
      this.changed.delete(key)
      if (this.look(suspect)) found.push(suspect)
    }
    for (const currency of new Set([...this.falls.keys(), ...this.rises.keys()])) {
      const price = this.state.prices.of(currency)
      for (const side of [this.falls.get(currency), this.rises.get(currency)])
        for (let next = side?.reached(price); next !== undefined; next = side?.reached(price)) {
          if (looked++ >= most) return { found, more: true }
          if (this.look(next)) found.push(next)
        }
    }
    return { found, more: false }
  }

  /** True when the account has reached another level. Keeps when to look again. */
  private look({ user_id, scope }: Suspect): boolean {
    const key = `${user_id}/${scope}`
    this.forget(key)
    const { margin } = this.state
    const known = margin.levelOf(user_id, scope)
    if (known === 'locked') return false
    if (!margin.owes(user_id, scope)) return known !== 'normal'
    this.looks++
    const input = portfolioOf(this.state, user_id, scope)
    const figures = riskOf(input)
    if (levelOf(figures, known) !== known) return true
    const distance = distanceOf(input, figures, known)
    // A pair is priced in its quote currency: both sides moving a third apart move it by no more than the whole.
    const share = scope === UNIFIED.scope ? distance : ((distance / 3n) as Rate)
    const bounds = new Map<string, { low: bigint; high: bigint }>()
    for (const { currency } of input.assets)
      bounds.set(currency, boundsOf(this.state.prices.of(currency), share))
    const watched: Watched = { key, user_id, scope, bounds }
    this.watched.set(key, watched)
    for (const [currency, { low, high }] of bounds) {
      sideOf(this.falls, currency, -1n).add({ at: low, watched })
      sideOf(this.rises, currency, 1n).add({ at: high, watched })
    }
    return false
  }
  private forget(key: string): void {
    const watched = this.watched.get(key)
    if (watched === undefined) return
    this.watched.delete(key)
    for (const [currency, { low, high }] of watched.bounds) {
      this.falls.get(currency)?.remove(low, key)
      this.rises.get(currency)?.remove(high, key)
    }
  }
}
function sideOf(sides: Map<string, Side>, currency: string, sign: 1n | -1n): Side {
  let side = sides.get(currency)
  if (side === undefined) sides.set(currency, (side = new Side(sign)))
  return side
}
/** A price that has not moved is never reached: the bounds lie at least one unit away from it. */
function boundsOf(price: Price, distance: Rate): { low: bigint; high: bigint } {
  const move = (price * distance) / ONE
  return { low: price - move - 1n, high: price + move + 1n }
}
