import { CallsBase, type Said } from './trader-calls-base.ts'

const PRICE_TYPES = ['last', 'mark', 'index'] as const
const TRAIL_TYPES = { last: 1, index: 2, mark: 3 } as const

/** Of one trader at the same time. */
const CHASES = 4

/** About orders that wait for a price, and chases. */
export class WaitingCalls extends CallsBase {
  protected newPriceOrder(): Said | undefined {
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
  }
  protected newTrail(): Said | undefined {
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
  }
  protected aboutWaiting(): Said | undefined {
    const what = this.random.below(5)
    return what < 2 ? this.aboutPriceOrders() : what < 4 ? this.aboutTrails() : this.aboutChases()
  }
  protected chaseOr(amount: number): Said | undefined {
    const own = this.world.chasing().filter(({ user }) => user === this.around.user)
    return own.length < CHASES ? this.chase(amount) : this.aboutChases()
  }
  protected chase(amount: number): Said {
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
