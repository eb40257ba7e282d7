import { refuse } from '../../labels.ts'
import { audit } from '../audit.ts'
import type { Ctx, State } from '../state.ts'
import type { Login, Session } from '../tables/logins.ts'
import { changeUser, createUser } from '../users/commands.ts'
import { takeLink } from './links.ts'
import { ELEVATED_SECONDS, beginSession, endOthers, type NewSession, type Whose } from './sessions.ts'

/**
 * What was found out about a code outside, where the secret can be opened: the step that it belongs to, or else the
 * hash that it would have as a recovery code. The box tells which secret it was held against.
 */
export interface FactorProof {
  readonly box: string
  readonly step: number | null
  readonly recovery: string
}

const sessionAt = ({ logins }: State, id: number): Session =>
  logins.sessions.get(id) ?? refuse('INVALID_CREDENTIALS', 'the session is over; sign in again')
const loginOf = ({ logins }: State, { subject }: Session): Login => logins.of(subject)

/** The hash of a subject's password; '': it has none. */
export const passwordOf = ({ users, logins }: State, { user_id }: Whose, subject: string): string =>
  user_id === 0 ? logins.of(subject).password_hash : (users.get(user_id)?.password_hash ?? '')

/** A code of the second factor, where there is one: good once. Tells whether there is one. */
function passFactor({ state, tx }: Ctx, subject: string, proof: FactorProof | null): boolean {
  const login = state.logins.of(subject)
  if (!login.factor_on) return false
  if (proof === null)
    refuse(
      'SECOND_FACTOR_REQUIRED',
      'code: a code of the second factor, or a recovery code, is needed as well',
    )
  const { box, step, recovery } = proof
  if (box !== login.factor_box) refuse('INVALID_CREDENTIALS', 'the second factor has just changed; try again')
  if (step === null) {
    if (!login.recovery.includes(recovery)) refuse('INVALID_CREDENTIALS', 'code: it is not right')
    const left = login.recovery.filter((one) => one !== recovery)
    tx.put(state.logins.logins, { ...login, recovery: left })
  } else {
    if (step <= login.last_step)
      refuse('INVALID_CREDENTIALS', 'code: it was used already; wait for the next one')
    tx.put(state.logins.logins, { ...login, last_step: step })
  }
  return true
}

export interface SigningIn extends NewSession, Whose {
  readonly subject: string
  /** The one that the password was held against. */
  readonly password_hash: string
  readonly factor: FactorProof | null
}
export function signIn(ctx: Ctx, input: SigningIn): Session {
  const { password_hash, subject } = input
  // It may have changed while the password was looked at.
  if (password_hash === '' || passwordOf(ctx.state, input, subject) !== password_hash)
    refuse('INVALID_CREDENTIALS', 'name or password is wrong')
  passFactor(ctx, subject, input.factor)
  return beginSession(ctx, input, input, 'password', true)
}

export interface SigningUp extends NewSession {
  readonly login_name: string
  readonly password_hash: string
  /** The hash of the invitation; null: none is needed. */
  readonly invitation: string | null
}
export function signUp(ctx: Ctx, input: SigningUp): Session {
  if (input.invitation !== null && takeLink(ctx, input.invitation, input.real).purpose !== 'invitation')
    refuse('INVALID_CREDENTIALS', 'invitation: this is a link of another kind')
  const { user_id } = createUser(ctx, {
    login_name: input.login_name,
    email: null,
    password_hash: input.password_hash,
    remark: '',
    vip: 0,
    parent_id: 0,
    type: 1,
    actor: null,
  })
  return beginSession(ctx, { user_id, operator: '' }, input, 'sign_up', true)
}

export interface NewPassword {
  readonly session_id: number
  readonly password_hash: string
  /** The one that the present password was held against; null: none was given. */
  readonly before: string | null
}
/** Ends all other sessions. Whoever came by a link has no password to tell. */
export function setPassword(ctx: Ctx, input: NewPassword): null {
  const { state, tx } = ctx
  const session = sessionAt(state, input.session_id)
  const { subject, user_id, via, operator } = session
  const present = passwordOf(state, session, subject)
  const needed = present !== '' && via !== 'link' && via !== 'recovery'
  if (needed && input.before === null)
    refuse('INVALID_CREDENTIALS', 'current: the present password is needed')
  if (input.before !== null && input.before !== present)
    refuse('INVALID_CREDENTIALS', 'current: it is not the present password')
  const { password_hash } = input
  if (user_id === 0) {
    tx.put(state.logins.logins, { ...loginOf(state, session), password_hash })
    audit(ctx, operator, 'operator.password', { name: operator })
  } else changeUser(ctx, { user_id, password_hash, actor: null })
  tx.put(state.logins.sessions, { ...session, via: 'password' })
  endOthers(ctx, subject, session.id)
  return null
}

/** A secret that counts when a code of it has been told. */
export function offerFactor(ctx: Ctx, input: { session_id: number; box: string }): null {
  const { state, tx } = ctx
  const login = loginOf(state, sessionAt(state, input.session_id))
  if (login.factor_on) refuse('INVALID_PARAM_VALUE', 'there is a second factor already; DELETE /factor first')
  tx.put(state.logins.logins, { ...login, factor_box: input.box })
  return null
}
export interface ConfirmedFactor {
  readonly session_id: number
  readonly box: string
  readonly step: number
  /** Hashes of the recovery codes. */
  readonly recovery: readonly string[]
}
/** From here on it is asked for; sessions that began without it end. */
export function confirmFactor(ctx: Ctx, input: ConfirmedFactor): null {
  const { state, tx } = ctx
  const session = sessionAt(state, input.session_id)
  const login = loginOf(state, session)
  if (login.factor_on || login.factor_box !== input.box)
    refuse('INVALID_PARAM_VALUE', 'there is no such second factor to confirm; POST /factor first')
  const { step: last_step, recovery } = input
  tx.put(state.logins.logins, { ...login, factor_on: true, last_step, recovery })
  audit(ctx, session.operator === '' ? null : session.operator, 'operator.factor', { on: true })
  endOthers(ctx, session.subject, session.id)
  return null
}
export function removeFactor(ctx: Ctx, input: { session_id: number; factor: FactorProof }): null {
  const { state, tx } = ctx
  const session = sessionAt(state, input.session_id)
  if (!passFactor(ctx, session.subject, input.factor))
    refuse('INVALID_PARAM_VALUE', 'there is no second factor to take away')
  tx.put(state.logins.logins, {
    ...loginOf(state, session),
    factor_box: '',
    factor_on: false,
    recovery: [],
  })
  audit(ctx, session.operator === '' ? null : session.operator, 'operator.factor', { on: false })
  return null
}

export interface Elevating {
  readonly session_id: number
  readonly factor: FactorProof | null
  /** The one that the password was held against, where there is no second factor. */
  readonly password_hash: string | null
  readonly real: number
}
export function elevate(ctx: Ctx, input: Elevating): Session {
  const { state, tx } = ctx
  const session = sessionAt(state, input.session_id)
  const { subject } = session
  if (!passFactor(ctx, subject, input.factor)) {
    const present = passwordOf(state, session, subject)
    if (present === '' || input.password_hash !== present)
      refuse(
        'INVALID_CREDENTIALS',
        'password: it is not right, or there is none yet; POST /password sets one',
      )
  }
  const elevated: Session = { ...session, elevated_until: input.real + ELEVATED_SECONDS }
  tx.put(state.logins.sessions, elevated)
  return elevated
}
