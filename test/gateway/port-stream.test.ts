import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { PortStream } from '../../src/gateway/port-stream.ts'
import { until } from '../support/raw.ts'

const MEGABYTE = 1024 * 1024

test('bytes arrive whole and in order, whatever their size, and nobody’s buffer is taken along', async () => {
  const { port1, port2 } = new MessageChannel()
  const [from, to] = [new PortStream(port1), new PortStream(port2)]
  const got: Buffer[] = []
  to.on('data', (bytes: Buffer) => got.push(bytes))
  // Small buffers share their memory with others.
  const small = Buffer.from('a small one')
  const sent = [small, Buffer.alloc(70_000, 1), Buffer.from('ü'), Buffer.alloc(3 * MEGABYTE, 2)]
  const all = Buffer.concat(sent)
  for (const bytes of sent) from.write(bytes)
  from.end()
  await until(() => to.readableEnded)
  assert.ok(Buffer.concat(got).equals(all))
  assert.equal(small.toString(), 'a small one')
  await until(() => from.destroyed || to.destroyed)
  from.destroy()
  to.destroy()
})
test('who is not read waits: what is on its way is bounded, and goes on', async () => {
  const { port1, port2 } = new MessageChannel()
  const [from, to] = [new PortStream(port1), new PortStream(port2)]
  let read = 0
  to.on('data', (bytes: Buffer) => (read += bytes.length))
  to.pause()
  for (let i = 0; i < 100; i++) from.write(Buffer.alloc(100_000))
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(read, 0)
  assert.ok(from.writableLength > 8 * MEGABYTE, `${from.writableLength} wait`)
  assert.ok(to.readableLength < 2 * MEGABYTE, `${to.readableLength} are on their way`)
  to.resume()
  await until(() => read === 10_000_000)
  assert.equal(from.writableLength, 0)
  from.destroy()
  await until(() => to.destroyed)
})
