import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { OperatorClient, type Credential } from '../support/client.ts'
import { Mover, sum } from '../support/mover.ts'
import { TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs, startGateway } from '../support/remote.ts'
import { SocketClient } from '../support/socket.ts'

const START = 1_000_000

describe('two cores and two gateways', { timeout: 240_000 }, () => {
  const certs = new Certs()
  const folders: string[] = []
  const launched: PlatformProcess[] = []
  const ports: Record<string, number> = {}
  let database = ''
  let gateways: PlatformProcess[] = []
  let active: PlatformProcess
  let other: PlatformProcess
  let user = 0
  let key: Credential
  const env = (node: string): Record<string, string> => {
    folders.push(mkdtempSync(join(tmpdir(), 'kontor-node-')))
    return {
      KONTOR_DATA: folders.at(-1)!,
      KONTOR_DATABASE_URL: database,
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_SECRET_KEY: '5'.repeat(64),
      KONTOR_PORT: '0',
      KONTOR_AGENTS: 'off',
      KONTOR_GATEWAYS: '0',
      KONTOR_RATE_LIMITS: 'off',
      KONTOR_LOG: 'info',
      KONTOR_LEASE_MS: '1000',
      KONTOR_NODE: node,
      KONTOR_CORE_LISTEN: `127.0.0.1:${ports[node]!}`,
      KONTOR_CERTS: certs.folder,
    }
  }
  const launch = (node: string): PlatformProcess => {
    launched.push(PlatformProcess.launch(env(node), ['standby']))
    return launched.at(-1)!
  }
  const follows = (node: PlatformProcess): Promise<void> =>
    until(
      () => node.errors.includes('standing by: memory follows'),
      30_000,
      () => node.errors,
    )
  const spent = async (): Promise<number> => {
    const operator = new OperatorClient(active.url, TOKEN)
    const rows = (await operator.ok('GET', `/users/${user}/balances`)) as Record<string, string>[]
    const spot = rows.find(({ account, currency }) => account === 'spot' && currency === 'USDT')
    return START - Number(spot!['available'])
  }
  before(async () => {
    database = await (await postgres()).database()
    for (const node of ['one', 'two']) ports[node] = await freePort()
    active = launch('one')
    await active.ready()
    other = launch('two')
    await follows(other)
    const cores = Object.values(ports).map((port) => `127.0.0.1:${port}`)
    gateways = await Promise.all([0, 1].map(() => startGateway(cores.join(), certs)))
    launched.push(...gateways)
    const operator = new OperatorClient(active.url, TOKEN)
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
    for (const one of launched) {
      one.child.kill('SIGCONT')
      if (one.child.exitCode === null && one.child.signalCode === null) await one.kill()
    }
    await (await postgres()).stop()
    certs.remove()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  const load = (): Mover[] => Array.from({ length: 8 }, (_, i) => new Mover(gateways[i % 2]!.url, key))
  /** The other one has the office now, and a new process stands by in place of the one that had it. */
  const swap = (): void => {
    ;[active, other] = [other, active]
  }
  const relaunch = async (node: string): Promise<void> => {
    other = launch(node)
    await follows(other)
  }

  test('a planned move: 0 refused, 0 of unknown fate', async () => {
    const before = await spent()
    const movers = load()
    const socket = await SocketClient.open(gateways[0]!.url)
    await until(() => sum(movers, 'moved') > 40)
    const promoted = await kontor(['promote', 'two'], env('two'))
    assert.equal(promoted.code, 0, promoted.errors)
    swap()
    await active.ready()
    const at = sum(movers, 'moved')
    await until(() => sum(movers, 'moved') > at + 40)
    assert.ok([1001, 1012].includes((await socket.whenClosed()).code))
    await Promise.all(movers.map((mover) => mover.stop()))
    assert.deepEqual(
      movers.flatMap(({ others }) => others),
      [],
    )
    assert.deepEqual([sum(movers, 'lost'), sum(movers, 'unknown')], [0, 0])
    assert.equal((await spent()) - before, sum(movers, 'moved'))
    assert.equal(await other.exit, 0)
    await relaunch('one')
  })
  test('a core that is killed: the next one is asked within seconds, nothing is lost or done twice', async () => {
    const before = await spent()
    const movers = load()
    await until(() => sum(movers, 'moved') > 40)
    await active.kill()
    const died = performance.now()
    const at = sum(movers, 'moved')
    await until(() => sum(movers, 'moved') > at)
    const took = performance.now() - died
    assert.ok(took < 10_000, `${took} ms`)
    swap()
    await active.ready()
    await until(() => sum(movers, 'moved') > at + 40)
    await Promise.all(movers.map((mover) => mover.stop()))
    const [moved, unknown] = [sum(movers, 'moved'), sum(movers, 'unknown')]
    assert.deepEqual(
      movers.flatMap(({ others }) => others),
      [],
    )
    assert.equal(sum(movers, 'lost'), 0)
    const really = (await spent()) - before
    assert.ok(really >= moved && really <= moved + unknown, `${really}: ${moved} + ${unknown}`)
    await relaunch('two')
  })
  test('a core that sleeps past its lease: the next one is asked, and nobody asks the old one again', async () => {
    const before = await spent()
    const movers = load()
    await until(() => sum(movers, 'moved') > 40)
    active.child.kill('SIGSTOP')
    const slept = performance.now()
    const at = sum(movers, 'moved')
    await until(() => sum(movers, 'moved') > at + 8)
    const took = performance.now() - slept
    assert.ok(took < 12_000, `${took} ms`)
    swap()
    await active.ready()
    other.child.kill('SIGCONT')
    assert.equal(await other.exit, 3, other.errors.slice(-500))
    const then = sum(movers, 'moved')
    await until(() => sum(movers, 'moved') > then + 40)
    await Promise.all(movers.map((mover) => mover.stop()))
    const [moved, unknown] = [sum(movers, 'moved'), sum(movers, 'unknown')]
    assert.deepEqual(
      movers.flatMap(({ others }) => others),
      [],
    )
    const really = (await spent()) - before
    assert.ok(really >= moved && really <= moved + unknown, `${really}: ${moved} + ${unknown}`)
  })
})
