import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import type { Head } from '../../src/gateway/channel.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY, UNANSWERED_MAX } from '../../src/gateway/protocol.ts'
import { readConfig } from '../../src/config.ts'
import { startPlatform, type Platform } from '../../src/platform.ts'
import { createLog } from '../../src/runtime/log.ts'
import { OperatorClient, type Credential } from '../support/client.ts'
import { allPerms, TOKEN } from '../support/platform.ts'
import { until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs, FakeGateway } from '../support/remote.ts'

const TRANSFERS = '/api/v4/wallet/transfers'
const MOVE = JSON.stringify({ currency: 'USDT', from: 'spot', to: 'futures', amount: '1', settle: 'usdt' })

/** Whoever steals a gateway has its certificate, and says what he likes. */
describe('a stolen gateway', () => {
  const certs = new Certs()
  const logged: Record<string, unknown>[] = []
  let platform: Platform
  let operator: OperatorClient
  let port = 0
  let victim: Credential & { user_id: number }
  let last = 0
  const gateways: FakeGateway[] = []
  const stolen = async (name = 'stolen'): Promise<FakeGateway> => {
    gateways.push(await FakeGateway.welcomed(port, certs, name))
    return gateways.at(-1)!
  }
  before(async () => {
    port = await freePort()
    const config = readConfig({
      KONTOR_PORT: '0',
      KONTOR_MEMORY: 'on',
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_AGENTS: 'off',
      KONTOR_RATE_LIMITS: '1',
      KONTOR_GATEWAYS: '0',
      KONTOR_LOG: 'warn',
      KONTOR_CORE_LISTEN: `127.0.0.1:${port}`,
      KONTOR_CERTS: certs.folder,
    })
    const log = createLog('warn', (line) => logged.push(JSON.parse(line) as Record<string, unknown>))
    platform = await startPlatform(config, log, (error) => assert.fail(String(error)))
    operator = new OperatorClient(platform.operatorUrl, TOKEN)
    const { user_id } = await operator.ok('POST', '/users', { login_name: 'victim' })
    const body = { name: 'k', mode: 1, perms: allPerms() }
    victim = { ...(await operator.ok('POST', `/users/${user_id}/keys`, body)), user_id }
    await operator.ok('POST', `/users/${user_id}/credit`, {
      account: 'spot',
      currency: 'USDT',
      amount: '1000',
    })
  })
  after(async () => {
    for (const gateway of gateways) gateway.close()
    await platform.stop()
    certs.remove()
  })
  const balance = async (): Promise<string> =>
    (await operator.ok('GET', `/users/${victim.user_id}/balances`)).find(
      ({ account, currency }: Record<string, string>) => account === 'spot' && currency === 'USDT',
    ).available
  const headers = (
    secret: string,
    body = MOVE,
    method = 'POST',
    path = TRANSFERS,
  ): Record<string, string> => {
    const timestamp = String(Math.floor(platform.desk.clock.peek() / 1e6))
    const parts = { method, path, query: '', bodyDigest: bodyDigest(Buffer.from(body)), timestamp }
    return { key: victim.key, timestamp, sign: sign(secret, signatureString(parts)) }
  }
  const ask = (
    kind: number,
    given: Record<string, string>,
    [serial, fits]: [number, number],
    change = {},
  ): Head =>
    Object.assign(
      [kind, -1, ++last, 'POST', TRANSFERS, '', '198.51.100.7', 1, 1, given, serial, fits, null],
      change,
    ) as never
  const reply = async (gateway: FakeGateway, id: unknown): Promise<[number, Record<string, unknown>]> => {
    const [head, text] = await gateway.told(TO_GATEWAY.REPLY, id as number)
    return [head[3] as number, JSON.parse(text ?? 'null') as Record<string, unknown>]
  }
  /** It goes on, and so do others. */
  const wellAt = async (gateway: FakeGateway): Promise<void> => {
    const head = ask(TO_CORE.ASK, {}, [0, 0], { 3: 'GET', 4: '/api/v4/spot/time', 8: 0 })
    gateway.say(head)
    assert.equal((await reply(gateway, head[2]))[0], 200)
  }

  test('can claim of no signature that it fits, whichever way it says so', async () => {
    const gateway = await stolen()
    const before = await balance()
    // The victim himself comes by once, so that the core's thread knows the secret.
    const honest = ask(TO_CORE.ASK, headers(victim.secret), [0, 0])
    gateway.say(honest, MOVE)
    assert.equal((await reply(gateway, honest[2]))[0], 200)
    const forged = { ...headers('a guess') }
    for (let serial = 0; serial <= 20; serial++) {
      const whole = ask(TO_CORE.ASK, forged, [serial, 1])
      gateway.say(whole, MOVE)
      const [status, { label }] = await reply(gateway, whole[2])
      assert.ok(label === 'INVALID_SIGNATURE' || label === 'TOO_MANY_REQUESTS', `${status} ${String(label)}`)
      const head = ask(TO_CORE.HEAD, forged, [serial, 1])
      gateway.say(head)
      await gateway.told(TO_GATEWAY.GO, head[2] as number)
      gateway.say([TO_CORE.BODY, -1, head[2], serial, 1, null], MOVE)
      assert.ok((await reply(gateway, head[2]))[0] >= 401)
    }
    // Nor may a right signature carry another body.
    const swapped = ask(TO_CORE.ASK, headers(victim.secret), [1, 1])
    gateway.say(swapped, MOVE.replace('"1"', '"500"'))
    assert.ok((await reply(gateway, swapped[2]))[0] >= 401)
    assert.equal(Number(before) - Number(await balance()), 1)
  })
  test('nor of a right one that it does not', async () => {
    const gateway = await stolen()
    for (const serial of [0, 1, 2]) {
      const head = ask(TO_CORE.ASK, headers(victim.secret), [serial, 0], { 6: '198.51.100.8' })
      gateway.say(head, MOVE)
      assert.equal((await reply(gateway, head[2]))[0], 200)
    }
  })
  test('sees no secret of anybody, however often the right signature passes through it', async () => {
    const gateway = await stolen()
    // A key that the core has not told its thread of yet.
    const made = await operator.ok('POST', `/users/${victim.user_id}/keys`, {
      name: 'fresh',
      mode: 1,
      perms: allPerms(),
    })
    victim = { ...made, user_id: victim.user_id }
    for (let i = 0; i < 3; i++) {
      const whole = ask(TO_CORE.ASK, headers(victim.secret), [0, 0], { 6: `198.51.100.${20 + i}` })
      gateway.say(whole, MOVE)
      assert.equal((await reply(gateway, whole[2]))[0], 200)
      const half = ask(TO_CORE.HEAD, headers(victim.secret), [0, 0], { 6: `198.51.100.${30 + i}` })
      gateway.say(half)
      await gateway.told(TO_GATEWAY.GO, half[2] as number)
      gateway.say([TO_CORE.BODY, -1, half[2], 0, 0, null], MOVE)
      assert.equal((await reply(gateway, half[2]))[0], 200)
    }
    assert.ok(gateway.plaintext.includes('"tx_id"') || gateway.of(TO_GATEWAY.REPLY).length === 6)
    const { secret } = victim
    for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')])
      assert.ok(!gateway.plaintext.includes(form), 'the secret was sent')
    for (const [head] of gateway.of(TO_GATEWAY.REPLY)) assert.ok(head.length <= 6, JSON.stringify(head))
    assert.ok(!gateway.plaintext.includes(TOKEN))
  })
  test('reaches neither operators’ calls nor metrics, even with the right token', async () => {
    const gateway = await stolen()
    for (const path of [
      '/operator/v1/status',
      '/operator/v1/users',
      '/console/operator/v1/status',
      '/metrics',
    ]) {
      const head = ask(TO_CORE.ASK, { authorization: `Bearer ${TOKEN}` }, [0, 0], { 3: 'GET', 4: path, 8: 0 })
      gateway.say(head)
      assert.equal((await reply(gateway, head[2]))[0], 404, path)
    }
    const looks = ['/metrics', '/anything', '/docs']
    for (const [i, path] of looks.entries()) gateway.say([TO_CORE.LOOK, -1, 900 + i, path, '198.51.100.9'])
    for (const i of looks.keys())
      assert.deepEqual((await gateway.told(TO_GATEWAY.SIGHT, 900 + i))[0][3], { kind: 'page' })
    assert.doesNotMatch(gateway.plaintext, /kontor_connections/)
  })
  test('lowers nobody’s count of connections, and fills nobody’s room for bodies', async () => {
    const gateway = await stolen()
    const { port: http } = new URL(platform.url)
    const socket = connect(Number(http), '127.0.0.1')
    await until(async () => (await connections()) >= 1)
    const before = await connections()
    for (let i = 0; i < 50; i++) gateway.say([TO_CORE.LEFT, -1, '127.0.0.1'])
    await wellAt(gateway)
    assert.ok((await connections()) >= before)
    socket.destroy()
    gateway.say([TO_CORE.HOLD, -1, 1, '198.51.100.1', 1_000_000])
    await gateway.ended()
    async function connections(): Promise<number> {
      const text = await (await fetch(`${platform.url}/metrics`)).text()
      return Number(/^kontor_connections (\d+)/m.exec(text)?.[1])
    }
  })
  test('gets no whole picture of a stream that its socket has not joined', async () => {
    const gateway = await stolen()
    const open = (socket: number): void =>
      gateway.say([TO_CORE.SOCKET_OPEN, -1, socket, '/ws/v4/', '198.51.100.3', null, 0])
    open(1)
    assert.equal((await gateway.told(TO_GATEWAY.VERDICT, 1))[0].length, 3)
    const subscribe = {
      time: 1,
      id: 1,
      channel: 'spot.order_book',
      event: 'subscribe',
      payload: ['BTC_USDT', '20', '100ms'],
    }
    gateway.say([TO_CORE.SOCKET_RECEIVED, -1, 1, 0], JSON.stringify(subscribe))
    const [[, , , topic]] = await gateway.told(TO_GATEWAY.SOCKET_JOIN, 1)
    open(2)
    await gateway.told(TO_GATEWAY.VERDICT, 2)
    for (let other = 0; other < 200; other++) gateway.say([TO_CORE.SOCKET_BEHIND, -1, 2, other])
    await wellAt(gateway)
    assert.deepEqual(gateway.of(TO_GATEWAY.SOCKET_RESTART), [])
    gateway.say([TO_CORE.SOCKET_BEHIND, -1, 1, topic])
    await gateway.told(TO_GATEWAY.SOCKET_RESTART, 1)
    // A visitor of the console is whoever has the cookie, and nobody else.
    const visitor = {
      cookie: 'kontor_session=0000',
      host: 'x',
      origin: 'http://x',
      site: 'same-origin',
      account: null,
    }
    gateway.say([TO_CORE.SOCKET_OPEN, -1, 3, '/console/ws', '198.51.100.3', null, 0, visitor])
    const [refused] = await gateway.told(TO_GATEWAY.VERDICT, 3)
    assert.ok((refused[3] as number) >= 401, JSON.stringify(refused))
    // A frame of a socket that there is not is nobody's.
    gateway.say([TO_CORE.SOCKET_RECEIVED, -1, 77, 0], JSON.stringify(subscribe))
    await wellAt(gateway)
  })
  test('writes no more into the log than it may, and nothing that passes for ours', async () => {
    const gateway = await stolen('liar')
    logged.length = 0
    for (let i = 0; i < 500; i++)
      gateway.say([
        TO_CORE.LOG,
        -1,
        'error',
        `all is lost ${i}`,
        { level: 'info', time: 'never', message: 'x' },
      ])
    await wellAt(gateway)
    const told = logged.filter(({ gateway }) => gateway === 'liar')
    // On a slow machine two spans of ten seconds.
    assert.ok(told.length >= 20 && told.length <= 40, String(told.length))
    for (const { level, message, time } of told) {
      assert.equal(level, 'error')
      assert.equal(message, 'a gateway of another machine tells')
      assert.notEqual(time, 'never')
    }
  })
  test('its clock counts for nothing', async () => {
    const gateway = await stolen()
    const head = ask(TO_CORE.ASK, {}, [0, 0], { 3: 'GET', 4: '/api/v4/spot/time', 7: -1e300, 8: 0 })
    gateway.say(head)
    assert.equal((await reply(gateway, head[2]))[0], 200)
    const text = await (await fetch(`${platform.url}/metrics`)).text()
    for (const [, seconds] of text.matchAll(/^kontor_\w*seconds_sum\S* (\S+)$/gm))
      assert.ok(Number(seconds) < 1e6, seconds)
  })

  const good: [Head, string?] = [[TO_CORE.ASK, -1, 1, 'GET', '/x', '', '198.51.100.1', 1, 0, {}, 0, 0, null]]
  const bad = (change: Record<number, unknown>): [Head] => [Object.assign([...good[0]], change) as never]
  const socket: [Head] = [[TO_CORE.SOCKET_OPEN, -1, 5, '/ws/v4/', '198.51.100.3', null, 0]]
  const fault = { label: 'INVALID_PARAM_VALUE', message: 'x', status: 400, markets: [] }
  const cases: Record<string, readonly [Head, (string | Uint8Array)?][]> = {
    'a kind that there is not': [[[99, -1]]],
    'hello twice': [[[TO_CORE.HELLO, -1, PROTOCOL, 'x']]],
    'ready twice': [[[TO_CORE.READY, -1]]],
    'a request without a number': [bad({ 2: 'one' })],
    'a request with half a number': [bad({ 2: 1.5 })],
    'a method that is no text': [bad({ 3: 7 })],
    'an address that is none': [bad({ 6: 'the operator' })],
    'headers that are none': [bad({ 9: null })],
    'a header that is no text': [bad({ 9: { key: { toString: 1 } } })],
    'two requests of one number': [
      [[TO_CORE.HEAD, -1, 1, 'POST', TRANSFERS, '', '198.51.100.1', 1, 1, {}, 0, 0, null]],
      [[TO_CORE.HEAD, -1, 1, 'POST', TRANSFERS, '', '198.51.100.1', 1, 1, {}, 0, 0, null]],
    ],
    'the body of a request that nobody knows': [[[TO_CORE.BODY, -1, 5, 0, 0, null], 'x']],
    'a body before the core wants it': [
      [[TO_CORE.HEAD, -1, 1, 'POST', TRANSFERS, '', '198.51.100.1', 1, 1, {}, 0, 0, null]],
      [[TO_CORE.BODY, -1, 1, 0, 0, null], 'x'],
    ],
    'a body that can not be read before the core wants it': [
      [[TO_CORE.HEAD, -1, 1, 'POST', TRANSFERS, '', '198.51.100.1', 1, 1, {}, 0, 0, null]],
      [[TO_CORE.UNREADABLE, -1, 1, 'TOO_BUSY', 'x', 503]],
    ],
    'a body over a megabyte': [[good[0], Buffer.alloc(1_048_577, 32)]],
    'a fault without a label': [bad({ 12: { ...fault, label: 7 } })],
    'a fault that is no refusal': [bad({ 12: { ...fault, status: 200 } })],
    'a fault of a status that nobody counts': [bad({ 12: { ...fault, status: 123_456 } })],
    'room given back that was never taken': [[[TO_CORE.RELEASE, -1, '198.51.100.1', 10]]],
    'figures that are none': [[[TO_CORE.FIGURES, -1, -5, 0]]],
    'a log that is none': [[[TO_CORE.LOG, -1, 'warn', {}, 'x']]],
    'two sockets of one number': [socket, socket],
    'a socket at no address': [[[TO_CORE.SOCKET_OPEN, -1, 5, '/ws/v4/', 'x', null, 0]]],
    'bytes that wait on no socket': [[[TO_CORE.SOCKETS_WAITING, -1, 7]]],
    'a call over a megabyte': [
      socket,
      [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 1, 'spot.order_place', {}], Buffer.alloc(1_048_577, 32)],
    ],
    'a call without a number': [
      socket,
      [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 'x', 'spot.order_place', {}], '{}'],
    ],
    'a call of no channel': [socket, [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 1, 7, {}], '{}']],
    'a call that is deep': [
      socket,
      [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 1, 'spot.order_place', { req_id: [[[1]]] }], '{}'],
    ],
    'a call that is long': [
      socket,
      [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 1, 'spot.order_place', { a: 'x'.repeat(5_000) }], '{}'],
    ],
    'a call with two of its parameters': [
      socket,
      [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 1, 'spot.order_place', { req_param: 1 }], '{}'],
    ],
    'a call whose parameters are no JSON': [
      socket,
      [[TO_CORE.SOCKET_CALLED, -1, 5, 0, 1, 'spot.order_place', {}], '{"a":'],
    ],
    'a frame over a megabyte': [socket, [[TO_CORE.SOCKET_RECEIVED, -1, 5, 0], Buffer.alloc(1_048_577, 32)]],
  }
  test('who says what no gateway would is cut, alone', async (t) => {
    const other = await stolen('other')
    for (const [name, messages] of Object.entries(cases))
      await t.test(name, async () => {
        const gateway = await stolen()
        for (const [head, text] of messages) gateway.say([...head], text)
        await gateway.ended()
        gateway.close()
      })
    for (const [name, bytes] of [
      ['bytes that are no frame', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
      ['a frame that is too long', Buffer.from([0, 0, 0, 2, 2, 0, 0, 0])],
      ['a frame of four gigabytes', Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])],
      ['heads that are nested without end', deep()],
    ] as const)
      await t.test(name, async () => {
        const gateway = await stolen()
        gateway.socket.write(bytes)
        await gateway.ended()
      })
    assert.equal(other.closed, undefined)
    await wellAt(other)
    // Nothing of it was carried out.
    assert.ok(Number(await balance()) > 900)
  })
  test('who leaves more unanswered than it may is cut', async () => {
    const gateway = await stolen()
    const claim = headers('whatever')
    for (let i = 0; i < UNANSWERED_MAX * 2; i++) gateway.say(ask(TO_CORE.HEAD, claim, [0, 0]))
    await until(() => gateway.of(TO_GATEWAY.GO).length === UNANSWERED_MAX * 2)
    assert.equal(gateway.closed, undefined)
    gateway.say(ask(TO_CORE.HEAD, claim, [0, 0]))
    await gateway.ended()
  })
  test('keeps no operator out by guessing in his name', async () => {
    const gateway = await stolen()
    const claim = headers('a guess')
    for (let i = 0; i < 150; i++) gateway.say(ask(TO_CORE.ASK, claim, [0, 0], { 6: '127.0.0.1' }), MOVE)
    await until(() => gateway.of(TO_GATEWAY.REPLY).length === 150)
    const [head] = gateway.of(TO_GATEWAY.REPLY).at(-1)!
    assert.equal(head[3], 429)
    assert.equal((await operator.call('GET', '/status')).status, 200)
  })
  test('who does not read is cut, alone, before it fills memory', async () => {
    const [gateway, other] = [await stolen('deaf'), await stolen('other')]
    gateway.socket.pause()
    const before = process.memoryUsage().rss
    for (let i = 0; i < 4_000 && gateway.socket.writableLength < 64 * 1024 * 1024; i++) {
      for (let j = 0; j < 4; j++)
        gateway.say(
          ask(TO_CORE.ASK, {}, [0, 0], { 3: 'GET', 4: '/api/v4/spot/currencies', 6: address(i), 8: 0 }),
        )
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until(
      () =>
        logged.some(({ gateway, name, why }) => (gateway ?? name) === 'deaf' && /not read/.test(String(why))),
      40_000,
    )
    await wellAt(other)
    assert.ok(process.memoryUsage().rss - before < 700e6, String(process.memoryUsage().rss - before))
  })
})
/** Public calls are limited by address: this one makes them up. */
const address = (i: number): string => `10.${(i >> 8) & 255}.${i & 255}.1`
function deep(): Buffer {
  const heads = Buffer.from('['.repeat(2_000_000))
  const head = Buffer.alloc(8)
  head.writeUInt32LE(heads.length + 4, 0)
  head.writeUInt32LE(heads.length, 4)
  return Buffer.concat([head, heads])
}
