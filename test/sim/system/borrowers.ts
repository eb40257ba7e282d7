import assert from 'node:assert/strict'
import type { RefOrder } from '../../spot/reference.ts'
import type { State } from '../../../src/core/state.ts'
import type { Cast, Member } from './cast.ts'
import type { Answer, Call, House } from './house.ts'
import { ONE, amount, text, type Model } from './model.ts'
import type { Step } from './plan.ts'
import { sameBalances, sameFigures } from './unified-checks.ts'
import {
  Borrower,
  CURRENCIES,
  UnifiedModel,
  type LoanTerms,
  type Mode,
  type Purse,
  type Resting,
} from './unified-model.ts'

/** Enough of one to have slices at several rates. */
const FUNDS = [
  ['20000', '10', '200', '0.5'],
  ['3000000', '2500', '9000', '40'],
  ['500', '1', '5', '0'],
  ['0', '40', '0', '2'],
] as const
const UNIT = 10n ** 10n
/** Prices between which nobody here is ever restricted, whatever anybody does to them. */
const EXTREMES = { ETH: [1_700n, 4_200n], SOL: [80n, 220n], BTC: [35_000n, 97_000n] } as const
/** What is owed of these may be repaid by an order: so many requests are one that does. */
const TRADED = ['BTC', 'USDT'] as const
const REPAYING = 4
/** Where they trade with families, and about what it costs there. */
const PAIR = 'BTC_USDT'
const PRICE = 60_000n
const FAR = 20n
const LOT = ONE / 10_000n
const CENT = ONE / 100n
const FEE = amount('0.002')
/** What one fill is at the least. */
const FILLED = ONE / 1_000_000n
/** Open orders of one at the same time. */
const RESTING = 3
/** In USDT: what the market takes of one order is more. */
const MOST = 1_000_000n * ONE
const MODES: readonly Mode[] = ['multi_currency', 'portfolio', 'multi_currency', 'single_currency', 'classic']
const LEVERAGES = ['0.5', '1', '2', '4', '5', '8', '10', '11']
const PAGE = 100

/** One request, and what the model says to it. */
export interface Asked {
  readonly by: Member
  readonly call: Call
  readonly command: string
  readonly predict: () => string
  readonly heard?: (answer: Answer) => void
}
type Try = (account: Borrower) => string

/** Accounts that borrow and repay, beside a model of unified accounts: each label, balance and figure is told before it comes. */
export class Borrowers {
  private readonly house: House
  private readonly cast: Cast
  /** Of the market, and of what is free of the currencies that it trades. */
  private readonly spot: Model
  private model!: UnifiedModel
  private readonly accounts: { readonly member: Member; readonly account: Borrower }[] = []
  /** The last hour of each currency whose interest is counted. */
  private readonly hours = new Map<string, number>()
  private ids = 0
  /** Whom the model may have changed since the last look. */
  private readonly moved = new Set<number>()

  constructor(house: House, cast: Cast, spot: Model) {
    this.house = house
    this.cast = cast
    this.spot = spot
  }
  get unified(): UnifiedModel {
    return this.model
  }
  /** Somebody new, who trades in the market of the families. */
  newAccount(user: number): Borrower {
    this.spot.market.rates.set(user, { maker: FEE, taker: FEE })
    return new Borrower(this.purse(user), () => this.resting(user))
  }
  private purse(user: number): Purse {
    const own = new Map<string, bigint>()
    const { market } = this.spot
    const isTraded = (currency: string): boolean => currency === 'USDT' || currency === 'BTC'
    return {
      get: (currency) => (isTraded(currency) ? market.money(user, currency) : own.get(currency)),
      set: (currency, sum) =>
        isTraded(currency) ? market.free.set(`${user}${currency}`, sum) : own.set(currency, sum),
    }
  }
  /** What orders give, and what they bring lot by lot, each fill paying the highest fee, rounded up. */
  riskOf(side: 'buy' | 'sell', left: bigint, price: bigint): Resting {
    const received = side === 'buy' ? FILLED : (FILLED * price) / ONE
    const fee = ((received * FEE + ONE * UNIT - 1n) / (ONE * UNIT)) * UNIT
    const least = received - (fee < received ? fee : received)
    return { side, given: side === 'buy' ? (left * price) / ONE : left, got: (left / FILLED) * least }
  }
  open(user: number): RefOrder[] {
    return this.spot.market.orders.filter((order) => order.user === user && order.status === 'open')
  }
  private resting(user: number): Resting[] {
    return this.open(user).map(({ side, left, price }) => this.riskOf(side, left, price))
  }
  async begin(): Promise<void> {
    this.model = new UnifiedModel(await this.read(), (currency) => this.house.state.prices.of(currency))
    for (const funds of FUNDS) {
      const { user_id: user, credential } = await this.house.user()
      const account = this.newAccount(user)
      const member = { user, credential }
      this.accounts.push({ member, account })
      this.cast.followed.add(user)
      for (const [i, currency] of CURRENCIES.entries()) {
        if (funds[i] === '0') continue
        const body = { account: 'spot', currency, amount: funds[i] }
        await this.house.ok('POST', `/users/${user}/credit`, body)
        account.free.set(currency, amount(funds[i]!))
      }
      if (this.accounts.length === FUNDS.length) continue
      account.mode = 'multi_currency'
      const call = { method: 'PUT', path: '/unified/unified_mode', body: { mode: account.mode } }
      assert.equal((await this.house.call(credential, call)).label, '')
    }
    for (const currency of CURRENCIES) {
      const [newest] = await this.rates(currency, 1)
      this.hours.set(currency, newest?.time ?? 0)
    }
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are looked into freely
  private async table(path: string, name = 'currency'): Promise<Map<string, any>> {
    const { credential } = this.cast.strays[0]!
    const { body } = await this.house.call(credential, { method: 'GET', path })
    return new Map((body as Record<string, string>[]).map((row) => [row[name]!, row]))
  }
  /** The tables that everybody may read. */
  private async read(): Promise<Map<string, LoanTerms>> {
    const lent = await this.table('/unified/currencies', 'name')
    const discounts = await this.table('/unified/currency_discount_tiers')
    const margins = await this.table('/unified/loan_margin_tiers')
    const slices = (tiers: readonly Record<string, string>[], rate: string) =>
      tiers.map((tier) => ({
        upTo: /^\+?$/.test(tier['upper_limit']!) ? undefined : amount(tier['upper_limit']!),
        rate: amount(tier[rate]!),
        leverage: amount(tier['leverage']!),
      }))
    return new Map(
      CURRENCIES.map((currency) => [
        currency,
        {
          least: amount(lent.get(currency).min_borrow_amount),
          userMax: amount(lent.get(currency).user_max_borrow_amount),
          unit: amount(lent.get(currency).prec),
          discounts: slices(discounts.get(currency).discount_tiers, 'discount'),
          margins: slices(margins.get(currency).margin_tiers, 'margin_rate'),
        },
      ]),
    )
  }
  private async rates(
    currency: string,
    limit = PAGE,
    page = 1,
  ): Promise<readonly { time: number; rate: string }[]> {
    const query = { currency, limit: String(limit), page: String(page) }
    const call = { method: 'GET', path: '/unified/history_loan_rate', query }
    return (await this.house.call(this.cast.strays[0]!.credential, call)).body.rates
  }
  /** The hours that have struck since, at the rates that were told. */
  async catchUp(): Promise<void> {
    for (const currency of CURRENCIES) {
      const last = this.hours.get(currency)!
      const fresh: { time: number; rate: string }[] = []
      for (let page = 1; ; page++) {
        const rows = await this.rates(currency, PAGE, page)
        fresh.push(...rows.filter(({ time }) => time > last))
        if (rows.length < PAGE || rows.at(-1)!.time <= last) break
      }
      for (const { time, rate } of fresh.reverse()) {
        this.hours.set(currency, time)
        for (const { account, member } of this.accounts) {
          this.moved.add(member.user)
          this.model.hour(account, currency, amount(rate))
        }
      }
    }
  }

  /** Undefined: it would succeed, and might bring somebody to where the model does not follow. */
  request({ n, who }: Step): Asked | undefined {
    const { member, account } = this.accounts[who % this.accounts.length]!
    const currency = CURRENCIES[n[1]! % CURRENCIES.length]!
    const named = n[4]! % 2 === 0 ? `sim-${++this.ids}` : undefined
    const ask = (
      command: string,
      method: string,
      path: string,
      body: object,
      act: Try,
    ): Asked | undefined => {
      // It may come twice.
      const after = account.copy()
      if (act(after) === '' && (act(after), !this.isSafe(after))) return undefined
      const predict = (): string => {
        this.moved.add(member.user)
        return act(account)
      }
      return { by: member, call: { method, path, body }, command, predict }
    }
    const loan = (type: string, sum: bigint | undefined, act: Try): Asked | undefined =>
      ask(
        'margin.loan',
        'POST',
        '/unified/loans',
        {
          currency,
          type,
          ...(sum === undefined ? { repaid_all: true, amount: '1' } : { amount: text(sum) }),
          ...(named !== undefined && { text: named }),
        },
        act,
      )
    if (account.shared && n[7]! % REPAYING === 0 && TRADED.some((one) => account.debt(one) > 0n))
      return this.order(member, account, n, true)
    switch (n[0]! % 16) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const sum = this.sum(account, currency, n)
        return loan('borrow', sum, (one) => this.model.borrow(one, currency, sum, named))
      }
      case 4:
      case 5: {
        const debt = account.debt(currency)
        const sum = n[2]! % 4 === 0 ? undefined : this.part(debt, n[3]!)
        return loan('repay', sum, (one) => this.model.repay(one, currency, sum, named))
      }
      case 6:
      case 7: {
        const mode = MODES[n[2]! % MODES.length]!
        const act: Try = (one) => this.model.switchTo(one, mode)
        return ask('margin.mode', 'PUT', '/unified/unified_mode', { mode }, act)
      }
      case 8: {
        const leverage = LEVERAGES[n[2]! % LEVERAGES.length]!
        const path = '/unified/leverage/user_currency_setting'
        return ask('margin.leverage', 'POST', path, { currency, leverage }, (one) =>
          this.model.lever(one, currency, amount(leverage)),
        )
      }
      case 9: {
        const excluded = n[2]! % 2 === 0 ? undefined : currency
        const body =
          excluded === undefined ? { collateral_type: 0 } : { collateral_type: 1, disable_list: [excluded] }
        return ask('margin.collateral', 'POST', '/unified/collateral_currencies', body, (one) =>
          this.model.collateral(one, excluded),
        )
      }
      case 10:
      case 11:
      case 12:
      case 13:
        return account.shared && n[7]! % 3 === 0
          ? this.rest(member, account, n)
          : this.order(member, account, n)
      default: {
        const out = n[2]! % 2 === 0
        const sum = this.part(out ? account.has('USDT') : account.apart, n[3]!)
        const [from, to] = out ? ['spot', 'margin'] : ['margin', 'spot']
        const body = { currency: 'USDT', from, to, amount: text(sum), currency_pair: 'ETH_USDT' }
        return ask('transfer.create', 'POST', '/wallet/transfers', body, (one) =>
          this.model.transfer(one, out, sum),
        )
      }
    }
  }
  /**
   * An order that does not rest, in the market of the families; with auto_borrow where something may be lent, and with
   * auto_repay. None is sent that might leave the account with too little, whether all of it is filled or nothing.
   */
  private order(by: Member, account: Borrower, n: readonly number[], repaying = false): Asked | undefined {
    const repays = repaying || (account.shared && n[7]! % 2 === 0)
    // Mostly such that it brings what is owed.
    const owed = repays && n[1]! % 4 > 0 ? TRADED.find((one) => account.debt(one) > 0n) : undefined
    const drawnSide = n[1]! % 2 === 0 ? 'buy' : 'sell'
    const side = owed === undefined ? drawnSide : owed === 'BTC' ? 'buy' : 'sell'
    const market = n[2]! % 3 === 0
    const tif = n[3]! % 4 === 0 && !repaying ? 'fok' : 'ioc'
    const gives = side === 'buy' ? 'USDT' : 'BTC'
    const borrows = account.shared && n[4]! % 2 === 0
    const drawnPrice = (PRICE + BigInt((n[5]! % Number(2n * FAR + 1n)) - Number(FAR))) * ONE
    const worst = (side === 'buy' ? PRICE + FAR : PRICE - FAR) * ONE
    const price = repaying ? worst : drawnPrice
    const has = account.has(gives)
    const drawn = (has * BigInt(1 + (n[6]! % 130))) / 100n
    const cap = side === 'buy' ? MOST : (MOST * ONE) / worst
    const most = drawn > cap ? cap : drawn
    const base = ((side === 'buy' ? (most * ONE) / price : most) / LOT) * LOT
    const size = market && side === 'buy' ? (most / CENT) * CENT : base
    if (base < 10n * LOT || (market && side === 'buy' && size < 10n * ONE)) return undefined
    const needed = market || side === 'sell' ? size : (size * price) / ONE
    for (const filled of [false, true]) {
      const after = account.copy()
      for (let times = 2; times > 0; times--) {
        if (borrows) this.model.lendMissing(after, gives, needed)
        if (!filled || after.has(gives) < needed) continue
        after.free.set(gives, after.has(gives) - needed)
        const [gets, got] =
          side === 'buy' ? ['BTC', (needed * ONE) / worst] : ['USDT', (needed * worst) / ONE]
        after.free.set(gets, after.has(gets) + got - (got * FEE) / ONE)
      }
      if (!this.isSafe(after)) return undefined
    }
    const body = {
      currency_pair: PAIR,
      type: market ? 'market' : 'limit',
      account: account.mode === 'classic' ? 'spot' : 'unified',
      side,
      amount: text(size),
      ...(!market && { price: text(price) }),
      time_in_force: tif,
      ...(borrows && { auto_borrow: true }),
      ...(repays && { auto_repay: true }),
    }
    const made: RefOrder[] = []
    const predict = (): string => {
      this.moved.add(by.user)
      const lent = borrows ? this.model.lendMissing(account, gives, needed) : 0n
      const { order, label } = this.spot.place({
        ...{ user: by.user, side, market, tif, amount: size },
        ...{ price: market ? 0n : price, iceberg: 0n, act: null },
      })
      // What was refused has not been.
      if (order === undefined) this.model.lend(account, gives, -lent)
      else made.push(order)
      if (order !== undefined && repays) this.model.repayBy(account, order, lent)
      return label
    }
    const heard = ({ body: reply }: Answer): void => {
      const order = made.shift()!
      assert.deepEqual(
        [reply.status, reply.left, reply.filled_amount, reply.fee],
        [order.status, text(order.left), text(order.filled), text(order.fee)],
        `order ${reply.id}`,
      )
    }
    const call = { method: 'POST', path: '/spot/orders', body }
    return { by, call, command: 'spot.place', predict, heard }
  }
  /** One that may rest until a family takes it. Filled or not, in part or in whole: the account must bear it. */
  private rest(by: Member, account: Borrower, n: readonly number[]): Asked | undefined {
    const mine = this.placed.filter(({ order, user }) => user === by.user && order.status === 'open')
    if (mine.length >= RESTING || (mine.length > 0 && n[2]! % 3 === 0)) {
      const { id, order } = mine[n[3]! % mine.length]!
      const call = { method: 'DELETE', path: `/spot/orders/${id}`, query: { currency_pair: PAIR } }
      const predict = (): string => {
        this.moved.add(by.user)
        return this.spot.cancel(order).label
      }
      return { by, call, command: 'spot.cancel', predict }
    }
    const side = n[1]! % 2 === 0 ? 'buy' : 'sell'
    const gives = side === 'buy' ? 'USDT' : 'BTC'
    const price = (PRICE + BigInt((n[5]! % Number(2n * FAR + 1n)) - Number(FAR))) * ONE
    const drawn = (account.has(gives) * BigInt(1 + (n[6]! % 60))) / 100n
    const cap = side === 'buy' ? MOST : (MOST * ONE) / price
    const most = drawn > cap ? cap : drawn
    const size = ((side === 'buy' ? (most * ONE) / price : most) / LOT) * LOT
    if (size < 10n * LOT) return undefined
    const one = this.riskOf(side, size, price)
    const after = account.copy([one, one])
    after.free.set(gives, after.has(gives) - 2n * one.given)
    if (after.has(gives) < 0n || !this.isSafe(after)) return undefined
    const tif = n[3]! % 3 === 0 ? 'poc' : 'gtc'
    const body = {
      ...{ currency_pair: PAIR, type: 'limit', account: 'unified', side, time_in_force: tif },
      ...{ amount: text(size), price: text(price) },
    }
    const made: RefOrder[] = []
    const predict = (): string => {
      this.moved.add(by.user)
      const input = { user: by.user, side, market: false, tif, amount: size, price, iceberg: 0n, act: null }
      const { order, label } = this.spot.place(input as Parameters<Model['place']>[0])
      if (order !== undefined) made.push(order)
      return label
    }
    const heard = ({ body: reply }: Answer): void => {
      const order = made.shift()!
      assert.deepEqual([reply.side, reply.price], [order.side, text(order.price)])
      this.placed = [
        ...this.placed.filter((one) => one.order.status === 'open'),
        { id: reply.id, user: by.user, order },
      ]
    }
    return { by, call: { method: 'POST', path: '/spot/orders', body }, command: 'spot.place', predict, heard }
  }
  private placed: { readonly id: string; readonly user: number; readonly order: RefOrder }[] = []
  /** Too little, too much, more than the margin bears, and mostly some of what can be borrowed. */
  private sum(account: Borrower, currency: string, n: readonly number[]): bigint {
    const { least, userMax } = this.model.terms.get(currency)!
    const price = this.house.state.prices.of(currency)
    const { available } = this.model.margins(account)
    const bears = available <= 0n ? ONE : (available * ONE) / price
    const drawn = [least / 2n, (userMax * 2n * ONE) / price, bears * 30n]
    const some = (bears * BigInt(1 + (n[3]! % 70))) / 100n
    const sum = n[2]! % 8 < drawn.length ? drawn[n[2]! % 8]! : some
    return this.least(sum)
  }
  private part(of: bigint, n: number): bigint {
    return this.least((of * BigInt(1 + (n % 120))) / 100n)
  }
  private least(sum: bigint): bigint {
    return sum < UNIT ? UNIT : sum - (sum % UNIT)
  }
  private isSafe(account: Borrower): boolean {
    if (!account.owes) return true
    for (const ETH of EXTREMES.ETH)
      for (const SOL of EXTREMES.SOL)
        for (const BTC of EXTREMES.BTC) {
          const prices: Readonly<Record<string, bigint>> = { USDT: 1n, ETH, SOL, BTC }
          const { balance, initial } = this.model.margins(account, (currency) => prices[currency]! * ONE)
          if (initial > 0n && balance * 10n < initial * 13n) return false
        }
    return true
  }

  /** Those whom the platform or the model has touched since; without a word of that, all. */
  check(state: State, owners?: ReadonlySet<number>): void {
    for (const { member, account } of this.accounts) {
      const { user } = member
      if (owners?.has(user) === false && !this.moved.has(user)) continue
      sameBalances(state, user, account)
    }
    this.moved.clear()
  }
  /** What one of them is shown is what the model counts. */
  async seen(which: number): Promise<void> {
    const { member, account } = this.accounts[which % this.accounts.length]!
    await sameFigures(this.house, this.model, member, account)
  }
  async look(): Promise<void> {
    for (const i of this.accounts.keys()) await this.seen(i)
  }
}
