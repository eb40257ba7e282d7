import { timingSafeEqual } from 'node:crypto'
import { AuthenticationFailure, authorize } from '../api/authenticate.ts'
import { signed, type Access, type AnyEndpoint, type Caller, type LiveDesk } from '../api/endpoint.ts'
import { header, type Passage } from '../api/passage.ts'
import type { SessionDoor, SocketVisitor } from '../api/sessions.ts'
import { isOver, stands } from '../core/logins/sessions.ts'
import { PERMISSIONS, type ApiKey } from '../core/tables/keys.ts'
import type { Session, SubjectKind } from '../core/tables/logins.ts'
import { mayActAs, type Role } from '../core/tables/operators.ts'
import type { User } from '../core/tables/users.ts'
import { refuse } from '../labels.ts'
import { sha256 } from '../runtime/secrets.ts'
import { cookieName, cookiesNamed } from './cookies.ts'
import { checkPage, isOriginOf } from './pages-check.ts'

/** A session and what its cookie holds. */
export interface Held {
  readonly session: Session
  readonly token: string
}
type Headers = Passage['request']['headers']

/** Seconds of the real clock. */
export const realNow = (): number => Math.floor(Date.now() / 1000)
/** What a page must send along with whatever it changes: known to who can read an answer, and to nobody else. */
export const csrfOf = (token: string): string => sha256(`kontor csrf ${token}`).slice(0, 32)

/** In place of a key: a person may do whatever the account may. */
const NO_KEY: ApiKey = {
  key: '',
  user_id: 0,
  name: 'console',
  mode: 1,
  perms: PERMISSIONS.map((name) => ({ name, read_only: false })),
  ip_whitelist: [],
  state: 1,
  secret_box: '',
  created_at: 0,
  updated_at: 0,
  last_access: 0,
  replay_protection: false,
}

/**
 * Sessions as one more kind of access. In this order: where the page is from, the cookie, the token against forged
 * requests, the account that was chosen, what it may do, and whether what is dear may be done just now.
 */
export class ConsoleAccess implements SessionDoor {
  private readonly desk: LiveDesk
  /** Last use of sessions, told to the core from time to time. */
  readonly seen = new Map<number, number>()

  constructor(desk: LiveDesk) {
    this.desk = desk
  }

  look(passage: Passage, endpoint: AnyEndpoint): void {
    const { access } = endpoint
    const { headers } = passage.request
    checkPage(headers, passage.method)
    if (access.kind === 'public') return
    const { session, token } = this.must(headers, this.kindOf(access, passage))
    if (passage.method !== 'GET') checkCsrf(header(headers['x-kontor-csrf']), token)
    passage.session = session
    if (session.user_id === 0) this.actAsOperator(passage, session, access)
    else this.actAsAccount(passage, session, access)
    if (endpoint.dear === true || (endpoint.guarded !== undefined && access.kind === 'operator'))
      this.checkElevated(session)
  }
  /** A code or a password of the last minutes, in live mode. */
  checkElevated({ elevated_until }: Session): void {
    if (this.desk.mode === 'live' && elevated_until <= realNow())
      refuse(
        'ELEVATION_REQUIRED',
        'this takes a code of your second factor (or, without one, your password) of the last 5 minutes; POST /console/v1/elevate first',
      )
  }

  /** The session that a request carries, if it does and if that is good. */
  find(headers: Headers, kind: SubjectKind): Held | undefined {
    const name = cookieName(kind, this.desk.mode, header(headers['host']))
    const tokens = cookiesNamed(header(headers['cookie']), name)
    // One of two was planted: neither counts.
    if (tokens.length !== 1) return undefined
    const [token] = tokens as [string]
    const session = this.desk.core.state.logins.byToken.get(sha256(token))
    if (session === undefined || (session.user_id === 0) !== (kind === 'operator')) return undefined
    return this.isGood(session) ? { session, token } : undefined
  }

  socket({ cookie, host, origin, site, account }: SocketVisitor): { session_id: number; user_id: number } {
    // Browsers name it always, and nobody else has a reason to come here.
    if (
      origin === null ||
      !isOriginOf(origin, host ?? undefined) ||
      (site ?? 'same-origin') !== 'same-origin'
    )
      refuse(
        'FORBIDDEN',
        `Origin: ${(origin ?? 'none').slice(0, 80)}: only pages of this address may open this socket; programs use /ws/v4/`,
      )
    const headers = { ...(cookie !== null && { cookie }), ...(host !== null && { host }) }
    const { session } = this.must(headers, 'account')
    const { user_id } = this.chosen(session, account ?? undefined, 'account')
    return { session_id: session.id, user_id }
  }
  again(sessionId: number, userId: number, used: boolean): Caller {
    const session = this.desk.core.state.logins.sessions.get(sessionId)
    if (session === undefined || session.user_id === 0 || !this.isGood(session, used)) throw over()
    return callerOf(this.chosen(session, String(userId), 'account'))
  }

  private isGood(session: Session, touch = true): boolean {
    const { core, clock } = this.desk
    const now = realNow()
    if (isOver(session, now, this.seen.get(session.id))) return false
    if (!stands(core.state, session, clock.peek())) return false
    if (touch) this.seen.set(session.id, now)
    return true
  }
  private must(headers: Headers, kind: SubjectKind): Held {
    return this.find(headers, kind) ?? fail(over())
  }
  /** Of calls that both may make: the one that is named, else the account if there is one. */
  private kindOf(access: Access, { request, rawQuery }: Passage): SubjectKind {
    if (access.kind === 'key') return 'account'
    if (access.kind !== 'session') return 'operator'
    if (access.subject !== 'either') return access.subject
    const named = new URLSearchParams(rawQuery).get('kind')
    if (named === 'operator' || named === 'account') return named
    return this.find(request.headers, 'account') === undefined ? 'operator' : 'account'
  }

  private actAsOperator(passage: Passage, { operator }: Session, access: Access): void {
    const { role } = this.desk.core.state.operators.table.get(operator)!
    passage.operator = operator
    if (access.kind === 'operator') checkRole(operator, role, access.role)
  }
  private actAsAccount(passage: Passage, session: Session, access: Access): void {
    const { state } = this.desk.core
    const user = this.chosen(session, header(passage.request.headers['x-kontor-account']), 'X-Kontor-Account')
    passage.caller = callerOf(user)
    const needs =
      access.kind === 'key'
        ? access
        : access.kind === 'session' && access.permission !== undefined
          ? signed(access.permission)
          : undefined
    if (needs !== undefined) authorize(passage.caller, needs, passage.method, passage.ip, state)
  }
  /** The main account, or one of its own sub-accounts. */
  private chosen({ user_id }: Session, asked: string | undefined, name: string): User {
    const { users } = this.desk.core.state
    if (asked === undefined || asked === String(user_id)) return users.must(user_id)
    const user = /^\d{1,15}$/.test(asked) ? users.get(Number(asked)) : undefined
    if (user?.parent_id !== user_id)
      refuse(
        'FORBIDDEN',
        `${name}: ${asked.slice(0, 40)} is not one of this account's own; GET /console/v1/session lists them`,
      )
    return user
  }
}

const callerOf = (user: User): Caller => ({ user, key: { ...NO_KEY, user_id: user.user_id } })
function checkRole(operator: string, role: Role, needed: Role): void {
  if (!mayActAs(role, needed))
    refuse('FORBIDDEN', `operator "${operator}" has the role ${role}; this call needs ${needed}`)
}
const over = (): AuthenticationFailure =>
  new AuthenticationFailure(
    'INVALID_CREDENTIALS',
    'nobody is signed in here, or the session is over; sign in',
    {
      guess: false,
    },
  )
function fail(error: Error): never {
  throw error
}
export function checkCsrf(given: string | undefined, ...tokens: readonly string[]): void {
  const told = Buffer.from(given ?? '')
  const fits = (token: string): boolean => {
    const right = Buffer.from(csrfOf(token))
    return told.length === right.length && timingSafeEqual(told, right)
  }
  if (!tokens.some(fits))
    refuse(
      'FORBIDDEN',
      'X-Kontor-CSRF is missing or is not of this session; GET /console/v1/session tells it as csrf',
    )
}
