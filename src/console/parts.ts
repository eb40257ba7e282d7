import type { AnyCall, AnyEndpoint } from '../api/endpoint.ts'
import type { Limiter } from '../api/limiter.ts'
import type { RequestLog } from '../api/request-log.ts'
import type { SocketRow } from '../operator/platform.ts'
import type { Session, SubjectKind } from '../core/tables/logins.ts'
import type { NewSession } from '../core/logins/sessions.ts'
import { refuse } from '../labels.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'
import type { Attempts } from './attempts.ts'
import type { Hashing } from './hashing.ts'
import { csrfOf, realNow, type ConsoleAccess } from './access.ts'
import { cookieOf } from './cookies.ts'
import { isLoopback } from './pages-check.ts'

/** Which rooms an address has: with KONTOR_OPERATOR_LISTEN operators have one of their own. */
export type ConsoleSurface = 'all' | 'public' | 'operator'
export interface ConsoleParts {
  readonly surface: ConsoleSurface
  readonly access: ConsoleAccess
  readonly version: string
  readonly signUp: 'open' | 'invited' | 'off'
  readonly attempts: Attempts
  readonly hashing: Hashing
  /** Of a sandbox. */
  readonly requests: RequestLog
  readonly limiter: Limiter
  readonly trading: readonly AnyEndpoint[]
  readonly sockets: () => readonly SocketRow[]
}
export const kindsOf = (surface: ConsoleSurface): readonly SubjectKind[] =>
  surface === 'all' ? ['account', 'operator'] : [surface === 'public' ? 'account' : 'operator']
export const kindOf = ({ user_id }: { readonly user_id: number }): SubjectKind =>
  user_id === 0 ? 'operator' : 'account'

export const headersOf = (call: AnyCall) => ({ cookie: call.header('cookie'), host: call.header('host') })

/** Everything a session needs that is drawn: its token is in the cookie alone. */
export interface Drawn {
  readonly token: string
  readonly input: NewSession
}
/** A new token, always: whatever value a browser sends, nobody is signed in under it. */
export function drawSession(call: AnyCall, access: ConsoleAccess, kind: SubjectKind): Drawn {
  refusePlain(call)
  const token = randomHex(32)
  const before = access.find(headersOf(call), kind)
  return {
    token,
    input: {
      token_hash: sha256(token),
      real: realNow(),
      ip: call.ip,
      agent: call.header('user-agent') ?? '',
      ends: before?.session.id ?? null,
    },
  }
}
/** A password that went over the wire in the clear is not one. */
function refusePlain(call: AnyCall): void {
  if (call.desk.mode !== 'live' || isLoopback(call.header('host'))) return
  if (call.header('origin')?.toLowerCase().startsWith('http://') === true)
    refuse(
      'FORBIDDEN',
      'a live platform signs people in over https alone; put a proxy with TLS in front of it, or come by localhost',
    )
}
export function giveCookie(call: AnyCall, kind: SubjectKind, token: string | null): void {
  call.set('Set-Cookie', cookieOf(kind, call.desk.mode, call.header('host'), token))
}

/** What a page is told of who is signed in; `begun`: in this very call, so that no cookie tells it yet. */
export async function sessionView(
  call: AnyCall,
  { access, surface }: ConsoleParts,
  begun?: { readonly session: Session; readonly token: string },
): Promise<object> {
  const { desk } = call
  const kinds = kindsOf(surface)
  const held = (kind: SubjectKind) => {
    if (!kinds.includes(kind)) return undefined
    if (begun !== undefined && kindOf(begun.session) === kind) return begun
    return access.find(headersOf(call), kind)
  }
  const [account, operator] = [held('account'), held('operator')]
  return desk.core.read((state) => {
    const { users, logins, operators } = state
    const common = ({ session, token }: { session: Session; token: string }) => {
      const login = logins.of(session.subject)
      const password = session.user_id === 0 ? login.password_hash : users.must(session.user_id).password_hash
      return {
        session_id: session.id,
        csrf: csrfOf(token),
        factor: login.factor_on,
        password: password !== '',
        elevated_until: session.elevated_until,
      }
    }
    const family = (userId: number) =>
      [users.must(userId), ...users.subAccountsOf(userId)].map((user) => ({
        user_id: user.user_id,
        name: user.remark === '' ? user.login_name : user.remark,
        login_name: user.login_name,
        kind: user.parent_id === 0 ? 'main' : 'sub',
        state: user.state,
      }))
    return {
      mode: desk.mode,
      account:
        account === undefined
          ? null
          : {
              user_id: account.session.user_id,
              name: users.must(account.session.user_id).login_name,
              ...common(account),
              accounts: family(account.session.user_id),
            },
      operator:
        operator === undefined
          ? null
          : {
              name: operator.session.operator,
              role: operators.table.get(operator.session.operator)!.role,
              ...common(operator),
            },
    }
  })
}
