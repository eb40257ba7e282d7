import { secondsOf } from '../time.ts'
import { notFound, refuse } from '../../labels.ts'
import type { Ctx } from '../state.ts'
import { nextId } from '../counters.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import { checkIpList, checkPerms, type ApiKey, type Perm } from '../tables/keys.ts'
import { stopAccount } from './freeze.ts'
import { DEFAULT_SETTINGS, isMain, subAccountAt, type User, type UserSettings } from '../tables/users.ts'

const FIRST_USER_ID = 10001

export interface NewUser {
  readonly login_name: string
  readonly email: string | null
  readonly password_hash: string | null
  readonly remark: string
  readonly vip: number
  readonly parent_id: number
  readonly type: 1 | 3
  readonly actor: Actor
}
/** A main account, or with parent_id a sub-account; what is left out comes from the main account. */
export function createUser(ctx: Ctx, input: NewUser): User {
  const { state, tx, at } = ctx
  const { users } = state
  const parent = input.parent_id === 0 ? undefined : users.get(input.parent_id)
  if (input.parent_id !== 0) {
    if (parent === undefined) refuse('USER_NOT_FOUND', `parent: no user ${input.parent_id}`)
    if (!isMain(parent))
      refuse(
        'INVALID_PARAM_VALUE',
        `parent: ${input.parent_id} is a sub-account; only a main account has sub-accounts`,
      )
    // What is asked of a family, and decided for it, looks at each of them.
    const limit = state.world.subAccountsMax
    if (users.subAccountCount(parent.user_id) >= limit)
      refuse(
        'INVALID_PARAM_VALUE',
        `account ${parent.user_id} already has ${limit} sub-accounts, which is the limit`,
      )
  } else if (input.type === 3)
    refuse('INVALID_PARAM_VALUE', 'type: 3 (cross-margin) is a kind of sub-account; name its parent')
  if (users.byLogin.get(input.login_name.toLowerCase()) !== undefined)
    refuse('INVALID_PARAM_VALUE', `login_name: "${input.login_name}" is taken; choose another`)
  const user: User = {
    user_id: nextId(tx, state.counters, 'user', FIRST_USER_ID),
    parent_id: input.parent_id,
    login_name: input.login_name,
    email: input.email ?? parent?.email ?? '',
    password_hash: input.password_hash ?? parent?.password_hash ?? '',
    remark: input.remark,
    state: 1,
    type: input.type,
    vip: parent === undefined ? input.vip : 0,
    create_time: secondsOf(at),
    settings: DEFAULT_SETTINGS,
  }
  tx.put(users.table, user)
  audit(ctx, input.actor, 'user.create', { user_id: user.user_id, login_name: user.login_name })
  return user
}

export interface UserChange {
  readonly user_id: number
  readonly vip?: number
  readonly state?: 1 | 2
  readonly settings?: Partial<UserSettings>
  /** A new password: withdrawals are looked at for a while. */
  readonly password_hash?: string
  readonly actor: Actor
}
export function changeUser(ctx: Ctx, input: UserChange): User {
  const { state, tx } = ctx
  const user = state.users.get(input.user_id) ?? notFound('USER_NOT_FOUND', `no user ${input.user_id}`)
  if (input.vip !== undefined && !isMain(user))
    refuse(
      'INVALID_PARAM_VALUE',
      `vip: user ${user.user_id} is a sub-account; its tier is its main account's`,
    )
  const { frozen: before = false, locked: keptLock = false, ...kept } = user.settings
  const frozen = input.state === undefined ? before : input.state === 2
  // A main account's own lock is not the platform's to lift with its freeze.
  const lock = before ? keptLock : !isMain(user) && user.state === 2
  const changed: User = {
    ...user,
    vip: input.vip ?? user.vip,
    state: before && !frozen && lock ? 2 : (input.state ?? user.state),
    password_hash: input.password_hash ?? user.password_hash,
    settings: {
      ...kept,
      ...input.settings,
      ...(frozen && { frozen }),
      ...(frozen && lock && { locked: lock }),
      ...(input.password_hash !== undefined && { password_changed_at: secondsOf(ctx.at) }),
    },
  }
  tx.put(state.users.table, changed)
  if (input.state === 2) stopAccount(ctx, changed)
  const { actor, password_hash: _secret, ...change } = input
  audit(ctx, actor, 'user.change', change)
  return changed
}

/** lock sets state 2, unlock sets 1; doing it twice is no error. */
export function lockSubAccount(ctx: Ctx, input: { main: number; user_id: number; state: 1 | 2 }): User {
  const user = subAccountAt(ctx.state.users, input.main, input.user_id)
  const { frozen = false, locked = false } = user.settings
  if (user.state === input.state && frozen === locked) return user
  if (frozen && input.state === 1)
    refuse('ACCOUNT_LOCKED', `sub-account ${user.user_id} is frozen by the platform; ask the operator`)
  const changed: User = frozen
    ? { ...user, settings: { ...user.settings, locked: true } }
    : { ...user, state: input.state }
  ctx.tx.put(ctx.state.users.table, changed)
  return changed
}

export interface NewKey {
  readonly user_id: number
  readonly name: string
  /** null: the mode the account is in. */
  readonly mode: 1 | 2 | null
  readonly perms: readonly Perm[]
  readonly ip_whitelist: readonly string[]
  /** Drawn by the gateway: the core has no randomness. */
  readonly key: string
  readonly secret_box: string
  /** Left out: off. */
  readonly replay_protection?: boolean | null
  /** The account whose sub-account this must be; null when an operator asks. */
  readonly main: number | null
  readonly actor: Actor
}
export function createKey(ctx: Ctx, input: NewKey): ApiKey {
  const { state, tx, at } = ctx
  const user =
    input.main === null
      ? (state.users.get(input.user_id) ?? notFound('USER_NOT_FOUND', `no user ${input.user_id}`))
      : subAccountAt(state.users, input.main, input.user_id)
  checkPerms(input.perms, !isMain(user))
  checkIpList(input.ip_whitelist)
  const limit = state.world.keysMax
  if (state.keys.count(user.user_id) >= limit)
    refuse(
      'INVALID_PARAM_VALUE',
      `user ${user.user_id} already has ${limit} keys, which is the limit; delete one first`,
    )
  const seconds = secondsOf(at)
  const key: ApiKey = {
    key: input.key,
    user_id: user.user_id,
    name: input.name,
    mode: input.mode ?? 1,
    perms: input.perms,
    ip_whitelist: input.ip_whitelist,
    state: 1,
    secret_box: input.secret_box,
    created_at: seconds,
    updated_at: seconds,
    last_access: 0,
    replay_protection: input.replay_protection ?? false,
  }
  tx.put(state.keys.table, key)
  audit(ctx, input.actor, 'key.create', { user_id: user.user_id, key: key.key, name: key.name })
  return key
}

export interface KeyChange {
  readonly main: number
  readonly user_id: number
  readonly key: string
  readonly name: string
  readonly mode: 1 | 2 | null
  readonly perms: readonly Perm[]
  readonly ip_whitelist: readonly string[]
  readonly replay_protection?: boolean | null
}
/**
 * Replaces name, permissions and IP list; what was left out is cleared. The mode can't change. Replay protection
 * stays when it is left out: a client that does not know it must not drop it.
 */
export function replaceKey(ctx: Ctx, input: KeyChange): ApiKey {
  return replaceKeyOf(ctx, subAccountAt(ctx.state.users, input.main, input.user_id), input)
}
function replaceKeyOf({ state, tx, at }: Ctx, user: User, input: KeyChange): ApiKey {
  const key = state.keys.at(user.user_id, input.key)
  if (input.mode !== null && input.mode !== key.mode)
    refuse('INVALID_PARAM_VALUE', `mode: the key's mode is ${key.mode} and can't be changed; leave it out`)
  checkPerms(input.perms, !isMain(user))
  checkIpList(input.ip_whitelist)
  const changed: ApiKey = {
    ...key,
    name: input.name,
    perms: input.perms,
    ip_whitelist: input.ip_whitelist,
    replay_protection: input.replay_protection ?? key.replay_protection,
    updated_at: secondsOf(at),
  }
  tx.put(state.keys.table, changed)
  return changed
}

export function deleteKey(ctx: Ctx, input: { main: number; user_id: number; key: string }): null {
  const user = subAccountAt(ctx.state.users, input.main, input.user_id)
  ctx.tx.remove(ctx.state.keys.table, ctx.state.keys.at(user.user_id, input.key).key)
  return null
}

/** The account that a person has signed in as, or one of its sub-accounts. */
const ownAccount = ({ state }: Ctx, main: number, userId: number): User =>
  main === userId ? state.users.must(main) : subAccountAt(state.users, main, userId)

/** The same of any key of the family, for whoever is signed in as its main account. */
export function replaceOwnKey(ctx: Ctx, input: KeyChange): ApiKey {
  return replaceKeyOf(ctx, ownAccount(ctx, input.main, input.user_id), input)
}
export function deleteOwnKey(ctx: Ctx, input: { main: number; user_id: number; key: string }): null {
  const { user_id } = ownAccount(ctx, input.main, input.user_id)
  ctx.tx.remove(ctx.state.keys.table, ctx.state.keys.at(user_id, input.key).key)
  return null
}

export interface KeyStateChange {
  readonly user_id: number
  readonly key: string
  /** Null or left out: as it is. */
  readonly state: 1 | 2 | 3 | null
  readonly replay_protection?: boolean | null
  readonly actor: Actor
}
/** An operator disables a key, or enables it again; a disabled one is refused as INVALID_CREDENTIALS. */
export function setKeyState(ctx: Ctx, input: KeyStateChange): ApiKey {
  const { state, tx, at } = ctx
  const before = state.keys.at(input.user_id, input.key)
  const key: ApiKey = {
    ...before,
    state: input.state ?? before.state,
    replay_protection: input.replay_protection ?? before.replay_protection,
    updated_at: secondsOf(at),
  }
  tx.put(state.keys.table, key)
  const { user_id, replay_protection } = key
  audit(ctx, input.actor, 'key.state', { user_id, key: key.key, state: key.state, replay_protection })
  return key
}

/** The gateway tells from time to time which keys were used; a write for every request would be waste. */
export function touchKeys(
  ctx: Ctx,
  input: { seen: readonly (readonly [key: string, seconds: number])[] },
): null {
  for (const [key, seconds] of input.seen) {
    const row = ctx.state.keys.get(key)
    if (row !== undefined && row.last_access < seconds)
      ctx.tx.put(ctx.state.keys.table, { ...row, last_access: seconds })
  }
  return null
}
