import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import {
  FaultReport,
  adviceOn,
  movesMoney,
  outcomeOf,
  type ReportedRequest,
} from '../../src/api/fault-report.ts'
import { tradingEndpoints } from '../../src/endpoints.ts'
import { ok, refused, type Client } from '../support/client.ts'
import { LIVE, TestPlatform } from '../support/platform.ts'

describe('what clients did after a fault', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000', text: 't-1' }
  const user = async (): Promise<{ user_id: number; client: Client }> => {
    const made = await platform.user()
    await platform.credit(made.user_id, 'USDT', '100000')
    return made
  }
  const inject = (user_id: number, rule: object) =>
    platform.operator.ok('POST', '/faults', {
      match: { user_id, method: 'POST', path: '/spot/orders' },
      times: 1,
      ...rule,
    })
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  const report = async (user_id: number): Promise<any> =>
    (await platform.operator.ok('GET', `/faults/report?user_id=${user_id}`)).faults

  test('sent the same request again: how soon and how often; another body is no retry', async () => {
    const { user_id, client } = await user()
    await inject(user_id, { effect: 'error', status: 503, label: 'TOO_BUSY' })
    refused(await client.post('/spot/orders', order), 503, 'TOO_BUSY')
    const [waiting] = await report(user_id)
    assert.equal(waiting.outcome, 'waiting')
    ok(await client.post('/spot/orders', { ...order, text: 't-2' }), 201)
    await sleep(30)
    ok(await client.post('/spot/orders', order), 201)
    const [fault] = await report(user_id)
    assert.equal(fault.outcome, 'retried')
    assert.equal(fault.retries, 1)
    assert.ok(fault.first_retry_ms >= 30 && fault.first_retry_ms < 5_000)
    assert.deepEqual(
      fault.then.map(({ what, status }: { what: string; status: number }) => `${what} ${status}`),
      ['similar 201', 'same_request 201'],
    )
    assert.equal(`${fault.effect} ${fault.status} ${fault.label}`, 'error 503 TOO_BUSY')
    assert.equal(fault.key, client.credential!.key)
    assert.equal(fault.advice, '')
  })
  test('a lost reply: who looks first is told from who sends again blindly', async () => {
    const [careful, blind, gone] = [await user(), await user(), await user()]
    for (const { user_id, client } of [careful, blind, gone]) {
      await inject(user_id, { effect: 'drop_reply' })
      await assert.rejects(client.post('/spot/orders', order))
    }
    ok(await careful.client.get('/spot/open_orders'))
    // The id of its own saves it: refused, and nothing was bought twice.
    assert.equal((await blind.client.post('/spot/orders', order)).status, 400)
    ok(await gone.client.get('/account/detail'))
    const [one] = await report(careful.user_id)
    assert.equal(`${one.outcome} ${one.lookups} ${one.advice}`, 'looked_up 1 ')
    const [two] = await report(blind.user_id)
    assert.equal(two.outcome, 'retried')
    assert.match(two.advice, /had been carried out; it was sent again without looking/)
    const [three] = await report(gone.user_id)
    assert.equal(three.outcome, 'went_on')
    assert.match(three.advice, /never looked it up/)
    const { injected, faults } = await platform.operator.ok('GET', '/faults/report?limit=2')
    assert.equal(faults.length, 2)
    assert.ok(injected >= 4)
  })
  test('money that moved twice is told from money that moved once', async () => {
    const buy = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' }
    /** What the report says of the money, and what the account says. */
    const after = async (
      effect: string,
      act: (client: Client) => Promise<unknown>,
      first: object = buy,
    ): Promise<unknown[]> => {
      const { user_id, client } = await user()
      await inject(user_id, { effect })
      await client.post('/spot/orders', first).catch(() => undefined)
      await act(client)
      const [fault] = await report(user_id)
      const [usdt] = ok(await client.get('/spot/accounts', { currency: 'USDT' })) as { locked: string }[]
      return [fault.money, fault.carried_out, usdt!.locked]
    }
    const before = await platform.operator.ok('GET', '/faults/report')
    const nothing = (): Promise<void> => Promise.resolve()
    const again = (client: Client): Promise<unknown> => client.post('/spot/orders', buy)
    const own = { ...buy, text: 't-own' }
    const ownAgain = (client: Client): Promise<unknown> => client.post('/spot/orders', own)
    assert.deepEqual(await after('drop_reply', nothing), ['once', 1, '300'])
    assert.deepEqual(await after('drop_reply', again), ['twice', 2, '600'])
    assert.deepEqual(await after('drop_reply', ownAgain, own), ['once', 1, '300'])
    // Another id of its own: the platform can't know that it was meant to be the same.
    assert.deepEqual(await after('drop_reply', ownAgain), ['maybe_twice', 1, '600'])
    const lookThenOwn = (client: Client): Promise<unknown> =>
      client.get('/spot/open_orders').then(() => ownAgain(client))
    assert.deepEqual(await after('drop_reply', lookThenOwn), ['once', 1, '600'], 'the second one was meant')
    assert.deepEqual(await after('error', nothing), ['none', 0, '0'])
    assert.deepEqual(await after('error', again), ['once', 1, '300'])
    const againThenOwn = (client: Client): Promise<unknown> => again(client).then(() => ownAgain(client))
    assert.deepEqual(await after('error', againThenOwn), ['once', 1, '600'], 'it was told of the first one')
    assert.deepEqual(await after('duplicate', nothing), ['twice', 2, '600'])
    assert.deepEqual(await after('duplicate', nothing, own), ['once', 1, '300'])
    // Sent again and refused is not moved again; and another order is another one.
    const large = { ...buy, amount: '100' }
    assert.deepEqual(await after('drop_reply', (client) => client.post('/spot/orders', large)), [
      'once',
      1,
      '300',
    ])
    const { moved_twice, maybe_twice, faults } = await platform.operator.ok('GET', '/faults/report')
    assert.deepEqual([moved_twice - before.moved_twice, maybe_twice - before.maybe_twice], [2, 1])
    const told = faults.filter(({ money }: { money: string }) => money === 'twice')
    for (const { advice } of told) assert.match(advice, /carried out 2 times; give it an id of its own/)
  })
  test('transfers and withdrawals count, cancelling and reading do not', async () => {
    const { user_id, client } = await user()
    const repeat = async (method: 'post' | 'get', path: string, body?: object): Promise<unknown> => {
      await platform.operator.ok('PUT', '/faults', [{ effect: 'drop_reply', match: { user_id }, times: 1 }])
      const send = (): Promise<unknown> => (method === 'get' ? client.get(path) : client.post(path, body))
      await send().catch(() => undefined)
      await send()
      return (await report(user_id))[0].money
    }
    const transfer = { currency: 'USDT', from: 'spot', to: 'futures', amount: '5', settle: 'usdt' }
    assert.equal(await repeat('post', '/wallet/transfers', transfer), 'twice')
    assert.equal(await repeat('get', '/spot/accounts'), 'none')
    assert.equal(await repeat('post', '/spot/countdown_cancel_all', { timeout: 30 }), 'none')
  })
  test('every endpoint that knows ids of clients is known to move money', () => {
    const forgotten = tradingEndpoints
      .filter(
        ({ method, path, once }) =>
          once !== undefined && !movesMoney(method, `/api/v4${path.replace('{settle}', 'usdt')}`),
      )
      .map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(forgotten, [])
    assert.equal(movesMoney('DELETE', '/api/v4/spot/orders'), false)
    assert.equal(movesMoney('POST', '/api/v4/spot/cancel_batch_orders'), false)
  })
  test('chance with a seed hits the same requests in every run', async () => {
    const hits = async (seed: number | undefined): Promise<string> => {
      const rule = { match: { path: '/spot/time' }, effect: 'error', probability: 0.5, seed }
      await platform.operator.ok('PUT', '/faults', [rule])
      let marks = ''
      for (let i = 0; i < 40; i++)
        marks += (await platform.client().get('/spot/time')).status === 200 ? '.' : 'x'
      return marks
    }
    const [one, same, other] = [await hits(7), await hits(7), await hits(8)]
    assert.equal(one, same)
    assert.notEqual(one, other)
    const hit = one.split('x').length - 1
    assert.ok(hit > 8 && hit < 32, one)
    const bad = { effect: 'error', seed: 7 }
    refused(await platform.operator.call('POST', '/faults', bad), 400, 'MISSING_REQUIRED_PARAM')
    await platform.operator.ok('PUT', '/faults', [])
  })
  test('a sandbox matter: gone after a reset, and nothing of live mode', async () => {
    await platform.operator.ok('POST', '/reset')
    assert.deepEqual(await platform.operator.ok('GET', '/faults/report'), {
      injected: 0,
      moved_twice: 0,
      maybe_twice: 0,
      faults: [],
    })
    const live = await TestPlatform.start({ ...LIVE })
    assert.equal((await live.operator.call('GET', '/faults/report')).status, 404)
    await live.stop()
  })
  test('memory is bounded, whoever asks for however many', () => {
    const faults = new FaultReport()
    const request = (arrived: number, path = '/api/v4/spot/orders'): ReportedRequest => ({
      ...{ method: 'POST', path, query: '', body: Buffer.from('{}') },
      ...{ userId: 1, key: 'k', ip: '::1', arrived, at: arrived },
    })
    for (let i = 0; i < 1_000; i++) faults.add({ effect: 'error' }, request(i * 1_000))
    assert.equal(faults.list().length, 200)
    for (let i = 0; i < 100; i++) faults.see(request(2e6 + i * 50_000, `/api/v4/${'x'.repeat(9_000)}`), 404)
    for (const { then, more } of faults.list()) assert.equal(then.length + more, 100)
    assert.ok(
      faults.list().every(({ then }) => then.length <= 20 && then.every(({ path }) => path.length <= 256)),
    )
    // After ten minutes it is another story, and nobody is watched any more.
    faults.see(request(2e6 + 3_600e6), 200)
    assert.equal(faults.active, false)
    const [fault] = faults.list()
    assert.equal(outcomeOf({ ...fault!, then: [] }, fault!.request.arrived + 61e6), 'silent')
    const again = [1, 2, 3].map((afterMs) => ({
      afterMs,
      method: 'POST',
      path: '',
      status: 503,
      what: 'same_request' as const,
    }))
    assert.match(adviceOn({ ...fault!, then: again }, 'retried'), /sent again 3 times within 3 ms/)
  })
})
