import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Passage } from '../../src/api/passage.ts'
import { readGatewayConfig } from '../../src/config.ts'
import type { HeldBounds } from '../../src/gateway/held.ts'
import { CoreLine } from '../../src/gateway/line.ts'
import { RemoteGateway } from '../../src/gateway/remote.ts'
import { BodyRoom } from '../../src/http/bodies.ts'
import type { PlainReply } from '../../src/http/exchange.ts'
import { UNKNOWN_FATE } from '../../src/labels.ts'
import { createLog } from '../../src/runtime/log.ts'
import type { ToDesk, ToDoor } from '../../src/sockets/line.ts'
import { VERSION } from '../../src/version.ts'
import { NO_DESK } from '../support/no-desk.ts'
import { RawConnection, until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs } from '../support/remote.ts'
import { SocketClient } from '../support/socket.ts'

const certs = new Certs()
const log = createLog('silent', () => undefined)
const TRANSFERS = '/api/v4/wallet/transfers'
const TIME = '/api/v4/spot/time'
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Seen {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly answer: (status?: number) => void
}
/** A core that answers when the test says so. */
class StagedCore {
  readonly line: CoreLine
  readonly name: string
  readonly seen: Seen[] = []
  readonly brokenOff: string[] = []
  readonly frames: string[] = []
  door: ToDoor | undefined
  /** Answers at once. */
  prompt = true
  private constructor(name: string, line: CoreLine) {
    this.name = name
    this.line = line
  }
  static async listen(name: string, port: number): Promise<StagedCore> {
    const line = new CoreLine({ listen: `127.0.0.1:${port}`, certs: certs.folder, log })
    await line.start()
    return new StagedCore(name, line)
  }
  serve(epoch: number): void {
    const pipeline = {
      begin: (request: Passage['request']) => ({ request }),
      look: () => undefined,
      pass: (passage: Passage, body?: Buffer) => this.take(passage, body),
      finish: (passage: Passage, body?: Buffer) => this.take(passage, body),
      brokenOff: ({ request }: Passage) => this.brokenOff.push(request.path),
      refuse: () => replyOf(this.name, 400),
    }
    const desk: ToDesk = {
      ...NO_DESK,
      open: () => ({ accepted: true }),
      received: (socket, text) => {
        this.frames.push(text)
        if (this.prompt) this.door!.send(socket, text)
      },
    }
    this.line.serve({
      pipeline: pipeline as never,
      look: () => ({ kind: 'text', type: 'json', text: `{"from":"${this.name}"}` }),
      room: new BodyRoom(),
      attach: (door) => {
        this.door = door
        return desk
      },
      settings: {
        mode: 'sandbox',
        surface: 'public',
        host: '127.0.0.1',
        hosts: [],
        cors: [],
        trustProxy: 0,
        requestMs: 30_000,
        socketQueue: 8_388_608,
        rateLimits: 1,
        version: VERSION,
      },
    })
    this.line.tell({ active: true, at: this.line.address, epoch })
  }
  private take({ request: { method, path } }: Passage, body: Buffer | undefined): Promise<PlainReply> {
    return new Promise((resolve) => {
      const answer = (status = 200): void => resolve(replyOf(this.name, status))
      this.seen.push({ method, path, body: body?.toString() ?? '', answer })
      if (this.prompt) answer()
    })
  }
}
const replyOf = (from: string, status: number): PlainReply => ({
  status,
  headers: [],
  text: JSON.stringify({ from }),
  drop: false,
})

const open: (() => Promise<void>)[] = []
after(async () => {
  for (const close of open.reverse()) await close().catch(() => undefined)
  certs.remove()
})
async function core(name: string, port?: number): Promise<StagedCore & { port: number }> {
  const at = port ?? (await freePort())
  const staged = await StagedCore.listen(name, at)
  open.push(() => staged.line.close())
  return Object.assign(staged, { port: at })
}
async function gateway(ports: readonly number[], bounds?: HeldBounds): Promise<RemoteGateway> {
  const config = readGatewayConfig({
    KONTOR_PORT: '0',
    KONTOR_CERTS: certs.folder,
    KONTOR_CORES: ports.map((port) => `127.0.0.1:${port}`).join(),
  })
  const made = new RemoteGateway(config, log, bounds)
  await made.start()
  open.push(() => made.stop())
  return made
}
interface Answer {
  readonly status: number
  readonly from: string | undefined
  readonly message: string | undefined
  readonly label: string | undefined
}
async function call(url: string, method: string, path: string, body?: string): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
  })
  return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
}
const ready = async ({ url }: RemoteGateway): Promise<boolean> =>
  (await fetch(`${url}/readyz`)).status === 200

describe('a gateway while its core is away', { concurrency: false }, () => {
  test('holds what comes before there is any, and sends it in its order', async () => {
    const port = await freePort()
    const gate = await gateway([port])
    assert.equal((await fetch(`${gate.url}/healthz`)).status, 200)
    assert.equal(await ready(gate), false)
    const calls = [1, 2, 3].map((i) => call(gate.url, 'POST', TRANSFERS, `{"n":${i}}`))
    calls.push(call(gate.url, 'GET', TIME))
    const socket = SocketClient.toStandIn(gate.url)
    await sleep(300)
    const late = await core('late', port)
    late.serve(1)
    for (const one of calls) assert.deepEqual([(await one).status, (await one).from], [200, 'late'])
    await (await socket).close()
    assert.deepEqual(late.seen.map(({ body }) => body).sort(), ['', '{"n":1}', '{"n":2}', '{"n":3}'])
    await until(() => ready(gate))
  })
  test('for so long, so many and so much; over it 503', async () => {
    const gate = await gateway([await freePort()], { count: 3, bytes: 100_000, ms: 2_000 })
    const begun = performance.now()
    const held = [1, 2, 3].map(() => call(gate.url, 'GET', TIME))
    await sleep(50)
    const over = await call(gate.url, 'GET', TIME)
    assert.deepEqual([over.status, over.label], [503, 'TOO_BUSY'])
    assert.match(over.message!, /too much waits/)
    assert.ok(performance.now() - begun < 1_900)
    for (const one of held) {
      assert.deepEqual([(await one).status, (await one).label], [503, 'TOO_BUSY'])
      assert.match((await one).message!, /no core has answered for 2 s/)
    }
    assert.ok(performance.now() - begun >= 1_990)
    const large = [1, 2].map(() => call(gate.url, 'POST', TRANSFERS, JSON.stringify('x'.repeat(70_000))))
    const statuses = await Promise.all(large.map(async (one) => (await one).message))
    assert.equal(statuses.filter((message) => /too much waits/.test(message!)).length, 1)
    await assert.rejects(SocketClient.toStandIn(gate.url), /503/)
  })
  test('whoever goes away meanwhile takes no place, and is not carried out', async () => {
    const port = await freePort()
    const gate = await gateway([port], { count: 2, bytes: 1e6, ms: 5_000 })
    for (let i = 0; i < 5; i++) {
      const raw = await RawConnection.open(gate.url)
      raw.socket.write(`GET ${TIME}?gone HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      await sleep(50)
      raw.socket.destroy()
      await sleep(100)
    }
    const held = call(gate.url, 'GET', TIME)
    await sleep(50)
    const late = await core('late', port)
    late.serve(1)
    assert.equal((await held).status, 200)
    assert.equal(late.seen.length, 1)
  })
})

describe('a core that dies', { concurrency: false }, () => {
  test('what it had and did not answer is of unknown fate, and is not sent again; what only looks is asked again, once', async () => {
    const one = await core('one')
    one.serve(1)
    const gate = await gateway([one.port])
    await gate.ready
    one.prompt = false
    const writes = [
      call(gate.url, 'POST', TRANSFERS, '{"n":1}'),
      call(gate.url, 'DELETE', '/api/v4/spot/orders/1'),
    ]
    const read = call(gate.url, 'GET', TIME)
    await until(() => one.seen.length === 3)
    await cut(one)
    for (const write of writes) {
      const { status, label, message } = await write
      assert.deepEqual([status, label, message], [503, 'SERVER_ERROR', UNKNOWN_FATE])
    }
    const two = await core('two', one.port)
    two.prompt = false
    two.serve(2)
    await until(() => two.seen.length === 1)
    assert.equal(two.seen[0]!.path, TIME)
    await cut(two)
    assert.deepEqual([(await read).status, (await read).message], [503, UNKNOWN_FATE])
    const three = await core('three', one.port)
    three.serve(3)
    assert.equal((await call(gate.url, 'GET', TIME)).from, 'three')
    assert.deepEqual(
      three.seen.map(({ path }) => path),
      [TIME],
    )
  })
  test('a body that had not been sent goes to the next, whole', async () => {
    const one = await core('one')
    one.serve(1)
    const gate = await gateway([one.port])
    await gate.ready
    const raw = await RawConnection.open(gate.url)
    const text = `{"n":"${'x'.repeat(50_000)}"}`
    raw.socket.write(
      `POST ${TRANSFERS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text.slice(0, 20_000)}`,
    )
    await sleep(200)
    await cut(one)
    raw.socket.write(text.slice(20_000, 30_000))
    const two = await core('two', one.port)
    two.serve(2)
    await gateReady(gate)
    raw.socket.write(text.slice(30_000))
    await until(() => raw.statuses.length === 1)
    assert.deepEqual(raw.statuses, [200])
    assert.equal(two.seen[0]!.body, text)
    assert.deepEqual(one.seen, [])
    raw.socket.destroy()
  })
  test('sockets are closed with 1012, and may connect again', async () => {
    const one = await core('one')
    one.serve(1)
    const gate = await gateway([one.port])
    await gate.ready
    const socket = await SocketClient.toStandIn(gate.url)
    await cut(one)
    const { code, reason } = await socket.whenClosed()
    assert.deepEqual([code, reason], [1012, 'the platform moved; connect again, and subscribe again'])
    const again = SocketClient.toStandIn(gate.url)
    const two = await core('two', one.port)
    two.serve(2)
    const client = await again
    const echo = client.next(() => true)
    client.send({ hello: 1 })
    assert.deepEqual(await echo, { hello: 1 })
    await client.close()
  })
})

describe('a core that moves', { concurrency: false }, () => {
  test('nobody is refused: what was sent is answered by the old one, what comes by the new one', async () => {
    const [one, two] = [await core('one'), await core('two')]
    one.serve(1)
    const gate = await gateway([one.port, two.port])
    await gate.ready
    one.prompt = false
    const sent = [1, 2, 3].map((n) => call(gate.url, 'POST', TRANSFERS, `{"n":${n}}`))
    // One whose body is not there yet: the old core wants it, and never gets it.
    const raw = await RawConnection.open(gate.url)
    const text = `{"n":"${'y'.repeat(9_000)}"}`
    raw.socket.write(
      `POST ${TRANSFERS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text.slice(0, 5_000)}`,
    )
    const socket = await SocketClient.toStandIn(gate.url)
    socket.send({ early: 1 })
    await until(() => one.seen.length === 3 && one.frames.length === 1)
    await sleep(100)
    const begun = performance.now()
    await one.line.hold()
    assert.ok(performance.now() - begun < 900, 'it was cut for not answering')
    await until(() => one.brokenOff.length === 1)
    assert.equal(await ready(gate), true)
    const held = [4, 5, 6].map((n) => call(gate.url, 'POST', TRANSFERS, `{"n":${n}}`))
    socket.send({ late: 1 })
    const upgraded = SocketClient.toStandIn(gate.url)
    raw.socket.write(text.slice(5_000))
    await sleep(200)
    assert.equal(one.seen.length, 3)
    assert.deepEqual(one.frames, ['{"early":1}'])
    const answered = socket.next(() => true)
    one.door!.send(1, '{"answer":1}')
    assert.deepEqual(await answered, { answer: 1 })
    for (const { answer } of one.seen) answer()
    for (const reply of sent) assert.deepEqual([(await reply).status, (await reply).from], [200, 'one'])
    one.line.tell({ active: false, at: two.line.address, epoch: 2 })
    two.serve(2)
    for (const reply of held) assert.deepEqual([(await reply).status, (await reply).from], [200, 'two'])
    await until(() => raw.statuses.length === 1)
    assert.deepEqual(raw.statuses, [200])
    assert.ok(two.seen.some(({ body }) => body === text))
    assert.equal((await socket.whenClosed()).code, 1012)
    const client = await upgraded
    const echo = client.next(() => true)
    client.send({ again: 1 })
    assert.deepEqual(await echo, { again: 1 })
    await client.close()
    raw.socket.destroy()
    assert.deepEqual([...one.seen, ...two.seen].map(({ body }) => body.slice(0, 7)).sort(), [
      '{"n":"y',
      '{"n":1}',
      '{"n":2}',
      '{"n":3}',
      '{"n":4}',
      '{"n":5}',
      '{"n":6}',
    ])
  })
  test('and one that stays after all goes on', async () => {
    const one = await core('one')
    one.serve(1)
    const gate = await gateway([one.port])
    await gate.ready
    await one.line.hold()
    const held = call(gate.url, 'POST', TRANSFERS, '{}')
    await sleep(200)
    assert.equal(one.seen.length, 0)
    one.line.resume()
    assert.equal((await held).from, 'one')
  })
  test('a gateway that hangs does not keep it: it is cut', async () => {
    const one = await core('one')
    one.serve(1)
    const { FakeGateway } = await import('../support/remote.ts')
    const deaf = await FakeGateway.welcomed(one.port, certs)
    const begun = performance.now()
    await one.line.hold()
    const took = performance.now() - begun
    assert.ok(took > 900 && took < 8_000, String(took))
    await deaf.ended()
  })
  test('of two that say that they are active the one of the later term is asked', async () => {
    const [old, young] = [await core('old'), await core('young')]
    old.serve(4)
    const gate = await gateway([old.port, young.port])
    await gate.ready
    old.prompt = false
    // The old one hangs with a request when another takes over.
    const stuck = call(gate.url, 'POST', TRANSFERS, '{}')
    await until(() => old.seen.length === 1)
    young.serve(5)
    await until(async () => (await call(gate.url, 'GET', TIME)).from === 'young')
    assert.deepEqual([(await stuck).status, (await stuck).message], [503, UNKNOWN_FATE])
    // It still thinks that it is the active one.
    await sleep(500)
    assert.equal((await call(gate.url, 'GET', TIME)).from, 'young')
    assert.equal(old.seen.filter(({ method }) => method === 'POST').length, 1)
    assert.equal(young.seen.filter(({ method }) => method === 'POST').length, 0)
  })
  test('a gateway that knows a standby alone finds the active core through it', async () => {
    const [standby, active] = [await core('standby'), await core('active')]
    active.serve(1)
    standby.line.tell({ active: false, at: active.line.address, epoch: 1 })
    const gate = await gateway([standby.port])
    await gate.ready
    assert.equal((await call(gate.url, 'GET', TIME)).from, 'active')
  })
  test('a thread that fails is replaced, at the same address', async () => {
    const one = await core('one')
    one.serve(1)
    const gate = await gateway([one.port])
    await gate.ready
    await (one.line as unknown as { worker: { terminate(): Promise<number> } }).worker.terminate()
    await until(async () => !(await ready(gate)))
    assert.equal((await call(gate.url, 'POST', TRANSFERS, '{}')).from, 'one')
  })
  test('a stop answers what was sent, and what comes meanwhile waits for the next start', async () => {
    const one = await core('one')
    one.serve(1)
    const gate = await gateway([one.port])
    await gate.ready
    one.prompt = false
    const sent = call(gate.url, 'POST', TRANSFERS, '{}')
    await until(() => one.seen.length === 1)
    const closed = one.line.close()
    await sleep(100)
    const held = call(gate.url, 'POST', TRANSFERS, '{}')
    one.seen[0]!.answer(201)
    assert.deepEqual([(await sent).status, (await sent).from], [201, 'one'])
    await closed
    const two = await core('two', one.port)
    two.serve(2)
    assert.equal((await held).from, 'two')
    assert.equal(one.seen.length, 1)
  })
})

/** As a kill would: the thread is gone in the middle of things. */
async function cut({ line }: StagedCore): Promise<void> {
  const inside = line as unknown as { worker: { terminate(): Promise<number> }; closing: boolean }
  inside.closing = true
  await inside.worker.terminate()
}
const gateReady = (gate: RemoteGateway): Promise<void> => until(() => ready(gate))
