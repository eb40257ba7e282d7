import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import type { RefOrder } from '../../spot/reference.ts'
import type { Asked, Borrowers } from './borrowers.ts'
import type { Cast, Member } from './cast.ts'
import { Debts, type DebtTold, type Debtor } from './debts.ts'
import type { Answer, House } from './house.ts'
import { ONE, amount, text, type Model } from './model.ts'
import { overhearDebts, toldOf, type Looked, type Told } from './overheard-debts.ts'
import type { Step } from './plan.ts'
import { losesTooMuch } from './restricted.ts'
import { sameBalances, sameFigures } from './unified-checks.ts'
import { CURRENCIES, type Resting } from './unified-model.ts'

/** What they begin with, and get again when they have lost it. */
const FUNDS = [{ BTC: '0.2', SOL: '12' }, { ETH: '3', BTC: '0.06' }, { USDT: '9000' }] as const
const MODES = ['multi_currency', 'portfolio', 'multi_currency'] as const
/** In USDT: who has less, and owes nothing, gets some more. */
const POOR = 500n * ONE
const UNIT = 10n ** 10n
const LOT = ONE / 10_000n
const PAIR = 'BTC_USDT'
const PRICE = 60_000n
const FAR = 20n
const FEE = amount('0.002')
/** Borrowers are safe between these prices, and so are they kept. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  BTC: [37_000, 94_000],
  ETH: [1_900, 4_000],
  SOL: [90, 205],
}
/** From where a price has far to go, either way. */
const MIDDLE = { BTC: '60000', ETH: '3000', SOL: '150' } as const
/** How well it should be off where a price is moved for it, in hundredths of its maintenance margin. */
const RATES = [120n, 99n, 95n, 60n, 1n, -200n] as const
const KINDS = 16
const DEEPER = 5
const REPAYS = 6
const COMES_BACK = 7
const CANCELS = 10
const PRICES = 11
const TIME = 15
const SECONDS = [1, 2, 9, 11] as const
type Recorded = readonly [at: number, type: string, input: Readonly<Record<string, unknown>>]
/** Accounts that borrow as much as they may and send it away, until a price ruins them: each step is told or judged. */
export class Debtors {
  private readonly house: House
  private readonly cast: Cast
  private readonly spot: Model
  private readonly borrowers: Borrowers
  private readonly debts: Debts
  private readonly debtors: (Debtor & { readonly member: Member; readonly which: number })[] = []
  /** By the time of the command. */
  private readonly heard = new Map<number, Told>()
  /** Told when it is looked at: it is nothing that the platform should stumble over. */
  private broken: unknown
  private readonly moved = new Set<number>()
  private ids = 0

  constructor(house: House, cast: Cast, spot: Model, borrowers: Borrowers, note: (what: string) => void) {
    this.house = house
    this.cast = cast
    this.spot = spot
    this.borrowers = borrowers
    this.debts = new Debts(
      () => borrowers.unified,
      spot,
      (what) => note(`debts: ${what}`),
    )
  }
  async begin(): Promise<void> {
    for (const [which, mode] of MODES.entries()) {
      const { user_id: user, credential } = await this.house.user()
      const account = this.borrowers.newAccount(user)
      account.mode = mode
      this.cast.followed.add(user)
      const resting = ({ side, left, price }: RefOrder): Resting => this.borrowers.riskOf(side, left, price)
      const open = (): RefOrder[] => this.borrowers.open(user)
      const member = { user, credential }
      const debtor = { user, member, which, account, level: 'normal' as const, open, resting }
      this.debtors.push(debtor)
      await this.fund(debtor)
      const call = { method: 'PUT', path: '/unified/unified_mode', body: { mode } }
      assert.equal((await this.house.call(credential, call)).label, '')
    }
    const { applied, recorded } = this.house
    this.house.applied = (one) => {
      applied(one)
      const told = overhearDebts(one, (user) => this.find(user) !== undefined)
      if (told === undefined) this.heard.delete(one.at)
      else this.heard.set(one.at, told)
    }
    this.house.recorded = (commands) => {
      recorded(commands)
      try {
        if (this.broken === undefined) this.carryOut(commands)
      } catch (error) {
        this.broken = error
      }
    }
  }
  private async fund({ user, which, account }: { user: number; which: number; account: Debtor['account'] }) {
    for (const [currency, sum] of Object.entries(FUNDS[which]!)) {
      const body = { account: 'spot', currency, amount: sum }
      await this.house.ok('POST', `/users/${user}/credit`, body)
      account.free.set(currency, account.has(currency) + amount(sum))
      this.moved.add(user)
    }
  }
  private find(user: unknown): Debtor | undefined {
    return this.debtors.find((one) => one.user === user)
  }

  private carryOut(commands: string): void {
    if (this.heard.size === 0) return
    for (const [at, , input] of JSON.parse(commands) as Recorded[]) {
      const told = this.heard.get(at)
      if (told === undefined) continue
      this.heard.delete(at)
      const { item } = told
      const given = item?.input ?? input
      if (item?.command === 'lending.hour') this.hour(told)
      else if (item?.command === 'margin.liquidate')
        this.judged(this.find(given['user_id'])!, told, (debtor, mine) => {
          this.debts.liquidate(debtor, mine, given['tries'] as number)
          for (const currency of CURRENCIES)
            assert.equal(
              mine.fund.before.get(currency),
              mine.fund.after.get(currency),
              `${currency} of the fund`,
            )
        })
      else if (item?.command === 'margin.recheck')
        this.judged(this.find(given['user_id'])!, told, (debtor, mine) => this.debts.recheck(debtor, mine))
      else
        for (const { user_id } of given['accounts'] as readonly Looked[]) {
          const debtor = this.find(user_id)
          if (debtor !== undefined) this.judged(debtor, told, (one, mine) => this.debts.look(one, mine))
        }
    }
  }
  /** Whatever was recorded of him is what the model says, and no more. */
  private judged(debtor: Debtor, told: Told, act: (debtor: Debtor, told: DebtTold) => void): void {
    this.moved.add(debtor.user)
    const mine = toldOf(told, debtor.user)
    act(debtor, mine)
    assert.deepEqual(mine.steps, [], `nothing else is done to ${debtor.user}`)
  }
  private hour(told: Told): void {
    for (const debtor of this.debtors) {
      const { account } = debtor
      const owed = account.owes
      for (const [currency, rate] of told.rates)
        if (account.debt(currency) > 0n) this.borrowers.unified.hour(account, currency, rate)
      if (owed) this.judged(debtor, told, (one, mine) => this.debts.look(one, mine))
    }
  }

  /** What is due by now is done, so that nothing comes between a question and its answer. */
  async ready(): Promise<void> {
    // The watcher comes after what it looks at, and would look at what has been told already.
    const waits = (one: Debtor): boolean =>
      one.level === 'locked' || (this.moved.has(one.user) && this.debts.levelOf(one) !== one.level)
    if (this.debtors.some(waits)) await this.house.drain()
  }
  /** A price, time or help; undefined: it is a request. */
  async happens({ n, who }: Step, clock: (seconds: number) => Promise<void>): Promise<string | undefined> {
    const debtor = this.debtors[who % this.debtors.length]!
    const { account } = debtor
    const worth = CURRENCIES.reduce((sum, one) => sum + this.worth(one, account.has(one)), 0n)
    if (!account.owes && worth < POOR && account.orders().length === 0) {
      await this.fund(debtor)
      return 'help'
    }
    const kind = n[0]! % KINDS
    if (kind < PRICES || !account.owes) return undefined
    if (kind >= TIME) {
      if (this.debtors.every(({ level }) => level !== 'locked')) return undefined
      await clock(SECONDS[n[1]! % SECONDS.length]!)
      return 'time'
    }
    if (await this.movePrice(debtor, n)) return 'price'
    await this.house.ok('PUT', '/prices', MIDDLE)
    return 'prices as ever'
  }
  private worth(currency: string, sum: bigint): bigint {
    return (sum * this.borrowers.unified.priceOf(currency)) / ONE
  }
  /** Far from where they are, mostly. */
  anyPrices(n: readonly number[]): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(RANGES).map(([coin, [low, high]], i) => [
        coin,
        (low + ((high - low) * (n[2 + i]! % 1_000)) / 1_000).toFixed(2),
      ]),
    )
  }
  /** To where it stands as badly as was drawn, or not at all. */
  private async movePrice(debtor: Debtor, n: readonly number[]): Promise<boolean> {
    const { account } = debtor
    const coins = (['BTC', 'ETH', 'SOL'] as const).filter((one) => account.has(one) !== account.debt(one))
    const target = RATES[n[2]! % RATES.length]!
    const model = this.borrowers.unified
    for (let i = 0; i < coins.length; i++) {
      const coin = coins[(n[1]! + i) % coins.length]!
      const now = Number(model.priceOf(coin)) / 1e18
      const [low, high] = RANGES[coin]!
      const sign = account.has(coin) + account.held(coin) > account.debt(coin) ? -1 : 1
      for (let percent = 1; percent < 60; percent++) {
        const price = (now * (1 + (sign * percent) / 100)).toFixed(2)
        if (Number(price) < low || Number(price) > high) break
        const { balance, maintenance } = model.margins(account, (one) =>
          one === coin ? amount(price) : model.priceOf(one),
        )
        if (balance * 100n >= maintenance * target) continue
        await this.house.ok('PUT', '/prices', { [coin]: price })
        return true
      }
    }
    return false
  }
  /** Undefined: there is nothing to ask for. What follows from a loan is a part of the same step. */
  request(step: Step, part: number): Asked | undefined {
    const { n, who } = step
    const debtor = this.debtors[who % this.debtors.length]!
    const kind = n[0]! % KINDS
    const short = debtor.which === 2
    const owed = short ? 'BTC' : 'USDT'
    if (kind < DEEPER || (kind >= PRICES && kind < TIME)) {
      if (part === 0) return this.borrow(debtor, owed, n)
      return short ? this.sell(debtor, n) : this.send(debtor, n)
    }
    if (part > 0) return undefined
    if (kind < REPAYS) return this.repay(debtor, owed, n)
    if (kind < COMES_BACK) return this.send(debtor, n, true)
    return kind === CANCELS ? this.cancel(debtor, n) : this.rest(debtor, n)
  }
  private asked(
    { user, member }: Debtor & { readonly member: Member },
    command: string,
    path: string,
    body: object,
    predict: () => string,
    heard?: (answer: Answer) => void,
  ): Asked {
    const told = (): string => {
      this.moved.add(user)
      return predict()
    }
    const call = { method: 'POST', path, body }
    return { by: member, call, command, predict: told, ...(heard !== undefined && { heard }) }
  }
  private part(of: bigint, n: number, most: number): bigint {
    const sum = (of * BigInt(1 + (n % most))) / 100n
    return sum < UNIT ? UNIT : sum - (sum % UNIT)
  }
  private borrow(
    debtor: Debtor & { readonly member: Member },
    currency: string,
    n: readonly number[],
  ): Asked {
    const { available } = this.debts.figures(debtor)
    const model = this.borrowers.unified
    const bears = available <= 0n ? ONE : (available * ONE) / model.priceOf(currency)
    // Of more than that not all could be sent away, and would repay at once.
    const sum = this.part(n[6]! % 8 === 0 ? bears * 12n : bears, 40 + (n[3]! % 60), 100)
    const named = n[4]! % 2 === 0 ? `sim-d${++this.ids}` : undefined
    const body = { currency, type: 'borrow', amount: text(sum), ...(named !== undefined && { text: named }) }
    return this.asked(debtor, 'margin.loan', '/unified/loans', body, () =>
      model.borrow(debtor.account, currency, sum, named),
    )
  }
  private repay(debtor: Debtor & { readonly member: Member }, currency: string, n: readonly number[]): Asked {
    const { account } = debtor
    const sum = this.part(account.debt(currency), n[3]!, 110)
    const body = { currency, type: 'repay', amount: text(sum) }
    return this.asked(debtor, 'margin.loan', '/unified/loans', body, () =>
      this.borrowers.unified.repay(account, currency, sum, undefined),
    )
  }
  /** USDT to where nothing stands on them, or back. */
  private send(debtor: Debtor & { readonly member: Member }, n: readonly number[], back = false): Asked {
    const { account } = debtor
    const { available } = this.debts.figures(debtor)
    const spare = available < account.has('USDT') ? available : account.has('USDT')
    const sum = back
      ? this.part(account.apart, n[5]!, 100)
      : this.part(spare > 0n ? spare : ONE, 80 + (n[5]! % 22), 200)
    const [from, to] = back ? ['margin', 'spot'] : ['spot', 'margin']
    const body = { currency: 'USDT', from, to, amount: text(sum), currency_pair: 'ETH_USDT' }
    return this.asked(debtor, 'transfer.create', '/wallet/transfers', body, () =>
      this.borrowers.unified.transfer(account, !back, sum),
    )
  }
  /** BTC for what families give, where the account bears it, filled or not, even twice. */
  private sell(debtor: Debtor & { readonly member: Member }, n: readonly number[]): Asked | undefined {
    const { account, user } = debtor
    const price = (PRICE - FAR) * ONE
    const size = (this.part(account.has('BTC'), n[5]!, 100) / LOT) * LOT
    if (size < 10n * LOT || debtor.level !== 'normal') return undefined
    for (const times of [0n, 1n, 2n]) {
      const after = account.copy()
      const got = (times * size * price) / ONE
      after.free.set('BTC', after.has('BTC') - times * size)
      after.free.set('USDT', after.has('USDT') + got - (got * FEE) / ONE)
      if (after.owes && this.borrowers.unified.margins(after).available < 0n) return undefined
    }
    const made: RefOrder[] = []
    const body = {
      ...{ currency_pair: PAIR, type: 'limit', account: 'unified', side: 'sell', time_in_force: 'ioc' },
      ...{ amount: text(size), price: text(price) },
    }
    const predict = (): string => {
      const { order, label } = this.spot.place({
        ...{ user, side: 'sell', market: false, tif: 'ioc', price, amount: size, iceberg: 0n, act: null },
      })
      if (order !== undefined) made.push(order)
      return label
    }
    return this.asked(debtor, 'spot.place', '/spot/orders', body, predict, ({ body: reply }) => {
      const order = made.shift()!
      assert.deepEqual([reply.left, reply.fee], [text(order.left), text(order.fee)], `order ${reply.id}`)
    })
  }
  /** One that rests, or is refused: not while it has too little, when only some are let in. */
  private rest(debtor: Debtor & { readonly member: Member }, n: readonly number[]): Asked | undefined {
    const { account, user } = debtor
    const side = n[1]! % 2 === 0 ? 'buy' : 'sell'
    const gives = side === 'buy' ? 'USDT' : 'BTC'
    const { available } = this.debts.figures(debtor)
    if (account.owes && available < 0n && !account.locked) return undefined
    const price = (PRICE + BigInt((n[5]! % Number(2n * FAR + 1n)) - Number(FAR))) * ONE
    const most = this.part(account.has(gives), n[6]!, 60)
    const size = ((side === 'buy' ? (most * ONE) / price : most) / LOT) * LOT
    if (size < 10n * LOT) return undefined
    const made: RefOrder[] = []
    const body = {
      ...{ currency_pair: PAIR, type: 'limit', account: 'unified', side, time_in_force: 'poc' },
      ...{ amount: text(size), price: text(price) },
    }
    const predict = (): string => {
      if (account.locked) return 'TRADE_RESTRICTED'
      const { order, label } = this.spot.place({
        ...{ user, side, market: false, tif: 'poc', price, amount: size, iceberg: 0n, act: null },
      })
      if (order === undefined) return label
      if (account.owes && this.debts.figures(debtor).available < 0n) {
        this.spot.cancel(order)
        return 'TRADE_RESTRICTED'
      }
      made.push(order)
      return ''
    }
    return this.asked(debtor, 'spot.place', '/spot/orders', body, predict, ({ body: reply }) => {
      made.shift()!.id = Number(reply.id)
    })
  }
  private cancel(debtor: Debtor & { readonly member: Member }, n: readonly number[]): Asked | undefined {
    const open = debtor.open().filter(({ id }) => id !== 0)
    if (open.length === 0) return undefined
    const order = open[n[3]! % open.length]!
    const call = { method: 'DELETE', path: `/spot/orders/${order.id}`, query: { currency_pair: PAIR } }
    const predict = (): string => {
      this.moved.add(debtor.user)
      return this.spot.cancel(order).label
    }
    return { by: debtor.member, call, command: 'spot.cancel', predict }
  }

  /** Those whom the platform or the model has touched since; without a word of that, all. */
  async check(state: State, owners?: ReadonlySet<number>): Promise<void> {
    if (this.broken !== undefined) throw this.broken as Error
    const priceOf = (currency: string): bigint => this.borrowers.unified.priceOf(currency)
    for (const debtor of this.debtors) {
      const { user, account } = debtor
      if (owners?.has(user) === false && !this.moved.has(user)) continue
      sameBalances(state, user, account)
      const losing = (): boolean =>
        debtor.level === 'restricted' &&
        this.debts.figures(debtor).available < 0n &&
        debtor.open().some((order) => losesTooMuch(order, priceOf))
      // The watcher comes after what it looks at.
      if (debtor.level !== 'locked' && (this.debts.levelOf(debtor) !== debtor.level || losing())) {
        await this.house.drain()
        this.wasLookedAt(debtor)
        sameBalances(state, user, account)
      }
      assert.equal(state.margin.riskLevelOf(user, 'unified'), debtor.level, `level of ${user}`)
      assert.ok(!losing(), `orders of ${user} lose too much`)
    }
    this.moved.clear()
  }
  private wasLookedAt(debtor: Debtor): void {
    if (this.broken !== undefined) throw this.broken as Error
    if (debtor.level === 'locked') return
    assert.equal(debtor.level, this.debts.levelOf(debtor), `nobody has looked at ${debtor.user}`)
  }
  /** What one of them is shown is what the model counts. */
  async seen(which: number): Promise<void> {
    const { member, account } = this.debtors[which % this.debtors.length]!
    await sameFigures(this.house, this.borrowers.unified, member, account)
  }
  async look(): Promise<void> {
    for (const i of this.debtors.keys()) await this.seen(i)
  }
}
