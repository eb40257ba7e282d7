import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { Channel, type Head } from '../../src/gateway/channel.ts'
import { TO_CORE, TO_GATEWAY } from '../../src/gateway/protocol.ts'
import { RemoteDoor } from '../../src/gateway/remote-door.ts'
import { until } from '../support/raw.ts'
import { StandIn } from '../support/stand-in.ts'

async function pair(): Promise<[near: Socket, far: Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [near] = (await once(server, 'connection')) as [Socket]
  server.close()
  return [near, far]
}

test('a gateway that does not keep up gets the newest and whole pictures, not everything that it missed', async () => {
  const [near, far] = await pair()
  const desk = new StandIn()
  const got: [Head, string | undefined][] = []
  const told = new Channel(near, {
    message: (head, text) => void door.message(head, text),
    closed: () => door.gone(),
    drained: () => door.caughtUp(),
  })
  const door: RemoteDoor = new RemoteDoor(told, desk.attach)
  const gateway = new Channel(far, {
    message: (head, text) => got.push([head, text?.toString()]),
    closed: () => undefined,
  })
  gateway.push([TO_CORE.SOCKET_OPEN, -1, 1, '/ws/v4', '1.2.3.4', null, 0])
  await until(() => got.length === 1)
  assert.deepEqual(got[0]![0].slice(2), [1])
  for (const [topic, pace] of [
    [1, 'each'],
    [2, 'newest'],
    [3, 'delta'],
  ] as const)
    door.join(1, topic, pace)
  // Nobody joined it: it is not sent at all.
  door.publish(9, 'nobody')
  await until(() => got.length === 4)
  far.pause()
  const pad = 'x'.repeat(1_000)
  const ROUNDS = 100_000
  for (let n = 0; n < ROUNDS; n++) {
    if (n % 100 === 0) door.publish(1, `each ${n}`)
    door.publish(2, `newest ${n} ${pad}`)
    door.publish(3, `delta ${n} ${pad}`)
    if (n === 50_000) door.publish(2, `kept ${n}`, true)
    if (n % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(told.waiting < 8 * 1024 * 1024, `${told.waiting} bytes wait for it`)
  assert.ok(near.writableLength > 1024 * 1024)
  far.resume()
  await until(() => got.some(([head]) => head[0] === TO_GATEWAY.MISSED))
  door.publish(3, 'delta after')
  await until(() => got.some(([, text]) => text === 'delta after'))
  const texts = got.flatMap(([, text]) => (text === undefined ? [] : [text.split(' x')[0]!]))
  const of = (word: string): string[] => texts.filter((text) => text.startsWith(word))
  assert.equal(of('each').length, ROUNDS / 100)
  assert.deepEqual(of('kept'), ['kept 50000'])
  const newest = of('newest').map((text) => Number(text.split(' ')[1]))
  assert.equal(newest.at(-1), ROUNDS - 1)
  assert.ok(newest.length < ROUNDS / 2)
  assert.deepEqual(
    newest,
    [...newest].sort((a, b) => a - b),
  )
  // Whatever was left out of the deltas, it is told of before the next one comes.
  let next = 0
  for (const [head, text] of got) {
    if (head[0] === TO_GATEWAY.MISSED) {
      assert.equal(head[2], 3)
      next = -1
    } else if (text?.startsWith('delta') === true && text !== 'delta after') {
      const n = Number(text.split(' ')[1])
      assert.ok(next === -1 || n === next, `${n} instead of ${next}`)
      next = n + 1
    }
  }
  const last = got.findIndex(([, text]) => text === 'delta after')
  assert.ok(got.findIndex(([head]) => head[0] === TO_GATEWAY.MISSED) < last)
  gateway.push([TO_CORE.SOCKET_CLOSED, -1, 1, 1000])
  await until(() => desk.known[0]!.closed === 1000)
  far.destroy()
  await until(() => desk.doors.size === 0)
})
