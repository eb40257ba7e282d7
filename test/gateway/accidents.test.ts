import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gatewaysByCores } from '../../src/config.ts'
import { Gateways } from '../../src/gateway/gateways.ts'
import { BodyRoom } from '../../src/http/bodies.ts'
import { createLog } from '../../src/runtime/log.ts'
import { NO_DESK } from '../support/no-desk.ts'
import { VERSION } from '../../src/version.ts'
import { OperatorClient, type Credential } from '../support/client.ts'
import { Line } from '../support/line.ts'
import { TestPlatform, TOKEN } from '../support/platform.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { RawConnection, until } from '../support/raw.ts'

const TRANSFERS = '/api/v4/wallet/transfers'
const MOVE = { currency: 'USDT', from: 'spot', to: 'futures', amount: '1', settle: 'usdt' }
const START = 100_000

const folders: string[] = []
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-gateways-')))
  return folders.at(-1)!
}
/** None of them outlives a test that fails. */
const launched: PlatformProcess[] = []
const start = async (env: Record<string, string>): Promise<PlatformProcess> => {
  launched.push(await PlatformProcess.start(env))
  return launched.at(-1)!
}
after(async () => {
  for (const platform of launched)
    if (platform.child.exitCode === null && platform.child.signalCode === null) await platform.kill()
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})
const pids = async (operator: OperatorClient): Promise<number[]> =>
  (await operator.ok('GET', '/status')).gateways.map(({ pid }: { pid: number }) => pid)
const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const metric = async (url: string, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}

/** Moves one coin after the other over one connection, until it is lost or told to end. */
class Mover {
  readonly line: Line
  /** Moves that were acknowledged, and those of which nobody knows. */
  moved = 0
  lost = 0
  refused = 0
  ended = false
  private over = false
  readonly done: Promise<void>
  constructor(url: string, credential: Credential) {
    this.line = new Line(url, credential)
    this.done = this.run()
  }
  stop(): void {
    this.over = true
  }
  private async run(): Promise<void> {
    while (!this.over) {
      try {
        const { status } = await this.line.call('POST', TRANSFERS, MOVE)
        if (status === 200) this.moved++
        else this.refused++
      } catch {
        this.lost++
        break
      }
    }
    this.ended = true
    this.line.close()
  }
}
async function account(url: string): Promise<{ operator: OperatorClient; id: number; key: Credential }> {
  const operator = new OperatorClient(url, TOKEN)
  const { user_id: id } = await operator.ok('POST', '/users', { login_name: `mover_${Date.now()}` })
  const perms = [{ name: 'wallet', read_only: false }]
  const key = await operator.ok('POST', `/users/${id}/keys`, { name: 'k', mode: 1, perms })
  await operator.ok('POST', `/users/${id}/credit`, {
    account: 'spot',
    currency: 'USDT',
    amount: String(START),
  })
  return { operator, id, key }
}
async function movedBy(operator: OperatorClient, id: number): Promise<number> {
  const rows = (await operator.ok('GET', `/users/${id}/balances`)) as {
    account: string
    currency: string
    available: string
  }[]
  const spot = rows.find(({ account, currency }) => account === 'spot' && currency === 'USDT')
  return START - Number(spot!.available)
}
const sum = (movers: readonly Mover[], name: 'moved' | 'lost' | 'refused'): number =>
  movers.reduce((total, mover) => total + mover[name], 0)

describe('a gateway that dies', () => {
  test('loses its own connections alone; nothing acknowledged is lost, nothing is done twice, another takes its place', async () => {
    const platform = await TestPlatform.start({ KONTOR_GATEWAYS: '2', KONTOR_LOG: 'silent' })
    const { operator, id, key } = await account(platform.url)
    for (let round = 0; round < 3; round++) {
      const before = await movedBy(operator, id)
      const movers = Array.from({ length: 8 }, () => new Mover(platform.url, key))
      await until(() => sum(movers, 'moved') > 50)
      const [victim, other] = await pids(operator)
      process.kill(victim!, 'SIGKILL')
      await until(() => movers.some(({ ended }) => ended))
      // All of its connections end in one moment; who hears of it a little later is not among the others.
      await new Promise((resolve) => setTimeout(resolve, 500))
      const still = movers.filter(({ ended }) => !ended)
      assert.ok(still.length >= 3, `${still.length} of 8 go on`)
      const soon = sum(still, 'moved') + 50
      await until(() => sum(still, 'moved') > soon)
      for (const mover of movers) mover.stop()
      await Promise.all(movers.map(({ done }) => done))
      assert.equal(sum(still, 'lost'), 0)
      const [acknowledged, lost] = [sum(movers, 'moved'), sum(movers, 'lost')]
      assert.ok(lost >= 1 && lost <= 5, `${lost} connections were lost`)
      const moved = (await movedBy(operator, id)) - before
      assert.ok(moved >= acknowledged && moved <= acknowledged + lost, `${moved}: ${acknowledged} + ${lost}`)
      await until(async () => (await pids(operator)).length === 2)
      const now = await pids(operator)
      assert.ok(!now.includes(victim!) && now.includes(other!))
    }
    // Whoever was connected to the dead ones is not counted any more.
    await until(async () => (await metric(platform.url, 'kontor_connections')) <= 3)
    await platform.stop()
  })
  test('and when all die at once, the core’s process answers until they are back', async () => {
    const platform = await TestPlatform.start({ KONTOR_GATEWAYS: '2', KONTOR_LOG: 'silent' })
    const first = await pids(platform.operator)
    for (const pid of first) process.kill(pid, 'SIGKILL')
    await until(() => first.every((pid) => !alive(pid)))
    const line = new Line(platform.url)
    await until(async () => {
      const reply = await line.call('GET', '/api/v4/spot/time').catch(() => undefined)
      return reply?.status === 200
    }, 5_000)
    await until(async () => (await pids(platform.operator).catch(() => [])).length === 2)
    line.close()
    await platform.stop()
  })
  test('loses the connections that were on their way to it, and leaves none of them open', async () => {
    const platform = await TestPlatform.start({ KONTOR_GATEWAYS: '1', KONTOR_LOG: 'silent' })
    const [pid] = await pids(platform.operator)
    // It takes nothing any more, and nobody has seen that yet.
    process.kill(pid!, 'SIGSTOP')
    const waiting = await Promise.all(Array.from({ length: 5 }, () => RawConnection.open(platform.url)))
    for (const { socket } of waiting)
      socket.write('GET /api/v4/spot/time HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise((resolve) => setTimeout(resolve, 200))
    process.kill(pid!, 'SIGKILL')
    for (const raw of waiting) await raw.ended(5_000)
    await until(async () => (await pids(platform.operator).catch(() => [])).some((other) => other !== pid))
    await until(async () => (await metric(platform.url, 'kontor_connections')) <= 3)
    await platform.stop()
  })
  test('a connection that waits for its body keeps nothing when its gateway dies', async () => {
    const platform = await TestPlatform.start({ KONTOR_GATEWAYS: '1', KONTOR_LOG: 'silent' })
    const { operator } = platform
    const raw = await RawConnection.open(platform.url)
    raw.socket.write(
      `POST /operator/v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 500000\r\n\r\n${'x'.repeat(400_000)}`,
    )
    await until(async () => (await metric(platform.url, 'kontor_body_bytes')) > 100_000)
    process.kill((await pids(operator))[0]!, 'SIGKILL')
    await raw.ended()
    await until(async () => (await metric(platform.url, 'kontor_body_bytes').catch(() => 1)) === 0)
    await platform.stop()
  })
})

test('a gateway that hangs is replaced', async () => {
  const warnings: unknown[] = []
  const gateways = new Gateways({
    count: 1,
    pipeline: undefined as never,
    look: () => ({ kind: 'page' }),
    room: new BodyRoom(),
    settings: {
      mode: 'sandbox',
      surface: 'all',
      host: '127.0.0.1',
      hosts: [],
      cors: [],
      trustProxy: 0,
      requestMs: 30_000,
      socketQueue: 8_388_608,
      rateLimits: 1,
      version: VERSION,
    },
    attach: () => NO_DESK,
    log: createLog('warn', (line) => warnings.push(JSON.parse(line))),
    left: () => undefined,
    hungMs: 600,
  })
  await gateways.start()
  const [{ pid } = { pid: 0 }] = gateways.list()
  // One that is there is left alone.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.equal(gateways.list()[0]?.pid, pid)
  process.kill(pid, 'SIGSTOP')
  await until(() => gateways.list().some((other) => other.pid !== pid))
  assert.ok(!alive(pid))
  assert.match(JSON.stringify(warnings), /it did not answer/)
  await gateways.stop()
  assert.deepEqual(gateways.list(), [])
})

describe('the core’s process', () => {
  const env = (data: string): Record<string, string> => ({
    KONTOR_DATA: data,
    KONTOR_GATEWAYS: '2',
    KONTOR_OPERATOR_TOKEN: TOKEN,
  })
  test('killed, it takes its gateways with it, and nothing acknowledged is lost', async () => {
    const data = folder()
    const platform = await start(env(data))
    const { operator, id, key } = await account(platform.url)
    const gateways = await pids(operator)
    assert.equal(gateways.length, 2)
    const movers = Array.from({ length: 8 }, () => new Mover(platform.url, key))
    await until(() => sum(movers, 'moved') > 100)
    await platform.kill('SIGKILL')
    await Promise.all(movers.map(({ done }) => done))
    await until(() => gateways.every((pid) => !alive(pid)))
    const again = await start(env(data))
    const moved = await movedBy(new OperatorClient(again.url, TOKEN), id)
    const [acknowledged, lost] = [sum(movers, 'moved'), sum(movers, 'lost')]
    assert.ok(moved >= acknowledged && moved <= acknowledged + lost, `${moved}: ${acknowledged} + ${lost}`)
    await again.kill('SIGTERM')
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`${signal} under load loses no reply: what was carried out was answered`, async () => {
      const data = folder()
      const platform = await start(env(data))
      const { operator, id, key } = await account(platform.url)
      const gateways = await pids(operator)
      const movers = Array.from({ length: 8 }, () => new Mover(platform.url, key))
      await until(() => sum(movers, 'moved') > 100)
      // As a terminal does, and some supervisors: everybody gets it.
      if (signal === 'SIGINT') for (const pid of gateways) process.kill(pid, signal)
      assert.equal(await platform.kill(signal), 0, platform.errors)
      await Promise.all(movers.map(({ done }) => done))
      assert.ok(gateways.every((pid) => !alive(pid)))
      assert.equal(sum(movers, 'refused'), 0)
      const again = await start(env(data))
      assert.equal(await movedBy(new OperatorClient(again.url, TOKEN), id), sum(movers, 'moved'))
      await again.kill('SIGTERM')
    })
  test('with an address for operators, gateways serve the clients’ one alone', async () => {
    const platform = await TestPlatform.start({
      KONTOR_GATEWAYS: '2',
      KONTOR_OPERATOR_LISTEN: '127.0.0.1:0',
    })
    const status = async (url: string): Promise<number> => (await fetch(url)).status
    assert.equal((await pids(platform.operator)).length, 2)
    const { url, operatorUrl } = platform.platform
    assert.equal(await status(`${url}/api/v4/spot/time`), 200)
    assert.equal(await status(`${url}/metrics`), 404)
    assert.equal(await status(`${url}/operator/v1/status`), 404)
    assert.equal(await status(`${operatorUrl}/metrics`), 200)
    assert.equal(await status(`${operatorUrl}/api/v4/spot/time`), 404)
    assert.equal(await status(`${url}/docs`), 200)
    await platform.stop()
  })
})

test('how many: by cores, or as it is said; anything else is one line', async () => {
  assert.deepEqual(
    [1, 3, 4, 8, 16, 64].map((cores) => gatewaysByCores(cores)),
    [0, 2, 2, 3, 7, 8].map((count) => ({ count, from: 0 })),
  )
  assert.deepEqual(gatewaysByCores(2), { count: 2, from: 8 }, 'light until there is a crowd')
  for (const wrong of ['many', '-1', '65', '1.5']) {
    const { code, errors } = await kontor(['start', `--gateways=${wrong}`, '--memory'])
    assert.equal(code, 2)
    assert.match(errors, /^kontor: KONTOR_GATEWAYS must be auto or a whole number from 0 to 64, not ".*"\n$/)
  }
})
