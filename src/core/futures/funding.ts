import { BrokenInvariant } from '../../labels.ts'
import { format, type Amount } from '../../money/amount.ts'
import { fundingOwed } from '../contracts/prices.ts'
import { PLATFORM, fundingName, roundingName, type AccountKey } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { bookCash } from './money.ts'

const onItsWay = ({ settle, name }: Contract): AccountKey => ({
  owner: PLATFORM,
  name: fundingName(settle, name),
})
/**
 * Books what a position owes for the fundings since it was settled last, or gets. Whatever changes a position does this
 * first; so it makes no difference whether that comes before its turn in the sweep or after it.
 */
export function settleFunding(ctx: Ctx, contract: Contract, position: Position): Position {
  const price = ctx.state.futures.priceOf(contract.id)
  if (price === undefined || position.funded === price.funding_sum) return position
  const settled = { ...position, funded: price.funding_sum }
  if (position.size === 0n) return settled
  const owed = fundingOwed(contract.terms, contractsIn(position.size), price.funding_sum - position.funded)
  const { user_id, margin } = position
  bookCash(ctx, {
    user_id,
    contract,
    type: 'fund',
    change: -owed as Amount,
    text: contract.name,
    trade_id: 0,
    other: onItsWay(contract),
    kind: 'fund',
    ref: `funding:${price.next_funding - (contract.funding?.intervalSeconds ?? 0)}`,
    // An isolated margin pays as far as it goes, and gets what comes.
    freed: position.leverage === 0n ? 0n : atLeast0(margin) - atLeast0(margin - owed),
  })
  const row: Position = {
    ...settled,
    fund: (position.fund - owed) as Amount,
    margin: position.leverage === 0n ? margin : ((margin - owed) as Amount),
  }
  // Whoever asked for it writes the row once more, which then counts as one change.
  ctx.tx.put(ctx.state.futures.positions.table, row)
  return row
}
const atLeast0 = (amount: bigint): bigint => (amount > 0n ? amount : 0n)
/** All positions are settled: what rounding left on the way is the platform's. */
export function endFunding(ctx: Ctx, contract: Contract): void {
  const { ledger } = ctx.state
  const from = onItsWay(contract)
  const rest = ledger.balance(from.owner, from.name, contract.currency)
  if (rest < 0n)
    throw new BrokenInvariant(
      `funding of ${contract.id} paid out ${format(-rest as Amount)} ${contract.currency} more than it took in`,
    )
  if (rest === 0n) return
  const to = { owner: PLATFORM, name: roundingName(contract.settle) }
  ledger.post(ctx, { kind: 'fund', ref: 'funding', lines: move(from, to, contract.currency, rest) })
}
