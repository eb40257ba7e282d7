import { BrokenInvariant, refuse, type Label } from '../../labels.ts'
import { ZERO, add, format, type Amount } from '../../money/amount.ts'
import { nextId, type Counters } from '../counters.ts'
import { Table, type LogSpec, type TableSpec, type Tx } from '../table.ts'
import { isPlatform, mayGoNegative } from './accounts.ts'

/**
 * The double-entry ledger. Every balance is an account: a user's spot money, what an order or a withdrawal
 * holds, a debt, the fees, the coins in custody. For each currency all accounts add up to zero, always.
 */
export interface Account {
  readonly id: number
  /** The user, or 0 for the platform itself. */
  readonly owner: number
  readonly name: string
  readonly currency: string
  readonly amount: Amount
  /** How often this balance has changed; clients see it as update_id. */
  readonly version: number
}
export const ACCOUNT: TableSpec<Account> = {
  name: 'account',
  key: ['id'],
  columns: { id: 'int', owner: 'int', name: 'text', currency: 'text', amount: 'amount', version: 'int' },
}

/** One side of an entry, with the balance after it: any past balance is one look-up away. */
export interface LedgerLine {
  readonly id: number
  readonly entry: number
  readonly account: number
  readonly owner: number
  readonly name: string
  readonly currency: string
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
    owner: 'int',
    name: 'text',
    currency: 'text',
    amount: 'amount',
    after: 'amount',
    kind: 'text',
    ref: 'text',
    at: 'int',
  },
}

export interface Line {
  readonly owner: number
  readonly name: string
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

export class Ledger {
  readonly accounts = new Table(ACCOUNT)
  /** Ids by owner, name and currency: they stay while balances change. */
  private readonly byOwner = new Map<number, Map<string, Map<string, number>>>()
  private readonly totals = new Map<string, { total: bigint }>()
  /** How many currencies do not add up to zero at this moment: only ever above 0 inside `post`. */
  private unbalanced = 0

  constructor() {
    this.accounts.observe((before, after) => {
      const row = (after ?? before)!
      if (before === undefined || after === undefined) this.index(row, after)
      let sum = this.totals.get(row.currency)
      if (sum === undefined) this.totals.set(row.currency, (sum = { total: 0n }))
      const was = sum.total
      sum.total = was + (after?.amount ?? 0n) - (before?.amount ?? 0n)
      if (was === 0n) {
        if (sum.total !== 0n) this.unbalanced++
      } else if (sum.total === 0n) this.unbalanced--
    })
  }
  find(owner: number, name: string, currency: string): Account | undefined {
    const id = this.byOwner.get(owner)?.get(name)?.get(currency)
    return id === undefined ? undefined : this.accounts.get(id)
  }
  balance(owner: number, name: string, currency: string): Amount {
    return this.find(owner, name, currency)?.amount ?? ZERO
  }
  /** The accounts of one name of one owner: all spot balances of a user, say. */
  *named(owner: number, name: string): Generator<Account> {
    for (const id of this.byOwner.get(owner)?.get(name)?.values() ?? []) yield this.accounts.get(id)!
  }
  *ownedBy(owner: number): Generator<Account> {
    for (const byCurrency of this.byOwner.get(owner)?.values() ?? [])
      for (const id of byCurrency.values()) yield this.accounts.get(id)!
  }
  get currencies(): string[] {
    return [...this.totals.keys()].sort()
  }
  total(currency: string): Amount {
    return (this.totals.get(currency)?.total ?? 0n) as Amount
  }
  get unbalancedCurrencies(): string[] {
    return this.currencies.filter((currency) => this.total(currency) !== 0n)
  }
  /** The most important invariant there is; runs after every command, in production too. */
  check(): void {
    if (this.unbalanced > 0)
      throw new BrokenInvariant(`the ledger does not add up in ${this.unbalancedCurrencies.join(', ')}`)
  }

  /**
   * The only function that changes a balance. The lines of each currency add up to zero; an account that
   * would fall below zero refuses with the label of its kind.
   */
  post(context: { tx: Tx; at: number; counters: Counters }, entry: Entry): number {
    const { tx, at, counters } = context
    const { lines } = entry
    // An entry has the number of its first line.
    const entryId = nextId(tx, counters, 'line', 1, lines.length)
    let sum = 0n
    let { currency } = lines[0]!
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!
      if (line.currency !== currency) {
        // Lines come grouped by currency, so each group must close at zero before the next one begins.
        if (sum !== 0n) break
        ;({ currency } = line)
      }
      sum += line.amount
      this.book(tx, at, counters, entry, entryId, entryId + i, line)
    }
    if (sum !== 0n) throw new BrokenInvariant(`${entry.kind} ${entry.ref} does not add up in ${currency}`)
    return entryId
  }

  private book(
    tx: Tx,
    at: number,
    counters: Counters,
    entry: Entry,
    entryId: number,
    id: number,
    line: Line,
  ): void {
    const { owner, name, currency, amount } = line
    const account = this.find(owner, name, currency)
    const before = account?.amount ?? ZERO
    const after = add(before, amount)
    if (after < 0n && amount < 0n && entry.overdraft !== true && !mayGoNegative(owner, name))
      refuseShortage(name, currency, before, amount)
    const row: Account =
      account === undefined
        ? { id: nextId(tx, counters, 'account'), owner, name, currency, amount: after, version: 1 }
        : { id: account.id, owner, name, currency, amount: after, version: account.version + 1 }
    tx.put(this.accounts, row)
    tx.append(LEDGER_LINE, {
      id,
      entry: entryId,
      account: row.id,
      owner,
      name,
      currency,
      amount,
      after,
      kind: line.kind ?? entry.kind,
      ref: entry.ref,
      at,
    })
  }

  private index(row: Account, after: Account | undefined): void {
    let byName = this.byOwner.get(row.owner)
    if (byName === undefined) this.byOwner.set(row.owner, (byName = new Map<string, Map<string, number>>()))
    let byCurrency = byName.get(row.name)
    if (byCurrency === undefined) byName.set(row.name, (byCurrency = new Map<string, number>()))
    if (after === undefined) byCurrency.delete(row.currency)
    else byCurrency.set(row.currency, after.id)
  }
}

/** Moves an amount between two accounts of one currency: the commonest entry. */
export function move(
  from: { owner: number; name: string },
  to: { owner: number; name: string },
  currency: string,
  amount: Amount,
): Line[] {
  return [
    { owner: from.owner, name: from.name, currency, amount: -amount as Amount },
    { owner: to.owner, name: to.name, currency, amount },
  ]
}

/** Which label says that an account is short of money. */
export function shortageLabel(name: string): Label {
  if (name.startsWith('margin:')) return 'MARGIN_BALANCE_NOT_ENOUGH'
  if (name.startsWith('futures:') || name.startsWith('delivery:') || name === 'options')
    return 'FUTURES_BALANCE_NOT_ENOUGH'
  return 'BALANCE_NOT_ENOUGH'
}
function refuseShortage(name: string, currency: string, before: Amount, amount: Amount): never {
  const wanted = format(-amount as Amount)
  return refuse(
    shortageLabel(name),
    `not enough ${currency} in the ${name} account: ${format(before)} available, ${wanted} needed`,
  )
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
