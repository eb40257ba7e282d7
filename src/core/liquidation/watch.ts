import { ONE, type Price, type Rate } from '../../money/amount.ts'
import { UNIFIED_CONTRACTS, isSharedFor } from '../contract-margin/cash.ts'
import type { State } from '../state.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { hasContracts, isEngaged } from '../unified/contracts.ts'
import { portfolioOf } from '../unified/portfolio.ts'
import { distanceOf, isRestricted, riskLevelOf } from '../risk/levels.ts'
import { slackOf } from '../unified/restricted.ts'
import { riskOf, type RiskInput } from '../risk/risk.ts'

/**
 * Knows which accounts a price can bring to another level: to a warning, a restriction, a liquidation. At each
 * look at an account it computes how far prices may move before the account needs another look, and keeps it,
 * for every currency it holds or owes, at the lower and upper price where that is. A tick then finds the
 * accounts it concerns on top of a heap; all others, and those without the currency, cost nothing. It only ever
 * decides whom to look at: the state says what is to be done, so that losing it (a restart) loses nothing.
 */

interface Watched {
  readonly user_id: number
  readonly scope: string
  /** The currencies, and contracts, that it has thresholds at. */
  readonly currencies: readonly string[]
  /** False when it has been looked at again since: its thresholds mean nothing any more. */
  current: boolean
}
interface Threshold {
  readonly at: bigint
  readonly watched: Watched
}
/** Below this many thresholds nobody sweeps. */
const SWEEP_LEAST = 64
/** The thresholds of one currency that a fall, or a rise, reaches; a heap with the next one to be reached on top. */
class Thresholds {
  private thresholds: Threshold[] = []
  private outdated = 0
  /** Whether a price has to rise to reach a threshold, or to fall. */
  private readonly rising: boolean
  constructor(rising: boolean) {
    this.rising = rising
  }
  private before(one: Threshold, other: Threshold): boolean {
    return this.rising ? one.at < other.at : one.at > other.at
  }
  add(threshold: Threshold): void {
    const { thresholds } = this
    let place = thresholds.push(threshold) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.before(threshold, thresholds[above]!)) break
      thresholds[place] = thresholds[above]!
      place = above
    }
    thresholds[place] = threshold
  }
  /** One threshold has become outdated. When most have, they are swept out; a sorted list is a heap. */
  outdate(): void {
    this.outdated++
    if (this.thresholds.length < SWEEP_LEAST || this.outdated * 2 < this.thresholds.length) return
    this.thresholds = this.thresholds
      .filter(({ watched }) => watched.current)
      .sort((a, b) => (this.before(a, b) ? -1 : this.before(b, a) ? 1 : 0))
    this.outdated = 0
  }
  /** An account whose threshold a price has reached. */
  reached(price: bigint): Watched | undefined {
    for (let top = this.thresholds[0]; top !== undefined; top = this.thresholds[0]) {
      if (top.watched.current)
        return (this.rising ? price >= top.at : price <= top.at) ? top.watched : undefined
      this.takeTop()
      this.outdated--
    }
    return undefined
  }
  private takeTop(): void {
    const { thresholds } = this
    const last = thresholds.pop()!
    if (thresholds.length === 0) return
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= thresholds.length) break
      if (below + 1 < thresholds.length && this.before(thresholds[below + 1]!, thresholds[below]!)) below++
      if (!this.before(thresholds[below]!, last)) break
      thresholds[place] = thresholds[below]!
      place = below
    }
    thresholds[place] = last
  }
}

export interface Suspect {
  readonly user_id: number
  readonly scope: string
}
export class RiskWatch {
  private readonly state: State
  private readonly watched = new Map<string, Watched>()
  private readonly falls = new Map<string, Thresholds>()
  private readonly rises = new Map<string, Thresholds>()
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
    state.futures.orders.observe((before, after) => this.touch((after ?? before)!.user_id))
    state.futures.positions.table.observe((before, after) => {
      const { user_id } = (after ?? before)!
      // The last one that is closed is a reason to look, too.
      if (isSharedFor(state, user_id, UNIFIED_CONTRACTS)) this.note(user_id, UNIFIED.scope)
    })
  }
  private note(user_id: number, scope: string): void {
    this.changed.set(`${user_id}/${scope}`, { user_id, scope })
  }
  private touch(userId: number): void {
    if (userId === 0) return
    if (hasContracts(this.state, userId)) this.note(userId, UNIFIED.scope)
    if (!this.state.margin.owes(userId)) return
    for (const { scope } of this.state.margin.loansOf(userId)) this.note(userId, scope)
  }
  /** Of a currency, or the mark of a contract. */
  private priceOf(name: string): Price {
    return isContract(name) ? this.state.futures.markOf(name) : this.state.prices.quote(name).known
  }
  /** Puts accounts back that could not be handed on. */
  again(suspects: readonly Suspect[]): void {
    for (const suspect of suspects) this.changed.set(`${suspect.user_id}/${suspect.scope}`, suspect)
  }
  /** Whether anybody needs a look. */
  get waits(): boolean {
    if (this.changed.size > 0) return true
    for (const all of [this.falls, this.rises])
      for (const [name, ones] of all) if (ones.reached(this.priceOf(name)) !== undefined) return true
    return false
  }
  /** Looks at up to `most` accounts that need it, and tells those with whom something is to be done. */
  suspects(most: number): { readonly found: Suspect[]; readonly more: boolean } {
    const found: Suspect[] = []
    let looked = 0
    for (const [key, suspect] of this.changed) {
      if (looked++ >= most) return { found, more: true }
      this.changed.delete(key)
      if (this.look(suspect)) found.push(suspect)
    }
    for (const currency of new Set([...this.falls.keys(), ...this.rises.keys()])) {
      const price = this.priceOf(currency)
      for (const ones of [this.falls.get(currency), this.rises.get(currency)])
        for (let next = ones?.reached(price); next !== undefined; next = ones?.reached(price)) {
          if (looked++ >= most) return { found, more: true }
          if (this.look(next)) found.push(next)
        }
    }
    return { found, more: false }
  }

  /** True when the account has reached another level, or an order of it may not stay. Keeps when to look again. */
  private look({ user_id, scope }: Suspect): boolean {
    const key = `${user_id}/${scope}`
    this.forget(key)
    const { margin } = this.state
    const known = margin.riskLevelOf(user_id, scope)
    if (known === 'locked') return false
    if (!isEngaged(this.state, user_id, scope)) return known !== 'normal'
    this.looks++
    const input = portfolioOf(this.state, user_id, scope)
    const figures = riskOf(input)
    if (riskLevelOf(figures, known) !== known) return true
    // Resting orders of an account without margin to spare are looked at again as prices move past them.
    const slack =
      isRestricted(figures) && input.orders.length > 0 ? slackOf(this.state, user_id, scope) : undefined
    const distance = leastOf(distanceOf(input, figures, known), slack)
    // A pair is priced in its quote currency: both sides moving a third apart move it by no more than the whole.
    const share = scope === UNIFIED.scope ? distance : ((distance / 3n) as Rate)
    const currencies = [...this.moving(user_id, input)]
    const watched: Watched = { user_id, scope, currencies, current: true }
    this.watched.set(key, watched)
    for (const currency of currencies) {
      const { low, high } = boundsOf(this.priceOf(currency), share)
      thresholdsOf(this.falls, currency, false).add({ at: low, watched })
      thresholdsOf(this.rises, currency, true).add({ at: high, watched })
    }
    return slack !== undefined && slack < 0n
  }
  /** Whatever has a price that its figures follow. */
  private moving(userId: number, { assets, contracts }: RiskInput): Set<string> {
    const names = new Set(assets.map(({ currency }) => currency))
    if (contracts === undefined) return names
    const { futures } = this.state
    const { account } = UNIFIED_CONTRACTS
    for (const { contract } of futures.positions.heldBy(userId, account)) names.add(contract)
    for (const id of futures.openPairs(userId)) if (id.startsWith(`${account}/`)) names.add(id)
    for (const { currency } of contracts.units) names.add(currency)
    return names
  }
  private forget(key: string): void {
    const watched = this.watched.get(key)
    if (watched === undefined) return
    this.watched.delete(key)
    watched.current = false
    for (const currency of watched.currencies) {
      this.falls.get(currency)?.outdate()
      this.rises.get(currency)?.outdate()
    }
  }
}
/** Names of contracts have their group and settle currency before them. */
const isContract = (name: string): boolean => name.includes('/')
function thresholdsOf(byCurrency: Map<string, Thresholds>, currency: string, rising: boolean): Thresholds {
  let ones = byCurrency.get(currency)
  if (ones === undefined) byCurrency.set(currency, (ones = new Thresholds(rising)))
  return ones
}
/** A third of an order's slack: two prices that move apart by that much can't use it up. */
const leastOf = (distance: Rate, slack: bigint | undefined): Rate =>
  slack === undefined || slack < 0n || slack / 3n > distance ? distance : ((slack / 3n) as Rate)
/** A price that has not moved is never reached: the bounds lie at least one unit away from it. */
function boundsOf(price: Price, distance: Rate): { low: bigint; high: bigint } {
  const move = (price * distance) / ONE
  return { low: price - move - 1n, high: price + move + 1n }
}
