import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { HttpServer, type ServerOptions } from '../../src/http/server.ts'
import { connectionsByDescriptors } from '../../src/http/descriptors.ts'
import { Client, ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { freePort } from '../support/ports.ts'
import { PlatformProcess } from '../support/process.ts'
import { RawConnection, signedHead, until } from '../support/raw.ts'

const folders: string[] = []
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-sockets-')))
  return folders.at(-1)!
}
after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x.localhost\r\n\r\n`
const metric = async (url: string, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}

describe('connections that flood, stall or do not read', () => {
  test('eight sockets of pipelined GET /docs, unread, hold no memory and slow nobody down', async () => {
    const platform = await PlatformProcess.start({
      KONTOR_DATA: folder(),
      NODE_OPTIONS: '--max-old-space-size=256',
    })
    try {
      await fetch(`${platform.url}/docs`).then((reply) => reply.text())
      const before = await metric(platform.url, 'process_resident_memory_bytes')
      const flood = GET('/docs').repeat(Math.floor(65_000 / GET('/docs').length))
      const sockets = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(platform.url)))
      for (const { socket } of sockets) {
        socket.pause()
        socket.write(flood)
      }
      const waits: number[] = []
      for (let i = 0; i < 50; i++) {
        const start = performance.now()
        const reply = await fetch(`${platform.url}/api/v4/spot/time`)
        assert.equal(reply.status, 200)
        await reply.text()
        waits.push(performance.now() - start)
      }
      waits.sort((a, b) => a - b)
      assert.ok(waits[25]! < 100, `half of the others wait ${waits[25]!.toFixed(0)} ms`)
      const grown = (await metric(platform.url, 'process_resident_memory_bytes')) - before
      assert.ok(grown < 100e6, `memory grew by ${(grown / 1e6).toFixed(0)} MB`)
      for (const { socket } of sockets) socket.resume()
      await Promise.all(sockets.map((socket) => socket.ended()))
      assert.equal(platform.child.exitCode, null)
    } finally {
      await platform.kill()
    }
  })
})

describe('one connection', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_REQUEST_SECONDS: '3' })
  })
  after(() => platform.stop())

  test('32 requests may be unanswered; the next one is refused, in its place, and closes', async () => {
    const line = await RawConnection.open(platform.url)
    const received = await line.exchange(GET('/api/v4/spot/time').repeat(60))
    assert.deepEqual(line.statuses, [...Array<number>(32).fill(200), 429])
    assert.match(received, /"TOO_MANY_REQUESTS"[^]*32 requests of this connection/)
    assert.match(received, /X-In-Time: \d{16}/)
  })
  test('but there is no total: a connection lives on', async () => {
    const line = await RawConnection.open(platform.url)
    for (let i = 1; i <= 20; i++) {
      line.socket.write(GET('/api/v4/spot/time').repeat(10))
      await until(() => line.statuses.length === i * 10)
    }
    assert.ok(line.statuses.every((status) => status === 200))
    assert.equal(line.closed, false)
    line.socket.destroy()
  })
  test('pages are made once: compressed, with an ETag, and never again for who has them', async () => {
    for (const path of ['/docs', '/openapi.json']) {
      const sizes: number[] = []
      for (const coding of ['identity', 'gzip', 'br']) {
        const line = await RawConnection.open(platform.url)
        const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n`
        const received = await line.exchange(`${head}\r\n`)
        assert.equal(/^Content-Encoding: (\w+)/m.exec(received)?.[1] ?? 'identity', coding)
        sizes.push(Number(/^Content-Length: (\d+)/m.exec(received)![1]))
        const etag = /^ETag: (.*)\r$/m.exec(received)![1]!
        const again = await RawConnection.open(platform.url)
        const known = await again.exchange(`${head}If-None-Match: "other", ${etag}\r\n\r\n`)
        assert.match(known, /^HTTP\/1\.1 304 /)
        assert.equal(known.split('\r\n\r\n')[1], '')
      }
      const [plain, gzip, br] = sizes as [number, number, number]
      assert.ok(gzip < plain && br < plain, `${path}: ${sizes.join(', ')}`)
      if (path === '/docs') assert.ok(br < plain / 5)
    }
    // Beside the work itself, on this machine and now: a page made anew for each request would take longer than making it so often.
    const page = Buffer.from(await (await fetch(`${platform.url}/docs`)).arrayBuffer())
    const agent = new Agent({ keepAlive: true })
    const time = async (work: () => unknown): Promise<number> => {
      const start = performance.now()
      await work()
      return performance.now() - start
    }
    const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
    const made = await time(() => [gzipSync(page), brotliCompressSync(page, QUICK)])
    const sent = await time(async () => {
      for (let i = 0; i < 100; i++) {
        const [answer] = (await once(get(`${platform.url}/docs`, { agent }), 'response')) as [IncomingMessage]
        await answer.resume().toArray()
      }
    })
    agent.destroy()
    assert.ok(sent < 50 * made, `they are not made anew: 100 in ${sent} ms, one is made in ${made} ms`)
  })
  test('a silent one is closed without a word, one that stops half-way with 408', async () => {
    const silent = await RawConnection.open(platform.url)
    const half = await RawConnection.open(platform.url)
    half.socket.write('GET /api/v4/spot/time HTT')
    const user = await platform.user()
    const body = await RawConnection.open(platform.url)
    body.socket.write(
      `${signedHead(user.credential, 'POST', '/api/v4/wallet/transfers')}Content-Length: 50\r\n\r\n{"a"`,
    )
    await Promise.all([silent.ended(), half.ended(), body.ended()])
    assert.equal(silent.received, '')
    for (const { received } of [half, body]) {
      assert.match(received, /^HTTP\/1\.1 408 /)
      assert.match(received, /"BAD_REQUEST".*in time/)
    }
    assert.doesNotMatch(await (await fetch(`${platform.url}/metrics`)).text(), /status="500"/)
  })
  test('an idle one is closed without a word, after its replies', async () => {
    const server = new HttpServer({ ...options((_, response) => response.end('{}')), idleMs: 300 })
    const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    const line = await RawConnection.open(url)
    await line.exchange(GET('/'))
    assert.deepEqual(line.statuses, [200])
    await server.close()
  })
  test('strangers send no bodies: key and clock are looked at first, and the refusal reaches them', async () => {
    const { credential } = await platform.user()
    const big = 'x'.repeat(512 * 1024)
    const path = '/api/v4/wallet/transfers'
    const stale = signedHead(credential, 'POST', path, big, '1000')
    for (const [head, label] of [
      [`POST ${path} HTTP/1.1\r\nHost: localhost\r\n`, 'MISSING_REQUIRED_HEADER'],
      [stale, 'REQUEST_EXPIRED'],
      [signedHead({ key: '0'.repeat(32), secret: 'x' }, 'POST', path, big), 'INVALID_KEY'],
      [
        'POST /operator/v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n',
        'INVALID_CREDENTIALS',
      ],
      ['POST /nowhere HTTP/1.1\r\nHost: localhost\r\n', 'NOT_FOUND'],
      [`POST ${path} HTTP/1.1\r\nHost: evil.example\r\n`, 'FORBIDDEN'],
    ] as const) {
      // Half of it comes at once, and the rest never: the answer does not wait for it.
      const line = await RawConnection.open(platform.url)
      const start = performance.now()
      const received = await line.exchange(
        `${head}Content-Length: ${big.length}\r\n\r\n${big.slice(0, 300_000)}`,
      )
      assert.match(received, new RegExp(`"${label}"`), received)
      assert.match(received, /Connection: close/i)
      assert.ok(performance.now() - start < 2_500, 'it is cut after a second')
      assert.equal(await metric(platform.url, 'kontor_body_bytes'), 0)
    }
    // A small body is taken in with its head, and the connection goes on.
    const line = await RawConnection.open(platform.url)
    line.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}${GET('/api/v4/spot/time')}`,
    )
    await until(() => line.statuses.length === 2)
    assert.deepEqual(line.statuses, [401, 200])
    line.socket.destroy()
  })
  test('who asks with 100-continue is told to go on only when the body is wanted', async () => {
    const { credential } = await platform.user()
    const body = JSON.stringify({ name: 'group' })
    const path = '/api/v4/account/stp_groups'
    const line = await RawConnection.open(platform.url)
    const head = `${signedHead(credential, 'POST', path, body)}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`
    line.socket.write(head)
    await until(() => line.received.includes('100 Continue'))
    line.socket.write(body)
    await until(() => line.statuses.length === 2)
    assert.deepEqual(line.statuses, [100, 200])
    line.socket.destroy()
    const refused = await RawConnection.open(platform.url)
    await refused.exchange(head.replace(/KEY: .*/, 'KEY: nobody'))
    assert.deepEqual(refused.statuses, [401])
  })
  test('what the parser refuses comes after the replies that are owed, in JSON', async () => {
    const server = new HttpServer(
      options((_, response) => void setTimeout(() => response.end('{"slow":true}'), 300)),
    )
    const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    const line = await RawConnection.open(url)
    const received = await line.exchange(`${GET('/')}NONSENSE\r\n\r\n`)
    assert.deepEqual(line.statuses, [200, 400])
    assert.ok(received.indexOf('slow') < received.indexOf('BAD_REQUEST'))
    await server.close()
  })
  test('Expect of something else, and no Host, have a body and the usual headers', async () => {
    for (const [text, status] of [
      ['GET /api/v4/spot/time HTTP/1.1\r\nHost: localhost\r\nExpect: cake\r\n\r\n', 417],
      ['GET /api/v4/spot/time HTTP/1.1\r\n\r\n', 400],
    ] as const) {
      const line = await RawConnection.open(platform.url)
      const received = await line.exchange(text)
      assert.deepEqual(line.statuses, [status])
      assert.equal((JSON.parse(line.body) as { label: string }).label, 'BAD_REQUEST')
      for (const name of [
        /^X-In-Time: \d{16}\r/m,
        /^X-Out-Time: \d{16}\r/m,
        /^X-Svc-Trace-ID: [0-9a-f]{32}\r/m,
      ])
        assert.match(received, name)
    }
  })
})

const options = (serve: ServerOptions['serve']): ServerOptions => ({
  serve,
  warn: () => undefined,
  connections: 100,
  addressConnections: 100,
  requestMs: 3_000,
})

describe('what a connection may hold', () => {
  const big = Buffer.alloc(200_000, 'x')
  const sendBig = (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { 'Content-Length': big.length })
    response.end(Buffer.from(big))
  }
  test('while replies wait to be read the next request waits too, and a reader that stalls is cut', async () => {
    let served = 0
    const server = new HttpServer({
      ...options((request, response) => {
        served++
        sendBig(request, response)
      }),
      unreadMs: 1_000,
    })
    const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`
    const stalled = await RawConnection.open(url)
    stalled.socket.pause()
    // Twice, so that the system's own buffers are full.
    for (let i = 0; i < 8; i++) {
      stalled.socket.write(GET('/').repeat(16))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.ok(served < 60, `${served} replies were made for a client that reads none`)
    await until(() => server.cut === 1)
    await until(() => server.connections === 0)
    // A client that reads gets everything, however slowly it does so.
    const slow = await RawConnection.open(url)
    slow.socket.write(GET('/').repeat(20))
    for (let i = 0; i < 20; i++) {
      slow.socket.pause()
      await new Promise((resolve) => setTimeout(resolve, 100))
      slow.socket.resume()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await until(() => slow.received.length > 20 * big.length)
    assert.equal(slow.statuses.length, 20)
    assert.equal(server.cut, 1)
    slow.socket.destroy()
    await server.close()
  })
  test('connections are bounded, for each address as well, and those that are there go on', async () => {
    const platform = await TestPlatform.start({ KONTOR_CONNECTIONS: '30', KONTOR_ADDRESS_CONNECTIONS: '20' })
    const first = await RawConnection.open(platform.url)
    const others = await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(platform.url)))
    await until(() => others.filter(({ closed }) => closed).length >= 21)
    assert.equal(others.filter(({ closed }) => !closed).length, 19)
    first.socket.write(GET('/api/v4/spot/time'))
    await until(() => first.statuses.length === 1)
    for (const { socket } of others) socket.destroy()
    await until(async () => {
      const reply = await fetch(`${platform.url}/healthz`).catch(() => undefined)
      return reply?.status === 200
    })
    first.socket.destroy()
    await platform.stop()
    assert.deepEqual([20_000, 1_024, 256, 10].map(connectionsByDescriptors), [10_000, 768, 128, 16])
  })
  test('unfinished bodies share a bound, and one address can not use it up', async () => {
    const platform = await TestPlatform.start()
    const { credential } = await platform.user()
    const head = `${signedHead(credential, 'POST', '/api/v4/wallet/transfers')}Content-Length: 1048576\r\n\r\n`
    const lines = await Promise.all(Array.from({ length: 20 }, () => RawConnection.open(platform.url)))
    for (const { socket } of lines) socket.write(head + 'x'.repeat(1_000_000))
    await until(() => lines.filter(({ statuses }) => statuses[0] === 503).length >= 10)
    assert.ok((await metric(platform.url, 'kontor_body_bytes')) <= 8 * 1024 * 1024)
    // Whoever sends little is not in the way.
    ok(await platform.client(credential).post('/account/stp_groups', { name: 'small' }))
    for (const { socket } of lines) socket.destroy()
    await until(async () => (await metric(platform.url, 'kontor_body_bytes')) === 0)
    await platform.stop()
  })
})

describe('descriptors', () => {
  test('a platform that is flooded with silent connections from its first moment starts and goes on', async () => {
    const port = await freePort()
    const sockets = new Set<ReturnType<typeof connect>>()
    const flood = setInterval(() => {
      for (let i = 0; i < 40 && sockets.size < 800; i++) {
        const socket = connect(port, '127.0.0.1')
        sockets.add(socket)
        socket.on('error', () => sockets.delete(socket))
        socket.on('close', () => sockets.delete(socket))
      }
    }, 5)
    // The shell lowers the limit for the platform alone: enough to load its modules, less than the flood.
    const platform = await PlatformProcess.limited('ulimit -n 500', {
      KONTOR_DATA: folder(),
      KONTOR_PORT: String(port),
      KONTOR_ADDRESS_CONNECTIONS: '1000',
      KONTOR_REQUEST_SECONDS: '3',
    })
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      assert.equal(platform.child.exitCode, null, platform.errors)
      clearInterval(flood)
      // Silent ones are closed; then there is room for others.
      await until(async () => {
        const reply = await fetch(`${platform.url}/api/v4/spot/time`).catch(() => undefined)
        return reply?.status === 200
      })
      await new Client(platform.url).get('/spot/time')
    } finally {
      clearInterval(flood)
      for (const socket of sockets) socket.destroy()
      await platform.kill()
    }
  })
})
