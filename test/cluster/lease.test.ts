import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Lease, LeaseWatch } from '../../src/runtime/lease.ts'
import { createLog } from '../../src/runtime/log.ts'
import { LeaseTable } from '../../src/store/lease.ts'
import { Fenced } from '../../src/store/store.ts'
import type { Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { PostgresPair } from '../support/postgres-pair.ts'
import { postgres } from '../support/postgres.ts'

const log = createLog('error', () => undefined)
const quiet = { log, fatal: (): void => undefined }
/** A clock that is moved by hand. */
class HandClock {
  ms = 0
  readonly read = (): number => this.ms
}

after(async () => (await postgres()).stop())

describe('the lease of a core', () => {
  test('two who saw the same can not both take it', async () => {
    const url = await (await postgres()).database()
    const nodes = ['a', 'b', 'c', 'd'].map(
      (node) => new Lease({ ...quiet, url, me: { node, address: '', ms: 60_000 } }),
    )
    const table = new LeaseTable(url, 5_000)
    // Made by all of them at once.
    await Promise.all([table.prepare(), ...nodes.map(() => new LeaseTable(url, 5_000).prepare())])
    const seen = await table.read()
    const taken = await Promise.all(nodes.map((node) => node.take(seen)))
    assert.equal(taken.filter((each) => each).length, 1)
    const holder = nodes[taken.indexOf(true)]!
    assert.equal((await table.read()).node, holder.me.node)
    assert.ok(holder.holds)
    assert.ok(nodes.every((node) => node === holder || !node.holds))
    for (const node of nodes) await node.giveBack()
    assert.equal((await table.read()).node, '')
    await table.close()
  })

  test('a start waits for a database that is slower than a lease is long', async () => {
    const url = await (await postgres()).database()
    const table = new LeaseTable(url, 5_000)
    await table.prepare()
    const holding = new pg.Client({ connectionString: url })
    await holding.connect()
    await holding.query('begin')
    await holding.query('lock table core_lease in access exclusive mode')
    const lease = new Lease({ ...quiet, url, me: { node: 'a', address: '', ms: 400 } })
    const claimed = lease.claim()
    await sleep(700)
    await holding.end()
    await claimed
    assert.equal((await table.read()).node, 'a')
    await lease.giveBack()
    await table.close()
  })

  test('it ends by its own clock, counted from before it was asked for, and a wall clock that jumps ends it too', async () => {
    const url = await (await postgres()).database()
    const [steady, wall] = [new HandClock(), new HandClock()]
    const me = { node: 'a', address: '', ms: 1_000_000 }
    const lease = new Lease({ ...quiet, url, me, steady: steady.read, wall: wall.read })
    const table = new LeaseTable(url, 5_000)
    await table.prepare()
    const taken = lease.take(await table.read())
    // What happens while the question is on its way is time that is gone.
    steady.ms = wall.ms = 400_000
    assert.ok(await taken)
    await table.close()
    assert.ok(lease.holds)
    steady.ms = wall.ms = 999_999
    assert.ok(lease.holds)
    steady.ms = 1_000_000
    assert.ok(!lease.holds)
    steady.ms = 999_999
    wall.ms = 1_000_000
    assert.ok(!lease.holds, 'a machine that slept has a steady clock that did not')
    await lease.giveBack()
  })

  test('a watcher takes nobody for dead before the whole time has passed, nor after the database was away', async () => {
    const url = await (await postgres()).database()
    const clock = new HandClock()
    const holder = new Lease({ ...quiet, url, me: { node: 'a', address: '', ms: 1_000_000 } })
    await holder.claim()
    const watch = new LeaseWatch(url, 'b', 400, clock.read)
    assert.equal(await watch.look(), 'held')
    clock.ms = 1_000_000
    assert.equal(await watch.look(), 'held', 'clocks do not run alike')
    clock.ms = 1_060_000
    assert.equal(await watch.look(), 'free')
    const holding = new pg.Client({ connectionString: url })
    await holding.connect()
    await holding.query('begin')
    await holding.query('lock table core_lease in access exclusive mode')
    await assert.rejects(watch.look())
    await holding.end()
    assert.equal(await watch.look(), 'held', 'its holder could not reach the database either')
    clock.ms = 2_200_000
    assert.equal(await watch.look(), 'free')
    await holder.giveBack()
    clock.ms++
    assert.equal(await watch.look(), 'free', 'given back')
    await watch.close()
  })

  test('what is given back for somebody else is left to him for a while', async () => {
    const url = await (await postgres()).database()
    const clock = new HandClock()
    let asked = ''
    const holder = new Lease({
      ...quiet,
      url,
      me: { node: 'a', address: '', ms: 400 },
      wanted: (node) => (asked = node),
    })
    await holder.claim()
    const table = new LeaseTable(url, 5_000)
    assert.equal((await table.want('c'))!.node, 'a')
    while (asked === '') await sleep(20)
    assert.equal(asked, 'c')
    await holder.giveBack()
    const [b, c] = [new LeaseWatch(url, 'b', 5_000, clock.read), new LeaseWatch(url, 'c', 5_000, clock.read)]
    assert.equal(await b.look(), 'held')
    assert.equal(await c.look(), 'free')
    clock.ms = 401
    assert.equal(await b.look(), 'free', 'he did not come')
    for (const each of [table, b, c]) await each.close()
  })

  test('whoever was overtaken is told so, and never holds again', async () => {
    const url = await (await postgres()).database()
    let failed: unknown
    const [a, b] = ['a', 'b'].map(
      (node) =>
        new Lease({ log, fatal: (error) => (failed = error), url, me: { node, address: '', ms: 400 } }),
    ) as [Lease, Lease]
    await a.claim()
    await b.claim()
    const began = performance.now()
    await b.settled()
    assert.ok(performance.now() - began > 300, 'the one before may think that he holds it')
    while (failed === undefined) await sleep(10)
    assert.ok(failed instanceof Fenced)
    assert.ok(!a.holds && b.holds)
    await assert.rejects(a.regained(), Fenced)
    await b.giveBack()
  })
})

test('a primary that was cut off from its standby prolongs no lease, whatever its sessions are set to', async () => {
  const pair = await PostgresPair.start()
  const url = await pair.database()
  await pair.primary.query('alter role postgres set synchronous_commit = local')
  const lease = new Lease({ ...quiet, url, me: { node: 'a', address: '', ms: 600 } })
  await lease.claim()
  await sleep(800)
  assert.ok(lease.holds)
  pair.standby.pause()
  await sleep(1_500)
  assert.ok(!lease.holds, 'another primary may have another holder')
  pair.standby.resume()
  await lease.regained()
  assert.ok(lease.holds)
  await lease.giveBack()
  await pair.close()
})

test('nobody is waited for who is seen to be dead, on this machine alone', async () => {
  const url = await (await postgres()).database()
  const table = new LeaseTable(url, 5_000)
  await table.prepare()
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })
  await once(child, 'exit')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const world = readlinkSync('/proc/self/ns/pid')
  const waited = async (holder: string): Promise<number> => {
    const held = await table.take(await table.read(), { node: 'x', address: '', process: holder, ms: 800 })
    assert.ok(held !== undefined)
    const lease = new Lease({ ...quiet, url, me: { node: 'y', address: '', ms: 60_000 } })
    await lease.claim()
    const began = performance.now()
    await lease.settled()
    await lease.giveBack()
    return performance.now() - began
  }
  assert.ok((await waited(`${boot} ${world} ${child.pid!}`)) < 400, 'it is dead')
  for (const [holder, why] of [
    [`${boot} ${world} ${process.pid}`, 'it lives'],
    [`another ${world} ${child.pid!}`, 'it is on another machine'],
    [`${boot} pid:[1] ${child.pid!}`, 'its numbers are those of another container'],
    ['', 'nobody can tell'],
  ] as const)
    assert.ok((await waited(holder)) > 700, why)
  await table.close()
})

describe('a core without its lease', () => {
  test('tells nothing until it knows that it still is the one', async () => {
    const url = await (await postgres()).database()
    const platform = await TestPlatform.start({ KONTOR_DATABASE_URL: url, KONTOR_LEASE_MS: '500' })
    const client = platform.demo()
    const holding = new pg.Client({ connectionString: url })
    await holding.connect()
    await holding.query('begin')
    await holding.query('select 1 from core_lease for update')
    await sleep(800)
    let answered = 0
    const count = ({ status, text }: Reply): void => {
      assert.equal(status, 200, text)
      answered++
    }
    const reads = [
      client.request('GET', '/wallet/total_balance').then(count),
      client.request('GET', '/spot/accounts').then(count),
      client.request('GET', '/spot/account_book', { query: { limit: '1' } }).then(count),
      platform
        .client()
        .request('GET', '/spot/tickers', { query: { currency_pair: 'BTC_USDT' } })
        .then(count),
    ]
    const ready = await fetch(`${platform.url}/readyz`)
    assert.equal(ready.status, 503)
    await sleep(300)
    assert.equal(answered, 0, 'somebody was told what may be no longer so')
    await holding.query('rollback')
    await holding.end()
    await Promise.all(reads)
    assert.equal(answered, 4)
    assert.equal((await fetch(`${platform.url}/readyz`)).status, 200)
    assert.deepEqual(platform.faults, [])
    await platform.stop()
  })
})
