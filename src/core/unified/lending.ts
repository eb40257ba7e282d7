import { HOUR } from '../time.ts'
import { positiveAmount } from '../positive.ts'
import { EQUITY, PLATFORM, insuranceName, type AccountKey } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import {
  ONE_RATE,
  ZERO,
  amountOf,
  decimalsOf,
  format,
  min,
  overDown,
  rateOf,
  roundDown,
  roundUp,
  timesDown,
  timesUp,
  type Amount,
  type Rate,
} from '../../money/amount.ts'
import { move, type Line } from '../ledger/ledger.ts'
import { nextId } from '../counters.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import type { Ctx, State } from '../state.ts'
import { schedule } from '../due.ts'
import { loanAccountsOf, type LoanAccounts } from '../tables/unified/loan-accounts.ts'
import type { RateCurve } from '../tables/world/unified.ts'
import { LOAN_RATE } from '../tables/unified/records.ts'

/**
 * The lenders' side. A currency's pool is what they have put in and nobody has borrowed; what is lent is a
 * claim of the pool. Interest that falls due is a claim too, and becomes the lenders' and the platform's money
 * when it is paid.
 */
export const POOL = { owner: PLATFORM, name: 'lending.pool' } as const
const LENT = { owner: PLATFORM, name: 'lending.lent' } as const
const ACCRUED = { owner: PLATFORM, name: 'lending.accrued' } as const
const INCOME = { owner: PLATFORM, name: 'interest' } as const

const RATE_DECIMALS = 8
const SEEDED = 'lending.seeded'
const HOURLY = 'lending.hourly'

export const poolFree = (state: State, currency: string): Amount =>
  state.ledger.balance(POOL.owner, POOL.name, currency)
export const poolLent = (state: State, currency: string): Amount =>
  state.ledger.balance(LENT.owner, LENT.name, currency)

/** Which part of a pool is lent. */
export function utilisationOf(state: State, currency: string): Rate {
  const lent = poolLent(state, currency)
  const all = (lent + poolFree(state, currency)) as Amount
  return (all === 0n ? 0n : overDown(lent, all as bigint as Rate)) as Rate
}
/** The hourly rate of a utilisation, rounded up to 8 decimals. */
export function curveRate({ base, kink, at_kink, full }: RateCurve, utilisation: Rate): Rate {
  const [low, bend, middle, high] = [base, kink, at_kink, full].map(rateOf) as [Rate, Rate, Rate, Rate]
  const part = (from: Rate, to: Rate, done: bigint, of: bigint): bigint => from + ((to - from) * done) / of
  const rate =
    utilisation <= bend
      ? part(low, middle, utilisation, bend)
      : part(middle, high, utilisation - bend, ONE_RATE - bend)
  return roundUp(rate as Amount, RATE_DECIMALS) as bigint as Rate
}
/** Undefined for a currency that is not lent. */
export function hourlyRate(state: State, currency: string): Rate | undefined {
  const terms = state.world.loanTerms(currency)
  return terms === undefined || terms.config.loan_status !== 'enable'
    ? undefined
    : curveRate(terms.config.rate, utilisationOf(state, currency))
}
/** What an hour costs that is owed already: it does so as long as anything is owed, also where nothing is lent any more. */
export function chargedRate(state: State, currency: string): Rate | undefined {
  const terms = state.world.loanTerms(currency)
  if (terms === undefined || (terms.config.loan_status !== 'enable' && poolLent(state, currency) === 0n))
    return undefined
  return curveRate(terms.config.rate, utilisationOf(state, currency))
}
/** What a VIP tier pays for an hour: the hour's rate as often as its tier says, rounded up to 8 decimals. */
export const tierRate = (state: State, vip: number, rate: Rate): Rate =>
  roundUp(
    timesUp(rate as bigint as Amount, rateOf(state.world.tierUpRate(vip))),
    RATE_DECIMALS,
  ) as bigint as Rate

const line = (place: AccountKey, currency: string, amount: bigint, kind?: string): Line => ({
  ...place,
  currency,
  amount: amount as Amount,
  ...(kind !== undefined && { kind }),
})
/** The pool's money → the user, who owes it from now on. */
export const lendLines = (
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  amount: Amount,
): Line[] => [
  line(POOL, currency, -amount),
  line({ owner: userId, name: accounts.free }, currency, amount),
  line({ owner: userId, name: accounts.debt }, currency, -amount),
  line(LENT, currency, amount),
]
/** A debt grows by its interest; nobody has the money yet. */
export const accrueLines = (
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  interest: Amount,
): Line[] => [
  line({ owner: userId, name: accounts.interest }, currency, -interest),
  line(ACCRUED, currency, interest),
]
/** Somebody's money → the pool, for a user's debt: interest first, shared with the platform. */
export function settleLines(
  state: State,
  payer: AccountKey,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  principal: Amount,
  interest: Amount,
): Line[] {
  const { precision } = state.world.currency(currency)
  const lenders = roundDown(timesDown(interest, rateOf(state.world.lenderShare)), precision)
  const lines: Line[] = []
  if (interest > 0n)
    lines.push(
      line(payer, currency, -interest, 'interest_out'),
      line(POOL, currency, lenders, 'interest_out'),
      line(INCOME, currency, interest - lenders, 'interest_out'),
      line({ owner: userId, name: accounts.interest }, currency, interest, 'interest_out'),
      line(ACCRUED, currency, -interest, 'interest_out'),
    )
  if (principal > 0n)
    lines.push(
      line(payer, currency, -principal),
      line(POOL, currency, principal),
      line({ owner: userId, name: accounts.debt }, currency, principal),
      line(LENT, currency, -principal),
    )
  return lines
}
/** A debt that nobody can pay: the lenders' claim goes with it. */
export function writeOffLines(
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  principal: Amount,
  interest: Amount,
): Line[] {
  const lines: Line[] = []
  if (interest > 0n)
    lines.push(
      line({ owner: userId, name: accounts.interest }, currency, interest),
      line(ACCRUED, currency, -interest),
    )
  if (principal > 0n)
    lines.push(
      line({ owner: userId, name: accounts.debt }, currency, principal),
      line(LENT, currency, -principal),
    )
  return lines
}

/** What would be lent, but has no trusted price. */
export const unpricedLoans = ({ world, prices }: State): string[] =>
  world.loanCurrencyNames.filter(
    (currency) => world.loanTerms(currency)!.config.loan_status === 'enable' && prices.of(currency) === 0n,
  )

/** What may still be lent to an account, in units: the user's limit, the platform's, and what the pool has. */
export function lendingCap(state: State, userId: number, currency: string): Amount {
  const terms = state.world.loanTerms(currency)
  if (terms === undefined || terms.config.loan_status !== 'enable') return ZERO
  // Nothing is lent that has no price, or one that has just jumped.
  if (state.prices.quote(currency).firm === 0n) return ZERO
  let owed = 0n
  for (const loan of state.margin.loansOf(userId))
    if (loan.currency === currency)
      owed -= state.ledger.balance(userId, loanAccountsOf(loan.scope).debt, currency)
  const userRoom = (state.prices.fromUsdt(currency, terms.userMax) - owed) as Amount
  const totalRoom = (state.prices.fromUsdt(currency, terms.totalMax) - poolLent(state, currency)) as Amount
  const room = min(min(userRoom, totalRoom), poolFree(state, currency))
  return room < 0n ? ZERO : room
}

/** Runs at every start: fills the sandbox's pools once, and sees to it that the next full hour is due. */
export function beginLending(ctx: Ctx, input: { seed: boolean }): null {
  const { state, tx } = ctx
  if (input.seed) seed()
  const due = state.world.settings.get(HOURLY)?.value as { due_id: number } | undefined
  if (due === undefined || state.due.table.get(due.due_id) === undefined)
    planHour(ctx, (Math.floor(ctx.at / HOUR) + 1) * HOUR)
  if (due === undefined) recordRates(ctx, Math.floor(ctx.at / HOUR) * HOUR)
  return null

  function seed(): void {
    const done = (state.world.settings.get(SEEDED)?.value ?? []) as readonly string[]
    const fresh = state.world.loanCurrencyNames.filter((currency) => !done.includes(currency))
    if (fresh.length === 0) return
    for (const currency of fresh) {
      const { supply, insurance } = state.world.loanTerms(currency)!.config
      for (const [name, text] of [
        [POOL.name, supply],
        [insuranceName('unified'), insurance],
        [insuranceName('margin'), insurance],
      ] as const) {
        const amount = amountOf(text)
        if (amount === 0n) continue
        const lines = move(EQUITY, { owner: PLATFORM, name }, currency, amount)
        state.ledger.post(ctx, { kind: 'fund', ref: `fund:${name}`, lines })
      }
    }
    tx.put(state.world.settings, { name: SEEDED, value: [...done, ...fresh] })
  }
}
/** Fixes the rates of a full hour, and keeps them for history_loan_rate. */
export function recordRates(ctx: Ctx, hour: number): Readonly<Record<string, string>> {
  const { state, tx } = ctx
  const rates: Record<string, string> = {}
  for (const currency of state.world.loanCurrencyNames) {
    const rate = chargedRate(state, currency)
    if (rate === undefined) continue
    rates[currency] = format(rate)
    const id = nextId(tx, state.counters, 'loan_rate')
    tx.append(LOAN_RATE, { id, currency, rate: rate as bigint as Amount, at: hour })
  }
  return rates
}
export function planHour(ctx: Ctx, at: number): void {
  const due_id = schedule(ctx, at, 'lending.hour', {})
  ctx.tx.put(ctx.state.world.settings, { name: HOURLY, value: { due_id } })
}

export type Fund = 'pool' | 'insurance' | 'insurance:margin'
/** Operator equity → a lending pool or an insurance fund. */
export function fundLending(
  ctx: Ctx,
  input: { currency: string; fund: Fund; amount: string; actor: Actor },
): null {
  const { state, tx } = ctx
  const { currency, precision } = state.world.currency(input.currency)
  if (state.world.loanTerms(currency) === undefined)
    refuse(
      'INVALID_CURRENCY',
      `currency: ${currency} is not lent here; GET /unified/currencies lists what is`,
    )
  const amount = positiveAmount(input.amount)
  if (decimalsOf(amount) > precision)
    refuse(
      'INVALID_PARAM_VALUE',
      `amount: "${input.amount}" has more than ${currency}'s ${precision} decimals`,
    )
  const name = input.fund === 'pool' ? POOL.name : input.fund
  const lines = move(EQUITY, { owner: PLATFORM, name }, currency, amount)
  const ref = `fund:${nextId(tx, state.counters, 'fund')}`
  state.ledger.post(ctx, { kind: 'fund', ref, lines })
  audit(ctx, input.actor, 'lending.fund', { currency, fund: input.fund, amount: input.amount })
  return null
}
