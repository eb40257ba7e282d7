import { BrokenInvariant, refuse, type Label } from '../../labels.ts'
import { ZERO, add, format, type Amount } from '../../money/amount.ts'
import { counting, nextId, type Counters } from '../counters.ts'
import { Table, type LogSpec, type TableSpec, type Tx } from '../../machine/table.ts'
import {
  isDebt,
  isLocked,
  isPlatform,
  mayGoNegative,
  neverShort,
  type AccountName,
  type AccountKey,
} from './accounts.ts'
import type { Difference, Holds } from './holds.ts'
import { Found, Owned } from './owned.ts'

/**
 * The double-entry ledger. Every balance is an account: a user's spot money, what an order or a withdrawal
 * holds, a debt, the fees, the coins in custody. For each currency all accounts add up to zero, always.
 */
export interface Account {
  readonly id: number
  /** The user, or 0 for the platform itself. */
  readonly owner: number
  readonly name: AccountName
  readonly currency: string
  readonly amount: Amount
  /** How often this balance has changed; clients see it as update_id. */
  readonly version: number
}
export const ACCOUNT: TableSpec<Account> = {
  name: 'account',
  key: ['id'],
  columns: { id: 'int', owner: 'int', name: 'text', currency: 'text', amount: 'amount', version: 'int' },
  numbered: true,
}
/** All accounts of one name and currency, whoever owns them. */
export interface Purpose {
  readonly name: AccountName
  readonly currency: string
  /** Counts up from 1. */
  readonly serial: number
  /** What its name says, read once. */
  readonly debt: boolean
  /** Ids by owner, of those who have many accounts. */
  readonly ids: Map<number, number>
}
/** Of one currency: all accounts added up, and where its locked accounts are compared with what holds them. */
interface CurrencySum {
  readonly currency: string
  total: bigint
  readonly held: Difference
}

/** One side of an entry, with the balance after it: any past balance is one look-up away. */
export interface LedgerLine {
  readonly id: number
  readonly entry: number
  readonly account: number
  readonly amount: Amount
  readonly after: Amount
  readonly kind: string
  readonly ref: string
  readonly at: number
}
export const LEDGER_LINE: LogSpec<LedgerLine> = {
  name: 'ledger_line',
  columns: {
    id: 'int',
    entry: 'int',
    account: 'int',
    amount: 'amount',
    after: 'amount',
    kind: 'text',
    ref: 'text',
    at: 'int',
  },
}

/** What all lines of an entry share. */
interface EntryHead {
  readonly id: number
  readonly kind: string
  /** What it belongs to: a noun and a number, or a noun that says it all. */
  readonly noun: string
  readonly record: number | undefined
  readonly at: number
  /** The two of them as a text: made once, when the first line is written. */
  ref: string | undefined
}
/** A line as it is written: most of what it says, its entry and its account's new row know. */
class BookedLine implements LedgerLine {
  readonly id: number
  private readonly head: EntryHead
  private readonly row: Account
  readonly amount: Amount
  readonly kind: string
  constructor(id: number, head: EntryHead, row: Account, amount: Amount, kind: string) {
    this.id = id
    this.head = head
    this.row = row
    this.amount = amount
    this.kind = kind
  }
  get entry(): number {
    return this.head.id
  }
  get account(): number {
    return this.row.id
  }
  get after(): Amount {
    return this.row.amount
  }
  get ref(): string {
    const { head } = this
    return (head.ref ??= head.record === undefined ? head.noun : `${head.noun}:${head.record}`)
  }
  get at(): number {
    return this.head.at
  }
}

export interface Line extends AccountKey {
  readonly currency: string
  readonly amount: Amount
  /** Where one line of an entry is known by another word: the fee within a fill. */
  readonly kind?: string
}
export interface Entry {
  /** What happened, in the words of the account book: transfer, deposit, order_fill … */
  readonly kind: string
  /** The record it belongs to, such as `transfer:17`. */
  readonly ref: string
  readonly lines: readonly Line[]
  /** A correction may leave a user's account below zero (a reversed deposit); nothing else may. */
  readonly overdraft?: boolean
}

/** What a posting needs of the command that it is part of. */
export interface Posting {
  readonly tx: Tx
  readonly at: number
}

/** Accounts that most owners do not have more of. */
const FEW = 16

/** The purposes of one name: accounts that are settled in one currency alone have but one. */
interface Named {
  readonly byCurrency: Map<string, Purpose>
  /** The one that was asked for last. */
  last: Purpose | undefined
}

export class Ledger {
  readonly accounts = new Table(ACCOUNT)
  /** By name, then by currency. */
  private readonly purposes = new Map<AccountName, Named>()
  private readonly owned = new Owned()
  private readonly found = new Found()
  private purposesMade = 0
  /** Ids of users' accounts that a correction left below zero, by owner; some may be above again since. */
  readonly overdrawn = new Map<number, Set<number>>()
  private readonly totals = new Map<string, CurrencySum>()
  /** The two that were booked in last. */
  private bookedLast: CurrencySum | undefined
  private bookedBefore: CurrencySum | undefined
  /** How many currencies do not add up to zero at this moment: only ever above 0 while an entry is open. */
  private unbalanced = 0
  readonly counters: Counters

  constructor(counters: Counters, holds: Holds) {
    this.counters = counters
    // Every line of every entry comes through here: one look-up, and one difference for both sums.
    this.accounts.observe((before, after, signal) => {
      const row = (after ?? before)!
      const sum = this.sumOf(row.currency, holds)
      let change: bigint
      if (before !== undefined && after !== undefined) {
        change = after.amount - before.amount
        if (signal === 'follow' && after.amount < 0n) this.noteOverdrawn(after)
      } else {
        this.index(row, after)
        change = after === undefined ? -row.amount : row.amount
      }
      if (change === 0n) return
      if (isLocked(row.name)) holds.add(sum.held, change)
      if (sum.total === 0n) {
        sum.total = change
        this.unbalanced++
      } else {
        sum.total += change
        if (sum.total === 0n) this.unbalanced--
      }
    })
  }
  /** An entry has two currencies at most, line by line in turn. */
  private sumOf(currency: string, holds: Holds): CurrencySum {
    const { bookedLast, bookedBefore } = this
    if (bookedLast?.currency === currency) return bookedLast
    this.bookedBefore = bookedLast
    if (bookedBefore?.currency === currency) return (this.bookedLast = bookedBefore)
    let sum = this.totals.get(currency)
    if (sum === undefined)
      this.totals.set(currency, (sum = { currency, total: 0n, held: holds.of(currency) }))
    return (this.bookedLast = sum)
  }
  /** Who books often under one name and currency looks it up once. */
  purpose(name: AccountName, currency: string): Purpose {
    let named = this.purposes.get(name)
    if (named === undefined)
      this.purposes.set(name, (named = { byCurrency: new Map<string, Purpose>(), last: undefined }))
    if (named.last?.currency === currency) return named.last
    let purpose = named.byCurrency.get(currency)
    if (purpose === undefined) {
      purpose = { name, currency, serial: ++this.purposesMade, debt: isDebt(name), ids: new Map() }
      named.byCurrency.set(currency, purpose)
    }
    return (named.last = purpose)
  }
  find(owner: number, name: AccountName, currency: string): Account | undefined {
    const named = this.purposes.get(name)
    const purpose = named?.last?.currency === currency ? named.last : named?.byCurrency.get(currency)
    if (purpose !== undefined) return this.under(purpose, owner)
    return this.owned.count(owner) <= FEW ? this.among(owner, name, currency) : undefined
  }
  /** The same by its purpose. */
  under(purpose: Purpose, owner: number): Account | undefined {
    const { found } = this
    const slot = found.slotOf(owner, purpose.serial)
    if (found.knows(slot, owner, purpose.serial)) {
      const id = found.idIn(slot)
      return id === 0 ? undefined : this.accounts.get(id)
    }
    const account = this.search(purpose, owner)
    found.keep(slot, owner, purpose.serial, account?.id ?? 0)
    return account
  }
  private search({ name, currency, ids }: Purpose, owner: number): Account | undefined {
    if (this.owned.count(owner) <= FEW) return this.among(owner, name, currency)
    const id = ids.get(owner)
    return id === undefined ? undefined : this.accounts.get(id)
  }
  private among(owner: number, name: AccountName, currency: string): Account | undefined {
    for (let id = this.owned.firstOf(owner); id !== 0; id = this.owned.after(id)) {
      const account = this.accounts.get(id)!
      if (account.currency === currency && account.name === name) return account
    }
    return undefined
  }
  balance(owner: number, name: AccountName, currency: string): Amount {
    return this.find(owner, name, currency)?.amount ?? ZERO
  }
  /** The accounts of one name of one owner: all spot balances of a user, say. */
  *named(owner: number, name: AccountName): Generator<Account> {
    for (const account of this.ownedBy(owner)) if (account.name === name) yield account
  }
  *ownedBy(owner: number): Generator<Account> {
    // One that comes meanwhile is told too.
    for (let id = this.owned.firstOf(owner); id !== 0; id = this.owned.after(id)) yield this.accounts.get(id)!
  }
  /** An account of the owner's that is below zero and no debt. */
  overdrawnOf(owner: number): Account | undefined {
    const ids = this.overdrawn.get(owner)
    if (ids === undefined) return undefined
    for (const id of ids) {
      const account = this.accounts.get(id)
      if (account !== undefined && account.amount < 0n) return account
    }
    return undefined
  }
  /** Only entries that may overdraw, loading and following call this: nothing else takes a user's money below zero. */
  noteOverdrawn({ id, owner, name }: Account): void {
    if (isPlatform(owner) || isDebt(name)) return
    let ids = this.overdrawn.get(owner)
    if (ids === undefined) this.overdrawn.set(owner, (ids = new Set<number>()))
    ids.add(id)
  }
  get currencies(): string[] {
    return [...this.totals.keys()].sort()
  }
  /** Whether anybody has ever had any of it. */
  knows(currency: string): boolean {
    return this.totals.has(currency)
  }
  total(currency: string): Amount {
    return (this.totals.get(currency)?.total ?? 0n) as Amount
  }
  get unbalancedCurrencies(): string[] {
    return this.currencies.filter((currency) => this.total(currency) !== 0n)
  }
  /** The most important invariant there is; runs after every entry and every command, in production too. */
  check(): void {
    if (this.unbalanced > 0)
      throw new BrokenInvariant(`the ledger does not add up in ${this.unbalancedCurrencies.join(', ')}`)
  }

  /**
   * Books an entry. Its lines add up to zero in each currency; an account that would fall below zero refuses
   * with the label of its kind.
   */
  post(posting: Posting, entry: Entry): number {
    const open = new OpenEntry(this, posting, entry.kind, entry.ref, undefined, entry.overdraft)
    for (const { owner, name, currency, amount, kind } of entry.lines)
      open.line(owner, this.purpose(name, currency), amount, kind)
    return open.close()
  }
  /** The same line by line, for the record `noun:id`, or for what `noun` says alone. */
  open(posting: Posting, kind: string, noun: string, id: number | undefined): OpenEntry {
    return new OpenEntry(this, posting, kind, noun, id)
  }

  private index(row: Account, after: Account | undefined): void {
    const { owned } = this
    this.found.forget()
    const { id, owner } = row
    if (after !== undefined) {
      owned.add(owner, id)
      const count = owned.count(owner)
      if (count === FEW + 1) for (const account of this.ownedBy(owner)) this.entitle(account)
      else if (count > FEW) this.entitle(row)
      if (row.amount < 0n) this.noteOverdrawn(row)
    } else {
      this.purpose(row.name, row.currency).ids.delete(owner)
      this.overdrawn.get(owner)?.delete(id)
      owned.remove(owner, id)
    }
  }
  /** Among the accounts of an owner who has many it is found by its purpose. */
  private entitle({ id, owner, name, currency }: Account): void {
    this.purpose(name, currency).ids.set(owner, id)
  }
}

/** An entry that is being booked: the only code that changes a balance. */
export class OpenEntry {
  private readonly ledger: Ledger
  private readonly posting: Posting
  private readonly counter: { value: number }
  private readonly head: EntryHead
  private readonly overdraft: boolean

  constructor(
    ledger: Ledger,
    posting: Posting,
    kind: string,
    noun: string,
    record: number | undefined,
    overdraft = false,
  ) {
    this.ledger = ledger
    this.posting = posting
    this.counter = counting(posting.tx, ledger.counters, 'line')
    // An entry has the number of its first line.
    this.head = { id: this.counter.value + 1, kind, noun, record, at: posting.at, ref: undefined }
    this.overdraft = overdraft
  }
  line(owner: number, purpose: Purpose, amount: Amount, kind: string = this.head.kind): void {
    const { accounts } = this.ledger
    const { tx } = this.posting
    const { name, currency } = purpose
    const account = this.ledger.under(purpose, owner)
    const before = account?.amount ?? ZERO
    const after = add(before, amount)
    if (after < 0n) {
      if (amount < 0n && !this.overdraft && !mayGoNegative(owner, name))
        short(owner, name, currency, before, amount)
    } else if (purpose.debt && after > 0n)
      throw new BrokenInvariant(`user ${owner} would be owed ${currency} by its own ${name}`)
    const id = account?.id ?? nextId(tx, this.ledger.counters, 'account')
    const version = (account?.version ?? 0) + 1
    const row: Account = { id, owner, name, currency, amount: after, version }
    tx.replace(accounts, id, account, row)
    if (this.overdraft && after < 0n) this.ledger.noteOverdrawn(row)
    tx.append(LEDGER_LINE, new BookedLine(++this.counter.value, this.head, row, amount, kind))
  }
  close(): number {
    this.ledger.check()
    return this.head.id
  }
}

/** Moves an amount between two accounts of one currency: the commonest entry. */
export function move(from: AccountKey, to: AccountKey, currency: string, amount: Amount): Line[] {
  return [
    { owner: from.owner, name: from.name, currency, amount: -amount as Amount },
    { owner: to.owner, name: to.name, currency, amount },
  ]
}

/** Which label says that an account is short of money. */
export function shortageLabel(name: AccountName): Label {
  if (name.startsWith('margin:')) return 'MARGIN_BALANCE_NOT_ENOUGH'
  if (name.startsWith('futures:') || name.startsWith('delivery:') || name === 'options')
    return 'FUTURES_BALANCE_NOT_ENOUGH'
  return 'BALANCE_NOT_ENOUGH'
}
/** What a user's lack of money is told as, wherever it is found out. */
export function refuseShortage(
  name: AccountName,
  currency: string,
  available: Amount,
  wanted: Amount,
): never {
  return refuse(
    shortageLabel(name),
    `not enough ${currency} in the ${name} account: ${format(available)} available, ${format(wanted)} needed`,
  )
}
function short(owner: number, name: AccountName, currency: string, before: Amount, amount: Amount): never {
  const wanted = format(-amount as Amount)
  if (neverShort(owner, name))
    throw new BrokenInvariant(
      `the account ${name} of ${owner} holds ${format(before)} ${currency}, and ${wanted} are taken from it`,
    )
  return refuseShortage(name, currency, before, -amount as Amount)
}

export interface CurrencyProof {
  readonly currency: string
  readonly total: Amount
  /** What the platform owes its users (their balances less their debts). */
  readonly userLiabilities: Amount
  /** The platform's own accounts by name. */
  readonly platform: Readonly<Record<string, Amount>>
}
/** Adds everything up again from the rows, trusting no running total. */
export function proveLedger(accounts: Iterable<Account>): CurrencyProof[] {
  const proofs = new Map<string, { total: bigint; users: bigint; platform: Map<string, bigint> }>()
  for (const { owner, name, currency, amount } of accounts) {
    let proof = proofs.get(currency)
    if (proof === undefined) proofs.set(currency, (proof = { total: 0n, users: 0n, platform: new Map() }))
    proof.total += amount
    if (isPlatform(owner)) proof.platform.set(name, (proof.platform.get(name) ?? 0n) + amount)
    else proof.users += amount
  }
  return [...proofs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { total, users, platform }]) => ({
      currency,
      total: total as Amount,
      userLiabilities: users as Amount,
      platform: Object.fromEntries([...platform].sort(([a], [b]) => (a < b ? -1 : 1))) as Record<
        string,
        Amount
      >,
    }))
}
