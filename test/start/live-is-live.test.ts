import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { OperatorClient } from '../support/client.ts'
import { LIVE, TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'

const folders: string[] = []
const processes: PlatformProcess[] = []
after(async () => {
  for (const platform of processes) await platform.kill()
  for (const path of folders) rmSync(path, { recursive: true, force: true })
  await (await postgres()).stop()
})
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-world-')))
  return folders.at(-1)!
}
const start = async (env: Record<string, string>): Promise<PlatformProcess> => {
  const platform = await PlatformProcess.start(env)
  processes.push(platform)
  return platform
}
/** Everything that can be seen of a folder: names, modes, times, bytes. */
const printOf = (data: string): string[] =>
  ['.', ...readdirSync(data)].sort().map((name) => {
    const { mode, mtimeMs, ino } = statSync(join(data, name))
    const bytes =
      name === '.'
        ? ''
        : createHash('sha256')
            .update(readFileSync(join(data, name)))
            .digest('hex')
    return [name, mode.toString(8), name === '.' ? '' : mtimeMs, ino, bytes].join(' ')
  })
const database = async (): Promise<string> => (await postgres()).database()
const live = { ...LIVE, KONTOR_OPERATOR_TOKEN: TOKEN }
/** A folder with the embedded store of a sandbox that does not run. */
async function embedded(): Promise<string> {
  const data = folder()
  const platform = await start({ KONTOR_DATA: data })
  await platform.kill('SIGTERM')
  return data
}
const credentialsOf = (data: string): { url: string; key: string; database?: string } =>
  JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))

describe('a run on PostgreSQL leaves an embedded store’s folder alone', () => {
  test('in live mode it makes, changes and closes nothing there, and doctor says so', async () => {
    const data = await embedded()
    chmodSync(data, 0o755)
    chmodSync(join(data, 'credentials.json'), 0o644)
    const before = printOf(data)
    const env = { ...live, KONTOR_DATA: data, KONTOR_DATABASE_URL: await database() }
    const doctor = await kontor(['doctor', '--port', '0'], env)
    assert.match(doctor.output, /^ok {4}data folder: not used \(live, on PostgreSQL\)$/m)
    assert.match(
      doctor.output,
      /^ok {4}credentials: a live platform writes no token and no key to any file$/m,
    )
    assert.doesNotMatch(doctor.output, /disk:/)
    const platform = await start(env)
    await new OperatorClient(platform.url, TOKEN).ok('POST', '/users', { login_name: 'somebody' })
    assert.equal(await platform.kill('SIGTERM'), 0)
    assert.deepEqual(printOf(data), before)
    const nowhere = join(folder(), 'none')
    const again = await start({ ...env, KONTOR_DATA: nowhere })
    await again.kill('SIGTERM')
    assert.ok(!existsSync(nowhere), 'nor is one made')
  })

  test('a sandbox on PostgreSQL wants a folder of its own: one line, exit 2, nothing touched', async () => {
    const data = await embedded()
    const before = printOf(data)
    const url = await database()
    const env = { KONTOR_DATA: data, KONTOR_DATABASE_URL: url, KONTOR_PORT: '0', KONTOR_AGENTS: 'off' }
    const refused = await kontor(['start'], env)
    assert.equal(refused.code, 2)
    assert.match(
      refused.errors,
      /^kontor: KONTOR_DATA \S+ holds an embedded store; a sandbox on PostgreSQL keeps its key and credentials in a folder of its own: name one with --data\n$/,
    )
    const doctor = await kontor(['doctor', '--port', '0'], env)
    assert.equal(doctor.code, 1)
    assert.match(doctor.output, /^WRONG data folder: \S+ holds an embedded store; a sandbox on PostgreSQL/m)
    assert.deepEqual(printOf(data), before)

    const own = folder()
    const sandbox = await start({ ...env, KONTOR_DATA: own })
    await sandbox.kill('SIGTERM')
    assert.deepEqual(readdirSync(own).sort(), ['credentials.json', 'secret.key'])
    assert.match(credentialsOf(own).database!, /^postgresql:\d+\/kontor_\w+\/public$/)
    // What only looks takes no key that is not this database's, and says which one it wants.
    const strange = await kontor(['verify'], env)
    assert.equal(strange.code, 2)
    assert.match(strange.errors, /the secret key is needed.*secret.key is that of an embedded store/)
    assert.match((await kontor(['verify'], { ...env, KONTOR_DATA: own })).output, /^balanced/)
  })

  test('credentials are for one world: another one neither takes nor overwrites them', async () => {
    const own = folder()
    const place = { KONTOR_DATA: own, KONTOR_PORT: '0', KONTOR_AGENTS: 'off' }
    const first = await database()
    const sandbox = await start({ ...place, KONTOR_DATABASE_URL: first })
    await sandbox.kill('SIGTERM')
    const before = printOf(own)
    const other = await kontor(['start'], { ...place, KONTOR_DATABASE_URL: await database() })
    assert.equal(other.code, 2)
    assert.match(other.errors, /^kontor: KONTOR_DATA \S+ holds the credentials of another world; .*--data\n$/)
    const inside = await kontor(['start'], place)
    assert.equal(inside.code, 2)
    assert.match(
      inside.errors,
      /^kontor: KONTOR_DATA \S+ holds the key and credentials of a sandbox on PostgreSQL; .*--data\n$/,
    )
    assert.deepEqual(printOf(own), before)
    const again = await start({ ...place, KONTOR_DATABASE_URL: first })
    await again.kill('SIGTERM')
    assert.equal(credentialsOf(own).url, again.url)
  })

  test('a database that was moved, or comes from an older version, knows its credentials', async () => {
    const own = folder()
    const url = await database()
    const place = { KONTOR_DATA: own, KONTOR_DATABASE_URL: url, KONTOR_PORT: '0', KONTOR_AGENTS: 'off' }
    const sandbox = await start(place)
    const { key } = credentialsOf(own)
    await sandbox.kill('SIGTERM')
    const moved = `${new URL(url).pathname.slice(1)}_moved`
    await (await postgres()).administer(`create database ${moved} template ${new URL(url).pathname.slice(1)}`)
    const copy = join(folder(), 'copy')
    cpSync(own, copy, { recursive: true })
    const there = await start({
      ...place,
      KONTOR_DATA: copy,
      KONTOR_DATABASE_URL: url.replace(/\/kontor_\w+/, `/${moved}`),
    })
    await there.kill('SIGTERM')
    assert.equal(credentialsOf(copy).key, key)
    assert.match(credentialsOf(copy).database!, /_moved\/public$/)
  })
})

describe('simulated chains in live mode', () => {
  test('those of a rehearsal are not served unawares, whatever the file says by now', async () => {
    const env = { ...live, KONTOR_DATA: folder(), KONTOR_PORT: '0' }
    const rehearsal = await start(env)
    await rehearsal.kill('SIGTERM')
    const hidden = await kontor(['start'], { ...env, KONTOR_SIMULATED_CHAINS: 'hide' })
    assert.equal(hidden.code, 2, hidden.output)
    assert.match(
      hidden.errors.split('\n').at(-2)!,
      /^kontor: KONTOR_SIMULATED_CHAINS is hide, and this database serves the simulated chains BTC, ETH, .* until two admins confirm the changed configuration: start with allow until then, or name another database$/,
    )
    const doctor = await kontor(['doctor'], { ...env, KONTOR_SIMULATED_CHAINS: 'hide' })
    assert.match(
      doctor.output,
      /^WRONG configuration: KONTOR_SIMULATED_CHAINS is hide, and this database serves/m,
    )
    const again = await start(env)
    // Two admins agree, and the next start is without them.
    const admin = new OperatorClient(again.url, TOKEN)
    const { token } = await admin.ok('POST', '/operators', { name: 'second', role: 'admin' })
    const second = new OperatorClient(again.url, token as string)
    const [proposal] = (await admin.ok('GET', '/proposals')) as [{ id: number }]
    await admin.ok('POST', `/proposals/${proposal.id}/confirm`)
    await second.ok('POST', `/proposals/${proposal.id}/confirm`)
    assert.equal(await again.kill('SIGTERM'), 0)
    const real = await start({ ...env, KONTOR_SIMULATED_CHAINS: 'hide' })
    assert.deepEqual(await new OperatorClient(real.url, TOKEN).ok('GET', '/chains'), [])
    assert.deepEqual((await new OperatorClient(real.url, TOKEN).ok('GET', '/status')).warnings, [])
  })
})
