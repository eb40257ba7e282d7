import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client } from '../support/client.ts'
import { ContractTrader } from '../support/contract-trader.ts'
import { TestPlatform } from '../support/platform.ts'

const BTC = { contract: 'BTC_USDT' }
const TEXTS = { headers: { 'X-Gate-Size-Decimal': '1' } }
interface Named {
  readonly name: string
}
const namesIn = (rows: readonly Named[]): string[] => rows.map(({ name }) => name)

describe('public data of perpetual contracts', () => {
  let platform: TestPlatform
  let anybody: Client
  let maker: ContractTrader
  let taker: ContractTrader
  before(async () => {
    // Two fundings before midnight are left.
    platform = await TestPlatform.start({ KONTOR_CLOCK: String(Date.parse('2026-11-16T09:00:00Z') / 1000) })
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', SOL: '150' })
    anybody = platform.client()
    maker = await ContractTrader.of(platform, '1000000')
    taker = await ContractTrader.of(platform, '1000000')
  })
  after(() => platform.stop())
  const get = (path: string, query = {}) => anybody.get(`/futures/usdt${path}`, query)
  const advance = (seconds: number) =>
    platform.operator.ok('POST', '/clock', { advance_seconds: String(Math.ceil(seconds)) })

  test('the contracts of the sandbox, with the figures of the specification', async () => {
    assert.deepEqual(namesIn(ok(await get('/contracts'))), ['BTC_USDT', 'ETH_USDT', 'SOL_USDT'])
    assert.deepEqual(namesIn(ok(await anybody.get('/futures/btc/contracts'))), ['BTC_USD'])
    const btc = ok(await anybody.get('/futures/USDT/contracts/btc_usdt'))
    assert.equal(btc.quanto_multiplier, '0.0001')
    assert.equal(
      `${btc.risk_limit_base} ${btc.risk_limit_step} ${btc.risk_limit_max}`,
      '1000000 49000000 50000000',
    )
    assert.equal(btc.index_price, '60000')
    // By the interest alone it is a ten-thousandth above the index at most.
    assert.ok(Number(btc.mark_price) >= 60_000 && Number(btc.mark_price) <= 60_006, btc.mark_price)
    assert.equal(btc.last_price, btc.mark_price)
    assert.equal(btc.funding_next_apply % 28_800, 0)
    assert.ok(btc.funding_next_apply > platform.now())
    assert.equal(btc.funding_cap_ratio, '0.75')
    assert.equal(btc.order_size_max, 1_000_000)
    assert.equal(btc.enable_decimal, false)
    const inverse = ok(await anybody.get('/futures/btc/contracts/BTC_USD'))
    assert.equal(`${inverse.type} ${inverse.quanto_multiplier}`, 'inverse 0')
    assert.equal(inverse.index_price, '60000')
    const page = await get('/contracts', { limit: 1, offset: 1 })
    assert.deepEqual(namesIn(ok(page)), ['ETH_USDT'])
    assert.equal(page.headers.get('x-pagination-total'), '3')
    assert.deepEqual(namesIn(ok(await get('/contracts_all'))), ['BTC_USDT', 'ETH_USDT', 'SOL_USDT'])
  })
  test('a settle currency and a contract that are not there are refused, each in its way', async () => {
    for (const settle of ['usd1', 'eth', '%20'])
      refused(await anybody.get(`/futures/${settle}/contracts`), 400, 'INVALID_PARAM_VALUE', /settle/)
    const gone = await get('/contracts/DOGE_USDT')
    refused(gone, 404, 'CONTRACT_NOT_FOUND')
    assert.equal(gone.body.detail, gone.body.message)
    refused(await get('/order_book', { contract: 'DOGE_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await get('/tickers', { contract: 'BTC_USD' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await get('/order_book'), 400, 'MISSING_REQUIRED_PARAM')
  })
  test('sizes are texts for whoever asks for that, in every reply', async () => {
    const [btc] = ok(await anybody.request('GET', '/futures/usdt/contracts', TEXTS))
    assert.deepEqual(
      [btc.order_size_min, btc.order_size_max, btc.trade_size, btc.position_size],
      ['1', '1000000', '0', '0'],
    )
  })

  test('book, trades, tickers and candles tell what is traded', async () => {
    const start = Math.floor(platform.now() / 60) * 60 + 60
    await advance(start - platform.now() + 1)
    await maker.placed('BTC_USDT', 40, '59990.3')
    await maker.placed('BTC_USDT', 60, '59990')
    await maker.placed('BTC_USDT', -100, '60010.1')
    await maker.placed('BTC_USDT', -50, '60019.9')
    const book = ok(await get('/order_book', { ...BTC, with_id: true, limit: 5 }))
    assert.deepEqual(book.bids, [
      { p: '59990.3', s: 40 },
      { p: '59990', s: 60 },
    ])
    const grouped = ok(await get('/order_book', { ...BTC, interval: '10' }))
    assert.deepEqual(grouped.bids, [{ p: '59990', s: 100 }])
    assert.deepEqual(grouped.asks, [{ p: '60020', s: 150 }])
    assert.equal('id' in grouped, false)
    refused(await get('/order_book', { ...BTC, interval: '0.05' }), 400, 'INVALID_PARAM_VALUE', /tick/)
    refused(await get('/order_book', { ...BTC, limit: 301 }), 400, 'INVALID_PARAM_VALUE')
    await taker.placed('BTC_USDT', 30, '60010.1')
    await taker.placed('BTC_USDT', -10, '59990.3')
    assert.ok(ok(await get('/order_book', { ...BTC, with_id: true })).id > book.id)

    const trades = ok(await get('/trades', BTC))
    assert.deepEqual(
      trades.map((trade: { size: number; price: string }) => [trade.size, trade.price]),
      [
        [-10, '59990.3'],
        [30, '60010.1'],
      ],
    )
    assert.ok(Math.abs(trades[0].create_time_ms - platform.now()) < 60, 'seconds, with decimals')
    const [texts] = ok(
      await anybody.request('GET', '/futures/usdt/trades', { ...TEXTS, query: { ...BTC, limit: 1 } }),
    )
    assert.equal(texts.size, '-10')
    assert.equal(texts.is_internal, false)
    const older = await get('/trades', { ...BTC, last_id: trades[0].id })
    assert.deepEqual(
      ok(older).map(({ id }: { id: number }) => id),
      [trades[1].id],
    )
    assert.equal(older.headers.get('x-pagination-total'), '1')
    const second = await get('/trades', { ...BTC, offset: 1, limit: 1 })
    assert.equal(ok(second)[0].id, trades[1].id)
    assert.equal(second.headers.get('x-pagination-total'), '2')
    // No more than can be paged through, wherever they are read.
    const { futures } = platform.platform.desk.core.state
    const figuresOf = futures.figuresOf.bind(futures)
    futures.figuresOf = (pair) => ({ ...figuresOf(pair), sequence: 500_000 })
    const many = await get('/trades', { ...BTC, limit: 1 })
    futures.figuresOf = figuresOf
    assert.equal(many.headers.get('x-pagination-total'), '101000')
    assert.deepEqual(ok(await get('/trades', { ...BTC, to: start - 3600 })), [])

    const [ticker] = ok(await get('/tickers', { ...BTC, timezone: 'utc0' }))
    assert.equal(ticker.last, '59990.3')
    assert.equal(`${ticker.high_24h} ${ticker.low_24h}`, '60010.1 59990.3')
    // 40 contracts of 0.0001: 30 at 60010.1 and 10 at 59990.3.
    assert.equal(`${ticker.volume_24h} ${ticker.volume_24h_base}`, '40 0.004')
    assert.equal(ticker.volume_24h_quote, '240.0206')
    assert.equal(ticker.volume_24h_settle, ticker.volume_24h_quote)
    assert.equal(ticker.total_size, '20')
    assert.equal(`${ticker.highest_bid} ${ticker.highest_size}`, '59990.3 30')
    assert.equal(`${ticker.lowest_ask} ${ticker.lowest_size}`, '60010.1 70')
    assert.equal(ticker.index_price, '60000')
    assert.equal(ok(await get('/tickers')).length, 3)
    const contract = ok(await get('/contracts/BTC_USDT'))
    assert.equal(`${contract.position_size} ${contract.long_users} ${contract.short_users}`, '20 1 1')
    assert.equal(contract.trade_size, 40)
    assert.equal(contract.trade_id, trades[0].id)

    await advance(300)
    const query = { ...BTC, interval: '1m', from: start, to: start + 120 }
    const candles = ok(await get('/candlesticks', query))
    assert.deepEqual(candles, [
      { t: start, v: 40, c: '59990.3', h: '60010.1', l: '59990.3', o: '60010.1', sum: '240.0206' },
      { t: start + 60, v: 0, c: '59990.3', h: '59990.3', l: '59990.3', o: '59990.3', sum: '0' },
      { t: start + 120, v: 0, c: '59990.3', h: '59990.3', l: '59990.3', o: '59990.3', sum: '0' },
    ])
    const before = await get('/candlesticks', { ...BTC, interval: '1m', to: start + 60, limit: 2 })
    assert.deepEqual(ok(before), candles.slice(0, 2))
    assert.equal(before.headers.get('x-applied-from'), String(start))
    assert.equal(before.headers.get('x-applied-to'), String(start + 60))
    const premium = await get('/premium_index', { ...BTC, interval: '1m', from: start - 7_200 })
    assert.equal(premium.headers.get('x-applied-from'), String(start - 7_200))
    const minute = Math.floor(platform.now() / 60) * 60
    const ever = 9_999_999_999
    const latest = ok(await get('/candlesticks', { ...BTC, interval: '1m', to: ever, limit: 2 }))
    assert.deepEqual(
      latest.map(({ t }: { t: number }) => t),
      [minute - 60, minute],
    )
    assert.equal(premium.headers.get('x-applied-to'), String(minute))
    refused(
      await get('/candlesticks', { ...BTC, limit: 5, from: start }),
      400,
      'INVALID_PARAM_VALUE',
      /limit/,
    )
    refused(
      await get('/candlesticks', { ...BTC, interval: '1m', from: start + 5, to: start + 4 }),
      400,
      'INVALID_PARAM_VALUE',
      /from.*after/,
    )
    refused(
      await get('/candlesticks', { ...BTC, interval: '1m', from: start - 2000 * 60, to: start }),
      400,
      'INVALID_PARAM_VALUE',
      /2000/,
    )
    for (const interval of [
      '10s',
      '30s',
      '5m',
      '15m',
      '30m',
      '1h',
      '2h',
      '4h',
      '6h',
      '8h',
      '12h',
      '1d',
      '7d',
      '1w',
      '30d',
    ]) {
      const rows = ok(await get('/candlesticks', { ...BTC, interval, limit: 40 }))
      assert.equal(
        rows.reduce((sum: number, { v }: { v: number }) => sum + v, 0),
        40,
        interval,
      )
    }
    refused(await get('/candlesticks', { ...BTC, interval: '1s' }), 400, 'INVALID_PARAM_VALUE')
  })
  test('days begin where the zone says, weeks on Monday, 7d at the epoch, 30d with the month', async () => {
    const day = 86_400
    const last = async (interval: string, timezone: string): Promise<number> =>
      ok(await get('/candlesticks', { ...BTC, interval, timezone, limit: 1 })).at(-1).t
    assert.equal((await last('1d', 'utc0')) % day, 0)
    assert.equal((await last('1d', 'utc8')) % day, 16 * 3_600)
    assert.equal((await last('7d', 'utc0')) % (7 * day), 0)
    assert.equal(new Date((await last('1w', 'utc0')) * 1000).getUTCDay(), 1)
    assert.equal(new Date((await last('30d', 'utc0')) * 1000).getUTCDate(), 1)
    assert.equal(new Date((await last('30d', 'utc8')) * 1000 + 8 * 3_600_000).getUTCDate(), 1)
  })

  test('mark and index have candles, funding is applied and listed, premiums too', async () => {
    const next = ok(await get('/contracts/BTC_USDT')).funding_next_apply
    await advance(next - platform.now() + 61)
    const rates = ok(await get('/funding_rate', BTC))
    assert.equal(rates[0].t, next)
    assert.match(rates[0].r, /^-?0(\.\d{1,6})?$/)
    assert.deepEqual(ok(await get('/funding_rate', { ...BTC, from: next + 1 })), [])
    const several = ok(
      await anybody.post('/futures/usdt/funding_rates', { contracts: ['eth_usdt', 'BTC_USDT'] }),
    )
    assert.deepEqual(
      several.map(({ contract, data }: { contract: string; data: { t: number }[] }) => [
        contract,
        data[0]!.t,
      ]),
      [
        ['ETH_USDT', next],
        ['BTC_USDT', next],
      ],
    )
    refused(
      await anybody.post('/futures/usdt/funding_rates', { contracts: ['BTC_USDT', 'NO_SUCH'] }),
      400,
      'CONTRACT_NOT_FOUND',
    )
    refused(await anybody.post('/futures/usdt/funding_rates', { contracts: [] }), 400, 'INVALID_PARAM_VALUE')
    for (const contract of ['mark_BTC_USDT', 'index_btc_usdt']) {
      const rows = ok(await get('/candlesticks', { contract, interval: '1m', limit: 3 }))
      assert.equal(rows.length, 3)
      assert.equal('v' in rows[0], false)
      assert.ok(Number(rows[0].c) > 59_000 && Number(rows[0].c) < 61_000)
    }
    const premiums = ok(await get('/premium_index', { ...BTC, interval: '1m', limit: 5 }))
    assert.equal(premiums.length, 5)
  })

  test('the insurance fund, the state of deleveraging, tiers, index and liquidations', async () => {
    const fund = ok(await get('/insurance'))
    assert.equal(fund[0].b, '1000000')
    const risk = ok(await get('/adl_risk_states'))
    assert.equal(risk.states.BTC_USDT.state, 'normal')
    assert.deepEqual(Object.keys(risk.states), ['BTC_USDT', 'ETH_USDT', 'SOL_USDT'])
    const tiers = ok(await get('/risk_limit_tiers', BTC))
    assert.deepEqual(tiers[1], {
      tier: 2,
      risk_limit: '1500000',
      initial_rate: '0.009009',
      maintenance_rate: '0.0045',
      leverage_max: '111',
      deduction: '500',
    })
    assert.deepEqual(
      tiers.map(({ deduction }: { deduction: string }) => deduction),
      ['0', '500', '1250', '5250', '6750', '19250', '119250', '719250'],
    )
    const all = ok(await get('/risk_limit_tiers', { limit: 1, offset: 2 }))
    assert.deepEqual(
      all.map(({ contract, tier }: { contract: string; tier: number }) => `${contract} ${tier}`),
      [1, 2, 3, 4, 5].map((tier) => `SOL_USDT ${tier}`),
    )
    assert.deepEqual(ok(await get('/risk_limit_table', { table_id: 'BTC_USDT_20260101' })), tiers)
    refused(await get('/risk_limit_table', { table_id: 'BTC_USDT' }), 400, 'INVALID_PARAM_VALUE', /table_id/)
    // Tiers that follow on the same day are another table, and dated contracts keep theirs.
    const path = '/contracts/futures/usdt/BTC_USDT'
    const { tiers: before } = await platform.operator.ok('GET', path)
    const names = ['BTC_USDT_20260101']
    for (const changed of [before.slice(1), before]) {
      const { risk_limit_table } = await platform.operator.ok('PATCH', path, { tiers: changed })
      const table = ok(await get('/risk_limit_table', { table_id: risk_limit_table }))
      assert.deepEqual(table, ok(await get('/risk_limit_tiers', BTC)))
      names.push(risk_limit_table)
    }
    assert.equal(new Set(names).size, 3)
    assert.deepEqual(ok(await get('/risk_limit_table', { table_id: names[0]! })), tiers)
    const index = ok(await get('/index_constituents/btc_usdt'))
    assert.deepEqual(index, {
      index: 'BTC_USDT',
      constituents: [{ exchange: 'operator', symbols: ['BTC_USDT'], price: '60000', weight: '1' }],
    })
    refused(await get('/index_constituents/XRP_USDT'), 404, 'CONTRACT_NOT_FOUND')
    const now = Math.floor(platform.now())
    assert.deepEqual(ok(await get('/liq_orders', { from: (now - 7200) * 1000 })), [])
    assert.deepEqual(ok(await get('/liq_orders', { ...BTC, to: now })), [])
    const applied = async (query: Record<string, number>) => {
      const { headers } = await get('/liq_orders', query)
      return [headers.get('x-applied-from'), headers.get('x-applied-to')].map(Number)
    }
    assert.deepEqual(await applied({ from: now - 7200 }), [now - 7200, now - 3600])
    assert.deepEqual(await applied({ to: now }), [now - 3600, now])
    const [since, until] = await applied({ to: now + 7200 })
    assert.ok(since! - now < -3500 && until === now + 7200)
    const [begin, end] = await applied({})
    assert.ok(end! - begin! === 3600 && end! - now < 60)
    refused(
      await get('/liq_orders', { from: now - 7200, to: now - 3599 }),
      400,
      'INVALID_PARAM_VALUE',
      /3600/,
    )
  })
  test('a liquidation is told to everybody, with the signs that clients count on', async () => {
    const risky = await ContractTrader.of(platform, '700')
    await maker.placed('ETH_USDT', -300, '3000')
    ok(
      await risky.client.request('POST', '/futures/usdt/positions/ETH_USDT/leverage', {
        query: { leverage: '20' },
      }),
    )
    await risky.placed('ETH_USDT', 300, '3000')
    await maker.placed('ETH_USDT', 100, '2855')
    await maker.placed('ETH_USDT', 200, '2851')
    await platform.operator.ok('PUT', '/prices', { ETH: '2860' })
    let rows: { size: number; order_size: number; fill_price: string; left: number }[] = []
    for (let i = 0; i < 50 && rows.length === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      rows = ok(await get('/liq_orders', { contract: 'ETH_USDT' }))
    }
    assert.equal(rows.length, 1)
    assert.equal(rows[0]!.size, 300)
    assert.ok(rows[0]!.order_size < 0)
    assert.equal(rows[0]!.left, 0)
    // As its owner sees it: at most 12 decimals.
    assert.equal(rows[0]!.fill_price, '2852.333333333333')
    const [own] = ok(await risky.client.get('/futures/usdt/liquidates'))
    assert.equal(own.fill_price, rows[0]!.fill_price)
    assert.deepEqual(ok(await get('/liq_orders', { contract: 'SOL_USDT' })), [])
    const history = ok(await get('/insurance', { limit: 5 }))
    // Its money since the first start, and what the liquidation left.
    assert.ok(Number(history[0].b) > 1_000_000, history[0].b)
    await advance(2 * 86_400)
    const days = ok(await get('/insurance', { limit: 2 }))
    assert.equal(days.length, 2)
    assert.equal(days[1].t % 86_400, 0)
    assert.equal(days[1].b, days[0].b)
    // In the second of midnight now is that day's line already.
    let lines: { t: number }[] = []
    for (let i = 0; i < 10 && (lines[0]?.t ?? 1) % 86_400 !== 0; i++) {
      await advance(86_400 - (Math.floor(platform.now()) % 86_400))
      lines = ok(await get('/insurance', { limit: 3 }))
    }
    const midnight = lines[0]!.t
    assert.deepEqual(
      lines.map(({ t }) => t),
      [midnight, midnight - 86_400, midnight - 2 * 86_400],
    )
    assert.equal(midnight % 86_400, 0)
  })

  test('all of it is the same after a restart', async () => {
    const to = Math.floor(platform.now())
    const hours = { interval: '1h', limit: 48, to: to - 3_600 }
    const look = async (): Promise<unknown[]> =>
      Promise.all([
        get('/trades', BTC).then(ok),
        get('/candlesticks', { ...BTC, ...hours }).then(ok),
        get('/candlesticks', { contract: 'mark_BTC_USDT', ...hours }).then(ok),
        get('/risk_limit_tiers').then(ok),
        get('/funding_rate', { ...BTC, to }).then(ok),
        get('/liq_orders', { from: to - 2 * 86_400 - 600 }).then(ok),
      ])
    const before = await look()
    platform = await platform.restart({ KONTOR_CLOCK: '' })
    anybody = platform.client()
    assert.deepEqual(await look(), before)
  })
  test('a span of time ends after it began', async () => {
    for (const path of ['/funding_rate', '/trades', '/liq_orders', '/candlesticks', '/premium_index']) {
      const backwards = { ...BTC, from: 20, to: 10 }
      refused(await get(path, backwards), 400, 'INVALID_PARAM_VALUE', /^from: 20 is after to, 10/)
    }
    const trader = await ContractTrader.of(platform, '1')
    for (const kind of ['trail', 'chase'])
      for (const is_finished of [true, false]) {
        const query = { sort_by: 1, is_finished, start_at: 20, end_at: 10 }
        const reply = await trader.client.get(`/futures/usdt/autoorder/v1/${kind}/list`, query)
        refused(reply, 400, 'INVALID_PARAM_VALUE', /^start_at: 20 is after end_at, 10/)
      }
  })
})
