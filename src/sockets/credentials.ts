import { AuthenticationFailure, authorize, usableKey } from '../api/authenticate.ts'
import type { Door } from '../api/door.ts'
import type { SessionDoor, SocketVisitor } from '../api/sessions.ts'
import { signed, type Caller } from '../api/endpoint.ts'
import type { State } from '../core/state.ts'
import type { Permission } from '../core/tables/keys.ts'
import { Refusal, type Label } from '../labels.ts'
import { rawMember } from './raw-member.ts'

/** Who was authenticated on a connection, and which permission that took. */
export interface Session {
  readonly user_id: number
  readonly key: string
  readonly need: Permission
  /** Of the console: no key, but a session of a browser. */
  readonly session_id?: number
}
/** What a signed frame said, beside its text. */
export interface SignedFrame {
  readonly channel: string
  readonly time: unknown
  /** The frame as it came. */
  readonly text: string
}
export interface SignedSubscription extends SignedFrame {
  readonly event: string
  readonly auth: unknown
}
export interface LoginFrame extends SignedFrame {
  readonly payload: Readonly<Record<string, unknown>>
}

/**
 * Who speaks on a socket. The checks are those of REST, in REST's order, and a failed one counts with REST's: clock, key,
 * signature, the account's state, the IP list, permission. What differs is the text that is signed.
 */
export class Credentials {
  private readonly door: Door
  private readonly state: State
  private readonly sessions: SessionDoor
  constructor(door: Door, state: State, sessions: SessionDoor) {
    this.door = door
    this.state = state
    this.sessions = sessions
  }

  /** Of a socket of the console; throws a refusal. */
  visit(visitor: SocketVisitor, need: Permission, ip: string): Session {
    const { session_id, user_id } = this.sessions.socket(visitor)
    return this.visitAgain({ session_id, user_id, key: '', need }, need, ip)
  }
  /** The same person, for what takes this permission. */
  visitAgain(session: Session, need: Permission, ip: string): Session {
    authorize(this.again(session), signed(need), 'GET', ip, this.state)
    return { ...session, need }
  }

  /** Of a subscription to a private channel. */
  subscription(
    { channel, event, time, auth, text }: SignedSubscription,
    need: Permission,
    ip: string,
  ): Session {
    if (!isObject(auth)) throw missing('auth', SUBSCRIPTION)
    if (auth['method'] !== 'api_key')
      throw new AuthenticationFailure(
        'INVALID_CREDENTIALS',
        `auth.method: ${shown(auth['method'])} is not known; it must be "api_key"`,
        { guess: false },
      )
    const timestamp = timeText(time, text, ['time'])
    if (timestamp === undefined) throw missing('time', SUBSCRIPTION)
    const key = stringIn(auth, 'KEY') ?? fail('auth.KEY', SUBSCRIPTION)
    const sign = stringIn(auth, 'SIGN') ?? fail('auth.SIGN', SUBSCRIPTION)
    const signedText = `channel=${channel}&event=${event}&time=${timestamp}`
    return this.prove({ key, sign, forms: [{ timestamp, text: signedText }] }, need, ip)
  }

  /** Of the trading API. */
  login({ channel, time, payload, text }: LoginFrame, need: Permission, ip: string): Session {
    const stamps = [
      timeText(payload['timestamp'], text, ['payload', 'timestamp']),
      timeText(time, text, ['time']),
    ]
    const timestamps = [...new Set(stamps)].filter((stamp) => stamp !== undefined)
    if (timestamps.length === 0) throw missing('timestamp', LOGIN)
    const key = stringIn(payload, 'api_key') ?? fail('api_key', LOGIN)
    const sign = stringIn(payload, 'signature') ?? fail('signature', LOGIN)
    const forms = timestamps.flatMap((timestamp) =>
      paramTexts(payload['req_param'], text).map((param) => ({
        timestamp,
        text: `api\n${channel}\n${param}\n${timestamp}`,
      })),
    )
    return this.prove({ key, sign, forms }, need, ip)
  }

  /** Who has a session, as the key is now: for each call anew. */
  again({ key, user_id, session_id }: Session): Caller {
    if (session_id !== undefined) return this.sessions.again(session_id, user_id, true)
    const caller = this.door.again(key)
    if (caller.user.user_id !== user_id)
      throw new AuthenticationFailure('INVALID_KEY', 'this key is of another account now; log in again', {
        guess: false,
      })
    return caller
  }

  /**
   * Why whoever was accepted may no longer read what it took this permission to read; undefined: he still may. Looks at
   * the live state, so that it is asked after the commit that may have changed it.
   */
  revoked(session: Session, ip: string): { readonly label: Label; readonly message: string } | undefined {
    const { key, need, session_id, user_id } = session
    const { state } = this
    if (session_id === undefined && state.keys.get(key) === undefined)
      return { label: 'INVALID_KEY', message: 'the key was deleted' }
    try {
      const caller =
        session_id === undefined ? this.holder(key) : this.sessions.again(session_id, user_id, false)
      authorize(caller, signed(need), 'GET', ip, state)
      return undefined
    } catch (error) {
      if (error instanceof Refusal) return { label: error.label, message: error.message }
      throw error
    }
  }
  private holder(name: string): Caller {
    const key = usableKey(this.state, name)
    return { user: this.state.users.must(key.user_id), key }
  }

  private prove(claim: Parameters<Door['prove']>[0], need: Permission, ip: string): Session {
    const { user, key } = this.door.prove(claim, need, ip)
    return { user_id: user.user_id, key: key.key, need }
  }
}

const SUBSCRIPTION = 'a private channel takes time and auth {method, KEY, SIGN}'
const LOGIN = 'a login carries api_key, timestamp and signature in its payload'
const missing = (name: string, how: string): AuthenticationFailure =>
  new AuthenticationFailure('MISSING_REQUIRED_HEADER', `Missing required header: ${name}; ${how}`, {
    guess: false,
  })
function fail(name: string, how: string): never {
  throw missing(name, how)
}

/**
 * The texts of req_param that may have been signed: what was sent, and, where that is nothing, an empty text too.
 * Clients write nothing in four ways, and sign it in two.
 */
function paramTexts(param: unknown, text: string): string[] {
  const raw = rawMember(text, ['payload', 'req_param']) ?? ''
  return isNothing(param) && raw !== '' ? [raw, ''] : [raw]
}
const isNothing = (param: unknown): boolean =>
  param === undefined ||
  param === null ||
  param === '' ||
  (isObject(param) && Object.keys(param).length === 0)

/** A time as it was sent: digits in a text, or a number as it stands in the frame. */
function timeText(value: unknown, text: string, path: readonly string[]): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' ? rawMember(text, path) : undefined
}
const stringIn = (source: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = source[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : `what is of type ${typeof value}`
