import { refuse } from '../labels.ts'
import { checkPassword, hashPassword, randomHex } from '../runtime/secrets.ts'

/** At a time: each takes 16 MiB and a thread that others need too. */
const AT_ONCE = 2
const WAITING_MAX = 64

/** Passwords are hashed off the core's thread, a few at a time, so that a flood of them slows nobody else down. */
export class Hashing {
  private running = 0
  private readonly waiting: (() => void)[] = []
  /** Of nobody's password: a name that there is not takes as long as one that there is. */
  private nobody: Promise<string> | undefined

  hash(password: string): Promise<string> {
    return this.inTurn(() => hashPassword(password))
  }
  /** `stored` '': there is none, and the answer is no, as late as any other. */
  async check(password: string, stored: string): Promise<boolean> {
    this.nobody ??= hashPassword(randomHex(16))
    const against = stored === '' ? await this.nobody : stored
    return (await this.inTurn(() => checkPassword(password, against))) && stored !== ''
  }
  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.waiting.length >= WAITING_MAX) refuse('TOO_BUSY', 'many sign in just now; try again in a second')
    if (this.running >= AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running++
    try {
      return await run()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.running--
      else next()
    }
  }
}
