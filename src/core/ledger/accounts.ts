/**
 * Names of ledger accounts. A user's accounts carry what the platform owes the user; the platform's own
 * accounts (owner 0) carry the other side. Coins in custody and money that the operator put in are negative,
 * so that a currency's accounts add up to zero.
 *
 * | name | owner | what |
 * |---|---|---|
 * | spot, margin:PAIR, futures:SETTLE, delivery:SETTLE, options, earn | user | available money |
 * | NAME.locked | user | the part of NAME that orders or withdrawals hold |
 * | debt.SCOPE | user | what the user owes (never above zero) |
 * | equity | platform | what the operator put in (sandbox credits, own funds) |
 * | custody:CHAIN | platform | coins on a chain |
 * | deposits.unclaimed | platform | deposits that wait for a decision, or are too small |
 * | network_fees | platform | what chains took for our payments (an expense, below zero) |
 * | lending.pool | platform | what lenders have put in and nobody has borrowed |
 * | lending.lent, lending.accrued | platform | what borrowers owe the lenders: principal, and interest not paid yet |
 * | fees, interest, insurance, push.in_flight, withdrawal.in_flight … | platform | by purpose |
 */
export const PLATFORM = 0
export const isPlatform = (owner: number): boolean => owner === PLATFORM

const LOCKED = '.locked'
export const lockedName = (name: string): string => `${name}${LOCKED}`
export const isLocked = (name: string): boolean => name.endsWith(LOCKED)
export const marginName = (pair: string): string => `margin:${pair}`
/** What covers the losses that margin trading, or unified accounts, could not. */
export const insuranceName = (business: 'margin' | 'unified'): string =>
  business === 'margin' ? 'insurance:margin' : 'insurance'
export const contractName = (kind: 'futures' | 'delivery', settle: string): string => `${kind}:${settle}`

/** Platform accounts that hold others' money: they can run short, and then it is a bug. */
const HOLDING = new Set([
  'push.in_flight',
  'withdrawal.in_flight',
  'deposits.unclaimed',
  'lending.pool',
  insuranceName('unified'),
  insuranceName('margin'),
])

/** The platform's own money: nobody else has a claim on it, and it may be closed with its currency. */
const OWN = new Set([
  'equity',
  'fees',
  'interest',
  'network_fees',
  'lending.pool',
  insuranceName('unified'),
  insuranceName('margin'),
])
export const isOwn = (owner: number, name: string): boolean => owner === PLATFORM && OWN.has(name)

/** Debts, and the platform's own side. A user's money, free or held, never goes below zero. */
export const mayGoNegative = (owner: number, name: string): boolean =>
  owner === PLATFORM ? !HOLDING.has(name) : isDebt(name)
export const isDebt = (name: string): boolean => name.startsWith('debt.')

/**
 * Accounts that a rule fills before it takes from them: one that runs short shows a bug, and is no user's lack of
 * funds.
 */
export const neverShort = (owner: number, name: string): boolean => owner === PLATFORM || isLocked(name)
