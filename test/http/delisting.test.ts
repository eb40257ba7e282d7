import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { PLAIN } from '../../src/core/spot/place.ts'
import type { WorldConfig } from '../../src/core/tables/world/config.ts'
import { ok, refused } from '../support/client.ts'
import { LivePlatform } from '../support/live.ts'
import { SECRET_KEY, TestPlatform } from '../support/platform.ts'
import { kontor } from '../support/process.ts'
import { Trader } from '../support/spot.ts'

const PAIR = 'DOGE_USDT'
const IN_DOGE = { currency_pair: PAIR }

describe('a halted market', () => {
  let platform: TestPlatform
  before(async () => (platform = await TestPlatform.start()))
  after(() => platform.stop())
  const operate = (verb: string, path = PAIR) => platform.operator.ok('POST', `/markets/${path}/${verb}`, {})

  test('takes no orders and matches nothing; cancels pass; stops and POV orders wait for it', async () => {
    const maker = await Trader.of(platform, { USDT: '10000', DOGE: '10000' })
    const other = await Trader.of(platform, { USDT: '10000', DOGE: '10000' })
    await maker.placed('sell', '100', '0.2', IN_DOGE)
    await other.placed('buy', '100', '0.2', IN_DOGE)
    const resting = await maker.placed('buy', '100', '0.1', IN_DOGE)
    const stays = await maker.placed('buy', '100', '0.11', IN_DOGE)
    const pov = ok(
      await other.client.post('/spot/pov_orders', {
        currency_pair: PAIR,
        side: 'sell',
        amount: '1000',
        participation_rate: '0.5',
        ttl: '3600',
        limit_price: '0.05',
      }),
      201,
    )
    assert.deepEqual(await operate('halt', 'doge_usdt'), {
      currency_pair: PAIR,
      status: 'halted',
      trade_status: 'untradable',
      halted: true,
      in_the_way: (await platform.operator.ok('GET', `/markets/${PAIR}/delisting`)).in_the_way,
    })
    const shown = ok(await platform.client().get(`/spot/currency_pairs/${PAIR}`))
    assert.equal(shown.trade_status, 'untradable')
    assert.equal(shown.status, undefined)
    for (const [side, price] of [
      ['buy', '0.1'],
      ['sell', '0.11'],
    ] as const)
      refused(await other.place(side, '100', price, IN_DOGE), 400, 'TRADE_RESTRICTED')
    refused(
      await other.client.post('/spot/price_orders', {
        trigger: { price: '0.1', rule: '<=', expiration: 3600 },
        put: {
          type: 'limit',
          side: 'sell',
          price: '0.1',
          amount: '100',
          account: 'normal',
          time_in_force: 'gtc',
        },
        market: PAIR,
      }),
      400,
      'TRADE_RESTRICTED',
      /halted/,
    )
    refused(
      await maker.client.patch(`/spot/orders/${stays.id}`, { ...IN_DOGE, price: '0.12' }),
      400,
      'TRADE_RESTRICTED',
    )
    // An operator can't open it by the side door, and cancels pass.
    await platform.operator.ok('PATCH', `/markets/${PAIR}`, { trade_status: 'tradable' })
    refused(await other.place('sell', '100', '0.11', IN_DOGE), 400, 'TRADE_RESTRICTED')
    ok(await maker.client.delete(`/spot/orders/${resting.id}`, IN_DOGE))
    await platform.operator.ok('POST', '/clock', { advance_seconds: 10 })
    const waiting = ok(await other.client.get(`/spot/pov_orders/${pov.id}`))
    assert.equal(waiting.status, 'open', 'it is not failed by a halt')
    platform = await platform.restart()
    refused(
      await new Trader(other.user_id, platform.client(other.client.credential)).place(
        'sell',
        '100',
        '0.11',
        IN_DOGE,
      ),
      400,
      'TRADE_RESTRICTED',
    )
    await operate('resume')
    const again = new Trader(other.user_id, platform.client(other.client.credential))
    const sold = await again.placed('sell', '100', '0.11', IN_DOGE)
    assert.equal(sold.status, 'closed')
  })

  test('all at once: shown in the status, kept over a restart, and each market keeps its own status', async () => {
    await operate('halt', 'ETH_USDT')
    assert.deepEqual(await platform.operator.ok('POST', '/markets/halt', { reason: 'the feed is mad' }), {
      halted: true,
    })
    platform = await platform.restart()
    const status = await platform.operator.ok('GET', '/status')
    assert.deepEqual(
      [status.halted.by, status.halted.reason, status.markets_halted.length],
      ['admin', 'the feed is mad', BUILT_IN_WORLD.markets.length],
    )
    const trader = await Trader.of(platform, { USDT: '10000' })
    refused(await trader.place('buy', '0.01', '20000'), 400, 'TRADE_RESTRICTED')
    // One market can't be let out of it.
    await operate('resume', 'BTC_USDT')
    refused(await trader.place('buy', '0.01', '20000'), 400, 'TRADE_RESTRICTED')
    await platform.operator.ok('POST', '/markets/resume', {})
    await trader.placed('buy', '0.01', '20000')
    refused(await trader.place('buy', '0.1', '2000', { currency_pair: 'ETH_USDT' }), 400, 'TRADE_RESTRICTED')
    assert.deepEqual((await platform.operator.ok('GET', '/status')).markets_halted, ['ETH_USDT'])
    await operate('resume', 'ETH_USDT')
    assert.equal((await platform.operator.ok('GET', '/status')).halted, null)
    const actions = (await platform.operator.ok('GET', '/audit?limit=1000')).map(
      ({ action }: { action: string }) => action,
    )
    for (const action of ['market.status', 'markets.halt', 'markets.resume'])
      assert.ok(actions.includes(action), action)
  })

  test('stops that the last price has reached fire when it goes on, and not before', async () => {
    const { core } = platform.platform.desk
    const IN_SOL = { currency_pair: 'SOL_USDT' }
    const trader = await Trader.of(platform, { USDT: '10000', SOL: '100' })
    const other = await Trader.of(platform, { USDT: '10000', SOL: '100' })
    await other.placed('buy', '1', '100', IN_SOL)
    await trader.placed('sell', '1', '100', IN_SOL)
    await other.placed('buy', '1', '80', IN_SOL)
    const stop = async (): Promise<string> =>
      ok(
        await trader.client.post('/spot/price_orders', {
          trigger: { price: '90', rule: '<=', expiration: 86400 },
          put: {
            type: 'limit',
            side: 'sell',
            price: '95',
            amount: '0.5',
            account: 'normal',
            time_in_force: 'gtc',
          },
          market: 'SOL_USDT',
        }),
        201,
      ).id as string
    const ids: string[] = []
    for (let i = 0; i < 55; i++) ids.push(await stop())
    const state = async (id: string): Promise<string> =>
      ok(await trader.client.get(`/spot/price_orders/${id}`)).status as string
    // One command fires fifty of them; the halt comes before the rest.
    const order = {
      ...PLAIN,
      ...IN_SOL,
      type: 'limit',
      side: 'sell',
      amount: '1',
      price: '80',
      time_in_force: 'gtc',
    } as const
    const halt = { currency_pair: 'SOL_USDT', status: 'halted', reason: '', actor: 'admin' } as const
    await Promise.all([
      core.submit('spot.place', { user_id: other.user_id, order }),
      core.submit('market.status', halt),
    ])
    await platform.operator.ok('POST', '/clock', { advance_seconds: 5 })
    assert.deepEqual(
      [await state(ids[49]!), await state(ids[50]!), await state(ids[54]!)],
      ['finish', 'open', 'open'],
    )
    await operate('resume', 'SOL_USDT')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.deepEqual([await state(ids[50]!), await state(ids[54]!)], ['finish', 'finish'])
  })
})

describe('delisting', () => {
  let platform: TestPlatform
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kontor-delist-'))
    platform = await TestPlatform.start()
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const file = (world: Partial<WorldConfig>): string => {
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(world))
    return path
  }
  const diff = (world: Partial<WorldConfig>) =>
    kontor(['config', 'diff', file(world), '--data', platform.data])
  const { markets } = BUILT_IN_WORLD

  test('a market, step by step: nothing waits there in the end, nobody loses anything, and the file may drop it', async () => {
    const rich = await Trader.of(platform, { USDT: '100000', DOGE: '100000' })
    const poor = await Trader.of(platform, { USDT: '1000', DOGE: '1000' })
    // An order with stops that is filled in part leaves them behind when it ends.
    const part = await rich.placed('buy', '1000', '0.1', {
      ...IN_DOGE,
      stop_profit: { trigger_price: '0.2', order_price: '0.2' },
    })
    await poor.placed('sell', '500', '0.1', IN_DOGE)
    for (let i = 0; i < 130; i++)
      await rich.placed('sell', '100', `0.3${String(i).padStart(3, '0')}`, IN_DOGE)
    const pov = ok(
      await poor.client.post('/spot/pov_orders', {
        currency_pair: PAIR,
        side: 'sell',
        amount: '100',
        participation_rate: '0.1',
        ttl: '3600',
        limit_price: '0.05',
      }),
      201,
    )
    ok(await rich.client.post('/spot/countdown_cancel_all', { timeout: 3600, currency_pair: PAIR }))
    await platform.credit(poor.user_id, 'USDT', '5', { account: 'margin', ...IN_DOGE })

    const early = await diff({ markets: markets.filter(({ id }) => id !== PAIR) })
    assert.equal(early.code, 1)
    assert.match(early.output, /BREAKS markets: DOGE_USDT is gone, but 132 orders wait there/)
    refused(
      await platform.operator.call('POST', `/markets/${PAIR}/remove`),
      400,
      'INVALID_PARAM_VALUE',
      /its status is trading.*and \d more/,
    )
    const gone = await platform.operator.ok('POST', `/markets/${PAIR}/delist`, { reason: 'volume' })
    assert.deepEqual([gone.status, gone.trade_status, gone.in_the_way], ['delisting', 'untradable', []])
    assert.equal(await rich.money('DOGE'), '100499/0')
    assert.equal((await rich.order(part.id as string, PAIR)).finish_as, 'cancelled')
    assert.equal(ok(await poor.client.get(`/spot/pov_orders/${pov.id}`)).terminated_as, 'cancelled')
    const stops = ok(await rich.client.get('/spot/price_orders', { status: 'finished', market: PAIR }))
    assert.deepEqual(
      stops.map(({ status, reason }: Record<string, string>) => [status, reason]),
      [['cancelled', 'its market is being delisted']],
    )
    // Money in a margin account without a loan is its owner's, and is where he can use it.
    assert.equal(await platform.balance(poor.user_id, 'USDT', `margin:${PAIR}`), '0')
    refused(
      await poor.client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'margin',
        amount: '1',
        currency_pair: PAIR,
      }),
      400,
      'TRADE_RESTRICTED',
      /being delisted/,
    )
    refused(await poor.place('sell', '100', '0.1', IN_DOGE), 400, 'TRADE_RESTRICTED')

    const later = await diff({ markets: markets.filter(({ id }) => id !== PAIR) })
    assert.deepEqual([later.code, later.output.endsWith('nothing breaks\n')], [0, true], later.output)
    const late = { timeout: 5, currency_pair: PAIR }
    ok(await rich.client.post('/spot/countdown_cancel_all', late))
    assert.equal((await platform.operator.ok('POST', `/markets/${PAIR}/remove`)).status, 'gone')
    // It strikes where nothing is any more, and nothing of it stays.
    await platform.operator.ok('POST', '/clock', { advance_seconds: 6 })
    const countdowns = await platform.platform.desk.core.read(({ spot }) => spot.countdowns.table.size)
    assert.equal(countdowns, 0)
    const pairs = ok(await platform.client().get('/spot/currency_pairs'))
    assert.ok(!pairs.some(({ id }: { id: string }) => id === PAIR))
    refused(await poor.place('sell', '100', '0.1', IN_DOGE), 400, 'INVALID_CURRENCY_PAIR')
    // What happened there can be read for ever.
    assert.equal((await rich.order(part.id as string, PAIR)).id, part.id)
    const trades = ok(await rich.client.get('/spot/my_trades', IN_DOGE))
    assert.equal(trades.length, 1)
    platform = await platform.restart()
    refused(await platform.client().get('/spot/order_book', IN_DOGE), 400, 'INVALID_CURRENCY_PAIR')
    // A file without the row is taken in; one that has it again lists it afresh.
    platform = await platform.restart({
      KONTOR_CONFIG: file({ markets: markets.filter(({ id }) => id !== PAIR) }),
    })
    platform = await platform.restart({ KONTOR_CONFIG: file({ markets }) })
    assert.equal((await platform.operator.ok('GET', `/markets/${PAIR}`)).trade_status, 'tradable')
  })

  test('by the file alone: halted, delisting, without the row', async () => {
    const as = (status: string): Partial<WorldConfig> => ({
      markets: markets.map((market) => (market.id === 'XRP_USDT' ? { ...market, status } : market)) as never,
    })
    const trader = await Trader.of(platform, { XRP: '1000' })
    const IN_XRP = { currency_pair: 'XRP_USDT' }
    await trader.placed('sell', '100', '5', IN_XRP)
    const { output } = await diff(as('halted'))
    assert.match(output, /markets\.XRP_USDT\.status: nothing → "halted"/)
    assert.match(
      (await diff(as('stopped'))).errors,
      /markets\[\d\]\.status must be one of trading, halted, delisting/,
    )
    platform = await platform.restart({ KONTOR_CONFIG: file(as('halted')) })
    const mine = (): Trader => new Trader(trader.user_id, platform.client(trader.client.credential))
    refused(await mine().place('sell', '100', '5', IN_XRP), 400, 'TRADE_RESTRICTED')
    assert.equal(await mine().money('XRP'), '900/100')
    platform = await platform.restart({ KONTOR_CONFIG: file(as('delisting')) })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.equal(await mine().money('XRP'), '1000/0')
    platform = await platform.restart({
      KONTOR_CONFIG: file({ markets: markets.filter(({ id }) => id !== 'XRP_USDT') }),
    })
    refused(await mine().place('sell', '100', '5', IN_XRP), 400, 'INVALID_CURRENCY_PAIR')
    platform = await platform.restart({ KONTOR_CONFIG: file({}) })
  })

  test('the margin account of a market that is gone is listed, and what was in it can be read', async () => {
    const main = await platform.user()
    const sub = await Trader.of(platform, { DOGE: '1000' }, { parent: main.user_id })
    const move = { currency: 'DOGE', currency_pair: 'DOGE_USDT', from: 'spot', to: 'margin', amount: '1000' }
    ok(await sub.client.post('/wallet/transfers', move))
    const loan = { currency: 'DOGE', currency_pair: 'DOGE_USDT', type: 'borrow', amount: '100' }
    ok(await sub.client.post('/margin/uni/loans', loan), 204)
    ok(await sub.client.post('/margin/uni/loans', { ...loan, type: 'repay' }), 204)
    await platform.operator.ok('POST', '/markets/DOGE_USDT/delist', {})
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    platform = await platform.restart({
      KONTOR_CONFIG: file({ markets: markets.filter(({ id }) => id !== 'DOGE_USDT') }),
    })
    const client = platform.client(sub.client.credential)
    const none = { available: '0', locked: '0', borrowed: '0', interest: '0' }
    const shown = {
      currency_pair: 'DOGE_USDT',
      account_type: 'inactive',
      leverage: '1',
      locked: false,
      risk: '0',
      mmr: '0',
      base: { currency: 'DOGE', ...none },
      quote: { currency: 'USDT', ...none },
    }
    assert.deepEqual(ok(await client.get('/margin/accounts')), [shown])
    const IN_DOGE = { currency_pair: 'doge_usdt' }
    assert.deepEqual(ok(await client.get('/margin/accounts', IN_DOGE)), [shown])
    const [{ available }] = ok(
      await platform.client(main.client.credential).get('/wallet/sub_account_margin_balances'),
    )
    assert.deepEqual(available, [shown])
    const lines = ok(await client.get('/margin/account_book', IN_DOGE))
    assert.deepEqual(
      lines.map(({ type, balance }: { type: string; balance: string }) => `${type} ${balance}`),
      ['margin_out 0', 'repay 1000', 'borrow 1100', 'margin_in 1000'],
    )
    assert.deepEqual(ok(await client.get('/margin/account_book')), lines)
    assert.equal(ok(await client.get('/margin/uni/loan_records', IN_DOGE)).length, 2)
    assert.deepEqual(ok(await client.get('/margin/uni/loans', IN_DOGE)), [])
    // To whoever had nothing there it is no market.
    refused(
      await platform.client(main.client.credential).get('/margin/accounts', IN_DOGE),
      400,
      'INVALID_CURRENCY_PAIR',
    )
    platform = await platform.restart({ KONTOR_CONFIG: file({}) })
  })

  test('a stop in the middle of the portions: the next start goes on, and a resumed market is left alone', async () => {
    const { core } = platform.platform.desk
    const trader = await Trader.of(platform, { SOL: '1000' })
    const IN_SOL = { currency_pair: 'SOL_USDT' }
    for (let i = 0; i < 250; i++) await trader.placed('sell', '1', String(200 + i), IN_SOL)
    const input = { currency_pair: 'SOL_USDT', status: 'delisting', reason: '', actor: 'admin' } as const
    const both = core.submit('market.status', input)
    const [item] = [...core.state.due.table.values()].filter(
      ({ command }) => command === 'market.cancel_rest',
    )
    await Promise.all([both, core.submit('due.run', { id: item!.id })])
    platform = await platform.restart()
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    const mine = new Trader(trader.user_id, platform.client(trader.client.credential))
    assert.equal(await mine.money('SOL'), '1000/0')
    await platform.operator.ok('POST', '/markets/SOL_USDT/resume', {})
    const order = await mine.placed('sell', '1', '200', IN_SOL)
    await platform.platform.desk.core.submit('market.cancel_rest', { currency_pair: 'SOL_USDT', after: 0 })
    assert.equal((await mine.order(order.id as string, 'SOL_USDT')).status, 'open')
    ok(await mine.client.delete(`/spot/orders/${order.id}`, IN_SOL))
  })

  test('a currency: withdraw-only when its markets are delisted; late deposits wait for a person', async () => {
    const holder = await Trader.of(platform, { USDC: '1000' })
    const call = (verb: string, body: object | undefined = {}) =>
      platform.operator.call('POST', `/currencies/USDC/${verb}`, body)
    refused(await call('delist'), 400, 'INVALID_PARAM_VALUE', /USDC_USDT is not delisted; POST/)
    refused(
      await platform.operator.call('POST', '/currencies/USDT/delist', {}),
      400,
      'INVALID_PARAM_VALUE',
      /USDT/,
    )
    await platform.operator.ok('POST', '/markets/USDC_USDT/delist', {})
    ok(await call('delist'))
    refused(
      await platform.operator.call('POST', '/markets/USDC_USDT/resume', {}),
      400,
      'TRADE_RESTRICTED',
      /withdraw_only/,
    )
    const shown = async () => ok(await platform.client().get('/spot/currencies/USDC'))
    const { delisted, trade_disabled, deposit_disabled, withdraw_disabled } = await shown()
    assert.deepEqual(
      [delisted, trade_disabled, deposit_disabled, withdraw_disabled],
      [true, true, true, false],
    )
    // A switch does not open it.
    await platform.operator.ok('PATCH', '/currencies/USDC', { deposit_enabled: true })
    assert.equal((await shown()).deposit_disabled, true)
    await platform.operator.ok('POST', '/chains/SOL/deposits', {
      user_id: holder.user_id,
      currency: 'USDC',
      amount: '50',
    })
    await platform.operator.ok('POST', '/chains/SOL/mine', { blocks: 200 })
    const [late] = await platform.operator.ok('GET', `/deposits?user_id=${holder.user_id}`)
    assert.equal(late.status, 'REVIEW')
    assert.equal(await holder.money('USDC'), '1000/0')
    refused(await call('remove', undefined), 400, 'INVALID_PARAM_VALUE', /can't go yet/)
    // Released it is its owner's, who may only take it away.
    await platform.operator.ok('POST', `/deposits/${late.id}/release`, {})
    assert.equal(await holder.money('USDC'), '1050/0')
    refused(
      await holder.client.post('/wallet/transfers', {
        currency: 'USDC',
        from: 'spot',
        to: 'margin',
        amount: '1',
        currency_pair: 'USDC_USDT',
      }),
      400,
      'TRADE_RESTRICTED',
      /being delisted/,
    )
    await platform.operator.ok('POST', '/markets/USDC_USDT/remove')
    const way = async (): Promise<string> =>
      (await platform.operator.ok('GET', '/currencies/USDC/delisting')).in_the_way.join('\n')
    assert.match(await way(), /currencies: USDC is gone, but user \d+ holds [\d.]+ USDC in spot/)
    // A chain's own coin outlives the chain in the file.
    assert.match(
      (await platform.operator.ok('GET', '/currencies/XRP/delisting')).in_the_way.join('\n'),
      /chains\[\d\]\.native names XRP, .*; that goes first: .* by a file without it/,
    )
    const asFile = {
      currencies: BUILT_IN_WORLD.currencies.map((row) =>
        row.currency === 'USDC' ? { ...row, status: 'withdraw_only' as const } : row,
      ),
    }
    assert.match(
      (await diff(asFile)).errors,
      /currencies\[\d\]\.status is withdraw_only, but USDC_USDT is not delisted/,
    )
    ok(await call('relist'))
    assert.equal((await shown()).delisted, false)
    await platform.operator.ok('POST', '/markets/USDC_USDT/resume', {})
    await holder.placed('sell', '10', '1.01', { currency_pair: 'USDC_USDT' })
  })

  test('what leaves carries no new loan: nobody borrows against it, nor repays other debts with it', async () => {
    const { user_id, client } = await platform.user()
    await platform.credit(user_id, 'USDC', '10000')
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const most = async (): Promise<number> =>
      Number(ok(await client.get('/unified/borrowable', { currency: 'BTC' })).amount)
    assert.ok((await most()) > 0)
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '100' }))
    await platform.operator.ok('POST', '/markets/USDC_USDT/delist', {})
    await platform.operator.ok('POST', '/currencies/USDC/delist', {})
    assert.equal(await most(), 0)
    refused(
      await client.post('/unified/loans', { currency: 'USDC', type: 'borrow', amount: '100' }),
      400,
      'INVALID_CURRENCY',
    )
    refused(
      await client.post('/unified/quick_repayment', {
        debt_currencies: ['USDT'],
        available_currencies: ['USDC'],
      }),
      400,
      'TRADE_RESTRICTED',
      /being delisted/,
    )
    // What it carried it goes on to carry: nobody is liquidated by a delisting.
    const account = ok(await client.get('/unified/accounts'))
    assert.notEqual(account.risk_level, 'locked')
    assert.deepEqual(await platform.operator.ok('GET', `/users/${user_id}/liquidations`), [])
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'repay', amount: '50' }))
    await platform.operator.ok('POST', '/currencies/USDC/relist', {})
    await platform.operator.ok('POST', '/markets/USDC_USDT/resume', {})
  })

  test('what is owed of a currency that leaves goes on costing interest, of nothing more that is lent', async () => {
    const { client } = await Trader.of(platform, { BTC: '1' })
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const loan = { currency: 'USDC', type: 'borrow', amount: '10000' }
    ok(await client.post('/unified/loans', loan))
    await platform.operator.ok('POST', '/markets/USDC_USDT/delist', {})
    await platform.operator.ok('POST', '/currencies/USDC/delist', {})
    refused(await client.post('/unified/loans', loan), 400, 'INVALID_CURRENCY')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 7200 })
    const records = ok(await client.get('/unified/interest_records', { currency: 'USDC' }))
    assert.equal(records.length, 2)
    const [{ rate }] = ok(
      await platform.client().get('/unified/history_loan_rate', { currency: 'USDC' }),
    ).rates
    assert.equal(records[0].actual_rate, rate)
    assert.equal(records[1].interest, String(10000 * Number(records[1].actual_rate)))
    assert.equal(ok(await client.get('/unified/estimate_rate', { currencies: 'USDC' })).USDC, '')
    const pools = await platform.operator.ok('GET', '/lending')
    const pool = pools.find(({ currency }: { currency: string }) => currency === 'USDC')
    assert.equal(pool.hourly_rate, rate)
    ok(await client.post('/unified/loans', { ...loan, type: 'repay', amount: '1' }))
    await platform.operator.ok('POST', '/currencies/USDC/relist', {})
    await platform.operator.ok('POST', '/markets/USDC_USDT/resume', {})
  })
})

describe('a currency that is gone', () => {
  let platform: TestPlatform
  const folder = mkdtempSync(join(tmpdir(), 'kontor-gone-'))
  before(async () => {
    // One that nobody holds at the first start.
    const { currencies, markets, unified } = BUILT_IN_WORLD
    const like = <T extends object>(rows: readonly T[], is: (row: T) => boolean, change: Partial<T>): T[] => [
      ...rows,
      { ...rows.find(is)!, ...change },
    ]
    const world: Partial<WorldConfig> = {
      currencies: like(currencies, ({ currency }) => currency === 'PEPU', {
        currency: 'ZZZ',
        index_price: '1',
      }),
      markets: like(markets, ({ id }) => id === 'USDC_USDT', { id: 'ZZZ_USDT', base: 'ZZZ' }),
      unified: {
        ...unified,
        currencies: like(unified.currencies, ({ currency }) => currency === 'USDC', { currency: 'ZZZ' }),
      },
    }
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(world))
    platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  test('keeps its history: what happened in it is found by its name', async () => {
    const { user_id, client } = await platform.user()
    await platform.credit(user_id, 'USDT', '1000')
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const loan = { currency: 'ZZZ', amount: '100' }
    ok(await client.post('/unified/loans', { ...loan, type: 'borrow' }))
    const move = { currency: 'ZZZ', currency_pair: 'ZZZ_USDT', amount: '10' }
    ok(await client.post('/wallet/transfers', { ...move, from: 'spot', to: 'margin' }))
    ok(await client.post('/wallet/transfers', { ...move, from: 'margin', to: 'spot' }))
    ok(await client.post('/unified/loans', { ...loan, type: 'repay' }))
    for (const path of ['/markets/ZZZ_USDT/delist', '/currencies/ZZZ/delist'])
      await platform.operator.ok('POST', path, {})
    for (const path of ['/markets/ZZZ_USDT/remove', '/currencies/ZZZ/remove'])
      await platform.operator.ok('POST', path)
    platform = await platform.restart()
    const again = platform.client(client.credential)
    const kinds = async (path: string, more: Record<string, string> = {}) =>
      ok(await again.get(path, { currency: 'zzz', ...more })).map(({ type }: { type: string }) => type)
    assert.deepEqual(await kinds('/spot/account_book'), ['repay', 'margin_out', 'margin_in', 'borrow'])
    assert.equal((await kinds('/margin/account_book', { currency_pair: 'ZZZ_USDT' })).length, 2)
    assert.deepEqual(await kinds('/unified/loan_records'), ['repay', 'borrow'])
    for (const path of [
      '/wallet/deposits',
      '/wallet/withdrawals',
      '/wallet/small_balance_history',
      '/unified/interest_records',
      '/unified/loans',
      '/margin/cross/interest_records',
    ])
      assert.deepEqual(await kinds(path), [], path)
    assert.equal((await kinds('/margin/cross/repayments')).length, 1)
    // One that has never been is none, and nothing new is done in one that is gone.
    refused(await again.get('/spot/account_book', { currency: 'NOPE' }), 400, 'INVALID_CURRENCY')
    refused(await again.get('/unified/borrowable', { currency: 'ZZZ' }), 400, 'INVALID_CURRENCY')
  })
})

describe('a liquidation whose market is halted', () => {
  let platform: TestPlatform
  before(async () => (platform = await TestPlatform.start()))
  after(() => platform.stop())
  test('does not wait for it: the insurance fund takes over at the index less the bound', async () => {
    const { user_id, client } = await platform.user()
    await platform.credit(user_id, 'ETH', '10')
    await platform.operator.ok('PUT', '/prices', { ETH: '3000' })
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '15000' }))
    const out = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '15000' }
    ok(await client.post('/wallet/transfers', out))
    await platform.operator.ok('POST', '/markets/halt', {})
    await platform.operator.ok('PUT', '/prices', { ETH: '1560' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    const steps = (await platform.operator.ok('GET', `/users/${user_id}/liquidations`)) as { step: string }[]
    const names = steps.map(({ step }) => step)
    assert.ok(
      names.includes('taken_over') && names.includes('unlocked') && !names.includes('sold'),
      names.join(),
    )
    assert.ok((await platform.operator.ok('GET', '/ledger/proof')).balanced)
  })
})

describe('halts and delisting in live mode', () => {
  let live: LivePlatform
  before(async () => (live = await LivePlatform.start()))
  after(() => live.stop())
  test('one stops a market; that it goes on, or ends, takes two', async () => {
    const duty = await live.operator('duty')
    const other = await live.operator('other')
    await duty.ok('POST', '/markets/USDC_USDT/halt', { reason: 'odd prices' })
    await duty.ok('POST', '/markets/halt', {})
    const asked = await duty.call('POST', '/markets/USDC_USDT/resume', {})
    assert.equal(asked.status, 202, asked.text)
    refused(await duty.call('POST', `/proposals/${asked.body.proposal.id}/confirm`), 403, 'FORBIDDEN')
    await live.confirm(asked, other)
    await live.confirm(await duty.call('POST', '/markets/resume', {}), other)
    assert.deepEqual((await live.admin.ok('GET', '/status')).markets_halted, [])
    refused(await duty.call('POST', '/markets/USDC_USDT/delist', {}), 403, 'FORBIDDEN')
    await live.both('POST', '/markets/USDC_USDT/delist', {})
    assert.equal((await live.admin.ok('GET', '/markets/USDC_USDT/delisting')).status, 'delisting')
    await live.both('POST', '/currencies/USDC/delist', {})
    await live.both('POST', '/markets/USDC_USDT/remove')
    await live.both('POST', '/currencies/USDC/remove')
    const known = ok(await live.platform.client().get('/spot/currencies')) as { currency: string }[]
    assert.ok(!known.some(({ currency }) => currency === 'USDC'))
    // A payment that comes after the end must not stop its chain: it is not booked.
    const { core } = live.platform.platform.desk
    const { user_id } = await live.platform.user({ perms: [{ name: 'wallet', read_only: false }] })
    const { address } = await core.submit('address.ensure', { user_id, chain: 'SOL', address: null })
    const { height, hash } = core.state.wallet.tips.get('SOL') ?? { height: 0, hash: 'h' }
    const late = {
      txid: 'late',
      output: 0,
      address,
      memo: '',
      currency: 'USDC',
      amount: '5',
      height: height + 1,
    }
    await core.submit('chain.observe', {
      chain: 'SOL',
      fork: height,
      tip: { height: height + 1, hash: `${hash}x` },
      payments: [late],
      outcomes: [],
    })
    assert.deepEqual(await live.admin.ok('GET', `/deposits?user_id=${user_id}`), [])
    await live.restart()
    assert.ok((await live.admin.ok('GET', '/ledger/proof')).balanced)
    const verified = await kontor(['verify', '--data', live.platform.data], { KONTOR_SECRET_KEY: SECRET_KEY })
    assert.match(verified.output, /^balanced/m)
    const replayed = await kontor(['replay', '--data', live.platform.data])
    assert.equal(replayed.code, 0, replayed.output)
  })
})
