import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../crash/rounds.ts'
import { TestPlatform } from '../support/platform.ts'
import { TcpProxy } from '../support/proxy.ts'
import { RecordedLoad } from '../support/recorded-load.ts'

/** The load that the fail-over tests run, on one platform that nothing happens to but its line. */
test('histories of one platform are linearizable, also where the line to it is cut and is dumb', async () => {
  const platform = await TestPlatform.start()
  const proxy = await TcpProxy.start(Number(new URL(platform.url).port))
  const load = new RecordedLoad({ random: seeded(1), timeoutMs: 500, paceMs: 2 })
  try {
    await load.prepare(platform.operator)
    load.start([`http://${proxy.address}`, platform.url])
    await sleep(700)
    proxy.reset()
    await sleep(300)
    proxy.deafen('back')
    await sleep(900)
    proxy.heal({ forget: true })
    const { counts, acknowledged } = load
    const kinds = ['transfer', 'order', 'withdrawal', 'trade']
    const lacks = (): string[] =>
      kinds.filter((kind) => acknowledged.filter((one) => one.kind === kind).length <= 3)
    // A busy machine needs longer for some of each.
    await sleep(500)
    for (const until = Date.now() + 20_000; lacks().length > 0 && Date.now() < until;) await sleep(100)
    await load.stop()
    await load.lookAtAll([platform.url])
    assert.deepEqual(lacks(), [], JSON.stringify(counts))
    assert.ok(counts.unknown >= 3, `${JSON.stringify(counts)} ${load.whyUnknown()}`)
    assert.ok(
      load.market.some(({ output }) => output?.is === 'closed'),
      'some orders met',
    )
    load.assertRight()
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
    // And it can fail: an acknowledged write that nobody can find.
    const family = load.families[0]!
    const there = family.history.findLastIndex(
      ({ input, output }) => input.kind === 'find' && output?.is === 'there',
    )
    family.history[there] = { ...family.history[there]!, output: { is: 'none' } }
    assert.throws(() => load.assertRight(), /family 0: violation/)
  } finally {
    await load.stop()
    await proxy.close()
    await platform.stop()
  }
})
