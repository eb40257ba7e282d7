import assert from 'node:assert/strict'
import type { RefOrder } from '../../spot/reference.ts'
import { ONE, amount, text, type Model } from './model.ts'
import { notLetIn } from './restricted.ts'
import { Borrower, CURRENCIES, type Resting, type UnifiedModel } from './unified-model.ts'

/** How an account in debt stands, from well to badly. */
const LEVELS = ['normal', 'warned', 'restricted', 'locked'] as const
export type Level = (typeof LEVELS)[number]
export interface Debtor {
  readonly user: number
  readonly account: Borrower
  level: Level
  /** Of the market that the model follows. */
  readonly open: () => RefOrder[]
  readonly resting: (order: RefOrder) => Resting
  /** Cross positions that stand beside its money. */
  readonly contracts?: Contracts
}
export interface Contracts {
  /** What they have won or lost, and need. */
  readonly figures: () => Needs
  /** One step with the position that needs most; how many contracts went. */
  readonly reduce: () => bigint
}
interface Needs {
  readonly pnl: bigint
  readonly initial: bigint
  readonly maintenance: bigint
}
/** A record of what was done to an account. */
export interface StepTold {
  readonly step: string
  readonly currency: string
  readonly amount: bigint
  readonly detail: Readonly<Record<string, unknown>>
}
/** An order of a liquidation, as it ended. */
export interface OrderTold {
  readonly pair: string
  readonly side: 'buy' | 'sell'
  readonly amount: bigint
  readonly filled: bigint
  readonly filled_total: bigint
  readonly fee: bigint
}
/** One command, as far as it is about one of them. */
export interface DebtTold {
  readonly at: number
  readonly price: (currency: string) => bigint
  /** Of others' markets, where they are open: the best price that an order of a side meets after it, by side and pair. */
  readonly best: ReadonlyMap<string, bigint>
  readonly steps: StepTold[]
  readonly orders: ReadonlyMap<number, OrderTold>
  /** When the liquidation goes on, and how often it has been tried in vain by then. */
  readonly next: { readonly at: number; readonly tries: number } | undefined
  /** What the insurance fund had of each currency, and has. */
  readonly fund: { readonly before: Map<string, bigint>; readonly after: ReadonlyMap<string, bigint> }
}
const PAIR = 'BTC_USDT'
/** Other markets are others': what their books give is taken from the platform. */
const PAIRS = ['ETH_USDT', 'SOL_USDT', 'ETH_BTC', PAIR]
const LOTS: Readonly<Record<string, bigint>> = {
  BTC_USDT: ONE / 1_000_000n,
  ETH_USDT: ONE / 100_000n,
  SOL_USDT: ONE / 10_000n,
  ETH_BTC: ONE / 1_000n,
}
const UNIT = 10n ** 10n
const FEE = amount('0.002')
/** What a liquidation keeps of the index at the least: nobody gets anything cheaper. */
const KEPT = amount('0.97')
const DEARER = amount('1.03')
const SALE_LEAST = 10n * ONE
const SECOND = 1e6
const TRIES = 10

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const down = (a: bigint, b: bigint): bigint => (a * b) / ONE
const up = (a: bigint, b: bigint): bigint => (a * b + ONE - 1n) / ONE
const over = (a: bigint, b: bigint): bigint => (a * ONE) / b
const overUp = (a: bigint, b: bigint): bigint => (a * ONE + b - 1n) / b
const unitUp = (sum: bigint): bigint => ((sum + UNIT - 1n) / UNIT) * UNIT
const unitDown = (sum: bigint): bigint => sum - (sum % UNIT)

interface Route {
  readonly pair: string
  readonly side: 'buy' | 'sell'
}
interface Figures {
  readonly balance: bigint
  readonly initial: bigint
  readonly maintenance: bigint
  readonly available: bigint
}

/**
 * Warnings, restriction and liquidation of unified accounts without contracts a second time, from `docs/unified.md`. Of a
 * step it is told which collateral went and how much of it, judges that by the rules, and counts what is left; what a sale
 * brings in the market that the model follows it counts itself.
 */
export class Debts {
  private readonly model: () => UnifiedModel
  private readonly spot: Model
  private readonly met: (what: string) => void
  constructor(model: () => UnifiedModel, spot: Model, met: (what: string) => void) {
    this.model = model
    this.spot = spot
    this.met = met
  }

  figures({ account, contracts }: Debtor, price?: (currency: string) => bigint): Figures {
    return this.together(account, contracts?.figures(), price)
  }
  private together(
    account: Borrower,
    contracts: Needs | undefined,
    price: ((currency: string) => bigint) | undefined,
  ): Figures {
    const beside = this.model().margins(account, price)
    if (contracts === undefined) return beside
    const balance = beside.balance + contracts.pnl
    const initial = beside.initial + contracts.initial
    const maintenance = beside.maintenance + contracts.maintenance
    return { balance, initial, maintenance, available: balance - initial }
  }
  /** A better level is reached 2 % above its border only. */
  levelOf(debtor: Debtor, price?: (currency: string) => bigint): Level {
    const { balance, initial, maintenance } = this.figures(debtor, price)
    if (maintenance === 0n) return 'normal'
    // Positions are liquidated at the border already.
    if (balance < maintenance || (balance === maintenance && this.partOf(debtor) !== 'none')) return 'locked'
    const at = (hundredths: bigint): number =>
      balance * 100n < initial * hundredths ? 2 : balance * 10_000n < initial * 110n * hundredths ? 1 : 0
    const stays = Math.min(LEVELS.indexOf(debtor.level), at(102n))
    return LEVELS[Math.max(at(100n), stays)]!
  }
  /** The watcher, or an hour's interest, has looked at it: another level is told and recorded, with the figures. */
  look(debtor: Debtor, told: DebtTold): void {
    if (debtor.level === 'locked') return
    const { balance, initial, maintenance } = this.figures(debtor, told.price)
    const level = this.levelOf(debtor, told.price)
    if (level === debtor.level) return
    const step = this.take(debtor, told, level === 'normal' ? 'recovered' : level)
    if (maintenance > 0n)
      assert.deepEqual(
        ['margin_balance', 'initial_margin', 'maintenance_margin'].map((name) => step.detail[name]),
        [balance, initial, maintenance].map(text),
        `figures of ${debtor.user}`,
      )
    debtor.level = level
    debtor.account.locked = level === 'locked'
    this.met(level)
    if (level === 'locked') assert.deepEqual(told.next, { at: told.at, tries: 0 }, 'its liquidation is due')
  }
  private take({ user }: Debtor, { steps }: DebtTold, name: string): StepTold {
    const step = steps.shift()
    assert.equal(step?.step, name, `what is done to ${user}`)
    return step
  }

  /** One round of a liquidation that has been tried so often in vain. */
  liquidate(debtor: Debtor, told: DebtTold, tries: number): void {
    assert.equal(debtor.level, 'locked', `${debtor.user} is in liquidation`)
    this.cancel(debtor, told, debtor.open(), 'liquidate_cancelled')
    const { account } = debtor
    let sold = false
    for (;;) {
      this.repayFree(debtor, told)
      const figures = this.figures(debtor, told.price)
      if (this.isHealthy(account, figures)) return this.end(debtor, told, 'unlocked')
      const assets = this.collateral(account, told.price)
      const part = this.partOf(debtor, figures)
      if (part === 'larger' || (part === 'some' && assets.length === 0))
        return this.reduce(debtor, told, figures, tries)
      if (assets.length === 0) {
        this.cover(debtor, told)
        return this.end(debtor, told, 'unlocked without anything left')
      }
      if (!account.owes) return this.end(debtor, told, 'unlocked without a debt')
      const step = told.steps[0]
      if (step === undefined) return this.goesOn(debtor, told, assets, tries, sold)
      if (step.detail['contract'] !== undefined) {
        // Neither a market nor the fund takes what it has.
        assert.ok(part === 'some' && !sold && tries + 1 >= TRIES, `${step.step} of ${debtor.user}`)
        return this.reduce(debtor, told, figures, tries)
      }
      assert.ok(step.step === 'sold' || step.step === 'taken_over', `${step.step} of ${debtor.user}`)
      if (step.step === 'sold') {
        this.sale(debtor, told, assets)
        sold = true
      } else {
        assert.ok(tries + 1 >= TRIES, `the fund takes over after ten tries, not ${tries + 1}`)
        while (told.steps[0]?.detail['repaid'] !== undefined) this.takeOver(debtor, told)
      }
      // So much is the work of one command.
      if (told.steps.length === 0 && told.next?.at === told.at) {
        assert.equal(told.next.tries, 0)
        return
      }
    }
  }
  /** How much of the maintenance margin contracts need. */
  private partOf(debtor: Debtor, { maintenance } = this.figures(debtor)): 'larger' | 'some' | 'none' {
    const needed = debtor.contracts?.figures().maintenance ?? 0n
    return needed === 0n ? 'none' : needed * 2n > maintenance ? 'larger' : 'some'
  }
  /** A position is reduced instead of a sale; above its border an account waits ten seconds for a buyer, no longer. */
  private reduce(debtor: Debtor, told: DebtTold, { balance, maintenance }: Figures, tries: number): void {
    const gone = debtor.contracts!.reduce()
    let recorded = 0n
    while (told.steps[0]?.detail['contract'] !== undefined) recorded += told.steps.shift()!.amount
    assert.equal(recorded, gone * ONE, `contracts of ${debtor.user} that are recorded`)
    if (gone > 0n) {
      assert.deepEqual(told.next, { at: told.at, tries: 0 })
      this.met('positions reduced')
    } else if (balance > maintenance && tries + 1 >= TRIES) this.end(debtor, told, 'unlocked without a buyer')
    else {
      assert.deepEqual(told.next, { at: told.at + SECOND, tries: tries + 1 })
      this.met('nobody takes a position')
    }
  }
  private end(debtor: Debtor, told: DebtTold, met: string): void {
    this.take(debtor, told, 'unlocked')
    assert.equal(told.next, undefined)
    debtor.level = 'normal'
    debtor.account.locked = false
    this.met(met)
  }
  private goesOn(
    debtor: Debtor,
    told: DebtTold,
    assets: readonly string[],
    tries: number,
    sold: boolean,
  ): void {
    for (const asset of assets) this.nobodyBuys(debtor, told, asset)
    const after = sold ? 0 : tries + 1 < TRIES ? SECOND : 60 * SECOND
    assert.deepEqual(
      told.next,
      { at: told.at + after, tries: sold ? 0 : tries + 1 < TRIES ? tries + 1 : tries },
      `the next try with ${debtor.user}`,
    )
    this.met('nobody buys')
  }
  private isHealthy(account: Borrower, { balance, maintenance }: Figures): boolean {
    return maintenance === 0n ? !account.owes : balance * 10n >= maintenance * 12n
  }
  private cancel(debtor: Debtor, told: DebtTold, orders: readonly RefOrder[], finish: string): void {
    for (const order of orders) {
      const { detail } = this.take(debtor, told, 'order_cancelled')
      assert.deepEqual([detail['order_id'], detail['currency_pair']], [order.id, PAIR])
      this.spot.market.end(order, finish)
      this.met(finish)
    }
    this.spot.market.forgetFinished()
  }
  /** What is there of an owed currency goes first. */
  private repayFree(debtor: Debtor, told: DebtTold): void {
    const { account } = debtor
    for (const currency of this.owed(account)) {
      const sum = min(account.has(currency), account.debt(currency))
      if (sum <= 0n) continue
      const found = told.steps.findIndex((one) => one.step === 'repaid' && one.currency === currency)
      assert.ok(found !== -1, `${currency} of ${debtor.user} repays nothing`)
      const [step] = told.steps.splice(found, 1)
      assert.equal(step!.amount, sum, `what repays ${currency} of ${debtor.user}`)
      account.free.set(currency, account.has(currency) - sum)
      this.pay(account, currency, sum)
      this.met('repaid')
    }
  }
  /** Interest first. */
  private pay(account: Borrower, currency: string, sum: bigint): void {
    const interest = account.interest.get(currency) ?? 0n
    const ofInterest = min(interest, sum)
    account.interest.set(currency, interest - ofInterest)
    account.owed.set(currency, (account.owed.get(currency) ?? 0n) - (sum - ofInterest))
  }
  private owed(account: Borrower): string[] {
    return CURRENCIES.filter((currency) => account.debt(currency) > 0n)
  }
  /** The most valuable first; what is no collateral when nothing else is left. */
  private collateral(account: Borrower, price: (currency: string) => bigint): string[] {
    const worth = (currency: string): bigint => down(account.has(currency), price(currency))
    return CURRENCIES.filter((one) => account.debt(one) === 0n && account.has(one) > 0n).sort((a, b) => {
      const [one, other] = [account.excluded.has(a), account.excluded.has(b)]
      if (one !== other) return one ? 1 : -1
      return worth(a) === worth(b) ? (a < b ? -1 : 1) : worth(a) > worth(b) ? -1 : 1
    })
  }
  private largestDebt(account: Borrower, price: (currency: string) => bigint): string {
    const worth = (currency: string): bigint => up(account.debt(currency), price(currency))
    return this.owed(account).sort((a, b) =>
      worth(a) > worth(b) ? -1 : worth(a) < worth(b) ? 1 : a < b ? -1 : 1,
    )[0]!
  }

  /** How much of a debt must be paid until the account is healthy, by what brings so much of its index; all, if less does not do. */
  private needed(
    { account, contracts }: Debtor,
    asset: string,
    debt: string,
    price: (currency: string) => bigint,
    kept: bigint,
  ): { readonly need: bigint; readonly all: bigint } {
    const at = down(price(asset), kept)
    const all = min(account.debt(debt), over(down(account.has(asset), at), price(debt)))
    const beside = contracts?.figures()
    const heals = (paid: bigint): boolean => {
      const after = account.copy()
      const given = overUp(up(paid, price(debt)), at)
      after.free.set(asset, max(0n, after.has(asset) - given))
      this.pay(after, debt, paid)
      return this.isHealthy(after, this.together(after, beside, price))
    }
    if (!heals(all)) return { need: all, all }
    let [low, high] = [0n, all]
    while (high - low > 1n) {
      const middle = (low + high) / 2n
      if (heals(middle)) high = middle
      else low = middle
    }
    return { need: high, all }
  }
  private routeOf(from: string, to: string): Route {
    for (const [pair, side] of [
      [`${from}_${to}`, 'sell'],
      [`${to}_${from}`, 'buy'],
    ] as const)
      if (PAIRS.includes(pair)) return { pair, side }
    return { pair: `${from}_USDT`, side: 'sell' }
  }
  private boundOf({ pair, side }: Route, price: (currency: string) => bigint): bigint {
    const [base, quote] = pair.split('_') as [string, string]
    const index = over(price(base), price(quote))
    return side === 'sell' ? up(index, KEPT) : down(index, DEARER)
  }
  /** What one sale is: what is needed, a quarter of the debt at the most, 10 USDT at the least; a crumb goes along. */
  private saleOf(
    account: Borrower,
    asset: string,
    debt: string,
    price: (currency: string) => bigint,
    needed: bigint,
  ): bigint {
    const owed = up(account.debt(debt), price(debt))
    const target = max(min(owed / 4n, up(needed, price(debt))), SALE_LEAST)
    const wanted = overUp(target, price(asset))
    const has = account.has(asset)
    return wanted >= has || down(has - wanted, price(asset)) < SALE_LEAST ? has : wanted
  }
  private nobodyBuys({ account, user }: Debtor, { price, best }: DebtTold, asset: string): void {
    const debt = this.largestDebt(account, price)
    const route = this.routeOf(asset, debt)
    if (down(account.has(asset), price(asset)) < SALE_LEAST) return
    const met =
      route.pair === PAIR
        ? this.spot.market.facing(route.side)[0]?.price
        : best.get(`${route.side} ${route.pair}`)
    const bound = this.boundOf(route, price)
    assert.ok(
      met === undefined || (route.side === 'sell' ? met < bound : met > bound),
      `somebody would have bought the ${asset} of ${user}`,
    )
  }
  private sale(debtor: Debtor, told: DebtTold, assets: readonly string[]): void {
    const { account, user } = debtor
    const { price } = told
    const step = this.take(debtor, told, 'sold')
    const asset = step.currency
    assert.ok(assets.includes(asset), `${asset} of ${user} is sold`)
    for (const better of assets.slice(0, assets.indexOf(asset))) this.nobodyBuys(debtor, told, better)
    const debt = this.largestDebt(account, price)
    const route = this.routeOf(asset, debt)
    const bound = this.boundOf(route, price)
    const order = told.orders.get(step.detail['order_id'] as number)!
    assert.deepEqual([order.pair, order.side, step.detail['bound']], [route.pair, route.side, text(bound)])
    // It is found to a thousandth of the debt.
    const { need, all } = this.needed(debtor, asset, debt, price, ONE)
    const most = this.saleOf(account, asset, debt, price, need + all / 1024n + 1n)
    const least = this.saleOf(account, asset, debt, price, need)
    const lot = route.side === 'sell' ? LOTS[route.pair]! : ONE / 10n
    assert.ok(
      order.amount <= most && order.amount > least - lot,
      `${text(order.amount)} ${asset} of ${user} are sold, not ${text(least)} to ${text(most)}`,
    )
    if (route.pair === PAIR) {
      const { order: made, label } = this.spot.place({
        ...{ user, side: route.side, market: true, tif: 'ioc', price: 0n, bound },
        ...{ amount: order.amount, iceberg: 0n, act: null },
      })
      assert.equal(label, '')
      assert.deepEqual(
        [order.filled, order.filled_total, order.fee],
        [made!.filled, made!.total, made!.fee],
        `what ${user} gets for his ${asset}`,
      )
      assert.equal(step.amount, route.side === 'sell' ? made!.filled : made!.total)
      this.met('sold in the market of the families')
      return
    }
    const { filled, filled_total: total, fee } = order
    const [base, quote] = route.pair.split('_') as [string, string]
    const [gets, got, given] = route.side === 'sell' ? [quote, total, filled] : [base, filled, total]
    assert.ok(
      route.side === 'sell' ? total >= down(filled, bound) - UNIT : total <= up(filled, bound) + UNIT,
      `${asset} of ${user} is sold too far from its index`,
    )
    const share = (got * FEE) / ONE
    assert.ok(fee >= share && fee <= share + 1_000n * UNIT, `the fee of ${user}`)
    assert.equal(step.amount, given)
    account.free.set(asset, account.has(asset) - given)
    account.free.set(gets, account.has(gets) + got - fee)
    this.met('sold in a market of others')
  }
  /** At the index less what a market may take; no more than is needed, and as far as the fund has what is owed. */
  private takeOver(debtor: Debtor, told: DebtTold): void {
    const { account, user } = debtor
    const { price, fund } = told
    const step = this.take(debtor, told, 'taken_over')
    const [asset, debt] = [step.currency, step.detail['currency'] as string]
    const paid = amount(step.detail['repaid'] as string)
    assert.ok(!this.isHealthy(account, this.figures(debtor, price)), `${user} is healthy`)
    assert.ok(account.debt(asset) === 0n && account.debt(debt) > 0n, `${asset} of ${user} for ${debt}`)
    const has = fund.before.get(debt) ?? 0n
    const at = down(price(asset), KEPT)
    const { need, all } = this.needed(debtor, asset, debt, price, KEPT)
    const [least, most] = [need, need + all / 1024n + 1n].map((sum) =>
      min(min(unitUp(sum), account.debt(debt)), has),
    ) as [bigint, bigint]
    const needs = unitUp(overUp(up(paid, price(debt)), at))
    if (step.amount < account.has(asset)) {
      assert.ok(paid >= least && paid <= most, `${text(paid)} ${debt} of ${user}, not ${text(least)}`)
      assert.equal(step.amount, needs, `what the fund takes of ${user}`)
    } else {
      const worth = unitDown(over(down(step.amount, at), price(debt)))
      assert.equal(step.amount, account.has(asset), `what there is of ${user}`)
      assert.ok(paid <= most, `the fund pays too much for ${user}`)
      assert.ok(paid === min(least, worth) || step.amount === needs, `what the fund pays for ${user}`)
    }
    account.free.set(asset, account.has(asset) - step.amount)
    this.pay(account, debt, paid)
    this.fundMoves(told, asset, step.amount)
    this.fundMoves(told, debt, -paid)
    this.met('taken over')
  }
  private fundMoves({ fund }: DebtTold, currency: string, by: bigint): void {
    fund.before.set(currency, (fund.before.get(currency) ?? 0n) + by)
  }
  /** Nothing is left: the fund pays as far as it goes, the lenders bear the rest. */
  private cover(debtor: Debtor, told: DebtTold): void {
    const { account, user } = debtor
    for (const currency of this.owed(account)) {
      const debt = account.debt(currency)
      const insured = min(debt, told.fund.before.get(currency) ?? 0n)
      for (const [name, sum] of [
        ['insured', insured],
        ['socialised', debt - insured],
      ] as const) {
        if (sum === 0n) continue
        const found = told.steps.findIndex((one) => one.step === name && one.currency === currency)
        assert.ok(found !== -1, `nobody has ${name} ${currency} of ${user}`)
        assert.equal(told.steps.splice(found, 1)[0]!.amount, sum, `${name} ${currency} of ${user}`)
        this.met(name)
      }
      this.pay(account, currency, debt)
      this.fundMoves(told, currency, -insured)
    }
  }

  /** A restricted account's orders are looked at again: what would not be let in now goes. */
  recheck(debtor: Debtor, told: DebtTold): void {
    if (debtor.level === 'locked' || this.figures(debtor, told.price).available >= 0n) return
    this.cancel(debtor, told, notLetIn(this.model(), debtor, told.price), 'price_protect_cancelled')
  }
}
