/**
 * A spot market written as plainly as can be: one list of orders, searched from end to end for every step. It
 * shares no code with the real one and is the judge of it.
 */
export interface RefOrder {
  id: number
  user: number
  group: number
  side: 'buy' | 'sell'
  market: boolean
  tif: 'gtc' | 'ioc' | 'poc' | 'fok'
  price: bigint
  /** Of a market order: it goes no further. */
  bound?: bigint
  amount: bigint
  left: bigint
  filled: bigint
  total: bigint
  fee: bigint
  iceberg: bigint
  shown: bigint
  refreshed: boolean
  place: number
  act: 'cn' | 'co' | 'cb'
  status: 'open' | 'closed' | 'cancelled'
  finish: string
}
export interface RefFill {
  order: number
  role: string
  price: bigint
  amount: bigint
  fee: bigint
}
export interface RefNew {
  user: number
  side: 'buy' | 'sell'
  market: boolean
  tif: 'gtc' | 'ioc' | 'poc' | 'fok'
  price: bigint
  /** Of a market order: it goes no further. */
  bound?: bigint
  amount: bigint
  iceberg: bigint
  act: 'cn' | 'co' | 'cb' | null
}
const ONE = 10n ** 18n
const LOT = 10n ** 12n
const UNIT = 10n ** 10n
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export class Label extends Error {}

export class ReferenceMarket {
  readonly orders: RefOrder[] = []
  fills: RefFill[] = []
  readonly free = new Map<string, bigint>()
  readonly groups = new Map<number, number>()
  readonly rates = new Map<number, { maker: bigint; taker: bigint }>()
  /** Whose money has moved; for who wants to know, and empties it. */
  readonly moved = new Set<number>()
  private places = 0

  money(user: number, currency: string): bigint {
    return this.free.get(`${user}${currency}`) ?? 0n
  }
  private give(user: number, currency: string, amount: bigint): void {
    this.moved.add(user)
    this.free.set(`${user}${currency}`, this.money(user, currency) + amount)
  }
  /** What an order must be able to pay still. */
  due(order: RefOrder): bigint {
    if (order.status !== 'open') return 0n
    return order.side === 'sell' || order.market ? order.left : (order.left * order.price) / ONE
  }
  held(user: number, currency: string): bigint {
    return this.orders
      .filter((order) => order.user === user && order.status === 'open')
      .filter((order) => (order.side === 'buy' ? 'USDT' : 'BTC') === currency)
      .reduce((sum, order) => sum + this.due(order), 0n)
  }
  /** For long histories: those that are not open any more meet nobody. */
  forgetFinished(): void {
    let kept = 0
    for (const order of this.orders) if (order.status === 'open') this.orders[kept++] = order
    this.orders.length = kept
  }
  /** Open orders that an order of this side meets, in the order in which it meets them. */
  facing(side: 'buy' | 'sell', except?: RefOrder): RefOrder[] {
    return this.orders
      .filter((order) => order.status === 'open' && order.side !== side && order !== except)
      .sort((a, b) => {
        if (a.price !== b.price) return (side === 'buy' ? a.price < b.price : a.price > b.price) ? -1 : 1
        return a.place - b.place
      })
  }
  /** The first of them, or none. */
  private first(side: 'buy' | 'sell', except: RefOrder): RefOrder | undefined {
    let first: RefOrder | undefined
    for (const order of this.orders) {
      if (order.status !== 'open' || order.side === side || order === except) continue
      if (first === undefined) first = order
      else if (
        order.price === first.price
          ? order.place < first.place
          : order.price < first.price === (side === 'buy')
      )
        first = order
    }
    return first
  }
  private accepts(order: RefOrder, maker: RefOrder): boolean {
    const limit = order.market ? order.bound : order.price
    if (limit === undefined) return true
    return order.side === 'buy' ? maker.price <= limit : maker.price >= limit
  }
  private wants(order: RefOrder, left: bigint, price: bigint): bigint {
    if (!order.market || order.side === 'sell') return left
    const base = (left * ONE) / price
    return base - (base % LOT)
  }
  private same(order: RefOrder, maker: RefOrder): boolean {
    return order.group !== 0 && order.group === maker.group
  }

  place(input: RefNew): RefOrder {
    const group = this.groups.get(input.user) ?? 0
    const order: RefOrder = {
      ...input,
      id: 0,
      group,
      left: input.amount,
      filled: 0n,
      total: 0n,
      fee: 0n,
      shown: 0n,
      refreshed: false,
      place: 0,
      act: input.act ?? 'cn',
      status: 'open',
      finish: 'open',
    }
    const currency = input.side === 'buy' ? 'USDT' : 'BTC'
    if (input.market && this.first(input.side, order) === undefined)
      throw new Label(
        this.money(input.user, currency) < this.due(order) ? 'BALANCE_NOT_ENOUGH' : 'ORDER_BOOK_NOT_FOUND',
      )
    if (input.act !== null && group === 0) throw new Label('INVALID_PARAM_VALUE')
    this.refuse(order)
    if (this.money(input.user, currency) < this.due(order)) throw new Label('BALANCE_NOT_ENOUGH')
    this.give(input.user, currency, -this.due(order))
    this.match(order, this.due(order))
    this.orders.push(order)
    return order
  }
  /** Post-only and fill-or-kill leave nothing behind when they can't be had. */
  private refuse(order: RefOrder): void {
    this.refusePostOnly(order, order)
    if (order.tif !== 'fok') return
    let left = order.left
    const queue = this.facing(order.side, order).map((maker) => ({ ...maker }))
    for (let maker = queue.shift(); maker !== undefined; maker = queue.shift()) {
      if (!this.accepts(order, maker)) break
      if (this.same(order, maker)) {
        if (order.act === 'co') continue
        break
      }
      const amount = smaller(this.wants(order, left, maker.price), maker.shown)
      left -= order.market && order.side === 'buy' ? (amount * maker.price) / ONE : amount
      if (this.wants(order, left, maker.price) === 0n) return
      maker.left -= amount
      maker.shown = smaller(maker.iceberg, maker.left)
      const { price } = maker
      const worse = queue.findIndex((one) => one.price !== price)
      // What it hid comes behind everybody at its price.
      if (maker.left > 0n) queue.splice(worse === -1 ? queue.length : worse, 0, maker)
    }
    throw new Label('FOK_NOT_FILL')
  }
  private refusePostOnly(order: RefOrder, except: RefOrder): void {
    const maker = order.tif === 'poc' ? this.first(order.side, except) : undefined
    if (maker !== undefined && this.accepts(order, maker)) throw new Label('POC_FILL_IMMEDIATELY')
  }
  /** `paid` is what was taken from the account for it; what is not needed goes back. */
  private match(order: RefOrder, paid: bigint): void {
    const currency = order.side === 'buy' ? 'USDT' : 'BTC'
    let finish = 'open'
    for (;;) {
      if (order.left === 0n) finish = 'filled'
      const maker = this.first(order.side, order)
      if (finish !== 'open' || maker === undefined || !this.accepts(order, maker)) break
      if (this.same(order, maker)) {
        if (order.act !== 'cn') this.end(maker, 'stp')
        if (order.act === 'co') continue
        finish = 'stp'
        break
      }
      const amount = smaller(this.wants(order, order.left, maker.price), maker.shown)
      if (amount === 0n) finish = 'filled'
      else paid -= this.trade(order, maker, amount)
    }
    if (finish === 'open' && (order.tif === 'ioc' || order.tif === 'fok')) finish = 'ioc'
    order.finish = finish
    order.status = finish === 'open' ? 'open' : finish === 'filled' ? 'closed' : 'cancelled'
    order.shown = order.iceberg === 0n ? order.left : smaller(order.iceberg, order.left)
    order.place = ++this.places
    this.give(order.user, currency, paid - this.due(order))
  }
  private trade(taker: RefOrder, maker: RefOrder, amount: bigint): bigint {
    const value = (amount * maker.price) / ONE
    for (const [order, role] of [
      [taker, 'taker'],
      [maker, 'maker'],
    ] as const) {
      const rates = this.rates.get(order.user)!
      const rate = role === 'taker' || order.refreshed ? rates.taker : rates.maker
      const got = order.side === 'buy' ? amount : value
      const exact = (got * rate + ONE - 1n) / ONE
      const fee = smaller(got, ((exact + UNIT - 1n) / UNIT) * UNIT)
      this.give(order.user, order.side === 'buy' ? 'BTC' : 'USDT', got - fee)
      order.fee += fee
      order.filled += amount
      order.total += value
      order.left -= order.market && order.side === 'buy' ? value : amount
      this.fills.push({ order: order.id, role, price: maker.price, amount, fee })
    }
    maker.shown -= amount
    if (maker.left === 0n) {
      maker.status = 'closed'
      maker.finish = 'filled'
    } else if (maker.shown === 0n) {
      maker.shown = smaller(maker.iceberg, maker.left)
      maker.refreshed = true
      maker.place = ++this.places
    }
    return taker.side === 'buy' ? value : amount
  }
  end(order: RefOrder, finish: string): void {
    this.give(order.user, order.side === 'buy' ? 'USDT' : 'BTC', this.due(order))
    order.status = 'cancelled'
    order.finish = finish
  }
  private mustBeOpen(order: RefOrder): void {
    if (order.status === 'closed') throw new Label('ORDER_CLOSED')
    if (order.status === 'cancelled') throw new Label('ORDER_CANCELLED')
  }
  cancel(order: RefOrder): void {
    this.mustBeOpen(order)
    this.end(order, 'cancelled')
  }
  amend(order: RefOrder, amount: bigint, price: bigint): void {
    this.mustBeOpen(order)
    if (amount === order.amount && price === order.price) throw new Label('NO_CHANGE')
    if (amount < order.filled) return this.end(order, 'cancelled')
    const currency = order.side === 'buy' ? 'USDT' : 'BTC'
    const was = this.due(order)
    const after: RefOrder = { ...order, amount, price, left: amount - order.filled }
    if (price === order.price && amount < order.amount) {
      this.give(order.user, currency, was - this.due(after))
      order.amount = amount
      order.left = after.left
      order.shown = order.iceberg === 0n ? after.left : smaller(order.shown, after.left)
      if (order.left === 0n) {
        order.status = 'closed'
        order.finish = 'filled'
      }
      return
    }
    if (this.money(order.user, currency) + was < this.due(after)) throw new Label('BALANCE_NOT_ENOUGH')
    this.refusePostOnly(after, order)
    this.give(order.user, currency, was - this.due(after))
    Object.assign(order, { amount, price, left: after.left })
    this.match(order, this.due(after))
  }
}
