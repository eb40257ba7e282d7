import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { OperatorClient, refused } from './support/client.ts'
import { LIVE, SECRET_KEY, TOKEN, TestPlatform } from './support/platform.ts'
import { PlatformProcess, kontor } from './support/process.ts'

const folders: string[] = []
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-live-')))
  return folders.at(-1)!
}
after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})
const modes = (data: string): Record<string, string> =>
  Object.fromEntries(
    ['.', ...readdirSync(data)].map((name) => [name, (statSync(join(data, name)).mode & 0o777).toString(8)]),
  )
const live = { ...LIVE, KONTOR_OPERATOR_TOKEN: TOKEN, KONTOR_PORT: '0', KONTOR_LOG: 'warn' }

describe('the data folder', () => {
  test('is for its owner alone, whatever the umask, and what was open is closed', async () => {
    const data = join(folder(), 'data')
    const first = await PlatformProcess.limited('umask 000', { KONTOR_DATA: data })
    // Database, journal and their side files, the owner's lock, credentials, secret key; and the folder.
    assert.deepEqual(Object.values(modes(data)).sort(), [...Array<string>(7).fill('600'), '700'])
    await first.kill('SIGKILL') // leaves the side files of the database
    for (const name of readdirSync(data)) chmodSync(join(data, name), 0o644)
    chmodSync(data, 0o755)
    writeFileSync(join(data, 'notes.txt'), 'not ours', { mode: 0o644 })
    const again = await PlatformProcess.start({ KONTOR_DATA: data })
    const { 'notes.txt': notes, '.': itself, ...ours } = modes(data)
    assert.deepEqual([itself, notes], ['700', '644'])
    assert.deepEqual([...new Set(Object.values(ours))], ['600'])
    await again.kill('SIGTERM')
  })
})

describe('live mode', () => {
  test('writes no token and no key to any file, and shows none', async () => {
    const data = folder()
    const platform = await PlatformProcess.start({ ...live, KONTOR_DATA: data })
    const operator = new OperatorClient(platform.url, TOKEN)
    assert.deepEqual((await operator.ok('GET', '/status')).warnings, [
      'simulated chains are served in live mode (KONTOR_SIMULATED_CHAINS=allow): BTC, ETH, TRX, SOL, XRP, DOGE, GT',
    ])
    assert.match(platform.errors, /simulated chains are served in live mode/)
    await platform.kill('SIGTERM')
    assert.ok(!existsSync(join(data, 'credentials.json')))
    assert.ok(!existsSync(join(data, 'secret.key')))
    for (const name of readdirSync(data)) {
      const bytes = readFileSync(join(data, name), 'latin1')
      assert.ok(!bytes.includes(TOKEN) && !bytes.includes(SECRET_KEY), name)
    }
    assert.ok(!`${platform.output}${platform.errors}`.includes(TOKEN))
  })
  test('takes its secrets from files, and never from the command line', async () => {
    const data = folder()
    const file = (name: string, text: string): string => {
      writeFileSync(join(data, name), text, { mode: 0o600 })
      return join(data, name)
    }
    const { KONTOR_SECRET_KEY: _, KONTOR_OPERATOR_TOKEN: __, ...rest } = live
    const platform = await PlatformProcess.start({
      ...rest,
      KONTOR_DATA: join(data, 'store'),
      KONTOR_SECRET_KEY_FILE: file('key', `${SECRET_KEY}\n`),
      KONTOR_OPERATOR_TOKEN_FILE: file('token', `${TOKEN}\n`),
      KONTOR_SIMULATED_CHAINS: 'hide',
    })
    const operator = new OperatorClient(platform.url, TOKEN)
    assert.deepEqual((await operator.ok('GET', '/status')).warnings, [])
    assert.deepEqual(await operator.ok('GET', '/chains'), [])
    await platform.kill('SIGTERM')
  })
  test('refuses in one line what would put real money at risk', async () => {
    const data = folder()
    for (const [env, message] of [
      [{ KONTOR_OPERATOR_TOKEN: 'admin-token' }, /KONTOR_OPERATOR_TOKEN has 11 characters/],
      [{ KONTOR_SECRET_KEY: '0'.repeat(64) }, /KONTOR_SECRET_KEY repeats itself/],
      [{ KONTOR_SIMULATED_CHAINS: '' }, /KONTOR_SIMULATED_CHAINS is not set, and BTC, ETH/],
      [{ KONTOR_RATE_LIMITS: 'off' }, /KONTOR_RATE_LIMITS can be switched off in sandbox mode only/],
      [{ KONTOR_RATE_LIMITS: '100000' }, /KONTOR_RATE_LIMITS must be from/],
    ] as const) {
      const { code, errors } = await kontor(['start'], { ...live, KONTOR_DATA: data, ...env })
      assert.equal(code, 2, errors)
      assert.match(errors, message)
      assert.match(errors, /^kontor: [^\n]*\n$/)
      assert.ok(!errors.includes(TOKEN))
    }
    assert.deepEqual(readdirSync(data), [])
    const doctor = await kontor(['doctor', '--data', data, '--port', '0'], live)
    assert.match(doctor.output, /^ok {4}warning: simulated chains are served in live mode/m)
  })
  test('and a sandbox never share a database, and who asks wrongly does not take it over', async () => {
    const sandbox = folder()
    const running = await PlatformProcess.start({ KONTOR_DATA: sandbox })
    const refusedStart = await kontor(['start'], { ...live, KONTOR_DATA: sandbox })
    assert.equal(refusedStart.code, 2)
    assert.match(
      refusedStart.errors,
      /^kontor: KONTOR_MODE live: this database was made in sandbox mode.*\n$/,
    )
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    assert.equal(running.child.exitCode, null, 'the sandbox was not fenced out')
    const doctor = await kontor(['doctor', '--data', sandbox, '--port', '0'], live)
    assert.match(doctor.output, /^WRONG mode: the database was made in sandbox mode/m)
    await running.kill('SIGTERM')

    const real = folder()
    const venue = await PlatformProcess.start({ ...live, KONTOR_DATA: real })
    const wrong = await kontor(['start'], { KONTOR_DATA: real, KONTOR_PORT: '0' })
    assert.equal(wrong.code, 2)
    assert.match(wrong.errors, /made in live mode/)
    const left = readdirSync(real).filter((name) => !/^kontor\.(db|journal|lock)/.test(name))
    assert.deepEqual(left, [], 'a sandbox that was refused leaves nothing behind')
    await venue.kill('SIGTERM')
  })
})

test('a deleted first operator stays deleted, and whoever gets the name later is somebody else', async () => {
  let platform = await TestPlatform.start()
  const { token } = await platform.operator.ok('POST', '/operators', { name: 'second', role: 'admin' })
  await new OperatorClient(platform.url, token as string).ok('DELETE', '/operators/admin')
  platform = await platform.restart()
  const second = new OperatorClient(platform.url, token as string)
  refused(await platform.operator.call('GET', '/status'), 401, 'INVALID_CREDENTIALS')
  assert.deepEqual(
    (await second.ok('GET', '/operators')).map(({ name }: { name: string }) => name),
    ['second'],
  )
  const { token: viewer } = await second.ok('POST', '/operators', { name: 'admin', role: 'viewer' })
  platform = await platform.restart()
  refused(await platform.operator.call('GET', '/status'), 401, 'INVALID_CREDENTIALS')
  const namesake = new OperatorClient(platform.url, viewer as string)
  refused(await namesake.call('POST', '/users', { login_name: 'x' }), 403, 'FORBIDDEN', /viewer/)
  await platform.stop()
})
