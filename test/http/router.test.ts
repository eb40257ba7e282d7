import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MeantPaths, meantPath } from '../../src/api/meant-path.ts'
import { Router } from '../../src/api/router.ts'

describe('routes', () => {
  const router = new Router<string>()
  router.add('GET', '/futures/{settle}/orders', 'list')
  router.add('POST', '/futures/{settle}/orders', 'place')
  router.add('GET', '/futures/{settle}/orders/{id}', 'one')
  router.add('GET', '/futures/orders', 'list of btc', { settle: 'btc' })
  router.add('DELETE', '/spot/{id}', 'cancel')
  const found = (method: string, path: string): unknown => {
    const match = router.find(method, path)
    return 'route' in match ? [match.route, { ...match.params }] : match.allow
  }

  it('finds the same the second time, by method and path', () => {
    for (let again = 0; again < 3; again++) {
      assert.deepEqual(found('GET', '/futures/usdt/orders'), ['list', { settle: 'usdt' }])
      assert.deepEqual(found('POST', '/futures/usdt/orders'), ['place', { settle: 'usdt' }])
      assert.deepEqual(found('GET', '/futures/btc/orders'), ['list', { settle: 'btc' }])
      assert.deepEqual(found('GET', '/futures/orders'), ['list of btc', { settle: 'btc' }])
      assert.deepEqual(found('GET', '/futures/usdt/orders/17'), ['one', { settle: 'usdt', id: '17' }])
      assert.deepEqual(found('DELETE', '/futures/usdt/orders'), ['GET', 'POST'])
      assert.deepEqual(found('GET', '/futures/usdt'), [])
    }
  })
  it('lets nobody change what the next one finds', () => {
    const match = router.find('GET', '/futures/usdt/orders')
    assert.ok('route' in match)
    assert.throws(() => Object.assign(match.params, { settle: 'eth' }), TypeError)
    assert.deepEqual(found('GET', '/futures/usdt/orders'), ['list', { settle: 'usdt' }])
  })
  it('remembers no more than a bound, whoever names ever new paths', () => {
    const { lately } = router as unknown as { lately: ReadonlyMap<string, ReadonlyMap<string, unknown>> }
    const kept = (): number => [...lately.values()].reduce((sum, paths) => sum + paths.size, 0)
    for (let id = 0; id < 5_000; id++)
      assert.deepEqual(found('DELETE', `/spot/${id}`), ['cancel', { id: String(id) }])
    assert.ok(kept() <= 3 * 500, String(kept()))
    const long = 'x'.repeat(8_000)
    assert.deepEqual(found('DELETE', `/spot/${long}`), ['cancel', { id: long }])
    assert.equal(lately.get('DELETE')!.has(`/spot/${long}`), false)
    assert.deepEqual(found('GET', '/futures/usdt/orders'), ['list', { settle: 'usdt' }])
  })
})

describe('a path that is no address', () => {
  const router = new Router<string>()
  for (const path of ['/spot/orders', '/spot/orders/{id}', '/spot/tickers', '/futures/{settle}/contracts'])
    router.add('GET', `/api/v4${path}`, path)
  router.add('GET', '/operator/v1/status', 'status')

  for (const [path, meant] of [
    ['/spot/tickers', '/api/v4/spot/tickers'],
    ['/v4/spot/tickers', '/api/v4/spot/tickers'],
    ['/api/spot/tickers', '/api/v4/spot/tickers'],
    ['/api/v2/spot/orders/7', '/api/v4/spot/orders/7'],
    ['/api/v4/api/v4/spot/tickers', '/api/v4/spot/tickers'],
    ['/api/v4//spot/tickers/', '/api/v4/spot/tickers'],
    ['/API/V4/Spot/Tickers', '/api/v4/spot/tickers'],
    ['/api/v4/spot/order/7', '/api/v4/spot/orders/7'],
    ['/api/v4/future/usdt/contract', '/api/v4/futures/usdt/contracts'],
    ['/operator/status', undefined],
    ['/operator/v1/stauts', '/operator/v1/status'],
    ['/api/v4/spot', undefined],
    ['/api/v4/earn/uni/lends', undefined],
    ['/', undefined],
    ['', undefined],
    [`/api/v4/spot/orders/${'7/'.repeat(5_000)}`, undefined],
  ] as const)
    it(`${path.slice(0, 40)} means ${meant ?? 'nothing'}`, () => assert.equal(meantPath(router, path), meant))
})

it('who floods with addresses that are none is told so without a guess at what was meant', () => {
  const router = new Router<string>()
  router.add('GET', '/api/v4/spot/tickers', 'tickers')
  const meant = new MeantPaths()
  const told = Array.from({ length: 200 }, () => meant.find(router, '/spot/tickers'))
  assert.equal(told[0], '/api/v4/spot/tickers')
  const guesses = told.filter((path) => path !== undefined).length
  // A second may end in between.
  assert.ok(guesses === 20 || guesses === 40, `${guesses} guesses`)
})
