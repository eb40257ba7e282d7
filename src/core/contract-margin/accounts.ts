import { ZERO, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import { ContractAccountRow, contractAccountId, type ContractAccount } from '../tables/futures/accounts.ts'
import { CONTRACT_BOOK, type BookType } from '../tables/futures/records.ts'
import { POINTS, cashName, isUnifiedFor, settledOf, totalOf, type Settled } from './cash.ts'

/** The row of a contract account, and its book. */

/**
 * Whether it ever had money there, or a setting. Money may have come when nothing was traded there yet; a unified account
 * has what it has from the beginning.
 */
export const hasAccount = (state: State, userId: number, settled: Settled): boolean =>
  isUnifiedFor(state, userId, settled) ||
  state.futures.accounts.get(userId, settled.account) !== undefined ||
  state.ledger.find(userId, cashName(state, userId, settled), settled.currency) !== undefined

/** The account as it is or would be: it begins with the first money or setting. */
export function accountOf({ state, at }: Ctx, userId: number, account: string): ContractAccount {
  const known = state.futures.accounts.get(userId, account)
  if (known !== undefined) return known
  const settled = settledOf(account)
  // Nothing was moved to where the money is that of the unified account.
  const unified = isUnifiedFor(state, userId, settled)
  return {
    id: contractAccountId(userId, account),
    user_id: userId,
    account,
    dual: false,
    liquidating: 0,
    dnw: unified ? ZERO : totalOf(state, userId, settled),
    pnl: ZERO,
    fee: ZERO,
    fund: ZERO,
    point_dnw: unified ? ZERO : state.ledger.balance(userId, cashName(state, userId, settled), POINTS),
    point_fee: ZERO,
    borrowed: ZERO,
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
/** A line of the account's book, and its sums. `balance` is what it has by now, for who knows it. */
export function note(
  ctx: Ctx,
  settled: Settled,
  entry: BookEntry,
  balance = balanceFor(ctx.state, settled, entry),
): void {
  const { state, tx, at } = ctx
  const { user_id, type, change, text, contract, trade_id } = entry
  const { account } = settled
  const known = state.futures.accounts.get(user_id, account)
  const row = new ContractAccountRow(known ?? accountOf(ctx, user_id, account))
  // What has been moved to an account that begins is all that it has by now.
  const moved = known === undefined && (type === 'dnw' || type === 'point_dnw')
  if (!moved) row[type] = (row[type] + change) as Amount
  putAccount(ctx, row)
  const id = nextId(tx, state.counters, 'contract_book')
  tx.append(CONTRACT_BOOK, { id, user_id, account, type, change, balance, text, contract, trade_id, at })
}
function balanceFor(state: State, settled: Settled, { user_id, type }: BookEntry): Amount {
  const name = cashName(state, user_id, settled)
  if (type === 'point_dnw' || type === 'point_fee') return state.ledger.balance(user_id, name, POINTS)
  if (name === 'spot') return state.ledger.balance(user_id, name, settled.currency)
  return totalOf(state, user_id, settled)
}

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
