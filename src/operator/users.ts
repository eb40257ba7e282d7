import { lockedName, type FreeName } from '../core/ledger/accounts.ts'
import type { State } from '../core/state.ts'
import { finishPortions } from './portions.ts'
import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import {
  decimal,
  flag,
  id,
  integer,
  object,
  oneOf,
  oneOfNumbers,
  optional,
  positiveDecimal,
  text,
  time,
  untilMicros,
  withDefault,
} from '../api/fields.ts'
import { array, decimalText, int, int64, nullable, shape, str } from '../api/shapes.ts'
import {
  EMAIL,
  PASSWORD,
  keyBody,
  keyShape,
  keyView,
  loginName,
  makeKey,
  newKeyShape,
} from '../api/sub-accounts.ts'
import { accountKindField, currencyField, pairField } from '../api/wallet.ts'
import { LEDGER_LINE, type Account } from '../core/ledger/ledger.ts'
import { grant, type Perm } from '../core/tables/keys.ts'
import type { User } from '../core/tables/users.ts'
import { notFound, refuse } from '../labels.ts'
import { ZERO, canonical, format, type Amount } from '../money/amount.ts'
import { hashPassword } from '../runtime/secrets.ts'

const VIP_MAX = 16
export const userShape = shape({
  user_id: int64,
  login_name: str,
  email: str,
  remark: str,
  parent: int64,
  state: int,
  type: int,
  vip: int,
  create_time: int64,
  push_acceptance: str,
  withdraw_day_limit: nullable(decimalText),
  futures_ceiling: nullable(decimalText),
  debit_fee: int,
})
const orNull = (text: string | null): string | null => (text === null ? null : canonical(text))
export const userView = (user: User) => ({
  user_id: user.user_id,
  login_name: user.login_name,
  email: user.email,
  remark: user.remark,
  parent: user.parent_id,
  state: user.state,
  type: user.type,
  vip: user.vip,
  create_time: user.create_time,
  push_acceptance: user.settings.push_acceptance,
  withdraw_day_limit: orNull(user.settings.withdraw_day_limit),
  futures_ceiling: orNull(user.settings.futures_ceiling),
  debit_fee: user.settings.debit_fee ?? 3,
})
export const userAt = ({ users }: State, userId: number): User =>
  users.get(userId) ?? notFound('USER_NOT_FOUND', `no user ${userId}`)

const balanceShape = shape({
  user_id: int64,
  account: str,
  currency: str,
  available: decimalText,
  locked: decimalText,
  currency_pair: str,
  settle: str,
})
/** One row for each account and currency, the held part beside the free part. */
function balanceViews(userId: number, rows: readonly { account: Account; amount: Amount }[]) {
  const amounts = new Map(rows.map(({ account, amount }) => [`${account.name}/${account.currency}`, amount]))
  const views: Record<string, unknown>[] = []
  const seen = new Set<string>()
  for (const { account } of rows) {
    const base = account.name.replace(/\.locked$/, '') as FreeName
    const key = `${base}/${account.currency}`
    if (seen.has(key)) continue
    seen.add(key)
    const [kind, scope = ''] = base.split(':') as [string, string?]
    // Debts are of the account that they are owed by.
    const owner = kind.slice(kind.lastIndexOf('.') + 1)
    views.push({
      user_id: userId,
      account: kind,
      currency: account.currency,
      available: format(amounts.get(key) ?? ZERO),
      locked: format(amounts.get(`${lockedName(base)}/${account.currency}`) ?? ZERO),
      currency_pair: owner === 'margin' ? scope : '',
      settle: owner === 'futures' || owner === 'delivery' ? scope : '',
    })
  }
  return views.sort((a, b) =>
    `${String(a['account'])} ${String(a['currency'])}` < `${String(b['account'])} ${String(b['currency'])}`
      ? -1
      : 1,
  )
}

/** The last ledger line of an account at a moment tells its balance then: one index look-up each. */
export async function balancesAt(desk: Desk, accounts: readonly Account[], micros: number) {
  const rows = await Promise.all(
    accounts.map(async (account) => {
      const where = 'where "account" = ? and "at" <= ? order by "at" desc, "id" desc limit 1'
      const [line] = await desk.store.select(LEDGER_LINE, where, [account.id, micros])
      return line === undefined ? undefined : { account, amount: line.after }
    }),
  )
  return rows.filter((row) => row !== undefined)
}

const UID = { uid: id() }

const canWithdraw = (perms: readonly Perm[]): boolean => grant(perms, 'withdrawal') === 'write'

export const operatorUserEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users',
    summary: 'Creates a main account, or with parent a sub-account',
    access: operatorOf('operator'),
    limit: null,
    body: object({
      login_name: loginName,
      email: optional(EMAIL),
      password: optional(PASSWORD),
      remark: withDefault(text(), ''),
      vip: withDefault(integer(0, VIP_MAX), 0),
      parent: withDefault(integer(0, 999_999_999_999_999), 0),
      type: withDefault(oneOfNumbers(1, 3), 1),
    }),
    status: 201,
    reply: userShape,
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, operator, body }) => {
      const { password, parent, ...rest } = body
      const password_hash = password === null ? null : await hashPassword(password)
      const input = { ...rest, parent_id: parent, password_hash, actor: operator }
      return userView(await desk.core.submit('user.create', input))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users',
    summary: 'Lists users by id, or finds the one with a login_name',
    access: operatorOf('viewer'),
    limit: null,
    query: {
      login_name: optional(text({ max: 64 })),
      from: withDefault(integer(0, 999_999_999_999_999), 0),
      limit: withDefault(integer(1, 1000), 100),
    },
    status: 200,
    reply: array(userShape),
    refuses: [],
    handle: async ({ desk, query }) =>
      desk.core.read(({ users }) => {
        if (query.login_name !== null) {
          const found = users.byLogin.get(query.login_name.toLowerCase())
          return found === undefined ? [] : [userView(found)]
        }
        const list: object[] = []
        for (const id of users.idsAfter(query.from - 1))
          if (list.push(userView(users.must(id))) === query.limit) break
        return list
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}',
    summary: 'Shows a user',
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    status: 200,
    reply: userShape,
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path }) => desk.core.read((state) => userView(userAt(state, path.uid))),
  }),
  endpoint({
    method: 'PATCH',
    path: '/users/{uid}',
    summary:
      'Changes tier, state (1 normal, 2 frozen) and settings of a user; a password in sandbox mode alone',
    access: operatorOf('operator'),
    guarded: { role: 'admin' },
    limit: null,
    params: UID,
    body: object({
      vip: optional(integer(0, VIP_MAX)),
      state: optional(oneOfNumbers(1, 2)),
      push_acceptance: optional(oneOf('auto', 'manual')),
      withdraw_day_limit: optional(decimal()),
      futures_ceiling: optional(decimal()),
      password: optional(PASSWORD),
      debit_fee: optional(oneOfNumbers(1, 2, 3)),
    }),
    status: 200,
    reply: userShape,
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { vip, state, password, ...settings } = body
      // Whoever sets a password can sign in with it: one operator alone would have the customer's money.
      if (password !== null && desk.mode === 'live')
        refuse(
          'INVALID_PARAM_VALUE',
          `password: "***" can't be set by operators in live mode; POST /operator/v1/users/${path.uid}/console_link lets the owner in, who sets one`,
        )
      const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))
      const user = await desk.core.submit('user.change', {
        user_id: path.uid,
        ...(vip !== null && { vip }),
        ...(state !== null && { state }),
        settings: given,
        ...(password !== null && { password_hash: await hashPassword(password) }),
        actor: operator,
      })
      await finishPortions(desk, 'user.stop', ({ user_id }) => user_id === path.uid)
      return userView(user)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/{uid}/keys',
    summary: 'Creates an API key of a main or sub-account; its secret is shown here and never again',
    access: operatorOf('operator'),
    guarded: { role: 'operator', when: ({ body }) => canWithdraw(body.perms) },
    limit: null,
    params: UID,
    body: keyBody,
    status: 200,
    reply: newKeyShape,
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) =>
      makeKey(desk, path.uid, body, { main: null, actor: operator }),
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/keys',
    summary: "Lists a user's API keys",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    status: 200,
    reply: array(keyShape),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path }) =>
      desk.core.read((state) => state.keys.of(userAt(state, path.uid).user_id).map(keyView)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/users/{uid}/keys/{key}',
    summary:
      'Disables a key (state 2 frozen, 3 locked), enables it again (1), sets its replay protection; acts at once',
    access: operatorOf('operator'),
    guarded: { role: 'operator' },
    limit: null,
    params: { uid: id(), key: text({ max: 64 }) },
    body: object({ state: optional(oneOfNumbers(1, 2, 3)), replay_protection: optional(flag()) }),
    status: 200,
    reply: keyShape,
    refuses: ['USER_NOT_FOUND', 'NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { user_id } = await desk.core.read((state) => userAt(state, path.uid))
      if (body.state === null && body.replay_protection === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: state or replay_protection')
      const input = { user_id, key: path.key, ...body, actor: operator }
      return keyView(await desk.core.submit('key.state', input))
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/{uid}/credit',
    summary: "Credits a user's account out of operator equity",
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    params: UID,
    body: object({
      account: withDefault(accountKindField, 'spot'),
      currency: currencyField,
      amount: positiveDecimal(),
      currency_pair: optional(pairField),
      settle: optional(text({ max: 32 })),
    }),
    status: 200,
    reply: shape({ tx_id: int64 }),
    refuses: ['USER_NOT_FOUND', 'INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR', 'ACCOUNT_EXCEPTION'],
    handle: async ({ desk, operator, path, body }) => {
      await desk.core.read((state) => userAt(state, path.uid))
      const { tx_id } = await desk.core.submit('user.credit', { user_id: path.uid, ...body, actor: operator })
      return { tx_id }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/balances',
    summary: 'Every balance of an account, now or at a past second',
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    query: { at: optional(time()) },
    status: 200,
    reply: array(balanceShape),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path, query }) => {
      const rows = await desk.core.read((state) => [...state.ledger.ownedBy(userAt(state, path.uid).user_id)])
      if (query.at !== null)
        return balanceViews(path.uid, await balancesAt(desk, rows, untilMicros(query.at)))
      return balanceViews(
        path.uid,
        rows.map((account) => ({ account, amount: account.amount })),
      )
    },
  }),
]
