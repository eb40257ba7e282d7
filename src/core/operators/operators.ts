import { notFound, refuse } from '../../labels.ts'
import type { Ctx } from '../state.ts'
import { Table, UniqueIndex, type TableSpec } from '../table.ts'
import { audit, type Actor } from './audit.ts'

/** viewer reads; operator also acts on customers and flows; admin also manages operators and the platform. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]
export const mayActAs = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

export interface Operator {
  readonly name: string
  readonly role: Role
  /** SHA-256 of the bearer token. */
  readonly token_hash: string
  readonly created_at: number
}
export const OPERATOR: TableSpec<Operator> = {
  name: 'operator',
  key: ['name'],
  columns: { name: 'text', role: 'text', token_hash: 'text', created_at: 'int' },
}
export class Operators {
  readonly table = new Table(OPERATOR)
  readonly byToken = new UniqueIndex(this.table, (operator) => operator.token_hash)
  list(): Operator[] {
    return [...this.table.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
}

export interface NewOperator {
  readonly name: string
  readonly role: Role
  readonly token_hash: string
  readonly actor: Actor
}
export function createOperator(ctx: Ctx, input: NewOperator): Operator {
  const { state, tx, at } = ctx
  if (state.operators.table.get(input.name) !== undefined)
    refuse('INVALID_PARAM_VALUE', `name: there is an operator "${input.name}" already; choose another`)
  const operator: Operator = {
    name: input.name,
    role: input.role,
    token_hash: input.token_hash,
    created_at: Math.floor(at / 1e6),
  }
  tx.put(state.operators.table, operator)
  audit(ctx, input.actor, 'operator.create', { name: input.name, role: input.role })
  return operator
}

export function deleteOperator(ctx: Ctx, input: { name: string; actor: Actor }): null {
  const { state, tx } = ctx
  const operator =
    state.operators.table.get(input.name) ?? notFound('NOT_FOUND', `no operator "${input.name}"`)
  const admins = state.operators.list().filter(({ role }) => role === 'admin')
  if (operator.role === 'admin' && admins.length === 1)
    refuse('INVALID_PARAM_VALUE', `"${input.name}" is the last admin; create another one first`)
  tx.remove(state.operators.table, input.name)
  // Whoever is given the name later is somebody else: the token of the settings is not theirs.
  if (input.name === FIRST_OPERATOR) tx.put(state.world.settings, { name: FIRST_GONE, value: true })
  audit(ctx, input.actor, 'operator.delete', { name: input.name })
  return null
}

/** Made at the first start, with the token of the settings. */
export const FIRST_OPERATOR = 'admin'
const FIRST_GONE = 'first_operator_deleted'

/**
 * The first operator's token is configuration: what the environment says at start is what counts, as long as the
 * operator is there. A deleted one stays deleted, whatever the settings say.
 */
export function ensureOperator(ctx: Ctx, input: { name: string; token_hash: string }): null {
  const { state, tx, at } = ctx
  const { table } = state.operators
  const operator = table.get(input.name)
  if (operator?.token_hash === input.token_hash) return null
  if (state.world.settings.get(FIRST_GONE) !== undefined) return null
  // Others are there, but not the first one: an older version deleted it.
  if (operator === undefined && table.size > 0) return null
  const created_at = operator?.created_at ?? Math.floor(at / 1e6)
  const role = operator?.role ?? 'admin'
  tx.put(table, { name: input.name, role, token_hash: input.token_hash, created_at })
  return null
}
