import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorClient } from '../support/client.ts'
import { TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'

after(async () => (await postgres()).stop())

for (const store of ['SQLite', 'PostgreSQL'] as const)
  describe(`a database belongs to one living process, on ${store}`, () => {
    const folders: string[] = []
    const processes: PlatformProcess[] = []
    after(async () => {
      for (const platform of processes) await platform.kill()
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    })
    const makePlace = async (): Promise<Record<string, string>> => {
      const data = mkdtempSync(join(tmpdir(), 'kontor-owner-'))
      folders.push(data)
      return {
        KONTOR_DATA: data,
        KONTOR_OPERATOR_TOKEN: TOKEN,
        KONTOR_AGENTS: 'off',
        KONTOR_PORT: '0',
        ...(store === 'PostgreSQL' && { KONTOR_DATABASE_URL: await (await postgres()).database() }),
      }
    }
    const start = async (env: Record<string, string>): Promise<PlatformProcess> => {
      const platform = await PlatformProcess.start(env)
      processes.push(platform)
      return platform
    }
    /** A start that should be refused: one that is not is ended, and fails what is asserted of it. */
    const attempt = async (
      env: Record<string, string>,
    ): Promise<{ code: number | null; output: string; errors: string }> => {
      const run = PlatformProcess.launch(env)
      const closed = once(run.child, 'close')
      const timer = setTimeout(() => run.child.kill('SIGKILL'), 20_000)
      await closed
      clearTimeout(timer)
      return { code: await run.exit, output: run.output, errors: run.errors }
    }
    /** One line that names the owner, and what to do. */
    const words = ({ child, url }: PlatformProcess, mend: string): RegExp => {
      const what = store === 'SQLite' ? 'KONTOR_DATA \\S+' : 'KONTOR_DATABASE_URL: the database'
      return new RegExp(
        `^kontor: ${what} is in use by process ${child.pid!} on \\S+ \\(${url}, since 2\\d{3}-[^)]*Z\\): ${mend}\\n$`,
      )
    }
    const another =
      store === 'SQLite'
        ? 'stop that one, name another folder with --data, or take it over with: kontor start --take-over'
        : 'stop that one, name another database, or take it over with: kontor start --take-over'

    test('a second start says who has it and what to do, exit 2, and the first goes on', async () => {
      const place = await makePlace()
      const first = await start(place)
      const second = await attempt(place)
      assert.equal(second.code, 2, second.errors)
      assert.match(second.errors, words(first, another))
      assert.equal(second.output, '')
      for (const command of [['reseal'], ['operator', 'recover', 'grace']]) {
        const offline = await kontor(command, place)
        assert.equal(offline.code, 2, offline.errors)
        assert.match(offline.errors, words(first, 'stop that one first'))
      }
      const doctor = await kontor(['doctor'], place)
      assert.match(doctor.output, new RegExp(`^ok {4}owner: process ${first.child.pid!} .*--take-over$`, 'm'))
      await sleep(1_300) // longer than the fence takes to be noticed
      assert.equal(first.child.exitCode, null, first.errors)
      await new OperatorClient(first.url, TOKEN).ok('POST', '/users', { login_name: 'still_here' })
      assert.equal(await first.kill('SIGTERM'), 0)
    })

    test('a dead owner needs no flag and no wait, however it died', async () => {
      const place = await makePlace()
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        const began = Date.now()
        const first = await start(place)
        const alone = Date.now() - began
        await first.kill(signal)
        const again = Date.now()
        const next = await start(place)
        const took = Date.now() - again
        assert.ok(took < alone + 4_000, `${took} ms, and ${alone} where nobody was before`)
        await next.kill('SIGKILL')
      }
      const doctor = await kontor(['doctor'], place)
      assert.match(doctor.output, /^ok {4}owner: no living process has the database$/m)
      const sealed = await kontor(['reseal'], place)
      assert.equal(sealed.code, 0, sealed.errors)
    })

    test('--take-over takes it, the first stops with 3, and the second is the owner from then on', async () => {
      const place = await makePlace()
      const first = await start(place)
      const second = PlatformProcess.launch({ ...place, KONTOR_LOG: 'warn' }, ['start', '--take-over'])
      processes.push(second)
      await second.ready()
      assert.equal(await first.exit, 3)
      assert.match(
        second.errors,
        new RegExp(`the database is taken over from process ${first.child.pid!} on \\S+ \\(${first.url}`),
      )
      await sleep(300)
      const third = await attempt(place)
      assert.equal(third.code, 2)
      assert.match(third.errors, words(second, another))
      assert.equal(second.child.exitCode, null)
    })

    test('an owner that hangs can be taken over, and can write nothing when it wakes up', async () => {
      const place = await makePlace()
      const first = await start(place)
      // One that stands still in the middle of writing its tables holds SQLite's lock on them: who wants them has to end it.
      const watch = new OperatorClient(first.url, TOKEN)
      while ((await watch.ok('GET', '/status')).projection.lag_batches > 0) await sleep(20)
      first.child.kill('SIGSTOP')
      assert.equal((await attempt(place)).code, 2)
      const second = await start({ ...place, KONTOR_TAKE_OVER: 'on' })
      const operator = new OperatorClient(second.url, TOKEN)
      await operator.ok('POST', '/users', { login_name: 'after_the_hang' })
      first.child.kill('SIGCONT')
      assert.equal(await first.exit, 3)
      await operator.ok('POST', '/users', { login_name: 'and_on' })
    })
  })

test('the lock of a folder is a file for its owner alone; what is no lock is told', async () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-owner-'))
  const env = { KONTOR_DATA: data, KONTOR_PORT: '0' }
  const platform = await PlatformProcess.start(env)
  assert.equal(statSync(join(data, 'kontor.lock')).mode & 0o777, 0o600)
  await platform.kill('SIGTERM')
  writeFileSync(join(data, 'kontor.lock'), 'somebody wrote here '.repeat(100))
  const { code, errors } = await kontor(['start'], env)
  assert.equal(code, 2)
  assert.match(errors, /^kontor: \S+kontor.lock can't be used: .*not a database; .* remove the file\n$/)
  rmSync(data, { recursive: true, force: true })
})
