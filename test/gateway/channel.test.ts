import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { Breath } from '../../src/gateway/breath.ts'
import { Channel, type Head } from '../../src/gateway/channel.ts'
import { Switchboard } from '../../src/gateway/switchboard.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY } from '../../src/gateway/protocol.ts'
import { BodyRoom } from '../../src/http/bodies.ts'
import { createLog } from '../../src/runtime/log.ts'
import { NO_DESK } from '../support/no-desk.ts'
import { until } from '../support/raw.ts'

/** Both ends of a connection over TCP: the channel does not care which kind of stream it has. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const far = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const near = connect(port, '127.0.0.1')
  const both: [Socket, Socket] = [near, await far]
  for (const socket of both) socket.on('error', () => undefined)
  server.close()
  return both
}
type Got = [Head, string | undefined]
async function listening(): Promise<{ far: Socket; got: Got[]; closed: string[] }> {
  const [far, near] = await pair()
  const got: Got[] = []
  const closed: string[] = []
  new Channel(near, {
    message: (head, text) => got.push([head, text?.toString()]),
    closed: (why) => closed.push(why),
  })
  return { far, got, closed }
}
function frame(heads: unknown, texts = '', lie = 0): Buffer {
  const json = Buffer.from(typeof heads === 'string' ? heads : JSON.stringify(heads))
  const bytes = Buffer.concat([Buffer.alloc(8), json, Buffer.from(texts)])
  bytes.writeUInt32LE(bytes.length - 4 + lie, 0)
  bytes.writeUInt32LE(json.length, 4)
  return bytes
}

describe('the channel', () => {
  test('what landed while frames of one turn are carried out is answered between them', async () => {
    const ways = await Promise.all([pair(), pair()])
    const done: string[] = []
    const landing: (() => void)[] = []
    const breath = new Breath(() => {
      done.push('breath')
      for (const land of landing.splice(0)) land()
      return true
    })
    const nears = ways.map(([, near], i) => {
      const write = near.write.bind(near)
      near.write = (bytes: Buffer) => {
        done.push(`answer ${i}`)
        return write(bytes)
      }
      return near
    })
    for (const [i, near] of nears.entries()) {
      // As a request: carried out some microtasks later, and answered when it has landed.
      const act = async (head: Head): Promise<void> => {
        await Promise.resolve()
        await Promise.resolve()
        done.push(`act ${i}`)
        await new Promise<void>((resolve) => landing.push(resolve))
        await Promise.resolve()
        channel.push([2, -1, head[2]])
      }
      const channel = new Channel(near, {
        message: (head) => void act(head),
        closed: () => undefined,
        read: () => breath.read(),
      })
      breath.join(channel)
    }
    // Both are readable before the loop looks: it delivers one after the other in one turn.
    for (const [far] of ways) far.write(frame([[1, -1, 7]]))
    const held = performance.now() + 100
    while (performance.now() < held);
    await until(() => done.filter((one) => one.startsWith('answer')).length === 2)
    const [first, second] = done[0] === 'act 0' ? [0, 1] : [1, 0]
    assert.deepEqual(done.slice(0, 6), [
      `act ${first}`,
      'breath',
      `answer ${first}`,
      `act ${second}`,
      'breath',
      `answer ${second}`,
    ])
    for (const [far, near] of ways) for (const socket of [far, near]) socket.destroy()
  })
  test('messages of one turn leave in one frame, and arrive whole and in order however the bytes are cut', async () => {
    const { far, got } = await listening()
    const writes: Buffer[] = []
    const [, sender] = await pair()
    sender.write = (bytes: Buffer) => writes.push(bytes) > 0
    const channel = new Channel(sender, { message: () => undefined, closed: () => undefined })
    channel.push([1, 0, 7], '{"a":"ü€"}')
    channel.push([2, 0])
    channel.push([3, 0, 'x'], Buffer.from('ÿ', 'latin1'))
    channel.push([4, 0], '')
    await until(() => writes.length > 0)
    assert.equal(writes.length, 1)
    for (const byte of [...writes[0]!, ...writes[0]!]) far.write(Buffer.from([byte]))
    await until(() => got.length === 8)
    assert.deepEqual(got.slice(0, 4), got.slice(4))
    assert.deepEqual(got[0], [[1, 13, 7], '{"a":"ü€"}'])
    assert.deepEqual(got[1], [[2, -1], undefined])
    assert.equal(got[2]![0][1], 1)
    assert.deepEqual(got[3], [[4, 0], ''])
    far.destroy()
    sender.destroy()
  })
  test('what nobody waits for goes along with what somebody does, in its order, and else by itself', async () => {
    const writes: Buffer[] = []
    const [far, sender] = await pair()
    sender.write = (bytes: Buffer) => writes.push(bytes) > 0
    const channel = new Channel(sender, { message: () => undefined, closed: () => undefined })
    const kinds = (bytes: Buffer): number[] =>
      (JSON.parse(bytes.toString('utf8', 8, 8 + bytes.readUInt32LE(4))) as Head[]).map(([kind]) => kind)
    channel.pushAlong([1, 0])
    channel.push([2, 0])
    channel.pushAlong([3, 0])
    await until(() => writes.length > 0)
    assert.deepEqual(writes.map(kinds), [[1, 2, 3]])
    channel.pushAlong([4, 0])
    channel.pushAlong([5, 0])
    await until(() => writes.length > 1)
    assert.deepEqual(writes.map(kinds), [
      [1, 2, 3],
      [4, 5],
    ])
    for (let i = 0; i < 256; i++) channel.pushAlong([6, 0])
    assert.equal(writes.length, 3, 'many do not wait')
    far.destroy()
    sender.destroy()
  })
  test('a megabyte of texts does not wait for the end of the turn, and a long one arrives', async () => {
    const [far, near] = await pair()
    const got: number[] = []
    new Channel(near, { message: (_, text) => got.push(text!.length), closed: () => undefined })
    const channel = new Channel(far, { message: () => undefined, closed: () => undefined })
    for (let i = 0; i < 20; i++) channel.push([1, 0], Buffer.alloc(900_000))
    await until(() => got.length === 20)
    far.destroy()
  })
  for (const [name, bytes] of [
    ['no frame', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a frame of four gigabytes', Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])],
    ['heads longer than their frame', Buffer.from([8, 0, 0, 0, 9, 0, 0, 0, 91, 93, 0, 0])],
    ['a frame without room for its lengths', Buffer.from([3, 0, 0, 0, 0, 0, 0, 0])],
    ['no JSON', frame('[[1,-1]')],
    ['no list', frame({ a: 1 })],
    ['a head that is none', frame([[1, -1], { kind: 1 }])],
    ['a length that is none', frame([[1, 'x']])],
    ['a length below none', frame([[1, -2]])],
    ['a text longer than the frame', frame([[1, 10]], 'short')],
    ['bytes that belong to nobody', frame([[1, 2]], 'abc')],
  ] as const)
    test(`${name} ends it, once`, async () => {
      const { far, closed } = await listening()
      far.write(bytes)
      far.write(frame([[1, -1]]))
      await until(() => closed.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
      assert.equal(closed.length, 1)
      await until(() => far.destroyed || far.readableEnded || far.closed)
      far.destroy()
    })
})

describe("the core's end of it", () => {
  async function board() {
    const [far, near] = await pair()
    const closed: string[] = []
    const room = new BodyRoom()
    const passes: unknown[] = []
    const pipeline = {
      begin: (request: unknown, checked: unknown) => ({ request, checked }),
      pass: (passage: unknown) => {
        passes.push(passage)
        return { status: 200, headers: [], text: '{}', drop: false }
      },
      look: () => undefined,
      finish: () => Promise.resolve({ status: 200, headers: [], text: '{}', drop: false }),
      brokenOff: () => undefined,
    }
    const core = new Switchboard(near, {
      pipeline: pipeline as never,
      look: () => ({ kind: 'page' }),
      settings: { version: '9.9.9' } as never,
      room,
      attach: () => NO_DESK,
      log: createLog('silent', () => undefined),
      ready: () => undefined,
      left: () => undefined,
      closed: (why) => closed.push(why),
    })
    const replies: Head[] = []
    const channel = new Channel(far, { message: (head) => replies.push(head), closed: () => undefined })
    return { core, channel, closed, room, passes, replies }
  }
  const ask = (change: Record<number, unknown> = {}): Head => {
    const head = [TO_CORE.ASK, -1, 1, 'GET', '/x', '', '1.2.3.4', 5, 0, {}, 0, 0, null]
    return Object.assign(head, change) as never
  }
  test('answers what is asked', async () => {
    const { channel, replies, passes } = await board()
    channel.push([TO_CORE.HELLO, -1, PROTOCOL, '9.9.9'])
    channel.push(ask())
    await until(() => replies.length === 2)
    assert.deepEqual(replies[0], [TO_GATEWAY.WELCOME, -1, { version: '9.9.9' }])
    assert.deepEqual(replies[1], [TO_GATEWAY.REPLY, 2, 1, 200, []])
    assert.equal(passes.length, 1)
    channel.close('')
  })
  for (const [name, head] of [
    ['a gateway of another protocol', [TO_CORE.HELLO, -1, PROTOCOL + 1, '9.9.9']],
    ['a gateway of another version', [TO_CORE.HELLO, -1, PROTOCOL, '1.0.0']],
    ['a kind that there is not', [99, -1]],
    ['a request without a number', ask({ 2: 'one' })],
    ['a method that is no text', ask({ 3: 7 })],
    ['an address that is no text', ask({ 6: null })],
    ['headers that are none', ask({ 9: 'x' })],
    ['a fault with a label that there is not', ask({ 12: { label: 'NOPE', message: 'x', status: 400 } })],
    ['the body of a request that nobody knows', [TO_CORE.BODY, -1, 5, 0, 0, null]],
    ['room given back that was never taken', [TO_CORE.RELEASE, -1, '1.2.3.4', 10]],
  ] as const)
    test(`${name} is cut off, and nothing is carried out`, async () => {
      const { channel, closed, passes } = await board()
      channel.push([...(head as readonly unknown[])] as never)
      await until(() => closed.length === 1)
      assert.deepEqual(passes, [])
      channel.close('')
    })
  test('who speaks does not hang, though what it was asked is not answered yet', async () => {
    const { core, channel, replies } = await board()
    assert.equal(core.hangs(0), false)
    await until(() => replies.some(([kind]) => kind === TO_GATEWAY.PING))
    const asked = performance.now()
    await until(() => performance.now() - asked > 200)
    channel.push([TO_CORE.FIGURES, -1, 7])
    await until(() => core.cut === 7)
    assert.equal(core.hangs(performance.now() - asked), false)
    await until(() => core.hangs(50))
    channel.push([TO_CORE.PONG, -1])
    channel.push([TO_CORE.FIGURES, -1, 8])
    await until(() => core.cut === 8)
    assert.equal(core.hangs(0), false)
    channel.close('')
  })
  test('room that a gateway held is free when it is gone', async () => {
    const { channel, closed, room, replies } = await board()
    channel.push([TO_CORE.HOLD, -1, 1, '1.2.3.4', 9 * 1024 * 1024])
    await until(() => replies.length === 1)
    assert.deepEqual(replies[0], [TO_GATEWAY.ROOM, -1, 1, 8 * 1024 * 1024])
    assert.equal(room.total, 8 * 1024 * 1024)
    channel.close('')
    await until(() => closed.length === 1)
    assert.equal(room.total, 0)
  })
})
