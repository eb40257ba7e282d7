import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HDKey } from '@scure/bip32'
import Database from 'libsql'
import pg from 'pg'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { hasOpen } from '../support/open-files.ts'
import { LIVE, TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'

const folders: string[] = []
const processes: PlatformProcess[] = []
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-wrong-')))
  return folders.at(-1)!
}
after(async () => {
  for (const platform of processes) await platform.kill()
  for (const path of folders) rmSync(path, { recursive: true, force: true })
  await (await postgres()).stop()
})
const account = (byte: number): HDKey => HDKey.fromMasterSeed(Buffer.alloc(32, byte)).derive("m/44'/60'/0'")
/** A configuration file with one EVM chain more. */
function world(node: Record<string, unknown>): string {
  const path = join(folder(), 'world.json')
  const eth = BUILT_IN_WORLD.chains.find(({ chain }) => chain === 'ETH')!
  const chain = {
    ...eth,
    chain: 'EVM',
    kind: 'evm',
    node: {
      rpc_url: 'http://127.0.0.1:1',
      chain_id: 31337,
      xpub: account(7).publicExtendedKey,
      key_env: 'HOT_KEY',
      poll_ms: 200,
      ...node,
    },
  }
  writeFileSync(path, JSON.stringify({ chains: [...BUILT_IN_WORLD.chains, chain] }))
  return path
}
const KEY = '42'.repeat(32)
/** A hang has no end; a start that is refused takes seconds on a machine with much to do. */
const QUICK_MS = 20_000
async function oneLine(env: Record<string, string>, words: RegExp): Promise<void> {
  const began = Date.now()
  const { code, output, errors } = await kontor(['start'], { KONTOR_PORT: '0', KONTOR_AGENTS: 'off', ...env })
  assert.equal(code, 2, `${output}${errors}`)
  assert.match(errors, /^kontor: [^\n]*\n$/)
  assert.match(errors, words)
  assert.ok(Date.now() - began < QUICK_MS, 'it did not hang')
}

describe('an EVM chain that can not be served: one line, exit 2, no hang', () => {
  test('and a platform that runs on the same folder is left alone', async () => {
    const data = folder()
    const running = await PlatformProcess.start({ KONTOR_DATA: data })
    processes.push(running)
    const cases: [Record<string, unknown>, Record<string, string>, RegExp][] = [
      [{}, {}, /KONTOR_CONFIG chains: EVM: the environment variable HOT_KEY is not set/],
      [{}, { HOT_KEY: 'hunter2' }, /chains: EVM: HOT_KEY must be 64 hex digits/],
      [{}, { HOT_KEY: '0'.repeat(64) }, /chains: EVM: HOT_KEY is no private key/],
      [{ xpub: 'xpub6nonsense' }, { HOT_KEY: KEY }, /chains: EVM: node.xpub is not a whole extended public/],
      [{ rpc_url: 'ftp://x' }, { HOT_KEY: KEY }, /chains: EVM.node.rpc_url must be an http/],
      [
        { sweeper_env: 'SEED' },
        { HOT_KEY: KEY, SEED: 'legal winner thank year wave sausage worth useful legal winner thank yellow' },
        /chains: EVM: the sweeper's secret does not belong to node.xpub/,
      ],
      [{ sweeper_env: 'SEED' }, { HOT_KEY: KEY, SEED: 'xprvnonsense' }, /not a whole extended private key/],
      [
        { key_env: undefined, keystore: '/not/there', password_env: 'PASSWORD' },
        { PASSWORD: 'x' },
        /chains: EVM: the keystore \/not\/there can't be read \(ENOENT\)/,
      ],
    ]
    for (const [node, env, words] of cases) {
      const config = { KONTOR_CONFIG: world(node), KONTOR_DATA: data, ...env }
      await oneLine({ ...config, KONTOR_TAKE_OVER: 'on' }, words)
    }
    for (const [node, env, words] of [cases[1]!, cases[5]!]) {
      const config = { KONTOR_CONFIG: world(node), KONTOR_DATA: data, ...env }
      const doctor = await kontor(['doctor', '--port', '0'], config)
      assert.match(doctor.output, new RegExp(`^WRONG chains: .*${words.source}`, 'm'))
    }
    await sleep(1_200)
    assert.equal(running.child.exitCode, null, 'nothing was taken over')
  })
  test('also where only the database knows the chain, until two admins confirm the changed file', async () => {
    const env = {
      ...LIVE,
      KONTOR_SIMULATED_CHAINS: 'hide',
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_DATA: folder(),
      KONTOR_LOG: 'error',
    }
    const first = await PlatformProcess.start({ ...env, KONTOR_CONFIG: world({}), HOT_KEY: KEY })
    await first.kill('SIGTERM')
    await oneLine(env, /chains: EVM: the environment variable HOT_KEY is not set/)
  })
})

describe('rights on the data folder: one line, exit 2', () => {
  const root = process.getuid?.() === 0
  const NOBODY = 65534
  /** Root may do everything: the platform is somebody else then. */
  async function startAs(data: string): Promise<{ code: number | null; errors: string }> {
    if (!root) return kontor(['start'], { KONTOR_DATA: data, KONTOR_PORT: '0' })
    const child = spawn(process.execPath, ['bin/kontor.js', 'start', '--data', data, '--port', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      uid: NOBODY,
      gid: NOBODY,
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, errors }
  }
  const mine = (path: string): void => {
    if (root) chownSync(path, NOBODY, NOBODY)
  }
  async function refusedWith(data: string, words: RegExp): Promise<void> {
    const { code, errors } = await startAs(data)
    assert.equal(code, 2, errors)
    assert.match(errors, /^kontor: KONTOR_DATA [^\n]*\n$/)
    assert.match(errors, words)
  }
  test('a folder that is not writable, or can not be made', async () => {
    const home = folder()
    mine(home)
    const data = join(home, 'data')
    mkdirSync(data, { mode: 0o500 })
    mine(data)
    await refusedWith(data, /data is not readable and writable for this user \(EACCES\)/)
    await refusedWith(join(data, 'deeper'), /data is not readable and writable for this user \(EACCES\)/)
    chmodSync(data, 0o700)
  })
  test('a folder, or files in it, of somebody else', { skip: !root }, async () => {
    const data = folder() // 0700, of root
    await refusedWith(data, /\(EACCES; it belongs to user 0, this is user 65534\)/)
    mine(data)
    for (const name of ['secret.key', 'credentials.json', 'kontor.db', 'kontor.lock']) {
      writeFileSync(join(data, name), 'x', { mode: 0o600 })
      await refusedWith(data, new RegExp(`${name} is not readable and writable .*it belongs to user 0`))
      rmSync(join(data, name))
    }
  })
  test('files that are not what they should be', async () => {
    const data = folder()
    writeFileSync(join(data, 'secret.key'), 'x', { mode: 0o600 })
    await oneLine({ KONTOR_DATA: data }, /secret.key does not hold a key \(32 bytes as 64 hex digits\)/)
    rmSync(join(data, 'secret.key'))
    writeFileSync(join(data, 'credentials.json'), '{ "url": ', { mode: 0o600 })
    await oneLine({ KONTOR_DATA: data }, /credentials.json can't be read: .*JSON/)
    await oneLine({ KONTOR_DATA: join(data, 'credentials.json') }, /credentials.json is not a folder/)
  })
})

describe('SIGTERM always works', () => {
  const holes: Server[] = []
  after(() => {
    for (const server of holes) server.close()
  })
  /** Takes connections, and never answers. */
  async function blackHole(asked: () => void = () => undefined): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      asked()
    })
    holes.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const launch = (env: Record<string, string>): PlatformProcess => {
    const platform = PlatformProcess.launch({
      KONTOR_PORT: '0',
      KONTOR_AGENTS: 'off',
      KONTOR_LOG: 'error',
      ...env,
    })
    processes.push(platform)
    return platform
  }
  async function endsWith0(platform: PlatformProcess, withinMs = 8_000): Promise<void> {
    const began = Date.now()
    assert.equal(await platform.kill('SIGTERM'), 0, platform.errors)
    assert.ok(Date.now() - began < withinMs, `${Date.now() - began} ms`)
  }

  test('while it migrates, and while it loads', async () => {
    const databaseUrl = await (await postgres()).database()
    const env = { KONTOR_DATA: folder(), KONTOR_DATABASE_URL: databaseUrl }
    const other = new pg.Client({ connectionString: databaseUrl })
    await other.connect()
    const waits = async (): Promise<boolean> =>
      (await other.query(`select 1 from pg_locks where not granted and database is not null`)).rowCount !== 0
    await other.query('select pg_advisory_lock(727274)') // another one that migrates, and takes its time
    const migrating = launch(env)
    await until(waits)
    await endsWith0(migrating)
    await other.query('select pg_advisory_unlock(727274)')
    const whole = launch(env)
    await whole.ready()
    await endsWith0(whole)
    await other.query('begin')
    await other.query('lock table account')
    const loading = launch(env)
    await until(waits)
    await endsWith0(loading)
    await other.query('rollback')
    await other.end()
    const again = launch(env)
    await again.ready()
    await endsWith0(again)
  })

  test('while a chain node is silent, at the start and later; and the start does not wait for it', async () => {
    let askedAt: number | undefined
    const rpc_url = await blackHole(() => (askedAt ??= Date.now()))
    const env = { KONTOR_CONFIG: world({ rpc_url }), HOT_KEY: KEY, KONTOR_DATA: folder() }
    const platform = launch(env)
    await platform.ready()
    // Counted from the question, which is given up after ten seconds: what else a start takes is the machine's affair.
    const waited = Date.now() - askedAt!
    assert.ok(waited < 9_000, `a silent node keeps nobody waiting: ${waited} ms`)
    await endsWith0(platform)
    askedAt = undefined
    const starting = launch(env)
    await until(() => askedAt !== undefined) // it waits for the first look now
    assert.doesNotMatch(starting.output, /ready/)
    await endsWith0(starting)
  })

  test('at any moment of a start on the embedded store; the next start finds everything in order', async () => {
    const data = folder()
    const env = { KONTOR_DATA: data, KONTOR_AGENTS: 'on' }
    for (let ms = 0; ms <= 2_000; ms += 400) {
      const platform = launch(env)
      await sleep(ms)
      const began = Date.now()
      const code = await platform.kill('SIGTERM')
      // Before the program runs it is the operating system that ends it.
      assert.ok(
        code === 0 || (code === null && platform.child.signalCode === 'SIGTERM'),
        `${ms}: ${String(code)} ${String(platform.child.signalCode)} ${platform.errors}`,
      )
      assert.ok(Date.now() - began < 10_000)
    }
    const whole = launch(env)
    await whole.ready()
    await endsWith0(whole)
    const verified = await kontor(['verify'], { KONTOR_DATA: data })
    assert.match(verified.output, /^balanced/)
  })

  test('while another program holds the file of the embedded store; and without it that is told', async () => {
    const data = folder()
    const first = launch({ KONTOR_DATA: data })
    await first.ready()
    await endsWith0(first)
    const other = new Database(join(data, 'kontor.db'))
    other.exec('begin immediate')
    const waiting = launch({ KONTOR_DATA: data })
    await until(() => hasOpen(join(data, 'kontor.db'), waiting.child.pid) !== false)
    assert.equal(waiting.child.exitCode, null)
    await endsWith0(waiting)
    const refused = await kontor(['start'], { KONTOR_DATA: data, KONTOR_PORT: '0' })
    assert.equal(refused.code, 2)
    assert.match(
      refused.errors,
      /^kontor: the database \S+ can't be opened: .*locked; another program holds it: stop that one first\n$/,
    )
    other.exec('rollback')
    other.close()
  })

  test('twice ends it at once', async () => {
    const platform = launch({ KONTOR_DATA: folder() })
    await platform.ready()
    const slow = fetch(`${platform.url}/healthz`)
    await slow
    platform.child.kill('SIGTERM')
    await platform.kill('SIGTERM')
    assert.ok(platform.child.exitCode === 0 || platform.child.signalCode === 'SIGTERM')
  })
})
