import { endpoint, type AnyEndpoint, type SessionAccess, type AnyCall } from '../api/endpoint.ts'
import { id, object, oneOf, optional } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { array, bool, int64, shape, str } from '../api/shapes.ts'
import { passwordOf } from '../core/logins/credentials.ts'
import { SESSION_SECONDS, isOver } from '../core/logins/sessions.ts'
import { SUBJECT_KINDS, type Session } from '../core/tables/logins.ts'
import { refuse } from '../labels.ts'
import { realNow } from './access.ts'
import { giveCookie, kindOf, type ConsoleParts } from './parts.ts'
import { CODE, GIVEN_PASSWORD, checkNewPassword, proofOf, wrong } from './passwords.ts'
import { newFactorSecret, newRecoveryCodes, recoveryHash, stepOf } from './totp.ts'

/** Whose, where a browser has both sessions. */
const KIND = { kind: optional(oneOf(...SUBJECT_KINDS)) }
const sessionRow = shape({
  id: int64,
  current: bool,
  created_at: int64,
  last_seen: int64,
  expires_at: int64,
  ip: str,
  agent: str,
  via: str,
})

const accessOf = ({ surface }: ConsoleParts): SessionAccess => ({
  kind: 'session',
  subject: surface === 'all' ? 'either' : surface === 'public' ? 'account' : 'operator',
})
const nameOf = (
  { user_id, operator }: Session,
  users: { must(id: number): { login_name: string } },
): string => (user_id === 0 ? operator : users.must(user_id).login_name)
/** What the one who is signed in has to prove himself with. */
const ownLogin = ({ desk, session }: AnyCall) =>
  desk.core.read((state) => ({
    login: state.logins.of(session.subject),
    stored: passwordOf(state, session, session.subject),
    name: nameOf(session, state.users),
  }))

/** One's own sessions, password and second factor: of an account, or of an operator. */
export const ownLoginEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  ...sessionEndpoints(parts),
  passwordEndpoint(parts),
  ...factorEndpoints(parts),
  elevateEndpoint(parts),
]

const sessionEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/sessions',
    summary: 'Lists where one is signed in',
    access: accessOf(parts),
    limit: LIMITS.consoleAccount,
    query: KIND,
    status: 200,
    reply: array(sessionRow),
    refuses: [],
    handle: ({ desk, session }) =>
      desk.core.read(({ logins }) =>
        logins
          .sessionsOf(session.subject)
          .filter((one) => !isOver(one, realNow(), parts.access.seen.get(one.id)))
          .map(({ id, created_at, last_seen, ip, agent, via }) => ({
            id,
            current: id === session.id,
            created_at,
            last_seen: Math.max(last_seen, parts.access.seen.get(id) ?? 0),
            expires_at: created_at + SESSION_SECONDS,
            ip,
            agent,
            via,
          })),
      ),
  }),
  endpoint({
    method: 'DELETE',
    path: '/sessions/{id}',
    summary: 'Ends a session of one’s own; what it has open closes',
    access: accessOf(parts),
    limit: LIMITS.consoleAccount,
    params: { id: id() },
    query: KIND,
    status: 204,
    reply: null,
    refuses: ['NOT_FOUND'],
    handle: async (call) => {
      const { subject, id } = call.session
      await call.desk.core.submit('session.end', { id: call.path.id, subject })
      if (call.path.id === id) giveCookie(call, kindOf(call.session), null)
    },
  }),
]

const passwordEndpoint = (parts: ConsoleParts): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: '/password',
    summary: 'Sets a new password and ends all other sessions; current is left out by who came by a link',
    access: accessOf(parts),
    limit: LIMITS.signIn,
    query: KIND,
    body: object({ current: optional(GIVEN_PASSWORD), next: GIVEN_PASSWORD }),
    status: 204,
    reply: null,
    refuses: ['INVALID_CREDENTIALS', 'ELEVATION_REQUIRED', 'TOO_MANY_REQUESTS'],
    handle: async (call) => {
      const { session, desk } = call
      const { current, next } = call.body
      const { stored, name } = await ownLogin(call)
      const first = session.via === 'link' || session.via === 'recovery'
      if (!first) parts.access.checkElevated(session)
      checkNewPassword(next, 'next', name)
      const right = parts.attempts.begin(call, session.subject)
      if (current !== null && !(await parts.hashing.check(current, stored)))
        throw wrong('current: it is not the present password')
      const before = current === null ? null : stored
      const password_hash = await parts.hashing.hash(next)
      await desk.core.submit('login.password', { session_id: session.id, password_hash, before })
      right()
    },
  })

const factorEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: '/factor',
    summary:
      'Draws the secret of a second factor, for an authenticator app; it counts when a code of it is confirmed',
    access: accessOf(parts),
    dear: true,
    limit: LIMITS.signIn,
    query: KIND,
    status: 200,
    reply: shape({ secret: str, otpauth_url: str }),
    refuses: ['ELEVATION_REQUIRED'],
    handle: async (call) => {
      const { desk, session } = call
      const { name } = await ownLogin(call)
      const secret = newFactorSecret()
      await desk.core.submit('login.factor.offer', { session_id: session.id, box: desk.secrets.seal(secret) })
      const label = encodeURIComponent(`Kontor:${name}`)
      return { secret, otpauth_url: `otpauth://totp/${label}?secret=${secret}&issuer=Kontor` }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/factor/confirm',
    summary: 'Switches the second factor on by a code of it; answers ten recovery codes, once',
    access: accessOf(parts),
    limit: LIMITS.signIn,
    query: KIND,
    body: object({ code: CODE }),
    status: 200,
    reply: shape({ recovery_codes: array(str) }),
    refuses: ['INVALID_CREDENTIALS', 'TOO_MANY_REQUESTS'],
    handle: async (call) => {
      const { desk, session } = call
      const { login } = await ownLogin(call)
      const { factor_box: box } = login
      const secret = box === '' || login.factor_on ? undefined : desk.secrets.open(box)
      if (secret === undefined)
        refuse('INVALID_PARAM_VALUE', 'there is no second factor to confirm; POST /factor first')
      const right = parts.attempts.begin(call, session.subject)
      const step = stepOf(secret, call.body.code.trim(), realNow())
      if (step === null) throw wrong('code: it is not right; look whether the telephone shows the right time')
      const recovery_codes = newRecoveryCodes()
      const recovery = recoveryCodesHashed(recovery_codes)
      await desk.core.submit('login.factor.confirm', { session_id: session.id, box, step, recovery })
      right()
      return { recovery_codes }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/factor',
    summary: 'Takes the second factor away; it takes a code of it, or a recovery code',
    access: accessOf(parts),
    limit: LIMITS.signIn,
    query: KIND,
    body: object({ code: CODE }),
    status: 204,
    reply: null,
    refuses: ['INVALID_CREDENTIALS', 'TOO_MANY_REQUESTS'],
    handle: async (call) => {
      const { desk, session } = call
      const { login } = await ownLogin(call)
      const factor = proofOf(desk, login, call.body.code)
      if (factor === null) refuse('INVALID_PARAM_VALUE', 'there is no second factor to take away')
      const right = parts.attempts.begin(call, session.subject)
      await desk.core.submit('login.factor.remove', { session_id: session.id, factor })
      right()
    },
  }),
]
const recoveryCodesHashed = (codes: readonly string[]): string[] => codes.map(recoveryHash)

const elevateEndpoint = (parts: ConsoleParts): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: '/elevate',
    summary:
      'Opens what is dear for five minutes (live mode asks for it): by a code, or by the password where there is no second factor',
    access: accessOf(parts),
    limit: LIMITS.signIn,
    query: KIND,
    body: object({ code: optional(CODE), password: optional(GIVEN_PASSWORD) }),
    status: 200,
    reply: shape({ elevated_until: int64 }),
    refuses: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'TOO_MANY_REQUESTS'],
    handle: async (call) => {
      const { desk, session } = call
      const { code, password } = call.body
      const { login, stored } = await ownLogin(call)
      const right = parts.attempts.begin(call, session.subject)
      const factor = proofOf(desk, login, code)
      const fits = !login.factor_on && password !== null && (await parts.hashing.check(password, stored))
      const { elevated_until } = await desk.core.submit('session.elevate', {
        session_id: session.id,
        factor,
        password_hash: fits ? stored : null,
        real: realNow(),
      })
      right()
      return { elevated_until }
    },
  })
