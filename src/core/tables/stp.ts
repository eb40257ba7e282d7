import { notFound } from '../../labels.ts'
import { GroupIndex, Table, type TableSpec } from '../../machine/table.ts'

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
