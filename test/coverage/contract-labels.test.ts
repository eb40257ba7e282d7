import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import { Ticker } from '../../src/runtime/ticker.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const TRIGGER = { price: '66000', rule: 1, price_type: 1 }
const TRAIL = { activation_price: '0', is_gte: true, price_type: 1, price_offset: '1%' }

/** Labels that one call of contracts shares with others, told by each of them: orders one by one, in batches, by level, and chases. */
describe('labels of contracts, by every call that has them', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000', SOL: '150' })
    maker = await ContractTrader.of(platform, '9000000')
  })
  after(() => platform.stop())
  const rules = (contract: string, change: object, group = 'futures'): Promise<unknown> =>
    platform.operator.ok('PATCH', `/contracts/${group}/usdt/${contract}`, change)
  const chase = (trader: ContractTrader, more: object): Promise<Reply> =>
    trader.post('/autoorder/v1/chase/create', {
      contract: 'BTC_USDT',
      amount: '1',
      price_limit: '0',
      ...more,
    })
  const bbo = (trader: ContractTrader, size: number | string, more: object = {}): Promise<Reply> =>
    trader.post('/bbo_orders', {
      contract: 'BTC_USDT',
      size,
      direction: String(size).startsWith('-') ? 'sell' : 'buy',
      level: 1,
      ...more,
    })
  /** Of a batch each item answers for itself. */
  async function inBatch(
    trader: ContractTrader,
    label: string,
    size: number | string,
    more: object,
  ): Promise<void> {
    const [item] = ok(
      await trader.post('/batch_orders', [{ contract: 'BTC_USDT', size, price: '60000', ...more }]),
    )
    assert.deepEqual([item.succeeded, item.label], [false, label])
  }
  /** What is due waits meanwhile. */
  async function held(work: () => Promise<void>): Promise<void> {
    const ticker = mock.method(Ticker.prototype, 'runNow', () => Promise.resolve())
    try {
      await work()
    } finally {
      ticker.mock.restore()
    }
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
  }
  const clear = async (): Promise<void> => void ok(await maker.delete('/orders'))

  test('before anything is held', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const stranger = await ContractTrader.of(platform, '0')
    await inBatch(trader, 'CONTRACT_NO_COUNTER', 1, { price: '0', tif: 'ioc' })
    await maker.placed(-100, '60010')
    await maker.placed(-100, '71900')
    await maker.placed(100, '59990')
    refused(await bbo(stranger, 1), 400, 'USER_NOT_FOUND')
    await inBatch(stranger, 'USER_NOT_FOUND', 1, {})
    refused(await bbo(trader, '1.5'), 400, 'INVALID_PRECISION')
    await inBatch(trader, 'INVALID_PRECISION', '1.5', {})
    refused(await bbo(trader, 1_000_001), 400, 'SIZE_TOO_LARGE')
    await inBatch(trader, 'SIZE_TOO_LARGE', 1_000_001, {})
    await inBatch(trader, 'PRICE_TOO_DEVIATED', 1, { price: '80000' })
    await setIndex(platform, { BTC: '58000' })
    refused(await bbo(trader, 1, { level: 2 }), 400, 'PRICE_TOO_DEVIATED')
    await setIndex(platform, { BTC: '60000' })
    refused(await bbo(trader, 1, { reduce_only: true }), 400, 'POSITION_EMPTY')
    await inBatch(trader, 'POSITION_EMPTY', 1, { reduce_only: true })
    refused(await bbo(trader, 1, { tif: 'poc' }), 400, 'ORDER_POC_IMMEDIATE')
    await inBatch(trader, 'ORDER_POC_IMMEDIATE', 1, { price: '60010', tif: 'poc' })
    refused(await bbo(trader, 101, { tif: 'fok' }), 400, 'ORDER_FOK')
    await inBatch(trader, 'ORDER_FOK', 101, { price: '60010', tif: 'fok' })
    refused(await bbo(trader, 5_000), 400, 'INSUFFICIENT_AVAILABLE')
    await inBatch(trader, 'INSUFFICIENT_AVAILABLE', 5_000, { price: '59000' })
    for (const [label, stops] of [
      ['AUTO_TRIGGER_PRICE_GREATE_LAST', { tpsl_tp_trigger_price: '50000' }],
      ['AUTO_TRIGGER_PRICE_LESS_LAST', { tpsl_sl_trigger_price: '70000' }],
    ] as const)
      await inBatch(trader, label, 1, { price: '59000', ...stops })
    const rich = await ContractTrader.of(platform, '1000000')
    ok(await rich.ask('/positions/BTC_USDT/leverage', { leverage: 0, cross_leverage_limit: 100 }))
    refused(await bbo(rich, 400_000), 400, 'RISK_LIMIT_EXCEEDED')
    refused(await chase(rich, { amount: '400000' }), 400, 'RISK_LIMIT_EXCEEDED')
    await inBatch(rich, 'RISK_LIMIT_EXCEEDED', 400_000, { price: '59000' })
    await clear()
  })

  test('a contract that takes no orders, and one that takes few', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    await maker.placed(-100, '60010')
    await maker.placed(100, '59990')
    const initial = { contract: 'BTC_USDT', size: 1, price: '59000' }
    const { id } = ok(await trader.post('/price_orders', { initial, trigger: TRIGGER }), 201)
    await rules('BTC_USDT', { status: 'circuit_breaker' })
    refused(await bbo(trader, 1), 400, 'TRADE_RESTRICTED')
    await inBatch(trader, 'TRADE_RESTRICTED', 1, {})
    refused(await chase(trader, {}), 400, 'TRADE_RESTRICTED')
    for (const path of ['amend', String(id)])
      refused(
        await trader.client.put(`/futures/usdt/price_orders/${path}`, { order_id: id, price: '58000' }),
        400,
        'TRADE_RESTRICTED',
      )
    await rules('BTC_USDT', { status: 'trading', orders_limit: 1 })
    await trader.placed(1, '59000')
    refused(await bbo(trader, 1), 400, 'TOO_MANY_ORDERS')
    await inBatch(trader, 'TOO_MANY_ORDERS', 1, { price: '59000' })
    refused(await chase(trader, {}), 400, 'TOO_MANY_ORDERS')
    await rules('BTC_USDT', { orders_limit: 100 })
    ok(await trader.delete('/orders'))
    await clear()
  })

  test('with a position', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 10 }))
    await maker.placed(-100, '60000')
    await trader.placed(100, '60000')
    // Nobody bids: the best ask is where a chase would sell, beyond what its owner can pay.
    await maker.placed(-1, '53000')
    refused(await chase(trader, { amount: '-10', reduce_only: true }), 400, 'PRICE_OVER_BANKRUPT')
    await clear()
    await maker.placed(-10, '60010')
    await maker.placed(10, '59990')
    await maker.placed(10, '50000')
    refused(await bbo(trader, 1, { reduce_only: true }), 400, 'INCREASE_POSITION')
    await inBatch(trader, 'INCREASE_POSITION', 1, { price: '59000', reduce_only: true })
    refused(await chase(trader, { reduce_only: true }), 400, 'INCREASE_POSITION')
    refused(await bbo(trader, -101, { reduce_only: true }), 400, 'REDUCE_EXCEEDED')
    await inBatch(trader, 'REDUCE_EXCEEDED', -101, { price: '61000', reduce_only: true })
    refused(await chase(trader, { amount: '-101', reduce_only: true }), 400, 'REDUCE_EXCEEDED')
    refused(await bbo(trader, -5, { reduce_only: true, level: 2 }), 400, 'PRICE_OVER_BANKRUPT')
    await inBatch(trader, 'PRICE_OVER_BANKRUPT', -5, { price: '50000', reduce_only: true })
    await trader.placed(0, '61000', { close: true })
    refused(await bbo(trader, 0, { close: true, direction: 'sell' }), 400, 'POSITION_IN_CLOSE')
    await inBatch(trader, 'POSITION_IN_CLOSE', 0, { price: '61500', close: true })
    const margin = (change: string): Promise<Reply> => trader.ask('/positions/BTC_USDT/margin', { change })
    refused(await margin('0.000000001'), 400, 'INVALID_PRECISION')
    refused(
      await trader.ask('/dual_comp/positions/BTC_USDT/risk_limit', { risk_limit: '1000000' }),
      400,
      'POSITION_NOT_FOUND',
    )
    await clear()
  })

  test('what would be liquidated at once', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 125 }))
    const resting = await trader.placed(100, '59000')
    await maker.placed(-1_000, '60400')
    refused(await bbo(trader, 100), 400, 'LIQUIDATE_IMMEDIATELY')
    await inBatch(trader, 'LIQUIDATE_IMMEDIATELY', 100, { price: '60400' })
    const amended = await trader.client.put(`/futures/usdt/orders/${resting.id}`, { price: '60400' })
    refused(amended, 400, 'LIQUIDATE_IMMEDIATELY')
    await clear()
    // Tiers that ask for more than a position has: nobody has looked at it yet.
    const [one, both] = [await ContractTrader.of(platform, '1000'), await ContractTrader.of(platform, '1000')]
    ok(await both.ask('/dual_mode', { dual_mode: true }))
    for (const who of [one, both]) {
      const path = who === one ? '/positions/ETH_USDT/leverage' : '/dual_comp/positions/ETH_USDT/leverage'
      ok(await who.ask(path, { leverage: 9 }))
      await maker.placed(-10, '3000', { contract: 'ETH_USDT' })
      await who.placed(10, '3000', { contract: 'ETH_USDT' })
    }
    await setIndex(platform, { ETH: '2940' })
    await held(async () => {
      await rules('ETH_USDT', {
        leverage_max: '10',
        tiers: [
          { risk_limit: '500000', maintenance_rate: '0.098', leverage_max: '10' },
          { risk_limit: '1000000', maintenance_rate: '0.099', leverage_max: '9' },
        ],
      })
      refused(await one.ask('/positions/ETH_USDT/leverage', { leverage: 10 }), 400, 'LIQUIDATE_IMMEDIATELY')
      refused(
        await one.ask('/positions/ETH_USDT/set_leverage', { leverage: 10, margin_mode: 'isolated' }),
        400,
        'LIQUIDATE_IMMEDIATELY',
      )
      const sides = await both.ask('/dual_comp/positions/ETH_USDT/leverage', { leverage: 10 })
      refused(sides, 400, 'LIQUIDATE_IMMEDIATELY')
    })
    await setIndex(platform, { ETH: '3000' })
  })

  test('an isolated leverage of before, and of a contract that allows less now', async () => {
    const trader = await ContractTrader.of(platform, '0')
    const sol = { contract: 'SOL_USDT' }
    const cross = (mode: string, path = '/positions/cross_mode'): Promise<Reply> =>
      trader.post(path, { mode, ...sol })
    ok(await trader.ask('/positions/SOL_USDT/leverage', { leverage: 50 }))
    ok(await cross('CROSS'))
    await rules('SOL_USDT', {
      leverage_max: '40',
      tiers: [
        { risk_limit: '100000', maintenance_rate: '0.01', leverage_max: '40' },
        { risk_limit: '200000', maintenance_rate: '0.02', leverage_max: '20' },
      ],
    })
    for (const leverage of ['/positions/SOL_USDT/leverage', '/dual_comp/positions/SOL_USDT/leverage'])
      refused(await trader.ask(leverage, { leverage: 50 }), 400, 'LEVERAGE_TOO_HIGH')
    // By name it is what the contract allows now.
    assert.equal(ok(await cross('ISOLATED')).leverage, '40')
    ok(await cross('CROSS'))
    assert.equal(ok(await cross('ISOLATED', '/dual_comp/positions/cross_mode'))[0].leverage, '40')
  })

  test('USER_PORTFOLIO_MARGIN: what was isolated before the mode', async () => {
    const trader = await ContractTrader.of(platform, '0')
    await platform.credit(trader.user_id, 'USDT', '10000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 10 }))
    ok(await trader.client.put('/unified/unified_mode', { mode: 'portfolio' }), 204)
    await maker.placed(-10, '60010')
    await maker.placed(10, '59990')
    refused(await trader.place(1, '59000'), 400, 'USER_PORTFOLIO_MARGIN')
    refused(await bbo(trader, 1), 400, 'USER_PORTFOLIO_MARGIN')
    refused(await chase(trader, {}), 400, 'USER_PORTFOLIO_MARGIN')
    await inBatch(trader, 'USER_PORTFOLIO_MARGIN', 1, { price: '59000' })
    const isolated = { mode: 'ISOLATED', contract: 'ETH_USDT' }
    for (const path of ['/positions/cross_mode', '/dual_comp/positions/cross_mode'])
      refused(await trader.post(path, isolated), 400, 'USER_PORTFOLIO_MARGIN')
    for (const [path, query] of [
      ['/set_position_mode', { position_mode: 'dual' }],
      ['/positions/ETH_USDT/set_leverage', { leverage: 5, margin_mode: 'isolated' }],
      ['/dual_comp/positions/ETH_USDT/leverage', { leverage: 5 }],
    ] as const)
      refused(await trader.ask(path, query), 400, 'USER_PORTFOLIO_MARGIN')
    await clear()
  })

  test('TRADE_RESTRICTED: while a unified account is liquidated nothing of it can be set', async () => {
    const trader = await ContractTrader.of(platform, '0')
    await platform.credit(trader.user_id, 'USDT', '700')
    const mode = { mode: 'multi_currency', settings: { usdt_futures: true } }
    ok(await trader.client.put('/unified/unified_mode', mode), 204)
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 0, cross_leverage_limit: 20 }))
    await maker.placed(-1_000, '60000')
    await trader.placed(1_000, '60000')
    await held(async () => {
      await setIndex(platform, { BTC: '53000' })
      for (let i = 0; !ok(await trader.client.get('/unified/accounts')).locked; i++) {
        assert.ok(i < 100, 'it is not locked')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const body = { mode: 'ISOLATED', contract: 'ETH_USDT' }
      for (const path of ['/positions/cross_mode', '/dual_comp/positions/cross_mode'])
        refused(await trader.post(path, body), 400, 'TRADE_RESTRICTED')
      for (const [path, query] of [
        ['/positions/BTC_USDT/margin', { change: '1' }],
        ['/positions/BTC_USDT/leverage', { leverage: 5 }],
        ['/positions/BTC_USDT/risk_limit', { risk_limit: '1000000' }],
        ['/positions/BTC_USDT/set_leverage', { leverage: 5, margin_mode: 'cross' }],
        ['/dual_comp/positions/BTC_USDT/margin', { change: '1', dual_side: 'dual_long' }],
        ['/dual_comp/positions/BTC_USDT/leverage', { leverage: 5 }],
        ['/dual_comp/positions/BTC_USDT/risk_limit', { risk_limit: '1000000' }],
        ['/dual_mode', { dual_mode: true }],
        ['/set_position_mode', { position_mode: 'dual' }],
      ] as const)
        refused(await trader.ask(path, query), 400, 'TRADE_RESTRICTED')
    })
    await setIndex(platform, { BTC: '60000' })
    await clear()
  })

  test('orders that wait, changed', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const initial = { contract: 'BTC_USDT', size: 1, price: '59000' }
    const made = async (trigger: object): Promise<number> =>
      ok(await trader.post('/price_orders', { initial, trigger: { ...TRIGGER, ...trigger } }), 201).id
    const [above, below] = [await made({}), await made({ price: '55000', rule: 2 })]
    for (const by of ['amend', 'id']) {
      const change = (id: number, more: object): Promise<Reply> =>
        trader.client.put(`/futures/usdt/price_orders/${by === 'id' ? id : by}`, { order_id: id, ...more })
      refused(await change(above, { price: '59000.05' }), 400, 'INVALID_PRECISION')
      refused(await change(above, { size: 1_000_001 }), 400, 'SIZE_TOO_LARGE')
      refused(await change(above, { trigger_price: '50000' }), 400, 'AUTO_TRIGGER_PRICE_GREATE_LAST')
      refused(await change(below, { trigger_price: '70000' }), 400, 'AUTO_TRIGGER_PRICE_LESS_LAST')
      refused(await change(above, { price: '59000' }), 400, 'NO_CHANGE')
    }
    const trail = ok(
      await trader.post('/autoorder/v1/trail/create', {
        contract: 'BTC_USDT',
        amount: '-3',
        ...TRAIL,
        price_type: 3,
      }),
      201,
    ).data.id
    const update = (more: object): Promise<Reply> =>
      trader.post('/autoorder/v1/trail/update', { id: trail, ...more })
    refused(await update({ price_offset: '0.05' }), 400, 'INVALID_PRECISION')
    refused(await update({ amount: '-1000001' }), 400, 'SIZE_TOO_LARGE')
    const resting = await trader.placed(1, '59000')
    await held(async () => {
      await rules('BTC_USDT', {
        delisting_time: Math.floor(platform.now()) - 5,
        delisted_time: Math.floor(platform.now()) + 86_400 * 300,
      })
      for (const by of ['amend', String(above)])
        refused(
          await trader.client.put(`/futures/usdt/price_orders/${by}`, { order_id: above, price: '58000' }),
          400,
          'CONTRACT_IN_DELISTING',
        )
      refused(
        await trader.client.put(`/futures/usdt/orders/${resting.id}`, { price: '58000' }),
        400,
        'CONTRACT_IN_DELISTING',
      )
    })
    for (const by of ['amend', String(above)])
      refused(
        await trader.client.put(`/futures/usdt/price_orders/${by}`, { order_id: above, price: '58000' }),
        400,
        'ORDER_FINISHED',
      )
  })
})
