import { refuse } from '../../labels.ts'
import { amountOf, format, type Amount } from '../../money/amount.ts'
import { EQUITY, PLATFORM, custodyOf } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import { audit } from '../audit.ts'
import type { Ctx } from '../state.ts'

export interface CustodyBooking {
  readonly chain: string
  readonly currency: string
  /** Above zero: coins that the operator put in; below: that the operator took out. */
  readonly amount: string
  readonly reason: string
  readonly actor: string
}
/** equity ↔ custody: the operator's own coins in the wallets of a real chain. Answers what custody holds then. */
export function bookCustody(ctx: Ctx, input: CustodyBooking): Amount {
  const { state } = ctx
  const { chain, kind } = state.world.mustChain(input.chain)
  if (kind === 'simulated')
    refuse('INVALID_PARAM_VALUE', `chain: ${chain} is simulated; POST /chains/${chain}/fund fills its wallet`)
  const { currency } = state.world.currency(input.currency)
  const size = amountOf(input.amount.replace(/^-/, ''))
  const amount = input.amount.startsWith('-') ? (-size as Amount) : size
  const custody = custodyOf(chain)
  const lines = move(custody, EQUITY, currency, amount)
  state.ledger.post(ctx, { kind: 'hot_wallet', ref: `chain:${chain}`, lines })
  const { reason, actor } = input
  audit(ctx, actor, 'chain.book', { chain, currency, amount: format(amount), reason })
  return -state.ledger.balance(PLATFORM, custody.name, currency) as Amount
}
