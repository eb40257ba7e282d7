import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SETTINGS } from '../src/config.ts'
import { PlatformProcess, kontor } from './support/process.ts'

describe('the command kontor', () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-cli-'))
  let platform: PlatformProcess
  before(async () => {
    platform = await PlatformProcess.start({ KONTOR_DATA: data })
  })
  after(async () => {
    await platform.kill()
    rmSync(data, { recursive: true, force: true })
  })
  const credentials = (): { key: string; secret: string } =>
    JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))

  test('--help works in general and for each command', async () => {
    const overview = await kontor(['--help'])
    assert.equal(overview.code, 0)
    for (const command of ['start', 'verify', 'replay', 'sign', 'doctor', 'world']) {
      assert.match(overview.output, new RegExp(`^  ${command} `, 'm'))
      const { code, output } = await kontor([command, '--help'])
      assert.equal(code, 0)
      assert.match(output, new RegExp(`^usage: kontor ${command}`))
    }
    const { output } = await kontor(['start', '--help'])
    assert.equal((await kontor(['help', 'start'])).output, output)
    for (const [setting] of SETTINGS) assert.match(output, new RegExp(setting))
  })

  test('a wrong command, option, word or setting: one line, exit 2', async () => {
    const file = join(data, 'world.json')
    writeFileSync(file, '{ "currencies": ')
    const cases: [args: string[], message: RegExp][] = [
      [['stort'], /no command "stort"; did you mean start\? kontor --help lists them/],
      [['help', 'me'], /no command "me"; kontor --help lists them/],
      [['--port', '1'], /a command is needed before "--port"/],
      [['start', '--prot', '1'], /Unknown option '--prot'; did you mean --port\? --help shows/],
      [['start', '--bogus'], /Unknown option '--bogus'; --help shows/],
      [['fund', 'demo', '-1', 'BTC'], /Unknown option '-1'; no number here may be negative/],
      [['start', 'now'], /"now" is one word too many/],
      [['start', '--port', '99999'], /KONTOR_PORT must be a whole number/],
      [['start', '--mode', 'prod'], /KONTOR_MODE must be one of sandbox, live/],
      [['start', '--mode', 'live'], /KONTOR_SECRET_KEY is required in live mode/],
      [['start', '--database-url', 'mysql://x'], /KONTOR_DATABASE_URL must begin with/],
      [['start', '--config', file], /KONTOR_CONFIG .* is not JSON/],
      [
        ['start', '--config', join(data, 'none')],
        /KONTOR_CONFIG names the file .*none, which does not exist/,
      ],
      [['start', '--port', '0', '--data', join(file, 'x')], /KONTOR_DATA .* can't be made/],
      // A start waits for it, and has an exit code of its own (test/start/database-away.test.ts).
      [
        ['verify', '--data', data, '--database-url', 'postgres://u@127.0.0.1:1/x'],
        /^kontor: KONTOR_DATABASE_URL: the database can't be opened: /,
      ],
      // Everybody on the machine can read a command line.
      [
        ['start', '--port', '0', '--data', data, '--database-url', 'postgres://u:hunter2@127.0.0.1:1/x'],
        /--database-url would show a secret .*KONTOR_DATABASE_URL_FILE/,
      ],
      [['start', '--operator-token', 'hunter2hunter2'], /--operator-token would show a secret/],
      [['doctor', '--secret-key', 'hunter2'], /--secret-key would show a secret .*KONTOR_SECRET_KEY_FILE/],
      [['sign', 'GET', '/x', '--key', 'k', '--secret', 'hunter2'], /--secret would show the secret/],
      [['verify', '--data', join(data, 'none')], /has it ever been started/],
      [['sign', 'GET'], /something is missing/],
      [['sign', 'GET', '/x', '--key', 'k'], /--key needs its secret: .*--secret-file/],
    ]
    for (const [args, message] of cases) {
      const { code, output, errors } = await kontor(args)
      assert.equal(code, 2, `${args.join(' ')}: ${errors}`)
      assert.match(errors, message)
      assert.match(errors, /^kontor: [^\n]*\n$/, args.join(' '))
      assert.doesNotMatch(errors, /hunter2/)
      assert.equal(output, '')
    }
  })

  test('a data folder that there can never be: one line, exit 2', () => {
    const bin = join(import.meta.dirname, '..', '..', 'bin', 'kontor.js')
    const file = join(data, 'in-the-way')
    writeFileSync(file, '')
    const cases: [folder: string, why: RegExp][] = [
      [join(file, 'x'), /can't be made: .*in-the-way is not a folder/],
      [join(data, 'x'.repeat(300)), /can't be used: .*name/],
      [
        join(data, `${'x'.repeat(90)}/`.repeat(50)),
        /can't be used: its whole name has \d+ bytes; at most 480/,
      ],
    ]
    // Node itself would try for ever to make a folder in /proc.
    if (process.platform === 'linux')
      cases.push(
        ['/proc/x', /can't be made: /],
        ['/proc/x/y', /can't be made: /],
        ['/dev/null/x', /can't be made: /],
        // Found out before it is closed to others: the system's own folders are not ours to close.
        ['/proc/self', /can't be used: /],
      )
    for (const [folder, why] of cases) {
      const env = { PATH: process.env['PATH'], KONTOR_DATA: folder, KONTOR_PORT: '0' }
      const { status, stderr } = spawnSync(process.execPath, [bin, 'start'], {
        env,
        encoding: 'utf8',
        timeout: 20_000,
        killSignal: 'SIGKILL',
      })
      assert.equal(status, 2, `${folder}: ${stderr}`)
      assert.match(stderr, why)
      assert.match(stderr, /^kontor: KONTOR_DATA [^\n]*\n$/)
    }
  })

  test('verify and replay leave a running platform alone', async () => {
    for (const command of ['verify', 'replay', 'doctor']) {
      const port = new URL(platform.url).port
      const args = command === 'doctor' ? ['--port', port] : []
      const { code, output } = await kontor([command, '--data', data, ...args])
      assert.equal(code, 0, output)
    }
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    assert.equal((await fetch(`${platform.url}/readyz`)).status, 200)
    assert.equal(platform.child.exitCode, null)
  })

  test('sign makes headers that the platform accepts', async () => {
    const path = '/api/v4/sub_accounts'
    const body = '{"login_name":"signed_by_hand"}'
    const send = async (method: string, output: string, text?: string): Promise<number> => {
      const headers = Object.fromEntries(
        output
          .trim()
          .split('\n')
          .map((line) => line.split(': ') as [string, string]),
      )
      const init = { method, headers: { ...headers, 'Content-Type': 'application/json' } }
      return (await fetch(platform.url + path, text === undefined ? init : { ...init, body: text })).status
    }
    const get = await kontor(['sign', 'GET', path, '--data', data])
    assert.equal(await send('GET', get.output), 200)
    const { key, secret } = credentials()
    const file = join(data, 'sign.secret')
    writeFileSync(file, `${secret}\n`)
    const post = await kontor(['sign', 'POST', path, '--key', key, '--secret-file', file, '--body', body])
    const env = { KONTOR_SIGN_SECRET: secret }
    assert.equal(await send('GET', (await kontor(['sign', 'GET', path, '--key', key], env)).output), 200)
    assert.equal(await send('POST', post.output, body), 201)
    const old = await kontor(['sign', 'GET', path, '--data', data, '--timestamp', '1000'])
    assert.match(old.output, /^Timestamp: 1000$/m)
    assert.equal(await send('GET', old.output), 401)
    const curl = await kontor([
      'sign',
      'POST',
      `${path}?a=1&b=what?`,
      '--data',
      data,
      '--body',
      `{"a":"it's"}`,
      '--curl',
    ])
    assert.match(curl.output, /^curl -sS -X POST 'http.*\?a=1&b=what\?' \\\n[^]*-d '{"a":"it'\\''s"}'\n$/)
  })

  test('doctor says what is wrong', async () => {
    const sick = mkdtempSync(join(tmpdir(), 'kontor-sick-'))
    const other = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    other.unref()
    const { port } = other.address() as AddressInfo
    writeFileSync(join(sick, 'kontor.db'), 'no database at all '.repeat(100))
    writeFileSync(join(sick, 'secret.key'), 'x')
    chmodSync(join(sick, 'secret.key'), 0o644)
    const { code, output } = await kontor(['doctor', '--data', sick, '--port', String(port)])
    assert.equal(code, 1)
    assert.match(output, /^WRONG port: .* in use by another program/m)
    assert.match(output, /^WRONG data folder: .*secret.key can be read by others/m)
    assert.match(output, /^WRONG database: .*not a database/m)
    other.close()
    const key = await kontor(['doctor', '--data', data, '--port', '0'], {
      KONTOR_SECRET_KEY: 'ab'.repeat(32),
    })
    assert.equal(key.code, 1)
    assert.match(key.output, /^WRONG secret key: does not open 3 of 3 API secrets/m)
    const settings = await kontor(['doctor', '--port', 'x'])
    assert.match(settings.output, /^WRONG settings: KONTOR_PORT/m)
    rmSync(sick, { recursive: true, force: true })
  })
  test('doctor tells a sandbox whose clock was moved from the time outside', async () => {
    const { output } = await kontor(['doctor', '--data', data, '--port', '0'])
    assert.match(output, /^ok {4}clock: \S+Z$/m)
    assert.equal((await kontor(['clock', '+2d', '--data', data])).code, 0)
    const moved = await kontor(['doctor', '--data', data, '--port', '0'])
    const [, outside, own] = /^ok {4}clock: (\S+Z); the sandbox's was moved to (\S+Z)$/m.exec(moved.output)!
    assert.ok(Math.abs(Date.parse(own!) - Date.parse(outside!) - 172_800_000) < 60_000)
  })
})
