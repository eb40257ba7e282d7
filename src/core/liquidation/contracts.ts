import { format, min, negate, type Amount } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import { UNIFIED_CONTRACTS, debtOf } from '../contract-margin/cash.ts'
import { cancelContracts } from '../futures/liquidate.ts'
import { reduceWorst } from '../futures/reduce.ts'
import { EQUITY, PLATFORM, contractInsurance, type AccountKey } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { RiskFigures } from '../risk/risk.ts'
import type { Ctx, State } from '../state.ts'
import { payContractDebt } from '../unified/contracts.ts'
import { liquidationText } from './selling.ts'
import { note, type Liquidated } from '../liquidated.ts'

/** Contracts in the liquidation of a unified account. */

/** How much of what the account must have contracts need: the larger part of it, less, or nothing. */
export function contractPart({ contracts, maintenanceMargin }: RiskFigures): 'larger' | 'some' | 'none' {
  if (contracts === undefined || contracts.maintenance === 0n) return 'none'
  return contracts.maintenance * 2n > maintenanceMargin ? 'larger' : 'some'
}

/** A portion of its open orders in contracts; true while there may be more. */
export const cancelContractOrders = (ctx: Ctx, input: Liquidated): boolean =>
  cancelContracts(ctx, input, UNIFIED_CONTRACTS)

const sizesOf = ({ futures }: State, userId: number): Map<string, bigint> =>
  new Map([...futures.positions.heldBy(userId, UNIFIED_CONTRACTS.account)].map(({ id, size }) => [id, size]))
/** One step with the position that needs most; false when nothing was taken of it. */
export function reduceContracts(ctx: Ctx, input: Liquidated): boolean {
  const { state } = ctx
  const { user_id } = input
  const before = sizesOf(state, user_id)
  reduceWorst(ctx, { ...input, text: liquidationText(state, input) }, UNIFIED_CONTRACTS)
  const after = sizesOf(state, user_id)
  return [...before].some(([id, size]) => after.get(id) !== size)
}

/** What losses took that nobody lent is paid from the account's own money. */
export function repayContractDebt(ctx: Ctx, input: Liquidated): void {
  const paid = payContractDebt(ctx, input.user_id, `liquidation:${input.id}`)
  if (paid > 0n) note(ctx, input, 'repaid', UNIFIED_CONTRACTS.currency, paid)
}
const debtOwner = (owner: number): AccountKey => ({ owner, name: UNIFIED_CONTRACTS.debt })

/** And when nothing of it is left the fund of contracts pays, then the operator. */
export function coverContractDebt(ctx: Ctx, input: Liquidated): void {
  const { state } = ctx
  const { user_id } = input
  const { currency, settle } = UNIFIED_CONTRACTS
  const owed = negate(debtOf(state, user_id, UNIFIED_CONTRACTS))
  if (owed <= 0n) return
  const fund = contractInsurance(settle)
  const byFund = min(owed, state.ledger.balance(PLATFORM, fund.name, currency))
  const rest = (owed - byFund) as Amount
  const ref = `liquidation:${input.id}`
  for (const [payer, amount] of [
    [fund, byFund],
    [EQUITY, rest],
  ] as const)
    if (amount > 0n)
      state.ledger.post(ctx, {
        kind: 'liquidation',
        ref,
        lines: move(payer, debtOwner(user_id), currency, amount),
      })
  note(ctx, input, 'insured', currency, owed)
  if (rest > 0n)
    audit(ctx, 'machine', 'futures.loss_paid_by_equity', { user_id, settle, amount: format(rest) })
}
