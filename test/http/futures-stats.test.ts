import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CONTRACT_MINUTE, CONTRACT_STAT, MINUTES_KEPT } from '../../src/core/tables/futures/stats.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused } from '../support/client.ts'
import { ContractTrader } from '../support/contract-trader.ts'
import { TestPlatform } from '../support/platform.ts'
import { eventually } from '../support/wallet.ts'

const START = Date.parse('2026-11-16T09:01:00Z') / 1000

test('what takers, holders and liquidations did in a contract, by spans of time', async () => {
  const platform = await TestPlatform.start({ KONTOR_CLOCK: String(START) })
  const advance = (seconds: number) =>
    platform.operator.ok('POST', '/clock', { advance_seconds: String(seconds) })
  const anybody = platform.client()
  const stats = async (query: object = {}) =>
    ok(await anybody.get('/futures/usdt/contract_stats', { contract: 'ETH_USDT', ...query }))
  await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', SOL: '150' })
  const [maker, large, small] = await Promise.all(
    ['1000000', '1000000', '700'].map((money) => ContractTrader.of(platform, money)),
  )
  await maker!.placed('ETH_USDT', -1400, '3000')
  await large!.placed('ETH_USDT', 1000, '3000')
  const path = '/futures/usdt/positions/ETH_USDT/leverage'
  ok(await small!.client.request('POST', path, { query: { leverage: '20' } }))
  await small!.placed('ETH_USDT', 400, '3000')
  // In the first span, which began before the platform: what the takers bought, and who holds it.
  const [first, ...none] = await stats()
  assert.deepEqual(none, [])
  assert.equal(first.time, START - 60)
  assert.deepEqual([first.long_taker_size, first.short_taker_size, first.lsr_taker], [1400, 0, 0])
  assert.deepEqual(
    [first.open_interest, first.long_users, first.short_users, first.lsr_account],
    [1400, 2, 1, 2],
  )
  assert.ok(Math.abs(first.open_interest_usd - 1400 * 0.01 * first.mark_price) < 1e-6)
  // A fifth of three is one: the largest of them is short.
  assert.deepEqual(
    [first.top_long_size, first.top_short_size, first.top_long_account, first.top_short_account],
    [0, 1400, 0, 1],
  )
  assert.deepEqual([first.top_lsr_size, first.top_lsr_account, first.long_liq_size], ['0', 0, 0])
  await advance(300)
  await maker!.placed('ETH_USDT', 400, '2855')
  await platform.operator.ok('PUT', '/prices', { ETH: '2856' })
  await eventually(async () => (await stats()).at(-1).open_interest === 1000, 'the liquidation')
  const [before, now] = await stats()
  assert.deepEqual([before.long_taker_size, before.open_interest, before.long_liq_size], [1400, 1400, 0])
  assert.deepEqual([now.time - before.time, now.long_taker_size], [300, 0])
  assert.deepEqual([now.long_liq_size, now.long_liq_amount, now.short_liq_size], [400, 4, 0])
  assert.ok(Math.abs(now.long_liq_usd - 4 * now.mark_price) < 1, `${now.long_liq_usd}`)
  assert.equal(now.long_liq_usd_new, now.long_liq_usd)
  assert.equal(now.short_taker_size, 400, 'the order of the liquidation took')
  // Longer spans add the shorter ones up, and end as the last of them.
  const [hour, ...others] = await stats({ interval: '1h', limit: 5 })
  assert.deepEqual(others, [])
  assert.deepEqual([hour.long_taker_size, hour.short_taker_size, hour.long_liq_size], [1400, 400, 400])
  await advance(86_400)
  // What was held for more than a day has records of a day's minutes, and of each fifth minute for ever.
  const { store } = platform.platform.desk
  await platform.platform.desk.core.read(() => null)
  const ofEth = ['where "contract" = ?', ['futures/usdt/ETH_USDT']] as const
  assert.equal((await store.select(CONTRACT_MINUTE, ...ofEth)).length, (MINUTES_KEPT * 4) / 5)
  assert.ok((await store.select(CONTRACT_STAT, ...ofEth)).every(({ t }) => t % 300 === 0))
  const day = await stats({ interval: '1d' })
  assert.deepEqual(
    day.map((row: { time: number; long_taker_size: number }) => [row.time % 86_400, row.long_taker_size]),
    [
      [0, 1400],
      [0, 0],
    ],
  )
  const from = START + 600
  const rows = await stats({ from, interval: '15m', limit: 3 })
  assert.deepEqual(
    rows.map(({ time }: { time: number }) => time),
    [0, 900, 1800].map((more) => from - (from % 900) + more),
  )
  assert.equal((await stats({ limit: 100 })).length, 100)
  assert.deepEqual(await stats({ from: from + 10 * 86_400 }), [])
  refused(await anybody.get('/futures/usdt/contract_stats'), 400, 'MISSING_REQUIRED_PARAM', /contract/)
  for (const bad of [{ interval: '2h' }, { limit: '101' }, { limit: '0' }])
    refused(
      await anybody.get('/futures/usdt/contract_stats', { contract: 'ETH_USDT', ...bad }),
      400,
      'INVALID_PARAM_VALUE',
    )
  refused(
    await anybody.get('/futures/usdt/contract_stats', { contract: 'DOGE_USDT' }),
    400,
    'CONTRACT_NOT_FOUND',
  )
  assert.equal((await anybody.get('/delivery/usdt/contract_stats', { contract: 'ETH_USDT' })).status, 404)
  await platform.stop()
})

test('what is worth billions is told in a number that clients can read', async () => {
  const platform = await TestPlatform.start()
  await platform.operator.ok('PUT', '/prices', { BTC: '999999999.91' })
  const tiers = [{ risk_limit: '1000000000000', maintenance_rate: '0.004', leverage_max: '125' }]
  await platform.operator.ok('PATCH', '/contracts/futures/usdt/BTC_USDT', { tiers })
  const [maker, taker] = [
    await ContractTrader.of(platform, '90000000000'),
    await ContractTrader.of(platform, '90000000000'),
  ]
  await maker.placed('BTC_USDT', -999_123, '999999999.9')
  await taker.placed('BTC_USDT', 999_123, '999999999.9')
  const query = { contract: 'BTC_USDT' }
  const reply = await platform.client().get('/futures/usdt/contract_stats', query)
  const [{ open_interest_usd, mark_price }] = ok(reply)
  const worth = 99.9123 * mark_price
  assert.ok(worth > 1e10 && Math.abs(open_interest_usd - worth) < 1, `${open_interest_usd}`)
  const [, written] = /"open_interest_usd":([^,]*)/.exec(reply.text)!
  assert.ok(written!.length <= 15 && written!.includes('.'), written)
  await platform.stop()
})

test('a mark price of finer steps has four decimals there, like every other number', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-stats-'))
  const contracts = BUILT_IN_WORLD.contracts!.map((row) =>
    row.name === 'SOL_USDT' ? { ...row, mark_price_round: '0.0000001' } : row,
  )
  const path = join(folder, 'world.json')
  writeFileSync(path, JSON.stringify({ contracts }))
  const platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  await platform.operator.ok('PUT', '/prices', { SOL: '150.1234567' })
  const trader = await ContractTrader.of(platform, '1000')
  await trader.placed('SOL_USDT', 1, '150')
  const query = { contract: 'SOL_USDT' }
  const [ticker] = ok(await platform.client().get('/futures/usdt/tickers', query))
  assert.match(ticker.mark_price, /^150\.\d{5,7}$/)
  const [{ mark_price }] = ok(await platform.client().get('/futures/usdt/contract_stats', query))
  assert.equal(mark_price, Number(/^150\.\d{4}/.exec(ticker.mark_price as string)![0]))
  await platform.stop()
  rmSync(folder, { recursive: true, force: true })
})
