import { lockedName, type AccountName } from '../core/ledger/accounts.ts'
import { ACCOUNT, LEDGER_LINE, type Account, type LedgerLine } from '../core/ledger/ledger.ts'
import type { State } from '../core/state.ts'
import { SPOT_ORDER } from '../core/tables/exchange/order.ts'
import { MARGIN_ACCOUNT, type MarginAccount } from '../core/tables/unified/accounts.ts'
import { UNIFIED, loanAccountsOf } from '../core/tables/unified/loan-accounts.ts'
import type { CommandRows } from '../events/rows.ts'
import { placeOfAccount } from '../events/venues.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import { ZERO, format, negate, type Amount } from '../money/amount.ts'

const SPOT = 'spot'
const SPOT_LOCKED = lockedName(SPOT)
const LENT = 'earn'
const key = (name: AccountName, currency: string): string => `${name} ${currency}`

/** What the records of a command's balances are made from. */
interface Moment {
  readonly timestamp: string
  readonly timestamp_ms: string
  readonly user: string
}
/** An account before the command, and after it. */
interface Step {
  readonly before: Account | undefined
  readonly after: Account
}

/** One user's money as commits say it, so that a record has both halves of a balance, whichever of them moved. */
export class FollowedUser {
  readonly userId: number
  /** Shows everything up to this batch. */
  readonly since: number
  private readonly accounts = new Map<string, Account>()
  private mode: MarginAccount['mode']

  constructor(userId: number, since: number, { accounts, mode }: UserSnapshot) {
    this.userId = userId
    this.since = since
    this.mode = mode
    for (const account of accounts) this.accounts.set(key(account.name, account.currency), account)
  }
  /** Everything that a command changed of it. */
  hear(command: CommittedCommand, rows: CommandRows): UserBalances | undefined {
    if (command.sequence <= this.since) return undefined
    for (const { after } of rows.of(MARGIN_ACCOUNT))
      if (after?.user_id === this.userId) this.mode = after.mode
    const steps: Step[] = []
    for (const { before, after } of rows.of(ACCOUNT)) {
      if (after?.owner !== this.userId || before?.version === after.version) continue
      this.accounts.set(key(after.name, after.currency), after)
      steps.push({ before, after })
    }
    return steps.length === 0 ? undefined : new UserBalances(this, this.mode, command, rows, steps)
  }
  amount(name: AccountName, currency: string): Amount {
    return this.accounts.get(key(name, currency))?.amount ?? ZERO
  }
  version(name: AccountName, currency: string): number {
    return this.accounts.get(key(name, currency))?.version ?? 0
  }
}
export interface UserSnapshot {
  readonly accounts: readonly Account[]
  readonly mode: MarginAccount['mode']
}
export const userSnapshot = (state: State, userId: number): UserSnapshot => ({
  accounts: [...state.ledger.ownedBy(userId)],
  mode: state.margin.of(userId).mode,
})

/** What one command did to one user's money, as each channel tells it. */
export class UserBalances {
  private readonly user: FollowedUser
  private readonly unified: boolean
  private readonly rows: CommandRows
  private readonly steps: readonly Step[]
  private readonly moment: Moment
  private readonly at: number
  private spotRecords: readonly object[] | undefined

  constructor(
    user: FollowedUser,
    mode: MarginAccount['mode'],
    { at }: CommittedCommand,
    rows: CommandRows,
    steps: readonly Step[],
  ) {
    this.user = user
    this.unified = mode !== 'classic'
    this.rows = rows
    this.steps = steps
    this.at = at
    this.moment = {
      timestamp: String(Math.floor(at / 1e6)),
      timestamp_ms: String(Math.floor(at / 1e3)),
      user: String(user.userId),
    }
  }
  spot(): readonly object[] {
    return (this.spotRecords ??= this.changedCurrencies(SPOT, SPOT_LOCKED).map((currency) =>
      this.spotRecord(currency),
    ))
  }
  cross(): readonly object[] {
    return this.unified ? this.spot() : []
  }
  margin(): object[] {
    const records = new Map<string, object>()
    for (const { after } of this.steps) {
      const { venue, market } = placeOfAccount(after.name)
      if (venue !== 'margin') continue
      const { currency } = after
      const name = `${market} ${currency}`
      if (!records.has(name)) records.set(name, this.marginRecord(market, currency))
    }
    return [...records.values()]
  }
  funding(): object[] {
    return this.changedCurrencies(LENT).map((currency) => ({
      ...this.moment,
      currency,
      change: format(this.change(currency, LENT)),
      freeze: '0',
      lent: format(this.user.amount(LENT, currency)),
    }))
  }
  /** What the unified account owes more, or less. */
  loans(): object[] {
    const { user } = this
    return this.changedCurrencies(UNIFIED.debt, UNIFIED.interest).map((currency) => {
      const available = user.amount(SPOT, currency)
      return {
        timestamp: Math.floor(this.at / 1e3),
        user: this.moment.user,
        currency,
        change: format(negate(this.change(currency, UNIFIED.debt, UNIFIED.interest))),
        total: format((available + user.amount(SPOT_LOCKED, currency)) as Amount),
        available: format(available),
        borrowed: format(negate(user.amount(UNIFIED.debt, currency))),
        interest: format(negate(user.amount(UNIFIED.interest, currency))),
      }
    })
  }

  private spotRecord(currency: string): object {
    const { user } = this
    const available = user.amount(SPOT, currency)
    const freeze = user.amount(SPOT_LOCKED, currency)
    return {
      ...this.moment,
      currency,
      change: format(this.change(currency, SPOT, SPOT_LOCKED)),
      total: format((available + freeze) as Amount),
      available: format(available),
      freeze: format(freeze),
      freeze_change: format(this.change(currency, SPOT_LOCKED)),
      change_type: this.causeOf(currency),
      update_id: user.version(SPOT, currency) + user.version(SPOT_LOCKED, currency),
    }
  }
  private marginRecord(market: string, currency: string): object {
    const { free, held, debt, interest } = loanAccountsOf(market)
    const { user } = this
    return {
      ...this.moment,
      currency_pair: market,
      currency,
      change: format(this.change(currency, free, held)),
      available: format(user.amount(free, currency)),
      freeze: format(user.amount(held, currency)),
      borrowed: format(negate(user.amount(debt, currency))),
      interest: format(negate(user.amount(interest, currency))),
    }
  }
  /** In the order in which they were touched. */
  private changedCurrencies(...names: readonly AccountName[]): string[] {
    const currencies = new Set<string>()
    for (const { after } of this.steps) if (names.includes(after.name)) currencies.add(after.currency)
    return [...currencies]
  }
  private change(currency: string, ...names: readonly AccountName[]): Amount {
    let change = 0n
    for (const { before, after } of this.steps)
      if (after.currency === currency && names.includes(after.name))
        change += after.amount - (before?.amount ?? 0n)
    return change as Amount
  }
  /** Of several causes the first in the order of `CAUSES`. */
  private causeOf(currency: string): string {
    const ids = new Set<number>()
    for (const { after } of this.steps)
      if (after.currency === currency && (after.name === SPOT || after.name === SPOT_LOCKED))
        ids.add(after.id)
    let best = CAUSES.length - 1
    for (const line of this.rows.appendedTo(LEDGER_LINE))
      if (ids.has(line.account)) best = Math.min(best, CAUSES.indexOf(this.wordFor(line)))
    return CAUSES[best]!
  }
  private wordFor({ kind, ref, amount }: LedgerLine): (typeof CAUSES)[number] {
    // What an amendment holds is no new order.
    if (kind === 'new_order') return this.wasOpen(ref) ? 'order-update' : 'order-create'
    if (kind === 'deposit') {
      // An operator's credit, and what one customer withdraws to another, are booked in the same word.
      if (ref.startsWith('transfer:')) return 'other'
      if (amount < 0n) return 'withdraw'
    }
    return WORDS[kind] ?? 'other'
  }
  private wasOpen(ref: string): boolean {
    const [noun, record] = ref.split(':')
    if (noun !== 'order') return false
    const id = Number(record)
    return this.rows.of(SPOT_ORDER).some(({ before, after }) => before !== undefined && after?.id === id)
  }
}

const CAUSES = [
  'order-match',
  'order-create',
  'order-update',
  'trade-fee-deduct',
  'deposit',
  'withdraw',
  'margin-transfer',
  'future-transfer',
  'cross-margin-transfer',
  'other',
] as const
/** Words of the account book. */
const WORDS: Readonly<Record<string, (typeof CAUSES)[number]>> = {
  order_fill: 'order-match',
  cancel_order: 'order-update',
  order_fee: 'trade-fee-deduct',
  deposit: 'deposit',
  deposit_rej: 'deposit',
  withdraw: 'withdraw',
  withdraw_sent: 'withdraw',
  cancel_withdraw: 'withdraw',
  withdraw_rej: 'withdraw',
  margin_in: 'margin-transfer',
  margin_out: 'margin-transfer',
  perp_in: 'future-transfer',
  perp_out: 'future-transfer',
  delivery_in: 'future-transfer',
  delivery_out: 'future-transfer',
  options_in: 'future-transfer',
  options_out: 'future-transfer',
  cross_in: 'cross-margin-transfer',
  cross_out: 'cross-margin-transfer',
}
