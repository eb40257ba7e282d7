import { ONE, text } from './model.ts'

/** One slice of a table of tiers: up to so much of a currency, undefined: without an end. */
interface Slice {
  readonly upTo: bigint | undefined
  readonly rate: bigint
  readonly leverage: bigint
}
/** What everybody may read about a currency that is lent. */
export interface LoanTerms {
  readonly least: bigint
  /** In USDT. */
  readonly userMax: bigint
  readonly unit: bigint
  readonly discounts: readonly Slice[]
  readonly margins: readonly Slice[]
}
/** What became of an order in BTC_USDT. */
export interface Ended {
  readonly side: 'buy' | 'sell'
  readonly market: boolean
  readonly status: string
  readonly price: bigint
  readonly left: bigint
  readonly filled: bigint
  readonly total: bigint
  readonly fee: bigint
}
export type Mode = 'classic' | 'single_currency' | 'multi_currency' | 'portfolio'

const down = (a: bigint, b: bigint): bigint => (a * b) / ONE
const up = (a: bigint, b: bigint): bigint => (a * b + ONE - 1n) / ONE
const roundUp = (amount: bigint, unit: bigint): bigint => ((amount + unit - 1n) / unit) * unit
const SHOWN = 10n ** 10n
const RATE_SHOWN = 10n ** 14n
/** What is there is shown rounded down, what is owed or needed rounded up. */
export const shownDown = (amount: bigint): string => text(amount - (((amount % SHOWN) + SHOWN) % SHOWN))
export const shownUp = (amount: bigint): string => text(roundUp(amount, SHOWN))
const floor = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b
const shownRate = (over: bigint, under: bigint): string =>
  under === 0n ? '0' : text(floor(over * ONE, under * RATE_SHOWN) * RATE_SHOWN)

export const CURRENCIES = ['USDT', 'ETH', 'SOL', 'BTC'] as const
/** What an open order in BTC_USDT holds, and what all of it would bring at the least. */
export interface Resting {
  readonly side: 'buy' | 'sell'
  readonly given: bigint
  readonly got: bigint
}
/** What is free, by currency. */
export interface Purse {
  get(currency: string): bigint | undefined
  set(currency: string, amount: bigint): unknown
}
const givenBy = (side: 'buy' | 'sell'): string => (side === 'buy' ? 'USDT' : 'BTC')
export class Borrower {
  mode: Mode = 'classic'
  readonly free: Purse
  readonly owed = new Map<string, bigint>()
  readonly interest = new Map<string, bigint>()
  readonly leverage = new Map<string, bigint>()
  readonly excluded = new Set<string>()
  readonly texts = new Set<string>()
  /** USDT in an isolated account that has no loan. */
  apart = 0n
  /** In liquidation. */
  locked = false

  /** Its open orders, as they are now. */
  readonly orders: () => readonly Resting[]

  constructor(free: Purse = new Map<string, bigint>(), orders: () => readonly Resting[] = () => []) {
    this.free = free
    this.orders = orders
  }
  /** With more orders than it has. */
  copy(more: readonly Resting[] = []): Borrower {
    const orders = [...this.orders(), ...more]
    const other = new Borrower(undefined, () => orders)
    other.mode = this.mode
    other.apart = this.apart
    other.locked = this.locked
    for (const currency of CURRENCIES) other.free.set(currency, this.has(currency))
    for (const name of ['owed', 'interest', 'leverage'] as const)
      for (const [currency, amount] of this[name]) other[name].set(currency, amount)
    for (const name of ['excluded', 'texts'] as const) for (const one of this[name]) other[name].add(one)
    return other
  }
  debt(currency: string): bigint {
    return (this.owed.get(currency) ?? 0n) + (this.interest.get(currency) ?? 0n)
  }
  held(currency: string): bigint {
    return this.orders().reduce(
      (sum, { side, given }) => (givenBy(side) === currency ? sum + given : sum),
      0n,
    )
  }
  has(currency: string): bigint {
    return this.free.get(currency) ?? 0n
  }
  get owes(): boolean {
    return [...this.owed.keys()].some((currency) => this.debt(currency) > 0n)
  }
  /** Whether its currencies stand for each other. */
  get shared(): boolean {
    return this.mode === 'multi_currency' || this.mode === 'portfolio'
  }
}

/**
 * Unified accounts without contracts a second time, from the specification: loans, interest, modes, and every
 * figure counted anew whenever it is asked for.
 */
export class UnifiedModel {
  readonly terms: ReadonlyMap<string, LoanTerms>
  private readonly price: (currency: string) => bigint
  constructor(terms: ReadonlyMap<string, LoanTerms>, price: (currency: string) => bigint) {
    this.terms = terms
    this.price = price
  }
  priceOf(currency: string): bigint {
    return this.price(currency)
  }

  /** '' or a label: what any call about loans answers first. */
  private closed({ mode }: Borrower): string {
    if (mode === 'classic') return 'ACCOUNT_EXCEPTION'
    return mode === 'single_currency' ? 'MARGIN_NOT_SUPPORTED' : ''
  }
  private named(account: Borrower, name: string | undefined): string {
    return name !== undefined && account.texts.has(name) ? 'DUPLICATE_REQUEST' : ''
  }
  borrow(account: Borrower, currency: string, amount: bigint, name: string | undefined): string {
    const terms = this.terms.get(currency)!
    const before = this.closed(account) || this.named(account, name)
    if (before !== '') return before
    if (amount < terms.least) return 'AMOUNT_TOO_LITTLE'
    const most = (terms.userMax * ONE) / this.price(currency) - (account.owed.get(currency) ?? 0n)
    if (amount > most) return 'AMOUNT_TOO_MUCH'
    if (account.locked || (account.owes && this.margins(account).available < 0n)) return 'TRADE_RESTRICTED'
    const after = account.copy()
    this.lend(after, currency, amount)
    if (this.margins(after).available < 0n) return 'INITIAL_MARGIN_TOO_LOW'
    this.lend(account, currency, amount)
    if (name !== undefined) account.texts.add(name)
    return ''
  }
  lend(account: Borrower, currency: string, amount: bigint): void {
    account.free.set(currency, account.has(currency) + amount)
    account.owed.set(currency, (account.owed.get(currency) ?? 0n) + amount)
  }
  /** What an order needs and is not there is lent with it, up to the smallest unit. Tells how much. */
  lendMissing(account: Borrower, currency: string, needed: bigint): bigint {
    const missing = roundUp(needed - account.has(currency), this.terms.get(currency)!.unit)
    if (missing <= 0n) return 0n
    this.lend(account, currency, missing)
    return missing
  }
  /** Without an amount: everything. Interest is paid first. */
  repay(account: Borrower, currency: string, amount: bigint | undefined, name: string | undefined): string {
    const before = this.closed(account) || this.named(account, name)
    if (before !== '') return before
    const debt = account.debt(currency)
    if (debt === 0n) return 'LOAN_NOT_FOUND'
    if (amount !== undefined && amount > debt) return 'REPAY_TOO_MUCH'
    const paid = amount ?? debt
    if (paid > account.has(currency)) return 'BALANCE_NOT_ENOUGH'
    const interest = account.interest.get(currency) ?? 0n
    const ofInterest = paid < interest ? paid : interest
    account.free.set(currency, account.has(currency) - paid)
    account.interest.set(currency, interest - ofInterest)
    account.owed.set(currency, (account.owed.get(currency) ?? 0n) - (paid - ofInterest))
    if (name !== undefined) account.texts.add(name)
    return ''
  }
  /** An order with auto_repay has ended: what it brought repays, and what it was lent and did not spend does too. */
  repayBy(account: Borrower, order: Ended, lent: bigint): void {
    const { side, market, status, price, left, filled, total, fee } = order
    const [gets, gives] = side === 'buy' ? ['BTC', 'USDT'] : ['USDT', 'BTC']
    this.payBack(account, gets, (side === 'buy' ? filled : total) - fee)
    const unspent = side === 'buy' && !market ? down(left, price) : left
    if (status === 'cancelled') this.payBack(account, gives, lent < unspent ? lent : unspent)
  }
  private payBack(account: Borrower, currency: string, most: bigint): void {
    const sums = [account.debt(currency), most, account.has(currency)]
    const paid = sums.reduce((a, b) => (a < b ? a : b))
    if (paid > 0n) this.repay(account, currency, paid, undefined)
  }
  /** A full hour, at its rate: on what is owed with its unpaid interest, rounded up to the smallest unit. */
  hour(account: Borrower, currency: string, rate: bigint): void {
    const debt = account.debt(currency)
    if (debt === 0n) return
    const interest = roundUp(up(debt, rate), this.terms.get(currency)!.unit)
    account.interest.set(currency, (account.interest.get(currency) ?? 0n) + interest)
  }
  switchTo(account: Borrower, mode: Mode): string {
    if (account.mode === mode) return 'MODE_SET'
    if ((mode === 'classic' || mode === 'single_currency') && account.owes) return 'USER_LIAB'
    if (account.orders().length > 0) return 'USER_PENDING_ORDERS'
    account.mode = mode
    return ''
  }
  lever(account: Borrower, currency: string, leverage: bigint): string {
    const before = this.closed(account)
    if (before !== '') return before
    if (leverage < ONE) return 'LEVERAGE_TOO_LOW'
    if (leverage > this.terms.get(currency)!.margins[0]!.leverage) return 'LEVERAGE_TOO_HIGH'
    return this.covered(account, (one) => void one.leverage.set(currency, leverage))
  }
  /** One more currency that is no collateral, or all are again. */
  collateral(account: Borrower, excluded: string | undefined): string {
    const before = this.closed(account)
    if (before !== '') return before
    return this.covered(account, (one) => {
      if (excluded === undefined) one.excluded.clear()
      else one.excluded.add(excluded)
    })
  }
  /** What would leave debts uncovered is refused, unless it makes nothing worse. */
  private covered(account: Borrower, change: (account: Borrower) => void): string {
    const after = account.copy()
    change(after)
    const { available } = this.margins(after)
    if (account.owes && available < 0n && available < this.margins(account).available)
      return 'INITIAL_MARGIN_TOO_LOW'
    change(account)
    return ''
  }
  /** USDT into an isolated account, or back. */
  transfer(account: Borrower, out: boolean, amount: bigint): string {
    if (!out) {
      if (amount > account.apart) return 'MARGIN_BALANCE_NOT_ENOUGH'
    } else if (amount > account.has('USDT')) return 'BALANCE_NOT_ENOUGH'
    const signed = out ? amount : -amount
    const after = account.copy()
    after.free.set('USDT', after.has('USDT') - signed)
    if (out && account.owes && (account.locked || this.margins(after).available < 0n))
      return 'BALANCE_NOT_ENOUGH'
    account.free.set('USDT', account.has('USDT') - signed)
    account.apart += signed
    return ''
  }

  /** Slice by slice. */
  private sliced(
    slices: readonly Slice[],
    amount: bigint,
    of: (slice: Slice, part: bigint) => bigint,
  ): bigint {
    let lower = 0n
    let sum = 0n
    for (const slice of slices) {
      const upper = slice.upTo === undefined || amount < slice.upTo ? amount : slice.upTo
      if (upper > lower) sum += of(slice, upper - lower)
      lower = upper
    }
    return sum
  }
  /** At other prices than the present ones, where they are given. */
  margins(
    account: Borrower,
    price: (currency: string) => bigint = this.price,
  ): { balance: bigint; initial: bigint; maintenance: bigint; available: bigint } {
    let [balance, initial, maintenance] = [0n, 0n, 0n]
    for (const [currency, { margins }] of this.terms) {
      const debt = account.debt(currency)
      const at = price(currency)
      balance += this.counted(account, currency, account.has(currency) + account.held(currency) - debt, at)
      const own = account.leverage.get(currency)
      const lower = (tier: bigint): bigint => (own !== undefined && own < tier ? own : tier)
      const needs = (of: (slice: Slice, part: bigint) => bigint): bigint =>
        up(this.sliced(margins, debt, of), at)
      initial += needs(({ leverage }, part) => (part * ONE + lower(leverage) - 1n) / lower(leverage))
      maintenance += needs(({ rate }, part) => up(part, rate))
    }
    balance -= this.orderLoss(account, price)
    return { balance, initial, maintenance, available: balance - initial }
  }
  /** What so much of a currency counts for. */
  private counted(account: Borrower, currency: string, equity: bigint, at: bigint): bigint {
    if (equity < 0n) return -up(-equity, at)
    if (account.excluded.has(currency)) return 0n
    const { discounts } = this.terms.get(currency)!
    return down(
      this.sliced(discounts, equity, ({ rate }, part) => down(part, rate)),
      at,
    )
  }
  /**
   * What the account would lose if its orders were filled: what all take out of a currency, and what all bring into one,
   * is valued at once and shared among them by size. Those that would win count for nothing.
   */
  orderLoss(account: Borrower, price: (currency: string) => bigint = this.price): bigint {
    let loss = 0n
    for (const side of ['buy', 'sell'] as const) {
      const orders = account.orders().filter((order) => order.side === side)
      const [gives, gets] = side === 'buy' ? ['USDT', 'BTC'] : ['BTC', 'USDT']
      const sum = (of: readonly Resting[], name: 'given' | 'got'): bigint =>
        of.reduce((all, order) => all + order[name], 0n)
      const counts = (currency: string, more: bigint): bigint => {
        const equity = account.has(currency) + account.held(currency) - account.debt(currency)
        return this.counted(account, currency, equity + more, price(currency))
      }
      const [whole, all] = [sum(orders, 'given'), sum(orders, 'got')]
      if (whole === 0n) continue
      const cost = counts(gives, 0n) - counts(gives, -whole)
      const gain = counts(gets, all) - counts(gets, 0n)
      const losing = orders.filter(({ given, got }) => cost * given * all > gain * got * whole)
      const lost = (cost * sum(losing, 'given') + whole - 1n) / whole - (gain * sum(losing, 'got')) / all
      if (lost > 0n) loss += lost
    }
    return loss
  }
  /** As GET /unified/accounts tells it. */
  figures(account: Borrower): Readonly<Record<string, string>> {
    const { balance, initial, maintenance, available } = this.margins(account)
    let [total, borrowed, liabilities] = [0n, 0n, 0n]
    for (const currency of this.terms.keys()) {
      total += down(account.has(currency) + account.held(currency), this.price(currency))
      borrowed += up(account.owed.get(currency) ?? 0n, this.price(currency))
      liabilities += up(account.debt(currency), this.price(currency))
    }
    const equity = total - liabilities
    const always = {
      mode: account.mode,
      unified_account_total: shownDown(total),
      unified_account_total_equity: shownDown(equity),
    }
    if (!account.shared)
      return { ...always, borrowed: '0', total_initial_margin: '0', total_margin_balance: '0', leverage: '0' }
    return {
      ...always,
      borrowed: shownUp(borrowed),
      total_initial_margin: shownUp(initial),
      total_margin_balance: shownDown(balance),
      spot_order_loss: shownUp(this.orderLoss(account)),
      total_maintenance_margin: shownUp(maintenance),
      total_initial_margin_rate: shownRate(balance, initial),
      total_maintenance_margin_rate: shownRate(balance, maintenance),
      total_available_margin: shownDown(available),
      unified_account_total_liab: shownUp(liabilities),
      leverage: equity > 0n ? shownRate(liabilities, equity) : '0',
    }
  }
}
