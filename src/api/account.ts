import type { State } from '../core/state.ts'
import { mainIdOf } from '../core/tables/users.ts'
import { endpoint, signed, signedMain, type AnyEndpoint } from './endpoint.ts'
import { id, ids, listOf, object, optional, text } from './fields.ts'
import { ratioTier } from './fill-ratio.ts'
import { format } from '../money/amount.ts'
import { LIMITS } from './limits.ts'
import { array, bool, int, int64, shape, str } from './shapes.ts'

const groupShape = shape({ id: int64, name: str, creator_id: int64, create_time: int64 })
const memberShape = shape({ user_id: int64, stp_id: int64, create_time: int64 })
const STP_ID = { stp_id: id() }
const DAY_SECONDS = 86_400
/** 2: the account is unified. Clients learn it here, whichever call they ask. */
const modeOf = ({ margin }: State, userId: number) => ({ mode: margin.isUnified(userId) ? 2 : 1 })

export const accountEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/account/detail',
    summary: 'Tells about the account and the key that asks',
    access: signed('account'),
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({
      user_id: int64,
      ip_whitelist: array(str),
      currency_pairs: array(str),
      tier: int,
      key: shape({ mode: int }),
      copy_trading_role: int,
    }),
    refuses: [],
    handle: async ({ desk, caller: { user, key } }) =>
      desk.core.read((state) => ({
        user_id: user.user_id,
        ip_whitelist: key.ip_whitelist,
        currency_pairs: [],
        tier: state.users.must(mainIdOf(user)).vip,
        key: modeOf(state, user.user_id),
        copy_trading_role: 0,
      })),
  }),
  endpoint({
    method: 'GET',
    path: '/account/main_keys',
    summary: 'Shows the key that asks, as the main account sees it',
    access: signedMain('account'),
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({
      user_id: int64,
      state: int,
      mode: int,
      name: array(str),
      currency_pairs: array(str),
      ip_whitelist: array(str),
      perms: array(shape({ name: str, read_only: bool })),
      key: shape({ mode: int }),
      created_at: str,
      updated_at: str,
      last_access: str,
    }),
    refuses: [],
    handle: async ({ desk, caller: { key } }) =>
      desk.core.read((state) => ({
        user_id: key.user_id,
        state: key.state,
        mode: key.mode,
        name: [key.name],
        currency_pairs: [],
        ip_whitelist: key.ip_whitelist,
        perms: key.perms,
        key: modeOf(state, key.user_id),
        created_at: String(key.created_at),
        updated_at: String(key.updated_at),
        last_access: String(desk.clock.seconds()),
      })),
  }),
  endpoint({
    method: 'GET',
    path: '/account/rate_limit',
    summary: 'Tells the fill-ratio tier of the account for each product',
    access: signed('account'),
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: array(shape({ type: str, tier: str, ratio: str, main_ratio: str, updated_at: str })),
    refuses: [],
    handle: async ({ desk, caller: { user } }) =>
      desk.core.read((state) => {
        const now = desk.clock.seconds()
        const shown = (type: 'spot' | 'futures') => {
          const { tier, ratio, mainRatio, updatedAt } = ratioTier(state, state[type].activity, user)
          return {
            type,
            tier: String(tier),
            ratio: format(ratio),
            main_ratio: format(mainRatio),
            updated_at: String(updatedAt ?? now - (now % DAY_SECONDS)),
          }
        }
        return [shown('spot'), shown('futures')]
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/account/stp_groups',
    summary: 'Lists the STP groups that this account has created',
    access: signed('account'),
    limit: LIMITS.otherPrivate,
    query: { name: optional(text({ max: 64 })) },
    status: 200,
    reply: array(groupShape),
    refuses: [],
    handle: async ({ desk, caller, query }) =>
      desk.core.read(({ stp }) =>
        stp
          .createdBy(caller.user.user_id)
          .filter(({ name }) => name.toLowerCase().includes((query.name ?? '').toLowerCase())),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/account/stp_groups',
    summary: 'Creates an STP group',
    access: signedMain('account'),
    limit: LIMITS.otherPrivate,
    body: object({ name: text({ max: 64 }) }),
    status: 200,
    reply: groupShape,
    refuses: [],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('stp_group.create', { user_id: caller.user.user_id, name: body.name }),
  }),
  endpoint({
    method: 'GET',
    path: '/account/stp_groups/{stp_id}/users',
    summary: 'Lists the members of an STP group',
    access: signedMain('account'),
    limit: LIMITS.otherPrivate,
    params: STP_ID,
    status: 200,
    reply: array(memberShape),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      desk.core.read(({ stp }) => stp.members(stp.at(caller.user.user_id, path.stp_id).id)),
  }),
  endpoint({
    method: 'POST',
    path: '/account/stp_groups/{stp_id}/users',
    summary: 'Adds accounts to an STP group; the body is a bare array of user ids',
    access: signedMain('account'),
    limit: LIMITS.otherPrivate,
    params: STP_ID,
    body: listOf(id(), 100),
    status: 200,
    reply: array(memberShape),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, caller, path, body }) =>
      desk.core.submit('stp_group.add', { user_id: caller.user.user_id, stp_id: path.stp_id, members: body }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/account/stp_groups/{stp_id}/users',
    summary: 'Removes accounts from an STP group',
    access: signedMain('account'),
    limit: LIMITS.otherPrivate,
    params: STP_ID,
    query: { user_id: ids(100) },
    status: 200,
    reply: array(memberShape),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, caller, path, query }) =>
      desk.core.submit('stp_group.remove', {
        user_id: caller.user.user_id,
        stp_id: path.stp_id,
        members: query.user_id,
      }),
  }),
]
