import { BTC_USD, BTC_USDT, ETH_USDT } from '../world.ts'
import type { More } from '../floor.ts'
import { EACH, IDS, type Id } from './market-base.ts'
import { WaitingMarket } from './market-waiting.ts'
import { E } from './numbers.ts'
import type { Order } from './world.ts'

/** VIP, and whether it is in a group of its own. */
const TRADERS: readonly (readonly [vip: number, stp: boolean])[] = [
  [0, false],
  [0, true],
  [5, false],
  [0, false],
  [16, true],
  [0, false],
  [0, false],
]

/** Accounts that do anything, on a market that moves; the engine and the reference are asked alike. */
export class Market extends WaitingMarket {
  private levels: Record<string, number> = { BTC: 60_000, ETH: 3_000 }

  constructor(seed: number) {
    super(seed)
    for (const [i, [vip, stp]] of TRADERS.entries()) {
      const user = this.trader(vip, stp)
      this.credit(user, 'usdt', String(500 * (1 + this.below(30))))
      // One of them never has an account there.
      if (i < TRADERS.length - 1) this.credit(user, 'btc', this.pick(['0.1', '0.3', '1']))
      if (i > 0) this.credit(user, 'usdt', String(500 * (1 + this.below(20))), 'delivery')
      if (this.chance(4)) this.ask('futures.dual_mode', { ...this.path(user, BTC_USDT), dual: true })
      for (const id of EACH)
        if (i < TRADERS.length - 1 && !this.chance(4))
          this.ask('futures.leverage', {
            ...this.named(user, id),
            leverage: this.pick(['0', '0', '10', '25', '50', '100']),
            cross_leverage_limit: this.pick(['20', '50', '100']),
          })
    }
    if (this.below(2) === 0)
      for (const [settle, amount] of [
        ['usdt', '3000'],
        ['btc', '0.03'],
      ] as const)
        this.ask('insurance.fund', { settle, amount, actor: 'test' })
  }
  private credit(user_id: number, settle: string, amount: string, account = 'futures'): void {
    const currency = settle.toUpperCase()
    this.ask('user.credit', {
      user_id,
      account,
      currency,
      amount,
      currency_pair: null,
      settle,
      actor: null,
    })
  }
  step(): void {
    const deed = this.below(100)
    if (this.chance(30)) this.rare()
    else if (deed < 52) this.placeAny()
    else if (deed < 60) this.waitAny()
    else if (deed < 65) this.amendAny()
    else if (deed < 68) this.cancelAny()
    else if (deed < 73) this.leverageAny()
    else if (deed < 76) this.settingAny()
    else if (deed < 80) this.marginAny()
    else if (deed < 82) this.dualAny()
    else if (deed < 85) this.transferAny()
    else if (deed < 87) this.help()
    else if (deed < 96) this.moveIndex()
    else this.wait()
    // Now and then somebody is quicker than what is due.
    if (this.chance(3)) for (let i = this.below(3); i > 0; i--) this.oneDue()
    else this.drain()
  }
  /** What hardly ever happens by chance. */
  private rare(): void {
    const id = this.pick(EACH)
    if (this.chance(3)) {
      this.ask('contract.change', { contract: id, change: { status: 'circuit_breaker' }, actor: 'test' })
      for (let i = 0; i < 3; i++) this.placeAny()
      this.waitAny()
      this.amendAny()
      this.ask('contract.change', { contract: id, change: { status: 'trading' }, actor: 'test' })
      return
    }
    if (this.chance(4)) {
      if (this.chance(2)) this.chaseRound()
      else this.stopsRound()
      return
    }
    if (this.chance(8)) {
      this.ruin()
      return
    }
    if (this.chance(4)) {
      // Somewhere else at once: those who are caught have nothing left.
      this.setIndex({ [this.pick(['BTC', 'ETH'])]: this.pick([0.6, 0.75, 1.3, 1.6]) })
      for (let i = 0; i < 3; i++) this.placeAny()
      return
    }
    if (this.chance(2)) {
      // A storm: one way, again and again; of one market, or of both in turn.
      const [down, both, traded] = [this.chance(2), this.chance(2), this.chance(2)]
      const first = this.pick(['BTC', 'BTC', 'ETH'])
      for (let i = 0; i < 8; i++) {
        const base = both && i % 2 === 1 ? (first === 'BTC' ? 'ETH' : 'BTC') : first
        this.setIndex({ [base]: 1 + ((down ? -1 : 1) * (3 + this.below(25))) / 1_000 })
        if (traded) this.placeAny()
        this.drain()
      }
      return
    }
    const user = this.pick(this.traders.slice(0, -1))
    const [size, far] = this.chance(2) ? [2, 0.9] : [-2, 1.1]
    for (let i = 0; i < 7; i++)
      this.ask(
        'futures.place',
        this.input(user, id, size, this.tick(id, Number(this.mark(id)) * far), { tif: 'poc' }),
      )
  }
  /**
   * One is long, and who stands against him has lost more elsewhere: when the price is gone at once, neither can pay, and
   * nobody is left to take what they have.
   */
  private ruin(): void {
    const [long, short, rich] = [this.trader(0, false), this.trader(0, false), this.trader(0, false)]
    for (const [user, amount] of [
      [long, 100],
      [short, 250],
      [rich, 10_000],
    ] as const) {
      this.credit(user, 'usdt', String(amount))
      const crossed = { leverage: '0', cross_leverage_limit: '100' }
      for (const id of [BTC_USDT, ETH_USDT] as const)
        this.ask('futures.leverage', { ...this.named(user, id), ...crossed })
    }
    this.against(long, short, BTC_USDT, 600 + this.below(300))
    this.against(short, rich, ETH_USDT, 150 + this.below(10))
    this.setIndex({ BTC: 0.75, ETH: 0.6 })
    // The last one of all is still he who never has an account in BTC.
    this.traders.unshift(...this.traders.splice(-3))
  }
  /** The one buys of the other, at the mark. */
  private against(buyer: number, seller: number, id: Id, size: number): void {
    const price = this.tick(id, Number(this.mark(id)))
    this.ask('futures.place', this.input(buyer, id, size, price, {}))
    this.ask('futures.place', this.input(seller, id, -size, price, { tif: 'ioc' }))
  }
  private placeAny(): void {
    if (this.chance(6)) {
      this.reduceAny()
      return
    }
    const [user, id] = [this.somebody(), this.pick(IDS)]
    let price = this.near(id)
    let size = String(this.anySize(user, id))
    const more: More = {}
    const kinds: More[] = [
      {},
      {},
      {},
      {},
      { tif: 'ioc' },
      { tif: 'poc' },
      { tif: 'fok' },
      { reduce_only: true },
      { reduce_only: true, tif: this.pick(['ioc', 'fok'] as const) },
      { iceberg: String(1 + this.below(Math.abs(Number(size)))) },
    ]
    const kind = this.below(kinds.length + 3)
    Object.assign(more, kinds[kind] ?? {})
    if (kind === kinds.length) {
      size = '0'
      Object.assign(
        more,
        this.isDual(user, id)
          ? { auto_size: this.pick(['close_long', 'close_short'] as const) }
          : { close: true },
      )
    }
    if (kind === kinds.length + 1 || (kind === kinds.length && this.chance(2))) {
      price = '0'
      Object.assign(more, { tif: this.pick(['ioc', 'ioc', 'fok'] as const) })
      if (this.chance(3))
        Object.assign(more, { market_order_slip_ratio: this.pick(['0.01', '0.05', '0.06']) })
    }
    if (this.chance(8)) Object.assign(more, { text: `t-${this.below(5)}` })
    if (this.chance(4))
      Object.assign(more, {
        stp_act:
          this.reference.world.users.get(user)!.stp === 0 && !this.chance(20)
            ? null
            : this.pick(['cn', 'co', 'cb'] as const),
      })
    if (this.chance(20)) Object.assign(more, { pos_margin_mode: this.pick(['cross', 'isolated'] as const) })
    const input = this.input(user, id, 0, price, { size, ...more })
    const order: Record<string, unknown> = { ...input.order }
    while (this.chance(10)) Object.assign(order, this.pick(this.wrongs(id, price)))
    this.ask('futures.place', { ...input, order })
  }
  /** Of a position that there is. */
  private reduceAny(): void {
    const held = [...this.reference.world.positions.values()].filter(
      (row) => row.user !== 0 && row.size !== 0n,
    )
    if (held.length === 0) return
    const row = this.pick(held)
    const id = row.contract as Id
    const tif = this.pick([null, null, 'poc', 'ioc', 'fok'] as const)
    const price = tif === null || tif === 'poc' || this.chance(2) ? this.near(id) : '0'
    if (this.chance(3)) {
      const how =
        row.mode === 'single' ? { close: true } : { auto_size: `close_${row.mode.slice(5)}` as 'close_long' }
      this.ask('futures.place', this.input(row.user, id, 0, price, { ...how, tif }))
      return
    }
    const size = Math.ceil(-Number(row.size) * this.pick([0.2, 0.5, 1, 1, 1.2]))
    this.ask('futures.place', this.input(row.user, id, size, price, { reduce_only: true, tif }))
  }
  /** What a client may get wrong; two at once show which is looked at first. */
  private wrongs(id: Id, price: string): object[] {
    return [
      { contract: 'XXX_USDT' },
      { size: '0' },
      { size: '1' },
      { size: '-150001' },
      { size: '3.5' },
      { price: price === '0' ? '0' : `${price}3` },
      { price: this.tick(id, Number(this.mark(id)) * 1.3) },
      { text: 'no' },
      { stp_act: 'cn' },
      { iceberg: '160000' },
      { market_order_slip_ratio: '0.5' },
      { close: true },
      { auto_size: 'close_long' },
      { price: '0', tif: 'gtc' },
      { pos_margin_mode: 'cross' },
      { reduce_only: true },
    ]
  }
  private openOrder(): Order | undefined {
    const open = [...this.reference.world.orders.values()]
    return open.length === 0 ? undefined : this.pick(open)
  }
  private amendAny(): void {
    const order = this.openOrder()
    if (order === undefined) return
    const id = order.contract as Id
    const sign = (order.buy ? 1 : -1) * (this.chance(20) ? -1 : 1)
    const size = Math.round(Number(order.amount) * (this.below(300) / 100)) * sign
    const [noSize, noPrice] = [this.chance(3), this.chance(3)]
    const same = this.chance(12)
    this.ask('futures.amend', {
      ...this.path(this.chance(30) ? this.pick(this.traders) : order.user, id),
      id: this.chance(25) ? this.anyId() : order.id,
      size: same || (noSize && !noPrice) ? null : String(size),
      price: same
        ? this.tick(id, Number(order.price / 10n ** 14n) / 1e4)
        : noPrice
          ? null
          : this.chance(30)
            ? `${this.near(id)}7`
            : this.near(id),
      amend_text: this.chance(3) ? 'why' : null,
    })
  }
  private anyId(): number {
    return 1 + this.below((this.reference.world.counters['order'] ?? 0) + 3)
  }
  private cancelAny(): void {
    const order = this.openOrder()
    if (order === undefined) return
    const path = this.path(order.user, order.contract)
    if (this.chance(3)) {
      const contract = this.chance(2) ? null : this.contract(order.contract).name
      const side = this.pick([null, null, 'buy', 'sell'] as const)
      this.ask('futures.cancel_all', { ...path, contract, side, exclude_reduce_only: false, text: null })
    } else this.ask('futures.cancel', { ...path, id: this.chance(5) ? this.anyId() : order.id })
  }
  private leverageAny(): void {
    const [user, id] = [this.somebody(), this.pick(IDS)]
    this.ask('futures.leverage', {
      ...this.named(user, id),
      leverage: this.pick(['0', '0', '0.5', '1', '3', '10', '25', '50', '100', '200']),
      cross_leverage_limit: this.pick([null, '0', '1', '5', '20', '50', '100', '1000']),
    })
  }
  private settingAny(): void {
    const [user, id] = [this.pick(this.traders), this.pick(IDS)]
    if (this.chance(2)) {
      this.ask('futures.margin_mode', { ...this.named(user, id), mode: this.pick(['cross', 'isolated']) })
      return
    }
    const { tiers } = this.contract(id).config
    this.ask('futures.risk_limit', {
      ...this.named(user, id),
      risk_limit: this.chance(3) ? this.pick(['7', '99999999']) : this.pick(tiers).risk_limit,
      dual: this.chance(8) ? this.chance(2) : this.isDual(user, id),
    })
  }
  private marginAny(): void {
    const held = [...this.reference.world.positions.values()].filter(
      ({ user, size, leverage }) => user !== 0 && size !== 0n && leverage > 0n,
    )
    const row = this.chance(5) || held.length === 0 ? undefined : this.pick(held)
    const [user, id] = [row?.user ?? this.pick(this.traders), (row?.contract ?? this.pick(IDS)) as Id]
    const some = Number((row?.margin ?? E) / 10n ** 12n) / 1e6
    const exact = (some * (this.below(150) / 100)).toFixed(6)
    const amount = this.chance(20) ? '0' : this.chance(30) ? `${exact}001` : exact
    const side = this.isDual(user, id) ? (row?.mode ?? 'dual_long') : null
    this.ask('futures.margin', {
      ...this.named(user, id),
      change: `${this.chance(2) && Number(amount) !== 0 ? '-' : ''}${amount}`,
      dual_side: this.chance(12) ? this.pick([null, 'dual_long', 'dual_short']) : side,
    })
  }
  private dualAny(): void {
    const [user, id] = [this.pick(this.traders), this.pick([BTC_USDT, BTC_USD] as const)]
    this.ask('futures.dual_mode', { ...this.path(user, id), dual: this.chance(2) })
  }
  private transferAny(): void {
    const [user, id] = [this.pick(this.traders.slice(0, -1)), this.pick(IDS)]
    const { currency, settle, group } = this.contract(id)
    const out = this.chance(2)
    const amount = currency === 'BTC' ? (1 + this.below(3000)) / 1e4 : (1 + this.below(300_000)) / 100
    const accounts = out ? { from: group, to: 'spot' } : { from: 'spot', to: group }
    this.ask('transfer.create', {
      user_id: user,
      currency,
      ...accounts,
      amount: String(amount),
      currency_pair: null,
      settle,
    })
  }
  private moveIndex(): void {
    const base = this.pick(['BTC', 'BTC', 'ETH'])
    const by = this.pick([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
    this.setIndex({ [base]: 1 + by * (this.below(2001) / 1000 - 1) })
  }
  private setIndex(moves: Readonly<Record<string, number>>): void {
    const prices: Record<string, string> = {}
    for (const [base, times] of Object.entries(moves)) {
      const start = base === 'BTC' ? 60_000 : 3_000
      let price = this.levels[base]! * times
      if (price < start / 3 || price > start * 3) price = start
      this.levels[base] = Number(price.toFixed(2))
      prices[base] = String(this.levels[base])
    }
    this.ask('prices.set', { prices, actor: null })
  }
  /** Who has lost everything begins again; the fund too. */
  private help(): void {
    const { world } = this.reference
    const poor = this.traders.filter((user) => world.balance(`${user} futures/usdt`) < 200n * E)
    const without = this.traders
      .slice(0, -1)
      .filter((user) => world.balance(`${user} futures/btc`) < E / 100n)
    if (poor.length > 0) this.credit(this.pick(poor), 'usdt', String(500 * (1 + this.below(20))))
    else if (without.length > 0) this.credit(this.pick(without), 'btc', '0.2')
    else this.ask('insurance.fund', { settle: this.pick(['usdt', 'btc']), amount: '0.5', actor: 'test' })
  }
  private wait(): void {
    const seconds = this.pick([1, 1, 2, 7, 20, 61])
    this.log.push(`wait ${seconds}`)
    this.advance(seconds)
    if (this.chance(2)) this.ask('futures.mark', { contracts: EACH })
  }
}
