import assert from 'node:assert/strict'
import { BUILT_IN_WORLD } from '../../../src/core/world/built-in.ts'
import { prove } from '../../futures/prove.ts'
import type { RefOrder } from '../../spot/reference.ts'
import type { Credential } from '../../support/client.ts'
import { ETH_OUTSIDE } from '../../support/wallet.ts'
import { House, type Answer, type Call } from './house.ts'
import { Model, ONE, amount, text } from './model.ts'
import type { Act, Step } from './plan.ts'
import { STRAYS, strayOf } from './stray.ts'

const PAIR = 'BTC_USDT'
const PRICE = 60_000n
const LOT = ONE / 10_000n
const CENT = ONE / 100n
const FAMILIES = 6
/** The last of them get deposits, whose locks would hold what they withdraw. */
const WITHDRAWING = 4
const STRAYING = 6
const CHAIN = 'BTC'
const CONFIRMATIONS = BUILT_IN_WORLD.chains.find(({ chain }) => chain === CHAIN)!.min_confirms
const VERIFY_EACH = 150
/** Names of accounts whose money may be below zero: debts, and what the platform owes. */
const MAY_OWE = /^debt\.|^loan|^interest/

interface Member {
  readonly user: number
  readonly credential: Credential
}
interface Family {
  readonly main: Member
  readonly sub: Member
}

/** A seeded history of the whole platform, through its real pipeline, beside a naive model of its rules. */
export class System {
  readonly reached = new Map<string, number>()
  readonly house = new House()
  private readonly model = new Model()
  private readonly families: Family[] = []
  private readonly strays: Member[] = []
  private readonly orders: RefOrder[] = []
  private ids = 0

  async run(steps: readonly Step[], watch?: (step: number) => void): Promise<void> {
    await this.house.open()
    try {
      await this.begin()
      for (const [i, step] of steps.entries()) {
        try {
          await this.take(step)
          await this.check()
          if (i % VERIFY_EACH === VERIFY_EACH - 1) await this.checkDeeply()
        } catch (error) {
          throw new Violation(i, step, error)
        }
        watch?.(i)
      }
      await this.checkDeeply()
    } finally {
      await this.house.close()
    }
  }
  private async begin(): Promise<void> {
    for (let i = 0; i < FAMILIES; i++) {
      const main = await this.member()
      this.families.push({ main, sub: await this.member(main.user) })
      await this.house.operator.ok('POST', `/users/${main.user}/saved_addresses`, {
        currency: 'ETH',
        chain: 'ETH',
        address: ETH_OUTSIDE,
        verified: true,
        verified_at: 1_799_000_000,
      })
      for (const [currency, sum] of [
        ['BTC', 20n],
        ['USDT', 1_000_000n],
        ['ETH', 50n],
      ] as const)
        await this.credit(main, currency, sum * ONE)
    }
    for (let i = 0; i < STRAYING; i++) {
      const stray = await this.member()
      this.strays.push(stray)
      for (const [account, currency, sum] of [
        ['spot', 'USDT', '50000'],
        ['spot', 'ETH', '20'],
        ['futures', 'USDT', '20000'],
      ] as const)
        await this.house.operator.ok('POST', `/users/${stray.user}/credit`, {
          account,
          currency,
          amount: sum,
          ...(account === 'futures' && { settle: 'usdt' }),
        })
    }
    for (const chain of ['ETH', CHAIN])
      await this.house.operator.ok('PATCH', `/chains/${chain}`, { auto_mine_seconds: 0 })
    await this.prices(3000, 150)
  }
  private async member(parent?: number): Promise<Member> {
    const { user_id, credential } = await this.house.user(parent)
    const rates = { maker: amount('0.002'), taker: amount('0.002') }
    this.model.market.rates.set(user_id, rates)
    return { user: user_id, credential }
  }
  private async credit({ user }: Member, currency: string, sum: bigint): Promise<void> {
    await this.house.operator.ok('POST', `/users/${user}/credit`, {
      account: 'spot',
      currency,
      amount: text(sum),
    })
    this.model.give(user, currency, sum)
  }
  private prices(eth: number, sol: number): Promise<unknown> {
    return this.house.operator.ok('PUT', '/prices', {
      BTC: String(PRICE),
      ETH: String(eth),
      SOL: String(sol),
    })
  }

  private note(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1)
  }
  private family(step: Step, among = FAMILIES): Family {
    return this.families[step.who % among]!
  }
  /** A main account or its sub-account. */
  private trader(step: Step): Member {
    const { main, sub } = this.family(step)
    return step.n[7]! % 4 === 0 ? sub : main
  }
  /**
   * Sends what a step says: the model tells first what the answer will be, once for each time that it arrives. A late
   * one is not carried out at all.
   */
  private async send(
    step: Step,
    { credential }: Member,
    call: Call,
    predict: () => string,
    heard: (answer: Answer) => void = () => undefined,
  ): Promise<void> {
    const late = step.way === 'late'
    const times = step.way === 'twice' ? 2 : 1
    const expected = Array.from({ length: times }, () => (late ? 'REQUEST_EXPIRED' : predict()))
    const answers = await Promise.all(expected.map(() => this.house.call(credential, call, late)))
    for (const [i, answer] of answers.entries()) {
      assert.equal(answer.label, expected[i], `${call.method} ${call.path} ${JSON.stringify(answer.body)}`)
      this.note(`${step.act} ${answer.label === '' ? 'ok' : answer.label}`)
      if (answer.label === '') heard(answer)
    }
  }

  private async take(step: Step): Promise<void> {
    await this.acts[step.act](step)
    if (step.way !== 'once') this.note(step.way)
  }
  private readonly acts: Readonly<Record<Act, (step: Step) => Promise<void>>> = {
    place: (step) => this.place(step),
    amend: (step) => this.amend(step),
    cancel: (step) => this.cancel(step),
    transfer: async (step) => {
      const trader = this.trader(step)
      const inwards = step.n[0]! % 2 === 0
      const has = inwards ? this.model.spot(trader.user, 'USDT') : this.model.futuresOf(trader.user)
      const sum = this.some(has, step.n[1]!)
      const [from, to] = inwards ? ['spot', 'futures'] : ['futures', 'spot']
      const body = { currency: 'USDT', from, to, amount: text(sum), settle: 'usdt' }
      await this.send(step, trader, { method: 'POST', path: '/wallet/transfers', body }, () =>
        this.model.transfer(trader.user, inwards ? 'in' : 'out', sum),
      )
    },
    sub: async (step) => {
      const { main, sub } = this.family(step)
      const currency = (['BTC', 'USDT', 'ETH'] as const)[step.n[0]! % 3]!
      const [from, to] = step.n[1]! % 2 === 0 ? [main, sub] : [sub, main]
      const sum = this.some(this.model.spot(from.user, currency), step.n[2]!)
      const client_order_id = `sim-${++this.ids}`
      const body = {
        currency,
        sub_account: String(sub.user),
        direction: from === main ? 'to' : 'from',
        amount: text(sum),
        client_order_id,
      }
      await this.send(step, main, { method: 'POST', path: '/wallet/sub_account_transfers', body }, () =>
        this.model.between(from.user, to.user, currency, sum, client_order_id),
      )
    },
    withdraw: async (step) => {
      const { main } = this.family(step, WITHDRAWING)
      const sum = CENT * BigInt(10 + (step.n[0]! % 300))
      const withdraw_order_id = `w${++this.ids}`
      const body = {
        currency: 'ETH',
        chain: 'ETH',
        amount: text(sum),
        address: ETH_OUTSIDE,
        withdraw_order_id,
      }
      await this.send(step, main, { method: 'POST', path: '/withdrawals', body }, () =>
        this.model.withdraw(main.user, 'ETH', sum, withdraw_order_id),
      )
    },
    deposit: async (step) => {
      const { main } = this.families[WITHDRAWING + (step.who % (FAMILIES - WITHDRAWING))]!
      const sum = CENT * BigInt(1 + (step.n[0]! % 200))
      const body = { user_id: main.user, currency: 'BTC', amount: text(sum) }
      await this.house.operator.ok('POST', `/chains/${CHAIN}/deposits`, body)
      this.model.deposit(main.user, 'BTC', sum, CONFIRMATIONS)
      this.note('deposit ok')
    },
    mine: async (step) => {
      const blocks = 1 + (step.n[0]! % 4)
      for (const chain of ['ETH', CHAIN])
        await this.house.operator.ok('POST', `/chains/${chain}/mine`, { blocks })
      this.model.mine(blocks)
      this.note('mine ok')
    },
    credit: async (step) => {
      const currency = (['BTC', 'USDT', 'ETH'] as const)[step.n[0]! % 3]!
      await this.credit(this.trader(step), currency, CENT * BigInt(1 + (step.n[1]! % 5000)))
      this.note('credit ok')
    },
    stray: async (step) => {
      const name = strayOf(step.n[0]!)
      const { credential } = this.strays[step.who % STRAYING]!
      const call = STRAYS[name]!({ n: step.n, others: this.strays.map(({ user }) => user) })
      const late = step.way === 'late'
      const times = step.way === 'twice' ? 2 : 1
      const answers = await Promise.all(
        Array.from({ length: times }, () => this.house.call(credential, call, late)),
      )
      for (const { label } of answers) this.note(`stray ${name} ${label === '' ? 'ok' : label}`)
    },
    price: async (step) => {
      await this.prices(2400 + (step.n[0]! % 1200), 110 + (step.n[1]! % 80))
      this.note('price ok')
    },
    clock: async (step) => {
      const seconds = [1, 60, 3_600, 30_000][step.n[0]! % 4]!
      await this.house.operator.ok('POST', '/clock', { advance_seconds: seconds })
      this.note(`clock ${seconds}`)
    },
    evict: () => this.house.evict(),
    stop: () => this.house.stopAndStart(),
    kill: () => this.house.kill(),
    reconfigure: (step) => this.house.reconfigure(`0.000${1 + (step.n[0]! % 9)}`),
  }
  /** Part of what somebody has, and now and then more. */
  private some(has: bigint, n: number): bigint {
    const sum = ((has * BigInt(1 + (n % 120))) / 100n / CENT) * CENT
    return sum === 0n ? CENT : sum
  }

  private async place(step: Step): Promise<void> {
    const trader = this.trader(step)
    const [kind, sides, sizes, prices, rule] = step.n as readonly [number, number, number, number, number]
    const market = kind % 10 === 0
    const side = sides % 2 === 0 ? 'buy' : 'sell'
    const tif = market
      ? (['ioc', 'fok'] as const)[rule % 2]!
      : (['gtc', 'gtc', 'gtc', 'ioc', 'poc', 'fok'] as const)[rule % 6]!
    const base = LOT * BigInt(100 + (sizes % (sizes % 20 === 0 ? 300_000 : 5_000)))
    const price = (PRICE + BigInt((prices % 41) - 20)) * ONE
    const size = market && side === 'buy' ? ((base * price) / ONE / CENT) * CENT : base
    const body = {
      currency_pair: PAIR,
      type: market ? 'market' : 'limit',
      side,
      amount: text(size),
      ...(!market && { price: text(price) }),
      time_in_force: tif,
    }
    const made: RefOrder[] = []
    const predict = (): string => {
      const told = this.model.place({
        user: trader.user,
        side,
        market,
        tif,
        price: market ? 0n : price,
        amount: size,
        iceberg: 0n,
        act: null,
      })
      if (told.order !== undefined) made.push(told.order)
      return told.label
    }
    await this.send(
      step,
      trader,
      { method: 'POST', path: '/spot/orders', body },
      predict,
      ({ body: reply }) => {
        const order = made.shift()!
        order.id = Number(reply.id)
        this.orders.push(order)
        // A maker of this very order may be told of by later ones: compared when they are looked at.
        if (step.way === 'once') this.same(order, reply)
      },
    )
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are looked into freely
  private same(order: RefOrder, reply: any): void {
    assert.deepEqual(
      { status: reply.status, left: reply.left, filled: reply.filled_amount, fee: amount(reply.fee) },
      {
        status: order.status,
        left: text(order.left),
        filled: text(order.filled),
        fee: order.fee,
      },
      `order ${order.id}`,
    )
    this.note(`order ${order.status} ${order.finish}`)
  }
  private known(step: Step): { order: RefOrder; owner: Member } | undefined {
    // The newest are the likeliest to be open.
    const order = this.orders.at(-1 - (step.n[0]! % Math.max(1, Math.min(60, this.orders.length))))
    if (order === undefined) return undefined
    for (const { main, sub } of this.families)
      for (const owner of [main, sub]) if (owner.user === order.user) return { order, owner }
    return undefined
  }
  private async amend(step: Step): Promise<void> {
    const found = this.known(step)
    if (found === undefined || found.order.market) return
    const { order, owner } = found
    const size = step.n[1]! % 3 === 0 ? order.amount : LOT * BigInt(100 + (step.n[2]! % 5_000))
    const price = step.n[3]! % 3 === 0 ? order.price : (PRICE + BigInt((step.n[4]! % 41) - 20)) * ONE
    const body = { amount: text(size), price: text(price) }
    const call = { method: 'PATCH', path: `/spot/orders/${order.id}`, query: { currency_pair: PAIR }, body }
    await this.send(step, owner, call, () => this.model.amend(order, size, price).label)
  }
  private async cancel(step: Step): Promise<void> {
    const found = this.known(step)
    if (found === undefined) return
    const { order, owner } = found
    const call = { method: 'DELETE', path: `/spot/orders/${order.id}`, query: { currency_pair: PAIR } }
    await this.send(step, owner, call, () => this.model.cancel(order).label)
  }

  /** After every step: each currency adds up to nothing, nobody is below zero, contracts are in order, balances are the model's. */
  private async check(): Promise<void> {
    await this.house.settle()
    const { state } = this.house
    const sums = new Map<string, bigint>()
    for (const { owner, name, currency, amount: sum } of state.ledger.accounts.values()) {
      sums.set(currency, (sums.get(currency) ?? 0n) + sum)
      if (owner !== 0 && !MAY_OWE.test(name)) assert.ok(sum >= 0n, `${owner} ${name} ${currency} is ${sum}`)
    }
    for (const [currency, sum] of sums) assert.equal(sum, 0n, `conservation of ${currency}`)
    prove(state, { quiet: false })
    for (const { main, sub } of this.families)
      for (const { user } of [main, sub])
        for (const currency of ['BTC', 'USDT', 'ETH']) {
          const has = state.ledger.balance(user, 'spot', currency)
          assert.equal(has, this.model.spot(user, currency), `spot ${currency} of ${user}`)
        }
    for (const { main, sub } of this.families)
      for (const { user } of [main, sub])
        assert.equal(
          state.ledger.balance(user, 'futures:usdt', 'USDT'),
          this.model.futuresOf(user),
          `contract account of ${user}`,
        )
  }
  private async withdrawals(
    credential: Credential,
  ): Promise<{ amount: string; fee: string; status: string }[]> {
    const query = { limit: '1000' }
    return (await this.house.call(credential, { method: 'GET', path: '/wallet/withdrawals', query })).body
  }
  private async onTheirWay(credential: Credential): Promise<bigint> {
    return (await this.withdrawals(credential))
      .filter(({ status }) => status !== 'DONE')
      .reduce((sum, one) => sum + amount(one.amount), 0n)
  }
  /** What was asked for was asked for once: the records are those of the model. */
  private async paidOnce({ user, credential }: Member): Promise<void> {
    const asked = (await this.withdrawals(credential)).reduce((sum, one) => sum + amount(one.amount), 0n)
    assert.equal(asked, this.model.gone.get(user) ?? 0n, `withdrawals of ${user}`)
  }
  /** As clients see it, and as the files have it. */
  private async checkDeeply(): Promise<void> {
    for (const { main, sub } of this.families)
      for (const { user, credential } of [main, sub]) {
        const { body } = await this.house.call(credential, { method: 'GET', path: '/spot/accounts' })
        for (const { currency, available, locked } of body as Record<string, string>[]) {
          assert.equal(available, text(this.model.spot(user, currency!)), `available ${currency!} of ${user}`)
          if (currency !== 'ETH') {
            const held = this.model.market.held(user, currency!)
            assert.equal(locked, text(held), `locked ${currency!} of ${user}`)
          } else assert.ok(amount(locked!) <= (await this.onTheirWay(credential)), `locked ETH of ${user}`)
        }
        if (user === main.user) await this.paidOnce(main)
      }
    assert.deepEqual(await this.house.verify(), [])
    this.note('verified')
  }
}

/** What went wrong, and at which step. */
export class Violation extends Error {
  readonly step: number
  constructor(step: number, what: Step, cause: unknown) {
    super(`step ${step} (${what.act}): ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.step = step
  }
}
