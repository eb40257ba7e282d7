import { Table, type TableSpec } from '../../machine/table.ts'
import type { Approval, Role } from './operators.ts'

/**
 * What one person alone must not do in live mode: a command that waits, with its input, until a second one confirms
 * it. It is carried out by the command that confirms it, with all its own checks, or not at all.
 */
export const PROPOSAL_STATES = ['waiting', 'done', 'rejected', 'expired'] as const
export type ProposalState = (typeof PROPOSAL_STATES)[number]
export interface Proposal {
  readonly id: number
  /** What was asked for, such as `PUT /policy`. */
  readonly call: string
  readonly command: string
  readonly input: Readonly<Record<string, unknown>>
  /** Whoever asks and whoever confirms needs it. */
  readonly role: Role
  /** An operator, the configuration file, or somebody on the machine itself. */
  readonly asked_by: string
  /** Who agreed, the operator who asked included. */
  readonly confirmations: readonly Approval[]
  readonly state: ProposalState
  /** Why it was rejected. */
  readonly reason: string
  readonly at: number
  readonly expires_at: number
  /** When it is carried out by itself unless it is rejected; 0: only by confirmations. */
  readonly effective_at: number
  readonly ended_at: number
  readonly due_id: number
}
export const PROPOSAL: TableSpec<Proposal> = {
  name: 'proposal',
  key: ['id'],
  columns: {
    id: 'int',
    call: 'text',
    command: 'text',
    input: 'json',
    role: 'text',
    asked_by: 'text',
    confirmations: 'json',
    state: 'text',
    reason: 'text',
    at: 'int',
    expires_at: 'int',
    effective_at: 'int',
    ended_at: 'int',
    due_id: 'int',
  },
  live: ({ state }) => state === 'waiting',
}
export class Proposals {
  readonly table = new Table(PROPOSAL)
  private readonly waitingIds = new Set<number>()
  constructor() {
    this.table.observe((before, after) => {
      if (after?.state === 'waiting') this.waitingIds.add(after.id)
      else if (before !== undefined) this.waitingIds.delete(before.id)
    })
  }
  waiting(): Proposal[] {
    return [...this.waitingIds].sort((a, b) => a - b).map((id) => this.table.get(id)!)
  }
}
