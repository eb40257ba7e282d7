import type { State } from '../core/state.ts'
import { ACCOUNT_KINDS, TRANSFER, type Transfer } from '../core/tables/transfers.ts'
import { notFound, refuse } from '../labels.ts'
import { format } from '../money/amount.ts'
import { endpoint, signed, type AnyEndpoint, type Desk } from './endpoint.ts'
import { id, object, oneOf, optional, positiveDecimal, text } from './fields.ts'
import { LIMITS } from './limits.ts'
import { int64, shape, str } from './shapes.ts'

export const currencyField = text({ max: 32, example: 'USDT' })
export const pairField = text({ max: 64, example: 'BTC_USDT' })
export const accountKindField = oneOf(...ACCOUNT_KINDS)

/** A record that finished long ago is no longer in memory: the store has it. */
async function findTransfer(
  desk: Desk,
  where: string,
  values: (string | number)[],
): Promise<Transfer | undefined> {
  const [record] = await desk.store.select(TRANSFER, where, values)
  return record
}
/** Both sides see a transfer, and the main account sees those of its sub-accounts. */
function mayNotSee(state: State, transfer: Transfer, userId: number): boolean {
  return ![transfer.user_id, transfer.from_user, transfer.to_user].some(
    (party) => party === userId || state.users.get(party)?.parent_id === userId,
  )
}
async function transferById(desk: Desk, userId: number, txId: number): Promise<Transfer> {
  const transfer = await findTransfer(desk, 'where tx_id = ?', [txId])
  return desk.core.read((state) =>
    transfer === undefined || mayNotSee(state, transfer, userId)
      ? notFound('NOT_FOUND', `tx_id: this account has no transfer ${txId}`)
      : transfer,
  )
}

export const walletEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/wallet/transfers',
    summary: 'Moves funds between the own accounts; one side is spot',
    access: signed('wallet'),
    limit: LIMITS.walletTransfers,
    body: object({
      currency: currencyField,
      from: accountKindField,
      to: accountKindField,
      amount: positiveDecimal(),
      currency_pair: optional(pairField),
      settle: optional(text({ max: 32, example: 'usdt' })),
    }),
    status: 200,
    reply: shape({ tx_id: int64 }),
    refuses: [
      'INVALID_CURRENCY',
      'INVALID_CURRENCY_PAIR',
      'BALANCE_NOT_ENOUGH',
      'MARGIN_BALANCE_NOT_ENOUGH',
      'MARGIN_TRANSFER_FAILED',
      'ACCOUNT_EXCEPTION',
      'FUTURES_BALANCE_NOT_ENOUGH',
      'TOO_MUCH_FUTURES_AVAILABLE',
      'TRADE_RESTRICTED',
    ],
    handle: async ({ desk, caller, body }) => {
      const { tx_id } = await desk.core.submit('transfer.create', { user_id: caller.user.user_id, ...body })
      return { tx_id }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/transfers',
    summary: 'Shows one transfer between accounts',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: { tx_id: id() },
    status: 200,
    reply: shape({
      tx_id: str,
      status: str,
      currency: str,
      amount: str,
      from_account: str,
      to_account: str,
      settle: str,
      currency_pair: str,
    }),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, caller, query }) => {
      const transfer = await transferById(desk, caller.user.user_id, query.tx_id)
      return {
        tx_id: String(transfer.tx_id),
        status: 'success',
        currency: transfer.currency,
        amount: format(transfer.amount),
        from_account: transfer.from_account,
        to_account: transfer.to_account,
        settle: transfer.settle,
        currency_pair: transfer.currency_pair,
      }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/order_status',
    summary: 'Tells the status of a transfer, by tx_id or client_order_id',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: { client_order_id: optional(text({ max: 64 })), tx_id: optional(id()) },
    status: 200,
    reply: shape({ tx_id: str, status: str }),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, caller, query }) => {
      const userId = caller.user.user_id
      let transfer: Transfer | undefined
      if (query.tx_id !== null) {
        transfer = await transferById(desk, userId, query.tx_id)
        // Whoever names both means one transfer.
        if (query.client_order_id !== null && transfer.client_order_id !== query.client_order_id)
          transfer = undefined
      } else if (query.client_order_id !== null)
        transfer = await findTransfer(desk, 'where user_id = ? and client_order_id = ?', [
          userId,
          query.client_order_id,
        ])
      else refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: tx_id or client_order_id')
      if (transfer === undefined)
        notFound(
          'NOT_FOUND',
          `client_order_id: this account has no transfer "${query.client_order_id ?? ''}"`,
        )
      // Transfers settle within their call; one that was refused left no record.
      return { tx_id: String(transfer.tx_id), status: 'SUCCESS' }
    },
  }),
]
