import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import type { Credential } from '../support/client.ts'
import { Line, type LineReply } from '../support/line.ts'
import { LIVE, TestPlatform, TOKEN } from '../support/platform.ts'
import type { PlatformProcess } from '../support/process.ts'
import { RawConnection, signedHead, until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs, startGateway } from '../support/remote.ts'
import { SocketClient } from '../support/socket.ts'

const MOVE = { currency: 'USDT', from: 'spot', to: 'futures', amount: '1', settle: 'usdt' }
const TRANSFERS = '/api/v4/wallet/transfers'
const TOTAL = '/api/v4/wallet/total_balance'
const label = ({ status, body }: LineReply): string => `${status} ${body?.label ?? ''}`.trim()

describe('two gateways on other machines', () => {
  const certs = new Certs()
  let platform: TestPlatform
  let gateways: PlatformProcess[] = []
  let core = ''
  const lines: Line[] = []
  const line = (at: number, credential?: Credential): Line => {
    lines.push(new Line(gateways[at]!.url, credential, platform.now))
    return lines.at(-1)!
  }
  before(async () => {
    core = `127.0.0.1:${await freePort()}`
    platform = await TestPlatform.start({
      KONTOR_CORE_LISTEN: core,
      KONTOR_CERTS: certs.folder,
      KONTOR_HOSTS: 'api.example.com',
      KONTOR_CORS: 'https://bot.example.com',
      KONTOR_TRUST_PROXY: '1',
    })
    gateways = await Promise.all(
      ['gw-1', 'gw-2'].map((name) => {
        certs.add(name, 'gateway')
        return startGateway(core, certs, { KONTOR_NODE: name })
      }),
    )
  })
  after(async () => {
    for (const one of lines) one.close()
    for (const gateway of gateways) await gateway.kill()
    await platform.stop()
    certs.remove()
  })

  test('sign as everywhere: right, wrong, changed by one byte, before and after the secret is known', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    for (const at of [0, 1]) {
      const one = line(at, credential)
      const wrong = await one.call('POST', TRANSFERS, MOVE, { secret: 'not the secret' })
      assert.equal(label(wrong), '401 INVALID_SIGNATURE')
      for (let i = 0; i < 3; i++) assert.equal((await one.call('POST', TRANSFERS, MOVE)).status, 200)
      const again = await one.call('POST', TRANSFERS, MOVE, { secret: 'not the secret' })
      assert.equal(label(again), '401 INVALID_SIGNATURE')
      assert.match(again.body.signature_string, /^POST\n\/api\/v4\/wallet\/transfers\n/)
      const raw = await RawConnection.open(gateways[at]!.url)
      const text = JSON.stringify(MOVE)
      const head = signedHead(credential, 'POST', TRANSFERS, text, String(Math.floor(platform.now())))
      raw.socket.write(`${head}Content-Length: ${text.length}\r\n\r\n${text.replace('"1"', '"2"')}`)
      await until(() => raw.statuses.length === 1)
      assert.match(raw.received, /INVALID_SIGNATURE/)
      raw.socket.destroy()
    }
    assert.equal(await platform.balance(user_id, 'USDT'), '94')
  })
  test('a key that is taken back, an IP list and a permission count at once on both', async () => {
    const main = await platform.user()
    const { user_id } = await platform.user({ parent: main.user_id })
    const perms = [{ name: 'wallet', read_only: false }]
    const keys = `/api/v4/sub_accounts/${user_id}/keys`
    const owner = line(1, main.credential)
    const { body: key } = await owner.call('POST', keys, { mode: 1, name: 'k', perms })
    const both = [line(0, key), line(1, key)]
    const everywhere = (): Promise<string[]> =>
      Promise.all(both.map(async (one) => label(await one.call('GET', TOTAL))))
    for (let i = 0; i < 2; i++) assert.deepEqual(await everywhere(), ['200', '200'])
    const change = async (body: object): Promise<void> => {
      assert.equal((await owner.call('PUT', `${keys}/${key.key}`, { mode: 1, ...body })).status, 204)
    }
    await change({ perms, ip_whitelist: ['203.0.113.9'] })
    assert.deepEqual(await everywhere(), ['403 IP_FORBIDDEN', '403 IP_FORBIDDEN'])
    // What a trusted proxy says of the address counts.
    const forwarded = await fetch(`${gateways[0]!.url}/api/v4/spot/time`, {
      headers: { 'X-Forwarded-For': '203.0.113.9' },
    })
    assert.equal(forwarded.status, 200)
    const raw = await RawConnection.open(gateways[0]!.url)
    const head = signedHead(key, 'GET', TOTAL, '', String(Math.floor(platform.now())))
    raw.socket.write(`${head}X-Forwarded-For: 203.0.113.9\r\n\r\n`)
    await until(() => raw.statuses.length === 1)
    assert.deepEqual(raw.statuses, [200])
    raw.socket.destroy()
    await change({ perms: [{ name: 'spot', read_only: false }] })
    assert.deepEqual(await everywhere(), ['403 FORBIDDEN', '403 FORBIDDEN'])
    await change({ perms })
    assert.deepEqual(await everywhere(), ['200', '200'])
    assert.equal((await owner.call('DELETE', `${keys}/${key.key}`)).status, 204)
    assert.deepEqual(await everywhere(), ['401 INVALID_KEY', '401 INVALID_KEY'])
  })
  test('a limit is counted once for both, and with those who come to the core itself', async () => {
    const own = new Certs()
    const port = await freePort()
    const limited = await TestPlatform.start({
      KONTOR_CORE_LISTEN: `127.0.0.1:${port}`,
      KONTOR_CERTS: own.folder,
      KONTOR_RATE_LIMITS: '1',
      KONTOR_WS_CONNECTIONS: '3',
    })
    const two = await Promise.all([0, 1].map(() => startGateway(`127.0.0.1:${port}`, own)))
    const { credential, user_id } = await limited.user()
    await limited.credit(user_id, 'USDT', '1000')
    const some = [...two, limited].map(({ url }) => new Line(url, credential))
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, i) => some[i % 3]!.call('POST', TRANSFERS, MOVE)),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 80)
    assert.equal(replies.filter(({ status }) => status === 429).length, 40)
    // So are sockets of an address.
    const sockets = [await SocketClient.open(two[0]!.url), await SocketClient.open(two[1]!.url)]
    sockets.push(await SocketClient.open(limited.url))
    for (const { url } of [...two, limited]) await assert.rejects(SocketClient.open(url), /429/)
    await sockets[0]!.close()
    await until(async () => (await limited.operator.ok('GET', '/sockets')).length === 2)
    await (await SocketClient.open(two[1]!.url)).close()
    for (const one of sockets) await one.close()
    for (const one of some) one.close()
    for (const gateway of two) await gateway.kill()
    await limited.stop()
    own.remove()
  })
  test('bodies: short, by pieces, after 100-continue, of half a megabyte, too long', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    const text = JSON.stringify(MOVE)
    const stamp = (): string => String(Math.floor(platform.now()))
    const pieces = await RawConnection.open(gateways[1]!.url)
    pieces.socket.write(
      `${signedHead(credential, 'POST', TRANSFERS, text, stamp())}Content-Length: ${text.length}\r\n\r\n`,
    )
    for (const letter of text) {
      pieces.socket.write(letter)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await until(() => pieces.statuses.length === 1)
    assert.deepEqual(pieces.statuses, [200])
    pieces.socket.destroy()
    const expect = await RawConnection.open(gateways[0]!.url)
    expect.socket.write(
      `${signedHead(credential, 'POST', TRANSFERS, text, stamp())}Expect: 100-continue\r\nContent-Length: ${text.length}\r\n\r\n`,
    )
    await until(() => expect.statuses.length === 1)
    assert.deepEqual(expect.statuses, [100])
    expect.socket.write(text)
    await until(() => expect.statuses.length === 2)
    assert.deepEqual(expect.statuses, [100, 200])
    expect.socket.destroy()
    const long = { ...MOVE, note: 'x'.repeat(500_000) }
    assert.equal((await line(0, credential).call('POST', TRANSFERS, long)).status, 200)
    const over = await line(0, credential).call('POST', TRANSFERS, { ...MOVE, note: 'x'.repeat(1_100_000) })
    assert.equal(label(over), '400 INVALID_REQUEST_BODY')
    const no = await RawConnection.open(gateways[0]!.url)
    no.socket.write(
      `${signedHead(credential, 'POST', TRANSFERS, '{"a"', stamp())}Content-Length: 4\r\n\r\n{"a"`,
    )
    await until(() => no.statuses.length === 1)
    assert.match(no.received, /INVALID_REQUEST_BODY/)
    no.socket.destroy()
    assert.equal(await platform.balance(user_id, 'USDT'), '97')
  })
  test('a client that breaks off leaves nothing behind, and the line goes on', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    for (let i = 0; i < 5; i++) {
      const raw = await RawConnection.open(gateways[0]!.url)
      raw.socket.write(
        `${signedHead(credential, 'POST', TRANSFERS, JSON.stringify(MOVE), String(Math.floor(platform.now())))}Content-Length: 90000\r\n\r\n{"a":`,
      )
      await new Promise((resolve) => setTimeout(resolve, 20))
      raw.socket.destroy()
    }
    assert.equal((await line(0, credential).call('POST', TRANSFERS, MOVE)).status, 200)
    assert.equal(await platform.balance(user_id, 'USDT'), '99')
  })
  test('sockets: subscribe, log in, order, hear of it; a key that goes takes its socket along', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    const [trader, watcher] = await Promise.all(
      gateways.map(({ url }) => SocketClient.open(url, platform.now)),
    )
    const subscribed = await watcher!.subscribe('spot.orders', ['BTC_USDT'], credential)
    assert.equal(subscribed['result']?.status, 'success', JSON.stringify(subscribed))
    assert.equal((await trader!.login({ ...credential, secret: 'wrong' }))['header'].status, '401')
    assert.equal((await trader!.login(credential))['header'].status, '200')
    const heard = watcher!.next((frame) => frame['channel'] === 'spot.orders' && frame['event'] === 'update')
    const placed = await trader!.call('spot.order_place', {
      text: 't-remote',
      currency_pair: 'BTC_USDT',
      type: 'limit',
      account: 'spot',
      side: 'buy',
      amount: '0.01',
      price: '1000',
    })
    assert.equal(placed['header'].status, '200', JSON.stringify(placed))
    assert.equal((await heard)['result'][0].text, 't-remote')
    await platform.operator.ok('PATCH', `/users/${user_id}/keys/${credential.key}`, { state: 2 })
    assert.equal((await trader!.whenClosed()).code, 1008)
    assert.equal((await watcher!.whenClosed()).code, 1008)
  })
  test('public streams reach whoever listens, on both', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    const both = await Promise.all(gateways.map(({ url }) => SocketClient.open(url, platform.now)))
    for (const one of both) await one.subscribe('spot.book_ticker', ['ETH_USDT'])
    const heard = both.map((one) =>
      one.next(
        (frame) =>
          frame['channel'] === 'spot.book_ticker' &&
          frame['event'] === 'update' &&
          frame['result'].b === '900',
      ),
    )
    const order = { currency_pair: 'ETH_USDT', side: 'buy', amount: '0.1', price: '900', type: 'limit' }
    assert.equal((await line(0, credential).call('POST', '/api/v4/spot/orders', order)).status, 201)
    await Promise.all(heard)
    for (const one of both) await one.close()
  })
  test('hosts, CORS, pages and the console are those of the platform', async () => {
    const at = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(gateways[0]!.url + path, { headers })
    assert.equal((await at('/docs')).status, 200)
    assert.equal((await at('/openapi.json')).status, 200)
    assert.equal((await at('/healthz')).status, 200)
    assert.equal((await at('/readyz')).status, 200)
    const cors = await at('/api/v4/spot/time', { Origin: 'https://bot.example.com' })
    assert.equal(cors.headers.get('access-control-allow-origin'), 'https://bot.example.com')
    for (const [host, status] of [
      ['api.example.com', 200],
      ['evil.example.com', 403],
    ] as const) {
      const raw = await RawConnection.open(gateways[0]!.url)
      raw.socket.write(`GET /api/v4/spot/time HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      await until(() => raw.statuses.length === 1)
      assert.deepEqual(raw.statuses, [status])
      raw.socket.destroy()
    }
    const login = await fetch(`${gateways[0]!.url}/console/v1/session`)
    assert.notEqual(login.status, 404)
  })
  test('operators are served at the core alone: no token ever passes through a gateway', async () => {
    for (const path of [
      '/operator/v1/status',
      '/console/operator/v1/status',
      '/metrics',
      '/operator/v1/users',
    ]) {
      const { status } = await fetch(gateways[0]!.url + path, {
        headers: { Authorization: `Bearer ${TOKEN}` },
      })
      assert.equal(status, 404, path)
    }
    assert.equal((await platform.operator.call('GET', '/status')).status, 200)
  })
  test('connections are counted by the gateway that has them', async () => {
    const small = await startGateway(core, certs, { KONTOR_CONNECTIONS: '3' })
    const open = await Promise.all([1, 2, 3].map(() => RawConnection.open(small.url)))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const fourth = await RawConnection.open(small.url)
    await fourth.ended()
    open[0]!.socket.destroy()
    await until(async () => {
      const raw = await RawConnection.open(small.url)
      raw.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
      await raw.ended()
      return raw.statuses[0] === 200
    })
    for (const one of open) one.socket.destroy()
    await small.kill()
  })
  test('a gateway that is killed loses its own connections alone', async () => {
    const { credential } = await platform.user()
    const doomed = await startGateway(core, certs, {})
    const before = (await platform.operator.ok('GET', '/sockets')).length
    const socket = await SocketClient.open(doomed.url, platform.now)
    const other = await SocketClient.open(gateways[1]!.url, platform.now)
    const own = new Line(doomed.url, credential, platform.now)
    assert.equal((await own.call('GET', TOTAL)).status, 200)
    await until(async () => (await platform.operator.ok('GET', '/sockets')).length === before + 2)
    await doomed.kill()
    assert.equal((await socket.whenClosed()).code, 1006)
    await until(async () => (await platform.operator.ok('GET', '/sockets')).length === before + 1)
    assert.equal((await line(1, credential).call('GET', TOTAL)).status, 200)
    assert.equal(other.closed, undefined)
    await other.close()
    own.close()
  })
  test('a gateway that is told to end finishes what is under way', async () => {
    const leaving = await startGateway(core, certs, {})
    const socket = await SocketClient.open(leaving.url, platform.now)
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '10')
    const text = JSON.stringify(MOVE)
    const raw = await RawConnection.open(leaving.url)
    raw.socket.write(
      `${signedHead(credential, 'POST', TRANSFERS, text, String(Math.floor(platform.now())))}Content-Length: ${text.length}\r\n\r\n{`,
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    const code = leaving.kill('SIGTERM')
    assert.equal((await socket.whenClosed()).code, 1001)
    raw.socket.write(text.slice(1))
    await raw.ended()
    assert.deepEqual(raw.statuses, [200])
    assert.equal(await code, 0)
    assert.equal(
      await new Promise((resolve) =>
        new WebSocket(`${leaving.url.replace('http', 'ws')}/ws/v4/`).on('error', () => resolve('gone')),
      ),
      'gone',
    )
  })
})

test('a live platform, through a gateway: no explanations, no drives, strict clocks', async () => {
  const certs = new Certs()
  const core = `127.0.0.1:${await freePort()}`
  const platform = await TestPlatform.start({ ...LIVE, KONTOR_CORE_LISTEN: core, KONTOR_CERTS: certs.folder })
  const gateway = await startGateway(core, certs)
  const { credential } = await platform.user({ perms: [{ name: 'wallet', read_only: true }] })
  const line = new Line(gateway.url, credential, platform.now)
  assert.equal(label(await line.call('GET', TOTAL)), '200')
  const wrong = await line.call('GET', TOTAL, undefined, { secret: 'no' })
  assert.deepEqual(Object.keys(wrong.body).sort(), ['label', 'message'])
  assert.equal(label(await line.call('GET', TOTAL, undefined, { timestamp: '1000' })), '401 REQUEST_EXPIRED')
  assert.equal((await fetch(`${gateway.url}/`)).status, 200)
  line.close()
  await gateway.kill()
  await platform.stop()
  certs.remove()
})
