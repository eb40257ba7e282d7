import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Credential } from '../support/client.ts'
import { TestPlatform, allPerms } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'

/** What ends a connection, and what does not. */
const READ = [{ name: 'spot', read_only: true }] as const

describe('the life of a connection', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const open = (path?: string): Promise<SocketClient> => SocketClient.open(platform.url, platform.now, path)
  /** One that is logged in, one that is subscribed, with the same key. */
  async function both(credential: Credential): Promise<[SocketClient, SocketClient]> {
    const [one, other] = [await open(), await open()]
    assert.equal((await one.login(credential))['header'].status, '200')
    assert.equal((await other.subscribe('spot.orders', ['!all'], credential))['result'].status, 'success')
    return [one, other]
  }
  async function closedWith(clients: readonly SocketClient[], reason: RegExp): Promise<void> {
    for (const client of clients) {
      const late = sleep(2_000).then(() => ({ code: 0, reason: 'it is still open' }))
      const { code, reason: why } = await Promise.race([client.whenClosed(), late])
      assert.equal(code, 1008, why)
      assert.match(why, reason)
      assert.ok(Buffer.byteLength(why) <= 123)
    }
  }

  test('a key that is deleted, loses its right, its address or its account ends what it opened; others go on', async () => {
    const main = await platform.user()
    const { user_id } = (
      await main.client.request('POST', '/sub_accounts', { body: { login_name: 'sub_of_sockets' } })
    ).body as {
      user_id: number
    }
    const make = async (
      perms: readonly object[] = allPerms(true),
      ip_whitelist: string[] = [],
    ): Promise<Credential> => {
      const body = { name: 'k', mode: 1, perms, ip_whitelist }
      const reply = await main.client.request('POST', `/sub_accounts/${user_id}/keys`, { body })
      assert.equal(reply.status, 200, reply.text)
      return reply.body as Credential
    }
    const change = async (
      credential: Credential,
      perms: readonly object[],
      ip_whitelist: string[] = [],
    ): Promise<void> => {
      const body = { name: 'k', mode: 1, perms, ip_whitelist }
      const reply = await main.client.request('PUT', `/sub_accounts/${user_id}/keys/${credential.key}`, {
        body,
      })
      assert.ok(reply.status < 300, reply.text)
    }
    const keep = await make()
    const others = await both(keep)

    const deleted = await make()
    const first = await both(deleted)
    await main.client.request('DELETE', `/sub_accounts/${user_id}/keys/${deleted.key}`)
    await closedWith(first, /^INVALID_KEY: /)

    const narrowed = await make()
    const second = await both(narrowed)
    // Rights that grow, and write rights that go, close nothing; but a call is refused.
    await change(narrowed, READ)
    await sleep(100)
    assert.equal(second[0].closed, undefined)
    assert.equal(
      (await second[0].call('spot.order_cancel_cp', { currency_pair: 'BTC_USDT' }))['data'].errs.label,
      'READ_ONLY',
    )
    await change(narrowed, [{ name: 'wallet', read_only: true }])
    await closedWith(second, /^FORBIDDEN: /)

    const elsewhere = await make()
    const third = await both(elsewhere)
    await change(elsewhere, allPerms(true), ['10.1.2.3'])
    await closedWith(third, /^IP_FORBIDDEN: /)

    assert.equal(others[0].closed ?? others[1].closed, undefined, 'another key of the same account')
    await main.client.request('POST', `/sub_accounts/${user_id}/lock`)
    await closedWith(others, /^ACCOUNT_LOCKED: /)
    const again = await open()
    const answer = await again.subscribe('spot.orders', ['!all'], keep)
    assert.equal((JSON.parse(answer['error'].message as string) as Frame)['label'], 'ACCOUNT_LOCKED')
    await again.close()
  })

  test('a main account that is frozen takes its sub-accounts’ sockets with it', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const clients = [...(await both(main.credential)), ...(await both(sub.credential))]
    await platform.operator.ok('PATCH', `/users/${main.user_id}`, { state: 2 })
    await closedWith(clients, /^ACCOUNT_LOCKED: /)
  })

  test('a main key hears nothing of its sub-accounts, nor they of it', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const listeners = [main, sub].map(async ({ credential }) => {
      const client = await open()
      for (const [channel, payload] of [
        ['spot.orders', ['!all']],
        ['spot.usertrades', ['!all']],
        ['spot.balances', undefined],
      ] as const)
        await client.subscribe(channel, payload, credential)
      return client
    })
    const [mains, subs] = await Promise.all(listeners)
    await platform.credit(sub.user_id, 'USDT', '7000')
    const body = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.1', price: '50000' }
    assert.equal((await sub.client.request('POST', '/spot/orders', { body })).status, 201)
    await sleep(100)
    assert.equal(subs!.pushed('spot.orders').length, 1)
    assert.deepEqual(
      subs!
        .pushed('spot.balances')
        .map(({ result }) => [result[0].change, result[0].freeze_change, result[0].change_type]),
      [
        ['7000', '0', 'other'],
        ['0', '5000', 'order-create'],
      ],
    )
    for (const channel of ['spot.orders', 'spot.usertrades', 'spot.balances'])
      assert.deepEqual(mains!.pushed(channel), [])
    await mains!.close()
    await subs!.close()
  })

  test('several keys on one connection: each subscription is its account’s; one that goes ends all', async () => {
    const [one, other] = [await platform.user(), await platform.user()]
    const client = await open()
    await client.subscribe('spot.balances', undefined, one.credential)
    await client.subscribe('spot.balances', undefined, other.credential)
    await platform.credit(one.user_id, 'USDT', '1')
    await platform.credit(other.user_id, 'USDT', '2')
    await sleep(100)
    assert.deepEqual(
      client.pushed('spot.balances').map(({ result }) => [result[0].user, result[0].change]),
      [
        [String(one.user_id), '1'],
        [String(other.user_id), '2'],
      ],
    )
    await platform.operator.ok('PATCH', `/users/${other.user_id}/keys/${other.credential.key}`, { state: 3 })
    await closedWith([client], /^INVALID_CREDENTIALS: /)
  })

  test('two keys of one account on one connection: either that goes ends it', async () => {
    const { user_id, credential } = await platform.user()
    for (const gone of ['first', 'second']) {
      const client = await open()
      const first = await platform.key(user_id, allPerms())
      const second = await platform.key(user_id, allPerms())
      await client.subscribe('spot.orders', ['BTC_USDT'], first)
      await client.subscribe('spot.orders', ['ETH_USDT'], second)
      await client.subscribe('spot.orders', ['!all'], credential)
      const { key } = gone === 'first' ? first : second
      await platform.operator.ok('PATCH', `/users/${user_id}/keys/${key}`, { state: 3 })
      await closedWith([client], /^INVALID_CREDENTIALS: /)
    }
  })

  test('a key that goes while its subscription is on the way is told nothing of its account', async () => {
    const { user_id } = await platform.user()
    const { core } = platform.platform.desk
    for (let round = 0; round < 18; round++) {
      const credential = await platform.key(user_id, allPerms())
      const client = await open()
      const answer = client.subscribe('spot.balances', undefined, credential).catch(() => undefined)
      if (round % 3 > 0) await sleep(round % 4)
      await core.submit('key.state', {
        user_id,
        key: credential.key,
        state: 3,
        replay_protection: null,
        actor: 'test',
      })
      await core.submit('user.credit', {
        user_id,
        account: 'spot',
        currency: 'USDT',
        amount: '1',
        currency_pair: null,
        settle: null,
        actor: null,
      })
      const refused = (await answer)?.['error'] !== undefined
      await sleep(30)
      assert.deepEqual(client.pushed('spot.balances'), [])
      if (!refused) assert.equal((await client.whenClosed()).code, 1008)
      else await client.close()
    }
  })

  test('operators list connections and close one, which is written down; metrics count', async () => {
    const { credential, user_id } = await platform.user()
    const client = await open()
    await client.login(credential)
    const { conn_id } = await client.subscribe('spot.trades', ['BTC_USDT'])
    await client.subscribe('spot.orders', ['BTC_USDT', 'ETH_USDT'], credential)
    const rows = (await platform.operator.ok('GET', '/sockets')) as Frame[]
    const row = rows.find((one) => one['conn_id'] === conn_id)!
    const { since, frames_out, ...rest } = row
    assert.deepEqual(rest, {
      conn_id,
      ip: '127.0.0.1',
      product: 'spot',
      user_ids: [user_id],
      subscriptions: 3,
      queue_bytes: 0,
      frames_in: 3,
    })
    assert.ok(Math.abs((since as number) - platform.now()) < 60 && frames_out === 3)
    const text = await (await fetch(`${platform.url}/metrics`)).text()
    for (const line of [
      /^kontor_ws_connections\{product="spot"\} [1-9]/m,
      /^kontor_ws_subscriptions\{channel="spot.orders"\} [1-9]/m,
      /^kontor_ws_frames_total\{channel="spot.orders",direction="in"\} [1-9]/m,
      /^kontor_ws_queue_bytes 0$/m,
      /^kontor_ws_closed_total\{code="1008"\} [1-9]/m,
      /^kontor_ws_push_lag_seconds \d/m,
    ])
      assert.match(text, line)
    await platform.operator.ok('DELETE', `/sockets/${conn_id as string}`)
    await closedWith([client], /operator/)
    const audit = (await platform.operator.ok('GET', '/audit')) as { action: string; detail: object }[]
    assert.ok(
      audit.some(
        ({ action, detail }) =>
          action === 'socket.close' && JSON.stringify(detail).includes(conn_id as string),
      ),
    )
    const reply = await platform.operator.call('DELETE', `/sockets/${conn_id as string}`)
    assert.equal(reply.status, 404)
  })

  test('names that clients make up do not become names of figures', async () => {
    const client = await open()
    for (const event of ['api', 'subscribe', 'x']) client.send({ channel: 'evil"} 1\n', event, payload: {} })
    await client.subscribe('spot.trades', ['BTC_USDT'])
    assert.doesNotMatch(await (await fetch(`${platform.url}/metrics`)).text(), /evil/)
    await client.close()
  })

  test('faults: a delta that is swallowed, a frame twice, late, and a line that is cut', async () => {
    const { user_id, client: rest } = await platform.user()
    await platform.credit(user_id, 'USDT', '900000')
    const client = await open()
    await client.subscribe('spot.order_book_update', ['BTC_USDT', '20ms'])
    const deltas = (): number[][] =>
      client
        .pushed('spot.order_book_update')
        .slice(1)
        .map(({ result }) => [result.U as number, result.u as number])
    const place = async (): Promise<void> => {
      await rest.request('POST', '/spot/orders', {
        body: { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '50000' },
      })
      await sleep(60)
    }
    const set = (effect: object): Promise<unknown> =>
      platform.operator.ok('PUT', '/faults', [
        { match: { channel: 'spot.order_book_update' }, times: 1, ...effect },
      ])
    await place()
    await set({ effect: 'gap' })
    await place()
    await place()
    assert.equal(deltas().length, 2)
    assert.equal(deltas()[1]![0], deltas()[0]![1]! + 2, 'a gap shows')
    await set({ effect: 'duplicate' })
    await place()
    assert.equal(deltas().length, 4)
    assert.deepEqual(deltas()[2], deltas()[3])
    await set({ effect: 'delay', delay_ms: 300 })
    await place()
    await place()
    assert.equal(deltas().length, 4)
    await sleep(400)
    assert.equal(deltas().length, 6)
    assert.ok(deltas()[5]![0]! > deltas()[4]![0]!, 'in order')
    await set({ effect: 'disconnect' })
    await place()
    assert.equal((await client.whenClosed()).code, 1006)
    await platform.operator.ok('PUT', '/faults', [])
  })
})

test('too many connections of one address are refused before the upgrade', async () => {
  const platform = await TestPlatform.start({ KONTOR_WS_CONNECTIONS: '3', KONTOR_RATE_LIMITS: '1' })
  const clients = [
    await SocketClient.open(platform.url),
    await SocketClient.open(platform.url),
    await SocketClient.open(platform.url),
  ]
  const refused = new WebSocket(`${platform.url.replace('http', 'ws')}/ws/v4/`)
  const [status, body] = await new Promise<[number, string]>((resolve) => {
    refused.on('unexpected-response', (_, response) => {
      let text = ''
      response.on('data', (part: Buffer) => (text += part.toString()))
      response.on('end', () => resolve([response.statusCode!, text]))
    })
    refused.on('error', () => undefined)
  })
  assert.equal(status, 429)
  assert.equal((JSON.parse(body) as Frame)['label'], 'TOO_MANY_REQUESTS')
  await clients[0]!.close()
  await sleep(50)
  const next = await SocketClient.open(platform.url)
  for (const client of [...clients.slice(1), next]) await client.close()
  await platform.stop()
})

for (const gateways of ['0', '2'])
  test(`a reset closes with 1012, and the world begins anew; a stop says so, answers, and closes with 1001 (${gateways} gateways)`, async () => {
    const platform = await TestPlatform.start({ KONTOR_GATEWAYS: gateways })
    const client = await SocketClient.open(platform.url, platform.now)
    await client.subscribe('spot.order_book_update', ['BTC_USDT', '20ms'])
    await platform.operator.ok('POST', '/reset', {})
    assert.equal((await client.whenClosed()).code, 1012)
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '1000000')
    const again = await SocketClient.open(platform.url, platform.now)
    await again.subscribe('spot.order_book_update', ['BTC_USDT', '20ms'])
    await again.login(credential)
    const placed = Array.from({ length: 20 }, () =>
      again.call('spot.order_place', {
        currency_pair: 'BTC_USDT',
        side: 'buy',
        amount: '0.01',
        price: '50000',
      }),
    )
    await placed[0]
    const frames = again.next((frame) => frame['channel'] === 'spot.system')
    const stopped = platform.platform.stop()
    const { event, result } = await frames
    assert.deepEqual([event, result.type], ['update', 'upgrade'])
    for (const answer of await Promise.all(placed)) assert.equal(answer['header'].status, '200')
    assert.equal((await again.whenClosed()).code, 1001)
    await stopped
  })
