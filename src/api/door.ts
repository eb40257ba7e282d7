import { isExpired } from '../core/operators/operators.ts'
import { mayActAs, type Role } from '../core/tables/operators.ts'
import { refuse } from '../labels.ts'
import { sha256 } from '../runtime/secrets.ts'
import {
  AuthenticationFailure,
  Authenticator,
  authorize,
  type Recognized,
  type SocketClaim,
} from './authenticate.ts'
import { signed, type AnyEndpoint, type Caller, type LiveDesk } from './endpoint.ts'
import { Guesses } from './guesses.ts'
import type { Permission } from '../core/tables/keys.ts'
import type { Limiter } from './limiter.ts'
import type { SessionDoor } from './sessions.ts'
import { header, type Passage } from './passage.ts'

/**
 * Who asks, and whether they may. What needs no body is checked before one is read, so that strangers can't make
 * the platform read anything. Guesses are counted by address, and so are they refused; but a right signature
 * passes always, because nobody guesses one and a web page could else lock out everybody at its reader's address.
 */
export class Door {
  private readonly desk: LiveDesk
  private readonly authenticator: Authenticator
  private readonly guesses: Guesses
  /** Of operators' tokens. */
  private readonly tokens: Guesses
  /** Last use of keys, told to the core from time to time. */
  private readonly seen: Map<string, number>
  private readonly sessions: SessionDoor | undefined

  /** `sessions`: of people in browsers; without it nothing below /console answers but what anybody may call. */
  constructor(
    desk: LiveDesk,
    failures: Limiter,
    failuresMax: number,
    seen: Map<string, number>,
    sessions?: SessionDoor,
    /** Tokens are counted by themselves: a stolen gateway that guesses signatures in an operator's name keeps nobody out. */
    tokensApart = false,
  ) {
    this.desk = desk
    this.sessions = sessions
    this.guesses = new Guesses(failures, failuresMax, desk.clock)
    this.tokens = new Guesses(failures, failuresMax, desk.clock, tokensApart ? 'token ' : '')
    this.seen = seen
    this.authenticator = new Authenticator(desk.core.state, desk.secrets, desk.clock, desk.mode === 'sandbox')
  }

  /** Before the body: an operator wholly, a signed request as far as its headers tell. */
  look(passage: Passage, endpoint: AnyEndpoint): void {
    const { access } = endpoint
    if (passage.route!.console === true) this.sessions!.look(passage, endpoint)
    else if (access.kind === 'operator') this.admitOperator(passage, access.role)
    else if (access.kind === 'key') passage.signed = this.recognize(passage)
  }
  /** With the body: the signature, and what its account may do. */
  admit(passage: Passage, endpoint: AnyEndpoint, body: Buffer | undefined): void {
    const { access } = endpoint
    if (passage.route!.console === true) {
      if (body !== undefined && !passage.atOnce) this.sessions!.look(passage, endpoint)
      return
    }
    if (access.kind !== 'key') return
    // Looked at again: while a body was on its way the key may have been taken back.
    const recognized = body === undefined || passage.atOnce ? passage.signed! : this.recognize(passage)
    try {
      const { method, path, rawQuery: query } = passage
      passage.caller = this.authenticator.verify(recognized, { method, path, query }, body, passage.checked)
      passage.signed = recognized
    } catch (error) {
      this.guesses.failed(passage, error)
    }
    this.seen.set(recognized.key.key, this.desk.clock.seconds())
    authorize(passage.caller, access, passage.method, passage.ip, this.desk.core.state)
  }
  /**
   * Right before it is carried out: all that came together was let in before the first of it was carried out (0084), and
   * that may have taken a key, an account or an operator's right away. Rows are never changed, so the same row says the same.
   */
  admitStill(passage: Passage, endpoint: AnyEndpoint, body: Buffer | undefined): void {
    const { access } = endpoint
    const { caller } = passage
    if (access.kind === 'operator' || passage.route!.console === true) this.look(passage, endpoint)
    else if (access.kind === 'key' && caller !== undefined) {
      const { user, key } = caller
      const { state } = this.desk.core
      if (state.keys.get(key.key) !== key || state.users.get(user.user_id) !== user) {
        passage.atOnce = false
        this.admit(passage, endpoint, body)
      } else if (user.parent_id !== 0) authorize(caller, access, passage.method, passage.ip, state)
    }
  }
  /** A request that must pass once, of a key that asks for it. */
  async once({ signed }: Passage): Promise<void> {
    if (signed?.key.replay_protection !== true) return
    const { core, clock } = this.desk
    await core.submit('key.once', {
      key: signed.key.key,
      signature: signed.sign,
      timestamp: Math.ceil(Number(signed.timestamp) * 1e6),
      real: clock.real?.() ?? null,
    })
  }

  /** Who signs a request of a socket, and whether the key may read what it needs: the same checks, in the same order. */
  prove(claim: SocketClaim, need: Permission, ip: string): Caller {
    let caller: Caller
    try {
      caller = this.authenticator.prove(claim)
    } catch (error) {
      return this.guesses.failed({ ip, allowance: undefined }, error)
    }
    this.seen.set(caller.key.key, this.desk.clock.seconds())
    authorize(caller, signed(need), 'GET', ip, this.desk.core.state)
    return caller
  }
  /** Who was proven earlier, as the key is now; what it may do is not looked at. */
  again(key: string): Caller {
    const caller = this.authenticator.again(key)
    this.seen.set(key, this.desk.clock.seconds())
    return caller
  }

  private recognize(passage: Passage): Recognized {
    const { headers } = passage.request
    try {
      return this.authenticator.recognize({
        key: header(headers['key']),
        timestamp: header(headers['timestamp']),
        sign: header(headers['sign']),
      })
    } catch (error) {
      return this.guesses.failed(passage, error)
    }
  }
  private admitOperator(passage: Passage, needed: Role): void {
    const { operators } = this.desk.core.state
    // A token may be guessed where it was chosen badly: over the limit not even the right one passes.
    this.tokens.check(passage)
    const authorization = header(passage.request.headers['authorization'])
    if (authorization === undefined)
      throw new AuthenticationFailure(
        'MISSING_REQUIRED_HEADER',
        'Missing required header: Authorization; send "Authorization: Bearer <operator token>"',
        { guess: false },
      )
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    const operator = token === undefined ? undefined : operators.byToken.get(sha256(token))
    if (operator === undefined)
      return this.tokens.failed(
        passage,
        new AuthenticationFailure('INVALID_CREDENTIALS', 'this is not the token of an operator', {
          guess: true,
        }),
      )
    const { name, role } = operator
    // It is the right one, so that this is no guess.
    if (isExpired(operator, this.desk.clock.peek()))
      throw new AuthenticationFailure(
        'INVALID_CREDENTIALS',
        `the token of operator "${name}" expired at ${new Date(operator.expires * 1000).toISOString()}; let an admin make the operator anew, or run: kontor operator recover`,
        { guess: false },
      )
    passage.operator = name
    if (!mayActAs(role, needed))
      refuse('FORBIDDEN', `operator "${name}" has the role ${role}; this call needs ${needed}`)
  }
}
