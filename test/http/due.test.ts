import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DueItem } from '../../src/core/tables/due.ts'
import type { Ctx } from '../../src/core/state.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

/** An item whose command throws: as one that a bug in its command would leave behind. */
async function plant(platform: TestPlatform, id: number): Promise<void> {
  const { core, clock } = platform.platform.desk
  const item = { id, at: clock.peek() + 1e6, command: 'no.such.command', input: { text: 'planted' } }
  const inside = core as unknown as { handlers: Record<string, (ctx: Ctx) => void> }
  const handlers = inside.handlers
  inside.handlers = { plant: ({ state, tx }) => tx.put(state.due.table, item as unknown as DueItem) }
  const planted = core.submit('plant' as 'due.run', { id })
  inside.handlers = handlers
  await planted
}

test('one due item that throws is put aside; the others run, the clock gets there, and operators see it', async () => {
  // Some seconds from a full minute, at which contracts have work of their own.
  let platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000610' })
  const { operator } = platform
  const trader = await Trader.of(platform, { USDT: '1000' })
  const { id } = await trader.placed('buy', '0.001', '30000')
  await trader.client.post('/spot/countdown_cancel_all', { timeout: 10 })
  await plant(platform, 900_000)
  const [next, after] = await operator.ok('GET', '/due/coming?limit=2')
  assert.deepEqual([next.command, next.input], ['no.such.command', { text: 'planted' }])
  assert.ok(after.due_at >= next.due_at)
  const moved = await operator.ok('POST', '/clock', { advance_seconds: 60 })
  assert.equal(moved.due_failed, 1)
  const order = await trader.client.get(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' })
  assert.equal((order.body as { status: string }).status, 'cancelled', 'what came after it was done')
  const [failed] = await operator.ok('GET', '/due')
  assert.equal(failed.command, 'no.such.command')
  assert.match(failed.error, /unknown command/)
  assert.deepEqual(failed.input, { text: 'planted' })
  const metrics = await (await fetch(`${platform.url}/metrics`)).text()
  assert.match(metrics, /kontor_due_failed 1/)

  const first = failed.failed_at as number
  await operator.ok('POST', '/due/900000/retry')
  await operator.ok('POST', '/clock', { advance_seconds: 1 })
  const [again_failed] = await operator.ok('GET', '/due')
  assert.ok(again_failed.failed_at > first, 'it was tried again, and is still wrong')
  platform = await platform.restart()
  assert.equal((await platform.operator.ok('GET', '/due')).length, 1, 'it is still there after a restart')
  await platform.operator.ok('POST', '/due/900000/drop')
  assert.deepEqual(await platform.operator.ok('GET', '/due'), [])
  const again = await platform.operator.call('POST', '/due/900000/drop')
  assert.deepEqual([again.status, again.body.label], [404, 'NOT_FOUND'])
  await platform.stop()
})
test('a move of the clock that could not finish says so, and where the clock stands', async () => {
  // Far from a full hour, at which interest falls due.
  const platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000600' })
  const trader = await Trader.of(platform, { USDT: '1000' })
  await trader.client.post('/spot/countdown_cancel_all', { timeout: 10 })
  const { core, clock } = platform.platform.desk
  const before = clock.peek()
  const resume = core.suspend('planted: nothing is taken')
  const answer = await platform.operator.call('POST', '/clock', { advance_seconds: 3600 })
  resume()
  assert.deepEqual([answer.status, answer.body.label], [503, 'TOO_BUSY'])
  assert.match(answer.body.message, /could not move .* spot\.countdown\.strike/)
  assert.ok(clock.peek() < before + 60e6, 'it has not passed what was not done')
  await platform.stop()
})
