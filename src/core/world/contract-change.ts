import { amountOf, format, priceOf, unitOf } from '../../money/amount.ts'
import type { State } from '../state.ts'
import { isWaiting } from '../tables/futures/price-orders.ts'
import { isTrailing } from '../tables/futures/trails.ts'
import { completeContract } from '../tables/world/contract-rules.ts'
import { contractId, type Contract, type ContractConfig } from '../tables/world/contracts.ts'
import type { WorldConfig } from '../tables/world/config.ts'

/** The rows of a configuration by id; a template's says what its contracts are on. */
function rowsOf(next: WorldConfig): ReadonlyMap<string, ContractConfig> {
  const rows = (next.contracts ?? []).map(completeContract)
  return new Map(rows.map((row) => [contractId(row.group, row.settle, row.name || row.underlying), row]))
}
/** What a configuration makes of each contract that has not ended; undefined: it does not have it. */
export function contractsAfter(
  { world }: State,
  next: WorldConfig,
): { readonly contract: Contract; readonly after: ContractConfig | undefined }[] {
  const rows = rowsOf(next)
  return world.allContracts.map((contract) => {
    const after = rows.get(world.contracts.listed.get(contract.id)?.template ?? contract.id)
    return { contract, after: after?.status === 'delisted' ? undefined : after }
  })
}

/** `contract` where its orders alone stand in the way: they may be cancelled. */
export interface ContractFault {
  readonly contract?: string
  readonly text: string
}
/**
 * What a configuration would take away from positions and orders in contracts. Orders of the market agents go by
 * themselves; a position of theirs has somebody on its other side, and stays as anybody's.
 */
export function contractFaults(
  state: State,
  next: WorldConfig,
  agents: ReadonlySet<number>,
): ContractFault[] {
  const precisions = new Map(next.currencies.map(({ currency, precision }) => [currency, precision]))
  const orders = new Map<string, bigint[]>()
  for (const { status, user_id, pair, price } of state.futures.orders.values())
    if (status === 'open' && !agents.has(user_id)) orders.set(pair, [...(orders.get(pair) ?? []), price])
  for (const order of state.futures.waiting.prices.table.values())
    if (isWaiting(order)) {
      const { contract, initial } = order
      orders.set(contract, [...(orders.get(contract) ?? []), priceOf(initial.price)])
    }
  for (const trail of state.futures.waiting.trails.table.values())
    if (isTrailing(trail)) orders.set(trail.contract, [...(orders.get(trail.contract) ?? []), 0n])
  const faults: ContractFault[] = []
  const cancelling = (id: string): string => `start once with KONTOR_CANCEL_ORDERS=${id}`
  for (const { contract, after } of contractsAfter(state, next)) {
    const { id, currency } = contract
    const held = state.futures.positions.countIn(id)
    const prices = orders.get(id) ?? []
    if (after === undefined) {
      if (held > 0 || prices.length > 0)
        faults.push({
          text: `contracts: ${id} is gone, but it has ${counted(held, 'position')} and ${counted(prices.length, 'order')}; leave it, and end it with a delisted_time${held > 0 ? '' : `, or ${cancelling(id)}`}`,
          ...(held === 0 && { contract: id }),
        })
      continue
    }
    const other =
      held > 0
        ? otherTerms(contract, after, precisions.get(currency))
        : prices.length > 0
          ? otherTerms(contract, after, undefined)
          : undefined
    if (other !== undefined)
      faults.push(
        held > 0
          ? {
              text: `contracts: ${id} has ${other}, but it has ${counted(held, 'position')} too; leave it as it was`,
            }
          : {
              contract: id,
              text: `contracts: ${id} has ${other}, but it has ${counted(prices.length, 'order')} of another worth; leave it as it was, or ${cancelling(id)}`,
            },
      )
    const tick: bigint = priceOf(after.order_price_round)
    const off = prices.filter((price) => price % tick !== 0n).length
    if (off > 0)
      faults.push({
        contract: id,
        text: `contracts: ${id} has order_price_round ${after.order_price_round}, but it has ${counted(off, 'order')} at other prices; leave it as it was, or ${cancelling(id)}`,
      })
  }
  return faults
}
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** The first thing that would make positions, or what orders open, worth something else. */
function otherTerms(
  { config, terms }: Contract,
  after: ContractConfig,
  precision: number | undefined,
): string | undefined {
  if (after.type !== config.type) return `type ${after.type}, not ${config.type}`
  if (after.underlying !== config.underlying)
    return `underlying ${after.underlying}, not ${config.underlying}`
  if (amountOf(after.quanto_multiplier) !== amountOf(config.quanto_multiplier))
    return `quanto_multiplier ${after.quanto_multiplier}, not ${config.quanto_multiplier}`
  if (precision !== undefined && unitOf(precision) > terms.unit)
    return `the smallest amount ${format(unitOf(precision))} to settle in, not ${format(terms.unit)}`
  return undefined
}
