import { PLATFORM, clearingName } from '../core/ledger/accounts.ts'
import type { State } from '../core/state.ts'
import { accountOfContract, nameOfContract } from '../core/tables/world/contracts.ts'
import type { ContractGroup } from '../core/tables/exchange/order.ts'
import type { Amount } from '../money/amount.ts'

/** All positions of a contract beside the account that carries what their owners have realised so far. */
export interface ContractProof {
  readonly group: ContractGroup
  readonly settle: string
  readonly contract: string
  /** Contracts, times 10^18. */
  readonly long: Amount
  readonly short: Amount
  readonly sum: Amount
  readonly cost: Amount
  readonly clearing: Amount
  readonly ok: boolean
}

const CLEARING = /^(futures|delivery)\.clearing:([^.]+)\.(.+)$/
/**
 * Adds the positions up again from the rows, trusting no running total: as much is long as is short, the insurance
 * fund's own positions included, and clearing is what all of them cost, less (linear) or more (inverse) than nothing.
 */
export function proveContracts({ futures, ledger, world }: State): ContractProof[] {
  const sums = new Map<string, { long: bigint; short: bigint; cost: bigint }>()
  const of = (id: string): { long: bigint; short: bigint; cost: bigint } => {
    let sum = sums.get(id)
    if (sum === undefined) sums.set(id, (sum = { long: 0n, short: 0n, cost: 0n }))
    return sum
  }
  for (const { id } of world.allContracts) of(id)
  for (const { contract, size, cost } of futures.positions.table.values()) {
    const sum = of(contract)
    if (size > 0n) sum.long += size
    else sum.short -= size
    sum.cost += cost
  }
  // Money of a contract that nobody has a position in is a fault that no position tells.
  for (const { name, amount } of ledger.ownedBy(PLATFORM)) {
    const [, group, settle, contract] = CLEARING.exec(name) ?? []
    if (group !== undefined && amount !== 0n) of(`${group}/${settle!}/${contract!}`)
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { long, short, cost }]) => {
      const [group, settle] = accountOfContract(id).split('/') as [ContractGroup, string]
      const contract = nameOfContract(id)
      const clearing = ledger.balance(PLATFORM, clearingName(group, settle, contract), settle.toUpperCase())
      const inverse = world.findContract(id)?.terms.kind === 'inverse'
      return {
        group,
        settle,
        contract,
        long: long as Amount,
        short: short as Amount,
        sum: (long - short) as Amount,
        cost: cost as Amount,
        clearing,
        ok: long === short && clearing === (inverse ? cost : -cost),
      }
    })
}
