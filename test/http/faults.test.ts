import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Faults } from '../../src/api/faults.ts'
import { CALL_EFFECTS, DELTA_EFFECTS } from '../../src/api/fault-steps.ts'
import { ruleOf } from '../../src/cli/fault.ts'
import { PERMISSIONS } from '../../src/core/tables/keys.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('faults that are aimed', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const set = (rules: object[]) => platform.operator.ok('PUT', '/faults', rules)

  test('by key: one bot of an account fails, the other goes on', async () => {
    const { user_id, client, credential } = await platform.user()
    const perms = PERMISSIONS.map((name) => ({ name, read_only: false }))
    const other = platform.client(await platform.key(user_id, perms))
    await set([{ match: { key: credential.key, path: '/account/*' }, effect: 'error', label: 'TOO_BUSY' }])
    refused(await client.get('/account/detail'), 503, 'TOO_BUSY')
    ok(await other.get('/account/detail'))
    ok(await client.get('/spot/time'))
    // Nobody's key is on a public call.
    await set([{ match: { key: credential.key }, effect: 'error' }])
    ok(await platform.client().get('/spot/time'))
    await set([])
  })

  test('a delay by the name of its member, or without a name', async () => {
    const { client, user_id } = await platform.user()
    const took = async (): Promise<number> => {
      const begun = performance.now()
      ok(await client.get('/account/detail'))
      return performance.now() - begun
    }
    const match = { user_id }
    for (const named of [{ effect: 'delay' }, { effect: 'delay_ms' }, {}]) {
      const rule = { match, ...named, delay_ms: 300, times: 1 }
      await set([rule])
      assert.deepEqual(await platform.operator.ok('GET', '/faults'), [{ ...rule, left: 1 }])
      assert.ok((await took()) >= 299)
      assert.ok((await took()) < 299)
    }
    await set([{ match, sequence: [{ effect: 'delay_ms', delay_ms: 300 }] }])
    assert.ok((await took()) >= 299)
    refused(await platform.operator.call('PUT', '/faults', [{ match }]), 400, 'MISSING_REQUIRED_PARAM')
    refused(
      await platform.operator.call('PUT', '/faults', [{ match, effect: 'delay_ms' }]),
      400,
      'MISSING_REQUIRED_PARAM',
    )
  })
  test('in sequence: each request that matches gets the next step, then the rule is used up', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    const transfer = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '1' }
    await set([
      {
        match: { user_id, method: 'POST', path: '/wallet/transfers' },
        sequence: [
          { effect: 'error', status: 502, label: 'SERVER_ERROR' },
          { effect: 'pass' },
          { effect: 'drop_reply' },
        ],
      },
    ])
    refused(await client.post('/wallet/transfers', transfer), 502, 'SERVER_ERROR')
    assert.equal(await platform.balance(user_id, 'USDT'), '100')
    // What does not match takes no step.
    ok(await client.get('/account/detail'))
    assert.equal((await platform.operator.ok('GET', '/faults'))[0].left, 2)
    ok(await client.post('/wallet/transfers', transfer))
    await assert.rejects(client.post('/wallet/transfers', transfer))
    assert.equal(await platform.balance(user_id, 'USDT'), '98')
    assert.deepEqual(await platform.operator.ok('GET', '/faults'), [])
    ok(await client.post('/wallet/transfers', transfer))
  })

  test('times repeats a sequence; rules with times are used up in their order', async () => {
    const time = async (): Promise<number> => (await platform.client().get('/spot/time')).status
    const match = { path: '/spot/time' }
    await set([{ match, sequence: [{ effect: 'error', status: 500 }, { effect: 'pass' }], times: 2 }])
    assert.deepEqual(
      [await time(), await time(), await time(), await time(), await time()],
      [500, 200, 500, 200, 200],
    )
    await set([
      { match, effect: 'error', status: 501, times: 1 },
      { match, effect: 'error', status: 502, times: 1 },
    ])
    assert.equal(await time(), 501)
    // A rule that is used up is gone at once, though it ended in an error.
    assert.deepEqual(
      (await platform.operator.ok('GET', '/faults')).map(({ status }: { status: number }) => status),
      [502],
    )
    assert.deepEqual([await time(), await time()], [502, 200])
  })

  test('a path of a rule means its endpoint: letters in any case, and {…} for a segment', async () => {
    const { client } = await platform.user()
    const path = '/futures/usdt/contracts'
    await set([
      { match: { path: `${path}/{contract}` }, effect: 'error', status: 503 },
      { match: { path: '/spot/orders/{order_id}' }, effect: 'error', status: 502 },
    ])
    for (const asked of [`${path}/BTC_USDT`, '/futures/USDT/contracts/btc_usdt'])
      assert.equal((await platform.client().get(asked)).status, 503)
    assert.equal((await platform.client().get(path)).status, 200)
    assert.equal((await client.get('/spot/orders/t-1', { currency_pair: 'BTC_USDT' })).status, 502)
    assert.equal((await client.get('/spot/orders', { status: 'finished' })).status, 200)
    await set([{ match: { path: '/Futures/usdt/*' }, effect: 'error', status: 503 }])
    assert.equal((await platform.client().get('/futures/USDT/tickers')).status, 503)
    assert.equal((await platform.client().get('/futures/btc/tickers')).status, 200)
    await set([])
  })

  test('POST adds a rule, and those that are there keep their count', async () => {
    const match = { path: '/spot/time' }
    await set([{ match, sequence: [{ effect: 'pass' }, { effect: 'error', status: 503 }] }])
    ok(await platform.client().get('/spot/time'))
    const rules = await platform.operator.ok('POST', '/faults', { effect: 'delay', delay_ms: 1, times: 5 })
    assert.deepEqual(
      rules.map(({ left }: { left: number }) => left),
      [1, 5],
    )
    assert.equal((await platform.client().get('/spot/time')).status, 503)
    refused(
      await platform.operator.call('POST', '/faults', { effect: 'error', matc: {} }),
      400,
      'INVALID_PARAM_VALUE',
      /^matc: /,
    )
    await set(Array.from({ length: 100 }, () => ({ effect: 'pass' })))
    refused(
      await platform.operator.call('POST', '/faults', { effect: 'pass' }),
      400,
      'INVALID_PARAM_VALUE',
      /100/,
    )
    await set([])
  })

  test('frames of sockets: a step that can not happen to one leaves its rule as it is', () => {
    const faults = new Faults()
    const sequence = [{ effect: 'gap' }, { effect: 'duplicate', delay_ms: 5 }, { effect: 'error' }] as const
    faults.set([
      { match: { channel: 'spot.order_book_update' }, sequence },
      { match: { channel: 'spot.*', user_id: 7 }, effect: 'disconnect', times: 1 },
      { match: {}, effect: 'error' },
    ])
    const book = { channel: 'spot.order_book_update' }
    assert.equal(faults.ofFrame({ channel: 'futures.trades' }), undefined)
    assert.equal(faults.ofFrame({ channel: 'spot.orders', user_id: 8 }), undefined)
    assert.equal(faults.ofFrame(book), undefined, 'a full frame has no gap')
    assert.equal(faults.ofFrame(book, DELTA_EFFECTS)!.gap, true)
    const twice = faults.ofFrame(book, DELTA_EFFECTS)!
    assert.equal(`${twice.gap} ${twice.duplicate} ${twice.delayMs}`, 'false true 5')
    assert.equal(faults.ofFrame(book, DELTA_EFFECTS), undefined, 'only calls get errors')
    assert.equal(faults.list()[0]!.left, 1)
    const { error } = faults.ofFrame(book, CALL_EFFECTS)!
    assert.equal(error!.label, 'SERVER_ERROR')
    assert.equal(faults.ofFrame({ channel: 'spot.orders', user_id: 7 })!.disconnect, true)
    assert.equal(faults.ofFrame({ channel: 'spot.orders', user_id: 7 }), undefined)
    assert.equal(faults.list().length, 1)
    assert.equal(faults.report.injected, 0, 'nobody asked for what is pushed')
  })

  test('the words of the terminal', async () => {
    const user = () => Promise.reject(new Error('nobody'))
    assert.deepEqual(await ruleOf(['gap', 'spot.order_book_update', 'then', 'disconnect', 'x2'], { user }), {
      match: { channel: 'spot.order_book_update' },
      sequence: [{ effect: 'gap' }, { effect: 'disconnect' }],
      times: 2,
    })
    assert.deepEqual(await ruleOf(['delay', '2s', 'spot.*'], { user }), {
      match: { channel: 'spot.*' },
      effect: 'delay',
      delay_ms: 2000,
    })
  })

  test('two requests at once never get the same step', async () => {
    const faults = new Faults()
    const effect = 'delay'
    faults.set([{ match: {}, sequence: [{ effect, delay_ms: 30 }, { effect: 'drop_reply' }] }])
    const target = {
      ...{ method: 'GET', path: '/api/v4/spot/time', query: '', body: undefined },
      ...{ userId: undefined, key: undefined, ip: '127.0.0.1', arrived: 0, at: 0 },
    }
    const plans = await Promise.all([faults.apply(target), faults.apply(target), faults.apply(target)])
    assert.deepEqual(
      plans.map(({ dropReply }) => dropReply),
      [false, true, false],
    )
    assert.equal(faults.active, false)
  })
})
