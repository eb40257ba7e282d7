import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ok, type Client } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'
import { until } from '../support/venue.ts'

const NAME = 'BTC_USDT'
type Result = Frame

/** Public channels of contracts: what is refused, what they are written in, and that they say what REST says. */
describe('public channels of contracts', () => {
  let platform: TestPlatform
  let rest: Client
  let maker: ContractTrader
  let taker: ContractTrader
  const sockets: SocketClient[] = []
  const open = async (path = '/v4/ws/usdt', headers: Record<string, string> = {}): Promise<SocketClient> => {
    const socket = await SocketClient.open(platform.url, platform.now, path, headers)
    sockets.push(socket)
    return socket
  }
  const read = async (path: string, query: Record<string, string | number | boolean>): Promise<Result> =>
    ok(await rest.get(path, query)) as Result
  before(async () => {
    platform = await TestPlatform.start()
    rest = platform.client()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '10000000')
    taker = await ContractTrader.of(platform, '1000000')
    await maker.placed(-10, '60010')
    await maker.placed(12, '59990')
  })
  after(async () => {
    for (const socket of sockets) if (socket.closed === undefined) await socket.close()
    await platform.stop()
  })
  /** This clock runs: a span that has just begun does not end by itself meanwhile. */
  const justAfter = async (seconds: number): Promise<void> => {
    const { now } = await platform.operator.ok('GET', '/clock')
    await platform.operator.ok('POST', '/clock', { advance_seconds: seconds + 1 - Math.floor(now % seconds) })
  }
  const subscribed = async (socket: SocketClient, channel: string, payload: unknown): Promise<void> => {
    const answer = await socket.subscribe(channel, payload)
    assert.deepEqual(answer['result'], { status: 'success' }, JSON.stringify(answer))
  }
  const first = async (socket: SocketClient, channel: string, payload: unknown): Promise<Frame> => {
    const push = socket.next((frame) => frame['channel'] === channel && frame['event'] !== 'subscribe')
    await subscribed(socket, channel, payload)
    return push
  }

  test('arguments: code 2, which names the value; and where a channel is served', async () => {
    const refused = async (socket: SocketClient, channel: string, payload: unknown, message: RegExp) => {
      const frame = await socket.subscribe(channel, payload)
      assert.equal(frame['error']?.code, 2, JSON.stringify(frame))
      assert.match(frame['error'].message as string, message)
    }
    const usdt = await open()
    for (const [channel, payload, message] of [
      ['futures.tickers', [NAME, 'LUNAR_USDT'], /^unknown contract LUNAR_USDT$/],
      ['futures.tickers', [], /a list is needed/],
      ['futures.trades', ['BTC_USD'], /^unknown contract BTC_USD$/],
      ['futures.order_book', [NAME, '7', '0'], /limit: "7".*100, 50, 20, 10, 5, 1/],
      ['futures.order_book', [NAME, '20', '5'], /interval: "5"/],
      ['futures.order_book_update', [NAME, '1000ms'], /interval: "1000ms".*20ms, 100ms/],
      ['futures.order_book_update', [NAME, '20ms', '50'], /level: "50".*one of 20$/],
      ['futures.order_book_update', [NAME, '100ms', '10'], /level: "10".*100, 50, 20/],
      ['futures.obu', [NAME], /ob\.<contract>\.<level>/],
      ['futures.obu', [`ob.${NAME}.100`], /level: "100".*50, 400/],
      ['futures.candlesticks', ['1s', NAME], /interval: "1s".*10s.*1w/],
      ['futures.candlesticks', ['1m'], /the contract is missing/],
      ['futures.candlesticks', ['1m', 'mark_LUNAR_USDT'], /unknown contract LUNAR_USDT/],
      ['futures.orders', ['10001', NAME], /MISSING_REQUIRED_HEADER/],
      ['futures.nothing', ['10001', '!all'], /unknown channel: futures\.nothing/],
      ['futures.candlesticks', ['1M', NAME], /interval: "1M".*1m.*1w/],
      ['futures.contract_stats', [NAME, '1M'], /interval: "1M".*1m/],
      ['futures.contract_stats', [NAME, '2m'], /interval: "2m".*1m, 5m, 15m, 30m, 1h, 4h, 1d, 7d/],
      ['spot.tickers', [NAME], /served at \/ws\/v4\//],
    ] as const)
      if (channel === 'futures.orders') {
        const frame = await usdt.subscribe(channel, payload)
        assert.equal(frame['error'].code, 4)
        assert.match(frame['error'].message as string, message)
      } else await refused(usdt, channel, payload, message)
    const btc = await open('/fx-ws/v4/ws/btc')
    await refused(btc, 'futures.tickers', [NAME], /^unknown contract BTC_USDT$/)
    await subscribed(btc, 'futures.tickers', ['btc_usd'])
    const dated = await open('/v4/ws/delivery/usdt')
    await refused(dated, 'futures.tickers', [NAME], /^unknown contract/)
    await refused(dated, 'futures.obu', [`ob.${NAME}.50`], /served at \/v4\/ws\/usdt/)
    await refused(dated, 'futures.contract_stats', [NAME, '5m'], /served at \/v4\/ws\/usdt/)
    await refused(dated, 'futures.public_liquidates', ['!all'], /served at \/v4\/ws\/usdt/)
    await refused(await open('/v4/ws/delivery/btc'), 'futures.trades', [NAME], /unknown contract/)
    await subscribed(usdt, 'futures.obu', [`ob.${NAME}.50`])
    await refused(usdt, 'futures.obu', [`ob.${NAME}.50`], /^Alert sub ob\.BTC_USDT\.50$/)
  })

  test('tickers are REST’s, without the best prices', async () => {
    const socket = await open()
    const frame = await first(socket, 'futures.tickers', [NAME, 'ETH_USDT'])
    const told = (frame['result'] as Result[])[0]!
    const [row] = (await read('/futures/usdt/tickers', { contract: told['contract'] as string })) as Result[]
    assert.equal(Object.keys(told).length, 17)
    for (const [name, value] of Object.entries(told)) {
      assert.equal(value, row![name], name)
      assert.equal(typeof value, 'string')
    }
    assert.equal('lowest_ask' in told, false)
    const next = socket.next(
      ({ channel, result }) => channel === 'futures.tickers' && result[0].index_price === '60600',
    )
    await setIndex(platform, { BTC: '60600', ETH: '3000' })
    assert.equal((await next)['result'][0].contract, NAME)
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
  })

  test('all contracts of an address are asked for by one word, and let go by it', async () => {
    const socket = await open()
    const names = (await read('/futures/usdt/contracts', {})).map((one: Result) => one['name'] as string)
    assert.ok(names.length > 1)
    const listed = async (): Promise<number> => {
      const rows = await platform.operator.ok('GET', '/sockets')
      return (rows as { subscriptions: number }[]).reduce((sum, { subscriptions }) => sum + subscriptions, 0)
    }
    const others = await listed()
    await subscribed(socket, 'futures.tickers', ['!all', NAME])
    assert.equal(await listed(), others + names.length)
    for (const index of ['60001', '60002']) {
      const told = Promise.all(
        [NAME, 'ETH_USDT'].map((name) =>
          socket.next(
            ({ channel, event, result }) =>
              channel === 'futures.tickers' && event === 'update' && result?.[0]?.contract === name,
          ),
        ),
      )
      await setIndex(platform, { BTC: index, ETH: `${Number(index) - 57_000}` })
      await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
      await told
    }
    await socket.unsubscribe('futures.tickers', ['!all'])
    assert.equal(await listed(), others)
    // What was asked for by its name stays, and what was not is let go by the word alone.
    await subscribed(socket, 'futures.tickers', [NAME])
    await subscribed(socket, 'futures.tickers', ['!all'])
    assert.equal(await listed(), others + names.length)
    await socket.unsubscribe('futures.tickers', ['ETH_USDT'])
    assert.equal(await listed(), others + names.length)
    await socket.unsubscribe('futures.tickers', ['!all'])
    assert.equal(await listed(), others + 1)
    const still = socket.next(({ channel, event }) => channel === 'futures.tickers' && event === 'update')
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    assert.equal((await still)['result'][0].contract, NAME)
    await socket.unsubscribe('futures.tickers', [NAME])
    assert.equal(await listed(), others)
    // Word and name together end both.
    await subscribed(socket, 'futures.tickers', [NAME, 'ETH_USDT'])
    await subscribed(socket, 'futures.tickers', ['!all'])
    await socket.unsubscribe('futures.tickers', ['!all', NAME])
    assert.equal(await listed(), others + 1)
    await socket.unsubscribe('futures.tickers', ['ETH_USDT'])
    assert.equal(await listed(), others)
  })
  test('trades: those of one command in one frame, the sign is the taker’s; sizes as the handshake wants them', async () => {
    const [plain, texts] = [await open(), await open('/v4/ws/usdt', { 'X-Gate-Size-Decimal': '1' })]
    for (const socket of [plain, texts]) await subscribed(socket, 'futures.trades', [NAME])
    await maker.placed(-3, '60005')
    const next = [plain, texts].map((socket) => socket.next(({ channel }) => channel === 'futures.trades'))
    await taker.placed(5, '60010')
    const [numbers, strings] = await Promise.all(next)
    const rows = (await read('/futures/usdt/trades', { contract: NAME, limit: 2 })) as Result[]
    assert.equal(rows.length, 2)
    assert.deepEqual(
      numbers!['result'],
      rows.reverse().map(({ is_internal: _, ...row }) => ({
        ...row,
        create_time_ms: Math.round((row['create_time_ms'] as number) * 1000),
      })),
    )
    assert.deepEqual(
      (numbers!['result'] as Result[]).map(({ size, price }) => `${size as number} ${price as string}`),
      ['3 60005', '2 60010'],
    )
    assert.deepEqual(
      (strings!['result'] as Result[]).map(({ size }) => size as unknown),
      ['3', '2'],
    )
    const sold = plain.next(({ channel }) => channel === 'futures.trades')
    await taker.placed(-2, '59990')
    assert.equal((await sold)['result'][0].size, -2)
  })

  test('best prices, whole books and deltas are REST’s book', async () => {
    const [socket, texts] = [await open(), await open('/v4/ws/usdt', { 'X-Svc-Size-Decimal': '1' })]
    const book = async (limit: number): Promise<Result> =>
      read('/futures/usdt/order_book', { contract: NAME, limit, with_id: true })
    const is = await book(20)
    const ticker = (await first(socket, 'futures.book_ticker', [NAME]))['result']
    assert.deepEqual(ticker, {
      t: Math.round((is['update'] as number) * 1000),
      u: is['id'],
      s: NAME,
      b: is['bids'][0].p,
      B: is['bids'][0].s,
      a: is['asks'][0].p,
      A: is['asks'][0].s,
    })
    assert.equal((await first(texts, 'futures.book_ticker', [NAME]))['result'].B, String(ticker.B))
    const whole = await first(socket, 'futures.order_book', [NAME, '20', '0'])
    assert.equal(whole['event'], 'all')
    assert.deepEqual(whole['result'], {
      t: ticker.t,
      id: is['id'],
      contract: NAME,
      asks: is['asks'],
      bids: is['bids'],
      l: '20',
    })
    const full = (await first(socket, 'futures.order_book_update', [NAME, '100ms', '50']))['result']
    assert.deepEqual(full, {
      t: ticker.t,
      full: true,
      s: NAME,
      l: '50',
      U: is['id'],
      u: is['id'],
      b: is['bids'],
      a: is['asks'],
    })
    const inTexts = (await first(texts, 'futures.order_book_update', [NAME, '20ms']))['result']
    assert.equal(`${inTexts.l} ${typeof inTexts.b[0].s}`, '20 string')
    const obu = (await first(socket, 'futures.obu', [`ob.${NAME}.400`]))['result']
    assert.deepEqual(
      obu.b,
      (is['bids'] as Result[]).map(({ p, s }) => [p, String(s)]),
    )
    const delta = socket.next(({ channel }) => channel === 'futures.order_book_update')
    const { id } = await maker.placed(7, '59995')
    const { U, u, b, a } = (await delta)['result']
    assert.deepEqual({ U, u, b, a }, { U: full.u + 1, u: full.u + 1, b: [{ p: '59995', s: 7 }], a: [] })
    const gone = socket.next(({ channel }) => channel === 'futures.order_book_update')
    ok(await maker.delete(`/orders/${id}`))
    assert.deepEqual((await gone)['result'].b, [{ p: '59995', s: 0 }])
    const quiet = (await first(socket, 'futures.book_ticker', ['ETH_USDT']))['result']
    assert.deepEqual([quiet.b, quiet.B, quiet.a, quiet.A], ['', 0, '', 0])
  })

  test('candles of trades, of the mark and of the index are REST’s rows', async () => {
    const socket = await open()
    for (const name of [NAME, `mark_${NAME}`, `index_${NAME}`, 'MARK_ETH_USDT']) {
      const push = await first(socket, 'futures.candlesticks', ['1m', name])
      const [told] = push['result'] as [Result]
      const shown = name.startsWith('MARK') ? 'mark_ETH_USDT' : name
      assert.equal(told['n'], `1m_${shown}`)
      const rows = (await read('/futures/usdt/candlesticks', {
        contract: shown,
        interval: '1m',
        limit: 3,
      })) as Result[]
      const row = rows.find(({ t }) => t === told['t'])
      assert.ok(row !== undefined, `${JSON.stringify(told)} ${JSON.stringify(rows)}`)
      for (const member of ['c', 'h', 'l', 'o']) assert.equal(told[member], row[member], member)
      assert.equal(told['v'], row['v'] ?? 0)
      assert.equal(told['w'], false)
      if (name === NAME) assert.equal(told['a'], String((told['v'] as number) / 10_000))
      else assert.equal(told['a'], '0')
    }
    const pushed = (name: string, test: (candle: Result) => boolean): Promise<Frame> =>
      socket.next(({ result }) => result?.[0]?.n === `1m_${name}_${NAME}` && test(result[0] as Result))
    const moved = [pushed('index', ({ c }) => c === '61000'), pushed('mark', ({ h }) => Number(h) > 60_200)]
    await setIndex(platform, { BTC: '61000', ETH: '3000' })
    await Promise.all(moved)
    const closed = pushed('index', ({ w }) => w === true)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    assert.equal((await closed)['result'][0].c, '61000')
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
  })

  test('statistics: REST’s row of the span that runs, the one before when it has ended; all end at once', async () => {
    await justAfter(300)
    const socket = await open()
    const query = { contract: NAME, interval: '5m', limit: 1 }
    const [told, ...more] = (await first(socket, 'futures.contract_stats', [NAME, '5m']))[
      'result'
    ] as Result[]
    const [row] = (await read('/futures/usdt/contract_stats', query)) as Result[]
    assert.deepEqual([told, more], [{ contract: NAME, ...row }, []])
    await subscribed(socket, 'futures.contract_stats', ['ETH_USDT', '1h'])
    const moved = socket.next(
      ({ channel, event, result }) =>
        channel === 'futures.contract_stats' && event === 'update' && result.length === 2,
      12_000,
    )
    await platform.operator.ok('POST', '/clock', { advance_seconds: 300 })
    const [ended, running] = (await moved)['result'] as [Result, Result]
    assert.deepEqual([ended['time'], running['time']], [told!['time'], (told!['time'] as number) + 300])
    const rows = (await read('/futures/usdt/contract_stats', { ...query, limit: 2 })) as Result[]
    assert.deepEqual(ended, { contract: NAME, ...rows[0] })
    assert.deepEqual((await socket.unsubscribe('futures.contract_stats', ['unsub_all']))['result'], {
      status: 'success',
    })
    const pushed = socket.pushed('futures.contract_stats').length
    await platform.operator.ok('POST', '/clock', { advance_seconds: 300 })
    await sleep(5_500)
    assert.equal(socket.pushed('futures.contract_stats').length, pushed)
  })

  test('statistics of a minute and of seven days, which REST does not have', async () => {
    await justAfter(60)
    const [minute, week] = [await open(), await open()]
    const [days] = (await first(week, 'futures.contract_stats', ['ETH_USDT', '7d']))['result'] as Result[]
    assert.equal((days!['time'] as number) % 604_800, 0)
    const moved = (): Promise<Frame> =>
      minute.next(
        ({ channel, event, result }) =>
          channel === 'futures.contract_stats' && event === 'update' && result.length === 2,
        12_000,
      )
    // One minute with a trade, the next without: what takers did is told of each by itself.
    const [told] = (await first(minute, 'futures.contract_stats', ['ETH_USDT', '1m']))['result'] as Result[]
    await maker.placed(-3, '3000', { contract: 'ETH_USDT' })
    await taker.placed(3, '3000', { contract: 'ETH_USDT' })
    for (const [size, i] of [
      [3, 0],
      [0, 1],
    ] as const) {
      const push = moved()
      await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
      const [ended, running] = (await push)['result'] as [Result, Result]
      const begun = (told!['time'] as number) + i * 60
      assert.deepEqual([ended['time'], running['time']], [begun, begun + 60])
      assert.deepEqual([ended['long_taker_size'], ended['open_interest']], [size, 3])
    }
  })

  test('dated contracts: their book at 1000ms, integers whatever the handshake says', async () => {
    const [contract] = (await read('/delivery/usdt/contracts', {})) as Result[]
    const name = contract!['name'] as string
    const trader = await ContractTrader.of(platform, '100000', { base: '/delivery/usdt' })
    await trader.placed(4, '59000', { contract: name })
    const socket = await open('/v4/ws/delivery/usdt', { 'X-Gate-Size-Decimal': '1' })
    const full = (await first(socket, 'futures.order_book_update', [name, '1000ms', '5']))['result']
    assert.deepEqual(full.b, [{ p: '59000', s: 4 }])
    const [row] = (await read('/delivery/usdt/tickers', { contract: name })) as Result[]
    const [told] = (await first(socket, 'futures.tickers', [name]))['result'] as [Result]
    for (const [member, value] of Object.entries(told)) assert.equal(value, row![member], member)
  })

  test('faults by channel: a swallowed delta shows as a gap, a call is cut off', async () => {
    const socket = await open()
    const full = (await first(socket, 'futures.order_book_update', [NAME, '20ms']))['result']
    const fault = (channel: string, effect: string): Promise<unknown> =>
      platform.operator.ok('PUT', '/faults', [{ match: { channel }, effect, times: 1 }])
    await fault('futures.order_book_update', 'gap')
    await maker.placed(1, '59001')
    await sleep(100)
    const delta = socket.next(({ channel }) => channel === 'futures.order_book_update')
    await maker.placed(1, '59002')
    assert.ok((await delta)['result'].U > full.u + 1)
    await fault('futures.order_*', 'disconnect')
    await socket.login(taker.client.credential!, 'futures.login')
    const cut = socket.whenClosed()
    void socket.call('futures.order_list', { status: 'open' }).catch(() => undefined)
    assert.equal((await cut).code, 1006)
    await platform.operator.ok('PUT', '/faults', [])
  })

  test('liquidations: of a contract one a second, of one or of all', async () => {
    const [all, one, other] = [await open(), await open(), await open()]
    // Both at once are one.
    await subscribed(all, 'futures.public_liquidates', [NAME])
    await subscribed(all, 'futures.public_liquidates', ['!all'])
    await subscribed(one, 'futures.public_liquidates', [NAME])
    await subscribed(other, 'futures.public_liquidates', ['ETH_USDT'])
    await maker.placed(3_000, '52000')
    const losers: ContractTrader[] = []
    for (let i = 0; i < 3; i++) {
      const loser = await ContractTrader.of(platform, '1000')
      ok(await loser.ask(`/positions/${NAME}/leverage`, { leverage: 10 }))
      await maker.placed(-10, '60000')
      await loser.placed(10, '60000')
      losers.push(loser)
    }
    await setIndex(platform, { BTC: '54000', ETH: '3000' })
    for (const loser of losers)
      await until('it is liquidated', async () => (await loser.position()).size === 0)
    await sleep(1_300)
    for (const socket of [all, one]) {
      const pushes = socket.pushed('futures.public_liquidates')
      assert.ok(pushes.length >= 1 && pushes.length <= 2, `${pushes.length} frames for three liquidations`)
      const told = (pushes.at(-1)!['result'] as Result[])[0]!
      const rows = (await read('/futures/usdt/liq_orders', { contract: NAME })) as Result[]
      const row = rows.find(({ time }) => time === Math.floor((told['time_ms'] as number) / 1000))!
      assert.deepEqual(
        { ...told, time_ms: 0 },
        {
          price: Number(row['order_price']),
          size: row['order_size'],
          time_ms: 0,
          contract: NAME,
        },
      )
    }
    assert.deepEqual(other.pushed('futures.public_liquidates'), [])
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
  })

  test('all contracts are those too that are listed later', async () => {
    const dated = async (): Promise<Result[]> => (await read('/delivery/usdt/contracts', {})) as Result[]
    const known = new Map((await dated()).map((one) => [one['name'] as string, one['expire_time'] as number]))
    const socket = await open('/v4/ws/delivery/usdt')
    for (const channel of ['futures.tickers', 'futures.book_ticker'])
      await subscribed(socket, channel, ['!all'])
    const fresh = ['futures.tickers', 'futures.book_ticker'].map((channel) =>
      socket.next(({ channel: name, event, result }) => {
        const contract = (result?.[0]?.contract ?? result?.s) as string | undefined
        return name === channel && event === 'update' && contract !== undefined && !known.has(contract)
        // Days of the clock take a while where others work too.
      }, 60_000),
    )
    const { now } = await platform.operator.ok('GET', '/clock')
    const advance_seconds = Math.ceil(Math.min(...known.values()) - now) + 1
    await platform.operator.ok('POST', '/clock', { advance_seconds })
    const [ticker, best] = await Promise.all(fresh)
    assert.equal(ticker!['result'][0].contract, best!['result'].s)
    const names = (await dated()).map((one) => one['name'] as string)
    assert.ok(names.includes(best!['result'].s as string))
    const count = async (): Promise<number> => {
      const rows = (await platform.operator.ok('GET', '/sockets')) as Frame[]
      return rows.find(({ product, subscriptions }) => product === 'delivery_usdt' && subscriptions > 3)?.[
        'subscriptions'
      ] as number
    }
    assert.ok((await count()) >= 2 * names.length)
    // Those that have left meanwhile end with the others.
    await socket.unsubscribe('futures.tickers', ['!all'])
    await socket.unsubscribe('futures.book_ticker', ['!all'])
    assert.equal(await count(), undefined)
  })
})
