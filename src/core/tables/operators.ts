import { secondsOf } from '../time.ts'
import { refuse } from '../../labels.ts'
import { Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'

/** viewer reads; operator also acts on customers and flows; admin also manages operators and the platform. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]
export const mayActAs = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

export interface Operator {
  /** Tells it from an earlier one of the same name. */
  readonly id: number
  readonly name: string
  readonly role: Role
  /** SHA-256 of the bearer token. */
  readonly token_hash: string
  readonly created_at: number
  /** How many days a token that is drawn lasts; 0: for ever. */
  readonly token_days: number
  /** Unix seconds at which the present token ends; 0: never. */
  readonly expires: number
}
export const OPERATOR: TableSpec<Operator> = {
  name: 'operator',
  key: ['name'],
  columns: {
    id: 'int',
    name: 'text',
    role: 'text',
    token_hash: 'text',
    created_at: 'int',
    token_days: 'int',
    expires: 'int',
  },
}
/** One operator's yes. */
export interface Approval {
  readonly operator: string
  /** Which of that name; records from before operators had ids have none. */
  readonly operator_id?: number
  /** Seconds. */
  readonly at: number
}
export class Operators {
  readonly table = new Table(OPERATOR)
  readonly byToken = new UniqueIndex(this.table, (operator) => operator.token_hash)
  list(): Operator[] {
    return [...this.table.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  get admins(): number {
    let count = 0
    for (const { role } of this.table.values()) if (role === 'admin') count++
    return count
  }
  /** Only who is still here counts, as the same person and with the role that it takes. */
  counts(approval: Approval, needed: Role): boolean {
    const operator = this.table.get(approval.operator)
    return (
      operator !== undefined && operator.id === (approval.operator_id ?? 0) && mayActAs(operator.role, needed)
    )
  }
  /** The yes of an operator who is known to be here. */
  approval(name: string, at: number): Approval {
    const operator = this.table.get(name) ?? refuse('FORBIDDEN', `there is no operator "${name}" any more`)
    return { operator: name, operator_id: operator.id, at: secondsOf(at) }
  }
  /** Those that count, with one more; somebody who said yes before is not counted twice. */
  withApproval(given: readonly Approval[], actor: string, at: number, needed: Role): Approval[] {
    const present = given.filter((one) => this.counts(one, needed))
    return present.some(({ operator }) => operator === actor)
      ? present
      : [...present, this.approval(actor, at)]
  }
}
