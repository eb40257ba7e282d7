import { Sorted } from '../../sorted.ts'
import type { Price } from '../../../money/amount.ts'
import type { Table } from '../../../machine/table.ts'
import { compareScores, type Score } from '../../contracts/liquidation.ts'
import {
  RoughTerms,
  boundKnown,
  boundScore,
  type Bounds,
  type RoughLeg,
  type RoughStand,
} from '../../contracts/rough.ts'
import { accountOfContract, type Contract } from '../world/contracts.ts'
import type { ContractAccounts } from './accounts.ts'
import type { Position, Positions } from './positions.ts'
import type { ContractPrice } from './prices.ts'

/** A position in a queue. */
export interface Scored {
  readonly id: string
  readonly user_id: number
  readonly score: Score
}
/** The highest score first, then the lowest user id. */
export function goesFirst(one: Scored, other: Scored): boolean {
  const by = compareScores(one.score, other.score)
  return by === 0n ? one.user_id < other.user_id : by > 0n
}

/** A contract that scores hang on, as it was when they were bounded. */
export class Followed {
  contract: Contract
  mark: Price
  rough: RoughTerms

  constructor(contract: Contract, mark: Price) {
    this.contract = contract
    this.mark = mark
    // Written twice: what is written once only is taken for a constant by what computes with it, and computed slowly when it is not.
    this.rough = new RoughTerms(contract.terms, mark)
    this.follow(contract, mark)
  }
  /** Whether it is another one now. */
  hasMoved(contract: Contract | undefined, mark: Price): boolean {
    return contract !== this.contract || mark !== this.mark
  }
  follow(contract: Contract, mark: Price): void {
    this.contract = contract
    this.mark = mark
    this.rough = new RoughTerms(contract.terms, mark)
  }
}
/** What is known of a holder: figures that stay when marks move, and what they come to at these marks. */
export class Holder implements Bounds {
  readonly row: Position
  /** Undefined: his score hangs on more than is followed here. */
  readonly rough: { readonly own: RoughLeg; readonly stand: RoughStand } | undefined
  low = -Infinity
  high = Infinity
  /** The exact score at these marks, where somebody has asked for it. */
  scored: Scored | undefined
  /** Stands among the first. */
  listed = false

  constructor(row: Position, rough: Holder['rough']) {
    this.row = row
    this.rough = rough
  }
  /** The marks are others. */
  bound(): void {
    this.scored = undefined
    this.listed = false
    if (this.rough !== undefined) boundScore(this, this.rough.own, this.rough.stand)
  }
  know(scored: Scored): Scored {
    boundKnown(this, scored.score)
    return (this.scored = scored)
  }
}
/**
 * The positions of one side of a contract. Of all of them it is known between which bounds their scores lie; the first of
 * the queue are known exactly and stand in their order, as many as somebody went through.
 */
export class Ranking {
  readonly holders = new Map<number, Holder>()
  readonly first = new Sorted<Scored>(goesFirst)
  /** Whoever is not among the first has a score below this. */
  below = Infinity
  readonly followed = new Map<string, Followed>()
  /** Users whose figures may be others by now. */
  readonly changed = new Set<number>()
  /** Users whose figures hang on more than this follows: always to be looked at. */
  readonly others = new Set<number>()

  /** Marks have moved. */
  bound(): void {
    for (const holder of this.holders.values()) holder.bound()
    this.first.items.length = 0
    this.below = Infinity
  }
  /** As he is by now; undefined: he is not in the queue. */
  put(userId: number, holder: Holder | undefined): void {
    const before = this.holders.get(userId)
    if (before?.listed === true) this.first.remove(before.scored!)
    if (holder === undefined) this.holders.delete(userId)
    else {
      holder.bound()
      this.holders.set(userId, holder)
    }
  }
  /** Takes holders whose scores are known among the first. */
  list(holders: readonly Holder[]): void {
    if (holders.length === 0) return
    for (const holder of holders) holder.listed = true
    if (holders.length === 1) this.first.add(holders[0]!.scored!)
    else this.first.addAll(holders.map(({ scored }) => scored!))
  }
  /**
   * A bound that so many are above for certain. Nobody below it can be among so many that go first, so that these are found
   * among the others.
   */
  boundOf(most: number): number {
    const { size } = this.holders
    if (most >= size) return -Infinity
    const lows = new Float64Array(size)
    let i = 0
    for (const { low } of this.holders.values()) lows[i++] = low
    return lows.sort()[size - most]!
  }
  /** Whether the one at a place goes before everybody who is not among the first. */
  isSure(place: number): boolean {
    const scored = this.first.items[place]
    return scored !== undefined && this.holders.get(scored.user_id)!.low >= this.below
  }
}
/** A queue as it was told to a reader, and until when it is told so to others, by the machine's own clock. */
export interface ToldQueue {
  readonly contract: Contract
  readonly queue: readonly Scored[]
  readonly until: number
}
interface Ranked {
  readonly account: string
  readonly sides: Map<boolean, Ranking>
  /** How often the mark has moved since somebody asked. */
  idle: number
}
/** Moves of its mark after which what nobody asks for is forgotten: each change of a position notes who made it. */
const IDLE_MAX = 20
/**
 * What is known of the holders of contracts that somebody is deleveraged in, or has asked for his place in. What happens to a
 * position or an account concerns one user's score alone; a mark concerns all, whose bounds are then computed anew from
 * figures that are kept. Nothing depends on what is remembered here.
 */
export class Rankings {
  private readonly kept = new Map<string, Ranked>()
  /** By side and contract; no rule looks there. */
  readonly told = new Map<string, ToldQueue>()

  constructor(positions: Positions, accounts: ContractAccounts, prices: Table<ContractPrice>) {
    positions.table.observe((before, after) => {
      const { user_id, contract } = (after ?? before)!
      if (this.kept.size > 0) this.note(user_id, positions.accountOf(contract))
    })
    accounts.table.observe((before, after) => {
      const { user_id, account } = (after ?? before)!
      if (this.kept.size > 0) this.note(user_id, account)
    })
    prices.observe((before, after) => {
      if (this.kept.size === 0 || before?.mark === after?.mark) return
      const { id } = (after ?? before)!
      const ranked = this.kept.get(id)
      if (ranked !== undefined && ++ranked.idle > IDLE_MAX) this.kept.delete(id)
    })
  }
  private note(userId: number, account: string): void {
    for (const { account: own, sides } of this.kept.values())
      if (own === account) for (const { changed } of sides.values()) changed.add(userId)
  }
  /** The contract has ended: no mark of it moves any more. */
  forget(contract: string): void {
    this.kept.delete(contract)
  }
  /** Undefined: it must be made. */
  get(contract: string, long: boolean): Ranking | undefined {
    const known = this.kept.get(contract)
    if (known !== undefined) known.idle = 0
    return known?.sides.get(long)
  }
  keep(contract: string, long: boolean, ranking: Ranking): void {
    let known = this.kept.get(contract)
    if (known === undefined) {
      known = { account: accountOfContract(contract), sides: new Map<boolean, Ranking>(), idle: 0 }
      this.kept.set(contract, known)
    }
    known.sides.set(long, ranking)
  }
}
