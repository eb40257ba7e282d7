import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Client, OperatorClient, ok } from '../support/client.ts'
import { TOKEN } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'

const DEMO = { key: 'a'.repeat(32), secret: 'b'.repeat(64) }
const SHARED = {
  KONTOR_OPERATOR_TOKEN: TOKEN,
  KONTOR_SECRET_KEY: '5'.repeat(64),
  KONTOR_DEMO_KEY: DEMO.key,
  KONTOR_DEMO_SECRET: DEMO.secret,
  KONTOR_PORT: '0',
  KONTOR_AGENTS: 'off',
  KONTOR_GATEWAYS: '0',
  KONTOR_RATE_LIMITS: 'off',
  KONTOR_LOG: 'info',
  KONTOR_LEASE_MS: '1000',
}

/** Nodes on one database, each with a folder of its own. */
class Nodes {
  readonly url: string
  readonly folders: string[] = []
  readonly all: PlatformProcess[] = []
  constructor(url: string) {
    this.url = url
  }
  env(node: string): Record<string, string> {
    const data = mkdtempSync(join(tmpdir(), 'kontor-node-'))
    this.folders.push(data)
    return { ...SHARED, KONTOR_DATABASE_URL: this.url, KONTOR_DATA: data, KONTOR_NODE: node }
  }
  launch(node: string, command = 'standby'): PlatformProcess {
    const platform = PlatformProcess.launch(this.env(node), [command])
    this.all.push(platform)
    return platform
  }
  async end(): Promise<void> {
    for (const platform of this.all) {
      platform.child.kill('SIGCONT')
      await platform.kill()
    }
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true })
  }
}
const follows = async (node: PlatformProcess): Promise<void> => {
  while (!node.errors.includes('standing by: memory follows')) {
    if (node.child.exitCode !== null) assert.fail(node.errors)
    await sleep(10)
  }
}
const clientOf = ({ url }: PlatformProcess): Client => new Client(url, DEMO)
/** To a sub-account, once for each name. */
const transfer = async (client: Client, client_order_id: string): Promise<void> => {
  const [{ user_id }] = ok(await client.request('GET', '/sub_accounts'))
  const body = {
    sub_account: String(user_id),
    currency: 'USDT',
    amount: '1',
    direction: 'to',
    client_order_id,
  }
  ok(await client.request('POST', '/wallet/sub_account_transfers', { body }))
}
/** Of the million that the account begins with. */
const moved = async (client: Client): Promise<number> => {
  const [row] = ok(await client.request('GET', '/spot/accounts', { query: { currency: 'USDT' } }))
  return 1_000_000 - Number(row.available)
}

describe('a standby', () => {
  const made: Nodes[] = []
  after(async () => {
    for (const nodes of made) await nodes.end()
    await (await postgres()).stop()
  })
  const nodes = async (): Promise<Nodes> => {
    const all = new Nodes(await (await postgres()).database())
    made.push(all)
    return all
  }
  /** One that is active, and one that follows it. */
  const pair = async (): Promise<{ all: Nodes; first: PlatformProcess; second: PlatformProcess }> => {
    const all = await nodes()
    const first = all.launch('one')
    await first.ready()
    const second = all.launch('two')
    await follows(second)
    return { all, first, second }
  }

  test('alone it is the active core; a second one follows it, and is there within seconds of its death', async () => {
    const { all, first, second } = await pair()
    const client = clientOf(first)
    for (let i = 0; i < 50; i++) await transfer(client, `before-${i}`)
    await first.kill('SIGKILL')
    const died = performance.now()
    await second.ready()
    const took = performance.now() - died
    assert.ok(took < 10_000, `${took} ms`)
    assert.match(second.errors, /"warm":true/)
    const next = clientOf(second)
    assert.equal(await moved(next), 50)
    // Whoever was not answered may ask again: nothing is done twice.
    await assert.rejects(transfer(next, 'before-49'), /before-49/)
    assert.equal(await moved(next), 50)
    await transfer(next, 'after')
    assert.equal(await moved(next), 51)
    const operator = new OperatorClient(second.url, TOKEN)
    assert.equal((await operator.ok('GET', '/ledger/proof')).balanced, true)
    // And on: the one that died comes back and stands by.
    const third = all.launch('three')
    await follows(third)
    await transfer(next, 'third')
    await second.kill('SIGKILL')
    await third.ready()
    assert.equal(await moved(clientOf(third)), 52)
    await third.kill('SIGTERM')
    const verified = await kontor(['verify'], all.env('verify'))
    assert.equal(verified.code, 0, verified.errors + verified.output)
  })

  test('a core that slept past its lease tells nothing any more, and ends with 3', async () => {
    const { first, second } = await pair()
    const client = clientOf(first)
    await transfer(client, 'before')
    assert.equal(await moved(client), 1)
    first.child.kill('SIGSTOP')
    // Asked while it sleeps: it reads this the moment it wakes up.
    const asked = Array.from({ length: 20 }, () =>
      moved(client).then(
        (amount) => amount,
        () => 'nothing' as const,
      ),
    )
    await second.ready()
    await transfer(clientOf(second), 'after')
    first.child.kill('SIGCONT')
    for (const told of await Promise.all(asked)) assert.notEqual(told, 1, 'it told what is no longer so')
    assert.equal(await first.exit, 3, first.errors)
    assert.equal(await moved(clientOf(second)), 2)
  })

  test('a core is handed over by command, and the one that had it ends with 0', async () => {
    const all = await nodes()
    const first = all.launch('one')
    await first.ready()
    const env = all.env('promoter')
    const nobody = await kontor(['promote'], env)
    assert.equal(nobody.code, 2)
    assert.match(nobody.errors, /no standby follows this database: start one with kontor standby/)
    const second = all.launch('two')
    await follows(second)
    for (let i = 0; i < 20; i++) await transfer(clientOf(first), `t-${i}`)
    const stranger = await kontor(['promote', 'three'], env)
    assert.match(stranger.errors, /no standby three follows this database; there are two/)
    const promoted = await kontor(['promote', 'two'], env)
    assert.equal(promoted.code, 0, promoted.errors)
    assert.match(promoted.output, /^two is the active core, after \d+ ms\n$/)
    await second.ready()
    assert.equal(await first.exit, 0, first.errors)
    assert.equal(await moved(clientOf(second)), 20)
    assert.match(second.errors, /"warm":true/)
    const again = await kontor(['promote', 'two'], env)
    assert.match(again.errors, /two is the active core already/)
  })

  test('a clean stop hands over at once; a reset of the sandbox is followed', async () => {
    const { first, second } = await pair()
    await transfer(clientOf(first), 'before')
    await new OperatorClient(first.url, TOKEN).ok('POST', '/reset')
    await transfer(clientOf(first), 'again')
    await transfer(clientOf(first), 'once-more')
    await sleep(1_500)
    assert.equal(await first.kill('SIGTERM'), 0)
    await second.ready()
    assert.equal(await moved(clientOf(second)), 2)
    assert.match(second.errors, /"warm":true/)
  })

  test('what it can not follow it waits for cold, and loads when its turn comes', async () => {
    const all = await nodes()
    const first = all.launch('one')
    await first.ready()
    await transfer(clientOf(first), 'before')
    const database = new pg.Client({ connectionString: all.url })
    await database.connect()
    await database.query(`update journal_owner set written = '{"schema":"of another version","shapes":[]}'`)
    await database.end()
    const second = all.launch('two')
    await until(() => second.errors.includes('written by another version'))
    assert.equal(await first.kill('SIGTERM'), 0)
    await second.ready()
    assert.match(second.errors, /"warm":false/)
    assert.equal(await moved(clientOf(second)), 1)
  })

  test('a configuration that is not the active one is told before its turn comes', async () => {
    const all = await nodes()
    const first = all.launch('one')
    await first.ready()
    const env = all.env('two')
    const file = join(env['KONTOR_DATA']!, '..', `${basename(env['KONTOR_DATA']!)}.json`)
    all.folders.push(file)
    const world = JSON.parse((await kontor(['world'], {})).output) as { currencies: { name: string }[] }
    world.currencies[0]!.name = 'Another'
    writeFileSync(file, JSON.stringify(world))
    const second = PlatformProcess.launch({ ...env, KONTOR_CONFIG: file }, ['standby'])
    all.all.push(second)
    await until(() => second.errors.includes('is not the one that the platform runs with'))
    assert.match(second.errors, /"changes":\["currencies\.BTC\.name: \\"Bitcoin\\" → \\"Another\\""\]/)
  })

  test('it needs PostgreSQL, and says so', async () => {
    for (const command of ['standby', 'core']) {
      const run = await kontor([command], { KONTOR_DATA: '/nowhere' })
      assert.equal(run.code, 2)
      assert.match(
        run.errors,
        new RegExp(`KONTOR_DATABASE_URL is not set: kontor ${command} needs PostgreSQL`),
      )
    }
  })
})
