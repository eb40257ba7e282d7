import assert from 'node:assert/strict'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { OperatorClient, refused } from '../support/client.ts'
import { LivePlatform } from '../support/live.ts'
import { TOKEN, TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { EvmNode, HOT_KEY, evmWorld } from '../evm/node.ts'

const get = async (url: string, headers: Record<string, string> = {}) => {
  const reply = await fetch(url, { headers })
  return { status: reply.status, text: await reply.text() }
}
const bearer = { Authorization: `Bearer ${TOKEN}` }
const metricsOf = async (url: string): Promise<string> => (await get(`${url}/metrics`)).text
const value = (text: string, name: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))!
      .split(' ')[1],
  )

describe('tokens that end', () => {
  let platform: TestPlatform
  before(async () => (platform = await TestPlatform.start(withoutContracts())))
  after(() => platform.stop())
  const pass = (days: number) => platform.operator.ok('POST', '/clock', { advance_seconds: days * 86_400 })
  const listed = async (name: string) =>
    (await platform.operator.ok('GET', '/operators')).find((one: { name: string }) => one.name === name)

  test('after their days: 401 that says so, counted before in the metrics; a new one lasts as long', async () => {
    const made = await platform.operator.ok('POST', '/operators', {
      name: 'eve',
      role: 'operator',
      token_days: 10,
    })
    const eve = new OperatorClient(platform.url, made.token as string)
    assert.equal(made.expires - made.created_at, 10 * 86_400)
    assert.equal((await listed('admin')).expires, 0)
    assert.equal(value(await metricsOf(platform.url), 'kontor_operator_tokens_expiring'), 0)
    await pass(4)
    assert.equal(value(await metricsOf(platform.url), 'kontor_operator_tokens_expiring'), 1)
    const drawn = await eve.ok('POST', '/operators/me/token', { name: 'eve' })
    assert.equal((await eve.call('GET', '/status')).status, 401, 'the old one is over at once')
    const again = new OperatorClient(platform.url, drawn.token as string)
    await pass(9)
    await again.ok('GET', '/status')
    await pass(2)
    refused(await again.call('GET', '/status'), 401, 'INVALID_CREDENTIALS', /"eve" expired at \d{4}-/)
    refused(await again.call('POST', '/operators/me/token', { name: 'eve' }), 401, 'INVALID_CREDENTIALS')
  })
  test('an admin makes another draw a new one, and never sees it', async () => {
    const bob = await platform.colleague('bob')
    const told = await platform.operator.ok('POST', '/operators/bob/expire_token', {})
    assert.equal(told.token, undefined)
    const { token } = await bob.ok('POST', '/operators/me/token', { name: 'bob' })
    await pass(2)
    await new OperatorClient(platform.url, token as string).ok('GET', '/status')
    await platform.colleague('carl')
    await platform.operator.ok('POST', '/operators/carl/expire_token', { hours: 0, token_days: 30 })
    assert.equal((await listed('carl')).token_days, 30)
    refused(await bob.call('POST', '/operators/bob/expire_token', {}), 401, 'INVALID_CREDENTIALS')
    refused(await platform.operator.call('POST', '/operators/nobody/expire_token', {}), 404, 'NOT_FOUND')
  })
  test('nobody locks a colleague out alone in live mode; the end outlives a restart', async () => {
    const live = await LivePlatform.start()
    try {
      const asked = await live.admin.call('POST', '/operators/second/expire_token', { hours: 1 })
      assert.equal(asked.status, 202, asked.text)
      await live.admin.ok('POST', '/operators/second/expire_token', { hours: 24 })
      await live.restart()
      assert.ok((await live.admin.ok('GET', '/operators'))[1].expires > 0)
    } finally {
      await live.stop()
    }
  })
})

describe('an address of their own for operators', () => {
  let platform: TestPlatform
  before(async () => (platform = await TestPlatform.start({ KONTOR_OPERATOR_LISTEN: '127.0.0.1:0' })))
  after(() => platform.stop())

  test('the public port knows neither operator API nor metrics, however the path is written', async () => {
    const { url, operatorUrl } = platform.platform
    assert.notEqual(url, operatorUrl)
    for (const path of [
      '/operator/v1/status',
      '//operator/v1/status',
      '/%6fperator/v1/status',
      '/OPERATOR/v1/status',
      '/api/v4/../../operator/v1/status',
      '/operator/v1/status/',
      '/metrics',
      '/metrics?x',
      '/%6detrics',
    ])
      assert.equal((await get(url + path, bearer)).status, 404, path)
    for (const path of ['/operator/v1/status', '/metrics', '/healthz', '/readyz'])
      assert.equal((await get(operatorUrl + path, bearer)).status, 200, path)
    for (const path of ['/healthz', '/readyz', '/docs', '/api/v4/spot/time'])
      assert.equal((await get(url + path)).status, 200, path)
    for (const path of ['/docs', '/api/v4/spot/time', '/api/v4/spot/currencies'])
      assert.equal((await get(operatorUrl + path)).status, 404, path)
    const reply = await kontor(['orders', '--data', platform.data])
    assert.equal(reply.code, 0, `the terminal finds it by credentials.json: ${reply.errors}`)
  })
  test('a wrong or taken address is one line', async () => {
    for (const wrong of ['9090', 'localhost', '127.0.0.1:99999', '[::1]', 'http://127.0.0.1:1'])
      assert.throws(
        () => readConfig({ KONTOR_OPERATOR_LISTEN: wrong }),
        /KONTOR_OPERATOR_LISTEN must be HOST:PORT, such as 127\.0\.0\.1:9090/,
      )
    assert.deepEqual(readConfig({ KONTOR_OPERATOR_LISTEN: '[::1]:9090' }).operatorListen, {
      host: '::1',
      port: 9090,
    })
    const taken = new URL(platform.platform.operatorUrl).host
    const data = mkdtempSync(join(tmpdir(), 'kontor-listen-'))
    const run = PlatformProcess.launch({ KONTOR_PORT: '0', KONTOR_DATA: data, KONTOR_OPERATOR_LISTEN: taken })
    assert.equal(await run.exit, 2)
    assert.match(run.errors, /^kontor: KONTOR_OPERATOR_LISTEN \d+ is in use on 127\.0\.0\.1/)
    rmSync(data, { recursive: true, force: true })
  })
})

describe('metrics', () => {
  test('counters end in _total, and what operators watch is there', async () => {
    const platform = await TestPlatform.start({ KONTOR_LOG: 'silent' })
    try {
      await platform.user()
      const text = await metricsOf(platform.url)
      for (const [, name] of text.matchAll(/^# TYPE (\S+) counter$/gm)) assert.match(name!, /_total$/)
      assert.ok(value(text, 'kontor_commit_seconds_count') > 0)
      assert.ok(value(text, 'kontor_commit_seconds_sum') > 0)
      assert.ok(value(text, 'kontor_database_bytes') > 100_000)
      assert.match(text, /^kontor_chain_height\{chain="BTC"\} \d+$/m)
      assert.match(text, /^kontor_chain_errors_total\{chain="BTC"\} 0$/m)
      const errors = value(text, 'kontor_log_errors_total')
      // A defect: undone, and logged as an error.
      await assert.rejects(platform.platform.desk.core.submit('transfer.create', null as never))
      assert.equal(value(await metricsOf(platform.url), 'kontor_log_errors_total'), errors + 1)
      await platform.operator.ok('POST', '/markets/halt', {})
      assert.ok(value(await metricsOf(platform.url), 'kontor_markets_halted') > 5)
      const { text: ready, status } = await get(`${platform.url}/readyz`)
      assert.deepEqual(
        [status, JSON.parse(ready)],
        [200, { status: 'ready', details: ['all markets are halted'] }],
      )
    } finally {
      await platform.stop()
    }
  })
})

describe('a silent chain node', () => {
  let node: EvmNode
  let way: Server
  let open = true
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kontor-silent-'))
    node = await EvmNode.start()
    // What stands between the platform and its node, and can be cut.
    way = createServer((request, response) => {
      if (!open) {
        request.socket.destroy()
        return
      }
      const { method, headers } = request
      const through = forward(node.url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      through.on('error', () => response.destroy())
      request.pipe(through)
    })
    await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    way.close()
    way.closeAllConnections()
    node.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('is one warning without its address, a metric and a detail; and one line when it is back', async () => {
    const world = evmWorld(node) as { chains: { node?: object }[] }
    const { port } = way.address() as AddressInfo
    const chains = world.chains.map((chain) =>
      chain.node === undefined
        ? chain
        : {
            ...chain,
            node: { ...chain.node, rpc_url: `http://127.0.0.1:${port}/v3/secret-api-key`, poll_ms: 100 },
          },
    )
    writeFileSync(join(folder, 'world.json'), JSON.stringify({ ...world, chains }))
    const platform = await PlatformProcess.start({
      KONTOR_DATA: join(folder, 'data'),
      KONTOR_CONFIG: join(folder, 'world.json'),
      KONTOR_OPERATOR_TOKEN: TOKEN,
      KONTOR_TEST_HOT_KEY: HOT_KEY,
      KONTOR_LOG: 'warn',
    })
    const until = async (what: string, is: () => Promise<boolean>): Promise<void> => {
      for (let i = 0; !(await is()); i++) {
        assert.ok(i < 200, `${what}: ${platform.errors}`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    const silent = async (): Promise<number> =>
      value(await metricsOf(platform.url), 'kontor_chain_silent{chain="EVM"}')
    try {
      await until('it is followed', async () =>
        /kontor_chain_height\{chain="EVM"\} \d/.test(await metricsOf(platform.url)),
      )
      open = false
      way.closeAllConnections()
      await until('it is silent', async () => (await silent()) === 1)
      const errors = async (): Promise<number> =>
        value(await metricsOf(platform.url), 'kontor_chain_errors_total{chain="EVM"}')
      await until('several rounds fail', async () => (await errors()) >= 5)
      const { status, text } = await get(`${platform.url}/readyz`)
      assert.equal(status, 200)
      const [detail] = (JSON.parse(text) as { details: string[] }).details
      assert.match(detail!, /^chain EVM: its node has not answered since \d{4}-\d\d-\d\dT/)
      open = true
      await until('it is back', async () => (await silent()) === 0)
      assert.equal((await get(`${platform.url}/readyz`)).text, '{"status":"ready"}')
      const lines = platform.errors.split('\n').filter((line) => line.includes('chain'))
      assert.equal(lines.length, 2, platform.errors)
      assert.match(lines[0]!, /a chain could not be followed/)
      assert.match(lines[1]!, /a chain answers again/)
      assert.doesNotMatch(platform.errors, /secret-api-key|"stack"/)
    } finally {
      open = true
      await platform.kill('SIGTERM')
    }
  })
})
