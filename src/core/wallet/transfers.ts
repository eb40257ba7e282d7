import { positiveAmount } from '../positive.ts'
import { EQUITY, PLATFORM, type AccountKey } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import { amountOf, decimalsOf, format, negate, type Amount } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import { nextId } from '../counters.ts'
import { noteTransfer } from '../futures/money.ts'
import {
  guardContractOutflow,
  inflowLines,
  refuseUnified,
  repayFromInflow,
  settledBy,
  spotInflowLines,
} from '../futures/transfers.ts'
import { move, type Line } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { guardOutflow } from '../unified/guard.ts'
import { loanAccountsOf } from '../tables/unified/loan-accounts.ts'
import type { User } from '../tables/users.ts'
import { accountRef, type AccountRef } from './accounts.ts'
import type { AccountKind, Transfer } from '../tables/transfers.ts'

/** Decimals of amounts in wallet calls. */
const TRANSFER_DECIMALS = 8

/** Transfers are counted in at most 8 decimals, whatever the currency's own precision. */
export function transferAmount(text: string): Amount {
  const amount = positiveAmount(text)
  if (decimalsOf(amount) > TRANSFER_DECIMALS)
    refuse('INVALID_PARAM_VALUE', `amount: "${text}" has more than ${TRANSFER_DECIMALS} decimals`)
  return amount
}

export interface NewTransfer {
  readonly user_id: number
  readonly currency: string
  readonly from: AccountKind
  readonly to: AccountKind
  readonly amount: string
  readonly currency_pair: string | null
  readonly settle: string | null
}
/** from → to, both of one user. */
export function createTransfer(ctx: Ctx, input: NewTransfer): Transfer {
  const { state } = ctx
  const currency = state.world.currency(input.currency).currency
  const amount = transferAmount(input.amount)
  if (input.from === input.to)
    refuse('INVALID_PARAM_VALUE', `to: "${input.to}" is the account the money comes from; name another`)
  if (input.from !== 'spot' && input.to !== 'spot')
    refuse('INVALID_PARAM_VALUE', `from, to: one side must be spot, not "${input.from}" and "${input.to}"`)
  const from = accountRef(state.world, input.from, currency, input)
  const to = accountRef(state.world, input.to, currency, input)
  const user = state.users.must(input.user_id)
  return bookTransfer(ctx, {
    kind: 'own',
    by: user,
    from: { user, ref: from },
    to: { user, ref: to },
    currency,
    amount,
  })
}

interface Booking {
  readonly kind: Transfer['kind']
  readonly by: User
  readonly from: { readonly user: User; readonly ref: AccountRef }
  readonly to: { readonly user: User; readonly ref: AccountRef }
  readonly currency: string
  readonly amount: Amount
  readonly client_order_id?: string | null
}
/** from.user/from → to.user/to, with its record. Funds are checked before the ceiling. */
export function bookTransfer(ctx: Ctx, booking: Booking): Transfer {
  const { state, tx, at } = ctx
  const { from, to, currency, amount } = booking
  refuseLeaving(state, to.user.user_id, to.ref, currency)
  for (const { user, ref } of [from, to]) refuseUnifiedContracts(state, user.user_id, ref)
  guardOutflow(state, from.user.user_id, from.ref.name, currency, amount)
  const left = settledBy(from.ref.kind, from.ref.settle)
  if (left !== undefined) guardContractOutflow(state, from.user.user_id, left, currency, amount)
  const tx_id = nextId(tx, state.counters, 'transfer')
  state.ledger.post(ctx, {
    kind: booking.kind === 'own' ? ownKind(from.ref, to.ref) : 'subaccount_trf',
    ref: `transfer:${tx_id}`,
    lines: linesInto(state, { owner: from.user.user_id, name: from.ref.name }, to, currency, amount),
  })
  if (left !== undefined) noteTransfer(ctx, left, from.user.user_id, currency, negate(amount))
  noteInflow(ctx, to, currency, amount)
  checkCeiling(ctx, to.user, to.ref, currency)
  const pairOrSettle = from.ref.kind === 'spot' ? to.ref : from.ref
  const record: Transfer = {
    tx_id,
    kind: booking.kind,
    user_id: booking.by.user_id,
    from_user: from.user.user_id,
    from_account: from.ref.kind,
    to_user: to.user.user_id,
    to_account: to.ref.kind,
    currency,
    amount,
    settle: pairOrSettle.settle,
    currency_pair: pairOrSettle.currency_pair,
    client_order_id: booking.client_order_id ?? null,
    at,
  }
  tx.put(state.transfers, record)
  return record
}

type Party = Booking['to']
/** An account of contracts pays what it owes first. */
function linesInto(state: State, from: AccountKey, to: Party, currency: string, amount: Amount): Line[] {
  const owner = to.user.user_id
  const settled = settledBy(to.ref.kind, to.ref.settle)
  if (settled === undefined && to.ref.kind !== 'spot')
    return move(from, { owner, name: to.ref.name }, currency, amount)
  const lines =
    settled === undefined
      ? spotInflowLines(state, owner, currency, amount)
      : inflowLines(state, owner, settled, currency, amount)
  lines.unshift({ owner: from.owner, name: from.name, currency, amount: negate(amount) })
  return lines
}
function noteInflow(ctx: Ctx, { user, ref }: Party, currency: string, amount: Amount): void {
  const settled = settledBy(ref.kind, ref.settle)
  if (settled !== undefined) noteTransfer(ctx, settled, user.user_id, currency, amount)
  else if (ref.kind === 'spot') repayFromInflow(ctx, user.user_id, currency, amount)
}
function refuseUnifiedContracts(state: State, userId: number, ref: AccountRef): void {
  const settled = settledBy(ref.kind, ref.settle)
  if (settled !== undefined) refuseUnified(state, userId, settled)
}

/** Into what is being delisted goes only what a debt there needs: all else would stand in its way. */
function refuseLeaving(state: State, userId: number, ref: AccountRef, currency: string): void {
  if (ref.kind === 'spot') return
  const { world, ledger } = state
  const { currency_pair: pair } = ref
  const market = pair === '' ? undefined : world.market(pair)
  if (market?.config.status !== 'delisting' && !world.isLeaving(currency)) return
  if (pair !== '' && ledger.balance(userId, loanAccountsOf(pair).debt, currency) < 0n) return
  refuse(
    'TRADE_RESTRICTED',
    `${market?.config.status === 'delisting' ? pair : currency} is being delisted; money can be taken out there, and put in only to repay a loan`,
  )
}

/** The account book's word for money that enters or leaves a kind of account. */
function ownKind(from: AccountRef, to: AccountRef): string {
  const other = from.kind === 'spot' ? to : from
  const direction = other === to ? 'in' : 'out'
  return `${BOOK_WORD[other.kind]}_${direction}`
}
const BOOK_WORD: Record<AccountKind, string> = {
  spot: 'spot',
  margin: 'margin',
  futures: 'perp',
  delivery: 'delivery',
  options: 'options',
}

/** A contract account holds at most its owner's ceiling, else the platform's; POINT is not counted. */
function checkCeiling(ctx: Ctx, user: User, ref: AccountRef, currency: string): void {
  if (ref.kind === 'spot' || ref.kind === 'margin' || currency === 'POINT') return
  const { state } = ctx
  const ceiling = amountOf(user.settings.futures_ceiling ?? state.world.contractCeiling)
  const after = state.ledger.balance(user.user_id, ref.name, currency)
  if (after > ceiling)
    refuse(
      'TOO_MUCH_FUTURES_AVAILABLE',
      `the ${ref.name} account would hold ${format(after)} ${currency}, more than its ceiling of ${format(ceiling)}`,
    )
}

export interface Credit {
  readonly user_id: number
  readonly account: AccountKind
  readonly currency: string
  readonly amount: string
  readonly currency_pair: string | null
  readonly settle: string | null
  readonly actor: Actor
}
/** operator equity → a user's account. Sandbox only, which the gateway sees to. */
export function creditUser(ctx: Ctx, input: Credit): Transfer {
  const { state, tx, at } = ctx
  const user = state.users.get(input.user_id) ?? refuse('USER_NOT_FOUND', `no user ${input.user_id}`)
  const { currency, precision } = state.world.currency(input.currency)
  const amount = positiveAmount(input.amount)
  if (decimalsOf(amount) > precision)
    refuse(
      'INVALID_PARAM_VALUE',
      `amount: "${input.amount}" has more than ${currency}'s ${precision} decimals`,
    )
  const ref = accountRef(state.world, input.account, currency, input)
  refuseUnifiedContracts(state, user.user_id, ref)
  const tx_id = nextId(tx, state.counters, 'transfer')
  state.ledger.post(ctx, {
    // In the account book money from outside is a deposit: clients know no other word for it.
    kind: 'deposit',
    ref: `transfer:${tx_id}`,
    lines: linesInto(state, EQUITY, { user, ref }, currency, amount),
  })
  noteInflow(ctx, { user, ref }, currency, amount)
  const record: Transfer = {
    tx_id,
    kind: 'credit',
    user_id: user.user_id,
    from_user: PLATFORM,
    from_account: 'unknown',
    to_user: user.user_id,
    to_account: ref.kind,
    currency,
    amount,
    settle: ref.settle,
    currency_pair: ref.currency_pair,
    client_order_id: null,
    at,
  }
  tx.put(state.transfers, record)
  audit(ctx, input.actor, 'user.credit', {
    user_id: user.user_id,
    account: ref.name,
    currency,
    amount: format(amount),
    tx_id,
  })
  return record
}
