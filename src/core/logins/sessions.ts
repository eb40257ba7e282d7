import { DAY_SECONDS } from '../time.ts'
import { notFound, refuse } from '../../labels.ts'
import { nextId } from '../counters.ts'
import { isExpired } from '../operators/operators.ts'
import type { Ctx, State } from '../state.ts'
import { accountSubject, operatorSubject, type Session, type Via } from '../tables/logins.ts'
import { isMain } from '../tables/users.ts'

/** Seconds without a request after which a session is over, and seconds after which it is over anyway. */
export const IDLE_SECONDS = 12 * 3_600
export const SESSION_SECONDS = 7 * DAY_SECONDS
/** How long one is trusted with what is dear. */
export const ELEVATED_SECONDS = 300
/** Of one subject: the oldest one goes. */
const SESSIONS_MAX = 20
const AGENT_LENGTH = 200

/** What a new session is made of: drawn and told outside, because the core has neither chance nor a real clock. */
export interface NewSession {
  readonly token_hash: string
  /** Seconds of the real clock. */
  readonly real: number
  readonly ip: string
  readonly agent: string
  /** The session that this browser had before, which ends; null: none. */
  readonly ends: number | null
}
export interface Whose {
  /** 0: an operator. */
  readonly user_id: number
  /** '': an account. */
  readonly operator: string
}

/** Whom it is about, as it is known now; the proof is what ends sessions when it changes. */
export function subjectOf(state: State, { user_id, operator }: Whose): { subject: string; proof: string } {
  if (user_id !== 0) {
    const user = state.users.get(user_id)
    if (user === undefined || !isMain(user))
      refuse(
        'USER_NOT_FOUND',
        `no main account ${user_id}; a sub-account is reached through its main account`,
      )
    return { subject: accountSubject(user_id), proof: '' }
  }
  const known = state.operators.table.get(operator) ?? refuse('NOT_FOUND', `no operator "${operator}"`)
  return { subject: operatorSubject(known), proof: known.token_hash }
}

export function beginSession(
  ctx: Ctx,
  whose: Whose,
  { token_hash, real, ip, agent, ends }: NewSession,
  via: Via,
  elevated: boolean,
): Session {
  const { state, tx } = ctx
  const { user_id, operator } = whose
  const { subject, proof } = subjectOf(state, whose)
  if (ends !== null && state.logins.sessions.get(ends) !== undefined) tx.remove(state.logins.sessions, ends)
  const known = state.logins.sessionsOf(subject)
  const kept = known.filter((session) => !isOver(session, real))
  const gone = [
    ...known.filter((session) => isOver(session, real)),
    ...kept.slice(0, Math.max(0, kept.length + 1 - SESSIONS_MAX)),
  ]
  for (const { id } of gone) tx.remove(state.logins.sessions, id)
  const session: Session = {
    id: nextId(tx, state.counters, 'console_session'),
    subject,
    user_id,
    operator,
    token_hash,
    proof,
    created_at: real,
    last_seen: real,
    ip,
    agent: agent.slice(0, AGENT_LENGTH),
    elevated_until: elevated ? real + ELEVATED_SECONDS : 0,
    via,
  }
  tx.put(state.logins.sessions, session)
  return session
}

/** `seen`: when it was last used, where that is known better than the row knows it. */
export const isOver = ({ created_at, last_seen }: Session, real: number, seen = 0): boolean =>
  real >= created_at + SESSION_SECONDS || real >= Math.max(last_seen, seen) + IDLE_SECONDS

/** Whether its subject is still who it was: another token, another operator of that name, an ended token end it. */
export function stands(state: State, session: Session, at: number): boolean {
  if (session.user_id !== 0) return state.users.get(session.user_id) !== undefined
  const operator = state.operators.table.get(session.operator)
  return (
    operator !== undefined &&
    operatorSubject(operator) === session.subject &&
    operator.token_hash === session.proof &&
    !isExpired(operator, at)
  )
}

/** From time to time the platform tells which sessions were used; a write for every request would be waste. */
export function touchSessions(
  ctx: Ctx,
  input: { seen: readonly (readonly [id: number, real: number])[] },
): null {
  const { sessions } = ctx.state.logins
  for (const [id, real] of input.seen) {
    const session = sessions.get(id)
    if (session !== undefined && session.last_seen < real)
      ctx.tx.put(sessions, { ...session, last_seen: real })
  }
  return null
}

/** One of the subject's own; somebody else's looks like none. */
export function endSession(ctx: Ctx, input: { id: number; subject: string }): null {
  const { sessions } = ctx.state.logins
  if (sessions.get(input.id)?.subject !== input.subject)
    notFound('NOT_FOUND', `there is no session ${input.id} of yours; GET /sessions lists them`)
  ctx.tx.remove(sessions, input.id)
  return null
}
/** All of a subject but one. */
export function endOthers({ state, tx }: Ctx, subject: string, but: number | null): void {
  for (const { id } of state.logins.sessionsOf(subject)) if (id !== but) tx.remove(state.logins.sessions, id)
}
