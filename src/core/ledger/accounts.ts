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
 * | futures.clearing:SETTLE.CONTRACT, delivery.clearing:… | platform | the other side of every realised profit and loss of a contract |
 * | futures.funding:SETTLE.CONTRACT, futures.rounding:SETTLE | platform | funding on its way; what rounding leaves |
 * | insurance:futures.SETTLE | platform | the fund that takes over positions |
 * | fees, interest, insurance, push.in_flight, withdrawal.in_flight … | platform | by purpose |
 */
export const PLATFORM = 0
export const isPlatform = (owner: number): boolean => owner === PLATFORM

/** A user's money that is free. */
export type FreeName =
  'spot' | 'options' | 'earn' | `margin:${string}` | `futures:${string}` | `delivery:${string}`
export type LockedName = `${FreeName}.locked`
/** Principal and interest, by what was lent to: the unified account, or a pair's margin account. */
export type DebtName =
  | 'debt.unified'
  | 'debt.interest.unified'
  | `debt.margin:${string}`
  | `debt.interest.margin:${string}`
  | `debt.futures:${string}`
  | `debt.delivery:${string}`
export type UserAccountName = FreeName | LockedName | DebtName
export type PlatformAccountName =
  | 'equity'
  | `custody:${string}`
  | 'deposits.unclaimed'
  | 'network_fees'
  | 'lending.pool'
  | 'lending.lent'
  | 'lending.accrued'
  | 'fees'
  | 'interest'
  | 'insurance'
  | 'insurance:margin'
  | `insurance:futures.${string}`
  | `futures.clearing:${string}`
  | `delivery.clearing:${string}`
  | `futures.funding:${string}`
  | `futures.rounding:${string}`
  | 'push.in_flight'
  | 'withdrawal.in_flight'
/** A name that is none of these does not compile. */
export type AccountName = UserAccountName | PlatformAccountName

/** Whose account, and which, whatever its currency. */
export interface AccountKey {
  readonly owner: number
  readonly name: AccountName
}

const LOCKED = '.locked'
const LOCKED_END = LOCKED.charCodeAt(LOCKED.length - 1)
export const lockedName = (name: FreeName): LockedName => `${name}${LOCKED}`
/** Asked of every line that is booked: the letter it ends with answers it for most names. */
export const isLocked = (name: AccountName): name is LockedName =>
  name.charCodeAt(name.length - 1) === LOCKED_END && name.endsWith(LOCKED)
export const marginName = (pair: string): `margin:${string}` => `margin:${pair}`
/** What covers the losses that margin trading, or unified accounts, could not. */
export const insuranceName = (business: 'margin' | 'unified'): 'insurance' | 'insurance:margin' =>
  business === 'margin' ? 'insurance:margin' : 'insurance'
export const contractName = (
  kind: 'futures' | 'delivery',
  settle: string,
): `futures:${string}` | `delivery:${string}` => `${kind}:${settle}`
export const contractDebt = (
  kind: 'futures' | 'delivery',
  settle: string,
): `debt.futures:${string}` | `debt.delivery:${string}` => `debt.${kind}:${settle}`
export const fundingName = (settle: string, contract: string): `futures.funding:${string}` =>
  `futures.funding:${settle}.${contract}`
export const roundingName = (settle: string): `futures.rounding:${string}` => `futures.rounding:${settle}`
export const clearingName = (
  kind: 'futures' | 'delivery',
  settle: string,
  contract: string,
): `futures.clearing:${string}` | `delivery.clearing:${string}` => `${kind}.clearing:${settle}.${contract}`
/** The fund that takes over positions in contracts of a settle currency. */
export const contractInsurance = (settle: string) =>
  ({ owner: PLATFORM, name: `insurance:futures.${settle}` }) as const
/** Coins on a chain. */
export const custodyOf = (chain: string) => ({ owner: PLATFORM, name: `custody:${chain}` }) as const
/** Deposits that wait for a decision, or are too small. */
export const UNCLAIMED = { owner: PLATFORM, name: 'deposits.unclaimed' } as const
export const EQUITY = { owner: PLATFORM, name: 'equity' } as const
/** A user's spot account, which is its unified one too. */
export const spotOf = (owner: number) => ({ owner, name: 'spot' }) as const

/** Platform accounts that hold others' money: they can run short, and then it is a bug. */
const HOLDING: ReadonlySet<AccountName> = new Set<PlatformAccountName>([
  'push.in_flight',
  'withdrawal.in_flight',
  'deposits.unclaimed',
  'lending.pool',
  insuranceName('unified'),
  insuranceName('margin'),
])

/** The platform's own money: nobody else has a claim on it, and it may be closed with its currency. */
const OWN: ReadonlySet<AccountName> = new Set<PlatformAccountName>([
  'equity',
  'fees',
  'interest',
  'network_fees',
  'lending.pool',
  insuranceName('unified'),
  insuranceName('margin'),
])
export const isOwn = (owner: number, name: AccountName): boolean =>
  owner === PLATFORM &&
  (OWN.has(name) || name.startsWith('insurance:futures.') || name.startsWith('futures.rounding:'))

/** Debts, and the platform's own side. A user's money, free or held, never goes below zero. */
export const mayGoNegative = (owner: number, name: AccountName): boolean =>
  owner === PLATFORM ? !HOLDING.has(name) && !isContractHolding(name) : isDebt(name)
// Of funding on its way, some receive before others pay.
const isContractHolding = (name: AccountName): boolean =>
  name.startsWith('insurance:futures.') || name.startsWith('futures.rounding:')
export const isDebt = (name: AccountName): name is DebtName => name.startsWith('debt.')

/**
 * Accounts that a rule fills before it takes from them: one that runs short shows a bug, and is no user's lack of
 * funds.
 */
export const neverShort = (owner: number, name: AccountName): boolean => owner === PLATFORM || isLocked(name)
