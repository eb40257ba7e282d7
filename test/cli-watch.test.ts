import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, OperatorClient, ok } from './support/client.ts'
import { PlatformProcess, kontor } from './support/process.ts'

describe('kontor watch', { timeout: 120_000 }, () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-watch-'))
  let platform: PlatformProcess
  let demo: Client
  let operator: OperatorClient
  let known: { operator_token: string; accounts: { login_name: string; key: string; secret: string }[] }
  before(async () => {
    platform = await PlatformProcess.start({ KONTOR_DATA: data })
    known = JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))
    demo = new Client(platform.url, known.accounts[0])
    operator = new OperatorClient(platform.url, known.operator_token)
    // Of a market that never traded there is no candle to show.
    for (const side of ['sell', 'buy']) await order(side, '60000')
  })
  after(async () => {
    await platform.kill()
    rmSync(data, { recursive: true, force: true })
  })
  /** Runs until it is subscribed. */
  const watching = async (...words: string[]): Promise<PlatformProcess> => {
    const run = PlatformProcess.launch({}, ['watch', ...words, '--data', data])
    for (let i = 0; i < 400; i++) {
      const list = (await operator.ok('GET', '/sockets')) as { subscriptions: number }[]
      if (list.some(({ subscriptions }) => subscriptions > 0)) return run
      await sleep(25)
    }
    await run.kill()
    throw new Error(`it did not subscribe: ${run.errors}`)
  }
  const alone = async (): Promise<void> => {
    for (let i = 0; i < 200; i++) {
      if ((await operator.ok('GET', '/sockets')).length === 0) return
      await sleep(25)
    }
    throw new Error('a connection was left')
  }
  const order = async (side: string, price: string): Promise<string> =>
    ok(
      await demo.request('POST', '/spot/orders', {
        body: { currency_pair: 'BTC_USDT', side, amount: '0.001', price },
      }),
      201,
    ).id
  const place = (price: string): Promise<string> => order('buy', price)
  const lines = (run: { output: string }): unknown[] =>
    run.output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))

  test('a public stream: the result alone, as REST says it, so many as were asked for', async () => {
    const run = await kontor(['watch', 'spot.tickers', 'btc_usdt', '--count', '1', '--data', data])
    assert.deepEqual([run.code, run.errors], [0, ''])
    const [ticker] = ok(await demo.get('/spot/tickers', { currency_pair: 'BTC_USDT' }))
    const [seen] = lines(run) as [Record<string, string>]
    for (const name of ['currency_pair', 'last', 'highest_bid', 'lowest_ask', 'base_volume'])
      assert.equal(seen[name], ticker[name], name)
    const candles = await kontor([
      'watch',
      'spot.candlesticks',
      '1m',
      'BTC_USDT',
      '--count',
      '1',
      '--url',
      platform.url,
    ])
    assert.equal((lines(candles)[0] as { n: string }).n, '1m_BTC_USDT')
    const json = await kontor(['watch', 'spot.obu', '["ob.BTC_USDT.50"]', '--count', '1', '--data', data])
    assert.equal((lines(json)[0] as { full: boolean }).full, true)
  })
  test('--raw prints whole frames, the answer first', async () => {
    const run = await kontor([
      'watch',
      'spot.book_ticker',
      'BTC_USDT',
      '--count',
      '1',
      '--raw',
      '--data',
      data,
    ])
    const [answer, push] = lines(run) as [Record<string, unknown>, Record<string, unknown>]
    assert.deepEqual(answer['result'], { status: 'success' })
    assert.deepEqual([push['channel'], push['event']], ['spot.book_ticker', 'update'])
  })
  test('a private stream is signed by the demo account, or by whom --as and --key name', async () => {
    const run = await watching('spot.orders', '!all', '--count', '2')
    const id = await place('30000')
    await demo.request('DELETE', `/spot/orders/${id}`, { query: { currency_pair: 'BTC_USDT' } })
    assert.equal(await run.exit, 0)
    assert.deepEqual(
      (lines(run) as { id: string; event: string }[][]).map(([order]) => [order!.id, order!.event]),
      [
        [id, 'put'],
        [id, 'finish'],
      ],
    )
    await alone()
    // Another account sees nothing of it, and Ctrl-C ends it without a word.
    const other = await watching('spot.orders', 'BTC_USDT', '--as', 'demo_bot')
    await place('30001')
    await sleep(300)
    assert.equal(await other.kill('SIGINT'), 0)
    assert.deepEqual([other.output, other.errors], ['', ''])
    await alone()
    const file = join(data, 'secret')
    writeFileSync(file, known.accounts[0]!.secret)
    const keyed = await watching(
      'spot.orders',
      'BTC_USDT',
      '--count',
      '1',
      '--key',
      known.accounts[0]!.key,
      '--secret-file',
      file,
    )
    await place('30002')
    assert.equal(await keyed.exit, 0)
    assert.equal((lines(keyed) as { price: string }[][])[0]![0]!.price, '30002')
    await alone()
  })
  test('after the clock was moved it still signs with the right time', async () => {
    await operator.ok('POST', '/clock', { advance_seconds: 86_400 })
    const run = await watching('spot.balances', '--count', '1')
    await operator.ok(
      'POST',
      `/users/${(known.accounts[0] as unknown as { user_id: number }).user_id}/credit`,
      {
        account: 'spot',
        currency: 'BTC',
        amount: '1',
      },
    )
    assert.equal(await run.exit, 0)
    assert.equal((lines(run) as { currency: string; change: string }[][])[0]![0]!.change, '1')
    await alone()
  })
  test('it says why it ended', async () => {
    const run = await watching('spot.trades', 'BTC_USDT')
    const [{ conn_id }] = await operator.ok('GET', '/sockets')
    await operator.ok('DELETE', `/sockets/${conn_id}`)
    assert.equal(await run.exit, 1)
    assert.match(run.errors, /^kontor: the connection was closed: 1008 [^\n]+\n$/)
    await alone()
    const reset = await watching('spot.trades', 'BTC_USDT')
    await operator.ok('POST', '/reset')
    assert.equal(await reset.exit, 1)
    assert.match(reset.errors, /closed: 1012 /)
  })
  test('a reader that has seen enough ends it', async () => {
    const run = await watching('spot.trades', 'BTC_USDT')
    run.child.stdout!.destroy()
    for (let i = 0; i < 40 && run.child.exitCode === null; i++) {
      for (const side of ['sell', 'buy']) await order(side, '60000')
      await sleep(50)
    }
    assert.equal(await run.exit, 0)
    assert.equal(run.errors, '')
  })
  test('contracts, at the address of their settle currency', async () => {
    const first = async (...words: string[]): Promise<Record<string, string>> => {
      const run = await kontor(['watch', ...words, '--count', '1', '--data', data])
      assert.deepEqual([run.code, run.errors], [0, ''], words.join(' '))
      const [seen] = lines(run)
      return (Array.isArray(seen) ? seen[0] : seen) as Record<string, string>
    }
    assert.equal((await first('futures.tickers', 'BTC_USDT'))['contract'], 'BTC_USDT')
    assert.equal((await first('futures.order_book', 'BTC_USDT', '5', '0'))['contract'], 'BTC_USDT')
    assert.equal((await first('futures.tickers', 'BTC_USD', '--at', '/v4/ws/btc'))['contract'], 'BTC_USD')
  })
  test('what goes wrong is one line', async () => {
    const strange = createHttpServer((_request, response) => response.writeHead(404).end('hello'))
    await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve))
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const free = (closed.address() as AddressInfo).port
    await new Promise((resolve) => closed.close(resolve))
    const here = ['--data', data]
    const empty = mkdtempSync(join(tmpdir(), 'kontor-empty-'))
    const cases: [string[], number, RegExp, Record<string, string>?][] = [
      [[...here], 2, /something is missing; usage: kontor watch/],
      [['spot.nothing', 'BTC_USDT', ...here], 1, /^kontor: unknown channel: spot\.nothing; /],
      [['spot.tickers', 'LUNAR_USDT', ...here], 1, /unknown currency pair: LUNAR_USDT/],
      [['spot.tickers', ...here], 1, /payload: a list is needed/],
      [['futures.tickers', 'LUNAR_USDT', ...here], 1, /unknown contract LUNAR_USDT/],
      [['futures.tickers', 'BTC_USDT', '--at', '/v4/ws/btc', ...here], 1, /unknown contract BTC_USDT/],
      [['futures.tickers', 'BTC_USDT', '--at', '/nowhere', ...here], 2, /--at \/nowhere is no address/],
      [['spot.tickers', '[oops', ...here], 2, /is not JSON/],
      [['spot.tickers', 'BTC_USDT', '--count', '0', ...here], 2, /--count "0" must be/],
      [['spot.orders', '!all', '--as', 'nobody', ...here], 2, /no key of "nobody"/],
      [['spot.orders', '!all', '--secret', 'x', ...here], 2, /--secret would show/],
      [['spot.orders', '!all', '--key', 'x', ...here], 2, /--key needs its secret/],
      [['spot.orders', '!all', '--data', empty], 2, /there is no key in/],
      [
        ['spot.orders', '!all', '--key', 'f'.repeat(32), ...here],
        1,
        /\(INVALID_KEY\)/,
        { KONTOR_SIGN_SECRET: 'x' },
      ],
      [['unified.assets', ...here], 1, /\(ACCOUNT_EXCEPTION\)/],
      [
        ['spot.tickers', 'BTC_USDT', '--url', `http://127.0.0.1:${free}`],
        1,
        /no platform answers at ws:.*ECONNREFUSED/,
      ],
      [
        ['spot.tickers', 'BTC_USDT', '--url', `http://127.0.0.1:${(strange.address() as AddressInfo).port}`],
        1,
        /status 404; is this the platform's address/,
      ],
      [['spot.tickers', 'BTC_USDT', '--url', 'nonsense'], 2, /--url "nonsense/],
    ]
    for (const [args, code, message, env] of cases) {
      const run = await kontor(['watch', ...args], env)
      assert.equal(run.code, code, `${args.join(' ')}: ${run.errors}`)
      assert.match(run.errors, message)
      assert.match(run.errors, /^kontor: [^\n]*\n$/, args.join(' '))
      assert.equal(run.output, '')
    }
    strange.close()
    rmSync(empty, { recursive: true, force: true })
  })
})
