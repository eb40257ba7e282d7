import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DiskGuard } from '../../src/runtime/disk-guard.ts'
import { createLog } from '../../src/runtime/log.ts'
import { OperatorClient, refused } from '../support/client.ts'
import { TOKEN, TestPlatform } from '../support/platform.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'

const REFUSAL =
  /^the platform's disk is nearly full: nothing is written until there is room, reads go on; send it again later$/
const figure = async (url: string, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)
  assert.ok(found !== null, `there is no ${name}`)
  return Number(found[1])
}

/** A file system of its own that can be filled without harm, where this user may make one. */
const home = mkdtempSync(join(tmpdir(), 'kontor-disk-'))
const small = join(home, 'small')
mkdirSync(small)
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', small]).status === 0
after(() => {
  if (mounted) spawnSync('umount', ['-l', small])
  rmSync(home, { recursive: true, force: true })
})

describe('a disk that fills up', () => {
  test(
    'a warning early, then no writes and all reads, and writes again by themselves',
    { skip: !mounted },
    async () => {
      const data = join(small, 'data')
      const ballast = join(small, 'ballast')
      const env = {
        KONTOR_DATA: data,
        KONTOR_OPERATOR_TOKEN: TOKEN,
        KONTOR_AGENTS: 'on', // they write every second
        KONTOR_LOG: 'info',
        KONTOR_DISK_WARNING: '40',
        KONTOR_DISK_RESERVE: '20',
      }
      const platform = await PlatformProcess.start(env)
      const { url } = platform
      const operator = new OperatorClient(url, TOKEN)
      const user = (login_name: string) => operator.call('POST', '/users', { login_name })
      assert.equal((await user('before')).status, 201)
      const free = await figure(url, 'kontor_disk_free_bytes')
      assert.ok(free > 40e6 && free < 64 * 2 ** 20, String(free))
      assert.equal(await figure(url, 'kontor_disk_writes_held'), 0)
      assert.doesNotMatch(platform.errors, /KONTOR_DISK/)

      writeFileSync(ballast, Buffer.alloc(Math.floor(free - 33e6)))
      await until(() => platform.errors.includes('KONTOR_DISK_WARNING'))
      assert.match(
        platform.errors,
        /"warn","message":"the disk of the data folder has 3\d MB free \(KONTOR_DISK_WARNING 40\): make room"/,
      )
      assert.equal((await user('warned')).status, 201)
      assert.match(
        (await operator.ok('GET', '/status')).warnings[0],
        /3\d MB free \(KONTOR_DISK_WARNING 40\)/,
      )

      writeFileSync(ballast, Buffer.alloc(Math.floor(free - 12e6)))
      await until(() => platform.errors.includes('KONTOR_DISK_RESERVE'))
      assert.match(
        platform.errors,
        /"error","message":"the disk of the data folder has \d+ MB free \(KONTOR_DISK_RESERVE 20\): nothing is written until there is room, reads go on"/,
      )
      refused(await user('held'), 503, 'TOO_BUSY', REFUSAL)
      refused(await operator.call('POST', '/clock', { advance_seconds: 86_400 }), 503, 'TOO_BUSY')
      refused(await operator.call('POST', '/reset'), 503, 'TOO_BUSY', REFUSAL)
      assert.equal(await figure(url, 'kontor_disk_writes_held'), 1)
      assert.equal((await fetch(`${url}/readyz`)).status, 200, 'it serves reads')
      assert.equal((await fetch(`${url}/api/v4/spot/tickers`)).status, 200)
      assert.match((await operator.ok('GET', '/status')).warnings[0], /KONTOR_DISK_RESERVE/)
      const [sequence, lines] = [
        await figure(url, 'kontor_batches_total'),
        platform.errors.split('\n').length,
      ]
      await sleep(2_500)
      assert.equal(
        await figure(url, 'kontor_batches_total'),
        sequence,
        'nothing that works by itself writes either',
      )
      assert.equal(platform.errors.split('\n').length, lines, 'nor fills the log')
      const doctor = await kontor(['doctor', '--port', '0'], env)
      assert.match(
        doctor.output,
        /^WRONG disk: only \d+ MB free; below 20 \(KONTOR_DISK_RESERVE\) nothing is written$/m,
      )

      rmSync(ballast)
      await until(async () => (await user(`again_${Date.now()}`)).status === 201, 3_000)
      assert.match(platform.errors, /there is room again, writes go on/)
      await until(async () => (await figure(url, 'kontor_batches_total')) > sequence + 1)
      assert.equal((await operator.ok('GET', '/ledger/proof')).balanced, true)
      assert.equal(await platform.kill('SIGTERM'), 0, platform.errors)
      assert.match((await kontor(['verify'], env)).output, /^balanced/)
    },
  )

  test('a start below the reserve serves reads, stops as asked, and serves writes when the reserve is lower', async () => {
    // More than any disk has.
    let platform = await TestPlatform.start({ KONTOR_DISK_RESERVE: '1000000000', KONTOR_LOG: 'silent' })
    const create = () => platform.operator.call('POST', '/users', { login_name: 'x' })
    refused(await create(), 503, 'TOO_BUSY', REFUSAL)
    const { client } = { client: platform.demo() }
    assert.equal((await client.get('/wallet/total_balance')).status, 200)
    refused(
      await client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'margin',
        currency_pair: 'BTC_USDT',
        amount: '1',
      }),
      503,
      'TOO_BUSY',
      REFUSAL,
    )
    platform = await platform.restart({ KONTOR_DISK_RESERVE: '1000000000' })
    refused(await create(), 503, 'TOO_BUSY')
    assert.deepEqual(platform.faults, [])
    platform = await platform.restart({ KONTOR_DISK_RESERVE: '0' })
    assert.equal((await create()).status, 201)
    await platform.stop()
  })
})

test('the bounds are told once each time they are passed, and nothing flutters around them', async () => {
  const lines: string[] = []
  let free = 2_000e6
  let held = 0
  const guard = new DiskGuard({
    settings: { warning: 1_000e6, reserve: 100e6 },
    free: () => (free < 0 ? Promise.reject(new Error('no such disk')) : Promise.resolve(free)),
    suspend: () => {
      held++
      return () => {
        held--
      }
    },
    log: createLog('info', (line) => lines.push((JSON.parse(line) as { message: string }).message)),
  })
  await guard.start()
  const at = async (megabytes: number): Promise<[held: number, lines: number]> => {
    free = megabytes * 1e6
    await sleep(600)
    return [held, lines.splice(0).length]
  }
  assert.deepEqual(await at(1_001), [0, 0])
  assert.deepEqual(await at(999), [0, 1])
  assert.deepEqual(await at(1_001), [0, 0])
  assert.deepEqual(await at(999), [0, 0], 'near the bound it is not told again')
  assert.deepEqual(await at(99), [1, 1])
  assert.deepEqual(await at(101), [1, 0], 'near the bound it stays held')
  assert.deepEqual(await at(-1), [1, 1])
  assert.deepEqual(await at(-1), [1, 0])
  assert.deepEqual(await at(110), [0, 1])
  assert.deepEqual(await at(5_000), [0, 0])
  assert.deepEqual(await at(500), [0, 1])
  assert.deepEqual(await at(0), [1, 1])
  guard.stop()
  assert.equal(held, 0)
})
