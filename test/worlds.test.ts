import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { KontorError, startKontor, type Kontor, type Snapshot } from '../src/kontor.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-worlds-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Order {
  readonly id: string
  readonly status: string
}
const ORDER = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' }
const place = (world: Kontor): Promise<Order> => world.call<Order>('POST', '/spot/orders', ORDER)
const open = async (world: Kontor): Promise<number> =>
  (await world.call<{ total: number }[]>('GET', '/spot/open_orders'))[0]?.total ?? 0
const held = async (world: Kontor, currency: string): Promise<string> =>
  (await world.call<{ locked: string }[]>('GET', `/spot/accounts?currency=${currency}`))[0]!.locked
/** Everything that anybody can see of it, as far as this test goes. */
const sight = async (world: Kontor): Promise<string> =>
  JSON.stringify([
    Math.floor(world.clock.now()),
    await world.call('GET', '/spot/accounts'),
    await world.call('GET', '/spot/open_orders'),
    await world.call('GET', '/spot/order_book?currency_pair=BTC_USDT&limit=50'),
    await world.call('GET', '/spot/trades?currency_pair=BTC_USDT'),
    await world.call('GET', '/futures/usdt/order_book?contract=BTC_USDT&limit=50'),
    await world.call('GET', '/futures/usdt/contracts/BTC_USDT'),
  ])
const sound = async (world: Kontor): Promise<void> => assert.deepEqual((await world.verify()).faults, [])

describe('worlds', () => {
  let root: Kontor
  let first: Snapshot
  before(async () => {
    root = await startKontor({ port: 'none' })
    first = await root.snapshot()
  })
  after(() => root.close())
  const fork = (port: 'none' | 0 = 'none'): Promise<Kontor> => startKontor({ from: first, port })

  test('share nothing: what happens in one is not seen in another', async () => {
    const [one, other] = await Promise.all([fork(), fork()])
    const untouched = await sight(other)
    const order = await place(one)
    const market = { ...ORDER, type: 'market', side: 'sell', price: undefined, time_in_force: 'ioc' }
    await one.call('POST', '/spot/orders', market)
    await one.call('POST', '/futures/usdt/orders', { contract: 'BTC_USDT', size: 10, price: '0', tif: 'ioc' })
    await one.operator('POST', '/users/10001/credit', { account: 'spot', currency: 'BTC', amount: '5' })
    await one.clock.advance('2m')
    assert.equal(await held(one, 'USDT'), '300')
    assert.equal(await sight(other), untouched)
    assert.equal(await held(other, 'USDT'), '0')
    await assert.rejects(
      other.call('GET', `/spot/orders/${order.id}?currency_pair=BTC_USDT`),
      /ORDER_NOT_FOUND/,
    )
    // And the other way round: what was done elsewhere left no trace in the rows that all began with.
    await place(other)
    const third = await fork()
    assert.equal(await sight(third), untouched)
    for (const world of [one, other, third]) {
      await sound(world)
      await world.close()
    }
    assert.equal(await open(root), 0)
  })

  test('the same calls lead to the same world', async () => {
    const sights: string[] = []
    for (let i = 0; i < 2; i++) {
      const world = await fork()
      await place(world)
      await world.clock.advance(30)
      sights.push(await sight(world))
      await world.close()
    }
    assert.equal(sights[0], sights[1])
  })

  test('one is reset without the others, to where it began', async () => {
    const [one, other] = await Promise.all([fork(0), fork()])
    await place(one)
    const later = await one.fork()
    const begun = await sight(later)
    await Promise.all([place(one), place(other), place(later)])
    await one.clock.advance('1m')
    await one.reset()
    assert.equal(await open(one), 0)
    assert.equal(Math.floor(one.clock.now()), Math.floor(first.time))
    assert.equal(await open(other), 1)
    // A fork goes back to where it was forked, by either way, and its key and address stay.
    await later.operator('POST', '/reset')
    assert.equal(await sight(later), begun)
    const { status } = await fetch(`${one.url}/api/v4/spot/time`)
    assert.equal(status, 200)
    await place(one)
    for (const world of [one, other, later]) {
      await sound(world)
      await world.close()
    }
    await assert.rejects(one.call('GET', '/spot/accounts'), /closed/)
    await assert.rejects(fetch(`${one.url}/api/v4/spot/time`))
  })

  test('a world with a past is saved as one file and goes on from it', async () => {
    const world = await fork()
    const { id } = await place(world)
    await world.call('DELETE', `/spot/orders/${id}?currency_pair=BTC_USDT`)
    await world.call('POST', '/spot/orders', { ...ORDER, price: '99999', time_in_force: 'ioc' })
    await world.clock.advance('1m')
    const file = join(folder, 'past.world')
    await world.save(file)
    assert.equal(statSync(file).mode & 0o077, 0, 'it holds keys')
    const loaded = await startKontor({ from: file, port: 'none' })
    assert.equal(await sight(loaded), await sight(world))
    assert.equal(loaded.key, world.key)
    const trades = '/spot/my_trades?currency_pair=BTC_USDT'
    assert.deepEqual(await loaded.call('GET', trades), await world.call('GET', trades))
    assert.equal(
      (await loaded.call<Order>('GET', `/spot/orders/${id}?currency_pair=BTC_USDT`)).status,
      'cancelled',
    )
    await place(loaded)
    await loaded.reset()
    assert.equal(await sight(loaded), await sight(world))
    await sound(loaded)
    await loaded.close()
    await world.close()
  })

  test('a file that is none, is cut, or is of another version says how to mend it', async () => {
    const good = join(folder, 'good.world')
    await root.save(good)
    const bytes = readFileSync(good)
    const end = bytes.indexOf(10)
    const header = JSON.parse(bytes.toString('utf8', 0, end)) as Record<string, unknown>
    const bad = join(folder, 'bad.world')
    const from = async (content: Buffer | string): Promise<unknown> => {
      writeFileSync(bad, content)
      return startKontor({ from: bad, port: 'none' })
    }
    await assert.rejects(from('no world at all'), /is not a saved world.*name a file that save\(file\) wrote/)
    await assert.rejects(from(''), /is not a saved world/)
    await assert.rejects(
      from(bytes.subarray(0, -100)),
      /was cut off or changed.*save\(file\) the world again/,
    )
    const flipped = Buffer.from(bytes)
    flipped[bytes.length - 2000]! ^= 1
    await assert.rejects(from(flipped), /was cut off or changed/)
    for (const other of [{ kontor_world: 2 }, { rules: 0 }, { schema: '1,2' }]) {
      const line = Buffer.from(`${JSON.stringify({ ...header, ...other })}\n`)
      await assert.rejects(
        from(Buffer.concat([line, bytes.subarray(end + 1)])),
        /was saved by kontor .* save\(file\) it with this version/,
      )
    }
    await assert.rejects(startKontor({ from: join(folder, 'none.world') }), /can't be read: ENOENT/)
  })

  test('what belongs to another world is refused', async () => {
    await assert.rejects(startKontor({ from: first, seed: 1 }), /seed: belongs to a new world/)
    await assert.rejects(startKontor({ from: {} as Snapshot }), /from: must be a file/)
    await assert.rejects(startKontor({ port: 70_000 }), /port: 70000 must be a port/)
    await assert.rejects(startKontor({ clock: 'tomorrow' }), /"tomorrow" must be Unix seconds/)
    await assert.rejects(startKontor({ settings: { KONTOR_DATA: 'x' } }), /is not for a platform inside/)
    await assert.rejects(
      startKontor({ settings: { KONTOR_AGENTS: 'maybe' } }),
      /KONTOR_AGENTS must be one of/,
    )
  })

  test('requests without a port pass the same checks', async () => {
    const world = await fork()
    const named = { headers: { 'X-Client-Request-Id': 'abc-3' } }
    const time = await world.fetch('http://anything.example/api/v4/spot/time', named)
    assert.equal(time.status, 200)
    assert.equal(time.headers.get('content-type'), 'application/json')
    assert.match(time.headers.get('X-Svc-Trace-ID')!, /^[0-9a-f]{32}$/)
    assert.equal(time.headers.get('X-Client-Request-Id'), 'abc-3')
    const unsigned = await world.fetch(`${world.url}/api/v4/wallet/total_balance`)
    assert.equal(unsigned.status, 401)
    const unknown = await world.fetch(`${world.url}/nowhere`)
    assert.deepEqual(
      [unknown.status, ((await unknown.json()) as { label: string }).label],
      [404, 'NOT_FOUND'],
    )
    const refused = await world
      .call('POST', '/spot/orders', { ...ORDER, amount: '0' })
      .catch((e: unknown) => e)
    assert.ok(refused instanceof KontorError)
    assert.deepEqual([refused.status, refused.label], [400, 'INVALID_PARAM_VALUE'])
    const bot = await world.call<{ available: string }[]>('GET', '/spot/accounts?currency=USDT', undefined, {
      as: 'demo_bot',
    })
    assert.equal(bot[0]!.available, '50000')
    await assert.rejects(world.call('GET', '/spot/accounts', undefined, { as: 'nobody' }), /no demo account/)
    const long = await world
      .call('POST', '/spot/orders', { text: 'x'.repeat(1_100_000) })
      .catch((e: unknown) => e)
    assert.match(String(long), /INVALID_REQUEST_BODY/)
    await world.operator('PUT', '/faults', [{ effect: 'drop_reply', times: 1 }])
    await assert.rejects(place(world), (error: Error) => error.message === 'fetch failed')
    assert.equal(await open(world), 1, 'it was carried out all the same')
    await world.close()
  })

  test('a hundred of them are made in no time, and stay apart', async () => {
    const from = performance.now()
    const rss = process.memoryUsage().rss
    const worlds: Kontor[] = []
    for (let i = 0; i < 100; i++) worlds.push(await fork())
    const ms = performance.now() - from
    const megabytes = (process.memoryUsage().rss - rss) / 1e6
    await Promise.all(worlds.filter((_, i) => i % 2 === 0).map(place))
    assert.deepEqual(
      await Promise.all(worlds.map(open)),
      worlds.map((_, i) => (i % 2 === 0 ? 1 : 0)),
    )
    await Promise.all(worlds.map((world) => world.close()))
    // Some 1 s and 150 MB here; a start of each from nothing would take 30 s, and a copy of each row gigabytes.
    assert.ok(ms < 10_000, `${ms} ms`)
    assert.ok(megabytes < 1_000, `${megabytes} MB`)
  })
})
