import { believed, cashName, debtName, unitOf } from './margin.ts'
import { E, abs, ceilDiv, max, min } from './numbers.ts'
import type { Contract, World } from './world.ts'

/** 2.15 of the specification: contracts in unified accounts whose currencies stand for each other. */

export const interestName = (user: number): string => `${user} interest`
/** When its loan began. */
const sinceName = (user: number): string => `${user} loan since`

interface Sums {
  total: bigint
  initial: bigint
  maintenance: bigint
}
/** All that the account has beside its contracts; money that is not there would be lent. */
export function besidesContracts(w: World, user: number, account: string, change: bigint): Sums | undefined {
  const shared = w.shared.get(user)
  if (shared === undefined) return undefined
  const cash = w.balance(cashName(user, account)) + change
  const loan = -w.balance(debtName(user, account)) + max(0n, -cash)
  const { balance, ...needs } = shared.standing(max(0n, cash), loan, -w.balance(interestName(user)))
  return { total: balance, ...needs }
}
const partUp = (amount: bigint, over: bigint, under: bigint): bigint => ceilDiv(amount * over, under)
/** A move of 15 % of what the contracts of a portfolio leave open. */
export function stressOf(w: World, c: Contract, contracts: bigint): bigint {
  return partUp(ceilDiv(abs(contracts * c.q) * w.priceOf(c.id).index, E), 15n, 100n)
}
export const initialOf = (stress: bigint): bigint => partUp(stress, 12n, 10n)
/** In a portfolio: as if all buys were filled, or all sells, whichever needs more. */
export function portfolioOrders(w: World, user: number, c: Contract): bigint {
  const { size } = w.position(user, c, 'single')
  const open = w.openOf(user, c.id).filter(({ reduceOnly }) => !reduceOnly)
  const sum = (buys: boolean): bigint =>
    open.filter(({ buy }) => buy === buys).reduce((all, { left }) => all + left, 0n)
  const worst = max(stressOf(w, c, size + sum(true)), stressOf(w, c, size - sum(false)))
  return max(0n, initialOf(worst) - initialOf(stressOf(w, c, size)))
}
/** Whoever takes more risk is measured by the mark or by what is believed of it, whichever is worse. */
export function sharedAvailable(w: World, user: number, account: string, orders: bigint): bigint {
  const units = [unitOf(w, user, account), unitOf(w, user, account, believed(w))] as const
  const pnl = min(units[0].pnl, units[1].pnl)
  return units[0].total - units[0].isolated + pnl - max(units[0].initial, units[1].initial) - orders
}

/** The USDT of the account is another one by so much: what is not there is lent at once, what comes repays that first. */
export function bookShared(w: World, user: number, account: string, other: string, change: bigint): void {
  const [cash, debt, interest] = [cashName(user, account), debtName(user, account), interestName(user)]
  const lent = max(0n, -change - w.balance(cash))
  if (lent > 0n) {
    if (w.balance(debt) + w.balance(interest) === 0n) w.money.set(sinceName(user), BigInt(w.at))
    w.move(debt, cash, lent)
    w.meet('lent for contracts')
  }
  w.move(other, cash, change)
  const owed = -w.balance(debt)
  if (change <= 0n || owed === 0n) return
  const paid = min(change, owed - w.balance(interest))
  const ofInterest = min(paid, -w.balance(interest))
  w.move(cash, interest, ofInterest)
  w.move(cash, debt, paid - ofInterest)
  w.meet('repaid by contracts')
}
/** A full hour, at its rate: on what is owed with its unpaid interest, up to the smallest unit. */
export function chargeHour(w: World, account: string, hour: number, rate: bigint, unit: bigint): void {
  for (const user of w.shared.keys()) {
    const owed = -w.balance(debtName(user, account)) - w.balance(interestName(user))
    if (owed === 0n || w.balance(sinceName(user)) > BigInt(hour)) continue
    const interest = ceilDiv(owed * rate, E * unit) * unit
    w.money.set(interestName(user), w.balance(interestName(user)) - interest)
    w.meet('interest of contracts')
  }
}
