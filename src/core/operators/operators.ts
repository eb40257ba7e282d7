import { DAY_SECONDS, secondsOf } from '../time.ts'
import { notFound, refuse } from '../../labels.ts'
import type { Ctx, State } from '../state.ts'
import { nextId } from '../counters.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import type { Role, Operator } from '../tables/operators.ts'

const ADMINS = 'admin'
/** How many admins there have ever been; data from before this was counted has those that are there. */
export const adminsEver = ({ counters, operators }: State): number =>
  Math.max(counters.get(ADMINS)?.value ?? 0, operators.admins)

function addOperator(ctx: Ctx, made: Omit<NewOperator, 'actor'>): Operator {
  const { name, role, token_hash, token_days = 0 } = made
  const { state, tx, at } = ctx
  if (role === 'admin') nextId(tx, state.counters, ADMINS, adminsEver(state) + 1)
  const id = nextId(tx, state.counters, 'operator')
  const created_at = secondsOf(at)
  const expires = endOf(created_at, token_days)
  const operator: Operator = { id, name, role, token_hash, created_at, token_days, expires }
  tx.put(state.operators.table, operator)
  return operator
}

const endOf = (from: number, days: number): number => (days === 0 ? 0 : from + days * DAY_SECONDS)
/** Whether the operator's token is over. */
export const isExpired = ({ expires }: Operator, at: number): boolean => expires !== 0 && at >= expires * 1e6

export interface NewOperator {
  readonly name: string
  readonly role: Role
  readonly token_hash: string
  readonly token_days?: number
  readonly actor: Actor
  /** Half of the token, sealed for the admin who confirms: see the endpoint. Nothing here reads it. */
  readonly second_half?: string
}
export function createOperator(ctx: Ctx, input: NewOperator): Operator {
  if (ctx.state.operators.table.get(input.name) !== undefined)
    refuse('INVALID_PARAM_VALUE', `name: there is an operator "${input.name}" already; choose another`)
  const operator = addOperator(ctx, input)
  const { name, role, token_days = 0 } = input
  audit(ctx, input.actor, 'operator.create', { name, role, ...(token_days > 0 && { token_days }) })
  return operator
}

export function deleteOperator(ctx: Ctx, input: { name: string; actor: Actor }): null {
  const { state, tx } = ctx
  const operator =
    state.operators.table.get(input.name) ?? notFound('NOT_FOUND', `no operator "${input.name}"`)
  if (operator.role === 'admin' && state.operators.admins === 1)
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

/** An operator's own new token; the old one stops working at once. Who handed it out knows it no longer. */
export function changeToken(ctx: Ctx, input: { actor: string; token_hash: string }): Operator {
  const { state, tx } = ctx
  const known =
    state.operators.table.get(input.actor) ?? notFound('NOT_FOUND', `no operator "${input.actor}"`)
  const expires = endOf(secondsOf(ctx.at), known.token_days)
  const operator: Operator = { ...known, token_hash: input.token_hash, expires }
  tx.put(state.operators.table, operator)
  audit(ctx, input.actor, 'operator.token', { name: input.actor })
  return operator
}

/**
 * The operator must draw another token: the present one ends so many hours from now, or when it would have ended
 * anyway. Nobody but the operator ever sees the new one.
 */
export function endToken(
  ctx: Ctx,
  input: { name: string; hours: number; token_days: number | null; actor: Actor },
): Operator {
  const { state, tx, at } = ctx
  const known = state.operators.table.get(input.name) ?? notFound('NOT_FOUND', `no operator "${input.name}"`)
  const ends = secondsOf(at) + input.hours * 3_600
  const expires = known.expires === 0 ? ends : Math.min(known.expires, ends)
  const operator: Operator = { ...known, expires, token_days: input.token_days ?? known.token_days }
  tx.put(state.operators.table, operator)
  const { name, token_days } = operator
  audit(ctx, input.actor, 'operator.end_token', { name, expires, token_days })
  return operator
}

/**
 * The first operator's token is configuration: what the environment says at start is what counts, as long as the
 * operator is there. A deleted one stays deleted, whatever the settings say. In live mode that goes for the first start
 * only: whoever can restart the platform must not become an admin by it.
 */
export function ensureOperator(ctx: Ctx, input: { name: string; token_hash: string }): null {
  const { state, tx } = ctx
  const { table } = state.operators
  const operator = table.get(input.name)
  if (operator?.token_hash === input.token_hash) return null
  if (state.world.live && adminsEver(state) > 0) return null
  if (state.world.settings.get(FIRST_GONE) !== undefined) return null
  // Others are there, but not the first one: an older version deleted it.
  if (operator === undefined && table.size > 0) return null
  if (operator === undefined) addOperator(ctx, { ...input, role: 'admin' })
  else tx.put(table, { ...operator, token_hash: input.token_hash, expires: 0 })
  return null
}

/** An admin in place of those that were lost; one of the same name is replaced and inherits nothing. */
export function recoverOperator(ctx: Ctx, input: { name: string; token_hash: string }): Operator {
  const operator = addOperator(ctx, { name: input.name, role: 'admin', token_hash: input.token_hash })
  audit(ctx, RECOVERY, 'operator.recovered', { name: input.name })
  return operator
}
/** In the audit log, in place of an operator's name: somebody on the machine itself. No operator can have it. */
export const RECOVERY = '(recovery on the machine)'
