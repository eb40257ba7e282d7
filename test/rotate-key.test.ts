import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import Database from 'libsql'
import { databasePath } from '../src/store/open.ts'
import { randomHex } from '../src/runtime/secrets.ts'
import { Client, OperatorClient, ok, type Credential } from './support/client.ts'
import { SECRET_KEY, TOKEN } from './support/platform.ts'
import { PlatformProcess, kontor } from './support/process.ts'

describe('kontor rotate-key', () => {
  let data: string
  let credential: Credential
  const key = (name = 'secret.key'): string => join(data, name)
  const env = (): Record<string, string> => ({ KONTOR_DATA: data, KONTOR_OPERATOR_TOKEN: TOKEN })
  before(async () => {
    data = mkdtempSync(join(tmpdir(), 'kontor-rotate-'))
    const platform = await PlatformProcess.start(env())
    const operator = new OperatorClient(platform.url, TOKEN)
    const { user_id } = await operator.ok('POST', '/users', { login_name: 'holder' })
    credential = await operator.ok('POST', `/users/${user_id}/keys`, {
      name: 'k',
      mode: 1,
      perms: [{ name: 'wallet', read_only: false }],
      ip_whitelist: [],
    })
    await platform.kill('SIGTERM')
  })
  after(() => rmSync(data, { recursive: true, force: true }))
  /** Starts it, and signs with a secret that was stored before. */
  async function works(more: Record<string, string> = {}): Promise<PlatformProcess> {
    const platform = await PlatformProcess.start({ ...env(), KONTOR_LOG: 'warn', ...more })
    ok(await new Client(platform.url, credential).get('/wallet/total_balance'))
    await platform.kill('SIGTERM')
    return platform
  }

  test('another key, the same secrets, sums that add up; the old key opens nothing', async () => {
    const before = readFileSync(key(), 'utf8')
    const done = await kontor(['rotate-key', '--data', data])
    assert.deepEqual([done.code, done.errors], [0, ''])
    assert.match(
      done.output,
      /^\d API secrets are sealed with the new key\nsecret\.key in the data folder is the new key\n$/,
    )
    assert.notEqual(readFileSync(key(), 'utf8'), before)
    await works()
    assert.match((await kontor(['verify', '--data', data])).output, /^balanced/m)
    const replayed = await kontor(['replay', '--data', data])
    assert.equal(replayed.code, 0, replayed.output + replayed.errors)
    const old = await kontor(['verify', '--data', data], { KONTOR_SECRET_KEY: before.trim() })
    assert.match(old.output, /head: it was not written with this secret key/)
  })
  test('it dies before the database has changed: the old key goes on to work', async () => {
    writeFileSync(key('secret.key.new'), `${randomHex(32)}\n`)
    const { errors } = await works()
    assert.doesNotMatch(errors, /change of the secret key/)
    assert.equal((await kontor(['rotate-key', '--data', data])).code, 0, 'and it can be done again')
    await works()
  })
  test('it dies after the database has changed: verify knows, and the next start finishes it', async () => {
    copyFileSync(key(), key('kept'))
    assert.equal((await kontor(['rotate-key', '--data', data])).code, 0)
    const fresh = readFileSync(key(), 'utf8')
    const undo = (): void => {
      renameSync(key(), key('secret.key.new'))
      copyFileSync(key('kept'), key())
    }
    undo()
    assert.match((await kontor(['verify', '--data', data])).output, /^balanced/m)
    const { errors } = await works()
    assert.match(errors, /an interrupted change of the secret key was finished/)
    assert.equal(readFileSync(key(), 'utf8'), fresh)
    undo()
    assert.match(
      (await kontor(['rotate-key', '--data', data])).output,
      /an interrupted rotation was finished/,
    )
    await works()
  })
  test('rows that the platform did not write are not vouched for by it', async () => {
    const db = new Database(databasePath(data))
    db.prepare(`update api_key set "name" = 'changed' where "key" = ?`).run(credential.key)
    db.close()
    const before = readFileSync(key(), 'utf8')
    const refused = await kontor(['rotate-key', '--data', data])
    assert.equal(refused.code, 2)
    assert.match(
      refused.errors,
      /^kontor: api_key: its rows are not those that the platform wrote.*nothing was changed/,
    )
    assert.equal(readFileSync(key(), 'utf8'), before)
    assert.equal((await kontor(['reseal', '--data', data])).code, 0)
  })
  test('a key from the environment: the new one from a file, and running it twice does no harm', async () => {
    const file = join(data, 'new.hex')
    const given = { KONTOR_SECRET_KEY: readFileSync(key(), 'utf8').trim() }
    const run = (...args: string[]) => kontor(['rotate-key', '--data', data, ...args], given)
    assert.match((await run()).errors, /--new-secret-key-file FILE/)
    writeFileSync(file, '1234')
    assert.match((await run('--new-secret-key-file', file)).errors, /must hold 32 bytes as 64 hex digits/)
    writeFileSync(file, 'ab'.repeat(32))
    assert.match((await run('--new-secret-key-file', file)).errors, /the new key repeats itself/)
    writeFileSync(file, SECRET_KEY)
    const done = await run('--new-secret-key-file', file)
    assert.deepEqual([done.code, done.errors], [0, ''])
    assert.match(done.output, /start the platform with the new key/)
    assert.match((await run('--new-secret-key-file', file)).output, /belongs to the new key already/)
    await works({ KONTOR_SECRET_KEY: SECRET_KEY })
  })
})
