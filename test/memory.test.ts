import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Client, OperatorClient, ok } from './support/client.ts'
import { LIVE } from './support/platform.ts'
import { PlatformProcess, kontor } from './support/process.ts'

/** Many platforms at once, as a bot's own test suite starts them. */
describe('runs side by side', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-memory-'))
  const running: PlatformProcess[] = []
  after(async () => {
    await Promise.all(running.map((platform) => platform.kill()))
    rmSync(folder, { recursive: true, force: true })
  })
  const launch = async (args: string[], env: Record<string, string> = {}): Promise<PlatformProcess> => {
    const platform = PlatformProcess.launch({ KONTOR_LOG: 'error', KONTOR_AGENTS: 'off', ...env }, [
      'start',
      ...args,
    ])
    running.push(platform)
    await platform.ready()
    return platform
  }
  const DEMO = { KONTOR_DEMO_KEY: 'demokey0demokey0', KONTOR_DEMO_SECRET: 'demosecret0demosecret0' }
  const demo = { key: DEMO.KONTOR_DEMO_KEY, secret: DEMO.KONTOR_DEMO_SECRET }

  test('--memory: nothing is written, and everything works', async () => {
    const data = join(folder, 'none')
    const platform = await launch(['--memory', '--port', '0', '--data', data], DEMO)
    assert.match(platform.output, /^kontor \(sandbox, memory\)$/m)
    const client = new Client(platform.url, demo)
    ok(await client.post('/sub_accounts', { login_name: 'in_memory' }), 201)
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' }
    const { id } = ok(await client.post('/spot/orders', order), 201)
    ok(await client.delete(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' }))
    // History comes from the store.
    assert.equal(
      ok(await client.get('/spot/orders', { currency_pair: 'BTC_USDT', status: 'finished' }))[0].id,
      id,
    )
    const token = /operator token +(\S+)/.exec(platform.output)![1]!
    const operator = new OperatorClient(platform.url, token)
    assert.equal((await operator.ok('GET', '/ledger/proof')).balanced, true)
    await operator.ok('POST', '/clock', { advance_seconds: 7_200 })
    await operator.ok('POST', '/reset')
    assert.equal(ok(await client.get('/sub_accounts')).length, 2)
    assert.equal(await platform.kill('SIGTERM'), 0)
    assert.equal(platform.errors, '')
    assert.equal(existsSync(data), false)
    assert.deepEqual(readdirSync(folder), [])
  })
  test('keys that were chosen are the same in every run; the others follow from them', async () => {
    const seen: string[] = []
    for (const name of ['a.json', 'b.json']) {
      const file = join(folder, name)
      const platform = await launch(['--memory', '--port', '0', '--credentials', file], DEMO)
      const credentials = JSON.parse(readFileSync(file, 'utf8'))
      assert.equal(credentials.url, platform.url)
      assert.equal(statSync(file).mode & 0o777, 0o600)
      assert.equal(credentials.key, demo.key)
      seen.push(JSON.stringify(credentials.accounts))
      ok(await new Client(platform.url, credentials.accounts[1]).get('/spot/accounts'))
      // The drives find it by the same file.
      const run = await kontor(['fund', 'demo', '1', 'BTC', '--credentials', file])
      assert.equal(run.errors, '')
      const sign = await kontor([
        'call',
        'GET',
        '/api/v4/account/detail',
        '--credentials',
        file,
        '--pick',
        'user_id',
      ])
      assert.equal(sign.output, '10001\n')
    }
    assert.equal(seen[0], seen[1])
    assert.deepEqual(readdirSync(folder).sort(), ['a.json', 'b.json'])
  })
  test('a port that is in use tells what a second run needs', async () => {
    const first = await launch(['--memory', '--port', '0'])
    const { port } = new URL(first.url)
    const second = await kontor(['start', '--port', port, '--data', join(folder, 'second')])
    assert.equal(second.code, 2)
    assert.match(
      second.errors,
      /^kontor: KONTOR_PORT \d+ is in use .*--port 0 .*--data of its own too, or --memory\n$/,
    )
  })
  test('a later start with another demo key is refused in one line', async () => {
    const data = join(folder, 'kept')
    const platform = await launch(['--port', '0', '--data', data], DEMO)
    await platform.kill('SIGTERM')
    const again = await launch(['--port', '0', '--data', data], DEMO)
    await again.kill('SIGTERM')
    const other = await kontor(['start', '--port', '0', '--data', data], {
      ...DEMO,
      KONTOR_DEMO_KEY: 'another0another0',
    })
    assert.equal(other.code, 2)
    assert.match(other.errors, /^kontor: KONTOR_DEMO_KEY is not a key of this database[^\n]*\n$/)
  })
  test('wrong settings: one line, exit 2', async () => {
    const cases: [args: string[], env: Record<string, string>, message: RegExp][] = [
      [
        ['--memory'],
        { ...LIVE, KONTOR_OPERATOR_TOKEN: 'ce1b6a5f0d7340f3a1f4d5a86b2c97e80dfb42c6e1954f7a' },
        /KONTOR_MEMORY is for sandboxes/,
      ],
      [
        [],
        { ...LIVE, ...DEMO, KONTOR_OPERATOR_TOKEN: 'ce1b6a5f0d7340f3a1f4d5a86b2c97e80dfb42c6e1954f7a' },
        /KONTOR_DEMO_KEY can be set in sandbox mode only/,
      ],
      [
        [],
        {
          ...LIVE,
          KONTOR_CREDENTIALS: 'x',
          KONTOR_OPERATOR_TOKEN: 'ce1b6a5f0d7340f3a1f4d5a86b2c97e80dfb42c6e1954f7a',
        },
        /KONTOR_CREDENTIALS can be set in sandbox/,
      ],
      [['--memory'], { KONTOR_DATABASE_URL: 'postgres://x/y' }, /exclude each other/],
      [[], { KONTOR_DEMO_KEY: 'demokey0demokey0' }, /KONTOR_DEMO_SECRET must be/],
      [
        ['--memory', '--port', '0', '--credentials', join(folder, 'no', 'where.json')],
        {},
        /KONTOR_CREDENTIALS .* can't be written/,
      ],
    ]
    for (const [args, env, message] of cases) {
      const { code, errors } = await kontor(['start', ...args], env)
      assert.equal(code, 2, errors)
      assert.match(errors, message)
      assert.match(errors, /^kontor: [^\n]*\n$/)
    }
  })
  test('sign takes the time of the platform; where none answers, that of this machine with a note', async () => {
    const file = join(folder, 'clock.json')
    const platform = await launch(['--memory', '--port', '0', '--credentials', file], {
      KONTOR_TIMESTAMPS: 'strict',
    })
    await kontor(['clock', '+2d', '--credentials', file])
    const stamp = async (): Promise<{ time: number; errors: string; headers: Record<string, string> }> => {
      const { output, errors } = await kontor([
        'sign',
        'GET',
        '/api/v4/account/detail',
        '--credentials',
        file,
      ])
      const headers = Object.fromEntries(
        output
          .trim()
          .split('\n')
          .map((line) => line.split(': ') as [string, string]),
      )
      return { time: Number(headers['Timestamp']), errors, headers }
    }
    const moved = await stamp()
    assert.ok(moved.time > Date.now() / 1000 + 170_000)
    assert.equal(moved.errors, '')
    assert.equal(
      (await fetch(`${platform.url}/api/v4/account/detail`, { headers: moved.headers })).status,
      200,
    )
    await platform.kill()
    const alone = await stamp()
    assert.ok(Math.abs(alone.time - Date.now() / 1000) < 10)
    assert.match(alone.errors, /^kontor: no platform answers at http.*; signed with this machine's time\n$/)
  })
})
