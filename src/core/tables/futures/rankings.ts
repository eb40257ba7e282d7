import { Sorted } from '../../sorted.ts'
import type { Table } from '../../../machine/table.ts'
import { compareScores, type Score } from '../../contracts/liquidation.ts'
import { accountOfContract, type Contract } from '../world/contracts.ts'
import type { ContractAccounts } from './accounts.ts'
import type { Positions } from './positions.ts'
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
/** The positions of one side of a contract. */
export class Ranking {
  readonly sorted = new Sorted<Scored>(goesFirst)
  private readonly byUser = new Map<number, Scored>()
  /** Users whose scores may be others by now. */
  readonly changed = new Set<number>()
  /** Users whose scores hang on more than this follows: always to be looked at. */
  readonly others = new Set<number>()

  /** All of them at once. */
  fill(all: readonly Scored[]): void {
    this.sorted.addAll(all)
    for (const one of all) this.byUser.set(one.user_id, one)
  }
  set(userId: number, scored: Scored | undefined): void {
    const before = this.byUser.get(userId)
    if (before !== undefined) this.sorted.remove(before)
    if (scored === undefined) {
      this.byUser.delete(userId)
      return
    }
    this.sorted.add(scored)
    this.byUser.set(userId, scored)
  }
}
/** A queue as it was told to a reader, and until when it is told so to others, by the machine's own clock. */
export interface ToldQueue {
  readonly contract: Contract
  readonly queue: readonly Scored[]
  readonly until: number
}
interface Ranked {
  readonly contract: Contract
  readonly sides: Map<boolean, Ranking>
}
/**
 * Queues that somebody has asked for, until a mark price of their account moves: each score hangs on it. What happens to a
 * position or an account meanwhile concerns one user's score alone. Nothing depends on what is remembered here.
 */
export class Rankings {
  private readonly kept = new Map<string, Ranked>()
  /** By side and contract; no rule looks there. */
  readonly told = new Map<string, ToldQueue>()

  constructor(positions: Positions, accounts: ContractAccounts, prices: Table<ContractPrice>) {
    positions.table.observe((before, after) => {
      const { user_id, contract } = (after ?? before)!
      if (this.kept.size > 0) this.note(user_id, accountOfContract(contract))
    })
    accounts.table.observe((before, after) => {
      const { user_id, account } = (after ?? before)!
      if (this.kept.size > 0) this.note(user_id, account)
    })
    prices.observe((before, after) => {
      if (this.kept.size === 0 || before?.mark === after?.mark) return
      const account = accountOfContract((after ?? before)!.id)
      for (const id of this.kept.keys()) if (accountOfContract(id) === account) this.kept.delete(id)
    })
  }
  private note(userId: number, account: string): void {
    for (const [id, { sides }] of this.kept)
      if (accountOfContract(id) === account) for (const side of sides.values()) side.changed.add(userId)
  }
  /** Undefined: it must be made. */
  get(contract: Contract, long: boolean): Ranking | undefined {
    const known = this.kept.get(contract.id)
    return known?.contract === contract ? known.sides.get(long) : undefined
  }
  keep(contract: Contract, long: boolean, ranking: Ranking): void {
    let known = this.kept.get(contract.id)
    if (known?.contract !== contract)
      this.kept.set(contract.id, (known = { contract, sides: new Map<boolean, Ranking>() }))
    known.sides.set(long, ranking)
  }
}
