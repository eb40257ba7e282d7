import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { spotCandles } from '../../src/sockets/market-forms.ts'
import { MarketStreams, SPOT_MARKETS } from '../../src/sockets/market-streams.ts'
import { TestPlatform } from '../support/platform.ts'
import { until } from '../support/raw.ts'
import { SocketBench, TestSocket, type Kind, type Known } from '../support/stand-in.ts'

const BOUND = 4 * 1024 * 1024
const EIGHTH = BOUND / 8
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const numbered = (name: string, n: number, length: number): string =>
  JSON.stringify({ name, n, pad: 'x'.repeat(length) })
const parsed = (frames: readonly string[], name: string): number[] =>
  frames
    .map((text) => JSON.parse(text) as { name: string; n: number })
    .flatMap((frame) => (frame.name === name ? [frame.n] : []))

for (const kind of ['one process', 'gateways'] as Kind[])
  describe(`slow readers, ${kind}`, () => {
    let bench: SocketBench
    before(async () => {
      const times = { sweepMs: 100 }
      bench = await SocketBench.start(kind, { queue: BOUND, rateLimits: null, times })
      bench.desk.echo = false
    })
    after(() => bench.stop())
    const sleeping = async (): Promise<[TestSocket, Known]> => {
      const [client, known] = await bench.connect()
      client.raw.pause()
      return [client, known]
    }
    /** As the door tells from time to time. */
    const waitingFor = ({ door, id }: Known): number =>
      bench.desk.waiting.get(door)?.find(([socket]) => socket === id)?.[1] ?? 0
    /** Sends until what waits is between the eighth and the bound: the system's own buffers are full then. */
    const fill = async (known: Known, low = EIGHTH * 1.5): Promise<number> => {
      // A gateway's door has its own times.
      const look = kind === 'gateways' ? 1_100 : 150
      let sent = 0
      for (let quiet = 0; quiet < 2; quiet++) {
        if (waitingFor(known) < low) {
          for (let i = 0; i < 75; i++) known.send(numbered('sent', sent++, 20_000))
          quiet = -1
        }
        await wait(look)
      }
      return sent
    }

    test('who reads gets all that is written to him in one turn, however much the system takes at once', async () => {
      const [client, known] = await bench.connect()
      known.join(1, 'newest')
      known.join(2, 'delta')
      bench.desk.picture = (_, topic) => numbered(`full${topic}`, 1, 10)
      for (let n = 1; n <= 8; n++) known.send(numbered('long', n, 300_000))
      bench.desk.publish(1, numbered('newest', 1, 10))
      bench.desk.publish(2, numbered('delta', 1, 10))
      known.send(numbered('last', 1, 10))
      const came = (name: string): number[] => parsed(client.frames, name)
      const all = (): boolean =>
        came('newest').length === 1 && came('full2').length + came('delta').length > 0
      await until(all, 3_000)
      assert.deepEqual(came('long'), [1, 2, 3, 4, 5, 6, 7, 8])
      assert.deepEqual(came('last'), [1])
      known.send(numbered('later', 1, 10))
      await until(() => came('later').length === 1, 3_000)
      client.ws.terminate()
    })
    test('each frame and every answer waits for him, of the newest one is enough, deltas begin anew', async () => {
      const [client, known] = await sleeping()
      known.join(1, 'each')
      known.join(2, 'newest')
      known.join(3, 'delta')
      known.join(4, 'newest')
      known.join(5, 'newest')
      let pictures = 0
      bench.desk.picture = (_, topic) => {
        pictures++
        return numbered(`full${topic}`, state, 10)
      }
      let state = 0
      const turn = (): void => {
        state++
        bench.desk.publish(1, numbered('each', state, 100))
        bench.desk.publish(2, numbered('newest', state, 100))
        bench.desk.publish(3, numbered('delta', state, 100))
        if (state === 20) bench.desk.publish(4, numbered('closed', state, 100), true)
        else bench.desk.publish(4, numbered('candle', state, 100))
        if (state === 100) bench.desk.publish(5, numbered('last', state, 100), true)
        else if (state < 100) bench.desk.publish(5, numbered('before', state, 100))
      }
      for (let i = 0; i < 5; i++) turn()
      const sent = await fill(known)
      for (let i = 0; i < 200; i++) turn()
      known.send('{"name":"answer","n":1}')
      await wait(200)
      assert.deepEqual(known.behind, [])
      client.raw.resume()
      await until(() => known.behind.length === 1)
      await until(() => parsed(client.frames, 'full3').length === 1)
      for (let i = 0; i < 5; i++) turn()
      await until(() => parsed(client.frames, 'delta').at(-1) === state)
      const { frames } = client
      // Never left out, in order.
      assert.deepEqual(
        parsed(frames, 'sent'),
        Array.from({ length: sent }, (_, i) => i),
      )
      assert.deepEqual(
        parsed(frames, 'each'),
        Array.from({ length: state }, (_, i) => i + 1),
      )
      assert.equal(parsed(frames, 'answer').length, 1)
      // The first five, the newest of those that were held back, and the last five.
      assert.deepEqual(parsed(frames, 'newest'), [1, 2, 3, 4, 5, 205, 206, 207, 208, 209, 210])
      // What must not be left out is not, and nothing older comes behind it.
      assert.deepEqual(parsed(frames, 'closed'), [20])
      assert.deepEqual(parsed(frames, 'candle'), [1, 2, 3, 4, 5, 205, 206, 207, 208, 209, 210])
      assert.deepEqual(parsed(frames, 'before'), [1, 2, 3, 4, 5])
      assert.deepEqual(parsed(frames, 'last'), [100])
      // A whole picture, and every delta after it.
      assert.equal(pictures, 1)
      assert.deepEqual(parsed(frames, 'full3'), [205])
      assert.deepEqual(parsed(frames, 'delta'), [1, 2, 3, 4, 5, 206, 207, 208, 209, 210])
      const names = frames.map((text) => (JSON.parse(text) as { name: string }).name)
      assert.ok(names.indexOf('full3') < names.lastIndexOf('delta') - 3)
      client.ws.terminate()
    })
    test('over the bound he is cut with 1013, and others notice nothing', async () => {
      const [quick, first] = await bench.connect()
      const [client, known] = await sleeping()
      first.join(7, 'each')
      known.join(7, 'each')
      const lags: number[] = []
      let sent = 0
      let since = 0
      quick.ws.on('message', () => lags.push(performance.now() - since))
      while (known.closed === undefined && sent < 3_000) {
        since = performance.now()
        bench.desk.publish(7, numbered('each', sent++, 10_000))
        await until(() => lags.length === sent)
        // The close is begun as soon as the bound is passed; from then on nothing is kept for him.
        assert.ok(waitingFor(known) <= BOUND + 300_000, `${waitingFor(known)} bytes wait`)
      }
      await until(() => known.closed !== undefined, 15_000)
      assert.equal(known.closed, 1013)
      assert.equal(quick.frames.length, sent)
      lags.sort((a, b) => a - b)
      assert.ok(
        lags[Math.floor(lags.length / 2)]! < 20,
        `half of the frames took ${lags[lags.length >> 1]} ms`,
      )
      client.ws.terminate()
      quick.ws.terminate()
    })
    test('who wakes up in time to hear it is told why', async () => {
      const [client, known] = await sleeping()
      for (let i = 0; i < 2_000; i++) {
        known.send(numbered('sent', i, 10_000))
        if (i % 50 === 0) await wait(2)
      }
      await wait(100)
      client.raw.resume()
      const [code, reason] = await client.closed
      assert.equal(code, 1013)
      assert.match(reason, /^slow consumer: \d+ bytes waiting$/)
      const bytes = Number(/\d+/.exec(reason)![0])
      assert.ok(bytes > BOUND && bytes < BOUND + 20_000, reason)
      await until(() => known.closed === 1013)
      // Frames that came are whole, and the first of them in order.
      const came = parsed(client.frames, 'sent')
      assert.deepEqual(
        came,
        Array.from({ length: came.length }, (_, i) => i),
      )
    })
    test('many streams of a slow reader begin anew a few at a time, and all do', async () => {
      const [client, known] = await sleeping()
      for (let topic = 100; topic < 200; topic++) known.join(topic, 'delta')
      await fill(known)
      let outstanding = 0
      let most = 0
      bench.desk.picture = undefined
      for (let topic = 100; topic < 200; topic++) bench.desk.publish(topic, numbered('delta', topic, 10))
      // One that is left meanwhile needs nothing.
      known.door.leave(known.id, 150)
      client.raw.resume()
      const answered = new Set<number>()
      while (answered.size < 99) {
        await until(() => known.behind.length > answered.size)
        outstanding = known.behind.length - answered.size
        most = Math.max(most, outstanding)
        const topic = known.behind[answered.size]!
        answered.add(topic)
        known.door.restart(known.id, topic, numbered('full', topic, 10))
      }
      await until(() => parsed(client.frames, 'full').length === 99)
      assert.ok(most <= 8, `${most} at a time`)
      assert.ok(!answered.has(150))
      for (let topic = 100; topic < 200; topic++) bench.desk.publish(topic, numbered('delta', topic, 10))
      await until(() => parsed(client.frames, 'delta').length === 99)
      client.ws.terminate()
    })
  })

test('a frame that has been waiting for too long is the end too', async () => {
  const bench = await SocketBench.start('one process', { times: { patienceMs: 600, sweepMs: 50 } })
  const [client, known] = await bench.connect()
  client.raw.pause()
  const from = performance.now()
  // Below the bound by far, over what the system takes for him.
  for (let i = 0; i < 700; i++) known.send(numbered('sent', i, 10_000))
  await until(() => known.closed !== undefined)
  const took = performance.now() - from
  assert.equal(known.closed, 1013)
  assert.ok(took > 500, `${took} ms`)
  // He who reads slowly, but reads, stays.
  const [slow, other] = await bench.connect()
  for (let i = 0; i < 700; i++) other.send(numbered('sent', i, 10_000))
  slow.raw.pause()
  for (let i = 0; i < 12; i++) {
    await wait(100)
    slow.raw.resume()
    await wait(20)
    slow.raw.pause()
  }
  assert.equal(other.closed, undefined)
  client.ws.terminate()
  slow.ws.terminate()
  await bench.stop()
})
test('pings that nobody reads the answers of are bounded', async () => {
  const bench = await SocketBench.start('one process', { queue: 131_072, rateLimits: null })
  const [client, known] = await bench.connect()
  client.raw.pause()
  const payload = Buffer.alloc(125, 'p')
  for (let i = 0; i < 400 && known.closed === undefined; i++) {
    for (let j = 0; j < 500; j++) client.ws.ping(payload)
    await wait(1)
  }
  await until(() => known.closed !== undefined)
  assert.equal(known.closed, 1013)
  client.ws.terminate()
  await bench.stop()
})
test('frames that are never finished hold no memory without bound', async () => {
  const bench = await SocketBench.start('one process', { times: { sweepMs: 50 } })
  const [whole, known] = await bench.connect()
  const half = Buffer.concat([
    Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0]),
    Buffer.alloc(1024 * 1024 - 1),
  ])
  const clients = await Promise.all(
    Array.from({ length: 80 }, async () => {
      const client = new TestSocket(`${bench.ws}/ws/v4`)
      await client.opened
      client.raw.write(half)
      return client
    }),
  )
  await until(() => bench.desk.known.filter(({ closed }) => closed === 1008).length >= 16)
  await wait(300)
  const cut = bench.desk.known.filter(({ closed }) => closed !== undefined).length
  assert.ok(cut >= 16 && cut < 30, `${cut} were cut`)
  whole.send('"small"')
  await whole.got(1)
  assert.equal(known.closed, undefined)
  // Whoever was left can finish.
  const left = clients.find(({ code }) => code === undefined)!
  left.raw.write(Buffer.from('x'))
  assert.equal((await left.got(1))[0]!.length, 1024 * 1024)
  await bench.stop()
})

test('of candles the newest is enough for one who is slow, but those that closed are kept', async () => {
  const platform = await TestPlatform.start({ KONTOR_CLOCK: '1700000000' })
  try {
    const fail = (error: unknown): never => assert.fail(String(error))
    const markets = new MarketStreams(platform.platform.desk, fail, SPOT_MARKETS)
    const told: [closed: boolean, kept: boolean][] = []
    const stream = await markets.ofCandles(spotCandles('BTC_USDT', '1m'))({
      publish: (text, kept = false) =>
        void told.push([(JSON.parse(text) as { result: { w: boolean } }).result.w, kept]),
    })
    assert.equal(stream.pace, 'newest')
    const maker = await platform.user()
    for (const currency of ['BTC', 'USDT']) await platform.credit(maker.user_id, currency, '1000')
    for (const side of ['sell', 'buy']) {
      const body = { currency_pair: 'BTC_USDT', price: '100', amount: '1', side }
      assert.equal((await maker.client.request('POST', '/spot/orders', { body })).status, 201)
    }
    await platform.operator.ok('POST', '/clock', { advance_seconds: 180 })
    await until(() => told.length >= 3)
    stream.close()
    assert.deepEqual(
      told.slice(0, 3),
      [1, 2, 3].map(() => [true, true]),
    )
    assert.ok(told.every(([closed, kept]) => closed === kept))
  } finally {
    await platform.stop()
  }
})
