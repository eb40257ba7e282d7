import { ZERO, type Amount } from '../../money/amount.ts'
import { contractDebt, contractName, type AccountName, type FreeName } from '../ledger/accounts.ts'
import type { State } from '../state.ts'
import { holdsContracts } from '../tables/unified/accounts.ts'
import type { Contract } from '../tables/world/contracts.ts'

/** Which money of a user's is the cash of contracts: the one place that decides it. */

/** Whose cash, and in which currency: what a contract says of it, or a transfer. */
export type Settled = Pick<Contract, 'group' | 'settle' | 'currency' | 'account' | 'cash' | 'debt'>

export const POINTS = 'POINT'
/** Of an account's name, group/settle. */
export function settledOf(account: string): Settled {
  const [group, settle] = account.split('/') as [Settled['group'], string]
  return settledIn(group, settle)
}
/** Made once for each: whoever looks up by names that are made anew has them hashed and compared letter by letter. */
const MADE = { futures: new Map<string, Settled>(), delivery: new Map<string, Settled>() }
/** Of settle currencies that nobody has there are as many as somebody makes up. */
const MADE_MAX = 100
export function settledIn(group: Settled['group'], settle: string): Settled {
  const known = MADE[group].get(settle)
  if (known !== undefined) return known
  const made = madeFor(group, settle)
  if (MADE[group].size < MADE_MAX) MADE[group].set(settle, made)
  return made
}
function madeFor(group: Settled['group'], settle: string): Settled {
  return {
    group,
    settle,
    currency: settle.toUpperCase(),
    account: `${group}/${settle}`,
    cash: contractName(group, settle),
    debt: contractDebt(group, settle),
  }
}
/** What a unified account may hold contracts of. */
export const UNIFIED_CONTRACTS = settledOf('futures/usdt')

/** Perpetual contracts settled in USDT belong to the unified account, where there is one. */
export const isUnifiedFor = (
  state: State,
  userId: number,
  { group, settle }: Pick<Settled, 'group' | 'settle'>,
): boolean => {
  if (group !== 'futures' || settle !== 'usdt') return false
  const row = state.margin.table.get(userId)
  return row !== undefined && holdsContracts(row)
}
/** And there all currencies carry them together; in single_currency mode the money of USDT alone does. */
export const isSharedFor = (
  state: State,
  userId: number,
  settled: Pick<Settled, 'group' | 'settle'>,
): boolean => isUnifiedFor(state, userId, settled) && state.margin.modeOf(userId) !== 'single_currency'

/** The account that profits come to and losses, fees and funding are taken from. */
export const cashName = (state: State, userId: number, settled: Settled): FreeName =>
  isUnifiedFor(state, userId, settled) ? 'spot' : settled.cash
/** What realised losses took beyond the cash and nobody lent; not above zero. */
export const debtOf = (state: State, userId: number, { debt, currency }: Settled): Amount =>
  balanceUnder(state, userId, debt, currency)
/** Of names that are the platform's own: looked up by their purpose, whether anybody has such an account or not. */
const balanceUnder = ({ ledger }: State, userId: number, name: AccountName, currency: string): Amount =>
  ledger.under(ledger.purpose(name, currency), userId)?.amount ?? ZERO
/** Isolated margins included, less what is owed. */
export function totalOf(state: State, userId: number, settled: Settled): Amount {
  const cash = balanceUnder(state, userId, cashName(state, userId, settled), settled.currency)
  return (cash + debtOf(state, userId, settled)) as Amount
}
/** Whether it has positions or orders in what a unified account may hold. */
export function tradesContracts({ futures }: State, userId: number): boolean {
  const { account } = UNIFIED_CONTRACTS
  return (
    futures.positions.holds(userId, account) ||
    futures.openPairs(userId).some((id) => id.startsWith(`${account}/`))
  )
}
