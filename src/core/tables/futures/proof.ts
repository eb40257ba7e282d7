import { BrokenInvariant } from '../../../labels.ts'
import { format, type Amount } from '../../../money/amount.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { contractId, type Contract } from '../world/contracts.ts'
import type { Positions } from './positions.ts'

const CLEARING = /^(futures|delivery)\.clearing:([^.]+)\.(.+)$/

/**
 * What must be true of every contract after every command: sizes of all positions add up to nothing, and what clearing
 * carries is what they were bought for. Only contracts that something happened to are looked at.
 */
export class ContractProof {
  private readonly touched = new Set<string>()
  private readonly clearing = new Map<string, bigint>()
  /** Whose clearing an account of the platform is, by its name: the same few are booked in again and again. */
  private readonly names = new Map<string, string | undefined>()
  private readonly positions: Positions
  private readonly find: (id: string) => Contract | undefined

  constructor(positions: Positions, ledger: Ledger, find: (id: string) => Contract | undefined) {
    this.positions = positions
    this.find = find
    positions.table.observe((before, after) => {
      if (before?.size !== after?.size || before?.cost !== after?.cost)
        this.touched.add((after ?? before)!.contract)
    })
    ledger.accounts.observe((before, after) => {
      const row = (after ?? before)!
      // Asked of every line that is booked: most names begin otherwise.
      if (row.owner !== 0) return
      const id = this.clearedBy(row.name)
      if (id === undefined) return
      this.clearing.set(id, after?.amount ?? 0n)
      this.touched.add(id)
    })
  }
  private clearedBy(name: string): string | undefined {
    if (this.names.has(name)) return this.names.get(name)
    const found = CLEARING.exec(name)
    const id =
      found === null ? undefined : contractId(found[1] as 'futures' | 'delivery', found[2]!, found[3]!)
    this.names.set(name, id)
    return id
  }
  clearingOf(id: string): Amount {
    return (this.clearing.get(id) ?? 0n) as Amount
  }
  check(): void {
    if (this.touched.size === 0) return
    for (const id of this.touched) this.checkOne(id)
    this.touched.clear()
  }
  private checkOne(id: string): void {
    const { long, short, cost } = this.positions.sumsOf(id)
    if (long !== short)
      throw new BrokenInvariant(
        `positions in ${id} do not add up: ${format(long as Amount)} long, ${format(short as Amount)} short`,
      )
    const inverse = this.find(id)?.terms.kind === 'inverse'
    const due = inverse ? cost : -cost
    const carried = this.clearingOf(id)
    if (carried !== due)
      throw new BrokenInvariant(
        `clearing of ${id} carries ${format(carried)}, and its positions cost ${format(due as Amount)}`,
      )
  }
}
