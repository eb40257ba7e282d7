import assert from 'node:assert/strict'
import { Refusal } from '../../src/labels.ts'
import type { State } from '../../src/core/state.ts'

/**
 * An independent, naive model of the money: a map of balances in whole units of 10^-8, and the rules of
 * transfers written down a second time. It predicts each outcome and is then compared with the ledger.
 */
/** "ok" or the label of a refusal. */
export type Outcome = string
const UNIT = 10n ** 10n

export class Auditor {
  private readonly balances = new Map<string, bigint>()
  private readonly ceilings = new Map<number, bigint>()

  private key = (user: number, account: string, currency: string): string => `${user} ${account} ${currency}`
  balance(user: number, account: string, currency: string): bigint {
    return this.balances.get(this.key(user, account, currency)) ?? 0n
  }
  credit(user: number, account: string, currency: string, amount: bigint): void {
    this.balances.set(this.key(user, account, currency), this.balance(user, account, currency) + amount)
  }
  setCeiling(user: number, ceiling: bigint): void {
    this.ceilings.set(user, ceiling)
  }
  transfer(user: number, from: string, to: string, currency: string, amount: bigint): Outcome {
    if (this.balance(user, from, currency) < amount)
      return from === 'spot'
        ? 'BALANCE_NOT_ENOUGH'
        : from.startsWith('margin')
          ? 'MARGIN_BALANCE_NOT_ENOUGH'
          : 'FUTURES_BALANCE_NOT_ENOUGH'
    const ceiling = this.ceilings.get(user)
    if (
      to.startsWith('futures') &&
      ceiling !== undefined &&
      this.balance(user, to, currency) + amount > ceiling
    )
      return 'TOO_MUCH_FUTURES_AVAILABLE'
    this.credit(user, from, currency, -amount)
    this.credit(user, to, currency, amount)
    return 'ok'
  }

  /** The ledger holds exactly what the model says, and every currency adds up to nothing. */
  compare(state: State): void {
    const sums = new Map<string, bigint>()
    const seen = new Set<string>()
    for (const { owner, name, currency, amount } of state.ledger.accounts.values()) {
      sums.set(currency, (sums.get(currency) ?? 0n) + amount)
      if (owner === 0) continue
      const key = this.key(owner, name, currency)
      seen.add(key)
      assert.ok(amount >= 0n, `solvency: ${key} is ${amount}`)
      assert.equal(amount, (this.balances.get(key) ?? 0n) * UNIT, `balance of ${key}`)
    }
    for (const [currency, sum] of sums) assert.equal(sum, 0n, `conservation of ${currency}`)
    for (const [key, amount] of this.balances) assert.ok(seen.has(key) || amount === 0n, `${key} is missing`)
  }
}

/** Runs a command and tells its outcome as a word. */
export async function outcomeOf(command: Promise<unknown>): Promise<Outcome> {
  try {
    await command
    return 'ok'
  } catch (error) {
    if (error instanceof Refusal) return error.label
    throw error
  }
}
