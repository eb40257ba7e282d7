import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { LivePlatform } from '../support/live.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import { proveBalanced } from '../support/wallet.ts'

type Told = Record<string, { price: string; source: string; expires: number }>

describe('index prices with market agents', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_CLOCK: '1800000000' })
  })
  after(() => platform.stop())
  const told = async (): Promise<Told> => platform.operator.ok('GET', '/prices')
  const mode = { mode: 'multi_currency' }

  test("the index is the agents' own reference price; a trade with oneself moves nothing", async () => {
    const trader = await Trader.of(platform, { GT: '1000', USDT: '100000' })
    const before = await told()
    assert.equal(before['BTC']?.source, 'agents')
    assert.ok(Math.abs(Number(before['GT']!.price) - 8) < 1)
    // TRX has no market, and so nobody to believe.
    assert.equal(before['TRX']?.source, 'configured')
    const { client } = trader
    ok(await client.put('/unified/unified_mode', mode), 204)
    const gt = { currency_pair: 'GT_USDT' }
    // Clears the agents' quotes up to ten times the price, so that the last trade is what he likes.
    await trader.place('buy', '1000', '60', gt)
    await trader.placed('sell', '0.1', '60', gt)
    await trader.place('buy', '0.1', '60', gt)
    const index = Number((await told())['GT']!.price)
    assert.ok(Math.abs(index - 8) < 1, `the index is ${index}`)
    const gtWorth =
      Number(ok(await client.get('/unified/accounts', { currency: 'GT' })).balances.GT.equity) * index
    const { total } = ok(await client.get('/unified/accounts'))
    assert.ok(gtWorth > 1_000 && Number(total) < 115_000, `${total} USDT in all`)
  })
  test('a scenario moves it, and liquidates as it did', async () => {
    const trader = await Trader.of(platform, { BTC: '1' })
    const { client } = trader
    ok(await client.put('/unified/unified_mode', mode), 204)
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '50000' }))
    const out = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '50000' }
    ok(await client.post('/wallet/transfers', out))
    const gap = { name: 'gap', currency_pair: 'BTC_USDT', change: -0.14, seconds: 60 }
    await platform.operator.ok('POST', '/agents/scenario', gap)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    const steps = await platform.operator.ok('GET', `/users/${trader.user_id}/liquidations`)
    const kinds = steps.map(({ step }: { step: string }) => step)
    assert.ok(kinds.includes('locked') && kinds.includes('sold'), kinds.join())
    await proveBalanced(platform)
  })
})

describe('index prices in live mode', () => {
  test('an admin sets them with an end; nobody else, and never without', async () => {
    const both = await LivePlatform.start({ KONTOR_LOG: 'silent' })
    const { platform: live } = both
    const before = (await live.operator.ok('GET', '/prices')) as Told
    assert.deepEqual([before['BTC']?.price, before['BTC']?.source], ['0', 'none'])
    assert.equal(before['USDT']?.price, '1')
    const olga = await both.operator('olga')
    const expires = Math.floor(Date.now() / 1000) + 600
    refused(await olga.call('PUT', '/prices', { BTC: '60000', expires }), 403, 'FORBIDDEN', /admin/)
    refused(
      await live.operator.call('PUT', '/prices', { BTC: '60000' }),
      400,
      'MISSING_REQUIRED_PARAM',
      /expires/,
    )
    refused(
      await live.operator.call('PUT', '/prices', { BTC: '60000', expires: 'soon' }),
      400,
      'INVALID_PARAM_VALUE',
      /expires/,
    )
    const asked = await live.operator.call('PUT', '/prices', { BTC: '60000', USDT: '1', expires })
    assert.equal(asked.status, 202, 'one admin alone sets no price')
    assert.equal(((await live.operator.ok('GET', '/prices')) as Told)['BTC']?.source, 'none')
    refused(
      await live.operator.call('POST', `/proposals/${String(asked.body.proposal.id)}/confirm`),
      403,
      'FORBIDDEN',
    )
    await both.confirm(asked)
    const after = (await live.operator.ok('GET', '/prices')) as Told
    assert.deepEqual(
      [after['BTC']?.price, after['BTC']?.source, after['BTC']?.expires],
      ['60000', 'operator', expires],
    )
    const response = await fetch(`${live.url}/metrics`)
    assert.match(await response.text(), /kontor_loan_currencies_unpriced 7/)
    await live.stop()
  })
})
