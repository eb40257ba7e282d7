import { refuse } from '../labels.ts'
import { ZERO, add, format, subtract, timesDown, timesUp, type Amount } from '../money/amount.ts'
import { atIndex, nearIndex } from './contract-margin/believed.ts'
import { isCross, needsOf, type Prices } from './contract-margin/needs.ts'
import type { Account } from './ledger/ledger.ts'
import type { State } from './state.ts'
import type { Position } from './tables/futures/positions.ts'
import { mainIdOf } from './tables/users.ts'

/**
 * A main account and its sub-accounts are one family: money moves freely among them, so what may leave is decided
 * for all of them together.
 */
export const mainOf = (state: State, userId: number): number => mainIdOf(state.users.must(userId))
export const membersOf = (state: State, main: number): number[] => [
  main,
  ...state.users.subAccountsOf(main).map(({ user_id }) => user_id),
]

/** Worth in USDT, assets down and what is owed away from zero. */
function worth(state: State, currency: string, amount: Amount): Amount {
  const price = state.prices.of(currency)
  return amount < 0n ? (-timesUp(-amount as Amount, price) as Amount) : timesDown(amount, price)
}

/**
 * What positions have lost, by the currency that pays it: the ledger knows of it when they are closed. Those of a contract
 * together, at the mark or by its index, whichever is worse; a profit is no money yet.
 */
function* contractLosses(
  state: State,
  members: readonly number[],
): Iterable<{ readonly currency: string; readonly amount: bigint }> {
  const { futures, world } = state
  const held = new Map<string, Position[]>()
  for (const member of members)
    for (const row of futures.positions.allOf(member))
      held.set(row.contract, [...(held.get(row.contract) ?? []), row])
  const views: Prices[] = [(id) => futures.markOf(id), nearIndex(state), atIndex(state)]
  for (const [id, rows] of held) {
    let worst = 0n
    for (const prices of views) {
      const sum = rows.reduce((total, row) => total + lossOf(state, row, prices), 0n)
      if (sum < worst) worst = sum
    }
    yield { currency: world.mustContract(id).currency, amount: worst }
  }
}
/** An isolated one never costs more than its margin. */
function lossOf(state: State, row: Position, prices: Prices): bigint {
  const { pnl } = needsOf(state, row, prices)
  const most = row.margin > 0n ? -row.margin : 0n
  return isCross(row) || pnl > most ? pnl : most
}

const NOTHING = -1n as Amount

/** What may leave a family with locked deposits. */
export interface LeavingRoom {
  /** Worth of everything less the worth of all that is locked. */
  readonly usdt: Amount
  /** The most of a currency, by its own balance and by worth. */
  of(currency: string): Amount
}
/**
 * Undefined where nothing is locked. Else at most the family's worth at the index less that of its locks, and of each
 * currency its balance less the lock: whatever became of the coins by trading, in contracts too, a reorganisation finds
 * their worth.
 */
export function leavingRoom(state: State, userId: number): LeavingRoom | undefined {
  const main = mainOf(state, userId)
  const locks = state.wallet.deposits.locks.ofFamily(main)
  if (locks.size === 0) return undefined
  const free = new Map<string, Amount>()
  const count = (currency: string, amount: bigint): void => {
    free.set(currency, ((free.get(currency) ?? 0n) + amount) as Amount)
  }
  const members = membersOf(state, main)
  for (const { currency, amount } of contractLosses(state, members)) count(currency, amount)
  for (const member of members) {
    for (const { currency, amount } of state.ledger.ownedBy(member)) count(currency, amount)
    // What withdrawals hold is on its way out.
    for (const [currency, amount] of state.wallet.withdrawals.held.of(member)) count(currency, -amount)
  }
  for (const [currency, amount] of locks) count(currency, -amount)
  let usdt = ZERO
  let unknown = false
  for (const [currency, amount] of free) {
    usdt = add(usdt, worth(state, currency, amount))
    // Coins that are gone and that nothing prices: nobody can say how much must stay in their place.
    if (amount < 0n && locks.has(currency) && state.prices.of(currency) === 0n) unknown = true
  }
  if (unknown) return { usdt: NOTHING, of: () => ZERO }
  return {
    usdt,
    of: (currency) => {
      const own = free.get(currency) ?? ZERO
      if (own <= 0n || usdt < 0n) return ZERO
      return worth(state, currency, own) <= usdt ? own : state.prices.fromUsdt(currency, usdt)
    },
  }
}

/** An account of the family that is below zero, because a reorganisation took back what had been spent. */
function overdrawn(state: State, main: number): Account | undefined {
  const { ledger } = state
  if (ledger.overdrawn.size === 0) return undefined
  const members = membersOf(state, main)
  for (const member of members) {
    const account = ledger.overdrawnOf(member)
    if (account !== undefined) return account
  }
  return undefined
}
export const familyOwes = (state: State, userId: number): string | undefined => {
  const account = overdrawn(state, mainOf(state, userId))
  if (account === undefined) return undefined
  const { owner, name, currency, amount } = account
  const who = owner === userId ? 'this account' : `account ${owner} of the same family`
  return `${who} owes ${format(-amount as Amount)} ${currency} (${name})`
}
/** Who is below zero anywhere owes the platform: nothing leaves the family, by withdrawal, push or loan. */
export function refuseOwing(state: State, userId: number): void {
  const owes = familyOwes(state, userId)
  if (owes !== undefined) refuse('NEGATIVE_ASSETS', `${owes}; settle it first`)
}

/**
 * Worth in USDT of the family's locked deposits that are no longer where they came in: sold, or moved on. What stands
 * there is left out of its own account's collateral; this part counts against every loan of the family instead.
 */
export function strayedLocks(state: State, userId: number): Amount {
  const main = mainOf(state, userId)
  let strayed = ZERO
  for (const [owner, currency, lock] of state.wallet.deposits.locks.each(main)) {
    const missing = subtract(lock, lockedHere(state, owner, currency))
    if (missing > 0n) strayed = add(strayed, timesUp(missing, state.prices.of(currency)))
  }
  return strayed
}
/** How much of an account's own locked deposits is still in its spot (or unified) balance: at most what it owns there. */
export function lockedHere(state: State, userId: number, currency: string): Amount {
  const lock = state.wallet.deposits.locks.ofAccount(userId, currency)
  if (lock === 0n) return ZERO
  const { ledger } = state
  let owned: bigint = -state.wallet.withdrawals.held.get(userId, currency)
  for (const name of SPOT) owned += ledger.balance(userId, name, currency)
  return (owned <= 0n ? 0n : owned < lock ? owned : lock) as Amount
}
const SPOT = ['spot', 'spot.locked', 'debt.unified', 'debt.interest.unified'] as const

/** Worth in USDT of everything that is locked in the family. */
export function lockedWorth(state: State, userId: number): Amount {
  let sum = ZERO
  for (const [currency, amount] of state.wallet.deposits.locks.ofFamily(mainOf(state, userId)))
    sum = add(sum, timesUp(amount, state.prices.of(currency)))
  return sum
}
