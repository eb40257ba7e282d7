import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Credential } from '../support/client.ts'
import { Line, type LineReply } from '../support/line.ts'
import { LIVE_ENV } from '../support/live.ts'
import { TestPlatform, TOKEN } from '../support/platform.ts'
import { kontor } from '../support/process.ts'
import { RawConnection, signedHead, until } from '../support/raw.ts'

const MOVE = { currency: 'USDT', from: 'spot', to: 'futures', amount: '1', settle: 'usdt' }
const TRANSFERS = '/api/v4/wallet/transfers'
const TOTAL = '/api/v4/wallet/total_balance'

const pids = async ({ operator }: TestPlatform): Promise<number[]> =>
  (await operator.ok('GET', '/status')).gateways.map(({ pid }: { pid: number }) => pid)
const metric = async (url: string, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}
const label = ({ status, body }: LineReply): string => `${status} ${body?.label ?? ''}`.trim()

describe('two gateways', () => {
  let platform: TestPlatform
  const lines: Line[] = []
  const line = (credential?: Credential): Line => {
    lines.push(new Line(platform.url, credential, platform.now))
    return lines.at(-1)!
  }
  /** Four connections that stay: two at each gateway. */
  const four = async (credential: Credential): Promise<Line[]> => {
    const all: Line[] = []
    for (let i = 0; i < 4; i++) {
      all.push(line(credential))
      // Twice: the second time the gateway knows the secret.
      for (let j = 0; j < 2; j++) assert.equal((await all[i]!.call('GET', TOTAL)).status, 200)
    }
    return all
  }
  const everywhere = async (from: readonly Line[], path = TOTAL): Promise<string[]> =>
    Promise.all(from.map(async (one) => label(await one.call('GET', path))))
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_GATEWAYS: '2', KONTOR_TIMESTAMPS: 'strict' })
  })
  after(async () => {
    for (const one of lines) one.close()
    await platform.stop()
  })

  test('connections go to the one that has fewest, and the status tells', async () => {
    const some = Array.from({ length: 6 }, () => line())
    for (const one of some) await one.call('GET', '/api/v4/spot/time')
    const { gateways } = await platform.operator.ok('GET', '/status')
    assert.equal(gateways.length, 2)
    const [a, b] = gateways.map(({ connections }: { connections: number }) => connections) as [number, number]
    assert.ok(Math.abs(a - b) <= 1 && a + b >= 6, `${a} and ${b}`)
    for (const { pid } of gateways) assert.notEqual(pid, process.pid)
  })
  test('doctor names them, with what each holds', async () => {
    const doctor = async (env: Record<string, string>): Promise<string> =>
      (await kontor(['doctor', '--data', platform.data, '--port', '0'], env)).output
    const output = await doctor({ KONTOR_GATEWAYS: '2' })
    assert.match(output, /^ok {4}gateways: 2 \(KONTOR_GATEWAYS\)$/m)
    const told = [...output.matchAll(/^ok {4}gateway (\d+): answers, \d+ connections?, (\d+) MB$/gm)]
    assert.deepEqual(told.map(([, pid]) => Number(pid)).sort(), (await pids(platform)).sort())
    for (const [, , megabytes] of told)
      assert.ok(Number(megabytes) > 20 && Number(megabytes) < 300, megabytes)
    assert.doesNotMatch(output, /warning: gateways/)
    assert.match(
      await doctor({ KONTOR_GATEWAYS: '5' }),
      /^ok {4}warning: gateways: 2 run, 5 would after a start/m,
    )
    assert.match(await doctor({}), /^ok {4}gateways: (none|\d) \(auto, on \d+ cores?\)/m)
    // No token is shown to whoever listens where a live platform would.
    const live = { ...LIVE_ENV, KONTOR_OPERATOR_TOKEN: TOKEN, KONTOR_GATEWAYS: '3' }
    assert.match(
      await doctor(live),
      /^ok {4}gateways: 3 \(KONTOR_GATEWAYS\); GET \/operator\/v1\/status names those that run$/m,
    )
    assert.doesNotMatch(await doctor(live), /^.{6}gateway \d/m)
  })
  test('a key that is deleted through one connection is refused at once on all others', async () => {
    const main = await platform.user()
    const { user_id } = await platform.user({ parent: main.user_id })
    const perms = [{ name: 'wallet', read_only: false }] as const
    for (let round = 0; round < 5; round++) {
      const made = line(main.credential)
      const keys = `/api/v4/sub_accounts/${user_id}/keys`
      // Created: good at once, on every gateway, none of which has seen it.
      const { body: key } = await made.call('POST', keys, { mode: 1, name: 'k', perms })
      const all = await four(key)
      assert.equal((await made.call('DELETE', `${keys}/${key.key}`)).status, 204)
      assert.deepEqual(await everywhere(all), Array(4).fill('401 INVALID_KEY'))
    }
  })
  test('IP list, permission, lock and a disabled key count at once', async () => {
    const main = await platform.user()
    const { user_id } = await platform.user({ parent: main.user_id })
    const owner = line(main.credential)
    const perms = [{ name: 'wallet', read_only: false }]
    const keys = `/api/v4/sub_accounts/${user_id}/keys`
    const { body: key } = await owner.call('POST', keys, { mode: 1, name: 'k', perms })
    const all = await four(key)
    const put = async (body: object): Promise<void> => {
      assert.equal((await owner.call('PUT', `${keys}/${key.key}`, { mode: 1, ...body })).status, 204)
    }
    await put({ perms, ip_whitelist: ['203.0.113.9'] })
    assert.deepEqual(await everywhere(all), Array(4).fill('403 IP_FORBIDDEN'))
    await put({ perms: [{ name: 'spot', read_only: false }] })
    assert.deepEqual(await everywhere(all), Array(4).fill('403 FORBIDDEN'))
    await put({ perms: [{ name: 'wallet', read_only: true }] })
    const writes = await Promise.all(all.map(async (one) => label(await one.call('POST', TRANSFERS, MOVE))))
    assert.deepEqual(writes, Array(4).fill('403 READ_ONLY'))
    await put({ perms })
    assert.deepEqual(await everywhere(all), Array(4).fill('200'))
    assert.equal((await owner.call('POST', `/api/v4/sub_accounts/${user_id}/lock`)).status, 204)
    assert.deepEqual(await everywhere(all), Array(4).fill('403 ACCOUNT_LOCKED'))
    assert.equal((await owner.call('POST', `/api/v4/sub_accounts/${user_id}/unlock`)).status, 204)
    await platform.operator.ok('PATCH', `/users/${user_id}/keys/${key.key}`, { state: 2 })
    assert.deepEqual(await everywhere(all), Array(4).fill('401 INVALID_CREDENTIALS'))
  })
  test('a wrong signature is refused and explained, whether the gateway knows the secret or not', async () => {
    const { credential } = await platform.user()
    const fresh = line(credential)
    const wrong = async (): Promise<LineReply> =>
      fresh.call('POST', TRANSFERS, MOVE, { secret: 'not the secret' })
    const first = await wrong()
    assert.equal(label(first), '401 INVALID_SIGNATURE')
    assert.equal((await fresh.call('GET', TOTAL)).status, 200)
    const second = await wrong()
    assert.deepEqual(Object.keys(second.body), Object.keys(first.body))
    assert.match(second.body.signature_string, /^POST\n\/api\/v4\/wallet\/transfers\n/)
    // Of a right signature no other byte may be changed.
    const raw = await RawConnection.open(platform.url)
    const text = JSON.stringify(MOVE)
    const head = signedHead(credential, 'POST', TRANSFERS, text, String(Math.floor(platform.now())))
    raw.socket.write(`${head}Content-Length: ${text.length}\r\n\r\n${text.replace('"1"', '"2"')}`)
    await until(() => raw.statuses.length === 1)
    assert.match(raw.received, /INVALID_SIGNATURE/)
    raw.socket.destroy()
  })
  test('a limit is counted once: exactly as many pass as without gateways', async () => {
    const limited = await TestPlatform.start({ KONTOR_GATEWAYS: '2', KONTOR_RATE_LIMITS: '1' })
    const { credential, user_id } = await limited.user()
    await limited.credit(user_id, 'USDT', '1000')
    const some = Array.from({ length: 6 }, () => new Line(limited.url, credential))
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, i) => some[i % 6]!.call('POST', TRANSFERS, MOVE)),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 80)
    assert.equal(replies.filter((reply) => label(reply) === '429 TOO_MANY_REQUESTS').length, 40)
    assert.equal(await limited.balance(user_id, 'USDT'), '920')
    // By address, where nobody is signed, and of wrong signatures.
    const open = await Promise.all(
      Array.from({ length: 240 }, (_, i) => some[i % 6]!.call('GET', '/api/v4/spot/time')),
    )
    assert.equal(open.filter(({ status }) => status === 200).length, 200)
    const guesses = await Promise.all(
      Array.from({ length: 130 }, (_, i) => some[i % 6]!.call('GET', TOTAL, undefined, { secret: 'x' })),
    )
    assert.equal(guesses.filter((reply) => label(reply) === '401 INVALID_SIGNATURE').length, 100)
    for (const one of some) one.close()
    await limited.stop()
  })
  test('a captured request passes once, whichever gateways it is sent to', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    await platform.operator.ok('PATCH', `/users/${user_id}/keys/${credential.key}`, {
      replay_protection: true,
    })
    const all = await four(credential)
    const timestamp = String(Math.floor(platform.now()))
    const [currency_pair, amount, price] = ['BTC_USDT', '0.001', '30000']
    const order = { text: 't-once', currency_pair, side: 'buy', amount, price, time_in_force: 'ioc' }
    const replies = await Promise.all(
      all.map(async (one) => label(await one.call('POST', '/api/v4/spot/orders', order, { timestamp }))),
    )
    assert.deepEqual(replies.sort(), ['201', ...Array<string>(3).fill('400 DUPLICATE_REQUEST')])
  })
  test('faults, request log and metrics know every request, once', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    const all = await four(credential)
    const { last } = await platform.operator.ok('GET', '/requests?limit=1')
    await platform.operator.ok('PUT', '/faults', [
      {
        match: { path: '/wallet/transfers', user_id },
        sequence: [{ effect: 'error', status: 503 }, { effect: 'duplicate' }, { effect: 'drop_reply' }],
      },
    ])
    assert.equal((await all[0]!.call('POST', TRANSFERS, MOVE)).status, 503)
    assert.equal((await all[1]!.call('POST', TRANSFERS, MOVE)).status, 200)
    await assert.rejects(all[2]!.call('POST', TRANSFERS, MOVE), /socket hang up|ECONNRESET/)
    assert.equal((await all[3]!.call('POST', TRANSFERS, MOVE)).status, 200)
    assert.equal(await platform.balance(user_id, 'USDT'), '96')
    assert.equal((await all[3]!.call('GET', '/api/v4/nothing/here')).status, 404)
    assert.equal((await all[3]!.call('DELETE', TRANSFERS)).status, 405)
    const { requests } = await platform.operator.ok('GET', `/requests?after=${last}&path=/*`)
    assert.deepEqual(
      requests.map(({ status, dropped }: { status: number; dropped: boolean }) =>
        dropped ? 'dropped' : status,
      ),
      [503, 200, 'dropped', 200, 404, 405],
    )
    const report = await platform.operator.ok('GET', `/faults/report?user_id=${user_id}`)
    assert.equal(report.faults.length, 3)
  })
  test('a large body, one by pieces and one after 100-continue arrive; replies keep their order', async () => {
    const { credential, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    const raw = await RawConnection.open(platform.url)
    const now = String(Math.floor(platform.now()))
    const text = JSON.stringify({ ...MOVE, client_order_id: 'large' }).padEnd(300_000)
    const head = signedHead(credential, 'POST', TRANSFERS, text, now)
    raw.socket.write(`${head}Content-Length: ${text.length}\r\n\r\n${text.slice(0, 1000)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    // Asked for behind it, and answered behind it.
    raw.socket.write(`${text.slice(1000)}GET /api/v4/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await until(() => raw.statuses.length === 2)
    assert.deepEqual(raw.statuses, [200, 404])
    const short = JSON.stringify({ ...MOVE, client_order_id: 'pieces' })
    const pieces = signedHead(credential, 'POST', TRANSFERS, short, now)
    raw.socket.write(
      `${pieces}Transfer-Encoding: chunked\r\n\r\n${short.length.toString(16)}\r\n${short}\r\n0\r\n\r\n`,
    )
    await until(() => raw.statuses.length === 3)
    const expected = JSON.stringify({ ...MOVE, client_order_id: 'expected' })
    const asked = signedHead(credential, 'POST', TRANSFERS, expected, now)
    raw.socket.write(`${asked}Expect: 100-continue\r\nContent-Length: ${expected.length}\r\n\r\n`)
    await until(() => raw.statuses.length === 4)
    raw.socket.write(expected)
    await until(() => raw.statuses.length === 5)
    assert.deepEqual(raw.statuses, [200, 404, 200, 100, 200])
    assert.equal(await platform.balance(user_id, 'USDT'), '97')
    raw.socket.destroy()
  })
  test('a client that breaks off leaves nothing behind', async () => {
    const { credential } = await platform.user()
    const gone = /kontor_requests_total{route="POST \/api\/v4\/wallet\/transfers",status="499"} (\d+)/
    const count = async (): Promise<number> =>
      Number(gone.exec(await (await fetch(`${platform.url}/metrics`)).text())?.[1] ?? 0)
    const before = await count()
    for (const size of [100, 100_000]) {
      const raw = await RawConnection.open(platform.url)
      const head = signedHead(credential, 'POST', TRANSFERS, '', String(Math.floor(platform.now())))
      raw.socket.write(`${head}Content-Length: ${size}\r\n\r\n${'x'.repeat(size / 2)}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
      raw.socket.resetAndDestroy()
    }
    await until(async () => (await count()) === before + 2)
    await until(async () => (await metric(platform.url, 'kontor_body_bytes')) === 0)
  })
  test('the clock is the platform’s: when it moves, what was signed before is old on every gateway', async () => {
    const { credential } = await platform.user()
    const all = await four(credential)
    const timestamp = String(Math.floor(platform.now()))
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3600 })
    const old = await Promise.all(
      all.map(async (one) => label(await one.call('GET', TOTAL, undefined, { timestamp }))),
    )
    assert.deepEqual(old, Array(4).fill('401 REQUEST_EXPIRED'))
    assert.deepEqual(await everywhere(all), Array(4).fill('200'))
  })
  test('after a reset the same keys work, though every secret is sealed anew', async () => {
    const account = platform.platform.credentials.accounts[0]!
    const all = await four(account)
    await platform.operator.ok('POST', '/reset')
    assert.deepEqual(await everywhere(all), Array(4).fill('200'))
    const wrong = await Promise.all(
      all.map(async (one) => label(await one.call('GET', TOTAL, undefined, { secret: 'x' }))),
    )
    assert.deepEqual(wrong, Array(4).fill('401 INVALID_SIGNATURE'))
  })
  test('a gateway knows nothing of the settings, and heeds no signal but its end', async (t) => {
    const [pid] = await pids(platform)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid!, signal)
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.ok((await pids(platform)).includes(pid!))
    if (!existsSync('/proc/self/environ')) {
      t.skip('there is no /proc here')
      return
    }
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    assert.doesNotMatch(environment, /KONTOR_/)
    assert.ok(!environment.includes(TOKEN))
  })
})
