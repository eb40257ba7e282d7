import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, mock, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { Ticker } from '../../src/runtime/ticker.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

type Members = Record<string, string | number | boolean>
/** Query calls of positions and modes, bodies of orders. */
type Call = readonly [call: string, more: object]
const TRIGGER = { price: '66000', rule: 1, price_type: 1 }
const TRAIL = { activation_price: '0', is_gte: true, price_type: 1, price_offset: '1%' }

/** What no other test of the wire has provoked: each call by each of its labels. */
describe('labels of contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  const folder = mkdtempSync(join(tmpdir(), 'kontor-labels-'))
  before(async () => {
    // A contract with a least size, which no operator can give one that is there.
    const contracts = BUILT_IN_WORLD.contracts!.map((row) =>
      row.name === 'SOL_USDT' ? { ...row, order_size_min: 5 } : row,
    )
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify({ contracts }))
    platform = await TestPlatform.start({ KONTOR_CONFIG: path })
    await setIndex(platform, { BTC: '60000', ETH: '3000', SOL: '150' })
    maker = await ContractTrader.of(platform, '5000000')
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const post = (trader: ContractTrader, [call, more]: Call): Promise<Reply> =>
    /^\/(dual_comp\/)?positions\/(?!cross_mode)|^\/dual_mode|^\/set_position_mode/.test(call)
      ? trader.ask(call, more as Members)
      : trader.post(call, more)
  async function each(trader: ContractTrader, label: string, calls: readonly Call[], status = 400) {
    for (const call of calls) refused(await post(trader, call), status, label, /./)
  }
  /** Of a batch each item answers for itself. */
  async function inBatch(trader: ContractTrader, label: string, order: object): Promise<void> {
    const [item] = ok(await trader.post('/batch_orders', [order]))
    assert.deepEqual([item.succeeded, item.label], [false, label])
  }
  const orders = (contract: string, size: number, price: string): Call[] => [
    ['/orders', { contract, size, price }],
    ['/price_orders', { initial: { contract, size, price }, trigger: { ...TRIGGER, price: '200' } }],
    ['/autoorder/v1/trail/create', { contract, amount: String(size), ...TRAIL }],
    ['/autoorder/v1/chase/create', { contract, amount: String(size), price_limit: '0' }],
  ]

  test('SIZE_TOO_SMALL: a contract with a least size', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const sol = { contract: 'SOL_USDT' }
    const order = await trader.placed(6, '149', sol)
    await maker.placed(-10, '150', sol)
    await maker.placed(10, '148', sol)
    await each(trader, 'SIZE_TOO_SMALL', [
      ...orders('SOL_USDT', 4, '149'),
      ['/bbo_orders', { contract: 'SOL_USDT', size: 4, direction: 'buy', level: 1 }],
    ])
    await inBatch(trader, 'SIZE_TOO_SMALL', { ...sol, size: -1, price: '151' })
    const { client } = trader
    const amended = await client.put(`/futures/usdt/orders/${order.id}`, { size: 4, price: '148' })
    refused(amended, 400, 'SIZE_TOO_SMALL', /5/)
    assert.equal((await trader.order(order.id)).size, 6)
    // What closes a position may be smaller.
    await maker.placed(-6, '149', { ...sol, tif: 'ioc' })
    ok(await maker.delete('/orders'))
    await maker.placed(5, '149', sol)
    await trader.placed(-5, '149', { ...sol, tif: 'ioc' })
    await maker.placed(5, '149', sol)
    assert.equal((await trader.placed(0, '149', { ...sol, close: true, tif: 'ioc' })).size, -1)
    ok(await maker.delete('/orders'))
  })

  test('POSITION_IN_LIQUIDATION: whatever its owner tries meanwhile', async () => {
    const [one, dual] = [await ContractTrader.of(platform, '700'), await ContractTrader.of(platform, '700')]
    ok(await dual.ask('/dual_mode', { dual_mode: true }))
    for (const trader of [one, dual]) {
      const path = trader === one ? '/positions/BTC_USDT/leverage' : '/dual_comp/positions/BTC_USDT/leverage'
      ok(await trader.ask(path, { leverage: 10 }))
      await maker.placed(-1000, '60000')
      await trader.placed(1000, '60000')
    }
    const resting = await one.placed(2, '50000')
    const initial = { contract: 'BTC_USDT', size: 2, price: '49000' }
    const waits = ok(await one.post('/price_orders', { initial, trigger: { price: '49000', rule: 2 } }), 201)
    await maker.placed(-5, '55000')
    // What is due waits: so does the liquidation, which is over in no time else.
    const held = mock.method(Ticker.prototype, 'runNow', () => Promise.resolve())
    try {
      await setIndex(platform, { BTC: '53000' })
      const settings: Call[] = [
        ['/positions/BTC_USDT/leverage', { leverage: 5 }],
        ['/positions/BTC_USDT/set_leverage', { leverage: 5, margin_mode: 'isolated' }],
        ['/positions/cross_mode', { mode: 'CROSS', contract: 'BTC_USDT' }],
      ]
      await each(one, 'POSITION_IN_LIQUIDATION', [
        ...orders('BTC_USDT', 5, '53000'),
        ['/bbo_orders', { contract: 'BTC_USDT', size: 5, direction: 'buy', level: 1 }],
        ...settings,
        ['/positions/BTC_USDT/margin', { change: '1' }],
        ['/positions/BTC_USDT/risk_limit', { risk_limit: '1000000' }],
      ])
      await each(dual, 'POSITION_IN_LIQUIDATION', [
        ['/dual_comp/positions/BTC_USDT/leverage', { leverage: 5 }],
        ['/dual_comp/positions/BTC_USDT/margin', { change: '1', dual_side: 'dual_long' }],
        ['/dual_comp/positions/BTC_USDT/risk_limit', { risk_limit: '1000000' }],
        ['/dual_comp/positions/cross_mode', { mode: 'CROSS', contract: 'BTC_USDT' }],
      ])
      await inBatch(one, 'POSITION_IN_LIQUIDATION', { contract: 'BTC_USDT', size: 1, price: '53000' })
      const amended = await one.client.put(`/futures/usdt/orders/${resting.id}`, { size: 3 })
      refused(amended, 400, 'POSITION_IN_LIQUIDATION', /BTC_USDT/)
      for (const [path, more] of [
        [waits.id, {}],
        ['amend', { order_id: waits.id }],
      ] as const) {
        const change = { size: 3, ...more }
        const answer = await one.client.put(`/futures/usdt/price_orders/${path}`, change)
        refused(answer, 400, 'POSITION_IN_LIQUIDATION', /BTC_USDT/)
      }
      assert.equal((await one.position()).adl_ranking, 6)
    } finally {
      held.mock.restore()
    }
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
    for (const trader of [one, dual]) assert.equal((await trader.get('/liquidates')).body.length, 1)
    assert.equal((await one.order(resting.id)).finish_as, 'liquidated')
    assert.equal((await one.position()).size, 0)
    ok(await maker.delete('/orders'))
    await setIndex(platform, { BTC: '60000' })
  })

  test('DUPLICATE_REQUEST: a text that an open order has', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const text = 't-once'
    const named = { contract: 'BTC_USDT', size: 1, price: '59000', text }
    // By the index: the mark knows what the book was in the seconds before.
    const trigger = { price: '60300', rule: 1, price_type: 2 }
    const { id } = ok(await trader.post('/price_orders', { initial: named, trigger }), 201)
    await trader.placed(1, '59000', { text })
    await maker.placed(-1, '60000')
    await each(trader, 'DUPLICATE_REQUEST', [
      ['/orders', named],
      ['/bbo_orders', { contract: 'BTC_USDT', size: 1, direction: 'buy', level: 1, text }],
    ])
    await inBatch(trader, 'DUPLICATE_REQUEST', named)
    // A price order waits with any text; when it fires it is an order like others.
    await setIndex(platform, { BTC: '60400' })
    const fired = ok(await trader.get(`/price_orders/${String(id)}`))
    assert.deepEqual([fired.finish_as, fired.reason], ['failed', 'DUPLICATE_REQUEST'])
    await setIndex(platform, { BTC: '60000' })
    ok(await trader.delete('/orders'))
    ok(await maker.delete('/orders'))
  })

  test('modes and leverage by each of their calls', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const eth = { contract: 'ETH_USDT' }
    const resting = await trader.placed(1, '2900', eth)
    const pending: Call[] = [
      ['/set_position_mode', { position_mode: 'dual' }],
      ['/positions/ETH_USDT/set_leverage', { leverage: 5, margin_mode: 'isolated' }],
      ['/positions/cross_mode', { mode: 'ISOLATED', ...eth }],
      ['/dual_comp/positions/cross_mode', { mode: 'ISOLATED', ...eth }],
      ['/dual_comp/positions/ETH_USDT/leverage', { leverage: 5 }],
    ]
    await each(trader, 'ORDER_PENDING', pending)
    await maker.placed(-1, '2900', { ...eth, tif: 'ioc' })
    assert.equal((await trader.order(resting.id)).finish_as, 'filled')
    await each(trader, 'POSITION_HOLDING', pending)
    const cross = (limit: number): Call[] => [
      ['/positions/ETH_USDT/leverage', { leverage: 0, cross_leverage_limit: limit }],
      ['/positions/ETH_USDT/set_leverage', { leverage: limit, margin_mode: 'cross' }],
      ['/dual_comp/positions/ETH_USDT/leverage', { leverage: 0, cross_leverage_limit: limit }],
    ]
    await each(trader, 'LEVERAGE_TOO_HIGH', cross(101))
    await each(trader, 'LEVERAGE_TOO_LOW', cross(0.5))
    await maker.placed(-300, '3000', eth)
    await trader.placed(200, '3000', eth)
    await each(trader, 'INSUFFICIENT_AVAILABLE', cross(1))
    await each(trader, 'LEVERAGE_TOO_HIGH', [['/positions/ETH_USDT/risk_limit', { risk_limit: '20000000' }]])
    await each(trader, 'POSITION_CROSS_MARGIN', [['/positions/ETH_USDT/margin', { change: '1' }]])
    ok(await maker.delete('/orders'))
  })

  test('two sides: margin and limits', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    ok(await trader.ask('/set_position_mode', { position_mode: 'dual' }))
    const at = (call: string, more: object): Call => [`/dual_comp/positions/BTC_USDT/${call}`, more]
    const margin = (change: string): Call => at('margin', { change, dual_side: 'dual_long' })
    await each(trader, 'POSITION_CROSS_MARGIN', [margin('1')])
    ok(await trader.ask('/dual_comp/positions/BTC_USDT/leverage', { leverage: 10 }))
    await each(trader, 'POSITION_EMPTY', [margin('1')])
    await maker.placed(-100, '60000')
    await trader.placed(100, '60000')
    await each(trader, 'NO_CHANGE', [margin('0')])
    await each(trader, 'INVALID_PRECISION', [margin('0.000000001')])
    await each(trader, 'INSUFFICIENT_AVAILABLE', [margin('5000')])
    await each(trader, 'REMOVE_TOO_MUCH', [margin('-50')])
    await each(trader, 'RISK_LIMIT_TOO_HIGH', [at('risk_limit', { risk_limit: '50000001' })])
    await each(trader, 'RISK_LIMIT_NOT_MULTIPLE', [at('risk_limit', { risk_limit: '7' })])
    ok(await trader.ask('/dual_comp/positions/BTC_USDT/leverage', { leverage: 100 }))
    await each(trader, 'LEVERAGE_TOO_HIGH', [at('risk_limit', { risk_limit: '3000000' })])
    const rich = await ContractTrader.of(platform, '100000')
    ok(await rich.ask('/set_position_mode', { position_mode: 'dual' }))
    ok(await rich.ask('/dual_comp/positions/BTC_USDT/leverage', { leverage: 100 }))
    await rich.placed(180000, '59000')
    await each(rich, 'RISK_LIMIT_TOO_LOW', [at('risk_limit', { risk_limit: '1000000' })])
    await each(rich, 'LEVERAGE_TOO_HIGH', [at('leverage', { leverage: 125 })])
  })

  test('INVALID_PRECISION: more decimals than any amount has, wherever one is said', async () => {
    const fine = (whole: string): string => `${whole}.${'0'.repeat(18)}1`
    const trader = await ContractTrader.of(platform, '1000')
    const dated = await ContractTrader.of(platform, '1000', { base: '/delivery/usdt' })
    const [{ name }] = ok(await platform.client().get('/delivery/usdt/contracts'))
    const btc = { contract: 'BTC_USDT' }
    const order = { ...btc, size: 1, price: '60000' }
    const initial = { ...order, price: '59000' }
    const trail = { ...btc, amount: '1', ...TRAIL }
    const chase = { ...btc, amount: '1', price_limit: '0' }
    await each(trader, 'INVALID_PRECISION', [
      ['/orders', { ...order, price: fine('60000') }],
      ['/orders', { ...order, size: fine('1') }],
      ['/orders', { ...order, iceberg: fine('1') }],
      ['/orders', { ...order, price: '0', tif: 'ioc', market_order_slip_ratio: fine('0') }],
      ['/orders', { ...order, tpsl_tp_trigger_price: fine('61000') }],
      ['/batch_orders', [order, { ...order, price: fine('60000') }] as object],
      ['/bbo_orders', { ...btc, size: fine('1'), direction: 'buy', level: 1 }],
      ['/price_orders', { initial, trigger: { ...TRIGGER, price: fine('66000') } }],
      ['/price_orders', { initial: { ...initial, price: fine('59000') }, trigger: TRIGGER }],
      ['/price_orders', { initial: { ...initial, amount: fine('1') }, trigger: TRIGGER }],
      ['/autoorder/v1/trail/create', { ...trail, amount: fine('1') }],
      ['/autoorder/v1/trail/create', { ...trail, activation_price: fine('60000') }],
      ['/autoorder/v1/trail/create', { ...trail, price_offset: fine('100') }],
      ['/autoorder/v1/trail/create', { ...trail, price_offset: `${fine('1')}%` }],
      ['/autoorder/v1/chase/create', { ...chase, price_limit: fine('60000') }],
      ['/autoorder/v1/chase/create', { ...btc, amount: '1', offset_limit: fine('100') }],
      [
        '/autoorder/v1/chase/create',
        { ...chase, price_type: 2, price_gap_type: 1, price_gap_value: fine('1') },
      ],
    ])
    const leverages = [fine('10'), '10.125']
    const settings = (contract: string): Call[] => [
      [`/positions/${contract}/risk_limit`, { risk_limit: fine('1000000') }],
      [`/positions/${contract}/margin`, { change: `-${fine('1')}` }],
      ...leverages.map((leverage): Call => [`/positions/${contract}/leverage`, { leverage }]),
    ]
    await each(dated, 'INVALID_PRECISION', settings(name))
    await each(trader, 'INVALID_PRECISION', [
      ...settings('BTC_USDT'),
      ...leverages.map((leverage): Call => [
        '/positions/BTC_USDT/set_leverage',
        { leverage, margin_mode: 'isolated' },
      ]),
      ...leverages.map((leverage): Call => ['/dual_comp/positions/BTC_USDT/leverage', { leverage }]),
      ['/dual_comp/positions/BTC_USDT/risk_limit', { risk_limit: fine('1000000') }],
    ])
    const { id } = await trader.placed(1, '59000')
    for (const change of [{ price: fine('59000') }, { size: fine('2') }])
      refused(
        await trader.client.request('PUT', `/futures/usdt/orders/${id}`, { body: change }),
        400,
        'INVALID_PRECISION',
        /18 decimals/,
      )
    ok(await trader.delete(`/orders/${id}`))
  })

  test('an amended order is checked as a new one', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 0, cross_leverage_limit: 100 }))
    const { id } = await trader.placed(10, '59000', { tif: 'poc' })
    await maker.placed(-1500, '60100')
    const amend = (change: object, of: number = id): Promise<Reply> =>
      trader.client.put(`/futures/usdt/orders/${of}`, change)
    refused(await amend({ size: 1000001 }), 400, 'SIZE_TOO_LARGE', /1000000/)
    refused(await amend({ price: '60100' }), 400, 'ORDER_POC_IMMEDIATE', /post-only/)
    refused(await amend({ size: 900000 }), 400, 'RISK_LIMIT_EXCEEDED', /limit/)
    refused(await amend({ size: 100000 }), 400, 'INSUFFICIENT_AVAILABLE', /missing/)
    await trader.placed(1500, '60100')
    const reducing = await trader.placed(-10, '60500', { reduce_only: true })
    refused(await amend({ size: -1501 }, reducing.id), 400, 'REDUCE_EXCEEDED', /position/)
    refused(await amend({ price: '48500' }, reducing.id), 400, 'PRICE_OVER_BANKRUPT', /bankruptcy/)
    await platform.operator.ok('PATCH', '/contracts/futures/usdt/BTC_USDT', { status: 'circuit_breaker' })
    refused(await amend({ price: '60600' }, reducing.id), 400, 'TRADE_RESTRICTED', /BTC_USDT/)
    ok(await amend({ size: -5 }, reducing.id))
    await platform.operator.ok('PATCH', '/contracts/futures/usdt/BTC_USDT', { status: 'trading' })
    ok(await maker.delete('/orders'))
  })

  test('CONTRACT_NOT_FOUND wherever a contract is named', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const dated = new ContractTrader(trader.user_id, trader.client, '/delivery/usdt')
    const contract = 'NO_USDT'
    for (const list of ['price_orders', 'orders'] as const)
      for (const who of [trader, dated])
        refused(await who.get(`/${list}`, { status: 'open', contract }), 400, 'CONTRACT_NOT_FOUND', /NO_USDT/)
    for (const path of ['my_trades', 'position_close', 'liquidates'])
      for (const who of [trader, dated])
        refused(await who.get(`/${path}`, { contract }), 400, 'CONTRACT_NOT_FOUND', /NO_USDT/)
    for (const path of ['orders_timerange', 'my_trades_timerange', 'positions_timerange', 'auto_deleverages'])
      refused(await trader.get(`/${path}`, { contract }), 400, 'CONTRACT_NOT_FOUND', /NO_USDT/)
    refused(await dated.get('/settlements', { contract }), 400, 'CONTRACT_NOT_FOUND', /NO_USDT/)
    refused(await trader.get(`/get_leverage/${contract}`), 404, 'CONTRACT_NOT_FOUND')
    refused(await trader.get(`/dual_comp/positions/${contract}`), 404, 'CONTRACT_NOT_FOUND')
    refused(await trader.post('/countdown_cancel_all', { timeout: 5, contract }), 400, 'CONTRACT_NOT_FOUND')
    const named: Call[] = [
      ['margin', { change: '1' }],
      ['leverage', { leverage: 5 }],
      ['risk_limit', { risk_limit: '1000000' }],
    ]
    for (const [call, more] of named)
      for (const who of [trader, dated])
        await each(who, 'CONTRACT_NOT_FOUND', [[`/positions/${contract}/${call}`, more]], 404)
    await each(
      trader,
      'CONTRACT_NOT_FOUND',
      named.map(([call, more]) => [
        `/dual_comp/positions/${contract}/${call}`,
        { ...more, dual_side: 'dual_long' },
      ]),
      404,
    )
  })

  test('dated contracts refuse what perpetual ones do', async () => {
    const options = { base: '/delivery/usdt' }
    const trader = await ContractTrader.of(platform, '1000', options)
    const other = await ContractTrader.of(platform, '100000', options)
    const stranger = await ContractTrader.of(platform, '0', options)
    const [{ name: contract }] = ok(await platform.client().get('/delivery/usdt/contracts'))
    const order = (more: object): Call => ['/orders', { contract, size: 1, price: '60000', ...more }]
    await each(stranger, 'USER_NOT_FOUND', [order({})])
    for (const [label, more] of [
      ['INVALID_PRECISION', { price: '60000.05' }],
      ['SIZE_TOO_LARGE', { size: 1000001 }],
      ['PRICE_TOO_DEVIATED', { price: '80000' }],
      ['POSITION_EMPTY', { reduce_only: true }],
      ['CONTRACT_NO_COUNTER', { price: '0', tif: 'ioc' }],
      ['ORDER_FOK', { tif: 'fok' }],
      ['INSUFFICIENT_AVAILABLE', { size: 5000 }],
    ] as const)
      await each(trader, label, [order(more)])
    const at = (call: string, more: object): Call => [`/positions/${String(contract)}/${call}`, more]
    await each(trader, 'POSITION_CROSS_MARGIN', [at('margin', { change: '1' })])
    const resting = await trader.placed(1, '59000', { contract, text: 't-dated' })
    await each(trader, 'DUPLICATE_REQUEST', [order({ text: 't-dated' })])
    await each(trader, 'ORDER_PENDING', [at('leverage', { leverage: 5 })])
    ok(await trader.delete(`/orders/${resting.id}`))
    ok(await trader.ask(`/positions/${String(contract)}/leverage`, { leverage: 10 }))
    await each(trader, 'POSITION_EMPTY', [at('margin', { change: '1' })])
    await other.placed(-10, '60000', { contract })
    await each(trader, 'ORDER_POC_IMMEDIATE', [order({ tif: 'poc' })])
    await trader.placed(10, '60000', { contract })
    for (const [label, more] of [
      ['INCREASE_POSITION', { reduce_only: true, price: '59000' }],
      ['REDUCE_EXCEEDED', { reduce_only: true, size: -11, price: '61000' }],
      ['PRICE_OVER_BANKRUPT', { reduce_only: true, size: -5, price: '50000' }],
    ] as const)
      await each(trader, label, [order(more)])
    await trader.placed(0, '61000', { contract, close: true })
    await each(trader, 'POSITION_IN_CLOSE', [order({ size: 0, close: true, price: '61500' })])
    await each(trader, 'POSITION_HOLDING', [at('leverage', { leverage: 0 })])
    await each(trader, 'LEVERAGE_TOO_HIGH', [at('leverage', { leverage: 126 })])
    await each(trader, 'LEVERAGE_TOO_LOW', [at('leverage', { leverage: 0.5 })])
    await each(trader, 'NO_CHANGE', [at('margin', { change: '0' })])
    await each(trader, 'INSUFFICIENT_AVAILABLE', [at('margin', { change: '5000' })])
    await each(trader, 'RISK_LIMIT_TOO_HIGH', [at('risk_limit', { risk_limit: '50000001' })])
    await each(trader, 'RISK_LIMIT_NOT_MULTIPLE', [at('risk_limit', { risk_limit: '7' })])
    const waits = (initial: object, trigger: object): Call => [
      '/price_orders',
      {
        initial: { contract, size: 1, price: '59000', ...initial },
        trigger: { ...TRIGGER, price: '61000', ...trigger },
      },
    ]
    for (const [label, initial, trigger] of [
      ['CONTRACT_NOT_FOUND', { contract: 'NO_USDT' }, {}],
      ['INVALID_PRECISION', { price: '59000.05' }, {}],
      ['SIZE_TOO_LARGE', { size: 1000001 }, {}],
      ['AUTO_TRIGGER_PRICE_GREATE_LAST', {}, { price: '59000' }],
      ['AUTO_TRIGGER_PRICE_LESS_LAST', {}, { rule: 2 }],
    ] as const)
      await each(trader, label, [waits(initial, trigger)])
    await each(stranger, 'USER_NOT_FOUND', [waits({}, {})])
    refused(await trader.get('/price_orders/999999'), 404, 'ORDER_NOT_FOUND')
    refused(await trader.delete('/orders/999999'), 404, 'ORDER_NOT_FOUND')
    await platform.operator.ok('PATCH', `/contracts/delivery/usdt/${String(contract)}`, {
      status: 'circuit_breaker',
    })
    await each(trader, 'TRADE_RESTRICTED', [order({}), waits({}, {})])
    await platform.operator.ok('PATCH', `/contracts/delivery/usdt/${String(contract)}`, { status: 'trading' })
  })

  // The last one: what is delisted stays so.
  test('CONTRACT_IN_DELISTING: what would open a position, by every call', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const sol = { contract: 'SOL_USDT' }
    await maker.placed(-10, '150', sol)
    await trader.placed(10, '150', sol)
    const reducing = await trader.placed(-5, '155', { ...sol, reduce_only: true })
    await platform.operator.ok('PATCH', '/contracts/futures/usdt/SOL_USDT', {
      delisting_time: Math.floor(Date.now() / 1000) - 10,
    })
    await maker.placed(5, '149', { ...sol, reduce_only: true })
    await each(trader, 'CONTRACT_IN_DELISTING', [
      ...orders('SOL_USDT', 5, '149'),
      // A size that would turn the position round, and what is also wrong otherwise: this is told first.
      ['/orders', { ...sol, size: -11, price: '150.001' }],
      ['/bbo_orders', { ...sol, size: -11, direction: 'sell', level: 1 }],
    ])
    await inBatch(trader, 'CONTRACT_IN_DELISTING', { ...sol, size: 5, price: '149' })
    assert.equal((await trader.order(reducing.id)).status, 'open')
    assert.equal((await trader.placed(-5, '149', { ...sol, reduce_only: true })).finish_as, 'filled')
  })
})
