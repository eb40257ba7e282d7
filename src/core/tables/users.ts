import { notFound, refuse } from '../../labels.ts'
import { SortedIds } from '../sorted.ts'
import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'

export interface UserSettings {
  readonly push_acceptance: 'auto' | 'manual'
  /** USDT a day; null is the platform's default for the VIP tier. */
  readonly withdraw_day_limit: string | null
  /** Units of the settle currency; null is the platform's default. */
  readonly futures_ceiling: string | null
  /** Seconds; left out while it is the first one. */
  readonly password_changed_at?: number
  /** The platform has frozen it: only the platform lifts that. Left out: state 2 is its main account's own lock. */
  readonly frozen?: true
  /** Of a frozen sub-account: its main account has locked it, too, and that stays when the freeze is lifted. */
  readonly locked?: true
  /** Seconds of the platform's clock: until then nothing leaves, because its sign-in was recovered. */
  readonly withdrawals_closed_until?: number
  /** How spot fees are paid: 1 in the platform token, 2 in points, 3 (or left out) in the received currency. */
  readonly debit_fee?: 1 | 2 | 3
  /** What its family has turned of small balances in an hour of the platform's clock, in USDT. */
  readonly small_balances?: { readonly hour: number; readonly usdt: string }
}
export const DEFAULT_SETTINGS: UserSettings = {
  push_acceptance: 'auto',
  withdraw_day_limit: null,
  futures_ceiling: null,
}

export interface User {
  readonly user_id: number
  /** The main account of a sub-account; 0 for a main account. */
  readonly parent_id: number
  readonly login_name: string
  readonly email: string
  readonly password_hash: string
  readonly remark: string
  /** 1 normal, 2 frozen. */
  readonly state: 1 | 2
  /** 1 normal, 3 cross-margin sub-account. */
  readonly type: 1 | 3
  readonly vip: number
  /** Seconds. */
  readonly create_time: number
  readonly settings: UserSettings
}
export const USER: TableSpec<User> = {
  name: 'user_account',
  key: ['user_id'],
  columns: {
    user_id: 'int',
    parent_id: 'int',
    login_name: 'text',
    email: 'text',
    password_hash: 'text',
    remark: 'text',
    state: 'int',
    type: 'int',
    vip: 'int',
    create_time: 'int',
    settings: 'json',
  },
  numbered: true,
}

export class Users {
  readonly table = new Table(USER)
  readonly byLogin = new UniqueIndex(this.table, (user) => user.login_name.toLowerCase())
  private readonly byParent = new GroupIndex(this.table, (user) =>
    user.parent_id === 0 ? undefined : user.parent_id,
  )
  private readonly ids = new SortedIds()
  constructor() {
    this.table.observe((before, after) => {
      if (before === undefined) this.ids.add(after!.user_id)
      else if (after === undefined) this.ids.remove(before.user_id)
    })
  }
  /** Ascending. */
  idsAfter(userId: number): Generator<number> {
    return this.ids.after(userId)
  }
  get(userId: number): User | undefined {
    return this.table.get(userId)
  }
  /** A user that the caller knows to exist, because a key or a row names it. */
  must(userId: number): User {
    const user = this.table.get(userId)
    if (user === undefined) throw new TypeError(`no user ${userId}`)
    return user
  }
  subAccountCount(userId: number): number {
    return this.byParent.count(userId)
  }
  subAccountsOf(userId: number): User[] {
    return [...this.byParent.get(userId)].sort((a, b) => a.user_id - b.user_id)
  }
}

export const isMain = (user: User): boolean => user.parent_id === 0

/** By an operator, itself or with its main account; a main account's own lock of a sub-account is another matter. */
export function isFrozen(users: Users, userId: number): boolean {
  const user = users.must(userId)
  if (isMain(user)) return user.state === 2
  return (user.state === 2 && user.settings.frozen === true) || users.must(user.parent_id).state === 2
}

/** Nothing leaves a family whose sign-in was recovered a short while ago: it may not be its owner who came in. */
export function refuseClosed(users: Users, userId: number, at: number): void {
  const until = users.must(mainIdOf(users.must(userId))).settings.withdrawals_closed_until ?? 0
  if (at < until * 1e6)
    refuse(
      'API_WITHDRAW_DISABLED',
      `withdrawals and pushes of this account are closed until ${until} (Unix seconds), because its sign-in was recovered`,
    )
}

/** The main account behind any account: rates, addresses and limits belong to it. */
export const mainIdOf = (user: User): number => (user.parent_id === 0 ? user.user_id : user.parent_id)

/** A sub-account named by a parameter of a body or query; somebody else's looks like none. */
export function subAccountNamed(users: Users, main: number, userId: number, parameter = 'sub_uid'): User {
  const user = users.get(userId)
  if (user?.parent_id !== main)
    refuse(
      'SUB_ACCOUNT_NOT_FOUND',
      `${parameter}: there is no sub-account ${userId} below this account; GET /sub_accounts lists them`,
    )
  return user
}
/** The same for a sub-account addressed by the path. */
export function subAccountAt(users: Users, main: number, userId: number): User {
  const user = users.get(userId)
  if (user?.parent_id !== main)
    notFound(
      'SUB_ACCOUNT_NOT_FOUND',
      `no sub-account ${userId} below this account; GET /sub_accounts lists them`,
    )
  return user
}
/** Moving a locked sub-account's money is refused; reading and unlocking it are not. */
export function refuseLocked(user: User): void {
  if (user.state === 2)
    refuse(
      'SUB_ACCOUNT_LOCKED',
      `sub-account ${user.user_id} is locked; POST /sub_accounts/${user.user_id}/unlock first`,
    )
}
