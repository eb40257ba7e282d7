import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { databasePath } from '../src/store/open.ts'
import { Client, OperatorClient, ok, type Credential } from './support/client.ts'
import { TOKEN } from './support/platform.ts'
import { PostgresServer } from './support/postgres.ts'
import { PlatformProcess, kontor } from './support/process.ts'

describe('kontor backup and restore', () => {
  let root: string
  let server: PostgresServer
  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'kontor-backup-'))
    server = await PostgresServer.start()
  })
  after(async () => {
    await server.stop()
    rmSync(root, { recursive: true, force: true })
  })
  const start = (env: Record<string, string>): Promise<PlatformProcess> =>
    PlatformProcess.start({ KONTOR_OPERATOR_TOKEN: TOKEN, ...env })
  /** Somebody with money and a key; transfers go on until told to stop. */
  async function busy(
    platform: PlatformProcess,
  ): Promise<{ credential: Credential; stop: () => Promise<void> }> {
    const operator = new OperatorClient(platform.url, TOKEN)
    const { user_id } = await operator.ok('POST', '/users', { login_name: 'holder' })
    await operator.ok('POST', `/users/${user_id}/credit`, {
      account: 'spot',
      currency: 'USDT',
      amount: '1000',
    })
    const credential: Credential = await operator.ok('POST', `/users/${user_id}/keys`, {
      name: 'k',
      mode: 1,
      perms: [{ name: 'wallet', read_only: false }],
      ip_whitelist: [],
    })
    const client = new Client(platform.url, credential)
    let going = true
    const body = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '0.01' }
    const run = (async () => {
      while (going) ok(await client.post('/wallet/transfers', body))
    })()
    return {
      credential,
      stop: async () => {
        going = false
        await run
      },
    }
  }
  /** The restored platform knows the key, the money is there to the last unit, and everything adds up. */
  async function serves(env: Record<string, string>, credential: Credential): Promise<void> {
    const platform = await start(env)
    const { total } = ok(await new Client(platform.url, credential).get('/wallet/total_balance'))
    assert.ok(Number(total.amount) > 999 && Number(total.amount) < 1001, JSON.stringify(total))
    const proof = await new OperatorClient(platform.url, TOKEN).ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
    assert.equal(await platform.kill('SIGTERM'), 0)
  }

  test('of a running embedded store, while money moves: one moment, verified, restored into either store', async () => {
    const data = join(root, 'data')
    const copy = join(root, 'copy')
    const platform = await start({ KONTOR_DATA: data })
    const { credential, stop } = await busy(platform)
    const made = await kontor(['backup', copy, '--data', data])
    await stop()
    assert.equal(made.code, 0, made.output + made.errors)
    assert.match(
      made.output,
      /^balanced: copy holds credentials\.json, kontor\.db, secret\.key as of batch \d+\n$/,
    )
    assert.equal(await platform.kill('SIGTERM'), 0)
    assert.equal(statSync(copy).mode & 0o077, 0)
    for (const name of readdirSync(copy)) assert.equal(statSync(join(copy, name)).mode & 0o077, 0, name)

    const restored = join(root, 'restored')
    const done = await kontor(['restore', copy, '--data', restored])
    assert.equal(done.code, 0, done.output + done.errors)
    assert.match(done.output, /^balanced: sandbox data of \S+, batch \d+, is in .*restored\n$/)
    assert.match((await kontor(['verify', '--data', restored])).output, /^balanced: /)
    assert.match((await kontor(['replay', '--data', restored])).output, /^equal: /)
    await serves({ KONTOR_DATA: restored }, credential)

    const url = await server.database()
    const moved = await kontor(['restore', copy], { KONTOR_DATABASE_URL: url })
    assert.equal(moved.code, 0, moved.output + moved.errors)
    assert.match(moved.output, /start it with the key of the backup: KONTOR_SECRET_KEY_FILE=\S+\n/)
    const key = readFileSync(join(copy, 'secret.key'), 'utf8').trim()
    const place = { KONTOR_DATABASE_URL: url, KONTOR_SECRET_KEY: key }
    assert.match((await kontor(['verify'], place)).output, /^balanced: /)
    await serves({ ...place, KONTOR_DATA: join(root, 'beside') }, credential)
    const running = await start({ ...place, KONTOR_DATA: join(root, 'beside') })
    const again = await kontor(['restore', copy], { KONTOR_DATABASE_URL: url })
    const operator = new OperatorClient(running.url, TOKEN)
    await operator.ok('POST', '/users', { login_name: 'unharmed' })
    assert.equal(await running.kill('SIGTERM'), 0, 'the platform that runs on it goes on')
    assert.deepEqual(
      [again.code, again.errors],
      [2, 'kontor: the database is not empty: a backup is restored into an empty one\n'],
    )
  })

  test('of PostgreSQL, and back into PostgreSQL; the key and the configuration with it, or left out', async () => {
    const url = await server.database()
    const key = 'c'.repeat(32) + '5'.repeat(32)
    // Whoever has started the platform here before has a folder `data`, with keys of its own.
    const KONTOR_DATA = join(root, 'nothing')
    const place = { KONTOR_DATABASE_URL: url, KONTOR_SECRET_KEY: key, KONTOR_DATA }
    const config = join(root, 'world.json')
    writeFileSync(config, (await kontor(['world'])).output)
    const platform = await start({ ...place, KONTOR_DATA: join(root, 'pg'), KONTOR_CONFIG: config })
    const { credential, stop } = await busy(platform)
    const copy = join(root, 'pg-copy')
    const made = await kontor(['backup', copy, '--config', config, '--without-key'], place)
    await stop()
    assert.equal(made.code, 0, made.output + made.errors)
    assert.match(made.output, /holds config\.json, kontor\.db as of batch/)
    assert.equal(await platform.kill('SIGTERM'), 0)

    const target = await server.database()
    const keyless = await kontor(['restore', copy], { KONTOR_DATABASE_URL: target, KONTOR_DATA })
    assert.equal(keyless.code, 2)
    assert.match(keyless.errors, /the backup holds no secret key: set KONTOR_SECRET_KEY/)
    const done = await kontor(['restore', copy], {
      KONTOR_DATABASE_URL: target,
      KONTOR_SECRET_KEY: key,
      KONTOR_DATA,
    })
    assert.equal(done.code, 0, done.output + done.errors)
    assert.match(done.output, /start it with its configuration: --config \S+config\.json\n$/)
    await serves(
      {
        KONTOR_DATABASE_URL: target,
        KONTOR_SECRET_KEY: key,
        KONTOR_DATA: join(root, 'pg2'),
        KONTOR_CONFIG: join(copy, 'config.json'),
      },
      credential,
    )
  })

  test('what is wrong is one line, and changes nothing', async () => {
    const data = join(root, 'small')
    await (await start({ KONTOR_DATA: data })).kill('SIGTERM')
    const copy = join(root, 'small-copy')
    assert.equal((await kontor(['backup', copy, '--data', data])).code, 0)
    const full = await kontor(['backup', copy, '--data', data])
    assert.deepEqual(
      [full.code, full.errors],
      [2, `kontor: ${copy} is not empty; name a folder that is not there yet\n`],
    )
    const over = await kontor(['restore', copy, '--data', data])
    assert.deepEqual(
      [over.code, over.errors],
      [2, `kontor: KONTOR_DATA ${data} holds a database; move it away, or name another folder\n`],
    )
    const none = await kontor(['restore', data, '--data', join(root, 'none')])
    assert.deepEqual([none.code, none.errors], [2, `kontor: ${data} is no backup: it holds no backup.json\n`])
    const path = databasePath(copy)
    const file = readFileSync(path)
    file[file.length - 100]! ^= 1
    writeFileSync(path, file)
    const damaged = await kontor(['restore', copy, '--data', join(root, 'none')])
    assert.equal(damaged.code, 2)
    assert.match(damaged.errors, /is damaged: kontor\.db is not the file that was written\n$/)
    assert.equal(existsSync(join(root, 'none')), false)
  })

  test('a database that is not in order gives no backup', async () => {
    const data = join(root, 'wrong')
    await (await start({ KONTOR_DATA: data })).kill('SIGTERM')
    const { default: Database } = await import('libsql')
    const db = new Database(databasePath(data))
    db.prepare(`update api_key set "name" = 'other'`).run()
    db.close()
    const copy = join(root, 'wrong-copy')
    const made = await kontor(['backup', copy, '--data', data])
    assert.equal(made.code, 1)
    assert.match(made.output, /^wrong: api_key: .*\nNOT in order: no backup was made; run kontor verify/m)
    assert.equal(existsSync(copy), false)
  })

  test('replay agrees after the configuration was changed, with markets added, changed and removed', async () => {
    const data = join(root, 'changed')
    const config = join(root, 'changed.json')
    const world = JSON.parse((await kontor(['world'])).output) as {
      markets: { base: string; quote: string; fee?: string; precision?: number; id?: string }[]
    }
    const run = async (): Promise<void> => {
      writeFileSync(config, JSON.stringify(world))
      const platform = await start({ KONTOR_DATA: data, KONTOR_CONFIG: config, KONTOR_AGENTS: 'on' })
      const operator = new OperatorClient(platform.url, TOKEN)
      await operator.ok('POST', '/clock', { advance_seconds: 120 })
      assert.equal(await platform.kill('SIGTERM'), 0)
      const replayed = await kontor(['replay', '--data', data])
      assert.equal(replayed.code, 0, replayed.output)
      assert.match(replayed.output, /^equal: /)
    }
    await run()
    world.markets = world.markets.filter(({ base }) => base !== 'DOGE')
    await run()
    Object.assign(world.markets[0]!, { fee: '0.3' })
    await run()
  })
})
