import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, signature, type Frame } from '../support/socket.ts'

/** Requests and answers of sections 1 to 4: what is echoed, what is refused and how, and what comes first. */
describe('subscriptions', () => {
  let platform: TestPlatform
  let client: SocketClient
  before(async () => {
    platform = await TestPlatform.start()
    client = await SocketClient.open(platform.url, platform.now)
  })
  after(async () => {
    await client.close()
    await platform.stop()
  })
  const refused = (frame: Frame, code: number, message: RegExp): void => {
    assert.equal(frame['result'].status, 'fail', JSON.stringify(frame))
    assert.equal(frame['error'].code, code)
    assert.match(frame['error'].message as string, message)
  }

  test('an answer echoes id, channel, event and payload, each in its type, and has no error', async () => {
    const answers = [1, 'authenticated', '22', 0].map((id) => client.next((frame) => frame['id'] === id))
    for (const id of [1, 'authenticated', '22', 0])
      client.send({
        time: 1,
        id,
        channel: 'spot.trades',
        event: 'subscribe',
        payload: ['btc_usdt'],
        more: {},
      })
    for (const answer of await Promise.all(answers)) {
      const { time, time_ms, conn_id, trace_id, requestId, id, ...rest } = answer
      assert.deepEqual(rest, {
        channel: 'spot.trades',
        event: 'subscribe',
        payload: ['btc_usdt'],
        result: { status: 'success' },
      })
      assert.ok(typeof id === 'number' || typeof id === 'string')
      assert.match(conn_id as string, /^[0-9a-f]{16}$/)
      assert.match(trace_id as string, /^[0-9a-f]{32}$/)
      assert.equal(requestId, trace_id)
      assert.equal(Math.floor((time_ms as number) / 1000), time)
    }
    const without = client.next(
      (frame) => frame['channel'] === 'spot.book_ticker' && frame['event'] === 'subscribe',
    )
    client.send({ channel: 'spot.book_ticker', event: 'subscribe', payload: ['BTC_USDT'] })
    assert.equal('id' in (await without), false)
  })

  test('pings are answered on every address, whatever they carry; and none has a null id', async () => {
    for (const path of [
      '/ws/v4/',
      '/ws/v4',
      '/v4/ws/spot',
      '/v4/ws/unified',
      '/v4/ws/usdt',
      '/fx-ws/v4/ws/usdt',
      '/v4/ws',
      '/v4/ws/delivery/btc',
      '/op-ws/v4/ws/btc',
      '/gateeu/ws/v4/',
    ]) {
      const socket = await SocketClient.open(platform.url, platform.now, `${path}?x=1`)
      for (const product of ['spot', 'futures', 'options', 'unified', 'announcement']) {
        const pong = socket.next((frame) => frame['channel'] === `${product}.pong`)
        socket.send({ time: 5, id: 'p', channel: `${product}.ping`, event: 'subscribe', auth: {} })
        const { time, time_ms, ...rest } = await pong
        assert.deepEqual(rest, { id: 'p', channel: `${product}.pong`, event: '', error: null, result: null })
        assert.ok((time as number) > 1e9 && (time_ms as number) > 1e12)
      }
      await socket.close()
    }
    const pong = client.next((frame) => frame['channel'] === 'spot.pong')
    client.send({ time: 1, id: null, channel: 'spot.ping' })
    assert.equal('id' in (await pong), false)
    for (const event of ['api', 'ping', '', 7, null, { api: 'api' }]) {
      const next = client.next((frame) => frame['channel'] === 'futures.pong')
      client.send({ time: 1, channel: 'futures.ping', event, payload: { req_id: 'p', req_param: {} } })
      assert.equal((await next)['error'], null)
    }
  })

  test('no string has a colon, 15 digits and a comma in a row, whatever a client wrote', async () => {
    const text = 'a:123456789012345,b:1234567890123456,'
    const own = await platform.user()
    await platform.credit(own.user_id, 'USDT', '1000')
    const listener = await SocketClient.open(platform.url, platform.now)
    const came: string[] = []
    listener.ws.on('message', (data: Buffer) => came.push(data.toString()))
    assert.equal((await listener.subscribe('spot.orders', ['!all'], own.credential))['error'], undefined)
    refused(await listener.subscribe('spot.tickers', [text, '"\\', { [text]: [text] }]), 2, /payload/)
    refused(await listener.subscribe('spot.tickers', [text]), 2, /^unknown currency pair: a:1234567890/)
    refused(await listener.subscribe(text, []), 2, /unknown channel/)
    const pong = listener.next((frame) => frame['channel'] === 'spot.pong')
    listener.send({ time: 1, id: text, channel: 'spot.ping' })
    assert.equal((await pong)['id'], text)
    await listener.login(own.credential)
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '20000', text: 't-1' }
    await listener.call('spot.order_place', { ...order, unknown: text }, { req_header: { [text]: text } })
    const of = { order_id: 't-1', currency_pair: 'BTC_USDT' }
    const pushed = listener.next((frame) => frame['result']?.[0]?.event === 'update')
    const amended = await listener.call('spot.order_amend', { ...of, price: '20001', amend_text: text })
    assert.equal(amended['data'].result.amend_text, text)
    assert.equal((await pushed)['result'][0].amend_text, text)
    const answer = listener.next((frame) => frame['request_id'] === text)
    listener.send({ channel: `spot.${text}`, event: 'api', payload: { req_id: text, req_param: {} } })
    assert.equal((await answer)['header'].channel, `spot.${text}`)
    // As ccxt reads a frame.
    for (const frame of came)
      assert.doesNotThrow(() => void JSON.parse(frame.replace(/:(\d{15,}),/g, ':"$1",')), frame)
    assert.equal(came.filter((frame) => frame.includes('123456789012345\\u002c')).length, 8)
    // Numbers stay as they were sent.
    const echo = await listener.subscribe('spot.nothing', { a: 1234567890123456, b: 1 })
    assert.deepEqual(echo['payload'], { a: 1234567890123456, b: 1 })
    await listener.close()
  })

  test('what is no request: code 1, and the connection lives', async () => {
    for (const [text, message] of [
      ['{', /not JSON/],
      ['[]', /not a JSON object/],
      ['"text"', /not a JSON object/],
      ['null', /not a JSON object/],
      ['{"event":"subscribe"}', /channel is missing/],
      ['{"channel":"spot.trades"}', /event is missing/],
      ['{"channel":"spot.trades","event":"subscribe","id":{}}', /id: a number or a string/],
      ['{"channel":"spot.trades","event":"subscribe","id":0.5}', /id: .*whole/],
      ['{"channel":"spot.trades","event":"subscribe","id":1e999}', /id: .*whole/],
      [`{"channel":"spot.trades","event":"subscribe","id":"${'x'.repeat(65)}"}`, /id: at most 64/],
      [
        `{"channel":"spot.trades","event":"subscribe","payload":${'['.repeat(5000)}${']'.repeat(5000)}}`,
        /nested too deep|not JSON/,
      ],
    ] as const) {
      const answer = client.next((frame) => frame['error']?.code === 1)
      client.send(text)
      const frame = await answer
      refused(frame, 1, message)
      assert.equal('id' in frame, false)
    }
    // So is a long call: it is not read at all.
    const deep = client.next((frame) => frame['error']?.code === 1)
    const lists = '['.repeat(5000) + ']'.repeat(5000)
    client.send(`{"channel":"spot.order_place","event":"api","payload":{"req_id":"1","req_param":${lists}}}`)
    refused(await deep, 1, /nested too deep/)
    for (const [event, payload] of [
      ['api', (list: string) => `{"req_id":"1","req_param":${list}}`],
      ['subscribe', (list: string) => list],
    ] as const) {
      const many = client.next((frame) => frame['error']?.code === 1)
      const list = `[${'{},'.repeat(100_000)}{}]`
      client.send(`{"channel":"spot.order_place","event":"${event}","payload":${payload(list)}}`)
      refused(await many, 1, /the frame has more than 16384 values/)
    }
    // As many as may be subscribed to are read.
    const some = client.next((frame) => frame['error']?.code === 2)
    client.send({ channel: 'spot.trades', event: 'subscribe', payload: Array(10_000).fill('NO_SUCH') })
    refused(await some, 2, /NO_SUCH/)
    // Brackets in a text are letters.
    const letters = client.next((frame) => frame['error']?.code === 2)
    const text = '["'.repeat(5000)
    client.send({ channel: 'spot.trades', event: 'subscribe', payload: [text] })
    assert.deepEqual((await letters)['payload'], [text])
    // What could be read of it comes back all the same.
    const broken = client.next((frame) => frame['error']?.code === 1)
    client.send({ id: 'x'.repeat(65), channel: 'spot.trades', event: 'subscribe', payload: ['ETH_USDT'] })
    assert.deepEqual((await broken)['payload'], ['ETH_USDT'])
    const id = 'x'.repeat(64)
    const answer = client.next((frame) => frame['id'] === id)
    client.send({ id, channel: 'spot.trades', event: 'subscribe', payload: ['BTC_USDT'] })
    assert.equal((await answer)['result'].status, 'success')
  })

  test('arguments: code 2, which names the value and what is allowed', async () => {
    for (const [channel, payload, message] of [
      ['spot.tickers', ['BTC_USDT', 'LUNAR_USDT'], /^unknown currency pair: LUNAR_USDT$/],
      ['spot.tickers', undefined, /a list is needed/],
      ['spot.tickers', [], /a list is needed/],
      ['spot.tickers', [{}], /each element is a text/],
      ['spot.tickers', 'BTC_USDT', /a list is needed/],
      ['spot.candlesticks', ['7s', 'BTC_USDT'], /interval: "7s" .*1m.*1w/],
      ['spot.candlesticks', ['1M', 'BTC_USDT'], /interval: "1M" .*1m.*1w/],
      ['spot.candlesticks', ['1m'], /the pair is missing/],
      ['spot.order_book', ['BTC_USDT', '7', '100ms'], /level: "7".*5, 10, 20, 50, 100/],
      ['spot.order_book', ['BTC_USDT', '5', '20ms'], /interval: "20ms".*100ms, 1000ms/],
      ['spot.order_book_update', ['BTC_USDT', '1000ms'], /interval: "1000ms".*20ms, 100ms/],
      ['spot.order_book_update', ['BTC_USDT'], /interval: it is missing/],
      ['spot.obu', ['BTC_USDT'], /ob\.<pair>\.<level>/],
      ['spot.obu', ['ob.BTC_USDT.51'], /level: "51".*50, 400/],
      ['spot.obu', ['ob.NO_PAIR.50'], /unknown currency pair: NO_PAIR/],
      ['spot.nothing', ['BTC_USDT'], /unknown channel: spot.nothing; \/docs lists them/],
      ['spot.ticker', ['BTC_USDT'], /unknown channel: spot.ticker; did you mean spot.tickers\?/],
      ['unified.assets', [], /served at \/v4\/ws\/unified/],
      ['futures.tickers', ['BTC_USDT'], /served at \/v4\/ws\/usdt/],
    ] as const)
      refused(await client.subscribe(channel, payload), 2, message)
    refused(await client.request('listen', 'spot.trades', ['BTC_USDT']), 2, /subscribe, unsubscribe, api/)
    const futures = await SocketClient.open(platform.url, platform.now, '/v4/ws/usdt')
    refused(await futures.subscribe('futures.tickers', ['LUNAR_USDT']), 2, /unknown contract/)
    refused(await futures.subscribe('spot.tickers', ['BTC_USDT']), 2, /served at \/ws\/v4\//)
    await futures.close()
  })

  test('elements beyond those that a channel knows are ignored, whatever they are', async () => {
    const socket = await SocketClient.open(platform.url, platform.now)
    for (const [channel, payload] of [
      ['spot.candlesticks', ['1m', 'BTC_USDT']],
      ['spot.order_book', ['BTC_USDT', '5', '100ms']],
      ['spot.order_book_update', ['BTC_USDT', '100ms']],
    ] as const)
      assert.equal(
        (await socket.subscribe(channel, [...payload, null, { a: 1 }, 'x']))['result'].status,
        'success',
      )
    await socket.close()
    const futures = await SocketClient.open(platform.url, platform.now, '/v4/ws/usdt')
    for (const [channel, payload] of [
      ['futures.candlesticks', ['1m', 'BTC_USDT']],
      ['futures.order_book', ['BTC_USDT', '5', '0']],
      ['futures.order_book_update', ['BTC_USDT', '100ms', '100']],
      ['futures.contract_stats', ['BTC_USDT', '5m']],
    ] as const)
      assert.equal((await futures.subscribe(channel, [...payload, null, false]))['result'].status, 'success')
    await futures.close()
  })

  test('the multiplier of all limits scales the subscriptions of a connection', async () => {
    const small = await TestPlatform.start({ KONTOR_RATE_LIMITS: '0.001' })
    const socket = await SocketClient.open(small.url, small.now)
    const pairs = ['BTC_USDT', 'ETH_USDT', 'ETH_BTC', 'SOL_USDT', 'XRP_USDT', 'DOGE_USDT']
    const streams = pairs.flatMap((pair) => [`ob.${pair}.50`, `ob.${pair}.400`])
    refused(await socket.subscribe('spot.obu', streams), 2, /at most 10 subscriptions/)
    await socket.close()
    await small.stop()
  })

  test('one unknown pair subscribes nothing, and a list adds to what is there', async () => {
    const socket = await SocketClient.open(platform.url, platform.now)
    await socket.subscribe('spot.tickers', ['BTC_USDT', 'NO_PAIR'])
    await sleep(50)
    assert.deepEqual(socket.pushed('spot.tickers'), [])
    await socket.subscribe('spot.tickers', ['BTC_USDT'])
    await socket.subscribe('spot.tickers', ['ETH_USDT', 'BTC_USDT'])
    await sleep(50)
    assert.deepEqual(
      socket.pushed('spot.tickers').map(({ result }) => result.currency_pair as string),
      ['BTC_USDT', 'ETH_USDT', 'BTC_USDT'],
      'a first push for each, and again',
    )
    const [row] = (await platform.client().get('/spot/tickers', { currency_pair: 'ETH_USDT' }))
      .body as Frame[]
    const { lowest_size: _, highest_size: __, ...ticker } = row!
    assert.deepEqual(socket.pushed('spot.tickers')[1]!['result'], ticker)
    await socket.close()
  })

  test('a stream of obu once; after its end again, with a whole picture', async () => {
    const socket = await SocketClient.open(platform.url, platform.now)
    assert.equal(
      (await socket.subscribe('spot.obu', ['ob.BTC_USDT.50', 'ob.btc_usdt.400']))['result'].status,
      'success',
    )
    refused(await socket.subscribe('spot.obu', ['ob.BTC_USDT.400']), 2, /^Alert sub ob.BTC_USDT.400$/)
    assert.equal((await socket.unsubscribe('spot.obu', ['ob.BTC_USDT.400']))['result'].status, 'success')
    assert.equal((await socket.unsubscribe('spot.obu', ['ob.BTC_USDT.400']))['result'].status, 'success')
    assert.equal((await socket.subscribe('spot.obu', ['ob.BTC_USDT.400']))['result'].status, 'success')
    await sleep(20)
    const full = socket.pushed('spot.obu')
    assert.deepEqual(
      full.map(({ result }) => [result.s, result.full, 'U' in (result as object)]),
      [
        ['ob.BTC_USDT.50', true, false],
        ['ob.BTC_USDT.400', true, false],
        ['ob.BTC_USDT.400', true, false],
      ],
    )
    await socket.close()
  })

  test('who may not: code 4 with REST’s label as JSON text; a wrong signature shows what was signed', async () => {
    const { credential, user_id } = await platform.user()
    const label = (frame: Frame): Frame => {
      assert.equal(frame['error'].code, 4, JSON.stringify(frame))
      return JSON.parse(frame['error'].message as string) as Frame
    }
    assert.match(label(await client.subscribe('spot.balances'))['message'] as string, /auth/)
    assert.equal(label(await client.subscribe('spot.balances'))['label'], 'MISSING_REQUIRED_HEADER')
    assert.equal(
      label(await client.subscribe('spot.balances', undefined, { key: '0'.repeat(32), secret: 'x' }))[
        'label'
      ],
      'INVALID_KEY',
    )
    const wrong = label(await client.subscribe('spot.balances', undefined, { ...credential, secret: 'x' }))
    assert.equal(wrong['label'], 'INVALID_SIGNATURE')
    assert.match(wrong['signature_string'] as string, /^channel=spot.balances&event=subscribe&time=\d+$/)
    const late = Math.floor(platform.now()) - 100
    const answer = client.next((frame) => frame['id'] === 'late')
    client.send({
      time: late,
      id: 'late',
      channel: 'spot.balances',
      event: 'subscribe',
      auth: signature('spot.balances', 'subscribe', late, credential),
    })
    assert.equal(label(await answer)['label'], 'REQUEST_EXPIRED')
    const wallet = await platform.key(user_id, [{ name: 'wallet', read_only: false }])
    assert.equal(label(await client.subscribe('spot.balances', undefined, wallet))['label'], 'FORBIDDEN')
    const margin = await platform.key(user_id, [{ name: 'margin', read_only: true }])
    assert.equal((await client.subscribe('spot.balances', undefined, margin))['result'].status, 'success')
    const elsewhere = await platform.key(user_id, [{ name: 'spot', read_only: true }], ['10.9.8.7'])
    assert.equal(
      label(await client.subscribe('spot.balances', undefined, elsewhere))['label'],
      'IP_FORBIDDEN',
    )
    const unified = await SocketClient.open(platform.url, platform.now, '/v4/ws/unified')
    refused(await unified.subscribe('unified.assets', [], credential), 2, /"label":"ACCOUNT_EXCEPTION"/)
    await unified.close()
  })

  test('!all and pairs side by side: one frame, and each ends for itself, without a signature', async () => {
    const { credential, user_id, client: rest } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    const socket = await SocketClient.open(platform.url, platform.now)
    await socket.subscribe('spot.orders', ['!all'], credential)
    await socket.subscribe('spot.orders', ['btc_usdt'], credential)
    const place = async (currency_pair: string, price: string): Promise<void> => {
      const body = { currency_pair, side: 'buy', amount: '0.01', price }
      assert.equal((await rest.request('POST', '/spot/orders', { body })).status, 201)
      await sleep(60)
    }
    const heard = (): string[] =>
      socket.pushed('spot.orders').map(({ result }) => result[0].currency_pair as string)
    await place('BTC_USDT', '50000')
    assert.deepEqual(heard(), ['BTC_USDT'])
    await socket.unsubscribe('spot.orders', ['!all'])
    await place('ETH_USDT', '2500')
    await place('BTC_USDT', '50000')
    assert.deepEqual(heard(), ['BTC_USDT', 'BTC_USDT'])
    await socket.unsubscribe('spot.orders', ['BTC_USDT'])
    await place('BTC_USDT', '50000')
    assert.equal(heard().length, 2)
    // Together they end both.
    await socket.subscribe('spot.orders', ['!all'], credential)
    await socket.subscribe('spot.orders', ['BTC_USDT', 'ETH_USDT'], credential)
    await socket.unsubscribe('spot.orders', ['!all', 'BTC_USDT'])
    await place('BTC_USDT', '50000')
    await place('ETH_USDT', '2500')
    assert.deepEqual(heard().slice(2), ['ETH_USDT'])
    await socket.close()
  })

  test('a connection that is full takes what it has once more, and nothing else', async () => {
    // Sixty subscriptions on a connection, and three frames a second.
    const small = await TestPlatform.start({ KONTOR_RATE_LIMITS: '0.006' })
    const { credential } = await small.user()
    const { body } = await small.client().get('/spot/currency_pairs')
    const pairs = (body as { id: string }[]).map(({ id }) => id)
    const socket = await SocketClient.open(small.url, small.now)
    let room = 60
    const asked = async (channel: string, payload: string[]): Promise<Frame> => {
      await sleep(350)
      return socket.subscribe(channel, payload, credential)
    }
    const taken = async (channel: string, payload: string[]): Promise<void> => {
      const answer = await asked(channel, payload)
      assert.deepEqual(answer['result'], { status: 'success' }, JSON.stringify(answer))
    }
    await taken('spot.usertrades', ['!all'])
    await taken('spot.obu', ['ob.BTC_USDT.50'])
    await taken('spot.orders', ['BTC_USDT', 'ETH_USDT'])
    room -= 4
    const more = [
      'tickers',
      'trades',
      'trades_v2',
      'book_ticker',
      'usertrades_v2',
      'priceorders',
      'orders_v2',
    ]
    for (const channel of more) {
      const some = pairs.slice(0, room)
      if (some.length > 0) await taken(`spot.${channel}`, some)
      room -= some.length
    }
    assert.equal(room, 0)
    refused(await asked('spot.candlesticks', ['1m', 'BTC_USDT']), 2, /^at most 60 subscriptions/)
    refused(await asked('spot.orders', ['SOL_USDT', 'BTC_USDT']), 2, /^at most 60/)
    refused(await asked('spot.orders', ['!all']), 2, /^at most 60/)
    refused(await asked('spot.obu', ['ob.BTC_USDT.50']), 2, /^Alert sub/)
    await taken('spot.tickers', pairs.slice(0, 2))
    await taken('spot.orders', ['ETH_USDT', 'BTC_USDT'])
    await taken('spot.usertrades', ['!all'])
    await socket.close()
    await small.stop()
  })

  test('a first push has the time at which it was made, however long nothing has happened', async () => {
    const { user_id, client: rest } = await platform.user()
    for (const currency of ['XRP', 'USDT']) await platform.credit(user_id, currency, '1000')
    for (const side of ['sell', 'buy'])
      await rest.post('/spot/orders', { currency_pair: 'XRP_USDT', side, amount: '100', price: '0.5' })
    const socket = await SocketClient.open(platform.url, platform.now)
    const asked: [string, string[]][] = [
      ['spot.tickers', ['XRP_USDT']],
      ['spot.book_ticker', ['XRP_USDT']],
      ['spot.candlesticks', ['30d', 'XRP_USDT']],
      ['spot.order_book', ['XRP_USDT', '5', '100ms']],
      ['spot.obu', ['ob.XRP_USDT.50']],
    ]
    for (const round of [1, 2]) {
      for (const [channel, payload] of asked) {
        const push = socket.next((frame) => frame['channel'] === channel && frame['event'] === 'update')
        const { time_ms, error } = await socket.subscribe(channel, payload)
        assert.equal(error, undefined, channel)
        assert.ok((await push)['time_ms'] >= time_ms, `${channel}, round ${round}`)
        await socket.unsubscribe(channel, payload)
      }
      await platform.operator.ok('POST', '/clock', { advance_seconds: 30 })
    }
    await socket.close()
  })

  test('a market that goes away: its streams fall silent, and can be let go', async (t) => {
    const pair = 'DOGE_USDT'
    const socket = await SocketClient.open(platform.url, platform.now)
    const asked: [string, string[]][] = [
      ['spot.tickers', [pair]],
      ['spot.candlesticks', ['1s', pair]],
      ['spot.obu', [`ob.${pair}.50`]],
    ]
    for (const one of asked)
      assert.equal((await socket.subscribe(...one))['error'], undefined, JSON.stringify(one))
    await platform.operator.ok('POST', `/markets/${pair}/delist`, {})
    const logged = t.mock.method(process.stderr, 'write', () => true)
    await platform.operator.ok('POST', `/markets/${pair}/remove`)
    await sleep(100)
    const { length } = socket.frames
    await sleep(2_200)
    assert.deepEqual(socket.frames.slice(length), [])
    assert.deepEqual(
      logged.mock.calls.map(({ arguments: [line] }) => line),
      [],
    )
    logged.mock.restore()
    for (const one of asked) {
      assert.equal((await socket.unsubscribe(...one))['error'], undefined)
      refused(await socket.subscribe(...one), 2, /^unknown currency pair: DOGE_USDT$/)
    }
    await socket.close()
  })

  test('candles: each interval of REST; the row of REST; windows close in order when the clock jumps', async () => {
    const { user_id, client: rest } = await platform.user()
    await platform.credit(user_id, 'USDT', '100000')
    await platform.credit(user_id, 'BTC', '1')
    const body = { currency_pair: 'BTC_USDT', amount: '0.1', price: '60000' }
    await rest.request('POST', '/spot/orders', { body: { ...body, side: 'sell' } })
    await rest.request('POST', '/spot/orders', { body: { ...body, side: 'buy' } })
    const socket = await SocketClient.open(platform.url, platform.now)
    for (const interval of [
      '1s',
      '10s',
      '1m',
      '5m',
      '15m',
      '30m',
      '1h',
      '2h',
      '4h',
      '8h',
      '1d',
      '7d',
      '30d',
      '1w',
    ])
      assert.equal(
        (await socket.subscribe('spot.candlesticks', [interval, 'BTC_USDT']))['result'].status,
        'success',
      )
    await sleep(50)
    const day = socket.pushed('spot.candlesticks').find(({ result }) => result.n === '1d_BTC_USDT')![
      'result'
    ] as Frame
    const [row] = (
      await platform
        .client()
        .get('/spot/candlesticks', { currency_pair: 'BTC_USDT', interval: '1d', limit: 1 })
    ).body as string[][]
    assert.deepEqual([day['t'], day['v'], day['c'], day['h'], day['l'], day['o'], day['a']], row!.slice(0, 7))
    assert.equal(day['w'], false)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 600 })
    await sleep(400)
    const closed = (name: string): Frame[] =>
      socket
        .pushed('spot.candlesticks')
        .flatMap(({ result }) =>
          result.n === `${name}_BTC_USDT` && result.w === true ? [result as Frame] : [],
        )
    const minutes = closed('1m').map(({ t }) => Number(t))
    // One more where a minute of the running clock ended by itself before the jump.
    assert.ok(minutes.length === 10 || minutes.length === 11, `${minutes.length} minutes`)
    assert.deepEqual(
      minutes,
      minutes.map((_, i) => minutes[0]! + 60 * i),
    )
    const seconds = closed('1s').map(({ t }) => Number(t))
    // The last hundred of each look at the clock while it jumps, and a busy machine has several: not all 600.
    assert.ok(seconds.length >= 100 && seconds.length < 500, `${seconds.length} seconds`)
    for (const [i, t] of seconds.entries())
      if (i > 0 && seconds.length - i < 100) assert.ok(t > seconds[i - 1]!)
    const last = closed('1m').at(-1)!
    assert.deepEqual(
      [last['o'], last['c'], last['v']],
      ['60000', '60000', '0'],
      'without trades the last close',
    )
    await socket.close()
  })
})
