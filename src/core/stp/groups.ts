import { notFound, refuse } from '../../labels.ts'
import type { Ctx } from '../state.ts'
import { nextId } from '../counters.ts'
import { GroupIndex, Table, type TableSpec } from '../../machine/table.ts'
import { isMain } from '../users/users.ts'

/** Self-trade prevention: accounts of one group do not trade with each other. An account is in one group at most. */
export interface StpGroup {
  readonly id: number
  readonly name: string
  readonly creator_id: number
  readonly create_time: number
}
export const STP_GROUP: TableSpec<StpGroup> = {
  name: 'stp_group',
  key: ['id'],
  columns: { id: 'int', name: 'text', creator_id: 'int', create_time: 'int' },
}
export interface StpMember {
  readonly user_id: number
  readonly stp_id: number
  readonly create_time: number
}
export const STP_MEMBER: TableSpec<StpMember> = {
  name: 'stp_member',
  key: ['user_id'],
  columns: { user_id: 'int', stp_id: 'int', create_time: 'int' },
}

export class StpGroups {
  readonly groups = new Table(STP_GROUP)
  readonly memberships = new Table(STP_MEMBER)
  private readonly byCreator = new GroupIndex(this.groups, (group) => group.creator_id)
  private readonly byGroup = new GroupIndex(this.memberships, (member) => member.stp_id)
  /** 0 when the account is in no group. */
  groupOf(userId: number): number {
    return this.memberships.get(userId)?.stp_id ?? 0
  }
  createdBy(userId: number): StpGroup[] {
    return [...this.byCreator.get(userId)].sort((a, b) => a.id - b.id)
  }
  members(stpId: number): StpMember[] {
    return [...this.byGroup.get(stpId)].sort((a, b) => a.user_id - b.user_id)
  }
  /** A group addressed by the path; only its creator sees its members. */
  at(creator: number, stpId: number): StpGroup {
    const group = this.groups.get(stpId)
    if (group?.creator_id !== creator)
      notFound('NOT_FOUND', `no STP group ${stpId} of this account; GET /account/stp_groups lists them`)
    return group
  }
}

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
    create_time: Math.floor(at / 1e6),
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
      create_time: Math.floor(at / 1e6),
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
  for (const member of input.members) {
    if (state.stp.groupOf(member) !== group.id)
      refuse('INVALID_PARAM_VALUE', `user_id: ${member} is not in STP group ${group.id}`)
    tx.remove(state.stp.memberships, member)
  }
  return state.stp.members(group.id)
}
