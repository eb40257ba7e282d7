import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { FrameRate } from '../../src/sockets/frame-rate.ts'
import { textFrame } from '../../src/sockets/frames.ts'
import { productOf } from '../../src/sockets/paths.ts'
import { RawConnection, until } from '../support/raw.ts'
import { SocketBench, TestSocket, type Kind } from '../support/stand-in.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const upgrade = (path: string, headers = '', host = '127.0.0.1'): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n${headers}\r\n`
/** A masked frame, as clients send them; the mask is zero. */
function frame(opcode: number, payload: Buffer | string, fin = true): Buffer {
  const body = Buffer.from(payload as string)
  const head = body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10
  const bytes = Buffer.alloc(head + 4 + body.length)
  bytes[0] = (fin ? 0x80 : 0) | opcode
  bytes[1] = 0x80 | (head === 2 ? body.length : head === 4 ? 126 : 127)
  if (head === 4) bytes.writeUInt16BE(body.length, 2)
  if (head === 10) bytes.writeBigUInt64BE(BigInt(body.length), 2)
  body.copy(bytes, head + 4)
  return bytes
}
/** The code of the close frame at the end of what came. */
const closeCode = (received: string): number => {
  const at = received.lastIndexOf('\x88')
  return Buffer.from(received.slice(at + 2, at + 4), 'latin1').readUInt16BE(0)
}
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('every address of the specification leads to its product, with any leading segment', () => {
  const table: Record<string, string | undefined> = {
    '/ws/v4/': 'spot',
    '/ws/v4': 'spot',
    '/v4/ws/spot': 'spot',
    '/gateeu/ws/v4/': 'spot',
    '/v4/ws/unified': 'unified',
    '/v4/ws/usdt': 'futures_usdt',
    '/fx-ws/v4/ws/usdt': 'futures_usdt',
    '/fx-ws/v4/ws/btc': 'futures_btc',
    '/v4/ws/futures/usdt': 'futures_usdt',
    '/v4/ws/futures/btc': 'futures_btc',
    '/v4/ws': 'futures_btc',
    '/fx-ws/v4/ws': 'futures_btc',
    '/fx-ws/v4/ws/delivery/usdt': 'delivery_usdt',
    '/v4/ws/delivery/btc': 'delivery_btc',
    '/v4/ws/options': 'options',
    '/v4/ws/options/usdt': 'options',
    '/op-ws/v4/ws': 'options',
    '/op-ws/v4/ws/usdt': 'options',
    '/op-ws/v4/ws/btc': 'options',
    '/': undefined,
    '/ws': undefined,
    '/v4/ws/eth': undefined,
    '/UPPER/ws/v4/': undefined,
    '/a/b/ws/v4/': undefined,
    [`/${'a'.repeat(33)}/ws/v4/`]: undefined,
    '/op-ws': undefined,
    '/api/v4/spot/time': undefined,
  }
  for (const [path, product] of Object.entries(table)) assert.equal(productOf(path), product, path)
})
test('frames are what the protocol says at every length', () => {
  for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 100_000]) {
    const made = textFrame('x'.repeat(length))
    const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
    assert.equal(made.length, head + length)
    assert.equal(made[0], 0x81)
    if (head === 2) assert.equal(made[1], length)
    if (head === 4) assert.deepEqual([made[1], made.readUInt16BE(2)], [126, length])
    if (head === 10) assert.deepEqual([made[1], made.readBigUInt64BE(2)], [127, BigInt(length)])
    assert.deepEqual(textFrame(Buffer.alloc(length, 'x')), made)
  }
  assert.equal(textFrame('ü€').toString('latin1'), '\x81\x05\xc3\xbc\xe2\x82\xac')
})
test('a second is counted wherever it begins', () => {
  const rate = new FrameRate()
  for (let i = 0; i < 500; i++) assert.ok(rate.count(1_000_990) <= 500)
  assert.equal(rate.count(1_001_500), 501)
  assert.equal(rate.count(1_002_000), 2)
  assert.equal(rate.count(1_900_000), 1)
  // 500 each second, all at once, is within the limit for ever.
  const bursts = new FrameRate()
  for (let second = 5; second < 60; second++)
    for (let i = 0; i < 500; i++) assert.ok(bursts.count(second * 1_000 + 37) <= 500)
})

for (const kind of ['one process', 'gateways'] as Kind[])
  describe(`the door, ${kind}`, () => {
    let bench: SocketBench
    before(async () => {
      bench = await SocketBench.start(kind)
    })
    after(() => bench.stop())

    test('a frame goes to the desk and its answer comes back, in order', async () => {
      const [client, known] = await bench.connect('/ws/v4/?a=1', {
        headers: {
          'X-Gate-Channel-Id': 'mine',
          'X-Gate-Size-Decimal': '1',
          Origin: 'https://elsewhere.example',
        },
      })
      assert.deepEqual(known.handshake, {
        path: '/ws/v4/',
        ip: '127.0.0.1',
        channelId: 'mine',
        sizeDecimal: true,
        visitor: null,
      })
      for (let i = 0; i < 200; i++) client.send(`{"n":${i},"text":"ü€😀"}`)
      const frames = await client.got(200)
      assert.deepEqual(
        frames,
        Array.from({ length: 200 }, (_, i) => `{"n":${i},"text":"ü€😀"}`),
      )
      client.send(`"${'x'.repeat(1024 * 1024 - 2)}"`)
      assert.equal((await client.got(201))[200]!.length, 1024 * 1024)
      assert.equal(client.ws.extensions, '')
      client.ws.close(1000)
      assert.deepEqual(await client.closed, [1000, ''])
      await until(() => known.closed === 1000)
    })
    test('a call is read at the door, and its frames are made there; a login goes to the desk as it is', async () => {
      const [client, known] = await bench.connect()
      const call = (channel: string, payload: unknown): string =>
        JSON.stringify({ time: 1, channel, event: 'api', payload })
      client.send(call('spot.order_place', { req_id: 'r', req_param: { text: 'ü€' } }))
      client.send(call('spot.order_status', { req_id: 's' }))
      const login = call('spot.login', { req_id: 'l', req_param: {} })
      client.send(login)
      const frames = await client.got(5)
      const read = frames.slice(0, 4).map((frame) => {
        const { request_id, ack, header, data } = JSON.parse(frame)
        const { client_id, conn_id, x_gate_ratelimit_limit: limit } = header
        return [request_id, ack, client_id, conn_id, limit, data]
      })
      const echo = { req_id: 'r', req_param: { text: 'ü€' }, api_key: '', timestamp: '', signature: '' }
      assert.deepEqual(
        read,
        [
          ['r', true, 'client', 'c', 10, { result: echo }],
          ['r', undefined, 'client', 'c', undefined, { text: 'ü€' }],
          ['s', true, 'client', 'c', 10, { result: { ...echo, req_id: 's', req_param: undefined } }],
          ['s', undefined, 'client', 'c', undefined, null],
        ].map((row) => row.map((value, i) => (i === 5 ? JSON.parse(JSON.stringify(value)) : value))),
      )
      assert.equal(frames[4], login)
      assert.deepEqual(
        known.called.map(({ n, channel, param }) => [n, channel, param]),
        [
          [1, 'spot.order_place', '{"text":"ü€"}'],
          [2, 'spot.order_status', undefined],
        ],
      )
      // What nobody waits for is not told.
      known.door.answer(known.id, { n: 1, now: 0, limits: undefined, status: 200, data: '{}', copies: 1 })
      known.door.acknowledge(known.id, 77, 0, undefined)
      client.send(call('spot.order_place', { req_id: 'twice' }))
      known.send('last')
      const told = await client.got(8)
      // As faults want it: twice, or not at all, and then the call is forgotten as well.
      bench.desk.copies = 2
      client.send(call('spot.order_place', { req_id: 'two' }))
      const two = (await client.got(11)).slice(8)
      assert.deepEqual([two[0]!.includes('"ack":true'), two[1] === two[2]], [true, true])
      bench.desk.copies = 0
      client.send(call('spot.order_place', { req_id: 'none' }))
      await client.got(12)
      bench.desk.copies = 1
      client.send(call('spot.order_place', { req_id: 'one' }))
      const rest = (await client.got(14)).slice(11).map((frame) => JSON.parse(frame).request_id as string)
      assert.deepEqual(rest, ['none', 'one', 'one'])
      assert.deepEqual(told.filter((frame) => frame.includes('"request_id":"r"')).length, 2)
      client.ws.close(1000)
      await client.closed
    })
    test('no header: no channel id, no decimals; the neutral spelling counts too; no subprotocol, no compression', async () => {
      const [plain, first] = await bench.connect('/fx-ws/v4/ws/usdt')
      assert.deepEqual([first.handshake.channelId, first.handshake.sizeDecimal], [null, false])
      const [neutral, second] = await bench.connect('/v4/ws', { headers: { 'X-Svc-Channel-Id': 'n' } })
      assert.equal(second.handshake.channelId, 'n')
      const raw = await RawConnection.open(bench.url)
      raw.socket.write(
        upgrade('/ws/v4', 'Sec-WebSocket-Protocol: a, b\r\nSec-WebSocket-Extensions: permessage-deflate\r\n'),
      )
      await until(() => raw.received.includes('\r\n\r\n'))
      assert.match(raw.received, /^HTTP\/1\.1 101 /)
      assert.match(raw.received, /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/)
      assert.doesNotMatch(raw.received, /Protocol:|Extensions/)
      // A frame that came with the handshake is read too.
      raw.socket.destroy()
      const early = await RawConnection.open(bench.url)
      early.socket.write(Buffer.concat([Buffer.from(upgrade('/ws/v4')), frame(1, '"early"')]))
      await until(() => early.received.endsWith('"early"'))
      early.socket.destroy()
      plain.ws.terminate()
      neutral.ws.terminate()
    })

    const refused = async (text: string): Promise<[number, string, string]> => {
      const raw = await RawConnection.open(bench.url)
      const received = await raw.exchange(text)
      const { label, message } = JSON.parse(raw.body) as { label: string; message: string }
      assert.equal(raw.statuses.length, 1)
      assert.ok(message.length > 5)
      return [raw.statuses[0]!, label, received]
    }
    test('handshakes are refused as REST refuses', async () => {
      for (const [text, status, label] of [
        [upgrade('/nowhere'), 404, 'NOT_FOUND'],
        [upgrade('/api/v4/spot/time'), 404, 'NOT_FOUND'],
        [upgrade('/ws/v4', '', 'evil.example'), 403, 'FORBIDDEN'],
        [upgrade('/ws/v4').replace('Host: 127.0.0.1\r\n', ''), 400, 'BAD_REQUEST'],
        [upgrade('/ws/v4').replace('Version: 13', 'Version: 8'), 426, 'INVALID_PROTOCOL'],
        [upgrade('/ws/v4').replace(KEY, 'short'), 400, 'INVALID_PROTOCOL'],
      ] as const) {
        const [got, name] = await refused(text)
        assert.deepEqual([got, name], [status, label], text)
      }
      const [status, label, received] = await refused(
        'GET /ws/v4/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
      )
      assert.deepEqual([status, label], [426, 'INVALID_PROTOCOL'])
      assert.match(received, /^Upgrade: websocket\r$/m)
      for (const [why, refusal] of [
        ['too many', { accepted: false, status: 429, label: 'TOO_MANY_REQUESTS', message: 'too many' }],
        ['busy', { accepted: false, status: 503, label: 'TOO_BUSY', message: 'stopping' }],
      ] as const) {
        bench.desk.verdict = () => Promise.resolve(refusal)
        const [status, label] = await refused(upgrade('/ws/v4'))
        assert.deepEqual([status, label], [refusal.status, refusal.label], why)
      }
      bench.desk.verdict = () => ({ accepted: true })
      assert.equal(bench.desk.open, 0)
    })
    test('one who goes away while the desk thinks never was', async () => {
      let decide: (() => void) | undefined
      bench.desk.verdict = () => new Promise((resolve) => (decide = () => resolve({ accepted: true })))
      const before = bench.desk.known.length
      const raw = await RawConnection.open(bench.url)
      raw.socket.write(upgrade('/ws/v4'))
      await until(() => decide !== undefined)
      raw.socket.resetAndDestroy()
      await wait(50)
      decide!()
      bench.desk.verdict = () => ({ accepted: true })
      await until(() => bench.desk.known.length > before && bench.desk.known.at(-1)!.closed !== undefined)
      assert.equal(bench.desk.open, 0)
    })
    test('what is no text, no frame or too long closes with its code', async () => {
      for (const [bytes, code] of [
        [frame(2, 'binary'), 1003],
        [frame(1, Buffer.from([0x22, 0xff, 0xfe, 0x22])), 1007],
        [frame(3, 'reserved'), 1002],
        [Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
        [Buffer.from([0x81, 0x01, 0x41]), 1002],
        [frame(1, 'x'.repeat(1024 * 1024 + 1)), 1009],
        [Buffer.concat(Array.from({ length: 2_000 }, (_, i) => frame(i === 0 ? 1 : 0, 'x', false))), 1008],
        [Buffer.concat([frame(1, 'x', false), Buffer.alloc(3_000_000, frame(0, '', false))]), 1008],
      ] as const) {
        const raw = await RawConnection.open(bench.url)
        raw.socket.write(upgrade('/ws/v4'))
        await until(() => raw.received.includes('\r\n\r\n'))
        const known = bench.desk.known.at(-1)!
        raw.received = ''
        raw.socket.write(bytes)
        await until(
          () => raw.received.includes('\x88'),
          5_000,
          () => `${code}: nothing`,
        )
        assert.equal(closeCode(raw.received), code)
        if (raw.received.length > 4) raw.socket.write(frame(8, Buffer.from([code >> 8, code & 255])))
        await raw.ended()
        await until(() => known.closed !== undefined)
        assert.equal(known.closed, code)
        assert.deepEqual(known.received, [])
      }
      assert.equal(bench.desk.open, 0)
    })
    test('over 500 frames in a second close with 1008, 500 do not', async () => {
      const [client] = await bench.connect()
      for (let i = 0; i < 500; i++) client.send('1')
      await client.got(500)
      await wait(1_100)
      for (let i = 0; i < 500; i++) client.send('1')
      await client.got(1_000)
      for (let i = 0; i < 100; i++) client.send('1')
      const [code, reason] = await client.closed
      assert.equal(code, 1008)
      assert.match(reason, /^TOO_MANY_REQUESTS: over 500 frames/)
    })
    test('of an address only so much comes in long frames; short ones pass all the same', async () => {
      const [client, known] = await bench.connect()
      for (let i = 0; i < 30; i++) client.send('x'.repeat(1_000_000))
      // Were it not bounded, all of them would come back, and nothing would end it.
      await until(
        () => client.code !== undefined || client.frames.length === 30,
        20_000,
        () => `${client.frames.length} long frames came back, and it is not closed`,
      )
      const all = client.frames.length === 30
      if (all) client.ws.terminate()
      assert.ok(!all, 'all long frames came back')
      const [code, reason] = await client.closed
      assert.equal(code, 1008)
      assert.match(reason, /^TOO_MANY_REQUESTS: too much in long frames/)
      await until(() => known.closed !== undefined)
      assert.ok(known.received.length >= 4 && known.received.length < 30, String(known.received.length))
      const [other] = await bench.connect()
      other.send('x'.repeat(4_096))
      await other.got(1)
      other.ws.close()
      await until(() => bench.desk.open === 0)
    })
    test('a published frame reaches whoever joined, once each, until he leaves', async () => {
      const [a, first] = await bench.connect()
      const [b, second] = await bench.connect()
      const [c, third] = await bench.connect()
      first.join(1, 'each')
      first.join(1, 'each')
      second.join(1, 'each')
      third.join(2, 'each')
      bench.desk.publish(1, '"one"')
      second.send('"between"')
      bench.desk.publish(1, '"two"')
      second.door.leave(second.id, 1)
      bench.desk.publish(1, '"three"')
      bench.desk.publish(2, '"other"')
      await a.got(3)
      await b.got(3)
      await c.got(1)
      await wait(50)
      assert.deepEqual(a.frames, ['"one"', '"two"', '"three"'])
      assert.deepEqual(b.frames, ['"one"', '"between"', '"two"'])
      assert.deepEqual(c.frames, ['"other"'])
      first.door.close(first.id, 1008, 'INVALID_KEY: the key was deleted')
      assert.deepEqual(await a.closed, [1008, 'INVALID_KEY: the key was deleted'])
      second.door.cut(second.id)
      assert.equal((await b.closed)[0], 1006)
      c.ws.close()
      await until(() => bench.desk.open === 0)
    })
    test('a close comes behind everything that was said before it', async () => {
      const [client, known] = await bench.connect()
      const long = `"${'x'.repeat(100_000)}"`
      for (let i = 0; i < 40; i++) known.send(long)
      known.door.close(known.id, 1012, 'reset')
      known.send('"too late"')
      assert.deepEqual(await client.closed, [1012, 'reset'])
      assert.equal(client.frames.length, 40)
      assert.ok(client.frames.every((frame) => frame === long))
    })
    test('an idle HTTP timeout does not touch a socket, and it counts until it closes', async () => {
      const [client, known] = await bench.connect()
      const count = (): number => (bench.acceptor ?? bench.server).connections
      const before = count()
      assert.ok(before >= 1)
      await wait(1_500)
      client.send('"still there"')
      await client.got(1)
      client.ws.close()
      await until(() => known.closed !== undefined && count() === before - 1)
    })
  })

describe('requests that offer HTTP/2', () => {
  let bench: SocketBench
  before(async () => {
    bench = await SocketBench.start('one process')
  })
  after(() => bench.stop())
  const H2C = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'

  test('are served as if they had not, with a body and on a connection that goes on', async () => {
    const raw = await RawConnection.open(bench.url)
    const head = `Host: 127.0.0.1\r\n${H2C}`
    raw.socket.write(`GET /first HTTP/1.1\r\n${head}\r\n`)
    await until(() => raw.received.includes('/first'))
    const body = JSON.stringify({ text: 'y'.repeat(50_000) })
    raw.socket.write(
      `POST /second HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 1_000)}`,
    )
    await wait(50)
    raw.socket.write(body.slice(1_000))
    await until(() => raw.statuses.length === 2 && raw.received.includes('/second'))
    raw.socket.write(
      `POST /third HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    )
    await until(() => raw.received.includes('/third'))
    raw.socket.write('GET /fourth HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await until(() => raw.received.includes('/fourth'))
    assert.deepEqual(raw.statuses, [200, 200, 200, 200])
    const bodies = [...raw.received.matchAll(/\{"method".*?"\}/g)].map(([text]) => text)
    assert.match(bodies[1]!, new RegExp(`"/second","body":"{\\\\"text\\\\":\\\\"y{1000}`))
    assert.match(bodies[2]!, /"\/third","body":"hello"/)
    assert.equal(bench.server.connections, 1)
    raw.socket.destroy()
  })
  test('on a socket path they are told what is there', async () => {
    const raw = await RawConnection.open(bench.url)
    await raw.exchange(`GET /ws/v4 HTTP/1.1\r\nHost: 127.0.0.1\r\n${H2C}\r\n`)
    assert.deepEqual(raw.statuses, [426])
  })
  test('replies that are owed come before the handshake', async () => {
    const raw = await RawConnection.open(bench.url)
    const body = 'z'.repeat(10)
    raw.socket.write(
      `POST /slow HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n${body}${upgrade('/ws/v4')}`,
    )
    await until(() => raw.received.includes('101 Switching'))
    assert.deepEqual(raw.statuses, [200, 101])
    raw.socket.write(frame(1, '"yes"'))
    await until(() => raw.received.endsWith('"yes"'))
    raw.socket.destroy()
  })
  test('CONNECT is still no way through', async () => {
    await new Promise<void>((resolve) => {
      const asked = request(bench.url, { method: 'CONNECT', path: 'elsewhere:1' })
      asked.on('error', () => resolve())
      asked.on('connect', () => assert.fail('connected'))
      asked.end()
    })
  })
})

describe('many connections of one address', () => {
  /** A tenth of the real bounds: 50 frames a second on a connection, and 600 of an address at each door. */
  const tenth = { rateLimits: 0.1, trustProxy: 1 }
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })
  const crowd = (bench: SocketBench, count: number) =>
    Promise.all(Array.from({ length: count }, () => bench.connect('/ws/v4', from('9.9.9.9'))))

  for (const kind of ['one process', 'gateways'] as Kind[])
    test(`have the frames of their address together; the rest waits its turn, and a stranger does not (${kind})`, async () => {
      const bench = await SocketBench.start(kind, tenth)
      const clients = (await crowd(bench, 60)).map(([client]) => client)
      const [stranger] = await bench.connect('/ws/v4', from('1.2.3.4'))
      const began = performance.now()
      for (const client of clients) for (let i = 0; i < 40; i++) client.send(String(i))
      stranger.send('"mine"')
      await stranger.got(1)
      const waited = performance.now() - began
      const answered = clients.reduce((sum, { frames }) => sum + frames.length, 0)
      assert.ok(
        answered < 2_000,
        `${answered} frames of the crowd came before one of a stranger, ${waited} ms`,
      )
      await Promise.all(clients.map((client) => client.got(40)))
      const took = performance.now() - began
      // One door takes 600 at once and 600 a second, and there are two where there are gateways.
      assert.ok(took > (kind === 'gateways' ? 800 : 2_500), `2,400 frames took ${took} ms`)
      const expected = Array.from({ length: 40 }, (_, i) => String(i))
      for (const client of clients) assert.deepEqual(client.frames, expected)
      await bench.stop()
      for (const client of clients) assert.equal((await client.closed)[0], 1001)
    })
  test('one that was held back is not cut for what it sent meanwhile', async () => {
    const bench = await SocketBench.start('one process', tenth)
    const clients = (await crowd(bench, 40)).map(([client]) => client)
    for (let round = 0; round < 3; round++) {
      for (const client of clients) for (let i = 0; i < 40; i++) client.send(String(round * 40 + i))
      await wait(1_050)
    }
    await Promise.all(clients.map((client) => client.got(120)))
    const expected = Array.from({ length: 120 }, (_, i) => String(i))
    for (const client of clients) assert.deepEqual(client.frames, expected)
    // A minute's worth of pings is no honest backlog.
    for (const client of clients) for (let i = 0; i < 60; i++) client.ws.ping()
    for (const client of clients) assert.equal((await client.closed)[0], 1008)
    await bench.stop()
  })
})

describe('behind a proxy', () => {
  test('the address is the one that the proxy tells', async () => {
    const bench = await SocketBench.start('one process', { trustProxy: 1 })
    const [client, known] = await bench.connect('/ws/v4', {
      headers: { 'X-Forwarded-For': '9.9.9.9, 1.2.3.4' },
    })
    assert.equal(known.handshake.ip, '1.2.3.4')
    client.ws.terminate()
    await bench.stop()
  })
})

describe('silence', () => {
  test('who says nothing is asked, and cut without a word when nothing comes', async () => {
    const times = { pingMs: 200, silentMs: 600, sweepMs: 50 }
    const bench = await SocketBench.start('one process', { times })
    const [lively] = await bench.connect()
    const [still, silent] = await bench.connect('/ws/v4', { autoPong: false })
    await until(() => silent.closed !== undefined)
    assert.equal(silent.closed, 1006)
    assert.ok(still.pings >= 1 && still.pings <= 3, `${still.pings} pings`)
    assert.equal((await still.closed)[0], 1006)
    await wait(400)
    assert.ok(lively.pings >= 3)
    assert.equal(lively.code, undefined)
    // A ping from the client is an answer too, and is answered.
    const [other, known] = await bench.connect('/ws/v4', { autoPong: false })
    let pongs = 0
    other.ws.on('pong', () => pongs++)
    for (let i = 0; i < 10; i++) {
      other.ws.ping()
      await wait(100)
    }
    assert.equal(pongs, 10)
    assert.equal(known.closed, undefined)
    await bench.stop()
  })
})

describe('stopping', () => {
  for (const kind of ['one process', 'gateways'] as Kind[])
    test(`what was said is sent, then 1001; who does not read is cut within a second or so (${kind})`, async () => {
      const bench = await SocketBench.start(kind)
      const [reader, first] = await bench.connect()
      const [sleeper, second] = await bench.connect()
      sleeper.raw.pause()
      const long = `"${'x'.repeat(100_000)}"`
      for (let i = 0; i < 60; i++) {
        first.send(long)
        second.send(long)
      }
      for (const door of bench.desk.doors) door.closeAll(1001, 'the platform stops')
      const from = performance.now()
      await bench.stop()
      assert.ok(performance.now() - from < 8_000, `${performance.now() - from} ms`)
      assert.deepEqual(await reader.closed, [1001, 'the platform stops'])
      assert.equal(reader.frames.length, 60)
      await until(() => bench.desk.open === 0)
      sleeper.raw.resume()
      const late = new TestSocket(`${bench.ws}/ws/v4`)
      assert.equal((await late.closed)[0], 1006)
    })
  test('with the door shut an upgrade on an open connection gets 503', async () => {
    const bench = await SocketBench.start('one process')
    const raw = await RawConnection.open(bench.url)
    raw.socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await until(() => raw.statuses.length === 1)
    await bench.door.shut()
    raw.socket.write(upgrade('/ws/v4'))
    await raw.ended()
    assert.deepEqual(raw.statuses, [200, 503])
    assert.match(raw.received, /TOO_BUSY/)
    await bench.stop()
  })
})

test('a gateway that is killed takes its sockets with it, and the desk is told', async () => {
  const bench = await SocketBench.start('gateways')
  const sockets: TestSocket[] = []
  for (let i = 0; i < 6; i++) sockets.push((await bench.connect())[0])
  const doors = [...bench.desk.doors]
  // One for this process, one for each gateway.
  assert.equal(doors.length, 3)
  for (const known of bench.desk.known) known.join(1, 'each')
  const [{ pid } = { pid: 0 }] = bench.gateways!.list()
  process.kill(pid, 'SIGKILL')
  await until(() => sockets.filter(({ code }) => code === 1006).length === 3)
  await until(() => bench.desk.known.filter(({ closed }) => closed === 0).length === 3)
  bench.desk.publish(1, '"to the rest"')
  const rest = sockets.filter(({ code }) => code === undefined)
  for (const socket of rest) assert.deepEqual(await socket.got(1), ['"to the rest"'])
  await until(() => bench.gateways!.list().length === 2)
  assert.equal(bench.desk.doors.size, 3)
  const [again] = await bench.connect()
  again.send('"again"')
  await again.got(1)
  await bench.stop()
})
test('a client that floods with handshakes that nobody finishes holds nothing', async () => {
  const bench = await SocketBench.start('one process')
  const sockets = Array.from({ length: 20 }, () => {
    const { port } = new URL(bench.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(upgrade('/ws/v4'))
    return socket
  })
  await until(() => bench.desk.known.length === 20)
  for (const socket of sockets) socket.resetAndDestroy()
  await until(() => bench.desk.open === 0 && bench.server.connections === 0)
  assert.equal(bench.door.size, 0)
  await bench.stop()
})
