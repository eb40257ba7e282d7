import type { AccountPath } from '../../src/core/futures/inputs.ts'
import { PLAIN } from '../../src/core/futures/place.ts'

export interface Around {
  readonly below: (below: number) => number
  readonly path: AccountPath
  readonly mark: number
  readonly name: string
  readonly dual: boolean
  readonly tick: (price: number) => string
  /** What waits there already. */
  readonly prices: readonly number[]
  readonly trails: readonly number[]
  readonly chases: readonly number[]
}

/** A command about orders that wait for a price, made up at random; much of it is refused. */
export function anyWait(around: Around): [command: string, input: object] {
  const { below, path, mark, name, dual, tick } = around
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!
  const near = (part: number): number => mark * (1 + part * (below(2001) / 1000 - 1))
  const sign = below(2) === 0 ? 1 : -1
  const size = String((1 + below(pick([5, 300, 2_000]))) * sign)
  const price_type = pick(['last', 'mark', 'index'] as const)
  const one = (of: readonly number[]): number => (of.length === 0 ? 1 : pick(of))
  switch (below(10)) {
    case 0:
    case 1:
    case 2: {
      const up = below(2) === 0
      const closes = below(3) === 0
      const long = below(2) === 0
      return [
        'futures.price_order.create',
        {
          ...path,
          initial: {
            contract: name,
            size: closes ? '0' : size,
            price: below(2) === 0 ? '0' : tick(near(0.01)),
            tif: null,
            text: null,
            close: closes && !dual,
            reduce_only: below(2) === 0,
            auto_size: closes && dual ? (long ? 'close_long' : 'close_short') : null,
          },
          trigger: {
            price: tick(mark * (1 + (up ? 1 : -1) * (below(1000) / 1000) * pick([0.002, 0.02]))),
            price_type,
            rule: up ? 1 : 2,
            expiration: pick([0, 60, 600]),
          },
          order_type: closes ? pick(['', long ? 'close-long-position' : 'close-short-position']) : '',
          pos_margin_mode: null,
        },
      ]
    }
    case 3:
    case 4:
      return [
        'futures.trail.create',
        {
          ...path,
          contract: name,
          amount: size,
          activation_price: below(2) === 0 ? '0' : tick(near(0.01)),
          is_gte: pick([null, true, false]),
          price_type,
          price_offset: pick(['0.1%', '0.5%', '2%', tick(mark * 0.001)]),
          reduce_only: true,
          position_related: below(2) === 0,
          text: null,
          pos_margin_mode: null,
          position_mode: null,
        },
      ]
    case 5: {
      const offset = below(4) === 0
      const distance = below(2) === 0
      return [
        'futures.chase.create',
        {
          ...path,
          contract: name,
          amount: size,
          price_limit: offset ? null : pick(['0', '0', tick(near(0.005))]),
          offset_limit: offset ? pick(['0.05%', '0.4%', tick(mark * 0.001)]) : null,
          reduce_only: below(2) === 0,
          text: null,
          price_type: pick([1, 1, 2]),
          price_gap_type: distance ? 1 : 2,
          price_gap_value: distance ? tick(mark * 0.0005) : pick(['0.05', '0.3']),
          is_dual_mode: null,
          pos_margin_mode: null,
          position_mode: null,
        },
      ]
    }
    case 6:
    case 7: {
      const price = near(0.003)
      const [high, low] = [tick(price * 1.003), tick(price * 0.997)]
      const order = {
        ...PLAIN,
        contract: name,
        size,
        price: tick(price),
        tif: pick([null, 'ioc', 'poc'] as const),
        tpsl_tp_trigger_price: sign > 0 ? high : low,
        tpsl_sl_trigger_price: sign > 0 ? low : high,
      }
      return ['futures.place', { ...path, order }]
    }
    case 8:
      return [
        'futures.trail.update',
        {
          ...path,
          id: one(around.trails),
          amount: null,
          activation_price: null,
          is_gte: null,
          price_type: pick([null, price_type]),
          price_offset: pick(['0.2%', '1%', null]),
        },
      ]
    default: {
      const kinds = [
        ['price_order.cancel', around.prices],
        ['trail.stop', around.trails],
        ['chase.stop', around.chases],
      ] as const
      const there = kinds.filter(([, of]) => of.length > 0)
      const [kind, ids] = pick(there.length === 0 ? kinds : there)
      return [`futures.${kind}`, { ...path, id: one(ids) }]
    }
  }
}
