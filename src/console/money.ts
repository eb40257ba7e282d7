import { endpoint, signed, type AnyEndpoint } from '../api/endpoint.ts'
import { integer, withDefault } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { array, bool, decimalText, int, int64, shape, str } from '../api/shapes.ts'
import type { State } from '../core/state.ts'
import { DEPOSIT, type Deposit } from '../core/tables/deposits.ts'
import { WITHDRAWAL, depositId, withdrawalId, type Withdrawal } from '../core/tables/withdrawals.ts'
import { HOLD_STATUSES } from '../core/tables/withdrawal.flow.ts'
import { format, subtract } from '../money/amount.ts'

/** Money on its way in and out, as a person wants to see it: how far it is, where it is now, what happens next. */

const chainOf = ({ world }: State, name: string) => world.mustChain(name)
const secondsOf = (micros: number): number => Math.floor(micros / 1e6)

interface Depth {
  readonly confirmations: number
  readonly needed: number
  /** Until the last of them, by the chain's pace; -1: it is not known. */
  readonly seconds_left: number
}
function depthOf(state: State, name: string, height: number | null, needed: number): Depth {
  const { auto_mine_seconds } = chainOf(state, name)
  const tip = state.wallet.tips.get(name)?.height ?? 0
  const confirmations = height === null || height === 0 ? 0 : Math.max(0, tip - height + 1)
  const left = Math.max(0, needed - confirmations)
  return {
    confirmations,
    needed,
    seconds_left: left === 0 ? 0 : auto_mine_seconds > 0 ? left * auto_mine_seconds : -1,
  }
}
const depth = { confirmations: int, needed: int, seconds_left: int }

const depositShape = shape({
  id: str,
  txid: str,
  at: int64,
  amount: decimalText,
  currency: str,
  chain: str,
  address: str,
  memo: str,
  status: str,
  reason: str,
  ...depth,
  unlock_needed: int,
})
function depositView(state: State, deposit: Deposit): object {
  const { min_confirms, unlock_confirms } = chainOf(state, deposit.chain)
  return {
    id: depositId(deposit.id),
    txid: deposit.txid,
    at: secondsOf(deposit.at),
    amount: format(deposit.amount),
    currency: deposit.currency,
    chain: deposit.chain,
    address: deposit.address,
    memo: deposit.memo,
    status: deposit.status,
    reason: deposit.reason,
    ...depthOf(state, deposit.chain, deposit.height, min_confirms),
    unlock_needed: unlock_confirms,
  }
}

const withdrawalShape = shape({
  id: str,
  status: str,
  at: int64,
  amount: decimalText,
  fee: decimalText,
  arrives: decimalText,
  currency: str,
  chain: str,
  address: str,
  memo: str,
  txid: str,
  internal: bool,
  holds: array(shape({ status: str, reason: str })),
  approved_at: array(int64),
  approvals_needed: int,
  send_at: int64,
  done_at: int64,
  fail_reason: str,
  cancellable: bool,
  ...depth,
})
const CANCELLABLE: ReadonlySet<string> = new Set(['REQUEST', ...HOLD_STATUSES])
/** Who approves is the platform's own affair; that somebody did, and when, is not. */
function withdrawalView(state: State, withdrawal: Withdrawal): object {
  const { min_confirms } = chainOf(state, withdrawal.chain)
  return {
    id: withdrawalId(withdrawal.id),
    status: withdrawal.status,
    at: secondsOf(withdrawal.at),
    amount: format(withdrawal.amount),
    fee: format(withdrawal.fee),
    arrives: format(subtract(withdrawal.amount, withdrawal.fee)),
    currency: withdrawal.currency,
    chain: withdrawal.chain,
    address: withdrawal.address,
    memo: withdrawal.memo,
    txid: withdrawal.txid,
    internal: withdrawal.internal_to !== 0,
    holds: withdrawal.holds.map(({ status, reason }) => ({ status, reason })),
    approved_at: withdrawal.approvals.map(({ at }) => secondsOf(at)),
    approvals_needed: withdrawal.approvals_needed,
    send_at: secondsOf(withdrawal.send_at),
    done_at: secondsOf(withdrawal.done_at),
    fail_reason: withdrawal.fail_reason,
    cancellable: CANCELLABLE.has(withdrawal.status),
    ...depthOf(state, withdrawal.chain, withdrawal.block_number, min_confirms),
  }
}

const NEWEST = 'where "user_id" = ? order by "ordinal" desc limit ?'
const LIMIT = { limit: withDefault(integer(1, 200), 50) }

export const consoleMoneyEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/deposits',
    summary: "The account's newest deposits, with how many confirmations each has and needs",
    access: signed('wallet'),
    limit: LIMITS.consoleAccount,
    query: LIMIT,
    status: 200,
    reply: array(depositShape),
    refuses: [],
    handle: async ({ desk, caller, query }) => {
      const rows = await desk.store.select(DEPOSIT, NEWEST, [caller.user.user_id, query.limit])
      return desk.core.read((state) => rows.map((row) => depositView(state, row)))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/withdrawals',
    summary:
      "The account's newest withdrawals, with what holds each, who must still say yes, and its confirmations",
    access: signed('wallet'),
    limit: LIMITS.consoleAccount,
    query: LIMIT,
    status: 200,
    reply: array(withdrawalShape),
    refuses: [],
    handle: async ({ desk, caller, query }) => {
      const rows = await desk.store.select(WITHDRAWAL, NEWEST, [caller.user.user_id, query.limit])
      return desk.core.read((state) => rows.map((row) => withdrawalView(state, row)))
    },
  }),
]
