import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Credential } from '../support/client.ts'
import { Mover, sum } from '../support/mover.ts'
import { TestPlatform } from '../support/platform.ts'
import type { PlatformProcess } from '../support/process.ts'
import { TcpProxy } from '../support/proxy.ts'
import { until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs, startGateway } from '../support/remote.ts'
import { SocketClient } from '../support/socket.ts'

const START = 1_000_000
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('the link between a gateway and the core', { timeout: 240_000 }, () => {
  const certs = new Certs()
  let platform: TestPlatform
  let proxy: TcpProxy
  let gateway: PlatformProcess
  let user = 0
  let key: Credential
  before(async () => {
    const port = await freePort()
    platform = await TestPlatform.start({
      KONTOR_CORE_LISTEN: `127.0.0.1:${port}`,
      KONTOR_CERTS: certs.folder,
      KONTOR_LOG: 'silent',
    })
    proxy = await TcpProxy.start(port)
    gateway = await startGateway(proxy.address, certs)
    const made = await platform.user()
    user = made.user_id
    key = made.credential
    await platform.credit(user, 'USDT', String(START))
  })
  after(async () => {
    await gateway.kill()
    await proxy.close()
    await platform.stop()
    certs.remove()
  })
  const spent = async (): Promise<number> => START - Number(await platform.balance(user, 'USDT'))
  /** Breaks it under load, mends it a little later, and holds what was told against what was done. */
  async function survive(fail: () => void, ms: number, heal: () => void): Promise<Mover[]> {
    const before = await spent()
    const movers = Array.from({ length: 6 }, () => new Mover(gateway.url, key))
    await until(() => sum(movers, 'moved') > 30)
    fail()
    await sleep(ms)
    heal()
    const at = sum(movers, 'moved')
    await until(() => sum(movers, 'moved') > at + 30)
    await Promise.all(movers.map((mover) => mover.stop()))
    // What was on its way may arrive late.
    await sleep(300)
    const [moved, unknown] = [sum(movers, 'moved'), sum(movers, 'unknown')]
    assert.deepEqual(
      movers.flatMap(({ others }) => others),
      [],
    )
    assert.equal(sum(movers, 'lost'), 0)
    const really = (await spent()) - before
    assert.ok(really >= moved && really <= moved + unknown, `${really}: ${moved} + ${unknown}`)
    return movers
  }

  test('cut and healed: nobody is refused but those of unknown fate', async () => {
    const movers = await survive(
      () => proxy.cut(),
      1_500,
      () => proxy.heal(),
    )
    assert.ok(sum(movers, 'unknown') <= 6)
  })
  test('reset in a moment', async () => {
    await survive(
      () => proxy.reset(),
      0,
      () => undefined,
    )
  })
  for (const direction of ['there', 'back'] as const)
    test(`half-open, deaf on the way ${direction}: given up after seconds, and made again`, async () => {
      const movers = await survive(
        () => proxy.deafen(direction),
        6_000,
        () => proxy.heal(),
      )
      const slowest = Math.max(...movers.map((mover) => mover.slowest))
      assert.ok(slowest > 3_000 && slowest < 15_000, `${slowest} ms`)
    })
  test('a black hole that closes with a reset', async () => {
    await survive(
      () => proxy.drop(),
      6_000,
      () => proxy.heal({ forget: true }),
    )
  })
  test('slow: everything is later, nothing is lost, and no line is given up', async () => {
    const { taken } = proxy
    const socket = await SocketClient.open(gateway.url, platform.now)
    const movers = await survive(
      () => proxy.delay(150),
      3_000,
      () => proxy.heal(),
    )
    assert.deepEqual([sum(movers, 'unknown'), proxy.taken], [0, taken])
    assert.equal(socket.closed, undefined)
    await socket.close()
  })
})
