import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

type Row = Readonly<Record<string, unknown>>
const idsOf = (rows: readonly Row[]): unknown[] => rows.map(({ id }) => id)

describe('history of contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  /** Seconds before anything happened. */
  let began: number
  const ids: number[] = []
  before(async () => {
    // Minutes from the next funding, which would be a part of what positions won.
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000610' })
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    began = Math.floor(platform.now())
    maker = await ContractTrader.of(platform, '100000')
    trader = await ContractTrader.of(platform, '100000')
    // Opens long, closes with a profit, turns short and closes with a loss; an order in another contract.
    const round = async (size: number, price: string, more: object = {}): Promise<void> => {
      await maker.placed(-size, price)
      ids.push((await trader.placed(size, price, { tif: 'ioc', ...more })).id)
      await platform.operator.ok('POST', '/clock', { advance_seconds: 10 })
    }
    await round(10, '60000', { text: 't-open' })
    await round(-10, '60300', { text: 't-close' })
    await round(-4, '60100')
    await round(4, '60200')
    ids.push((await trader.placed(1, '2900', { contract: 'ETH_USDT', text: 't-eth' })).id)
  })
  after(() => platform.stop())

  test('finished orders, newest first, in pages and after an id', async () => {
    const reply = await trader.get('/orders', { status: 'finished', contract: 'btc_usdt' })
    const finished = ids.slice(0, 4).reverse()
    assert.deepEqual(idsOf(ok(reply)), finished)
    assert.equal(reply.headers.get('x-pagination-total'), '4')
    assert.deepEqual(ok(await trader.get('/orders', { status: 'finished' })), ok(reply))
    const page = await trader.get('/orders', { status: 'finished', limit: 2, offset: 1 })
    assert.deepEqual(idsOf(ok(page)), finished.slice(1, 3))
    assert.equal(page.headers.get('x-pagination-offset'), '1')
    const rest = await trader.get('/orders', { status: 'finished', last_id: finished[1]! })
    assert.deepEqual(idsOf(ok(rest)), finished.slice(2))
    assert.deepEqual(ok(await trader.get('/orders', { status: 'finished', contract: 'ETH_USDT' })), [])
    assert.deepEqual(idsOf(ok(await trader.get('/orders', { status: 'open' }))), ids.slice(4))
    refused(await trader.get('/orders'), 400, 'MISSING_REQUIRED_PARAM', /status/)
    refused(await trader.get('/orders', { status: 'open', contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await trader.get('/orders', { status: 'open', limit: 1001 }), 400, 'INVALID_PARAM_VALUE', /limit/)
  })

  test('orders by the time they were placed, open ones too, with times as texts', async () => {
    const rows = ok(await trader.get('/orders_timerange', { from: began }))
    assert.deepEqual(idsOf(rows), [...ids].reverse())
    const [open, ended] = rows
    assert.equal(`${open.status} ${open.finish_time}`, 'open undefined')
    assert.equal(typeof open.update_time, 'string')
    assert.match(ended.finish_time, /^\d{10}(\.\d{1,3})?$/)
    const first = Math.floor(rows.at(-1).create_time)
    assert.deepEqual(idsOf(ok(await trader.get('/orders_timerange', { to: first }))), ids.slice(0, 1))
    // Thirteen digits are milliseconds.
    const late = { from: (first + 5) * 1000, contract: 'BTC_USDT' }
    assert.deepEqual(idsOf(ok(await trader.get('/orders_timerange', late))), ids.slice(1, 4).reverse())
    refused(await trader.get('/orders_timerange', { from: 2, to: 1 }), 400, 'INVALID_PARAM_VALUE', /from: 2/)
  })

  test('trades of an account, by order, role and time', async () => {
    const reply = await trader.get('/my_trades', { contract: 'BTC_USDT' })
    const trades = ok(reply)
    assert.deepEqual(
      trades.map((row: Row) => `${String(row['size'])} ${String(row['close_size'])} ${String(row['price'])}`),
      ['4 4 60200', '-4 0 60100', '-10 -10 60300', '10 0 60000'],
    )
    const first = trades.at(-1)
    assert.equal(`${first.role} ${first.text} ${first.order_id}`, `taker t-open ${ids[0]}`)
    // 10 x 0.0001 x 60000, and 0.05 % of it.
    assert.equal(`${first.trade_value} ${first.fee} ${first.point_fee}`, '60 0.03 0')
    assert.equal(reply.headers.get('x-pagination-total'), '4')
    const after = ok(await trader.get('/my_trades', { last_id: trades[2].id }))
    assert.deepEqual(idsOf(after), [first.id])
    const order_id = ids[1]!
    for (const [path, query] of [
      ['/my_trades', { order: order_id }],
      ['/my_trades_timerange', { order_id, contract: 'BTC_USDT' }],
    ] as const) {
      const [one, ...others] = ok(await trader.get(path, query))
      assert.equal(`${one.order_id} ${others.length}`, `${order_id} 0`)
    }
    const [theirs] = ok(
      await maker.get('/my_trades_timerange', { role: 'maker', to: Math.floor(first.create_time) }),
    )
    assert.equal(`${theirs.trade_id} ${theirs.fee}`, `${first.id} 0.012`)
    assert.equal(theirs.trade_value ?? theirs.id, undefined)
    assert.deepEqual(ok(await maker.get('/my_trades_timerange', { role: 'taker' })), [])
  })

  test('positions that ended: what they won or lost', async () => {
    const [loss, win] = ok(await trader.get('/position_close'))
    assert.equal(`${win.side} ${win.pnl_pnl} ${win.text} ${win.max_size}`, 'long 0.3 t-close 10')
    assert.equal(`${win.long_price} ${win.short_price} ${win.accum_size}`, '60000 60300 10')
    // 0.03 to open, 60.3 x 0.0005 to close.
    assert.equal(`${win.pnl_fee} ${win.pnl}`, '-0.06015 0.23985')
    assert.equal(`${loss.side} ${loss.pnl_pnl} ${loss.short_price}`, 'short -0.04 60100')
    assert.ok(win.first_open_time >= began && win.time > win.first_open_time)
    const count = async (query: Record<string, string>): Promise<number> =>
      ok(await trader.get('/position_close', query)).length
    assert.equal(await count({ side: 'long' }), 1)
    assert.equal(await count({ pnl: 'loss' }), 1)
    assert.equal(await count({ pnl: 'profit', side: 'short' }), 0)
    assert.equal(await count({ contract: 'ETH_USDT' }), 0)
    const { history_pnl, last_close_pnl, size } = await trader.position()
    assert.equal(size, 0)
    assert.equal(last_close_pnl, loss.pnl)
    assert.equal(Number(history_pnl).toFixed(8), (Number(win.pnl) + Number(loss.pnl)).toFixed(8))
  })

  test('the account book adds up, type by type', async () => {
    const lines = ok(await trader.get('/account_book'))
    const { history, total } = await trader.account()
    const sums: Record<string, number> = {}
    for (const { type, change } of lines) sums[type] = (sums[type] ?? 0) + Number(change)
    for (const type of ['dnw', 'pnl', 'fee'])
      assert.equal(sums[type]!.toFixed(8), Number(history[type]).toFixed(8), type)
    assert.equal(lines[0].balance, total)
    const pnl = ok(await trader.get('/account_book', { type: 'pnl', contract: 'BTC_USDT' }))
    assert.deepEqual(
      pnl.map(({ change, text }: Row) => `${String(change)} ${String(text)}`),
      [`-0.04 BTC_USDT:${ids[3]}`, `0.3 BTC_USDT:${ids[1]}`],
    )
    assert.match(pnl[0].trade_id, /^\d+$/)
    const page = await trader.get('/account_book', { limit: 1, offset: 1 })
    assert.deepEqual(ok(page), lines.slice(1, 2))
    assert.equal(page.headers.get('x-pagination-total'), String(lines.length))
    assert.deepEqual(ok(await trader.get('/account_book', { to: began - 10 })), [])
    refused(await trader.get('/account_book', { type: 'gift' }), 400, 'INVALID_PARAM_VALUE', /type/)
  })

  test('a restart loses nothing of it', async () => {
    const seen = async (): Promise<unknown[]> =>
      Promise.all(
        [
          '/positions',
          '/accounts',
          '/orders?status=finished',
          '/orders?status=open',
          '/my_trades',
          '/position_close',
          '/account_book',
          '/positions_timerange?contract=BTC_USDT',
        ].map(async (path) => {
          const [name, query = ''] = path.split('?') as [string, string?]
          const body: unknown = ok(await trader.client.request('GET', trader.base + name, { query }))
          // The mark price moves with the clock.
          return name === '/positions' ? (body as Row[]).map((row) => ({ ...row, mark_price: '' })) : body
        }),
      )
    const before = await seen()
    platform = await platform.restart()
    trader = new ContractTrader(trader.user_id, platform.client(trader.client.credential))
    maker = new ContractTrader(maker.user_id, platform.client(maker.client.credential))
    assert.deepEqual(await seen(), before)
    assert.equal((await trader.order('t-open')).id, ids[0])
    assert.equal(ok(await trader.delete(`/orders/${ids[4]}`)).finish_as, 'cancelled')
  })
})

describe('a contract that the configuration has no more', () => {
  test('its history is read as far as it can be told, and what can not is not found', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-gone-'))
    let platform = await TestPlatform.start()
    await setIndex(platform, { SOL: '150' })
    const sol = { contract: 'SOL_USDT' }
    const maker = await ContractTrader.of(platform, '10000')
    let trader = await ContractTrader.of(platform, '10000')
    await maker.placed(-2, '150', sol)
    const { id } = await trader.placed(2, '150', sol)
    await maker.placed(2, '150', sol)
    await trader.placed(-2, '150', sol)
    assert.equal(ok(await trader.get('/positions_timerange', sol)).length, 2)
    const KONTOR_CONFIG = join(folder, 'world.json')
    const contracts = BUILT_IN_WORLD.contracts!.filter(({ underlying }) => underlying !== 'SOL_USDT')
    writeFileSync(KONTOR_CONFIG, JSON.stringify({ contracts }))
    platform = await platform.restart({ KONTOR_CONFIG })
    trader = new ContractTrader(trader.user_id, platform.client(trader.client.credential))
    assert.equal((await trader.order(id)).finish_as, 'filled')
    for (const path of ['/my_trades', '/position_close', '/account_book', '/orders_timerange'])
      assert.ok(ok(await trader.get(path, sol)).length > 0, path)
    // Its tiers and its multiplier are nowhere any more.
    refused(await trader.get('/positions_timerange', sol), 400, 'CONTRACT_NOT_FOUND', /SOL_USDT/)
    refused(await trader.get('/positions/SOL_USDT'), 404, 'CONTRACT_NOT_FOUND', /SOL_USDT/)
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('liquidation over the wire', () => {
  test('who is liquidated finds it in his records', async () => {
    const platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000' })
    const maker = await ContractTrader.of(platform, '100000')
    const trader = await ContractTrader.of(platform, '700')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 10 }))
    await maker.placed(-1000, '60000')
    await trader.placed(1000, null)
    await maker.placed(400, '54050')
    await setIndex(platform, { BTC: '54000' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 120 })
    const position = await trader.position()
    assert.equal(position.size, 0)
    const [row] = ok(await trader.get('/liquidates'))
    assert.equal(`${row.contract} ${row.size} ${row.leverage} ${row.entry_price}`, 'BTC_USDT 1000 10 60000')
    assert.equal(`${row.margin} ${row.fill_price} ${row.left}`, '603 54050 600')
    const [order] = ok(await trader.get('/orders', { status: 'finished', limit: 1 }))
    assert.equal(order.id, row.order_id)
    assert.match(order.text, /^liq-\d+$/)
    assert.equal(order.is_liq, true)
    assert.deepEqual(ok(await trader.get('/liquidates', { contract: 'ETH_USDT' })), [])
    assert.deepEqual(ok(await trader.get('/liquidates', { at: row.time })), [row])
    assert.deepEqual(ok(await trader.get('/liquidates', { at: row.time - 60 })), [])
    // As the samples of the official clients send it: no moment at all.
    assert.deepEqual(ok(await trader.get('/liquidates', { contract: 'BTC_USDT', limit: 100, at: 0 })), [row])
    assert.deepEqual(ok(await trader.get('/auto_deleverages')), [])
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
    await platform.stop()
  })
})
