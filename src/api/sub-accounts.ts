import type { ApiKey } from '../core/tables/keys.ts'
import { subAccountAt, type User } from '../core/tables/users.ts'
import { hashPassword, randomHex } from '../runtime/secrets.ts'
import { endpoint, signedMain, type AnyEndpoint, type Desk } from './endpoint.ts'
import {
  described,
  flag,
  id,
  listOf,
  object,
  oneOf,
  oneOfNumbers,
  optional,
  text,
  withDefault,
} from './fields.ts'
import { showing } from './guarded.ts'
import { LIMITS } from './limits.ts'
import { array, bool, int, int64, shape, str } from './shapes.ts'

const LOGIN_NAME = text({
  max: 64,
  pattern: /^[A-Za-z0-9_]+$/,
  mend: 'must be letters, digits and underscores only',
  example: 'trader_1',
})
export const EMAIL = text({ max: 254, pattern: /^[^\s@]+@[^\s@]+$/, mend: 'must be an e-mail address' })
export const PASSWORD = text({ max: 128 })
export const loginName = LOGIN_NAME

const subAccountShape = shape({
  user_id: int64,
  login_name: str,
  remark: str,
  email: str,
  state: int,
  type: int,
  create_time: int64,
})
const subAccountView = ({ user_id, login_name, remark, email, state, type, create_time }: User) => ({
  user_id,
  login_name,
  remark,
  email,
  state,
  type,
  create_time,
})

const permShape = shape({ name: str, read_only: bool })
const keyMembers = {
  user_id: int64,
  key: str,
  mode: int,
  name: str,
  perms: array(permShape),
  ip_whitelist: array(str),
  state: int,
  created_at: int64,
  updated_at: int64,
  update_at: int64,
  last_access: int64,
  replay_protection: bool,
}
export const keyShape = shape(keyMembers)
export const newKeyShape = shape({ ...keyMembers, secret: str })
export const keyView = (key: ApiKey) => ({
  user_id: key.user_id,
  key: key.key,
  mode: key.mode,
  name: key.name,
  perms: key.perms,
  ip_whitelist: key.ip_whitelist,
  state: key.state,
  created_at: key.created_at,
  updated_at: key.updated_at,
  // Real clients know both spellings.
  update_at: key.updated_at,
  last_access: key.last_access,
  replay_protection: key.replay_protection,
})

const REPLAY_PROTECTION = optional(
  described(flag(), 'the very same signed withdrawal, push or request with an id of its own passes once'),
)
/** What is left out is cleared, but for replay_protection, which stays as it is. */
export const keyBody = object({
  mode: optional(oneOfNumbers(1, 2)),
  name: withDefault(text({ max: 64 }), ''),
  perms: withDefault(
    listOf(object({ name: text({ max: 32 }), read_only: withDefault(flag(), false) }), 32),
    [],
  ),
  ip_whitelist: withDefault(listOf(text({ max: 64 }), 100), []),
  replay_protection: REPLAY_PROTECTION,
})
type KeyBody = ReturnType<typeof keyBody.read>

/** Draws a key and a secret; the secret is shown here, once, and kept encrypted. */
export async function makeKey(
  desk: Desk,
  userId: number,
  body: KeyBody,
  by: { readonly main: number | null; readonly actor: string | null },
): Promise<object> {
  const secret = randomHex(32)
  const key = randomHex(16)
  const secret_box = desk.secrets.seal(secret)
  const made = desk.core.submit('key.create', { user_id: userId, ...body, key, secret_box, ...by })
  return { ...keyView(await showing({ key, secret }, made)), secret }
}

const ACCESS = signedMain('sub_accounts')
const USER_ID = { user_id: id() }
const USER_KEY = { user_id: id(), key: text({ max: 64 }) }
const NOT_FOUND_LABELS = ['SUB_ACCOUNT_NOT_FOUND'] as const

export const subAccountEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/sub_accounts',
    summary: 'Creates a sub-account',
    access: ACCESS,
    limit: LIMITS.subAccounts,
    body: object({
      login_name: LOGIN_NAME,
      remark: withDefault(text({ max: 256 }), ''),
      password: optional(PASSWORD),
      email: optional(EMAIL),
    }),
    status: 201,
    reply: subAccountShape,
    refuses: [],
    handle: async ({ desk, caller, body }) => {
      const { password, ...rest } = body
      const user = await desk.core.submit('user.create', {
        ...rest,
        password_hash: password === null ? null : await hashPassword(password),
        vip: 0,
        parent_id: caller.user.user_id,
        type: 1,
        actor: null,
      })
      return subAccountView(user)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/sub_accounts',
    summary: 'Lists the sub-accounts',
    access: ACCESS,
    limit: LIMITS.subAccounts,
    query: { type: withDefault(oneOf('0', '1'), '1') },
    status: 200,
    reply: array(subAccountShape),
    refuses: [],
    handle: async ({ desk, caller, query }) =>
      desk.core.read(({ users }) =>
        users
          .subAccountsOf(caller.user.user_id)
          .filter(({ type }) => query.type === '0' || type === 1)
          .map(subAccountView),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/sub_accounts/unified_mode',
    summary: 'Tells the account mode of each sub-account',
    access: ACCESS,
    limit: LIMITS.subAccounts,
    status: 200,
    reply: array(shape({ user_id: int64, is_unified: bool, mode: str })),
    refuses: [],
    handle: async ({ desk, caller }) =>
      desk.core.read(({ users, margin }) =>
        users.subAccountsOf(caller.user.user_id).map(({ user_id }) => ({
          user_id,
          is_unified: margin.isUnified(user_id),
          mode: margin.modeOf(user_id),
        })),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/sub_accounts/{user_id}',
    summary: 'Shows one sub-account',
    access: ACCESS,
    limit: LIMITS.subAccounts,
    params: USER_ID,
    status: 200,
    reply: subAccountShape,
    refuses: NOT_FOUND_LABELS,
    handle: async ({ desk, caller, path }) =>
      desk.core.read(({ users }) => subAccountView(subAccountAt(users, caller.user.user_id, path.user_id))),
  }),
  endpoint({
    method: 'POST',
    path: '/sub_accounts/{user_id}/keys',
    dear: true,
    summary: 'Creates an API key of a sub-account; its secret is shown here and never again',
    access: ACCESS,
    limit: LIMITS.subAccounts,
    params: USER_ID,
    body: keyBody,
    status: 200,
    reply: newKeyShape,
    refuses: NOT_FOUND_LABELS,
    handle: async ({ desk, caller, path, body }) =>
      makeKey(desk, path.user_id, body, { main: caller.user.user_id, actor: null }),
  }),
  endpoint({
    method: 'GET',
    path: '/sub_accounts/{user_id}/keys',
    summary: "Lists a sub-account's API keys",
    access: ACCESS,
    limit: LIMITS.subAccounts,
    params: USER_ID,
    status: 200,
    reply: array(keyShape),
    refuses: NOT_FOUND_LABELS,
    handle: async ({ desk, caller, path }) =>
      desk.core.read(({ users, keys }) =>
        keys.of(subAccountAt(users, caller.user.user_id, path.user_id).user_id).map(keyView),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/sub_accounts/{user_id}/keys/{key}',
    summary: "Shows one of a sub-account's API keys",
    access: ACCESS,
    limit: LIMITS.subAccounts,
    params: USER_KEY,
    status: 200,
    reply: keyShape,
    refuses: [...NOT_FOUND_LABELS, 'NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      desk.core.read(({ users, keys }) =>
        keyView(keys.at(subAccountAt(users, caller.user.user_id, path.user_id).user_id, path.key)),
      ),
  }),
  endpoint({
    method: 'PUT',
    path: '/sub_accounts/{user_id}/keys/{key}',
    dear: true,
    summary: 'Replaces the name, the permissions and the IP list of a key; what is left out is cleared',
    access: ACCESS,
    limit: LIMITS.subAccounts,
    params: USER_KEY,
    body: keyBody,
    status: 204,
    reply: null,
    refuses: [...NOT_FOUND_LABELS, 'NOT_FOUND'],
    handle: async ({ desk, caller, path, body }) =>
      desk.core.submit('key.replace', { main: caller.user.user_id, ...path, ...body }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/sub_accounts/{user_id}/keys/{key}',
    summary: "Deletes one of a sub-account's API keys; it stops working at once",
    access: ACCESS,
    limit: LIMITS.subAccounts,
    params: USER_KEY,
    status: 204,
    reply: null,
    refuses: [...NOT_FOUND_LABELS, 'NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      desk.core.submit('key.delete', { main: caller.user.user_id, ...path }),
  }),
  ...(['lock', 'unlock'] as const).map((verb) =>
    endpoint({
      method: 'POST',
      path: `/sub_accounts/{user_id}/${verb}`,
      summary:
        verb === 'lock'
          ? 'Locks a sub-account: its own keys stop working and its money stays where it is'
          : 'Unlocks a sub-account',
      access: ACCESS,
      limit: LIMITS.subAccounts,
      params: USER_ID,
      status: 204,
      reply: null,
      refuses: NOT_FOUND_LABELS,
      handle: async ({ desk, caller, path }) =>
        desk.core.submit('sub_account.lock', {
          main: caller.user.user_id,
          user_id: path.user_id,
          state: verb === 'lock' ? 2 : 1,
        }),
    }),
  ),
]
