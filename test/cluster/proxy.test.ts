import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '../support/proxy.ts'

/** The links that other tests here break really break. */

async function echoing(): Promise<{ proxy: TcpProxy; seen: () => string; close: () => Promise<void> }> {
  let seen = ''
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      seen += bytes.toString()
      socket.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await TcpProxy.start((server.address() as AddressInfo).port)
  return {
    proxy,
    seen: () => seen,
    close: async () => {
      await proxy.close()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
async function caller(proxy: TcpProxy): Promise<{ socket: Socket; got: () => string; error: () => string }> {
  const socket = connect(proxy.port, '127.0.0.1')
  let got = ''
  let error = ''
  socket.on('data', (bytes: Buffer) => (got += bytes.toString()))
  socket.on('error', (cause: NodeJS.ErrnoException) => (error = cause.code ?? cause.message))
  await once(socket, 'connect')
  return { socket, got: () => got, error: () => error }
}
async function until(what: () => boolean, ms = 5000): Promise<void> {
  for (const end = Date.now() + ms; !what();) {
    assert.ok(Date.now() < end, `never: ${what.toString()}`)
    await sleep(5)
  }
}

test('a link carries bytes, is cut with resets on both sides, refuses and heals', async () => {
  const { proxy, close } = await echoing()
  const one = await caller(proxy)
  one.socket.write('first')
  await until(() => one.got() === 'first')
  proxy.cut()
  await until(() => one.socket.destroyed)
  assert.equal(one.error(), 'ECONNRESET')
  assert.equal(proxy.connections, 0)
  const refused = connect(proxy.port, '127.0.0.1')
  const [fault] = (await once(refused, 'error')) as [NodeJS.ErrnoException]
  assert.equal(fault.code, 'ECONNRESET')
  proxy.heal()
  const two = await caller(proxy)
  two.socket.write('again')
  await until(() => two.got() === 'again')
  await close()
})

test('a black hole says nothing and holds what was sent; healed, it goes on in order', async () => {
  const { proxy, seen, close } = await echoing()
  const one = await caller(proxy)
  one.socket.write('a')
  await until(() => one.got() === 'a')
  proxy.drop()
  one.socket.write('b')
  one.socket.write('c')
  const late = await caller(proxy)
  late.socket.write('x')
  await sleep(100)
  assert.equal(seen(), 'a')
  assert.equal(one.got() + late.got(), 'a')
  assert.equal(one.socket.destroyed || late.socket.destroyed, false)
  proxy.heal()
  await until(() => one.got() === 'abc' && late.got() === 'x')
  proxy.drop()
  one.socket.write('never')
  await sleep(30)
  proxy.heal({ forget: true })
  await until(() => one.error() === 'ECONNRESET')
  assert.ok(!seen().includes('never'))
  await close()
})

test('half-open: what goes there arrives, what comes back does not', async () => {
  const { proxy, seen, close } = await echoing()
  const one = await caller(proxy)
  proxy.deafen('back')
  one.socket.write('heard')
  await until(() => seen() === 'heard')
  await sleep(50)
  assert.equal(one.got(), '')
  proxy.heal()
  await until(() => one.got() === 'heard')
  proxy.deafen('there')
  one.socket.write('lost')
  await sleep(50)
  assert.equal(seen(), 'heard')
  await close()
})

test('a delay is at least as long as it was asked for, both ways, and keeps the order', async () => {
  const { proxy, close } = await echoing()
  const one = await caller(proxy)
  proxy.delay(60)
  const begun = performance.now()
  for (const text of ['1', '2', '3']) one.socket.write(text)
  await until(() => one.got() === '123')
  assert.ok(performance.now() - begun >= 119, `${performance.now() - begun} ms`)
  await close()
})
