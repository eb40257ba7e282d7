import { after, before, describe, mock, test } from 'node:test'
import { Ticker } from '../../src/runtime/ticker.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

type Members = Record<string, string | number | boolean>
const TRIGGER = { price: '66000', rule: 1, price_type: 1 }

/** Labels that dated contracts share with perpetual ones, told by their own calls; and what a key with replay protection is told. */
describe('labels of dated contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let names: string[]
  const base = { base: '/delivery/usdt' }
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: 'off' })
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '9000000', base)
    const list = ok(await platform.client().get('/delivery/usdt/contracts')) as { name: string }[]
    names = list.map(({ name }) => name).filter((name) => name.startsWith('BTC'))
  })
  after(() => platform.stop())
  const rules = (contract: string, change: object): Promise<unknown> =>
    platform.operator.ok('PATCH', `/contracts/delivery/usdt/${contract}`, change)
  const waits = (trader: ContractTrader, contract: string, more: object = {}): Promise<Reply> =>
    trader.post('/price_orders', {
      initial: { contract, size: 1, price: '59000' },
      trigger: TRIGGER,
      ...more,
    })
  const clear = async (contract: string): Promise<void> =>
    void ok(await maker.delete('/orders', { contract }))
  async function held(work: () => Promise<void>): Promise<void> {
    const ticker = mock.method(Ticker.prototype, 'runNow', () => Promise.resolve())
    try {
      await work()
    } finally {
      ticker.mock.restore()
    }
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
  }

  test('orders, leverage and limits', async () => {
    const contract = names[0]!
    const stranger = await ContractTrader.of(platform, '0', base)
    refused(await stranger.get('/account_book'), 400, 'USER_NOT_FOUND')
    const trader = await ContractTrader.of(platform, '1000', base)
    const at = (call: string, query: Members): Promise<Reply> =>
      trader.ask(`/positions/${contract}/${call}`, query)
    await maker.placed(-100, '60010', { contract })
    for (const [label, stops] of [
      ['AUTO_TRIGGER_PRICE_GREATE_LAST', { tpsl_tp_trigger_price: '50000' }],
      ['AUTO_TRIGGER_PRICE_LESS_LAST', { tpsl_sl_trigger_price: '70000' }],
    ] as const)
      refused(await trader.place(1, '59000', { contract, ...stops }), 400, label)
    await rules(contract, { orders_limit: 1 })
    await trader.placed(1, '59000', { contract })
    refused(await trader.place(1, '59000', { contract }), 400, 'TOO_MANY_ORDERS')
    await rules(contract, { orders_limit: 100 })
    ok(await trader.delete('/orders', { contract }))
    refused(
      await waits(trader, contract, {
        order_type: 'plan-close-long-position',
        initial: { contract, size: -1, price: '59000' },
      }),
      400,
      'POSITION_EMPTY',
    )
    const rich = await ContractTrader.of(platform, '100000', base)
    ok(await rich.ask(`/positions/${contract}/leverage`, { leverage: 100 }))
    refused(await rich.place(400_000, '59000', { contract }), 400, 'RISK_LIMIT_EXCEEDED')
    await rich.placed(180_000, '59000', { contract })
    refused(
      await rich.ask(`/positions/${contract}/risk_limit`, { risk_limit: '1000000' }),
      400,
      'RISK_LIMIT_TOO_LOW',
    )
    refused(
      await rich.ask(`/positions/${contract}/risk_limit`, { risk_limit: '3000000' }),
      400,
      'LEVERAGE_TOO_HIGH',
    )
    ok(await rich.delete('/orders', { contract }))
    await clear(contract)
    ok(await at('leverage', { leverage: 125 }))
    await maker.placed(-100, '60400', { contract })
    refused(await trader.place(100, '60400', { contract }), 400, 'LIQUIDATE_IMMEDIATELY')
    await clear(contract)
    ok(await at('leverage', { leverage: 0, cross_leverage_limit: 50 }))
    await maker.placed(-1_000, '60000', { contract })
    await trader.placed(1_000, '60000', { contract })
    refused(await at('leverage', { leverage: 0, cross_leverage_limit: 1 }), 400, 'INSUFFICIENT_AVAILABLE')
    await clear(contract)
    for (let i = 0; i < 200; i++) ok(await waits(trader, contract), 201)
    refused(await waits(trader, contract), 400, 'TOO_MANY_ORDERS')
    // One of all kinds, in the account of perpetual contracts too.
    const perpetual = await ContractTrader.of(platform, '1000')
    for (let i = 0; i < 200; i++) ok(await waits(perpetual, 'BTC_USDT'), 201)
    const trail = {
      contract: 'BTC_USDT',
      amount: '-1',
      activation_price: '0',
      is_gte: true,
      price_type: 3,
      price_offset: '1%',
    }
    refused(await perpetual.post('/autoorder/v1/trail/create', trail), 400, 'TOO_MANY_ORDERS')
  })

  test('a position that is being liquidated, or that new tiers ask too much of', async () => {
    const contract = names[1]!
    const trader = await ContractTrader.of(platform, '700', base)
    const thin = await ContractTrader.of(platform, '700', base)
    for (const [who, leverage] of [
      [trader, 10],
      [thin, 9],
    ] as const) {
      ok(await who.ask(`/positions/${contract}/leverage`, { leverage }))
      await maker.placed(-1_000, '60000', { contract })
      await who.placed(1_000, '60000', { contract })
      refused(
        await who.ask(`/positions/${contract}/margin`, { change: '0.000000001' }),
        400,
        'INVALID_PRECISION',
      )
    }
    await held(async () => {
      await setIndex(platform, { BTC: '58800' })
      await rules(contract, {
        leverage_max: '10',
        tiers: [
          { risk_limit: '1000000', maintenance_rate: '0.098', leverage_max: '10' },
          { risk_limit: '2000000', maintenance_rate: '0.099', leverage_max: '9' },
        ],
      })
      refused(
        await thin.ask(`/positions/${contract}/leverage`, { leverage: 10 }),
        400,
        'LIQUIDATE_IMMEDIATELY',
      )
      await setIndex(platform, { BTC: '52000' })
      for (const [call, query] of [
        ['margin', { change: '1' }],
        ['leverage', { leverage: 5 }],
        ['risk_limit', { risk_limit: '1000000' }],
      ] as const)
        refused(await trader.ask(`/positions/${contract}/${call}`, query), 400, 'POSITION_IN_LIQUIDATION')
      refused(await trader.place(1, '52000', { contract }), 400, 'POSITION_IN_LIQUIDATION')
      refused(await waits(trader, contract), 400, 'POSITION_IN_LIQUIDATION')
    })
    await setIndex(platform, { BTC: '60000' })
  })

  test('DUPLICATE_REQUEST: a request that was sent again, of a key that asks for it once', async () => {
    const contract = names[0]!
    const trader = await ContractTrader.of(platform, '1000')
    const { user_id, client } = trader
    await new ContractTrader(user_id, client, '/delivery/usdt').fund(platform, '1000')
    await ContractTrader.of(platform, '100000').then(async (other) => {
      await other.placed(-5, '60010')
      await other.placed(5, '59990')
    })
    const path = `/users/${user_id}/keys/${client.credential!.key}`
    await platform.operator.ok('PATCH', path, { replay_protection: true })
    const text = 't-once'
    const initial = { size: 1, price: '59000', text }
    for (const [call, body] of [
      ['/futures/usdt/price_orders', { initial: { contract: 'BTC_USDT', ...initial }, trigger: TRIGGER }],
      ['/delivery/usdt/price_orders', { initial: { contract, ...initial }, trigger: TRIGGER }],
      [
        '/futures/usdt/autoorder/v1/trail/create',
        {
          contract: 'BTC_USDT',
          amount: '-1',
          activation_price: '0',
          price_type: 3,
          price_offset: '1%',
          text,
        },
      ],
      [
        '/futures/usdt/autoorder/v1/chase/create',
        { contract: 'BTC_USDT', amount: '1', price_limit: '0', text },
      ],
    ] as const) {
      const timestamp = String(Math.floor(platform.now()))
      const ask = (): Promise<Reply> => client.request('POST', call, { body, timestamp })
      const first = await ask()
      if (first.status >= 300) refused(first, 200, call)
      refused(await ask(), 400, 'DUPLICATE_REQUEST')
    }
  })

  // The last one: what is delisted stays so.
  test('CONTRACT_IN_DELISTING: what would open a position', async () => {
    const contract = names[2]!
    const trader = await ContractTrader.of(platform, '1000', base)
    await rules(contract, { delisting_time: Math.floor(platform.now()) - 5 })
    refused(await trader.place(1, '59000', { contract }), 400, 'CONTRACT_IN_DELISTING')
    refused(await waits(trader, contract), 400, 'CONTRACT_IN_DELISTING')
  })
})
