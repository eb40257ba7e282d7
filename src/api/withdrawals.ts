import type { State } from '../core/state.ts'
import { refuseUncancellable } from '../core/withdrawals/settle.ts'
import { PUSH, type Push } from '../core/tables/push.ts'
import type { WithdrawalStatus } from '../core/tables/withdrawal.flow.ts'
import { WITHDRAWAL, withdrawalId, type Withdrawal } from '../core/tables/withdrawals.ts'
import { notFound } from '../labels.ts'
import { format } from '../money/amount.ts'
import { endpoint, signed, signedMain, type AnyEndpoint, type Desk } from './endpoint.ts'
import { id, object, oneOf, optional, positiveDecimal, text, withDefault } from './fields.ts'
import {
  askedWindow,
  historyCurrency,
  pageFields,
  paginationHeaders,
  readPage,
  readWindow,
  windowFields,
  type Scope,
} from './history.ts'
import { LIMITS } from './limits.ts'
import { once, orElse } from './missing.ts'
import { array, decimalText, int64, shape, str } from './shapes.ts'
import { currencyField } from './wallet.ts'

const seconds = (micros: number): string => (micros === 0 ? '' : String(Math.floor(micros / 1e6)))

const ORDER_ID = text({
  max: 32,
  pattern: /^[0-9A-Za-z_.-]+$/,
  mend: 'must be at most 32 of 0-9 A-Z a-z _ - .',
})
const WITHDRAW_ID = text({ max: 32, pattern: /^w?\d{1,15}$/, mend: 'must be a record id such as "w17"' })
export const parseRecordId = (value: string): number => Number(value.replace(/^[a-z]/, ''))

/** Each view knows the statuses of its own list in the reference only. */
const CREATED: Partial<Record<WithdrawalStatus, string>> = { FVERIFY: 'VERIFY', LOCKED: 'PEND' }
const LISTED: Partial<Record<WithdrawalStatus, string>> = {
  VERIFY: 'REQUEST',
  PROCES: 'REQUEST',
  PEND: 'REQUEST',
  INVALID: 'REJECT',
}
const common = (withdrawal: Withdrawal) => ({
  id: withdrawalId(withdrawal.id),
  txid: withdrawal.txid,
  withdraw_order_id: withdrawal.withdraw_order_id ?? '',
  timestamp: seconds(withdrawal.at),
  amount: format(withdrawal.amount),
  fee: format(withdrawal.fee),
  currency: withdrawal.currency,
  address: withdrawal.address,
  memo: withdrawal.memo,
  chain: withdrawal.chain,
})
const commonShape = {
  id: str,
  txid: str,
  withdraw_order_id: str,
  timestamp: str,
  amount: decimalText,
  fee: decimalText,
  currency: str,
  address: str,
  memo: str,
  chain: str,
  status: str,
}
const listed = (withdrawal: Withdrawal) => ({
  ...common(withdrawal),
  block_number: String(withdrawal.block_number),
  type: withdrawal.internal_to === 0 ? 'chain' : 'internal',
  fail_reason: withdrawal.status === 'CANCEL' ? withdrawal.fail_reason : '',
  timestamp2:
    withdrawal.status === 'CANCEL' || (withdrawal.status === 'DONE' && withdrawal.block_number > 0)
      ? seconds(withdrawal.done_at)
      : '',
  status: LISTED[withdrawal.status] ?? withdrawal.status,
})
const listedShape = { ...commonShape, block_number: str, type: str, fail_reason: str, timestamp2: str }

/** The record as operators see it: with its owner, its true status and why it is there. */
export const operatorWithdrawal = (withdrawal: Withdrawal) => ({
  ...listed(withdrawal),
  status: withdrawal.status,
  fail_reason: withdrawal.fail_reason,
  user_id: withdrawal.user_id,
  asset_class: withdrawal.asset_class,
  holds: withdrawal.holds.map(({ status, reason }) => ({ status, reason })),
  approvals: withdrawal.approvals.map(({ operator, at }) => ({ operator, at })),
  approvals_needed: withdrawal.approvals_needed,
  requested_by: withdrawal.requested_by,
  attempt: withdrawal.attempt,
})
export const operatorWithdrawalShape = shape({
  ...listedShape,
  user_id: int64,
  asset_class: str,
  holds: array(shape({ status: str, reason: str })),
  approvals: array(shape({ operator: str, at: int64 })),
  approvals_needed: int64,
  requested_by: str,
  attempt: int64,
})

/** Finished ones have left memory: the store knows every id that was ever used. */
async function knownOrderId(desk: Desk, userId: number, orderId: string): Promise<number | null> {
  const where = 'where "user_id" = ? and "withdraw_order_id" = ? limit 1'
  const [known] = await desk.store.select(WITHDRAWAL, where, [userId, orderId])
  return known?.id ?? null
}
export interface WithdrawalBody {
  readonly currency: string
  readonly chain: string | null
  readonly amount: string
  readonly address: string
  readonly memo: string | null
  readonly withdraw_order_id: string | null
  readonly asset_class: 'SPOT' | 'PILOT' | null
}
export const withdrawalBody = object({
  currency: currencyField,
  chain: optional(text({ max: 32, example: 'ETH' })),
  amount: positiveDecimal(),
  address: text({ max: 128 }),
  memo: optional(text({ max: 128 })),
  withdraw_order_id: optional(ORDER_ID),
  asset_class: optional(oneOf('SPOT', 'PILOT')),
})
/** From here on nothing can be lost: the record is durable when this resolves. */
export async function withdraw(
  desk: Desk,
  userId: number,
  body: WithdrawalBody,
  requestedBy: string | null,
): Promise<Withdrawal> {
  const { withdraw_order_id: orderId } = body
  const request = (known_id: number | null, fresh?: (state: State) => void) =>
    desk.core.submit(
      'withdrawal.request',
      { user_id: userId, ...body, known_id, requested_by: requestedBy },
      (state, withdrawal) => {
        fresh?.(state)
        return withdrawal
      },
    )
  if (orderId === null) return request(null)
  const look = () => knownOrderId(desk, userId, orderId)
  return once(desk, ({ wallet }) => wallet.withdrawals.table, look, request)
}
export const WITHDRAW_LABELS = [
  'INVALID_CURRENCY',
  'API_WITHDRAW_DISABLED',
  'AMOUNT_TOO_LITTLE',
  'WITHDRAWAL_OVER_LIMIT',
  'ADDRESS_NOT_USED',
  'DUPLICATE_REQUEST',
  'BALANCE_NOT_ENOUGH',
  'NEGATIVE_ASSETS',
  'RISK_ERROR',
] as const

async function findWithdrawals(
  desk: Desk,
  userId: number,
  query: { withdraw_id: string | null; withdraw_order_id: string | null },
): Promise<Withdrawal[] | undefined> {
  if (query.withdraw_id !== null)
    return desk.store.select(WITHDRAWAL, 'where "id" = ? and "user_id" = ?', [
      parseRecordId(query.withdraw_id),
      userId,
    ])
  if (query.withdraw_order_id !== null)
    return desk.store.select(WITHDRAWAL, 'where "user_id" = ? and "withdraw_order_id" = ?', [
      userId,
      query.withdraw_order_id,
    ])
  return undefined
}
function scopeOf(userId: number, currency: string | null, assetClass: string | null): Scope<Withdrawal> {
  if (currency !== null) return { columns: { user_id: userId, currency }, ordinal: 'currency_ordinal' }
  if (assetClass !== null)
    return { columns: { user_id: userId, asset_class: assetClass }, ordinal: 'class_ordinal' }
  return { columns: { user_id: userId }, ordinal: 'ordinal' }
}

const pushMembers = {
  id: int64,
  push_uid: int64,
  receive_uid: int64,
  currency: str,
  amount: decimalText,
  create_time: int64,
  status: str,
  message: str,
  transaction_type: str,
}
export const pushShape = shape(pushMembers)
export const operatorPushShape = shape({ ...pushMembers, user_id: int64 })
export const pushView = (push: Push, transactionType: 'withdraw' | 'deposit') => ({
  id: push.id,
  push_uid: push.push_uid,
  receive_uid: push.receive_uid,
  currency: push.currency,
  amount: format(push.amount),
  create_time: Math.floor(push.at / 1e6),
  status: push.status,
  message: push.message,
  transaction_type: transactionType,
})

export const withdrawalEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/withdrawals',
    dear: true,
    summary: 'Withdraws to a saved and verified address; amount is gross, the fee is inside',
    access: signedMain('withdrawal'),
    limit: LIMITS.withdraw,
    body: withdrawalBody,
    once: () => true,
    status: 200,
    reply: shape({ ...commonShape, withdraw_id: str, asset_class: str }),
    refuses: WITHDRAW_LABELS,
    handle: async ({ desk, caller, body }) => {
      const withdrawal = await withdraw(desk, caller.user.user_id, body, null)
      return {
        ...common(withdrawal),
        withdraw_id: withdrawalId(withdrawal.id),
        asset_class: withdrawal.asset_class,
        status: CREATED[withdrawal.status] ?? withdrawal.status,
      }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/withdrawals/{withdrawal_id}',
    summary: 'Cancels a withdrawal that was not sent yet; its money comes back',
    access: signedMain('withdrawal'),
    limit: LIMITS.wallet,
    params: { withdrawal_id: text({ max: 64 }) },
    status: 202,
    reply: shape({ ...commonShape, block_number: str }),
    refuses: ['INVALID_WITHDRAW_ID', 'INVALID_WITHDRAW_CANCEL_STATUS'],
    handle: async ({ desk, caller, path }) => {
      const userId = caller.user.user_id
      if (!/^w\d{1,15}$/.test(path.withdrawal_id))
        notFound(
          'INVALID_WITHDRAW_ID',
          `withdrawal_id: "${path.withdrawal_id}" is no record id; one looks like "w17"`,
        )
      const recordId = parseRecordId(path.withdrawal_id)
      const run = desk.core.submit('withdrawal.cancel', { user_id: userId, id: recordId })
      // One that is over may have left memory; the store tells whether it was the caller's.
      const cancelled = await orElse(run, 'INVALID_WITHDRAW_ID', async () => {
        const where = 'where "id" = ? and "user_id" = ?'
        const [over] = await desk.store.select(WITHDRAWAL, where, [recordId, userId])
        if (over !== undefined) refuseUncancellable(over)
      })
      return {
        ...common(cancelled),
        block_number: String(cancelled.block_number),
        status: cancelled.status,
      }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/withdrawals',
    summary: "Lists the account's withdrawals, newest first",
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: {
      currency: optional(currencyField),
      withdraw_id: optional(WITHDRAW_ID),
      asset_class: optional(oneOf('SPOT', 'PILOT')),
      withdraw_order_id: optional(ORDER_ID),
      ...windowFields,
      ...pageFields(1000),
    },
    status: 200,
    reply: array(shape(listedShape)),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query, set }) => {
      const userId = caller.user.user_id
      const [currency, config] = await desk.core.read((state) => {
        const name = query.currency === null ? null : historyCurrency(state, query.currency)
        return [name, name === null ? undefined : state.world.findCurrency(name)] as const
      })
      const named = await findWithdrawals(desk, userId, query)
      if (named !== undefined) {
        // A record's own id is enough; all else narrows what is found.
        const inTime = query.withdraw_id === null ? askedWindow(desk, query, set) : () => true
        const fitting = named.filter(
          (one) =>
            inTime(one) &&
            (currency === null || one.currency === currency) &&
            (query.asset_class === null || one.asset_class === query.asset_class) &&
            (query.withdraw_order_id === null || one.withdraw_order_id === query.withdraw_order_id),
        )
        paginationHeaders(set, query, fitting.length)
        return fitting.slice(query.offset, query.offset + query.limit).map(listed)
      }
      const window = readWindow(desk, query, set)
      // A currency has one class: asked for with the other one it has no records.
      const other = (asset_class: string | undefined): boolean =>
        asset_class !== undefined && query.asset_class !== null && asset_class !== query.asset_class
      const none = (): [] => {
        paginationHeaders(set, query, 0)
        return []
      }
      if (other(config?.asset_class)) return none()
      const scope = scopeOf(userId, currency, query.asset_class)
      const { rows, total } = await readPage(desk.store, WITHDRAWAL, scope, window, query)
      // Of one that is gone its records tell the class.
      if (currency !== null && other(rows[0]?.asset_class)) return none()
      paginationHeaders(set, query, total)
      return rows.map(listed)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/withdrawals/push',
    dear: true,
    summary: 'Sends money to another main account by its user id',
    access: signedMain('withdrawal'),
    limit: LIMITS.push,
    body: object({ receive_uid: id(), currency: currencyField, amount: positiveDecimal() }),
    once: () => true,
    status: 200,
    reply: shape({ id: int64 }),
    refuses: [
      'INVALID_CURRENCY',
      'API_WITHDRAW_DISABLED',
      'WITHDRAWAL_OVER_LIMIT',
      'RECEIVE_ERROR',
      'RISK_ERROR',
      'NEGATIVE_ASSETS',
      'BALANCE_NOT_ENOUGH',
      'DUPLICATE_REQUEST',
    ],
    handle: async ({ desk, caller, body }) => {
      const { id } = await desk.core.submit('push.create', { user_id: caller.user.user_id, ...body })
      return { id }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/push',
    summary: 'Lists transfers by user id that were sent (withdraw) or received (deposit), newest first',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: {
      id: optional(id()),
      ...windowFields,
      ...pageFields(1000),
      transaction_type: withDefault(oneOf('withdraw', 'deposit'), 'withdraw'),
    },
    status: 200,
    reply: array(pushShape),
    refuses: [],
    handle: async ({ desk, caller, query, set }) => {
      const userId = caller.user.user_id
      const type = query.transaction_type
      const side = type === 'withdraw' ? 'push_uid' : 'receive_uid'
      if (query.id !== null) {
        const found = await desk.store.select(PUSH, `where "id" = ? and "${side}" = ?`, [query.id, userId])
        const rows = found.filter(askedWindow(desk, query, set))
        paginationHeaders(set, query, rows.length)
        return rows.slice(query.offset, query.offset + query.limit).map((push) => pushView(push, type))
      }
      const window = readWindow(desk, query, set)
      const scope: Scope<Push> = {
        columns: { [side]: userId },
        ordinal: type === 'withdraw' ? 'sent_ordinal' : 'received_ordinal',
      }
      const { rows, total } = await readPage(desk.store, PUSH, scope, window, query)
      paginationHeaders(set, query, total)
      return rows.map((push) => pushView(push, type))
    },
  }),
]
