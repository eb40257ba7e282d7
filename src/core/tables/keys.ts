import { notFound, refuse } from '../../labels.ts'
import { GroupIndex, Table, type TableSpec } from '../../machine/table.ts'

export const PERMISSIONS = [
  'spot',
  'margin',
  'futures',
  'delivery',
  'options',
  'wallet',
  'withdrawal',
  'unified',
  'account',
  'sub_accounts',
  'earn',
  'loan',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/**
 * Names that clients of the wire know and that no endpoint of this platform asks for. They are kept as given,
 * so that such a client's key reads back as it wrote it.
 */
export const IDLE_PERMISSIONS = ['custody', 'copy', 'pilot', 'otc', 'alpha', 'crossx'] as const

export interface Perm {
  readonly name: string
  readonly read_only: boolean
}
export interface ApiKey {
  readonly key: string
  readonly user_id: number
  readonly name: string
  /** 1 classic, 2 unified: the kind of account the key was made for. */
  readonly mode: 1 | 2
  readonly perms: readonly Perm[]
  readonly ip_whitelist: readonly string[]
  /** 1 normal, 2 frozen, 3 locked. */
  readonly state: 1 | 2 | 3
  /** The secret, encrypted by the gateway; the key to it is not in the database. */
  readonly secret_box: string
  /** Seconds. */
  readonly created_at: number
  readonly updated_at: number
  readonly last_access: number
  /** The very same signed request passes once, where it moves money out or carries an id of its own. */
  readonly replay_protection: boolean
}
export const API_KEY: TableSpec<ApiKey> = {
  name: 'api_key',
  key: ['key'],
  columns: {
    key: 'text',
    user_id: 'int',
    name: 'text',
    mode: 'int',
    perms: 'json',
    ip_whitelist: 'json',
    state: 'int',
    secret_box: 'text',
    created_at: 'int',
    updated_at: 'int',
    last_access: 'int',
    replay_protection: 'bool',
  },
}

export class ApiKeys {
  readonly table = new Table(API_KEY)
  private readonly byUser = new GroupIndex(this.table, (key) => key.user_id)
  get(key: string): ApiKey | undefined {
    return this.table.get(key)
  }
  of(userId: number): ApiKey[] {
    return [...this.byUser.get(userId)].sort(
      (a, b) => a.created_at - b.created_at || (a.key < b.key ? -1 : 1),
    )
  }
  count(userId: number): number {
    return this.byUser.count(userId)
  }
  /** A key addressed by the path. */
  at(userId: number, key: string): ApiKey {
    const found = this.table.get(key)
    if (found?.user_id !== userId)
      notFound('NOT_FOUND', `user ${userId} has no key ${key}; GET /sub_accounts/${userId}/keys lists them`)
    return found
  }
}

/** What a key may do with one group of endpoints. Spot and margin are one group: either name opens both. */
export function grant(perms: readonly Perm[], permission: Permission): 'none' | 'read' | 'write' {
  let best: 'none' | 'read' | 'write' = 'none'
  for (const { name, read_only } of perms) {
    const same =
      name === permission ||
      ((permission === 'spot' || permission === 'margin') && (name === 'spot' || name === 'margin'))
    if (!same) continue
    if (!read_only) return 'write'
    best = 'read'
  }
  return best
}

export function checkPerms(perms: readonly Perm[], subAccount: boolean): void {
  const seen = new Set<string>()
  for (const { name } of perms) {
    const known = [...PERMISSIONS, ...IDLE_PERMISSIONS] as readonly string[]
    if (!known.includes(name))
      refuse('INVALID_PARAM_VALUE', `perms: unknown permission "${name}"; one of ${PERMISSIONS.join(', ')}`)
    if (seen.has(name)) refuse('INVALID_PARAM_VALUE', `perms: "${name}" is named twice`)
    if (subAccount && name === 'withdrawal')
      refuse('INVALID_PARAM_VALUE', 'perms: "withdrawal" can\'t be given to a sub-account\'s key; remove it')
    seen.add(name)
  }
}

/** As the network writes them: a number that began with 0 would never be any caller's address. */
const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/
export function checkIpList(list: readonly string[]): void {
  if (list.length > 20)
    refuse('INVALID_PARAM_VALUE', `ip_whitelist: ${list.length} addresses; at most 20 are allowed`)
  for (const ip of list)
    if (!IPV4.test(ip))
      refuse('INVALID_PARAM_VALUE', `ip_whitelist: "${ip}" is not an IPv4 address (ranges are not supported)`)
  if (new Set(list).size !== list.length)
    refuse('INVALID_PARAM_VALUE', 'ip_whitelist: an address is named twice')
}
