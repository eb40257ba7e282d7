import { SUB_TRANSFER, type SubTransfer } from '../core/tables/transfers.ts'
import type { State } from '../core/state.ts'
import { subAccountNamed } from '../core/tables/users.ts'
import { refuse } from '../labels.ts'
import { format } from '../money/amount.ts'
import { endpoint, signed, signedMain, type AnyEndpoint, type Desk } from './endpoint.ts'
import { id, ids, object, oneOf, optional, positiveDecimal, text, withDefault } from './fields.ts'
import {
  pageFields,
  paginationHeaders,
  placesIn,
  readPage,
  readWindow,
  windowFields,
  type Paged,
  type Window,
  type Scope,
} from './history.ts'
import { LIMITS } from './limits.ts'
import { once } from './missing.ts'
import { array, decimalText, int64, shape, str } from './shapes.ts'
import { currencyField } from './wallet.ts'

const SUB_KINDS = ['spot', 'futures', 'delivery', 'options'] as const
/** 2020-04-10: older records were never kept by the real platform. */
const EARLIEST = Date.UTC(2020, 3, 10) / 1000
const CLIENT_ID = /^[0-9A-Za-z_-]{1,64}$/

function checkClientId(value: string | null): void {
  if (value !== null && !CLIENT_ID.test(value))
    refuse(
      'INVALID_CLIENT_ORDER_ID',
      `client_order_id: "${value.slice(0, 80)}" must be 1 to 64 letters, digits, - and _`,
    )
}
async function knownClientId(desk: Desk, main: number, clientId: string): Promise<number | null> {
  const where = 'where "main_user" = ? and "client_order_id" = ? limit 1'
  const [known] = await desk.store.select(SUB_TRANSFER, where, [main, clientId])
  return known?.tx_id ?? null
}

const recordShape = shape({
  timest: str,
  uid: str,
  sub_account: str,
  sub_account_type: str,
  currency: str,
  amount: decimalText,
  direction: str,
  source: str,
  client_order_id: str,
  status: str,
})
const view = (record: SubTransfer) => ({
  timest: String(Math.floor(record.at / 1e6)),
  uid: String(record.main_user),
  sub_account: String(record.sub_user),
  sub_account_type: record.sub_account_type,
  currency: record.currency,
  amount: format(record.amount),
  direction: record.direction,
  source: record.source,
  client_order_id: record.client_order_id ?? '',
  status: 'success',
})

/** What a page of several sub-accounts may skip: it is read of each of them. */
const SKIP_MAX = 100_000
/** All, or those with one sub-account, by their places; those with several are merged from theirs by the database. */
async function page(
  desk: Desk,
  main: number,
  subs: readonly number[],
  window: Window,
  query: { limit: number; offset: number },
): Promise<Paged<SubTransfer>> {
  const { store } = desk
  if (subs.length === 0)
    return readPage(store, SUB_TRANSFER, { columns: { main_user: main }, ordinal: 'ordinal' }, window, query)
  const scope = (sub: number): Scope<SubTransfer> => ({
    columns: { main_user: main, sub_user: sub },
    ordinal: 'sub_ordinal',
  })
  if (subs.length === 1) return readPage(store, SUB_TRANSFER, scope(subs[0]!), window, query)
  const places = await Promise.all(subs.map((sub) => placesIn(store, SUB_TRANSFER, scope(sub), window)))
  const total = places.reduce((sum, [low, high]) => sum + Math.max(0, high - low), 0)
  const { limit, offset } = query
  if (offset >= total) return { rows: [], total }
  if (offset > SKIP_MAX)
    refuse(
      'INVALID_PARAM_VALUE',
      `offset: ${offset} is more than ${SKIP_MAX}, the most with several sub_uid. Narrow the time range, or name one`,
    )
  const newest =
    'select "tx_id" from sub_transfer where "main_user" = ? and "sub_user" = ? and "sub_ordinal" <= ? and "sub_ordinal" > ? order by "sub_ordinal" desc limit ?'
  const union = subs.map((_, i) => `select "tx_id" from (${newest}) as newest_${i}`).join(' union all ')
  const merged = `select "tx_id" from (${union}) as newest order by "tx_id" desc limit ? offset ?`
  const values = subs.flatMap((sub, i) => [main, sub, places[i]![1], places[i]![0], limit + offset])
  const where = `where "tx_id" in (${merged}) order by "tx_id" desc`
  return { rows: await store.select(SUB_TRANSFER, where, [...values, limit, offset]), total }
}

export const subTransferEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/wallet/sub_account_transfers',
    summary: "Moves money between the main account's spot account and a sub-account",
    access: signedMain('wallet'),
    limit: LIMITS.walletTransfers,
    body: object({
      sub_account: id(),
      sub_account_type: withDefault(oneOf(...SUB_KINDS), 'spot'),
      currency: currencyField,
      amount: positiveDecimal(),
      direction: oneOf('to', 'from'),
      client_order_id: optional(text({ max: 1024 })),
    }),
    once: ({ client_order_id }) => client_order_id !== null,
    status: 200,
    reply: shape({ tx_id: int64 }),
    refuses: [
      'SUB_ACCOUNT_NOT_FOUND',
      'SUB_ACCOUNT_LOCKED',
      'INVALID_CLIENT_ORDER_ID',
      'DUPLICATE_REQUEST',
      'INVALID_CURRENCY',
      'BALANCE_NOT_ENOUGH',
      'ACCOUNT_EXCEPTION',
      'FUTURES_BALANCE_NOT_ENOUGH',
      'TOO_MUCH_FUTURES_AVAILABLE',
      'TRADE_RESTRICTED',
    ],
    handle: async ({ desk, caller, body }) => {
      checkClientId(body.client_order_id)
      const main = caller.user.user_id
      const { client_order_id: clientId } = body
      const move = (known_tx: number | null, fresh?: (state: State) => void) =>
        desk.core.submit('sub_transfer.create', { main, ...body, known_tx }, (state, { tx_id }) => {
          fresh?.(state)
          return { tx_id }
        })
      if (clientId === null) return move(null)
      const look = () => knownClientId(desk, main, clientId)
      return once(desk, ({ wallet }) => wallet.subTransfers.table, look, move)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/sub_account_transfers',
    summary: 'Lists transfers between the main account and its sub-accounts, newest first',
    access: signedMain('wallet'),
    limit: LIMITS.wallet,
    query: { sub_uid: optional(ids(100)), ...windowFields, ...pageFields(1000) },
    status: 200,
    reply: array(recordShape),
    refuses: ['SUB_ACCOUNT_NOT_FOUND'],
    handle: async ({ desk, caller, query, set }) => {
      const main = caller.user.user_id
      const window = readWindow(desk, query, set, EARLIEST)
      const subs = [...new Set(query.sub_uid ?? [])]
      await desk.core.read(({ users }) => {
        for (const sub of subs) subAccountNamed(users, main, sub)
      })
      const { rows, total } = await page(desk, main, subs, window, query)
      paginationHeaders(set, query, total)
      return rows.map(view)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/wallet/sub_account_to_sub_account',
    summary: "Moves money between two sub-accounts, with the main account's key or the source's own",
    access: signed('wallet'),
    limit: LIMITS.walletTransfers,
    body: object({
      currency: currencyField,
      sub_account_type: optional(text({ max: 32 })),
      sub_account_from: id(),
      sub_account_from_type: oneOf('spot', 'futures', 'delivery'),
      sub_account_to: id(),
      sub_account_to_type: oneOf('spot', 'futures', 'delivery'),
      amount: positiveDecimal(),
    }),
    status: 200,
    reply: shape({ tx_id: int64 }),
    refuses: [
      'FORBIDDEN',
      'SUB_ACCOUNT_NOT_FOUND',
      'SUB_ACCOUNT_LOCKED',
      'INVALID_CURRENCY',
      'BALANCE_NOT_ENOUGH',
      'ACCOUNT_EXCEPTION',
      'FUTURES_BALANCE_NOT_ENOUGH',
      'TOO_MUCH_FUTURES_AVAILABLE',
      'TRADE_RESTRICTED',
    ],
    handle: async ({ desk, caller, body }) => {
      const { sub_account_type: _deprecated, ...rest } = body
      const { tx_id } = await desk.core.submit('sub_transfer.sub_to_sub', {
        caller: caller.user.user_id,
        ...rest,
      })
      return { tx_id }
    },
  }),
]
