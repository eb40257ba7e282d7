import { isExpired } from '../core/operators/operators.ts'
import { mayActAs, type Role } from '../core/tables/operators.ts'
import { refuse } from '../labels.ts'
import { sha256 } from '../runtime/secrets.ts'
import { AuthenticationFailure, Authenticator, authorize, type Recognized } from './authenticate.ts'
import type { AnyEndpoint, LiveDesk } from './endpoint.ts'
import { addressBlock } from '../http/words.ts'
import type { Limiter } from './limiter.ts'
import { header, type Passage } from './passage.ts'

const SECONDS = 10

/**
 * Who asks, and whether they may. What needs no body is checked before one is read, so that strangers can't make
 * the platform read anything. Guesses are counted by address, and so are they refused; but a right signature
 * passes always, because nobody guesses one and a web page could else lock out everybody at its reader's address.
 */
export class Door {
  private readonly desk: LiveDesk
  private readonly authenticator: Authenticator
  private readonly failures: Limiter
  private readonly failuresMax: number
  /** Last use of keys, told to the core from time to time. */
  private readonly seen: Map<string, number>

  constructor(desk: LiveDesk, failures: Limiter, failuresMax: number, seen: Map<string, number>) {
    this.desk = desk
    this.failures = failures
    this.failuresMax = failuresMax
    this.seen = seen
    this.authenticator = new Authenticator(desk.core.state, desk.secrets, desk.clock, desk.mode === 'sandbox')
  }

  /** Before the body: an operator wholly, a signed request as far as its headers tell. */
  look(passage: Passage, { access }: AnyEndpoint): void {
    if (access.kind === 'operator') this.admitOperator(passage, access.role)
    else if (access.kind === 'key') passage.signed = this.recognize(passage)
  }
  /** With the body: the signature, and what its account may do. */
  admit(passage: Passage, { access }: AnyEndpoint, body: Buffer | undefined): void {
    if (access.kind !== 'key') return
    // Looked at again: while a body was on its way the key may have been taken back.
    const recognized = body === undefined || passage.atOnce ? passage.signed! : this.recognize(passage)
    try {
      const { method, path, rawQuery: query } = passage
      passage.caller = this.authenticator.verify(recognized, { method, path, query }, body, passage.checked)
      passage.signed = recognized
    } catch (error) {
      this.failed(passage, error)
    }
    this.seen.set(recognized.key.key, this.desk.clock.seconds())
    authorize(passage.caller, access, passage.method, passage.ip, this.desk.core.state)
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

  private recognize(passage: Passage): Recognized {
    const { headers } = passage.request
    try {
      return this.authenticator.recognize({
        key: header(headers['key']),
        timestamp: header(headers['timestamp']),
        sign: header(headers['sign']),
      })
    } catch (error) {
      return this.failed(passage, error)
    }
  }
  private admitOperator(passage: Passage, needed: Role): void {
    const { operators } = this.desk.core.state
    // A token may be guessed where it was chosen badly: over the limit not even the right one passes.
    const now = this.desk.clock.peek()
    const allowance = this.failures.peek(bucketOf(passage), this.failuresMax, SECONDS, now)
    if (!allowance.allowed) this.tooMany(passage, allowance)
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
      return this.failed(
        passage,
        new AuthenticationFailure('INVALID_CREDENTIALS', 'this is not the token of an operator', {
          guess: true,
        }),
      )
    const { name, role } = operator
    // It is the right one, so that this is no guess.
    if (isExpired(operator, now))
      throw new AuthenticationFailure(
        'INVALID_CREDENTIALS',
        `the token of operator "${name}" expired at ${new Date(operator.expires * 1000).toISOString()}; let an admin make the operator anew, or run: kontor operator recover`,
        { guess: false },
      )
    passage.operator = name
    if (!mayActAs(role, needed))
      refuse('FORBIDDEN', `operator "${name}" has the role ${role}; this call needs ${needed}`)
  }
  /** Counts a guess; over the limit it is not even told what was wrong. */
  private failed(passage: Passage, error: unknown): never {
    if (!(error instanceof AuthenticationFailure) || !error.guess) throw error
    const now = this.desk.clock.peek()
    const allowance = this.failures.admit(bucketOf(passage), this.failuresMax, SECONDS, now)
    if (!allowance.allowed) this.tooMany(passage, allowance)
    throw error.explained?.() ?? error
  }
  private tooMany(passage: Passage, allowance: Passage['allowance']): never {
    passage.allowance = allowance
    refuse(
      'TOO_MANY_REQUESTS',
      `too many failed authentications from ${passage.ip}; wait, and check key, signature or token`,
    )
  }
}
const bucketOf = ({ ip }: Passage): string => addressBlock(ip)
