import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { until } from '../support/raw.ts'
import { SocketBench, type TestSocket } from '../support/stand-in.ts'

test('gateways that start when there is a crowd, and end when they are alone', async () => {
  const bench = await SocketBench.start('gateways', {}, { from: 3, aloneMs: 2_000 })
  const { gateways } = bench
  const held = (): number[] => gateways!.list().map(({ connections }) => connections)
  const connected = async (): Promise<TestSocket> => (await bench.connect())[0]
  const [first] = [await connected(), await connected()]
  await sleep(300)
  assert.deepEqual(held(), [], 'two are no crowd')

  const third = await connected()
  await until(() => held().length === 2)
  assert.deepEqual(held(), [0, 0], 'whoever was there stays where he is')
  const later = [await connected(), await connected()]
  await until(() => held().join() === '1,1')

  // One that dies is replaced while there is a crowd.
  const { pid } = gateways!.list()[0]!
  process.kill(pid, 'SIGKILL')
  await until(() => held().length === 2 && gateways!.list().every((one) => one.pid !== pid))
  await sleep(3_000)
  assert.deepEqual(held().toSorted(), [0, 1], 'with somebody connected they stay')

  for (const one of later) one.ws.close()
  await until(() => held().length === 0)
  await sleep(1_500)
  assert.deepEqual(held(), [], 'none takes the place of one that was let go')
  for (const one of [first, third]) assert.equal(one.code, undefined, 'the others are still connected')

  // The crowd is still one: the next that comes finds nobody, those behind him do.
  await connected()
  await until(() => held().length === 2)
  await connected()
  await until(() => held().reduce((sum, one) => sum + one, 0) === 1)
  await bench.stop()
  assert.deepEqual(held(), [])
})

test('a platform that stops while they start leaves none behind', async () => {
  const bench = await SocketBench.start('gateways', {}, { from: 1 })
  await bench.connect()
  await bench.stop()
  assert.deepEqual(bench.gateways!.list(), [])
  await assert.rejects(fetch(bench.url))
})
