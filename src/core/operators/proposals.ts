import { notFound, refuse } from '../../labels.ts'
import { nextId } from '../counters.ts'
import { schedule, unschedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import { Table, type TableSpec } from '../../machine/table.ts'
import { audit } from './audit.ts'
import { RECOVERY, adminsEver, mayActAs, type Approval, type NewOperator, type Role } from './operators.ts'
import { takesTwo } from './takes-two.ts'

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

/** People that it takes. */
export const PEOPLE = 2
const EXPIRY = 72 * 3_600e6
const RECOVERY_DELAY = 24 * 3_600e6
/** Of one operator. */
const WAITING_MAX = 100
const FILE = 'configuration file'

/** Carries out a command within the present one. */
export type Run = (ctx: Ctx, command: string, input: Readonly<Record<string, unknown>>) => unknown

type Asked = Pick<Proposal, 'call' | 'command' | 'input' | 'role' | 'asked_by' | 'confirmations'>
function add(ctx: Ctx, asked: Asked, effectiveAt = 0): Proposal {
  const { state, tx, at } = ctx
  const id = nextId(tx, state.counters, 'proposal')
  const expires_at = effectiveAt === 0 ? at + EXPIRY : effectiveAt
  const due_id = schedule(ctx, expires_at, effectiveAt === 0 ? 'proposal.expire' : 'proposal.effect', { id })
  const proposal: Proposal = {
    id,
    ...asked,
    state: 'waiting',
    reason: '',
    at,
    expires_at,
    effective_at: effectiveAt,
    ended_at: 0,
    due_id,
  }
  tx.put(state.proposals.table, proposal)
  audit(ctx, asked.asked_by, 'proposal.ask', { id, call: asked.call, command: asked.command })
  return proposal
}
function end(ctx: Ctx, proposal: Proposal, to: Partial<Proposal> & Pick<Proposal, 'state'>): Proposal {
  const { state, tx, at } = ctx
  unschedule(ctx, proposal.due_id)
  const ended: Proposal = { ...proposal, ...to, ended_at: at, due_id: 0 }
  tx.put(state.proposals.table, ended)
  return ended
}
function waitingAt(ctx: Ctx, id: number): Proposal {
  const proposal =
    ctx.state.proposals.table.get(id) ??
    notFound('NOT_FOUND', `no proposal ${id}, or it was over long ago; GET /proposals lists them`)
  if (proposal.state !== 'waiting')
    refuse('INVALID_PARAM_VALUE', `proposal ${id} is ${proposal.state}: there is nothing left to decide`)
  return proposal
}
function requireRole(ctx: Ctx, actor: string, role: Role, what: string): void {
  const operator = ctx.state.operators.table.get(actor)
  if (operator === undefined || !mayActAs(operator.role, role))
    refuse('FORBIDDEN', `${what} takes two with the role ${role}; operator "${actor}" has not got it`)
}

export interface NewProposal {
  readonly call: string
  readonly command: string
  readonly input: Readonly<Record<string, unknown>>
  readonly role: Role
  readonly actor: string
}
/**
 * Records what an operator wants done. It is tried first and taken back, so that what can't work is refused at once.
 * The only admin that there has ever been makes the second one alone.
 */
export function askProposal(
  ctx: Ctx,
  asked: NewProposal,
  run: Run,
): { readonly reply: unknown } | { readonly proposal: Proposal } {
  const { state, tx, at } = ctx
  const { call, command, input, role, actor } = asked
  if (!takesTwo(state, command, input)) return { reply: run(ctx, command, input) }
  requireRole(ctx, actor, role, call)
  if (state.proposals.waiting().filter(({ asked_by }) => asked_by === actor).length >= WAITING_MAX)
    refuse(
      'INVALID_PARAM_VALUE',
      `operator "${actor}" has ${WAITING_MAX} proposals waiting; take some back first`,
    )
  if (
    command === 'operator.create' &&
    (input as unknown as NewOperator).role === 'admin' &&
    adminsEver(state) === 1
  )
    return { reply: run(ctx, command, input) }
  const mark = tx.mark()
  run(ctx, command, input)
  tx.rollback(mark)
  const confirmations = [state.operators.approval(actor, at)]
  return { proposal: add(ctx, { call, command, input, role, asked_by: actor, confirmations }) }
}

/** A second person's yes. Those who have left since, or lost the role, do not count. */
export function confirmProposal(
  ctx: Ctx,
  input: { readonly id: number; readonly actor: string },
  run: Run,
): Proposal {
  const { state, tx, at } = ctx
  const proposal = waitingAt(ctx, input.id)
  requireRole(ctx, input.actor, proposal.role, proposal.call)
  if (proposal.effective_at !== 0)
    refuse(
      'INVALID_PARAM_VALUE',
      `proposal ${input.id} takes effect by itself when its time has come; reject it if it should not`,
    )
  const own = state.operators.approval(input.actor, at)
  if (proposal.confirmations.some(({ operator }) => operator === own.operator))
    refuse(
      'FORBIDDEN',
      `operator "${input.actor}" has asked for it or confirmed it already; somebody else must confirm it`,
    )
  audit(ctx, input.actor, 'proposal.confirm', { id: input.id, call: proposal.call })
  const confirmations = state.operators.withApproval(proposal.confirmations, input.actor, at, proposal.role)
  if (confirmations.length < PEOPLE) {
    const known: Proposal = { ...proposal, confirmations }
    tx.put(state.proposals.table, known)
    return known
  }
  run(ctx, proposal.command, proposal.input)
  return end(ctx, proposal, { state: 'done', confirmations })
}
/** Whoever could confirm it, or has asked for it, can say no. */
export function rejectProposal(
  ctx: Ctx,
  input: { readonly id: number; readonly actor: string; readonly reason: string },
): Proposal {
  const proposal = waitingAt(ctx, input.id)
  if (proposal.asked_by !== input.actor) requireRole(ctx, input.actor, proposal.role, proposal.call)
  audit(ctx, input.actor, 'proposal.reject', { id: input.id, call: proposal.call, reason: input.reason })
  return end(ctx, proposal, { state: 'rejected', reason: input.reason })
}
/** Due. */
export function expireProposal(ctx: Ctx, input: { id: number }): null {
  const proposal = ctx.state.proposals.table.get(input.id)
  if (proposal?.state === 'waiting') end(ctx, proposal, { state: 'expired' })
  return null
}
/** Due: nobody has said no. */
export function effectProposal(ctx: Ctx, input: { id: number }, run: Run): null {
  const proposal = ctx.state.proposals.table.get(input.id)
  if (proposal?.state !== 'waiting') return null
  run(ctx, proposal.command, proposal.input)
  end(ctx, proposal, { state: 'done' })
  return null
}

/** Somebody on the machine makes an admin, because those that there were are lost. It takes a day, and one admin's no. */
export function askRecovery(ctx: Ctx, input: { name: string; token_hash: string }): Proposal {
  return add(
    ctx,
    {
      call: 'kontor operator recover',
      command: 'operator.recovered',
      input,
      role: 'admin',
      asked_by: RECOVERY,
      confirmations: [],
    },
    ctx.at + RECOVERY_DELAY,
  )
}

const APPROVED_FILE = 'approved_world'
/** The file that two admins have agreed to; the next start takes it in. */
export const approvedFile = ({ state }: Pick<Ctx, 'state'>): string | undefined =>
  (state.world.settings.get(APPROVED_FILE)?.value as { digest: string } | undefined)?.digest

/** A changed configuration file waits for two admins; one that waits already, or an older one, is not asked again. */
export function proposeFile(
  ctx: Ctx,
  input: { readonly digest: string; readonly changes: readonly string[] },
): Proposal {
  const { state } = ctx
  for (const waiting of state.proposals.waiting()) {
    if (waiting.command !== 'world.approve') continue
    if (waiting.input['digest'] === input.digest) return waiting
    end(ctx, waiting, { state: 'rejected', reason: 'the file has changed again' })
  }
  return add(ctx, {
    call: FILE,
    command: 'world.approve',
    input: { ...input },
    role: 'admin',
    asked_by: `(${FILE})`,
    confirmations: [],
  })
}
export function approveFile(ctx: Ctx, input: { readonly digest: string }): null {
  ctx.tx.put(ctx.state.world.settings, { name: APPROVED_FILE, value: { digest: input.digest } })
  return null
}
