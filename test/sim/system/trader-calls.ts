import { availableOf, leverageOf, valueUp } from '../../futures/reference/margin.ts'
import { max } from '../../futures/reference/numbers.ts'
import type { Order, Position, World } from '../../futures/reference/world.ts'
import type { Random } from '../random.ts'
import type { Call } from './house.ts'

/** A call about contracts, and the command that it leads to. */
export interface Said {
  readonly call: Call
  readonly command: string
  readonly input: object
}
export interface Around {
  readonly world: World
  readonly user: number
  readonly random: Random
  /** Name of the contract. */
  readonly name: string
  /** Orders of his that both know: those that are open, and some that are or were. */
  readonly open: readonly Order[]
  readonly known: readonly number[]
}
const ACCOUNT = { group: 'futures', settle: 'usdt' } as const
const BASE = '/futures/usdt'
const PLAIN = {
  tif: null,
  text: null,
  iceberg: null,
  close: false,
  reduce_only: false,
  auto_size: null,
  stp_act: null,
  market_order_slip_ratio: null,
  pos_margin_mode: null,
  tpsl_tp_trigger_price: null,
  tpsl_sl_trigger_price: null,
  bbo: null,
}
/** How often each is asked for. */
const WEIGHTS = {
  place: 46,
  reduce: 10,
  amend: 6,
  cancel: 4,
  batch: 8,
  cancelAll: 2,
  leverage: 5,
  mode: 2,
  dual: 4,
  limit: 2,
  margin: 3,
  transfer: 3,
  priceOrder: 8,
  trail: 6,
  chase: 6,
  waiting: 8,
} as const
type Kind = keyof typeof WEIGHTS
const KINDS = Object.entries(WEIGHTS).flatMap(([kind, weight]) =>
  Array.from({ length: weight }, () => kind as Kind),
)
const PRICE_TYPES = ['last', 'mark', 'index'] as const
const TRAIL_TYPES = { last: 1, index: 2, mark: 3 } as const

/** Worth less than the first tier of risk is, so that it is margin that ends it. */
const MOST = 900_000
/** Of one trader at the same time. */
const CHASES = 4
type Body = Readonly<Record<string, unknown>>

/** What a trader comes to, by chance; undefined: there is nothing that it could be about. */
export class TraderCalls {
  private readonly around: Around
  private readonly id: string

  constructor(around: Around) {
    this.around = around
    this.id = `${ACCOUNT.group}/${ACCOUNT.settle}/${around.name}`
  }
  any(): Said | undefined {
    return this.make[this.random.pick(KINDS)]()
  }
  /** So much that a small move of the price ruins him, at the mark. */
  offer(): Said {
    const price = this.mark.toFixed(1)
    return this.limit(Math.round(this.most() * 0.8) || 1, price, 'gtc')
  }
  limit(size: number, price: string, tif: string): Said {
    return this.placed({ size, price, tif })!
  }
  /** The other side of an offer. */
  taking({ call }: Said): Said {
    const { size, price } = call.body as { size: number; price: string }
    return this.limit(-size, price, 'ioc')
  }
  /** One stands there, another one chases him, and he goes nearer. */
  race(part: number, buys: boolean): Said | undefined {
    const sign = buys ? 1 : -1
    if (part === 1) return this.chaseOr(sign * Math.abs(this.size()))
    const away = part === 0 ? 0.003 : this.random.below(28) / 10_000
    const best = this.world.side(this.id, buys)[0]
    const mark = best === undefined || part > 0 ? this.mark : Number(best.price) / 1e18
    return this.limit(sign * (1 + this.random.below(200)), (mark * (1 - sign * away)).toFixed(1), 'gtc')
  }
  private get random(): Random {
    return this.around.random
  }
  private get world(): World {
    return this.around.world
  }
  private get dual(): boolean {
    return this.world.isDual(this.around.user, 'futures/usdt')
  }
  private get rows(): Position[] {
    return this.world.positionsOf(this.around.user, this.world.contract(this.id))
  }
  private get mark(): number {
    return Number(this.world.priceOf(this.id).mark) / 1e18
  }
  private said(command: string, method: string, path: string, input: object, more: Partial<Call> = {}): Said {
    const { user, name } = this.around
    return {
      command: `futures.${command}`,
      call: { method, path: `${BASE}${path}`, ...more },
      input: { user_id: user, ...ACCOUNT, contract: name, ...input },
    }
  }
  private near(far = this.random.pick([0.0005, 0.0005, 0.001, 0.002, 0.01, 0.21])): string {
    return (this.mark * (1 + far * (this.random.below(2001) / 1000 - 1))).toFixed(1)
  }
  /** As much as the money of its owner carries, on either side. */
  private most(): number {
    const { world } = this
    const c = world.contract(this.id)
    const cash = Number(max(0n, availableOf(world, this.around.user, c.account).own))
    const one = Number(valueUp(c, 1n, world.priceOf(this.id).mark))
    const leverage = Number(leverageOf(this.rows[0]!)) / 1e18
    return (this.random.pick([1, -1]) * Math.min(MOST * 1e18, cash * leverage)) / one
  }
  /** Often that, or a little more. */
  private size(): number {
    const { random } = this
    const most = Math.trunc(this.most() * random.pick([0.05, 0.2, 0.5, 0.8, 1.1]))
    if (Math.abs(most) > 2 && random.chance(0.7)) return most
    return random.pick([1, -1]) * (1 + random.below(random.pick([5, 300, 2_000, 20_000])))
  }
  private order(): Body {
    const { random, dual } = this
    const size = this.size()
    const kind = random.below(16)
    if (kind === 0)
      return {
        size: 0,
        price: '0',
        tif: random.pick(['ioc', 'fok']),
        ...(dual ? { auto_size: random.pick(['close_long', 'close_short']) } : { close: true }),
      }
    if (kind === 1)
      return {
        size,
        price: '0',
        tif: random.pick(['ioc', 'ioc', 'fok', 'gtc']),
        ...(random.chance(0.3) && { market_order_slip_ratio: random.pick(['0.01', '0.05']) }),
      }
    return {
      size,
      price: this.near(),
      tif: random.pick(['gtc', 'gtc', 'gtc', 'ioc', 'poc', 'fok']),
      ...(kind === 2 && { reduce_only: true }),
      ...(kind === 3 && { iceberg: 1 + random.below(Math.abs(size)) }),
      ...(kind === 4 && { text: `t-${random.below(5)}` }),
      ...(kind === 5 && { pos_margin_mode: random.pick(['cross', 'isolated']) }),
      ...((kind === 6 || kind === 7) && this.stops(size > 0)),
    }
  }
  /** Where what it opens is closed again, around the price; now and then on the wrong side of it. */
  private stops(long: boolean): Body {
    const { random } = this
    const far = random.pick([0.001, 0.003, 0.01])
    const up = (this.mark * (1 + far)).toFixed(1)
    const down = (this.mark * (1 - far)).toFixed(1)
    return {
      ...(!random.chance(0.2) && { tpsl_tp_trigger_price: long ? up : down }),
      ...(!random.chance(0.2) && { tpsl_sl_trigger_price: long ? down : up }),
    }
  }
  private reducing(): Body | undefined {
    const { random } = this
    const held = this.rows.filter(({ size }) => size !== 0n)
    if (held.length === 0) return undefined
    const row = random.pick(held)
    const tif = random.pick(['gtc', 'gtc', 'poc', 'ioc', 'fok'])
    const price = tif === 'gtc' || tif === 'poc' || random.chance(0.5) ? this.near() : '0'
    if (random.chance(0.3))
      return {
        size: 0,
        price,
        tif,
        ...(row.mode === 'single' ? { close: true } : { auto_size: `close_${row.mode.slice(5)}` }),
      }
    const size = Math.ceil(-Number(row.size) * random.pick([0.2, 0.5, 1, 1, 1.2]))
    return size === 0 ? undefined : { size, price, tif, reduce_only: true }
  }
  /** As it is sent, and as the command has it. */
  private both(order: Body): { body: Body; order: Body } {
    const named = { contract: this.around.name, ...order }
    const { size, iceberg } = order as { size: number; iceberg?: number }
    return {
      body: named,
      order: {
        ...PLAIN,
        ...named,
        size: String(size),
        ...(iceberg !== undefined && { iceberg: String(iceberg) }),
      },
    }
  }
  private placed(given: Body | undefined): Said | undefined {
    if (given === undefined) return undefined
    const { body, order } = this.both(given)
    return this.said('place', 'POST', '/orders', { order }, { body })
  }
  /** Mostly one that is open. */
  private someId(): number | undefined {
    const { open, known } = this.around
    const ids = open.length > 0 && this.random.chance(0.8) ? open.map(({ id }) => id) : known
    return ids.length === 0 ? undefined : this.random.pick(ids)
  }
  private amendment(id: number): { id: number; size: string | null; price: string | null } {
    const { random } = this
    const order = this.around.open.find((one) => one.id === id)
    const amount = Number(order?.amount ?? 10n)
    const sign = (order?.buy === false ? -1 : 1) * (random.chance(0.05) ? -1 : 1)
    const size = String(Math.round(amount * (random.below(300) / 100)) * sign)
    const which = random.below(3)
    return { id, size: which === 0 ? null : size, price: which === 1 ? null : this.near() }
  }

  private readonly make: Readonly<Record<Kind, () => Said | undefined>> = {
    place: () => this.placed(this.order()),
    reduce: () => this.placed(this.reducing()),
    amend: () => {
      const id = this.someId()
      if (id === undefined) return undefined
      const { size, price } = this.amendment(id)
      const body = { ...(size !== null && { size: Number(size) }), ...(price !== null && { price }) }
      return this.said('amend', 'PUT', `/orders/${id}`, { id, size, price, amend_text: null }, { body })
    },
    cancel: () => {
      const id = this.someId()
      return id === undefined ? undefined : this.said('cancel', 'DELETE', `/orders/${id}`, { id })
    },
    batch: () => {
      const { random } = this
      const ids = [this.someId(), this.someId(), this.someId()].filter((id) => id !== undefined)
      if (ids.length > 0 && random.chance(0.3))
        return this.said('cancel_batch', 'POST', '/batch_cancel_orders', { ids }, { body: ids.map(String) })
      if (ids.length > 0 && random.chance(0.4)) {
        const orders = ids.map((id) => ({ ...this.amendment(id), amend_text: null }))
        const body = orders.map(({ id, size, price }) => ({
          order_id: id,
          ...(size !== null && { size: Number(size) }),
          ...(price !== null && { price }),
        }))
        return this.said('amend_batch', 'POST', '/batch_amend_orders', { orders }, { body })
      }
      const all = Array.from({ length: 2 + random.below(3) }, () => this.both(this.order()))
      const orders = all.map(({ order }) => order)
      const body = all.map((one) => one.body)
      return this.said('place_batch', 'POST', '/batch_orders', { orders }, { body })
    },
    cancelAll: () => {
      const side = this.random.pick([null, null, 'bid', 'ask'])
      const contract = this.around.name
      const input = {
        side: side === null ? null : side === 'bid' ? 'buy' : 'sell',
        exclude_reduce_only: false,
        text: null,
      }
      const query = { contract, ...(side !== null && { side }) }
      return this.said('cancel_all', 'DELETE', '/orders', input, { query })
    },
    leverage: () => {
      const { random } = this
      const leverage = random.pick(['0', '0', '0.5', '1', '5', '20', '50', '100', '125', '200'])
      const limit = leverage === '0' ? random.pick([null, '1', '20', '50', '100', '125', '1000']) : null
      const query = { leverage, ...(limit !== null && { cross_leverage_limit: limit }) }
      const path = `${this.dual ? '/dual_comp' : ''}/positions/${this.around.name}/leverage`
      return this.said('leverage', 'POST', path, { leverage, cross_leverage_limit: limit }, { query })
    },
    mode: () => {
      const body = { mode: this.random.pick(['cross', 'isolated']), contract: this.around.name }
      const path = `${this.dual ? '/dual_comp' : ''}/positions/cross_mode`
      return this.said('margin_mode', 'POST', path, body, { body })
    },
    dual: () => {
      const dual = this.random.chance(0.5)
      const query = { dual_mode: String(dual) }
      return this.said('dual_mode', 'POST', '/dual_mode', { dual }, { query })
    },
    limit: () => {
      const risk_limit = this.random.pick(['7', '1000000', '1500000', '3000000', '50000000', '99999999'])
      // Now and then the call of the other mode.
      const dual = this.random.chance(0.1) !== this.dual
      const path = `${dual ? '/dual_comp' : ''}/positions/${this.around.name}/risk_limit`
      return this.said('risk_limit', 'POST', path, { risk_limit, dual }, { query: { risk_limit } })
    },
    margin: () => {
      const { random } = this
      const isolated = this.rows.filter(({ size, leverage }) => size !== 0n && leverage > 0n)
      const row = isolated.length === 0 ? undefined : random.pick(isolated)
      const some = row === undefined ? 1 : Number(row.margin) / 1e18
      const exact = (some * (random.below(150) / 100)).toFixed(6)
      const change = `${random.chance(0.5) && Number(exact) !== 0 ? '-' : ''}${exact}`
      const side = row === undefined || row.mode === 'single' ? 'dual_long' : row.mode
      const dual = random.chance(0.1) !== this.dual
      const input = { change, dual_side: dual ? side : null }
      const path = `${dual ? '/dual_comp' : ''}/positions/${this.around.name}/margin`
      return this.said('margin', 'POST', path, input, {
        query: { change, ...(dual && { dual_side: side }) },
      })
    },
    transfer: () => {
      const [from, to] = this.random.chance(0.5) ? ['futures', 'spot'] : ['spot', 'futures']
      const body = {
        currency: 'USDT',
        from,
        to,
        amount: String(1 + this.random.below(4_000)),
        settle: 'usdt',
      }
      return {
        command: 'transfer.create',
        call: { method: 'POST', path: '/wallet/transfers', body },
        input: { user_id: this.around.user, ...ACCOUNT, ...body },
      }
    },
    priceOrder: () => {
      const { random, dual } = this
      const up = random.chance(0.5)
      const closes = random.chance(0.35)
      const long = random.chance(0.5)
      const initial = {
        contract: this.around.name,
        size: closes ? 0 : this.size(),
        price: random.chance(0.5) ? '0' : this.near(0.01),
        ...(closes && (dual ? { auto_size: `close_${long ? 'long' : 'short'}` } : { close: true })),
        ...(random.chance(0.3) && { reduce_only: true }),
      }
      const type = random.below(3)
      const far = (random.below(1000) / 1000) * random.pick([0.002, 0.02])
      const price = (this.mark * (1 + (up ? far : -far))).toFixed(1)
      const expiration = random.pick([0, 60, 600, 86_400])
      const trigger = { price, rule: up ? 1 : 2, expiration }
      const kind = closes ? random.pick([undefined, `close-${long ? 'long' : 'short'}-position`]) : undefined
      const body = {
        initial: { tif: initial.price === '0' ? 'ioc' : 'gtc', ...initial },
        trigger: { strategy_type: 0, price_type: type, ...trigger },
        ...(kind !== undefined && { order_type: kind }),
      }
      const input = {
        initial: {
          text: null,
          close: false,
          reduce_only: false,
          auto_size: null,
          ...body.initial,
          size: String(initial.size),
        },
        trigger: { price_type: PRICE_TYPES[type], ...trigger },
        order_type: kind ?? '',
        pos_margin_mode: null,
      }
      return this.said('price_order.create', 'POST', '/price_orders', input, { body })
    },
    trail: () => {
      const { random } = this
      const type = random.pick(PRICE_TYPES)
      const related = random.chance(0.4)
      const body = {
        contract: this.around.name,
        amount: String(this.size()),
        activation_price: random.chance(0.5) ? '0' : this.near(0.01),
        ...(random.chance(0.5) && { is_gte: random.chance(0.5) }),
        price_offset: random.pick(['0.1%', '0.5%', '2%', (this.mark * 0.001).toFixed(1)]),
        reduce_only: related || random.chance(0.5),
        position_related: related,
      }
      const nothing = { is_gte: null, text: null, pos_margin_mode: null, position_mode: null }
      const input = { ...nothing, ...body, price_type: type }
      return this.said('trail.create', 'POST', '/autoorder/v1/trail/create', input, {
        body: { ...body, price_type: TRAIL_TYPES[type] },
      })
    },
    chase: () => this.chaseOr(this.size()),
    waiting: () => {
      const what = this.random.below(5)
      return what < 2 ? this.aboutPriceOrders() : what < 4 ? this.aboutTrails() : this.aboutChases()
    },
  }
  private chaseOr(amount: number): Said | undefined {
    const own = this.world.chasing().filter(({ user }) => user === this.around.user)
    return own.length < CHASES ? this.chase(amount) : this.aboutChases()
  }
  private chase(amount: number): Said {
    const { random } = this
    const gap = random.pick([undefined, undefined, 1, 2])
    const limit = random.chance(0.3)
      ? { offset_limit: random.pick(['0.05%', '0.5%', (this.mark * 0.001).toFixed(1)]) }
      : { price_limit: random.chance(0.7) ? '0' : this.near(0.005) }
    const body = {
      contract: this.around.name,
      amount: String(amount),
      ...limit,
      reduce_only: random.chance(0.3),
      price_type: gap === undefined ? 1 : 2,
      ...(gap !== undefined && {
        price_gap_type: gap,
        price_gap_value: gap === 1 ? (this.mark * 0.0005).toFixed(1) : random.pick(['0.03', '0.2']),
      }),
      ...(random.chance(0.1) && { pos_margin_mode: random.pick(['cross', 'isolated']) }),
    }
    const nothing = { price_limit: null, offset_limit: null, price_gap_type: null, price_gap_value: null }
    const modes = { text: null, is_dual_mode: null, pos_margin_mode: null, position_mode: null }
    const input = { ...nothing, ...modes, ...body }
    return this.said('chase.create', 'POST', '/autoorder/v1/chase/create', input, { body })
  }
  private aboutChases(): Said | undefined {
    const { random, world } = this
    const path = '/autoorder/v1/chase'
    if (random.chance(0.2)) {
      const mode = random.pick([undefined, 'cross', 'isolated'])
      const body = { contract: this.around.name, ...(mode !== undefined && { pos_margin_mode: mode }) }
      return this.said(
        'chase.stop_all',
        'POST',
        `${path}/stop_all`,
        { pos_margin_mode: mode ?? null },
        { body },
      )
    }
    const all = [...world.chases.values()].filter(({ user }) => user === this.around.user)
    if (all.length === 0) return undefined
    const { id } = random.pick(all)
    return this.said('chase.stop', 'POST', `${path}/stop`, { id }, { body: { id } })
  }
  private aboutPriceOrders(): Said | undefined {
    const { random, world } = this
    if (random.chance(0.15)) {
      const query = { contract: this.around.name }
      return this.said('price_order.cancel_all', 'DELETE', '/price_orders', {}, { query })
    }
    const all = [...world.priceOrders.values()].filter(({ user }) => user === this.around.user)
    if (all.length === 0) return undefined
    const { id } = random.pick(all)
    if (random.chance(0.5)) return this.said('price_order.cancel', 'DELETE', `/price_orders/${id}`, { id })
    const body = {
      ...(random.chance(0.5) && { trigger_price: this.near(0.02) }),
      ...(random.chance(0.4) && { size: String(this.size()) }),
      ...(random.chance(0.4) && { price: this.near(0.01) }),
    }
    const type = random.chance(0.3) ? random.below(3) : null
    // Who asks for no change is refused before the rules are asked.
    if (type === null && Object.keys(body).length === 0) return undefined
    const rest = { auto_size: null, close: null }
    const unchanged = { size: null, price: null, trigger_price: null }
    const input = { id, ...unchanged, ...body, price_type: type === null ? null : PRICE_TYPES[type], ...rest }
    return this.said('price_order.amend', 'PUT', `/price_orders/${id}`, input, {
      body: { ...body, ...(type !== null && { price_type: type }) },
    })
  }
  private aboutTrails(): Said | undefined {
    const { random, world } = this
    const path = '/autoorder/v1/trail'
    if (random.chance(0.15)) {
      const related = random.pick([undefined, 1, 2])
      const body = { contract: this.around.name, ...(related !== undefined && { related_position: related }) }
      const input = { related: related === undefined ? null : related === 1 ? 'long' : 'short' }
      return this.said('trail.stop_all', 'POST', `${path}/stop_all`, input, { body })
    }
    const all = [...world.trails.values()].filter(({ user }) => user === this.around.user)
    if (all.length === 0) return undefined
    const { id } = random.pick(all)
    if (random.chance(0.5)) return this.said('trail.stop', 'POST', `${path}/stop`, { id }, { body: { id } })
    const type = random.chance(0.4) ? random.pick(PRICE_TYPES) : null
    const body = {
      ...(random.chance(0.5) && { price_offset: random.pick(['0.2%', '1%']) }),
      ...(random.chance(0.2) && { activation_price: this.near(0.01) }),
      ...(random.chance(0.3) && { amount: String(this.size()) }),
    }
    const unchanged = { amount: null, activation_price: null, is_gte: null, price_offset: null }
    const input = { id, ...unchanged, ...body, price_type: type }
    return this.said('trail.update', 'POST', `${path}/update`, input, {
      body: { id, ...body, ...(type !== null && { price_type: TRAIL_TYPES[type] }) },
    })
  }
}
