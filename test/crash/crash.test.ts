import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorClient } from '../support/client.ts'
import { TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { Load, checkAgainstStore } from './load.ts'
import { checkMoney } from './money-check.ts'
import { KillRounds, seeded, type Way } from './rounds.ts'
import { eventually } from '../support/wallet.ts'

/** `npm run kill` goes on for as long as it is let. */
const DEATHS: Readonly<Record<'SQLite' | 'PostgreSQL', readonly Way[]>> = {
  SQLite: ['at any moment', 'right after a commit', 'at any moment, and again while it starts'],
  PostgreSQL: ['at any moment', 'right before a commit'],
}
/** With more than two another thread writes and seals what the core hands over: both ways are for everybody. */
const CORES = { SQLite: 3, PostgreSQL: 2 } as const
const TAKEOVER_MS = 3_000
/** Both live: whoever comes second must say so. */
const TAKE_OVER = { KONTOR_TAKE_OVER: 'on' }

after(async () => (await postgres()).stop())

/** The look after each death finds what is gone, what is there and should not be, and what happened to somebody else. */
async function noticed({ money, place }: KillRounds): Promise<void> {
  const { claims } = money
  const [key, claim] = [...claims].find(([, { kind }]) => kind === 'transfer')!
  const look = (): Promise<number> => checkMoney(money, place)
  const lost = { ...claim, mark: 'x', id: 1_000_000 }
  claims.set('transfer x', lost)
  await assert.rejects(look(), /transfer x was acknowledged and is gone/)
  claims.delete('transfer x')
  claims.set(key, { ...claim, user_id: claim.user_id + 1 })
  await assert.rejects(look(), new RegExp(key))
  claims.delete(key)
  await assert.rejects(look(), /nothing happened that nobody asked for/)
  claims.set(key, { ...claim, id: undefined })
  assert.equal(await look(), 1, 'an unanswered one that had been committed')
}

for (const store of ['SQLite', 'PostgreSQL'] as const)
  describe(`a process that ends, on ${store}`, () => {
    const folders: string[] = []
    const processes: PlatformProcess[] = []
    after(async () => {
      for (const platform of processes) await platform.kill()
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    })
    const makePlace = async (): Promise<{ data: string; databaseUrl: string | undefined }> => {
      const data = mkdtempSync(join(tmpdir(), 'kontor-crash-'))
      folders.push(data)
      return { data, databaseUrl: store === 'SQLite' ? undefined : await (await postgres()).database() }
    }
    const start = async (
      { data, databaseUrl }: { data: string; databaseUrl: string | undefined },
      more: Record<string, string> = {},
    ): Promise<PlatformProcess> => {
      const platform = await PlatformProcess.start({
        KONTOR_DATA: data,
        KONTOR_OPERATOR_TOKEN: TOKEN,
        ...(databaseUrl !== undefined && { KONTOR_DATABASE_URL: databaseUrl }),
        ...more,
      })
      processes.push(platform)
      return platform
    }

    test('kill -9 while money moves in every way: what was acknowledged is there once, and nothing is half', async () => {
      const { databaseUrl } = await makePlace()
      const rounds = await KillRounds.begin(databaseUrl, seeded(Date.now()), CORES[store])
      folders.push(rounds.place.data)
      let told = 0
      // One that dies at its first commit has acknowledged nothing.
      for (const way of DEATHS[store]) told += (await rounds.round(way)).acknowledged
      assert.ok(told > 0)
      await rounds.finish()
      const { acknowledged } = rounds.money
      assert.ok(
        Object.values(acknowledged).filter((count) => count > 0).length >= 4,
        JSON.stringify(acknowledged),
      )
      await noticed(rounds)
    })

    test('SIGTERM under load: replies are finished, nothing is half-done, exit 0', async () => {
      const place = await makePlace()
      const platform = await start(place)
      const load = new Load()
      await load.prepare(platform.url, 12)
      load.start(platform.url)
      await eventually(() => Promise.resolve(load.acknowledged > 20), 'some load')
      assert.equal(await platform.kill('SIGTERM'), 0, platform.errors)
      await load.stop()
      assert.equal(
        await checkAgainstStore(load, place),
        0,
        'a transfer was carried out and its reply was cut',
      )
    })

    test('a second process takes over, idle or under load: the first stops with 3 and nothing is lost', async () => {
      const place = await makePlace()
      const first = await start(place)
      const load = new Load()
      await load.prepare(first.url, 8)
      const second = await start(place, TAKE_OVER)
      const taken = Date.now()
      assert.equal(await first.exit, 3, first.errors)
      assert.ok(Date.now() - taken < TAKEOVER_MS, 'an idle process notices by itself')
      assert.match(first.errors, /another process has taken over/)
      load.start(second.url)
      await sleep(200)
      const third = await start(place, TAKE_OVER)
      assert.equal(await second.exit, 3, second.errors)
      await load.stop()
      await checkAgainstStore(load, place)
      const proof = await new OperatorClient(third.url, TOKEN).ok('GET', '/ledger/proof')
      assert.equal(proof.balanced, true)
    })

    test('a second start on the same port leaves the first alone', async () => {
      const place = await makePlace()
      const first = await start(place)
      const port = new URL(first.url).port
      const args = ['start', '--port', port, '--data', place.data]
      if (place.databaseUrl !== undefined) args.push('--database-url', place.databaseUrl)
      const second = await kontor(args)
      assert.equal(second.code, 2)
      assert.match(second.errors, /^kontor: KONTOR_PORT \d+ is in use .*\n$/)
      await sleep(1_200)
      assert.equal(first.child.exitCode, null)
      await new OperatorClient(first.url, TOKEN).ok('POST', '/users', { login_name: 'still_here' })
    })
  })

test('connections to PostgreSQL that break under load cost nothing that was acknowledged, and the process goes on', async () => {
  const server = await postgres()
  const databaseUrl = await server.database()
  const data = mkdtempSync(join(tmpdir(), 'kontor-crash-'))
  const platform = await PlatformProcess.start({
    KONTOR_DATA: data,
    KONTOR_OPERATOR_TOKEN: TOKEN,
    KONTOR_DATABASE_URL: databaseUrl,
  })
  const load = new Load()
  await load.prepare(platform.url, 8)
  load.start(platform.url)
  for (let i = 0; i < 3; i++) {
    await sleep(200)
    await server.disconnect(databaseUrl)
  }
  await sleep(500)
  assert.equal(platform.child.exitCode, null, platform.errors)
  await load.stop()
  const proof = await new OperatorClient(platform.url, TOKEN).ok('GET', '/ledger/proof')
  assert.equal(proof.balanced, true)
  assert.equal(await platform.kill('SIGTERM'), 0, platform.errors)
  await checkAgainstStore(load, { data, databaseUrl })
  rmSync(data, { recursive: true, force: true })
})
