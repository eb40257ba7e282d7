import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { moveOf } from '../src/cli/clock.ts'
import { ruleOf } from '../src/cli/fault.ts'
import { Client, ok } from './support/client.ts'
import { LIVE, TOKEN } from './support/platform.ts'
import { PlatformProcess, kontor } from './support/process.ts'

describe('drives from the terminal', () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-drives-'))
  let platform: PlatformProcess
  let demo: Client
  let demoId: number
  before(async () => {
    platform = await PlatformProcess.start({ KONTOR_DATA: data, KONTOR_AGENTS: 'on' })
    const { accounts } = JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))
    demo = new Client(platform.url, accounts[0])
    demoId = accounts[0].user_id
  })
  after(async () => {
    await platform.kill()
    rmSync(data, { recursive: true, force: true })
  })
  const drive = async (...words: string[]): Promise<string> => {
    const { code, output, errors } = await kontor(
      words.includes('--data') ? words : [...words, '--data', data],
    )
    assert.equal(code, 0, `${words.join(' ')}: ${errors}`)
    assert.equal(errors, '')
    return output
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  const json = async (...words: string[]): Promise<any> => JSON.parse(await drive(...words, '--json'))

  test('clock: shows, steps, and goes to a time', async () => {
    // Without agents, who would trade for the whole day that passes.
    const quiet = mkdtempSync(join(tmpdir(), 'kontor-drives-'))
    const still = await PlatformProcess.start({ KONTOR_DATA: quiet })
    const shown = (...words: string[]): Promise<string> => drive('clock', ...words, '--data', quiet)
    const told = async (...words: string[]): Promise<{ now: number; due_failed: number }> =>
      JSON.parse(await shown(...words, '--json'))
    assert.match(await shown(), /^\d{4}-\d\d-\d\dT[\d:.]+Z \(\d+(\.\d+)?\), the wall clock\n$/)
    const before = (await told()).now
    const moved = await told('+1d')
    assert.ok(moved.now >= before + 86_400 && moved.now < before + 86_460)
    assert.equal(moved.due_failed, 0)
    assert.match(await shown('+90s'), /, 1d (1m )?\d+s ahead of the wall clock\n$/)
    const target = Math.floor(moved.now) + 7_200
    const there = await told(new Date(target * 1000).toISOString())
    assert.ok(there.now >= target && there.now < target + 60)
    const back = await kontor(['clock', '2001-01-01', '--data', quiet])
    assert.equal(back.code, 1)
    assert.match(back.errors, /^kontor: now: time does not run back; .*\(400 INVALID_PARAM_VALUE\)\n$/)
    await still.kill()
    rmSync(quiet, { recursive: true, force: true })
  })

  test('fund: by login name or id', async () => {
    const has = async (): Promise<number> =>
      Number(ok(await demo.get('/spot/accounts', { currency: 'BTC' }))[0].available)
    const before = await has()
    assert.match(
      await drive('fund', 'demo', '10', 'BTC'),
      new RegExp(`^credited 10 BTC to demo \\(${demoId}\\); spot holds`),
    )
    const reply = await json('fund', String(demoId), '0.5', 'btc')
    assert.equal(reply.login_name, 'demo')
    assert.equal(reply.balance.currency, 'BTC')
    assert.equal(await has(), before + 10.5)
    assert.match(
      await drive('fund', 'demo', '7', 'USDT', '--account', 'futures', '--settle', 'usdt'),
      /futures holds/,
    )
  })

  test('crash: the agents let a market fall', async () => {
    const market = await json('crash', 'ETH', '30%', '--seconds', '60')
    assert.equal(market.currency_pair, 'ETH_USDT')
    assert.equal(market.scenario, 'crash')
    assert.match(await drive('crash', 'eth_btc', '0.1', '--scenario', 'gap'), /^gap in ETH_BTC until /)
  })

  test('call: either API, as any demo account, whole or one member', async () => {
    assert.equal((await json('call', 'GET', '/operator/v1/status')).mode, 'sandbox')
    assert.equal(await drive('call', 'GET', '/api/v4/account/detail', '--pick', 'user_id'), `${demoId}\n`)
    const sub = await drive('call', 'get', '/api/v4/account/detail', '--as', 'demo_bot', '--pick', 'user_id')
    assert.equal(sub, `${demoId + 1}\n`)
    const body = '{"currency_pair":"BTC_USDT","side":"buy","amount":"0.01","price":"30000"}'
    assert.equal(await drive('call', 'POST', '/api/v4/spot/orders', body, '--pick', 'status'), 'open\n')
    assert.equal(
      await drive('call', 'DELETE', '/api/v4/spot/orders?currency_pair=BTC_USDT', '--pick', '0.finish_as'),
      'cancelled\n',
    )
    const cases: [words: string[], code: number, message: RegExp][] = [
      [['GET', '/api/v4/spot/nothing'], 1, /is not an address of this platform.* \(404 NOT_FOUND\)/],
      [['GET', '/operator/v1/status', '--pick', 'a.b'], 1, /the reply has no member "a.b"/],
      [['GET', '/operator/v1/statuss'], 1, /did you mean \/operator\/v1\/status\?.* \(404 NOT_FOUND\)/],
      [['POST', '/operator/v1/withdrawals//divert'], 1, /withdrawals\/\/divert: a part of it is empty/],
      [['GET', '/status'], 2, /must begin with \/operator\/v1\/ or \/api\/v4\//],
      [['POST', '/operator/v1/clock', '{advance}'], 2, /BODY \{advance\} is not JSON/],
      [
        ['GET', '/api/v4/account/detail', '--as', 'nobody'],
        2,
        /no key of "nobody" .* it has demo, demo_bot, demo_treasury/,
      ],
      [['GET', '/operator/v1/status', '--as', 'demo'], 2, /--as is for calls of \/api\/v4/],
    ]
    for (const [words, code, message] of cases) {
      const run = await kontor(['call', ...words, '--data', data])
      assert.equal(run.code, code, run.errors)
      assert.match(run.errors, message)
      assert.match(run.errors, /^kontor: [^\n]*\n$/)
    }
  })

  test('mine: one block or many', async () => {
    const { height } = await json('mine', 'BTC')
    assert.match(await drive('mine', 'btc', '3'), new RegExp(`^BTC is at height ${String(height + 3)}\\n$`))
  })

  test('fault: adds from short words, lists, clears', async () => {
    assert.equal(await drive('fault'), 'no faults\n')
    assert.equal(
      await drive('fault', 'error', '503', 'TOO_BUSY', 'get', '/spot/time', 'x1'),
      'error 503 TOO_BUSY GET /spot/time x1 (1 left)\n',
    )
    assert.equal((await demo.get('/spot/time')).status, 503)
    ok(await demo.get('/spot/time'))
    const words = ['error', '502', 'then', 'pass', 'then', 'drop', '/account/*', 'user=demo']
    assert.equal((await json('fault', ...words))[0].left, 3)
    assert.equal((await demo.get('/account/detail')).status, 502)
    ok(await demo.get('/account/detail'))
    assert.equal(
      await drive('fault', 'list'),
      `error 502 then pass then drop /account/* user=${demoId} (1 left)\n`,
    )
    await assert.rejects(demo.get('/account/detail'))
    await drive('fault', 'delay', '5ms')
    assert.equal(await drive('fault', 'clear'), 'no faults\n')
  })

  test('orders: lists and cancels', async () => {
    assert.equal(await drive('orders', 'demo'), 'no open orders\n')
    const order = { currency_pair: 'BTC_USDT', side: 'sell', amount: '0.01', price: '200000' }
    const { id } = ok(await demo.post('/spot/orders', order), 201)
    assert.match(
      await drive('orders'),
      new RegExp(`^ID +USER .*\\n${String(id)} +demo \\(${demoId}\\) +BTC_USDT +spot +sell +200000 +0.01 `),
    )
    assert.deepEqual(
      (await json('orders', 'demo', '--pair', 'BTC')).map((one: { id: string }) => one.id),
      [id],
    )
    assert.deepEqual(await json('orders', 'demo', '--pair', 'ETH'), [])
    assert.ok((await json('orders', '--agents', '--limit', '30')).length > 1)
    assert.deepEqual(await json('orders', 'cancel', 'demo', '--pair', 'BTC'), { cancelled: 1 })
    assert.equal(await drive('orders', 'cancel', 'demo'), '0 orders cancelled\n')
    const all = await kontor(['orders', 'cancel', '--data', data])
    assert.equal(all.code, 2)
    assert.match(all.errors, /needs a USER or --pair/)
  })

  test('log: the past, filtered, and live', async () => {
    ok(await demo.get('/account/detail', 'n=1'))
    const past = await drive('log', '--once', '--user', 'demo', '--limit', '1')
    assert.match(
      past,
      new RegExp(
        `^\\S+Z 200 GET /api/v4/account/detail\\?n=1 user ${demoId} [\\d.]+ ms \\(ignored: n\\)\\n  < {`,
      ),
    )
    assert.equal((await json('log', '--once', '--path', '/account/*', '--limit', '1')).query, 'n=1')
    assert.equal(await drive('log', '--once', '--status', '418'), '')
    const live = PlatformProcess.launch({}, [
      'log',
      '--data',
      data,
      '--path',
      '/wallet/transfers',
      '--status',
      '4xx',
    ])
    const seen = new Promise<void>((resolve) =>
      live.child.stdout!.on('data', () => {
        if (/> {"currency":"x"}\n  < {"label"/.test(live.output)) resolve()
      }),
    )
    const timer = setInterval(() => void demo.post('/wallet/transfers', { currency: 'x' }), 200)
    await seen
    clearInterval(timer)
    assert.match(live.output, /400 POST \/api\/v4\/wallet\/transfers/)
    live.child.kill('SIGINT')
    await live.exit
  })

  test('what goes wrong is one line that says how to mend it', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'kontor-none-'))
    const broken = mkdtempSync(join(tmpdir(), 'kontor-broken-'))
    writeFileSync(join(broken, 'credentials.json'), '{ no')
    const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    other.unref()
    const strange = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const here = ['--data', data]
    const cases: [args: string[], code: number, message: RegExp, env?: Record<string, string>][] = [
      [['clock', '--data', empty], 2, /there is no .*credentials.json: .*--data.*KONTOR_OPERATOR_TOKEN/],
      [['clock', '--data', broken], 2, /credentials.json can't be read/],
      [
        ['clock', ...here, '--url', 'http://127.0.0.1:1'],
        1,
        /no platform answers at http:\/\/127.0.0.1:1.*kontor start/,
      ],
      [['clock', ...here, '--url', strange], 1, /is not this platform/],
      [['clock', ...here, '--url', 'nowhere'], 2, /--url "nowhere" must be/],
      [
        ['clock', ...here],
        2,
        /does not take the operator token of KONTOR_OPERATOR_TOKEN/,
        { KONTOR_OPERATOR_TOKEN: 'x' },
      ],
      [['clock', ...here, 'tomorrow'], 2, /"tomorrow" must be a step such as \+1d/],
      [['clock', '+1d', '+1d', ...here], 2, /one word too many/],
      [['fund', 'nobody', '1', 'BTC', ...here], 1, /there is no user "nobody"; .*such as .*demo \(\d+\)/],
      [['fund', '999999', '1', 'BTC', ...here], 1, /there is no user "999999"/],
      [['fund', 'demo', 'BTC', '1', ...here], 2, /AMOUNT "BTC" must be a decimal/],
      [['fund', 'demo', '1', ...here], 2, /something is missing/],
      [['fund', 'demo', '1', 'NOPE', ...here], 1, /INVALID_CURRENCY/],
      [['crash', 'BTC', '130%', ...here], 2, /PERCENT "130%" must be/],
      [['crash', 'NOPE', '10%', ...here], 1, /INVALID_CURRENCY/],
      [['crash', 'BTC', '--scenario', 'boom', ...here], 2, /--scenario "boom" must be one of/],
      [['mine', 'NOPE', ...here], 1, /there is no chain "NOPE"; there are BTC, ETH, /],
      [['mine', 'BTC', '0', ...here], 2, /BLOCKS "0" must be/],
      [['fault', 'explode', ...here], 2, /"explode" is no effect/],
      [['fault', 'error', 'hard', ...here], 2, /"hard" is not a word of a fault/],
      [['fault', 'error', 'then', ...here], 2, /"then" needs an effect after it/],
      [['fault', 'delay', ...here], 1, /delay_ms/],
      [['orders', 'nobody', ...here], 1, /there is no user "nobody"/],
      [['orders', '--limit', '0', ...here], 2, /--limit "0" must be/],
      [['log', '--status', 'bad', ...here], 1, /4xx/],
    ]
    for (const [args, code, message, env] of cases) {
      const run = await kontor(args, env)
      assert.equal(run.code, code, `${args.join(' ')}: ${run.errors}`)
      assert.match(run.errors, message)
      assert.match(run.errors, /^kontor: [^\n]*\n$/, args.join(' '))
      assert.equal(run.output, '')
    }
    other.close()
    for (const folder of [empty, broken]) rmSync(folder, { recursive: true, force: true })
  })

  test('a live platform can be looked at, but not driven', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-live-'))
    const token = { KONTOR_OPERATOR_TOKEN: TOKEN }
    const live = await PlatformProcess.start({ ...LIVE, ...token, KONTOR_DATA: folder })
    const place = ['--url', live.url, '--data', folder]
    const clock = await kontor(['clock', '+1d', ...place], token)
    assert.equal(clock.code, 1)
    assert.match(clock.errors, /has no POST \/clock: it runs in live mode/)
    const orders = await kontor(['orders', ...place], token)
    assert.deepEqual([orders.code, orders.output], [0, 'no open orders\n'])
    await live.kill()
    rmSync(folder, { recursive: true, force: true })
  })
})

test('steps and times of the clock', () => {
  assert.deepEqual(moveOf('+1d12h'), { advance_seconds: 129_600 })
  assert.deepEqual(moveOf('+1.5m'), { advance_seconds: 90 })
  assert.deepEqual(moveOf('+90'), { advance_seconds: 90 })
  assert.deepEqual(moveOf('1893456000'), { now: 1_893_456_000 })
  assert.deepEqual(moveOf('2030-01-01'), { now: 1_893_456_000 })
  assert.deepEqual(moveOf('2030-01-01 02:00:00+02:00'), { now: 1_893_456_000 })
  for (const word of ['1d', '-1d', '+', '+1y', '2030-13-01', '5'])
    assert.throws(() => moveOf(word), /must be a step/)
})
test('words of a fault', async () => {
  const api = { user: (login_name: string) => Promise.resolve({ user_id: 7, login_name }) }
  assert.deepEqual(await ruleOf(['twice', 'POST', '/withdrawals', 'user=a', 'key=k', 'p=0.5', '2s'], api), {
    match: { method: 'POST', path: '/withdrawals', user_id: 7, key: 'k' },
    effect: 'duplicate',
    delay_ms: 2000,
    probability: 0.5,
  })
  assert.deepEqual(await ruleOf(['error', 'TOO_BUSY', 'then', 'delay', '10ms', 'x2'], api), {
    match: {},
    sequence: [
      { effect: 'error', label: 'TOO_BUSY' },
      { effect: 'delay', delay_ms: 10 },
    ],
    times: 2,
  })
})
