import { secondsOf } from '../time.ts'
import { refuse } from '../../labels.ts'
import type { Ctx } from '../state.ts'
import { nextId } from '../counters.ts'
import { isMain } from '../tables/users.ts'
import type { StpGroup, StpMember } from '../tables/stp.ts'

const GROUPS_MAX = 20
const MEMBERS_MAX = 500

export function createStpGroup(ctx: Ctx, input: { user_id: number; name: string }): StpGroup {
  const { state, tx, at } = ctx
  if (!isMain(state.users.must(input.user_id)))
    refuse('FORBIDDEN', 'only a main account creates STP groups; use a key of the main account')
  const own = state.stp.createdBy(input.user_id)
  if (own.some(({ name }) => name === input.name))
    refuse('INVALID_PARAM_VALUE', `name: there is a group "${input.name}" already; choose another`)
  if (own.length >= GROUPS_MAX)
    refuse('INVALID_PARAM_VALUE', `an account has at most ${GROUPS_MAX} STP groups`)
  const group: StpGroup = {
    id: nextId(tx, state.counters, 'stp_group'),
    name: input.name,
    creator_id: input.user_id,
    create_time: secondsOf(at),
  }
  tx.put(state.stp.groups, group)
  return group
}

/** Adds accounts of the same owner; answers all members. */
export function addStpMembers(
  ctx: Ctx,
  input: { user_id: number; stp_id: number; members: readonly number[] },
): StpMember[] {
  const { state, tx, at } = ctx
  const group = state.stp.at(input.user_id, input.stp_id)
  for (const member of input.members) {
    const user = state.users.get(member)
    if (user === undefined || (user.user_id !== input.user_id && user.parent_id !== input.user_id))
      refuse('INVALID_PARAM_VALUE', `user ${member} is not this account or one of its sub-accounts`)
    const current = state.stp.groupOf(member)
    if (current === group.id) continue
    if (current !== 0)
      refuse('INVALID_PARAM_VALUE', `user ${member} is in STP group ${current}; remove it there first`)
    tx.put(state.stp.memberships, {
      user_id: member,
      stp_id: group.id,
      create_time: secondsOf(at),
    })
  }
  if (state.stp.members(group.id).length > MEMBERS_MAX)
    refuse('INVALID_PARAM_VALUE', `an STP group has at most ${MEMBERS_MAX} members`)
  return state.stp.members(group.id)
}

export function removeStpMembers(
  ctx: Ctx,
  input: { user_id: number; stp_id: number; members: readonly number[] },
): StpMember[] {
  const { state, tx } = ctx
  const group = state.stp.at(input.user_id, input.stp_id)
  // Whoever is named twice leaves once.
  for (const member of new Set(input.members)) {
    if (state.stp.groupOf(member) !== group.id)
      refuse('INVALID_PARAM_VALUE', `user_id: ${member} is not in STP group ${group.id}`)
    tx.remove(state.stp.memberships, member)
  }
  return state.stp.members(group.id)
}
