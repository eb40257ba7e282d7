import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Clock } from '../../src/runtime/clock.ts'
import { OperatorClient } from '../support/client.ts'
import { LIVE, TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-wall-'))
const processes: PlatformProcess[] = []
after(async () => {
  for (const platform of processes) await platform.kill()
  rmSync(folder, { recursive: true, force: true })
  await (await postgres()).stop()
})
const shifted = fileURLToPath(new URL('../support/shifted-clock.js', import.meta.url))
let made = 0
/** A platform whose wall clock can be set. */
async function start(
  more: Record<string, string> = {},
  shift = 0,
): Promise<{ platform: PlatformProcess; env: Record<string, string>; set: (ms: number) => void }> {
  const file = join(folder, `shift-${++made}`)
  const set = (ms: number): void => writeFileSync(file, String(ms))
  set(shift)
  const env = {
    KONTOR_DATA: join(folder, `data-${made}`),
    KONTOR_OPERATOR_TOKEN: TOKEN,
    KONTOR_LOG: 'warn',
    NODE_OPTIONS: `--import ${shifted}`,
    WALL_CLOCK_SHIFT: file,
    ...more,
  }
  const platform = await PlatformProcess.start(env)
  processes.push(platform)
  return { platform, env, set }
}
const figure = async ({ url }: PlatformProcess, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

describe('a wall clock that is set back', () => {
  test('never takes the time back: it stands, which is told once, and goes on when it is caught up', async () => {
    const { platform, set, env } = await start({ ...LIVE })
    const operator = new OperatorClient(platform.url, TOKEN)
    const now = async (): Promise<number> => (await operator.ok('GET', '/status')).now as number
    const before = await now()
    set(-30_000)
    await until(() => platform.errors.includes('set back'))
    assert.match(
      platform.errors,
      /the wall clock was set back by (29\.\d|30\.\d) s; the platform's time stands until it has caught up/,
    )
    let last = before
    for (let i = 0; i < 30; i++) {
      const next = await now()
      assert.ok(next >= last, `${next} came after ${last}`)
      last = next
      if (i % 10 === 0) await operator.ok('POST', '/users', { login_name: `user_${i}` })
      await sleep(50)
    }
    assert.ok(last - before < 2, 'it stands')
    assert.equal(await figure(platform, 'kontor_wall_clock_steps_back_total'), 1)
    const behind = await figure(platform, 'kontor_wall_clock_behind_seconds')
    assert.ok(behind > 20 && behind <= 31, String(behind))
    assert.match(
      (await operator.ok('GET', '/status')).warnings.at(-1),
      /the wall clock is 2\d\.\d s behind what it was/,
    )
    assert.equal(platform.errors.match(/set back/g)!.length, 1, 'one warning')
    // A restart knows the last commit, and tells.
    assert.equal(await platform.kill('SIGTERM'), 0)
    const again = await PlatformProcess.start(env)
    processes.push(again)
    assert.match(again.errors, /the wall clock is 2\d\.\d s behind what it was/)
    set(0)
    const later = new OperatorClient(again.url, TOKEN)
    await until(async () => (await figure(again, 'kontor_wall_clock_behind_seconds')) === 0)
    const caught = (await later.ok('GET', '/status')).now as number
    assert.ok(caught >= last)
    await until(async () => ((await later.ok('GET', '/status')).now as number) > caught)
    const verified = await kontor(['verify'], { ...env, NODE_OPTIONS: '' })
    assert.match(verified.output, /^balanced/)
  })
})

describe('a wall clock that is not the database’s', () => {
  test('over 5 s: a metric and one warning; doctor knows before', async () => {
    const url = await (await postgres()).database()
    const { platform, env } = await start({ KONTOR_DATABASE_URL: url }, 8_000)
    await until(() => platform.errors.includes("database's"))
    assert.match(
      platform.errors,
      /this machine's clock is (7\.9|8\.\d) s ahead of the database's; set them by the same source/,
    )
    const offset = await figure(platform, 'kontor_database_clock_offset_seconds')
    assert.ok(offset > 7 && offset < 9, String(offset))
    const operator = new OperatorClient(platform.url, TOKEN)
    assert.match((await operator.ok('GET', '/status')).warnings.at(-1), /ahead of the database's/)
    const doctor = await kontor(['doctor', '--port', '0'], env)
    assert.match(doctor.output, /^WRONG PostgreSQL: its clock is (7\.9|8\.\d) s off this machine's/m)
  })
  test('below that nothing is said', async () => {
    const url = await (await postgres()).database()
    const { platform, env } = await start({ KONTOR_DATABASE_URL: url }, -3_000)
    await until(async () => (await figure(platform, 'kontor_database_clock_offset_seconds')) < -2)
    assert.doesNotMatch(platform.errors, /database's/)
    const doctor = await kontor(['doctor', '--port', '0'], env)
    assert.match(doctor.output, /^ok {4}PostgreSQL: its clock agrees/m)
  })
})

test('the clock tells nobody an earlier time than somebody was told, by a look or by a moment', () => {
  let wall = 1_000
  const clock = new Clock(() => wall)
  assert.equal(clock.peek(), 1_000)
  assert.equal(clock.now(), 1_000, 'a look takes no moment away')
  wall = 5_000
  assert.equal(clock.peek(), 5_000)
  wall = 2_000
  assert.equal(clock.peek(), 5_000)
  assert.equal(clock.aheadOfWall, 3_000)
  assert.equal(clock.now(), 5_000)
  assert.equal(clock.now(), 5_001)
  assert.equal(clock.peek(), 5_001)
  wall = 6_000
  assert.equal(clock.now(), 6_000)
  assert.equal(clock.aheadOfWall, 0)
})
