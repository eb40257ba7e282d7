import { AuthenticationFailure } from '../api/authenticate.ts'
import { PUBLIC, endpoint, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import { object, oneOf, optional, text } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { loginName } from '../api/sub-accounts.ts'
import { passwordOf, type FactorProof } from '../core/logins/credentials.ts'
import type { State } from '../core/state.ts'
import {
  SUBJECT_KINDS,
  accountSubject,
  operatorSubject,
  type Login,
  type SubjectKind,
} from '../core/tables/logins.ts'
import { isMain } from '../core/tables/users.ts'
import { refuse } from '../labels.ts'
import { sha256 } from '../runtime/secrets.ts'
import { realNow } from './access.ts'
import { drawSession, giveCookie, kindsOf, sessionView, type ConsoleParts } from './parts.ts'
import { sessionShape } from './sign-in.ts'
import { recoveryHash, stepOf } from './totp.ts'

export const CODE = text({ max: 32, example: '123456' })
export const GIVEN_PASSWORD = text({ max: 128 })
const PASSWORD_MIN = 10
/** Long is what makes it strong. */
export function checkNewPassword(password: string, name: string, login: string): void {
  if (password.length < PASSWORD_MIN)
    refuse('INVALID_PARAM_VALUE', `${name}: a password has at least ${PASSWORD_MIN} characters`)
  if (new Set(password).size < 4 || password.toLowerCase().includes(login.toLowerCase()))
    refuse(
      'INVALID_PARAM_VALUE',
      `${name}: it is too easy to guess; choose other characters than your name or a few`,
    )
}

interface Found {
  readonly user_id: number
  readonly operator: string
  readonly subject: string
  readonly password_hash: string
  readonly login: Login
}
/** Sub-accounts are reached through their main account. */
function find(state: State, kind: SubjectKind, name: string): Found | undefined {
  const user = kind === 'account' ? state.users.byLogin.get(name.toLowerCase()) : undefined
  const operator = kind === 'operator' ? state.operators.table.get(name) : undefined
  if (operator === undefined && (user === undefined || !isMain(user))) return undefined
  const subject = operator === undefined ? accountSubject(user!.user_id) : operatorSubject(operator)
  const whose = { user_id: user?.user_id ?? 0, operator: operator?.name ?? '' }
  const password_hash = passwordOf(state, whose, subject)
  return { ...whose, subject, password_hash, login: state.logins.of(subject) }
}

/** What a code says under the secret that a login has; null: none is asked for. */
export function proofOf({ secrets }: Desk, login: Login, code: string | null): FactorProof | null {
  const { factor_on, factor_box: box } = login
  if (!factor_on || code === null) return null
  const secret = secrets.open(box)
  const step = secret === undefined ? null : stepOf(secret, code.trim(), realNow())
  return { box, step, recovery: recoveryHash(code) }
}
export const wrong = (message = 'name or password is wrong'): AuthenticationFailure =>
  new AuthenticationFailure('INVALID_CREDENTIALS', message, { guess: false })

/** Coming in by a password. */
export const passwordEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: '/sign-in',
    summary:
      'Signs in by name and password, and by a code where there is a second factor: without one SECOND_FACTOR_REQUIRED tells',
    access: PUBLIC,
    limit: LIMITS.signIn,
    body: object({
      kind: oneOf(...SUBJECT_KINDS),
      name: text({ max: 64 }),
      password: GIVEN_PASSWORD,
      code: optional(CODE),
    }),
    status: 200,
    reply: sessionShape,
    refuses: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'TOO_MANY_REQUESTS', 'FORBIDDEN'],
    handle: async (call) => {
      const { kind, name, password, code } = call.body
      const { desk } = call
      if (!kindsOf(parts.surface).includes(kind))
        refuse('FORBIDDEN', `${kind}s sign in at another address of this platform`)
      const { token, input } = drawSession(call, parts.access, kind)
      const right = parts.attempts.begin(call, `${kind} ${name}`)
      const found = await desk.core.read((state) => find(state, kind, name))
      const fits = await parts.hashing.check(password, found?.password_hash ?? '')
      if (found === undefined || !fits) throw wrong()
      const { login, ...whose } = found
      // The password was right; what is missing is no guess.
      if (login.factor_on && code === null) right()
      const factor = proofOf(desk, login, code)
      const session = await desk.core.submit('login.sign_in', { ...input, ...whose, factor })
      right()
      giveCookie(call, kind, token)
      return sessionView(call, parts, { session, token })
    },
  }),
  ...(parts.surface === 'operator' ? [] : [signUpEndpoint(parts)]),
]
const signUpEndpoint = (parts: ConsoleParts): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: '/sign-up',
    summary: 'Makes a main account with a password, and signs in (KONTOR_SIGN_UP: open, invited or off)',
    access: PUBLIC,
    limit: LIMITS.signUp,
    body: object({
      name: loginName,
      password: GIVEN_PASSWORD,
      invitation: optional(text({ max: 128 })),
    }),
    status: 201,
    reply: sessionShape,
    refuses: ['FORBIDDEN', 'INVALID_CREDENTIALS'],
    handle: async (call) => {
      const { name, password, invitation } = call.body
      if (parts.signUp === 'off') refuse('FORBIDDEN', 'nobody signs up here; ask the operator for an account')
      if (parts.signUp === 'invited' && invitation === null)
        refuse('FORBIDDEN', 'invitation: it takes one to sign up; ask the operator')
      checkNewPassword(password, 'password', name)
      const { token, input } = drawSession(call, parts.access, 'account')
      const session = await call.desk.core.submit('login.sign_up', {
        ...input,
        login_name: name,
        password_hash: await parts.hashing.hash(password),
        invitation: parts.signUp === 'invited' ? sha256(invitation!) : null,
      })
      giveCookie(call, 'account', token)
      return sessionView(call, parts, { session, token })
    },
  })
