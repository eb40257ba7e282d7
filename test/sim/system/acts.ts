import assert from 'node:assert/strict'
import { BUILT_IN_WORLD } from '../../../src/core/world/built-in.ts'
import type { RefOrder } from '../../spot/reference.ts'
import { ETH_OUTSIDE } from '../../support/wallet.ts'
import { Borrowers } from './borrowers.ts'
import type { Cast, Family, Member } from './cast.ts'
import { Debtors } from './debtors.ts'
import type { Answer, Call, House } from './house.ts'
import { ONE, text, type Model } from './model.ts'
import { StrayMoney } from './money.ts'
import type { Act, Step } from './plan.ts'
import { AGENTS, CROSSWISE, CROWD, DEAR, SCENES, play } from './scenes.ts'
import { Stage } from './stage.ts'
import { STRAYS, strayOf } from './stray.ts'
import { PARTS, Traders } from './traders.ts'
import { Wander } from './wander.ts'

const PAIR = 'BTC_USDT'
const PRICE = 60_000n
const LOT = ONE / 10_000n
const CENT = ONE / 100n
export const CHAIN = 'BTC'
const CONFIRMATIONS = BUILT_IN_WORLD.chains.find(({ chain }) => chain === CHAIN)!.min_confirms
/** Of the newest orders so many are amended and cancelled: they are the likeliest to be open. */
const NEWEST = 60
const HOUR = 3_600
const DAY = 24 * HOUR
/** Market agents look every second: beyond so many of a life the clock moves without them, but for one time in so many. */
const AGENTS_SECONDS = 300
const AGENTS_STAY = 16
/** Of requests about loans one in so many comes an hour later than the one before; of the first ones, which a short history has, more. */
const HOUR_EACH = 48
const HOUR_EACH_FIRST = 8
const LOANS_FIRST = 40
/** A long move of the clock begins with some of these while the fund has something of the traders. */
const UNWINDS = 120

export interface Scene {
  readonly house: House
  readonly model: Model
  readonly cast: Cast
  readonly note: (what: string) => void
  /** Everything is as it was at the first start, and nobody is there. */
  readonly startOver: () => Promise<void>
}
/** One request, what the model says to it, and what is to be done when it was carried out. */
interface Request {
  readonly by: Member
  readonly call: Call
  /** Of the core, where it is carried out. */
  readonly command: string
  readonly predict: () => string
  readonly heard?: (answer: Answer) => void
}

/** What each step does. */
export class Acts {
  private readonly scene: Scene
  private orders: RefOrder[] = []
  private ids = 0
  private loans = 0
  /** How far the clock has moved in a life with market agents. */
  private agentsSeconds = 0
  /** Scenes, and how often. */
  private readonly played = new Map<string, number>()
  private readonly wander: Wander
  readonly money: StrayMoney
  readonly borrowers: Borrowers
  readonly traders: Traders
  readonly debtors: Debtors

  constructor(scene: Scene) {
    this.scene = scene
    this.wander = new Wander(scene.house, scene.cast)
    this.money = new StrayMoney(scene.house, scene.cast)
    this.borrowers = new Borrowers(scene.house, scene.cast, scene.model)
    const { house, cast, model, note } = scene
    this.traders = new Traders(house, cast, () => this.borrowers.unified, model, note)
    this.debtors = new Debtors(house, cast, model, this.borrowers, note)
  }
  async take(step: Step): Promise<void> {
    await this.acts[step.act](step)
    if (step.way !== 'once') this.scene.note(step.way)
  }
  prices(eth: number, sol: number): Promise<unknown> {
    return this.scene.house.ok('PUT', '/prices', { ETH: String(eth), SOL: String(sol) })
  }
  private family(step: Step, among: readonly Family[] = this.scene.cast.families): Family {
    return among[step.who % among.length]!
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
  private async send(step: Step, request: Request | undefined): Promise<void> {
    if (request === undefined) return
    await this.debtors.ready()
    const { by, call, predict, heard } = request
    const late = step.way === 'late'
    const times = step.way === 'twice' ? 2 : 1
    const expected = Array.from({ length: times }, () => (late ? 'REQUEST_EXPIRED' : predict()))
    const { house, note } = this.scene
    const answers = await Promise.all(expected.map(() => house.call(by.credential, call, late)))
    for (const [i, answer] of answers.entries()) {
      assert.equal(answer.label, expected[i], `${call.method} ${call.path} ${JSON.stringify(answer.body)}`)
      note(`${step.act} ${answer.label === '' ? 'ok' : answer.label}`)
      if (answer.label === '') heard?.(answer)
    }
  }
  private readonly crashing = ['place', 'transfer', 'sub', 'withdraw', 'unified', 'contracts'] as const
  /** The platform dies while it carries a request out: all of it happened, or nothing. */
  private async crash(step: Step): Promise<void> {
    const { house, note } = this.scene
    const death = step.n[1]! % 2 === 0 ? 'lost' : 'unheard'
    const kinds = [...this.crashing, 'clock', 'stray', 'price'] as const
    const kind = kinds[step.n[0]! % kinds.length]!
    const inner: Step = { ...step, act: kind, n: step.n.slice(2).concat(step.n[0]!, step.n[1]!), way: 'once' }
    if (kind === 'clock' || kind === 'stray' || kind === 'price') {
      if (kind === 'clock') await this.standBy()
      // By a price liquidations begin, and are left in the middle.
      const most = kind === 'price' ? 12 : 40
      const died = await house.die(1 + (inner.n[1]! % most), death, async () => {
        if (kind === 'clock') await house.operate('POST', '/clock', { advance_seconds: 3600 })
        else if (kind === 'price') await house.operate('PUT', '/prices', this.debtors.anyPrices(inner.n))
        else await this.stray(inner)
      })
      note(`crash ${kind} ${died === undefined ? 'did not come to it' : death}`)
      return
    }
    await this.debtors.ready()
    if (kind === 'contracts') await this.traders.ready()
    const request: Request | undefined =
      kind === 'unified'
        ? this.borrowers.request(inner)
        : kind === 'contracts'
          ? this.traders.request(inner)
          : this.requests[kind](inner)
    if (request === undefined) return
    // It carries out what was recorded by itself: what it would answer is asked before.
    const told = kind === 'contracts' ? request.predict() : undefined
    let answer: Answer | undefined
    const at = await house.die(1, death, async () => {
      answer = await house.call(request.by.credential, request.call)
    })
    // Something else may have been in the append: what is not in it never was.
    const done = at === undefined || (death === 'unheard' && at.includes(`"${request.command}"`))
    if (done) {
      const expected = told ?? request.predict()
      if (answer!.status < 500) assert.equal(answer!.label, expected)
      else assert.equal(expected, '', `${request.command} was carried out`)
      if (answer!.status < 300) request.heard?.(answer!)
    }
    note(`crash ${kind} ${at === undefined ? 'did not come to it' : death}`)
  }
  private readonly requests = {
    place: (step: Step) => this.place(step),
    transfer: (step: Step): Request => {
      const { model } = this.scene
      const trader = this.trader(step)
      const inwards = step.n[0]! % 2 === 0
      const has = inwards ? model.spot(trader.user, 'USDT') : model.futuresOf(trader.user)
      const sum = this.some(has, step.n[1]!)
      const [from, to] = inwards ? ['spot', 'futures'] : ['futures', 'spot']
      const body = { currency: 'USDT', from, to, amount: text(sum), settle: 'usdt' }
      return {
        by: trader,
        call: { method: 'POST', path: '/wallet/transfers', body },
        command: 'transfer.create',
        predict: () => model.transfer(trader.user, inwards ? 'in' : 'out', sum),
      }
    },
    sub: (step: Step): Request => {
      const { model } = this.scene
      const { main, sub } = this.family(step)
      const currency = (['BTC', 'USDT', 'ETH'] as const)[step.n[0]! % 3]!
      const [from, to] = step.n[1]! % 2 === 0 ? [main, sub] : [sub, main]
      const sum = this.some(model.spot(from.user, currency), step.n[2]!)
      const client_order_id = this.named(step) ? `sim-${++this.ids}` : undefined
      const body = {
        currency,
        sub_account: String(sub.user),
        direction: from === main ? 'to' : 'from',
        amount: text(sum),
        ...(client_order_id !== undefined && { client_order_id }),
      }
      return {
        by: main,
        call: { method: 'POST', path: '/wallet/sub_account_transfers', body },
        command: 'sub_transfer.create',
        predict: () => model.between(from.user, to.user, currency, sum, client_order_id),
      }
    },
    withdraw: (step: Step): Request => {
      const { model, cast } = this.scene
      const { main } = this.family(step, cast.withdrawing)
      const sum = CENT * BigInt(10 + (step.n[0]! % 300))
      const withdraw_order_id = this.named(step) ? `w${++this.ids}` : undefined
      const body = {
        currency: 'ETH',
        chain: 'ETH',
        amount: text(sum),
        address: ETH_OUTSIDE,
        ...(withdraw_order_id !== undefined && { withdraw_order_id }),
      }
      return {
        by: main,
        call: { method: 'POST', path: '/withdrawals', body },
        command: 'withdrawal.request',
        predict: () => model.withdraw(main.user, 'ETH', sum, withdraw_order_id),
      }
    },
  }
  private readonly acts: Readonly<Record<Act, (step: Step) => Promise<void>>> = {
    place: (step) => this.send(step, this.requests.place(step)),
    transfer: (step) => this.send(step, this.requests.transfer(step)),
    sub: (step) => this.send(step, this.requests.sub(step)),
    withdraw: (step) => this.send(step, this.requests.withdraw(step)),
    amend: (step) => this.send(step, this.amend(step)),
    cancel: (step) => this.send(step, this.cancel(step)),
    deposit: async (step) => {
      const { house, model, cast, note } = this.scene
      const { main } = this.family(step, cast.deposited)
      const sum = CENT * BigInt(1 + (step.n[0]! % 200))
      const body = { user_id: main.user, currency: 'BTC', amount: text(sum) }
      await house.ok('POST', `/chains/${CHAIN}/deposits`, body)
      model.deposit(main.user, 'BTC', sum, CONFIRMATIONS)
      note('deposit ok')
    },
    mine: async (step) => {
      const { house, model, note } = this.scene
      const blocks = 1 + (step.n[0]! % 4)
      for (const chain of ['ETH', CHAIN]) await house.ok('POST', `/chains/${chain}/mine`, { blocks })
      model.mine(blocks)
      note('mine ok')
    },
    credit: async (step) => {
      const currency = (['BTC', 'USDT', 'ETH'] as const)[step.n[0]! % 3]!
      await this.scene.cast.credit(this.trader(step), currency, CENT * BigInt(1 + (step.n[1]! % 5000)))
      this.scene.note('credit ok')
    },
    unified: async (step) => {
      // Interest is charged by the hour.
      if (step.n[5]! % (this.loans++ < LOANS_FIRST ? HOUR_EACH_FIRST : HOUR_EACH) === 0) {
        await this.clock(HOUR, step.n)
        await this.borrowers.catchUp()
      }
      await this.send(step, this.borrowers.request(step))
      await this.borrowers.seen(step.who)
    },
    debt: async (step) => {
      const happened = await this.debtors.happens(step, (seconds) => this.clock(seconds, step.n))
      for (let part = 0; part < 2 && happened === undefined; part++)
        await this.send(step, this.debtors.request(step, part))
      if (happened !== undefined) this.scene.note(`debt ${happened}`)
      await this.debtors.seen(step.who)
    },
    // The reference tells what one request would be answered, not two.
    contracts: async (step) => {
      const happened = await this.traders.happens(step)
      if (happened !== undefined) {
        this.scene.note(`contracts ${happened}`)
        return
      }
      for (let part = 0; part < PARTS; part++) {
        await this.traders.ready()
        const request = this.traders.request(step, part)
        await this.send(step.way === 'twice' ? { ...step, way: 'once' } : step, request)
      }
      await this.traders.seen(step)
    },
    stray: (step) => this.stray(step),
    any: async (step) => {
      const told = await this.wander.anything(step)
      if (told !== undefined) this.scene.note(`any ${told.answer.status < 300 ? 'ok' : 'refused'}`)
    },
    scene: async (step) => this.scene.note(`scene ${await play(SCENES, this.stage(step), this.played)}`),
    dear: async (step) => this.scene.note(`scene ${await play(DEAR, this.stage(step), this.played)}`),
    agents: async (step) => {
      await this.scene.house.withAgents()
      this.agentsSeconds = 0
      await AGENTS(this.stage(step))
      this.scene.note('agents ok')
    },
    crowd: async (step) => {
      await CROWD(this.stage(step))
      this.scene.note('crowd ok')
    },
    money: async (step) => this.scene.note(`money ${await this.money.act(step)}`),
    price: async (step) => {
      await this.prices(2400 + (step.n[0]! % 1200), 110 + (step.n[1]! % 80))
      this.scene.note('price ok')
    },
    clock: (step) =>
      this.clock([1, 7, 30, 60, 60, 60, 60, step.n[1]! % 4 === 0 ? HOUR : 300][step.n[0]! % 8]!, step.n),
    long: (step) =>
      this.clock([DAY / 4, DAY / 2, DAY, step.n[1]! % 3 === 0 ? 7 * DAY : DAY][step.n[0]! % 4]!, step.n),
    join: async (step) => {
      const { cast, note } = this.scene
      if (step.n[0]! % 3 === 0) await cast.stray()
      else await cast.family(step.n[1]! % 3 !== 0)
      note('join ok')
    },
    evict: () => this.scene.house.evict(),
    stop: () => this.scene.house.stopAndStart(),
    kill: () => this.scene.house.kill(),
    crash: (step) => this.crash(step),
    takeover: async (step) => {
      const { house, note } = this.scene
      const { user } = this.trader(step)
      const body = { account: 'spot', currency: 'USDT', amount: '1' }
      const { status } = await house.takeOver(() => house.operate('POST', `/users/${user}/credit`, body))
      assert.equal(status, 503, 'an answer of one who was taken over')
      note('takeover ok')
    },
    reset: () => this.scene.startOver(),
    reconfigure: async (step) => {
      await CROSSWISE(this.stage(step))
      await this.scene.house.reconfigure(`0.000${1 + (step.n[0]! % 9)}`)
    },
  }
  private stage({ n }: Step): Stage {
    return new Stage(this.scene.house, this.scene.cast, n, (seconds) => this.clock(seconds, n))
  }
  private async clock(seconds: number, n: readonly number[]): Promise<void> {
    const { house } = this.scene
    if (house.agents && n[6]! % AGENTS_STAY !== 0) {
      this.agentsSeconds += seconds
      if (this.agentsSeconds > AGENTS_SECONDS) await house.stopAndStart()
    }
    let left = seconds
    // What the fund has is gone within a minute or two where somebody takes it, unless more is taken over meanwhile.
    for (let i = 0; i < 3 && left > UNWINDS && this.traders.fundHolds; i++, left -= UNWINDS) {
      await this.traders.standBy()
      await house.ok('POST', '/clock', { advance_seconds: UNWINDS })
    }
    if (seconds > 60) await this.standBy()
    else await this.traders.standBy()
    await house.ok('POST', '/clock', { advance_seconds: left })
    this.scene.note(`clock ${seconds}`)
  }
  private async standBy(): Promise<void> {
    await this.scene.cast.standBy()
    await this.traders.standBy()
  }
  private async stray(step: Step): Promise<void> {
    const { house, cast, note } = this.scene
    const name = strayOf(step.n[0]!)
    const { user, credential } = cast.strays[step.who % cast.strays.length]!
    const call = STRAYS[name]!({ n: step.n, others: cast.strays.map((one) => one.user) })
    const late = step.way === 'late'
    const times = step.way === 'twice' ? 2 : 1
    const answers = await Promise.all(Array.from({ length: times }, () => house.call(credential, call, late)))
    for (const { label, body } of answers) {
      note(`stray ${name} ${label === '' ? 'ok' : label}`)
      if (label === '' && call.method !== 'GET') this.wander.saw(call.path, body, user)
    }
  }
  /** What has no id of its own is carried out as often as it comes; what comes twice mostly has one. */
  private named({ n, way }: Step): boolean {
    return way === 'twice' ? n[6]! % 8 !== 0 : n[6]! % 3 === 0
  }
  /** Part of what somebody has, and now and then more. */
  private some(has: bigint, n: number): bigint {
    const sum = ((has * BigInt(1 + (n % 120))) / 100n / CENT) * CENT
    return sum === 0n ? CENT : sum
  }

  private place(step: Step): Request {
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
      const told = this.scene.model.place({
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
    const heard = ({ body: reply }: Answer): void => {
      const order = made.shift()!
      order.id = Number(reply.id)
      this.orders.push(order)
      if (this.orders.length > 2 * NEWEST) this.orders = this.orders.slice(-NEWEST)
      // A maker of this very order may be told of by later ones: compared when they are looked at.
      if (step.way === 'once') this.same(order, reply)
    }
    const call = { method: 'POST', path: '/spot/orders', body }
    return { by: trader, call, command: 'spot.place', predict, heard }
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- replies are looked into freely
  private same(order: RefOrder, reply: any): void {
    assert.deepEqual(
      [reply.status, reply.left, reply.filled_amount, reply.fee],
      [order.status, text(order.left), text(order.filled), text(order.fee)],
      `order ${order.id}`,
    )
    this.scene.note(`order ${order.status} ${order.finish}`)
  }
  /** Mostly one that is open; of the others the newest. */
  private known(step: Step): { order: RefOrder; owner: Member } | undefined {
    const { market } = this.scene.model
    const among = step.n[5]! % 4 === 0 ? this.orders.slice(-NEWEST) : market.orders
    const order = among[step.n[0]! % Math.max(1, among.length)]
    const owner = order?.id ? this.scene.cast.members.get(order.user) : undefined
    return owner === undefined ? undefined : { order: order!, owner }
  }
  private amend(step: Step): Request | undefined {
    const found = this.known(step)
    if (found === undefined || found.order.market) return undefined
    const { order, owner } = found
    const size = step.n[1]! % 3 === 0 ? order.amount : LOT * BigInt(100 + (step.n[2]! % 5_000))
    const price = step.n[3]! % 3 === 0 ? order.price : (PRICE + BigInt((step.n[4]! % 41) - 20)) * ONE
    const body = { amount: text(size), price: text(price) }
    return {
      by: owner,
      call: { method: 'PATCH', path: `/spot/orders/${order.id}`, query: { currency_pair: PAIR }, body },
      command: 'spot.amend',
      predict: () => this.scene.model.amend(order, size, price).label,
    }
  }
  private cancel(step: Step): Request | undefined {
    const found = this.known(step)
    if (found === undefined) return undefined
    const { order, owner } = found
    return {
      by: owner,
      call: { method: 'DELETE', path: `/spot/orders/${order.id}`, query: { currency_pair: PAIR } },
      command: 'spot.cancel',
      predict: () => this.scene.model.cancel(order).label,
    }
  }
}
