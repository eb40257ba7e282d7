import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { startPlatform } from '../../src/platform.ts'
import { createLog } from '../../src/runtime/log.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { RawConnection, signedHead, until } from '../support/raw.ts'
import { Trader } from '../support/spot.ts'

describe('accidents', () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-accident-'))
  after(() => rmSync(data, { recursive: true, force: true }))

  test('a broken-off upload is no error of ours', async () => {
    const lines: string[] = []
    const log = createLog('info', (line) => lines.push(line))
    const config = readConfig({ KONTOR_PORT: '0', KONTOR_DATA: data, KONTOR_AGENTS: 'off' })
    const platform = await startPlatform(config, log, (error) => assert.fail(String(error)))
    const [account] = platform.credentials.accounts
    const before = lines.length
    for (let i = 0; i < 5; i++) {
      const line = await RawConnection.open(platform.url)
      line.socket.write(
        `${signedHead(account!, 'POST', '/api/v4/wallet/transfers')}Content-Length: 100\r\n\r\n{"cur`,
      )
      await new Promise((resolve) => setTimeout(resolve, 50))
      line.socket.resetAndDestroy()
    }
    const metrics = async (): Promise<string> => (await fetch(`${platform.url}/metrics`)).text()
    await until(async () =>
      (await metrics()).includes('route="POST /api/v4/wallet/transfers",status="499"} 5'),
    )
    assert.doesNotMatch(await metrics(), /status="500"/)
    assert.deepEqual(lines.slice(before), [])
    await platform.stop()
  })
  test('when the reader of the log goes away the platform goes on', async () => {
    const platform = await PlatformProcess.start({ KONTOR_DATA: data, KONTOR_LOG: 'debug' })
    platform.child.stderr!.destroy()
    platform.child.stdout!.destroy()
    for (let i = 0; i < 20; i++) {
      const reply = await fetch(`${platform.url}/api/v4/spot/time`)
      assert.equal(reply.status, 200)
      await reply.text()
    }
    assert.equal(platform.child.exitCode, null)
    assert.equal(await platform.kill('SIGTERM'), 0)
  })
})

describe('fault rules', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('a malformed one is refused, member by member, and nothing changes', async () => {
    const good = {
      match: { path: '/spot/time', method: 'get' },
      effect: 'error',
      status: 503,
      label: 'TOO_BUSY',
    }
    await platform.operator.ok('PUT', '/faults', [good])
    for (const [rule, mention] of [
      [{ effect: 'error', match: { method: 5 } }, /^\[0\]\.match\.method: 5 /],
      [{ effect: 'error', match: { method: 'BREW' } }, /match\.method/],
      [{ effect: 'error', match: { path: 7 } }, /match\.path/],
      [{ effect: 'error', match: { path: 'spot/time' } }, /match\.path.*begin with \//],
      [{ effect: 'error', match: { user_id: 'x' } }, /match\.user_id/],
      [
        { effect: 'error', match: { user: 1 } },
        /^\[0\]\.match\.user: 1 is not known.*method, path, user_id, key/,
      ],
      [{ effect: 'error', match: 'all' }, /match/],
      [{ effect: 'error', match: [] }, /match/],
      [{ effect: 'error', statuss: 500 }, /^\[0\]\.statuss/],
      [{ effect: 'error', status: 200 }, /status/],
      [{ effect: 'error', label: 'no label' }, /label/],
      [{ effect: 'error', times: 0 }, /times/],
      [{ effect: 'error', probability: 2 }, /probability/],
      [{ effect: 'drop_reply', status: 500 }, /^\[0\]\.status: belongs to the effect error/],
      [{ effect: 'delay', delay_ms: -1 }, /delay_ms/],
      [{}, /effect/],
      [7, /^\[0\]/],
      [{ effect: 'error', match: { key: 5 } }, /^\[0\]\.match\.key: 5 /],
      [{ effect: 'error', sequence: [{ effect: 'error' }] }, /sequence: name it or effect, not both/],
      [{ sequence: [] }, /^\[0\]\.sequence: \[\] must hold a step/],
      [{ sequence: [{ effect: 'error', times: 2 }] }, /^\[0\]\.sequence\[0\]\.times: 2 is not known/],
      [{ sequence: [{ effect: 'pass', status: 500 }] }, /^\[0\]\.sequence\[0\]\.status: belongs to/],
      [{ sequence: [{ effect: 'pass' }, { effect: 'delay' }] }, /sequence\[1\]\.delay_ms/],
      [{ sequence: [{ effect: 'pass' }], status: 500 }, /^\[0\]\.status: belongs to/],
      [{ sequence: [{ effect: 'pass' }], delay_ms: 5 }, /^\[0\]\.delay_ms: belongs to a step/],
    ] as const) {
      const reply = await platform.operator.call('PUT', '/faults', [rule])
      assert.equal(reply.status, 400, `${JSON.stringify(rule)} ${reply.text}`)
      assert.match(reply.body.message as string, mention)
    }
    refused(
      await platform.operator.call('PUT', '/faults', [{ effect: 'delay' }]),
      400,
      'MISSING_REQUIRED_PARAM',
      /delay_ms/,
    )
    assert.equal((await platform.operator.ok('GET', '/faults')).length, 1)
    refused(await platform.client().get('/spot/time'), 503, 'TOO_BUSY')
    await platform.operator.ok('PUT', '/faults', [])
  })
  test('one that matches everything still lets the operator in', async () => {
    await platform.operator.ok('PUT', '/faults', [{ effect: 'error', status: 500 }])
    refused(await platform.client().get('/spot/time'), 500, 'SERVER_ERROR')
    assert.equal((await platform.operator.ok('GET', '/faults')).length, 1)
    await platform.operator.ok('PUT', '/faults', [])
    ok(await platform.client().get('/spot/time'))
  })
  test('no message begins with the name of nothing', async () => {
    for (const body of [{}, true, 7])
      refused(await platform.operator.call('PUT', '/faults', body), 400, 'INVALID_PARAM_VALUE', /^the body: /)
    const { client } = await platform.user()
    refused(
      await client.post('/spot/batch_orders', {}),
      400,
      'INVALID_PARAM_VALUE',
      /^the body: \{\} must be a list/,
    )
    refused(await client.post('/spot/cancel_batch_orders', 7), 400, 'INVALID_PARAM_VALUE', /^the body: /)
    refused(await platform.operator.call('PUT', '/prices', [1]), 400, 'INVALID_PARAM_VALUE', /^the body/)
  })
})

describe('attached stops', () => {
  test('count towards the bound of price orders, from the moment they are promised', async () => {
    const platform = await TestPlatform.start()
    const trader = await Trader.of(platform, { USDT: '1000000', BTC: '100' })
    const other = await Trader.of(platform, { USDT: '1000000', BTC: '100' })
    const stops = { stop_profit: { trigger_price: '60000' }, stop_loss: { trigger_price: '10' } }
    await other.placed('sell', '0.001', '50000')
    await trader.placed('buy', '0.001', '50000')
    const waiting = async (): Promise<number> =>
      (ok(await trader.client.get('/spot/price_orders', { status: 'open', limit: 1000 })) as unknown[]).length
    const rule = { price: '40000', rule: '<=', expiration: 3600 }
    const put = { side: 'sell', price: '39000', amount: '0.001' }
    const priceOrder = () =>
      trader.client.post('/spot/price_orders', { market: 'BTC_USDT', trigger: rule, put })
    for (let i = 0; i < 995; i++) ok(await priceOrder(), 201)
    // Two orders promise four; a fifth stop has room, a sixth has not.
    const first = await trader.placed('buy', '0.001', '49000', stops)
    const second = await trader.placed('buy', '0.001', '49000', stops)
    refused(
      await trader.place('buy', '0.001', '49000', stops),
      400,
      'TOO_MANY_ORDERS',
      /stops of its open orders/,
    )
    const third = await trader.placed('buy', '0.001', '49000', { stop_loss: stops.stop_loss })
    refused(await priceOrder(), 400, 'TOO_MANY_ORDERS')
    const path = `/spot/orders/${String(third['id'])}`
    const pair = { currency_pair: 'BTC_USDT' }
    refused(await trader.client.patch(path, { stop_profit: stops.stop_profit }, pair), 400, 'TOO_MANY_ORDERS')
    ok(await trader.client.patch(path, { stop_loss: { trigger_price: '11' } }, pair))
    // Filled, the promises are kept: never more than the bound waits.
    await other.placed('sell', '0.002', '49000')
    assert.equal(await waiting(), 999)
    refused(await trader.place('buy', '0.001', '48000', stops), 400, 'TOO_MANY_ORDERS')
    // Taken back, a promise makes room.
    ok(await trader.client.delete(path, pair))
    ok(await priceOrder(), 201)
    assert.ok(first['id'] !== second['id'])
    const { spot } = platform.platform.desk.core.state
    assert.equal(spot.promisedStops(trader.user_id), 0)
    const again = await platform.restart()
    await again.stop()
  })
})
