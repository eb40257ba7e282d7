import { addressBlock } from '../http/words.ts'
import { refuse } from '../labels.ts'
import type { Clock } from '../runtime/clock.ts'
import { AuthenticationFailure } from './authenticate.ts'
import type { Allowance, Limiter } from './limiter.ts'

const SECONDS = 10

/** Who guesses, and what is told about how often it may be done. */
export interface Guesser {
  readonly ip: string
  allowance: Allowance | undefined
}
/** Failed authentications, counted by address, whichever way they came. */
export class Guesses {
  private readonly failures: Limiter
  private readonly max: number
  private readonly clock: Clock
  private readonly what: string

  /** `what` is guessed: each is counted by itself. */
  constructor(failures: Limiter, max: number, clock: Clock, what = '') {
    this.failures = failures
    this.max = max
    this.clock = clock
    this.what = what
  }
  /** Looks without counting: over the limit not even a right guess passes. */
  check(guesser: Guesser): void {
    const allowance = this.failures.peek(this.bucket(guesser), this.max, SECONDS, this.clock.peek())
    if (!allowance.allowed) tooMany(guesser, allowance)
  }
  /** Counts a guess; over the limit it is not even told what was wrong. */
  failed(guesser: Guesser, error: unknown): never {
    if (!(error instanceof AuthenticationFailure) || !error.guess) throw error
    const allowance = this.failures.admit(this.bucket(guesser), this.max, SECONDS, this.clock.peek())
    if (!allowance.allowed) tooMany(guesser, allowance)
    throw error.explained?.() ?? error
  }
  private bucket({ ip }: Guesser): string {
    return this.what + addressBlock(ip)
  }
}
function tooMany(guesser: Guesser, allowance: Allowance): never {
  guesser.allowance = allowance
  refuse(
    'TOO_MANY_REQUESTS',
    `too many failed authentications from ${guesser.ip}; wait, and check key, signature or token`,
  )
}
