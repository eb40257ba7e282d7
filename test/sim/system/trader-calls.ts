import { ACCOUNT, MOST, type Body, type Said } from './trader-calls-base.ts'
import { WaitingCalls } from './trader-waiting.ts'

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
/** What a trader comes to, by chance; undefined: there is nothing that it could be about. */
export class TraderCalls extends WaitingCalls {
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
  /** More than it has margin for, unless it has become very rich. */
  tooMuch(): Said {
    return this.limit(this.random.pick([1, -1]) * MOST, this.near(0.001), this.random.pick(['gtc', 'ioc']))
  }
  /** At the mark, so that somebody takes it. */
  offering(): Said {
    return this.limit(this.size(), this.mark.toFixed(1), 'gtc')
  }
  /** Of what a unified account may come to: it never orders more than it is to hold. */
  holding(): Said | undefined {
    const what = this.random.pick([
      'place',
      'place',
      'place',
      'reduce',
      'cancel',
      'cancelAll',
      'chase',
    ] as const)
    return this.make[what]()
  }
  /** The same of one with isolated positions: it may come near what its money carries, and its settings change. */
  holdingApart(): Said | undefined {
    const what = this.random.pick([
      'place',
      'place',
      'place',
      'place',
      'reduce',
      'reduce',
      'cancel',
      'cancelAll',
      'leverage',
      'mode',
      'margin',
      'margin',
    ] as const)
    return this.make[what]()
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
    priceOrder: () => this.newPriceOrder(),
    trail: () => this.newTrail(),
    chase: () => this.chaseOr(this.size()),
    waiting: () => this.aboutWaiting(),
  }
}
