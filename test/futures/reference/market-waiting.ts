import { BTC_USDT } from '../world.ts'
import { anyWait } from '../any-wait.ts'
import { IDS, MarketBase, type Id } from './market-base.ts'

/** Orders that wait for a price, stops of orders, and chases. */
export class WaitingMarket extends MarketBase {
  /** Something about orders that wait for a price, or chase one. */
  protected waitAny(): void {
    const { world } = this.reference
    // More often than not of somebody who has something to protect.
    const held = [...world.positions.values()].filter(({ user, size }) => user !== 0 && size !== 0n)
    const row = held.length === 0 || this.chance(4) ? undefined : this.pick(held)
    const [user, id] = [row?.user ?? this.somebody(), (row?.contract as Id | undefined) ?? this.pick(IDS)]
    const path = this.path(user, id)
    const own = world.waitingOf(user, this.contract(id).account)
    const contract = this.chance(2) ? null : this.contract(id).name
    const first = own.find((row) => 'kind' in row)
    if (this.chance(8)) {
      if (this.chance(2)) this.ask('futures.price_order.cancel_all', { ...path, contract })
      else
        this.ask('futures.trail.stop_all', { ...path, contract, related: this.pick([null, 'long', 'short']) })
      return
    }
    if (first !== undefined && this.chance(4)) {
      const rest = { price_type: null, auto_size: null, close: null }
      const trigger_price = this.chance(3) ? null : this.near(id)
      const price = this.chance(2) ? null : this.near(id)
      const size = this.chance(3) || trigger_price === null ? '30' : null
      this.ask('futures.price_order.amend', { ...path, id: first.id, size, price, trigger_price, ...rest })
      return
    }
    const chases = world.chasing().filter((one) => one.user === user && one.contract === id)
    if (chases.length > 0 && this.chance(12)) {
      this.ask('futures.chase.stop_all', {
        ...path,
        contract,
        pos_margin_mode: this.pick([null, 'isolated', 'cross']),
      })
      return
    }
    const [what, input] = anyWait({
      below: this.below,
      path,
      mark: Number(this.mark(id)),
      name: this.contract(id).name,
      dual: this.isDual(user, id),
      tick: (price) => this.tick(id, price),
      prices: own.flatMap((row) => ('kind' in row ? [row.id] : [])),
      trails: own.flatMap((row) => ('kind' in row ? [] : [row.id])),
      chases: chases.map((one) => one.id),
    })
    const wrong = { initial: { ...(input as { initial?: object }).initial, size: '0', close: false } }
    this.ask(what, what === 'futures.price_order.create' && this.chance(20) ? { ...input, ...wrong } : input)
  }
  /** One chases, others come before him again and again, seconds pass; in the end he may be taken. */
  protected chaseRound(): void {
    const id = this.pick(IDS)
    const [user, other] = [this.pick(this.traders), this.pick(this.traders)]
    const buys = this.chance(2)
    const sign = buys ? 1 : -1
    const mark = Number(this.mark(id))
    const at = (part: number): string => this.tick(id, mark * (1 - sign * part))
    this.ask('futures.place', this.input(other, id, sign * 2, at(0.004), {}))
    const far = this.chance(3)
    this.ask('futures.chase.create', {
      ...this.named(user, id),
      amount: String(sign * (2 + this.below(40))),
      price_limit: far ? null : this.pick(['0', '0', at(0.002)]),
      offset_limit: far ? this.pick(['0.1%', '0.3%', this.tick(id, mark * 0.0015)]) : null,
      reduce_only: this.chance(4),
      text: this.pick([null, 'one', 'two']),
      price_type: this.pick([1, 2]),
      price_gap_type: 2,
      price_gap_value: '0.05',
      is_dual_mode: this.chance(8) ? this.chance(2) : null,
      pos_margin_mode: this.chance(8) ? 'cross' : null,
      position_mode: this.chance(8) ? 'dual' : null,
    })
    for (let i = 3 + this.below(4); i > 0; i--) {
      this.ask('futures.place', this.input(other, id, sign * 2, at(this.below(40) / 10_000), { tif: 'poc' }))
      if (this.chance(4)) this.drain()
      this.advance(this.pick([0, 0, 1, 1, 3]))
      this.drain()
    }
    const path = this.path(user, id)
    if (this.chance(3)) this.ask('futures.chase.stop', { ...path, id: this.pick(['one', 'two', 1, 2]) })
    else this.ask('futures.place', this.input(other, id, -sign * (1 + this.below(60)), at(0.005), {}))
  }
  /** An order with stops is taken bit by bit, what it opened is closed, and it goes on. */
  protected stopsRound(): void {
    const id = this.pick([BTC_USDT, ...IDS] as const)
    const [user, other] = [this.pick(this.traders), this.pick(this.traders)]
    const sign = this.chance(2) ? 1 : -1
    const mark = Number(this.mark(id))
    const at = (part: number): string => this.tick(id, mark * (1 + part))
    const [high, low] = [at(0.004), at(-0.004)]
    this.ask(
      'futures.place',
      this.input(user, id, sign * 40, at(0), {
        tpsl_tp_trigger_price: this.chance(6) ? null : sign > 0 ? high : low,
        tpsl_sl_trigger_price: this.chance(6) ? null : sign > 0 ? low : high,
      }),
    )
    const dual = this.isDual(user, id)
    for (let i = 2 + this.below(3); i > 0; i--) {
      this.ask('futures.place', this.input(other, id, -sign * 8, at(0), { tif: 'ioc' }))
      this.amendStop(user, id)
      if (!this.chance(2)) continue
      const away = sign > 0 ? 0.001 : -0.001
      this.ask('futures.place', this.input(other, id, sign * 20, at(away), {}))
      const close = dual
        ? ({ auto_size: sign > 0 ? 'close_long' : 'close_short' } as const)
        : ({ close: true } as const)
      this.ask('futures.place', this.input(user, id, 0, '0', { ...close, tif: 'ioc' }))
    }
    if (this.chance(2)) return
    // Somebody prints a price that one of them waits for.
    const up = this.chance(2)
    const [one, two] = [this.pick(this.traders), this.pick(this.traders)]
    this.ask('futures.cancel_all', {
      ...this.path(user, id),
      contract: null,
      side: null,
      exclude_reduce_only: false,
      text: null,
    })
    this.ask('futures.place', this.input(one, id, up ? -30 : 30, up ? at(0.0045) : at(-0.0045), {}))
    this.ask('futures.place', this.input(two, id, up ? 8 : -8, up ? at(0.0045) : at(-0.0045), { tif: 'ioc' }))
  }
  private amendStop(user: number, id: Id): void {
    const [stop] = this.reference.world
      .waitingOf(user, this.contract(id).account)
      .filter((row) => 'kind' in row && row.of !== 0)
    if (stop === undefined || !this.chance(3)) return
    this.ask('futures.price_order.amend', {
      ...this.path(user, id),
      id: stop.id,
      size: this.chance(8) ? '5' : null,
      price: this.chance(3) ? this.near(id) : null,
      trigger_price: this.near(id),
      price_type: this.pick([null, null, 'mark']),
      auto_size: null,
      close: null,
    })
  }
}
