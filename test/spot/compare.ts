import assert from 'node:assert/strict'
import type { Order } from '../../src/core/tables/exchange/order.ts'
import type { NewOrder } from '../../src/core/spot/place.ts'
import { amountOf, format, priceOf, type Amount } from '../../src/money/amount.ts'
import { Engine, type Outcome } from './engine.ts'
import { Label, ReferenceMarket, type RefNew, type RefOrder } from './reference.ts'

/** A small seeded generator (mulberry32): the same stream for the same seed, everywhere. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const PAIR = 'BTC_USDT'
const LOT = 10n ** 14n
const TICK = priceOf('1')
const VIPS = [0, 0, 0, 5, 5, 9, 16, 16]
const RATES: Readonly<Record<number, readonly [maker: string, taker: string]>> = {
  0: ['0.002', '0.002'],
  5: ['0.00145', '0.00155'],
  9: ['0.00105', '0.00115'],
  16: ['0', '0.00025'],
}
const OPEN_TARGET = 100
const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** Both markets side by side, fed with the same random operations. */
export class Comparison {
  readonly engine = new Engine()
  readonly reference = new ReferenceMarket()
  readonly counts = { operations: 0, fills: 0, refusals: 0 }
  private readonly users: number[] = []
  private readonly byId = new Map<number, RefOrder>()
  private readonly known: RefOrder[] = []
  private readonly draw: (below: number) => number
  /** Ticks that each side keeps away from the middle: books of a handful of orders, of dozens, of a hundred. */
  private readonly shyness: number

  constructor(seed: number) {
    this.draw = random(seed)
    this.shyness = [0, 6, 10][seed % 3]!
    const { engine, reference } = this
    const main = VIPS.map((vip) => engine.user({ BTC: '50', USDT: '2500000' }, { vip }))
    const sub = engine.user({ BTC: '50', USDT: '2500000' }, { parent_id: main[0]! })
    this.users = [...main, sub]
    for (const [i, user] of this.users.entries()) {
      reference.free.set(`${user}BTC`, amountOf('50'))
      reference.free.set(`${user}USDT`, amountOf('2500000'))
      const [maker, taker] = RATES[i < VIPS.length ? VIPS[i]! : 0]!
      reference.rates.set(user, { maker: amountOf(maker), taker: amountOf(taker) })
    }
    // A group across accounts of one owner, and one of a single account.
    for (const [owner, members] of [
      [main[0]!, [main[0]!, sub]],
      [main[3]!, [main[3]!]],
    ] as const) {
      const { id } = engine.must('stp_group.create', { user_id: owner, name: 'g' })
      engine.must('stp_group.add', { user_id: owner, stp_id: id, members })
      for (const member of members) reference.groups.set(member, id)
    }
  }
  /** Orders that rest in the book; every fifty steps, exactly. */
  get depth(): number {
    return this.reference.orders.length
  }
  step(): void {
    this.counts.operations++
    const open = this.known.length
    const kind = this.draw(100)
    if (open > OPEN_TARGET ? kind < 35 : kind < 55) this.place()
    else if (kind < 75 && open > 0) this.amend()
    else if (open > 0) this.cancel()
    if (this.counts.operations % 50 === 0) this.forget()
    if (this.counts.operations % 500 === 0) this.compareAll()
  }

  private place(): void {
    const { draw } = this
    const market = draw(10) === 0
    const side = draw(2) === 0 ? 'buy' : 'sell'
    const tif = market
      ? (['ioc', 'fok'] as const)[draw(2)]!
      : (['gtc', 'gtc', 'gtc', 'gtc', 'ioc', 'poc', 'fok'] as const)[draw(7)]!
    const user = this.users[draw(this.users.length)]!
    const base = BigInt(1 + draw(draw(20) === 0 ? 500_000 : 3_000)) * LOT
    const price = this.price(side)
    const amount = market && side === 'buy' ? ((base * price) / 10n ** 18n / 10n ** 10n) * 10n ** 10n : base
    const rests = tif === 'gtc' || tif === 'poc'
    const iceberg = rests && draw(6) === 0 ? BigInt(1 + draw(Number(base / LOT))) * LOT : 0n
    const act = draw(8) === 0 ? (['cn', 'co', 'cb'] as const)[draw(3)]! : null
    const input: RefNew = { user, side, market, tif, price: market ? 0n : price, amount, iceberg, act }
    const order: NewOrder = {
      text: null,
      currency_pair: PAIR,
      type: market ? 'market' : 'limit',
      account: null,
      side,
      amount: format(amount as Amount),
      price: market ? null : format(price as Amount),
      time_in_force: tif,
      iceberg: iceberg === 0n ? null : format(iceberg as Amount),
      auto_borrow: null,
      auto_repay: null,
      stp_act: act,
      slippage: null,
      stop_profit: null,
      stop_loss: null,
    }
    if (draw(16) === 0) this.engine.rehearse('spot.place', { user_id: user, order })
    const outcome = this.engine.run('spot.place', { user_id: user, order })
    const placed = this.judge(outcome, () => this.reference.place(input), JSON.stringify(order))
    if (placed === undefined || 'label' in outcome) return
    placed.id = outcome.reply.id
    for (const fill of this.reference.fills) if (fill.order === 0) fill.order = placed.id
    this.byId.set(placed.id, placed)
    this.compareOrder(outcome.reply, placed)
    this.compareFills(outcome)
    if (placed.status === 'open' || this.draw(4) === 0) this.known.push(placed)
  }
  private price(side: 'buy' | 'sell'): bigint {
    const away = side === 'buy' ? -this.shyness : this.shyness
    return BigInt(50_000 + away - 12 + this.draw(25)) * TICK
  }
  private cancel(): void {
    const order = this.known[this.draw(this.known.length)]!
    const input = { user_id: order.user, id: order.id, currency_pair: PAIR }
    if (this.draw(16) === 0) this.engine.rehearse('spot.cancel', input)
    const outcome = this.engine.run('spot.cancel', input)
    this.judge(outcome, () => this.reference.cancel(order), `cancel ${order.id}`)
    if (!('label' in outcome)) this.compareOrder(outcome.reply, order)
    this.forgetOne(order)
  }
  private amend(): void {
    const order = this.known[this.draw(this.known.length)]!
    const price = order.market || this.draw(2) === 0 ? order.price : this.price(order.side)
    const amount = this.draw(3) === 0 ? order.amount : BigInt(1 + this.draw(5_000)) * LOT
    if (order.market) return
    const input = {
      user_id: order.user,
      id: order.id,
      currency_pair: PAIR,
      amount: format(amount as Amount),
      price: format(price as Amount),
      amend_text: null,
      stop_profit: null,
      stop_loss: null,
    }
    if (this.draw(16) === 0) this.engine.rehearse('spot.amend', input)
    const outcome = this.engine.run('spot.amend', input)
    this.judge(outcome, () => this.reference.amend(order, amount, price), JSON.stringify(input))
    if ('label' in outcome) return
    this.compareOrder(outcome.reply, order)
    this.compareFills(outcome)
  }

  /** Both do it, or both refuse with the same label. */
  private judge<R>(outcome: Outcome<unknown>, act: () => R, what: string): R | undefined {
    this.reference.fills = []
    try {
      const result = act()
      assert.ok(!('label' in outcome), `refused ${'label' in outcome ? outcome.label : ''}: ${what}`)
      return result
    } catch (error) {
      if (!(error instanceof Label)) throw error
      this.counts.refusals++
      assert.equal('label' in outcome ? outcome.label : 'done', error.message, what)
      return undefined
    }
  }
  private compareOrder(order: Order, expected: RefOrder): void {
    const open = order.status === 'open'
    const got = [
      order.left,
      order.filled,
      order.filled_total,
      order.fee,
      order.amount,
      order.price,
      order.held,
    ]
    const wanted = [
      expected.left,
      expected.filled,
      expected.total,
      expected.fee,
      expected.amount,
      expected.price,
    ]
    assert.equal(
      `${got.join(' ')} ${open ? order.shown : 0n} ${order.status} ${order.finish_as}`,
      `${wanted.join(' ')} ${this.reference.due(expected)} ${open ? expected.shown : 0n} ${expected.status} ${expected.finish}`,
      `order ${order.id}`,
    )
  }
  private compareFills(outcome: Outcome<unknown>): void {
    if ('label' in outcome) return
    const got = outcome.fills().map(({ order_id, role, price, amount, fee }) => ({
      order: order_id,
      role,
      price: price,
      amount: amount,
      fee: fee,
    }))
    assert.equal(JSON.stringify(got, plain), JSON.stringify(this.reference.fills, plain))
    this.counts.fills += got.length / 2
  }
  /** Every balance, every open order, and the queues of the book. */
  compareAll(): void {
    const { ledger, spot } = this.engine.state
    for (const user of this.users)
      for (const currency of ['BTC', 'USDT']) {
        assert.equal(ledger.balance(user, 'spot', currency), this.reference.money(user, currency))
        assert.equal(ledger.balance(user, 'spot.locked', currency), this.reference.held(user, currency))
      }
    for (const side of ['buy', 'sell'] as const) {
      const expected = this.reference.facing(side === 'buy' ? 'sell' : 'buy')
      const queue = [...spot.book(PAIR).queue(side)]
      assert.deepEqual(
        queue.map(({ id }) => id),
        expected.map(({ id }) => id),
      )
      for (const [i, order] of queue.entries()) this.compareOrder(order, expected[i]!)
    }
  }
  private forgetOne(order: RefOrder): void {
    this.known.splice(this.known.indexOf(order), 1)
  }
  /** Ended orders are compared when they end; the list need not grow for ever. */
  private forget(): void {
    const few = this.known.filter((order) => order.status === 'open' || this.draw(2) === 0)
    this.known.splice(0, this.known.length, ...few)
    const all = this.reference.orders.filter((order) => order.status === 'open')
    this.reference.orders.splice(0, this.reference.orders.length, ...all)
  }
}
