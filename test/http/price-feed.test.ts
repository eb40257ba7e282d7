import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

type Told = Record<string, { price: string; source: string; waiting: boolean }>
const shown = (told: Told, currency: string): string => `${told[currency]?.source} ${told[currency]?.price}`

/** Looks until it is so: the feed is read once a second. */
async function until(platform: TestPlatform, wanted: (told: Told) => boolean): Promise<Told> {
  for (let tries = 0; ; tries++) {
    const told = (await platform.operator.ok('GET', '/prices')) as Told
    if (wanted(told)) return told
    assert.ok(tries < 100, `the prices stay ${JSON.stringify(told)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('index prices from a feed', () => {
  let answer: { status: number; body: string }
  const server = createServer((_, response) => {
    response.statusCode = answer.status
    response.end(answer.body)
  })
  let platform: TestPlatform
  const folder = mkdtempSync(join(tmpdir(), 'kontor-feed-'))
  const file = join(folder, 'world.json')

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const price_feed = { url: `http://127.0.0.1:${port}/usdt`, seconds: 1, stale_seconds: 2 }
    writeFileSync(file, JSON.stringify({ price_feed }))
    answer = {
      status: 200,
      body: JSON.stringify({ BTC: '61234.5', eth: 3210, USDT: '2', NOPE: '1', SOL: 'high', XRP: '-1' }),
    }
    platform = await TestPlatform.start({ KONTOR_CONFIG: file })
  })
  after(async () => {
    await platform.stop()
    server.close()
  })

  test('it is read at the start; what is no currency or no price of ours is left out', async () => {
    const told = (await platform.operator.ok('GET', '/prices')) as Told
    assert.equal(shown(told, 'BTC'), 'feed 61234.5')
    assert.equal(shown(told, 'ETH'), 'feed 3210')
    assert.equal(shown(told, 'USDT'), 'configured 1')
    assert.equal(told['SOL']?.source, 'configured')
    assert.equal(told['XRP']?.source, 'configured')
    assert.equal(told['NOPE'], undefined)
  })
  test('an operator goes before it, and gives the price back', async () => {
    await platform.operator.ok('PUT', '/prices', { BTC: '50000' })
    assert.equal(shown(await until(platform, () => true), 'BTC'), 'operator 50000')
    await platform.operator.ok('PUT', '/prices', { BTC: null })
    assert.equal(shown(await until(platform, () => true), 'BTC'), 'feed 61234.5')
  })
  test('it is followed; rubbish and errors leave the last prices, silence takes them back, an answer brings them again', async () => {
    answer = { status: 200, body: '{"BTC":"62000"}' }
    await until(platform, (told) => told['BTC']?.price === '62000' && told['ETH']?.source === 'configured')
    answer = { status: 200, body: '[not prices' }
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    assert.equal((await until(platform, () => true))['BTC']?.price, '62000')
    await until(platform, (told) => told['BTC']?.source === 'configured')
    answer = { status: 200, body: '{"BTC":"63000"}' }
    await until(platform, (told) => told['BTC']?.price === '63000')
  })
  test('one wrong answer is not believed: the old price stands and nothing is lent until a second one bears it out', async () => {
    const trader = await Trader.of(platform, { BTC: '1' })
    const { client } = trader
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '45000' }))
    const out = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '45000' }
    ok(await client.post('/wallet/transfers', out))
    answer = { status: 200, body: '{"BTC":"500"}' }
    await until(platform, (told) => told['BTC']?.waiting === true)
    answer = { status: 200, body: '{"BTC":"63000"}' }
    const loan = { currency: 'BTC', type: 'borrow', amount: '0.01' }
    const order = { contract: 'BTC_USDT', size: 1, price: '63000' }
    const [lent, placed] = await Promise.all([
      client.post('/unified/loans', loan),
      client.post('/futures/usdt/orders', order),
    ])
    for (const reply of [lent, placed]) refused(reply, 400, 'TRADE_RESTRICTED', /jumped/)
    assert.equal(shown(await until(platform, (told) => told['BTC']?.waiting === false), 'BTC'), 'feed 63000')
    assert.equal(ok(await client.get('/unified/accounts')).risk_level, 'normal')
    ok(await client.post('/unified/loans', loan))
    // A fall that the next reading bears out is believed within seconds, and acted on.
    answer = { status: 200, body: '{"BTC":"40000"}' }
    const began = Date.now()
    await until(platform, (told) => told['BTC']?.price === '40000')
    assert.ok(Date.now() - began < 15_000, `${Date.now() - began} ms`)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.equal(ok(await client.get('/unified/accounts')).risk_level, 'locked')
  })
  test('a platform that is started without it forgets its prices', async () => {
    platform = await platform.restart({ KONTOR_CONFIG: '' })
    assert.equal((await until(platform, () => true))['BTC']?.source, 'configured')
  })
  test('a feed that makes no sense is refused at the start, in one line', () => {
    for (const [price_feed, wrong] of [
      [{ url: 'ftp://x', seconds: 1, stale_seconds: 2 }, 'url'],
      [{ url: 'http://x', seconds: 0, stale_seconds: 2 }, 'seconds'],
      [{ url: 'http://x', seconds: 5, stale_seconds: 2 }, 'stale_seconds'],
      [{ url: 'http://x', seconds: 5, stale_seconds: 9, jump: '1.5' }, 'jump'],
      [{ url: 'http://x', seconds: 5, stale_seconds: 9, second_url: 'x' }, 'second_url'],
    ] as const) {
      writeFileSync(file, JSON.stringify({ price_feed }))
      assert.throws(() => readConfig({ KONTOR_CONFIG: file }), new RegExp(`price_feed.${wrong}`))
    }
  })
})
