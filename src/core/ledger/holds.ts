import { BrokenInvariant } from '../../labels.ts'

/** Of one currency: what locked accounts keep, less what records say that they hold. */
export interface Difference {
  value: bigint
}

/**
 * Money is locked for a reason: an open order, a withdrawal that waits. For each currency the locked accounts hold
 * exactly what those records claim, after every command; a claim without money, or money without a claim, is a bug.
 */
export class Holds {
  private readonly differences = new Map<string, Difference>()
  /** Currencies in which the two differ at this moment: only ever above 0 within a command. */
  private wrong = 0

  of(currency: string): Difference {
    let difference = this.differences.get(currency)
    if (difference === undefined) this.differences.set(currency, (difference = { value: 0n }))
    return difference
  }
  /** Locked accounts add, claims subtract. */
  add(difference: Difference, amount: bigint): void {
    const was = difference.value
    difference.value = was + amount
    if (was === 0n) {
      if (amount !== 0n) this.wrong++
    } else if (difference.value === 0n) this.wrong--
  }
  check(): void {
    if (this.wrong === 0) return
    const wrong = [...this.differences].filter(([, { value }]) => value !== 0n).map(([currency]) => currency)
    throw new BrokenInvariant(`what is locked in ${wrong.join(', ')} is not what orders and withdrawals hold`)
  }
}
