import { ZERO, format, type Amount } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import { nextId } from '../counters.ts'
import {
  EQUITY,
  PLATFORM,
  contractDebt,
  contractName,
  type AccountName,
  type AccountKey,
} from '../ledger/accounts.ts'
import type { Line } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { ContractAccountRow, contractAccountId, type ContractAccount } from '../tables/futures/accounts.ts'
import { CONTRACT_BOOK, type BookType } from '../tables/futures/records.ts'
import type { Contract } from '../tables/world/contracts.ts'

/** Whose cash, and in which currency: what a contract says of it, or a transfer. */
export type Settled = Pick<Contract, 'group' | 'settle' | 'currency' | 'account' | 'cash' | 'debt'>

/** The fund that takes over positions has an account for each settle currency, whatever the group. */
export const insuranceOf = (settle: string): AccountKey =>
  ({ owner: PLATFORM, name: `insurance:futures.${settle}` }) as const
export const POINTS = 'POINT'
/** Of an account's name, group/settle. */
export function settledOf(account: string): Settled {
  const [group, settle] = account.split('/') as [Settled['group'], string]
  return settledIn(group, settle)
}
export function settledIn(group: Settled['group'], settle: string): Settled {
  return {
    group,
    settle,
    currency: settle.toUpperCase(),
    account: `${group}/${settle}`,
    cash: contractName(group, settle),
    debt: contractDebt(group, settle),
  }
}

export const cashName = ({ cash }: Settled): AccountName => cash
/** What realised losses took beyond the cash; not above zero. */
export const debtOf = (state: State, userId: number, { debt, currency }: Settled): Amount =>
  state.ledger.balance(userId, debt, currency)
/** Isolated margins included, less what is owed. */
export function totalOf(state: State, userId: number, settled: Settled): Amount {
  const cash = state.ledger.balance(userId, cashName(settled), settled.currency)
  return (cash + debtOf(state, userId, settled)) as Amount
}

/** Whether it ever had money there, or a setting. Money may have come when nothing was traded there yet. */
export const hasAccount = (state: State, userId: number, settled: Settled): boolean =>
  state.futures.accounts.get(userId, settled.account) !== undefined ||
  state.ledger.find(userId, cashName(settled), settled.currency) !== undefined

/** The account as it is or would be: it begins with the first money or setting. */
export function accountOf({ state, at }: Ctx, userId: number, account: string): ContractAccount {
  const known = state.futures.accounts.get(userId, account)
  if (known !== undefined) return known
  const settled = settledOf(account)
  return {
    id: contractAccountId(userId, account),
    user_id: userId,
    account,
    dual: false,
    liquidating: 0,
    dnw: totalOf(state, userId, settled),
    pnl: ZERO,
    fee: ZERO,
    fund: ZERO,
    point_dnw: state.ledger.balance(userId, cashName(settled), POINTS),
    point_fee: ZERO,
    create_at: at,
    update_at: at,
    update_id: 0,
  }
}
export function changeAccount(
  ctx: Ctx,
  userId: number,
  account: string,
  change: Partial<ContractAccount>,
): ContractAccount {
  return putAccount(ctx, Object.assign(new ContractAccountRow(accountOf(ctx, userId, account)), change))
}
function putAccount(ctx: Ctx, row: ContractAccountRow): ContractAccount {
  row.update_at = ctx.at
  row.update_id++
  ctx.tx.put(ctx.state.futures.accounts.table, row)
  return row
}

export interface BookEntry {
  readonly user_id: number
  readonly type: BookType
  /** From the account's side, signed. */
  readonly change: Amount
  readonly text: string
  readonly contract: string
  readonly trade_id: number
}
/** A line of the account's book, and its sums. */
export function note(ctx: Ctx, settled: Settled, entry: BookEntry): void {
  const { state, tx, at } = ctx
  const { user_id, type, change } = entry
  const { account } = settled
  const begins = state.futures.accounts.get(user_id, account) === undefined
  const row = new ContractAccountRow(accountOf(ctx, user_id, account))
  // What has been moved to an account that begins is all that it has by now.
  const moved = begins && (type === 'dnw' || type === 'point_dnw')
  if (!moved) row[type] = (row[type] + change) as Amount
  putAccount(ctx, row)
  const points = type === 'point_dnw' || type === 'point_fee'
  const balance = points
    ? state.ledger.balance(user_id, cashName(settled), POINTS)
    : totalOf(state, user_id, settled)
  const id = nextId(tx, state.counters, 'contract_book')
  tx.append(CONTRACT_BOOK, { id, ...entry, account, balance, at })
}

export interface CashBooking {
  readonly user_id: number
  readonly contract: Contract
  readonly type: 'pnl' | 'fee' | 'fund'
  /** From the user's side, signed. */
  readonly change: Amount
  readonly text: string
  readonly trade_id: number
  /** Where it comes from or goes to. */
  readonly other: AccountKey
  /** Of the ledger's entry, and what it belongs to. */
  readonly kind: string
  readonly ref: string
}
/**
 * Between a user's cash and another account. What cash can't pay is owed, and the next credit pays that first: the
 * rules of margin see to it that other positions' profit covers it. The fund (user 0) pays from insurance.
 */
export function bookCash(ctx: Ctx, booking: CashBooking): void {
  const { state } = ctx
  const { user_id, contract, change, other } = booking
  if (change === 0n) return
  const lines: Line[] = user_id === PLATFORM ? fundLines(ctx, contract, change) : userLines(state, booking)
  const { currency } = contract
  const opposite = { owner: other.owner, name: other.name, currency, amount: -change as Amount }
  // Who pays comes first: it may refuse.
  if (change > 0n) lines.unshift(opposite)
  else lines.push(opposite)
  state.ledger.post(ctx, { kind: booking.kind, ref: booking.ref, lines })
  if (user_id === PLATFORM) return
  const { type, text, trade_id } = booking
  note(ctx, contract, { user_id, type, change, text, contract: contract.id, trade_id })
}
/** A credit pays the debt first; a loss takes the cash first. */
function userLines(state: State, { user_id: owner, contract, change }: CashBooking): Line[] {
  const { cash, debt, currency } = contract
  const onCash =
    change > 0n
      ? larger(change + debtOf(state, owner, contract), 0n)
      : larger(change, -state.ledger.balance(owner, cash, currency))
  const onDebt = change - onCash
  const lines: Line[] = []
  if (onDebt !== 0n) lines.push({ owner, name: debt, currency, amount: onDebt as Amount })
  if (onCash !== 0n) lines.push({ owner, name: cash, currency, amount: onCash as Amount })
  return lines
}
/** The fund never goes below zero: what it lacks the operator's own money pays, and somebody is told. */
function fundLines(ctx: Ctx, { settle, currency, name }: Contract, change: Amount): Line[] {
  const fund = insuranceOf(settle)
  const has = ctx.state.ledger.balance(PLATFORM, fund.name, currency)
  const onFund = larger(change, -has) as Amount
  const missing = (change - onFund) as Amount
  if (missing === 0n) return [{ ...fund, currency, amount: onFund }]
  audit(ctx, 'machine', 'futures.insured_by_equity', {
    contract: name,
    settle,
    amount: format(-missing as Amount),
  })
  const lines: Line[] = [{ ...EQUITY, currency, amount: missing }]
  if (onFund !== 0n) lines.push({ ...fund, currency, amount: onFund })
  return lines
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Money came in from another account of the user's, or went there. */
export function noteTransfer(
  ctx: Ctx,
  settled: Settled,
  user_id: number,
  currency: string,
  change: Amount,
): void {
  const type = currency === POINTS ? 'point_dnw' : 'dnw'
  note(ctx, settled, { user_id, type, change, text: '', contract: '', trade_id: 0 })
}
