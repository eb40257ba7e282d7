import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

const DAY = 86_400

test('a sandbox tells of its contracts what was before it began: candles, premiums and fundings', async () => {
  // At a time of its own: one moment in some hundreds the price is what it was a day before.
  const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_CLOCK: '1795046523' })
  const get = async (path: string, query: object) =>
    ok(await platform.client().get(`/futures/usdt${path}`, { contract: 'BTC_USDT', ...query }))
  const now = Math.floor(platform.now())
  const days = await get('/candlesticks', { interval: '1d', limit: 30 })
  assert.ok(days.length >= 29, `${days.length} days`)
  for (const contract of ['mark_BTC_USDT', 'index_BTC_USDT']) {
    const rows = await get('/candlesticks', { contract, interval: '1h', from: now - 5 * DAY, to: now - DAY })
    assert.equal(rows.length, 97)
    assert.ok(rows.every(({ h, l, c }: { h: string; l: string; c: string }) => +l <= +c && +c <= +h))
  }
  const fundings = await get('/funding_rate', { limit: 1000 })
  assert.ok(fundings.length >= 89, `${fundings.length} fundings`)
  for (let i = 1; i < fundings.length; i++) assert.equal(fundings[i - 1].t - fundings[i].t, 28_800)
  const some = await get('/funding_rate', { from: now - 3 * DAY, to: now - 2 * DAY })
  assert.equal(some.length, 3)
  const first = some.at(-1).t
  const [edge] = await get('/funding_rate', { from: first * 1000 + 1, to: some.at(-2).t * 1000 + 999 })
  assert.equal(edge.t, some.at(-2).t, 'milliseconds, and not the one just before them')
  assert.ok((await get('/premium_index', { interval: '1h', limit: 24 })).length === 24)
  const [ticker] = await get('/tickers', {})
  assert.ok(Number(ticker.volume_24h) > 0)
  assert.notEqual(ticker.change_percentage, '0')
  assert.ok(Number(ticker.low_24h) <= Number(ticker.last) && Number(ticker.last) <= Number(ticker.high_24h))
  await platform.stop()
})
