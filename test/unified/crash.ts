import { type AccountName } from '../../src/core/ledger/accounts.ts'
import assert from 'node:assert/strict'
import { BUILT_IN_UNIFIED } from '../../src/core/world/built-in-unified.ts'
import { transferable } from '../../src/core/unified/loans.ts'
import { RiskWatch } from '../../src/core/liquidation/watch.ts'
import { amountOf, format } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'
import { Lender } from './setup.ts'

/**
 * A crash of the market. Whether an account is below maintenance is worked out here once more, from the ledger
 * and the configured tables alone and without rounding, so that the engine's own figures don't vouch for
 * themselves.
 */
const TABLES = new Map(BUILT_IN_UNIFIED.currencies.map((row) => [row.currency, row]))
const ONE = 10n ** 18n
type Prices = Readonly<Record<string, string>>

/** Each slice of an amount times its rate, in units of 10^-36. */
function slices(
  amount: bigint,
  tiers: readonly { upper_limit: string }[],
  rateOf: (i: number) => string,
): bigint {
  let [sum, lower] = [0n, 0n]
  tiers.forEach(({ upper_limit }, i) => {
    const open = upper_limit === '' || upper_limit === '+'
    const upper = open || amountOf(upper_limit) > amount ? amount : amountOf(upper_limit)
    if (upper > lower) sum += (upper - lower) * amountOf(rateOf(i))
    if (upper > lower) lower = upper
  })
  return sum
}
/** Margin balance less maintenance margin, in units of 10^-54; undefined for who owes nothing. */
function slackOf(engine: Lender, user: number, prices: Prices): bigint | undefined {
  const balance = (name: AccountName, currency: string): bigint =>
    engine.state.ledger.balance(user, name, currency)
  let [slack, owes] = [0n, false]
  for (const [currency, { discount_tiers, margin_tiers }] of TABLES) {
    const price = amountOf(prices[currency] ?? '0')
    const owed = -balance('debt.unified', currency) - balance('debt.interest.unified', currency)
    const equity = balance('spot', currency) - owed
    if (owed > 0n) owes = true
    slack +=
      equity < 0n
        ? equity * ONE * price
        : slices(equity, discount_tiers, (i) => discount_tiers[i]!.discount) * price
    slack -= slices(owed, margin_tiers, (i) => margin_tiers[i]!.margin_rate) * price
  }
  return owes ? slack : undefined
}
const isBelow = (engine: Lender, user: number, prices: Prices): boolean => {
  const slack = slackOf(engine, user, prices)
  return slack !== undefined && slack < 0n
}

const BEFORE = { USDT: '1', BTC: '60000', ETH: '3000' } as const
/** Funds, what is borrowed, and how much of it: from comfortable to as thin as the rules allow. */
const KINDS = [
  { funds: { BTC: '0.1', USDT: '10' }, currency: 'USDT', least: 1_000, spread: 4_300, decimals: 0 },
  { funds: { ETH: '2', USDT: '10' }, currency: 'USDT', least: 1_000, spread: 4_200, decimals: 0 },
  { funds: { USDT: '3000' }, currency: 'BTC', least: 100, spread: 400, decimals: 4 },
  { funds: { ETH: '2' }, currency: 'BTC', least: 100, spread: 780, decimals: 4 },
] as const

export class Crash {
  readonly engine = new Lender()
  readonly watch = new RiskWatch(this.engine.state)
  readonly users: number[] = []
  private readonly maker: number

  constructor(accounts: number, seed = 3) {
    const { engine } = this
    const draw = random(seed)
    engine.prices({ BTC: BEFORE.BTC, ETH: BEFORE.ETH })
    this.maker = engine.user({ USDT: '10000000000', BTC: '100000', ETH: '1000000' })
    for (const fund of ['pool', 'insurance'] as const)
      engine.must('lending.fund', { currency: 'USDT', fund, amount: '100000000', actor: null })
    for (let i = 0; i < accounts; i++) {
      const { funds, currency, least, spread, decimals } = KINDS[i % KINDS.length]!
      const user = engine.unified(funds)
      const amount = ((least + draw(spread)) / 10 ** decimals).toFixed(decimals)
      engine.loan(user, 'borrow', currency, amount)
      const out = transferable(engine.state, user, 'unified', currency)
      const settle = currency.toLowerCase()
      const to = { to: 'futures', currency_pair: null, settle } as const
      engine.must('transfer.create', { user_id: user, currency, from: 'spot', amount: format(out), ...to })
      this.users.push(user)
    }
  }
  /** Looks as the watcher does, and hands on whom it finds. */
  look(): { readonly ms: number; readonly looks: number; readonly found: number } {
    const before = this.watch.looks
    const start = performance.now()
    let count = 0
    for (;;) {
      const { found, more } = this.watch.suspects(500)
      count += found.length
      if (found.length > 0) this.engine.must('margin.check', { accounts: found })
      if (!more && found.length === 0) break
    }
    return { ms: performance.now() - start, looks: this.watch.looks - before, found: count }
  }
  /** As after a change of every account's balance. */
  lookAtAll(): ReturnType<Crash['look']> {
    this.watch.again(this.users.map((user_id) => ({ user_id, scope: 'unified' })))
    return this.look()
  }
  /** Bids that take everything, at the new prices. */
  private bid(pair: string, price: string, size: string, times: number): void {
    for (let i = 0; i < times; i++) this.engine.place(this.maker, 'buy', size, price, { currency_pair: pair })
  }
  private asks(pair: string, price: string, size: string, times: number): void {
    for (let i = 0; i < times; i++)
      this.engine.place(this.maker, 'sell', size, price, { currency_pair: pair })
  }
  private balances(user: number): string {
    return [...this.engine.state.ledger.ownedBy(user)]
      .map(({ name, currency, amount }) => `${name} ${currency} ${amount}`)
      .sort()
      .join()
  }

  /** Prices fall; throws unless exactly those below maintenance are liquidated, and all books are right. */
  fall(btc: string, eth: string): { readonly below: number; readonly ms: number } {
    const { engine, users } = this
    const prices = { ...BEFORE, BTC: btc, ETH: eth }
    engine.run('spot.cancel_all', { user_id: this.maker, currency_pair: null, side: null, account: null })
    this.bid('BTC_USDT', btc, '80', 40)
    this.bid('ETH_USDT', eth, '1500', 40)
    this.asks('BTC_USDT', (Number(btc) * 1.001).toFixed(1), '50', 10)
    engine.prices({ BTC: btc, ETH: eth })
    const below = new Set(users.filter((user) => isBelow(engine, user, prices)))
    const before = new Map(users.map((user) => [user, this.balances(user)]))
    const books = this.funds()
    const firstStep = engine.steps.length
    const start = performance.now()
    this.look()
    for (const user of users)
      assert.equal(
        engine.state.margin.isLocked(user, 'unified'),
        below.has(user),
        `lock of ${user} at ${btc}`,
      )
    engine.due(engine.at + 90e6)
    const ms = performance.now() - start
    for (const user of users) {
      assert.equal(engine.state.margin.isLocked(user, 'unified'), false, 'every liquidation has ended')
      assert.equal(isBelow(engine, user, prices), false, `${user} is still below at ${btc}`)
      if (!below.has(user))
        assert.equal(this.balances(user), before.get(user), `${user} was touched at ${btc}`)
    }
    this.checkBooks(books, firstStep)
    return { below: below.size, ms }
  }
  private funds(): Map<string, bigint> {
    return new Map(
      [...TABLES.keys()].map((name) => [name, this.engine.state.ledger.balance(0, 'insurance', name)]),
    )
  }
  /** The fund has changed by what its steps say, and by nothing else; the pools' claims are the users' debts. */
  private checkBooks(before: ReadonlyMap<string, bigint>, firstStep: number): void {
    const { engine } = this
    const { ledger } = engine.state
    ledger.check()
    const moved = new Map<string, bigint>()
    const count = (currency: string, amount: bigint): unknown =>
      moved.set(currency, (moved.get(currency) ?? 0n) + amount)
    for (const { step, currency, amount, detail } of engine.steps.slice(firstStep)) {
      if (step === 'insured') count(currency, -amount)
      if (step !== 'taken_over') continue
      count(currency, amount)
      count(detail['currency'] as string, -amountOf(detail['repaid'] as string))
    }
    for (const [currency, fund] of this.funds()) {
      assert.equal(fund - before.get(currency)!, moved.get(currency) ?? 0n, `the fund's ${currency}`)
      assert.ok(fund >= 0n, `the fund's ${currency} is below zero`)
      const owed = (name: AccountName): bigint =>
        this.users.reduce((sum, user) => sum - ledger.balance(user, name, currency), 0n)
      assert.equal(ledger.balance(0, 'lending.lent', currency), owed('debt.unified'))
      assert.equal(ledger.balance(0, 'lending.accrued', currency), owed('debt.interest.unified'))
    }
  }
  /** What the fund has paid for debts that nothing stood against any more. */
  get insured(): bigint {
    return this.engine.steps.reduce((sum, { step, amount }) => (step === 'insured' ? sum + amount : sum), 0n)
  }
}
