import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { OperatorClient, type Credential } from '../support/client.ts'
import { Line } from '../support/line.ts'
import { Mover, sum } from '../support/mover.ts'
import { TOKEN } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs, startGateway } from '../support/remote.ts'
import { SocketClient } from '../support/socket.ts'

const TOTAL = '/api/v4/wallet/total_balance'
const START = 1_000_000

describe('real processes', { timeout: 240_000 }, () => {
  const certs = new Certs()
  const data = mkdtempSync(join(tmpdir(), 'kontor-kills-'))
  const launched: PlatformProcess[] = []
  let listen = ''
  let core: PlatformProcess
  let gateways: PlatformProcess[]
  let operator: OperatorClient
  let user = 0
  let key: Credential
  const startCore = async (): Promise<void> => {
    core = await PlatformProcess.start({
      KONTOR_DATA: data,
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_CORE_LISTEN: listen,
      KONTOR_CERTS: certs.folder,
    })
    launched.push(core)
    operator = new OperatorClient(core.url, TOKEN)
  }
  const spent = async (): Promise<number> => {
    const rows = (await operator.ok('GET', `/users/${user}/balances`)) as Record<string, string>[]
    const spot = rows.find(({ account, currency }) => account === 'spot' && currency === 'USDT')
    return START - Number(spot!['available'])
  }
  before(async () => {
    listen = `127.0.0.1:${await freePort()}`
    await startCore()
    gateways = await Promise.all([0, 1].map(() => startGateway(listen, certs)))
    launched.push(...gateways)
    user = (await operator.ok('POST', '/users', { login_name: 'mover' })).user_id
    const perms = [{ name: 'wallet', read_only: false }]
    key = await operator.ok('POST', `/users/${user}/keys`, { name: 'k', mode: 1, perms })
    await operator.ok('POST', `/users/${user}/credit`, {
      account: 'spot',
      currency: 'USDT',
      amount: String(START),
    })
  })
  after(async () => {
    for (const one of launched)
      if (one.child.exitCode === null && one.child.signalCode === null) await one.kill()
    certs.remove()
    rmSync(data, { recursive: true, force: true })
  })
  const load = (): Mover[] => Array.from({ length: 8 }, (_, i) => new Mover(gateways[i % 2]!.url, key))

  test('a core that is killed and started again: nothing acknowledged is lost, nothing is done twice, nobody is cut off', async () => {
    for (let round = 0; round < 3; round++) {
      const before = await spent()
      const movers = load()
      const socket = await SocketClient.open(gateways[0]!.url)
      await until(() => sum(movers, 'moved') > 40)
      await core.kill()
      assert.equal((await socket.whenClosed()).code, 1012)
      const held = new Line(gateways[0]!.url, key).call('GET', TOTAL)
      const at = sum(movers, 'moved')
      await startCore()
      assert.equal((await held).status, 200)
      await until(() => sum(movers, 'moved') > at + 40)
      await Promise.all(movers.map((mover) => mover.stop()))
      const [moved, unknown] = [sum(movers, 'moved'), sum(movers, 'unknown')]
      assert.deepEqual(
        movers.flatMap(({ others }) => others),
        [],
      )
      assert.equal(sum(movers, 'lost'), 0)
      assert.ok(unknown <= 8, `${unknown} of unknown fate`)
      const really = (await spent()) - before
      assert.ok(really >= moved && really <= moved + unknown, `${really}: ${moved} + ${unknown}`)
    }
  })
  test('a core that is stopped and started again refuses nobody', async () => {
    const before = await spent()
    const movers = load()
    await until(() => sum(movers, 'moved') > 40)
    assert.equal(await core.kill('SIGTERM'), 0)
    const at = sum(movers, 'moved')
    await startCore()
    await until(() => sum(movers, 'moved') > at + 40)
    await Promise.all(movers.map((mover) => mover.stop()))
    assert.deepEqual(
      movers.flatMap(({ others }) => others),
      [],
    )
    assert.deepEqual([sum(movers, 'lost'), sum(movers, 'unknown')], [0, 0])
    assert.equal((await spent()) - before, sum(movers, 'moved'))
  })
  test('a core that hangs is given up after a few seconds, and asked again when it wakes', async () => {
    const before = await spent()
    const movers = load()
    await until(() => sum(movers, 'moved') > 40)
    core.child.kill('SIGSTOP')
    const stopped = performance.now()
    await until(() => sum(movers, 'unknown') === 8, 15_000)
    const took = performance.now() - stopped
    assert.ok(took > 3_000 && took < 14_000, `${took} ms`)
    assert.equal((await fetch(`${gateways[0]!.url}/readyz`)).status, 503)
    assert.equal((await fetch(`${gateways[0]!.url}/healthz`)).status, 200)
    core.child.kill('SIGCONT')
    const at = sum(movers, 'moved')
    await until(() => sum(movers, 'moved') > at + 40)
    await Promise.all(movers.map((mover) => mover.stop()))
    const [moved, unknown] = [sum(movers, 'moved'), sum(movers, 'unknown')]
    const really = (await spent()) - before
    assert.ok(really >= moved && really <= moved + unknown, `${really}: ${moved} + ${unknown}`)
  })
  test('a gateway that is killed takes its own connections alone along', async () => {
    const before = await spent()
    const movers = load()
    await until(() => sum(movers, 'moved') > 40)
    await gateways[0]!.kill()
    const others = movers.filter((_, i) => i % 2 === 1)
    const at = sum(others, 'moved')
    await until(() => sum(others, 'moved') > at + 40)
    await Promise.all(movers.map((mover) => mover.stop()))
    assert.deepEqual([sum(others, 'lost'), sum(others, 'unknown')], [0, 0])
    // Each of the others lost one request at most to the kill; from then on nobody took any.
    const really = (await spent()) - before
    const moved = sum(movers, 'moved')
    assert.ok(really >= moved && really <= moved + 4, `${really}: ${moved}`)
  })
})
