import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { operatorEndpoints } from '../../src/endpoints.ts'
import type { Controls } from '../../src/operator/platform.ts'
import { ok, refused, type Client, type Reply } from '../support/client.ts'
import { LIVE, TestPlatform } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'

const HEADER = 'x-svc-ignored'
const concrete = (path: string): string =>
  path
    .replace('{section}', 'fills')
    .replace('{group}/{settle}/{contract}', 'futures/usdt/BTC_USDT')
    .replace('{settle}', 'usdt')
    .replace(/\{\w+\}/g, '1')
const ignored = (reply: Reply): string | null => reply.headers.get(HEADER)

describe('members that nothing reads', () => {
  let platform: TestPlatform
  let demo: Client
  before(async () => {
    platform = await TestPlatform.start()
    demo = platform.demo()
  })
  after(() => platform.stop())
  const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
    platform.operator.call(method, path, body)

  test('of operators are refused with the name that was meant, and nothing changes', async (t) => {
    const { user_id } = await platform.user()
    const submit = t.mock.method(platform.platform.desk.core, 'submit')
    // What falls due by itself is nobody's call.
    const submitted = (): unknown[] =>
      submit.mock.calls.map(({ arguments: [type] }) => type as unknown).filter((type) => type !== 'due.run')
    const cases: [method: string, path: string, body: unknown, mention: RegExp][] = [
      [
        'PATCH',
        '/chains/BTC',
        { auto_mine_second: 5 },
        /^auto_mine_second: 5 is not known here; did you mean auto_mine_seconds\?/,
      ],
      [
        'POST',
        '/agents/scenario',
        { name: 'crash', currency_pair: 'BTC_USDT', chnage: '-0.3' },
        /^chnage: "-0.3" is not known here; did you mean change\?/,
      ],
      ['PATCH', '/chains/BTC', { pausd: null }, /^pausd: null is not known here; did you mean paused\?/],
      ['PATCH', '/chains/BTC', { paused: false, '': 1 }, /^"": 1 is not known here/],
      [
        'POST',
        `/users/${user_id}/credit`,
        { currency: 'BTC', amuont: '1' },
        // Of two mistakes the one that explains the other.
        /^amuont: .* did you mean amount\?/,
      ],
      ['PATCH', '/markets/BTC_USDT', { Fee_: '0.1' }, /^Fee_: .* did you mean fee\?/],
      [
        'POST',
        `/users/${user_id}/keys`,
        { name: 'k', perms: [{ name: 'spot', readonly: true }] },
        /^perms\[0\]\.readonly: true is not known here; did you mean read_only\?/,
      ],
      ['PATCH', '/currencies/BTC', { withdraw_enabld: false }, /did you mean withdraw_enabled\?/],
      ['PATCH', '/currencies/BTC', { fees: { withdraw_fx: '1' } }, /^fees\.withdraw_fx: .* withdraw_fix\?/],
      ['PATCH', '/currencies/BTC', { fees: '1' }, /^fees: "1" must be an object/],
      ['PATCH', '/currencies/BTC', { chains: ['BTC'] }, /^chains: .* must be an object/],
      [
        'PATCH',
        '/currencies/BTC',
        { chains: { BTC: { deposit_enabld: false } } },
        /^chains\.BTC\.deposit_enabld: .* did you mean deposit_enabled\?/,
      ],
      [
        'PUT',
        '/policy',
        { cancel_second: 5 },
        /^policy\.cancel_second is not known; did you mean cancel_seconds/,
      ],
      [
        'PUT',
        '/policy',
        { velocity: { hours: 1, count: 1, usdt: '1', usd: '1' } },
        /^policy\.velocity\.usd is not known; did you mean usdt/,
      ],
      ['POST', '/policy/dry_run', { policy: { new_adress_hours: 1 } }, /did you mean new_address_hours/],
      ['PUT', '/prices', { BTC: '60000', expire: 1_999_999_999 }, /^expire: .* did you mean expires\?/],
      [
        'PUT',
        '/faults',
        [{ effect: 'error', tims: 1 }],
        /^\[0\]\.tims: 1 is not known.* did you mean times\?/,
      ],
      ['POST', '/clock', { advance_second: 5 }, /did you mean advance_seconds\?/],
      ['POST', '/reset', { now: true }, /^now: true is not known here; nothing is$/],
      ['GET', '/users?limt=5', undefined, /^limt: "5" is not known here; did you mean limit\?/],
      ['GET', '/status?verbose=', undefined, /^verbose: "" is not known here; nothing is$/],
      ['POST', '/chains/BTC/mine?blocks=3', undefined, /^blocks: "3" is not known here/],
      ['PATCH', '/chains/BTC', JSON.parse('{"__proto__": {"paused": true}}'), /^__proto__: /],
    ]
    for (const [method, path, body, mention] of cases)
      refused(await call(method, path, body), 400, 'INVALID_PARAM_VALUE', mention)
    assert.deepEqual(submitted(), [], 'nothing was carried out')
    await platform.operator.ok('PATCH', '/chains/BTC', { paused: false })
    assert.notEqual(submitted().length, 0, 'and it would have been seen')
  })
  test('of operators are refused by every call, in the body and in the query', async () => {
    const controls = {} as Controls
    for (const { method, path, body } of operatorEndpoints(controls)) {
      const name = `${method} ${path}`
      const at = concrete(path)
      const query = await call(method, `${at}?no_such_member=1`)
      // A body that is missing may be told first; with the query right it would be the next thing.
      if (query.body?.label !== 'MISSING_REQUIRED_PARAM' && !/^the body/.test(query.body?.message as string))
        assert.match(query.body?.message as string, /no_such_member/, name)
      assert.equal(query.status, 400, `${name} ${query.text}`)
      if (method === 'GET') continue
      const list = body?.schema['type'] === 'array'
      const member = { no_such_member: null }
      const reply = await call(method, at, list ? [member] : member)
      if (path === '/prices') continue
      assert.equal(
        `${reply.status} ${String(reply.body?.label)}`,
        '400 INVALID_PARAM_VALUE',
        `${name} ${reply.text}`,
      )
      assert.match(reply.body?.message as string, /no_such_member/, name)
    }
  })
  test('an operator may send an empty body where none is taken', async () => {
    for (const body of [{}, null, undefined]) ok(await call('POST', '/reset', body))
    demo = platform.demo()
  })

  test('of clients are ignored, and the sandbox names them', async () => {
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '1', price: '10000', account: 'spot' }
    const placed = await demo.post('/spot/orders', { ...order, tiem_in_force: 'ioc', iceburg: null })
    assert.equal(ok(placed, 201).status, 'open')
    assert.equal(ignored(placed), 'tiem_in_force, iceburg')
    assert.equal(ignored(await demo.post('/spot/orders', order)), null)
    const listed = await demo.get('/spot/open_orders', { limt: 5 })
    assert.deepEqual([listed.status, ignored(listed)], [200, 'limt'])
    assert.equal(ignored(await demo.get('/spot/open_orders', { limit: 5 })), null)
    const open = await platform.client().get('/spot/currencies', { 'a b\r\nX-Evil: 1': 1 })
    assert.deepEqual([open.status, ignored(open), open.headers.get('x-evil')], [200, 'a?b??X-Evil??1', null])
  })
  test('a refusal names them too: that is where they explain something', async () => {
    const reply = await demo.post('/spot/orders', { currency_pair: 'BTC_USDT', side: 'buy', amuont: '1' })
    refused(reply, 400, 'MISSING_REQUIRED_PARAM', /amount/)
    assert.equal(ignored(reply), 'amuont')
  })
  test('those of lists and of objects inside have their place', async () => {
    const items = [1, 2].map((i) => ({
      currency_pair: 'BTC_USDT',
      side: 'buy',
      amount: '1',
      price: '10000',
      text: `t-${i}`,
      ...(i === 2 && { colour: 1 }),
    }))
    const batch = await demo.post('/spot/batch_orders', items)
    assert.deepEqual([batch.status, ignored(batch)], [200, '[1].colour'])
    const trigger = { price: '70000', rule: '>=', expiration: 3600, exp: 1 }
    const put = { side: 'buy', price: '10000', amount: '1', account: 'normal', time_in_force: 'gtc', tif: 1 }
    const made = await demo.post('/spot/price_orders', { market: 'BTC_USDT', trigger, put })
    assert.deepEqual([made.status, ignored(made)], [201, 'trigger.exp, put.tif'])
  })
  test('at most ten names and 512 bytes, of safe characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`member_${i}`, i]))
    assert.equal(ignored(await demo.post('/spot/orders', many))!.split(', ').length, 10)
    const long = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}`.padEnd(200, 'x'), 1]))
    const header = ignored(await demo.post('/spot/orders', long))!
    assert.ok(header.length <= 512 && header.length > 200, `${header.length}`)
    const odd = ignored(await demo.post('/spot/orders', { 'é\u0000, b': 1, ['y'.repeat(5000)]: 1 }))!
    assert.match(odd, /^[A-Za-z0-9_.?[\], -]{1,512}$/)
    assert.ok(odd.startsWith('????b'), odd)
  })
  test('the request log shows them', async () => {
    const data = mkdtempSync(join(tmpdir(), 'kontor-ignored-'))
    const logged = await PlatformProcess.start({ KONTOR_DATA: data, KONTOR_LOG: 'debug' })
    try {
      await fetch(`${logged.url}/api/v4/spot/currencies?limt=5`)
      for (let i = 0; i < 100 && !logged.errors.includes('"ignored"'); i++) await setTimeout(20)
      assert.match(logged.errors, /"path":"\/api\/v4\/spot\/currencies".*"ignored":\["limt"\]/)
    } finally {
      await logged.kill()
      rmSync(data, { recursive: true, force: true })
    }
  })
  test('in live mode clients are told nothing, and operators are refused all the same', async () => {
    const live = await TestPlatform.start({ ...LIVE, KONTOR_RATE_LIMITS: '100' })
    try {
      const reply = await live.client().get('/spot/currencies', { limt: 5 })
      assert.deepEqual([reply.status, ignored(reply)], [200, null])
      refused(
        await live.operator.call('PATCH', '/chains/BTC', { pausd: true }),
        400,
        'INVALID_PARAM_VALUE',
        /did you mean paused\?/,
      )
    } finally {
      await live.stop()
    }
  })
})
