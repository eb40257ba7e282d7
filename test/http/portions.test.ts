import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { Trader } from '../support/spot.ts'
import { ETH_OUTSIDE, holder } from '../support/wallet.ts'
import { Client } from '../support/client.ts'

const PAIR = 'DOGE_USDT'
/** Many small orders that rest, some ten to a call. */
async function place(trader: Trader, count: number, first = 0): Promise<void> {
  const item = (i: number): object => ({
    currency_pair: PAIR,
    text: `t-${first + i}`,
    side: 'buy',
    amount: '100',
    price: '0.05',
  })
  for (let i = 0; i < count; i += 10) {
    const orders = Array.from({ length: Math.min(10, count - i) }, (_, j) => item(i + j))
    const replies = ok(await trader.client.post('/spot/batch_orders', orders)) as {
      succeeded: boolean
      label: string
    }[]
    assert.ok(
      replies.every(({ succeeded }) => succeeded),
      JSON.stringify(replies[0]),
    )
  }
}
const openCount = async (trader: Trader): Promise<number> =>
  ok(await trader.client.get('/spot/open_orders', { limit: '100' })).reduce(
    (sum: number, { total }: { total: number }) => sum + total,
    0,
  )

describe('what ends many orders works in portions', () => {
  let platform: TestPlatform
  before(async () => (platform = await TestPlatform.start()))
  after(() => platform.stop())

  test('an account has at most 1,000 open orders in a market; what never rests passes', async () => {
    const trader = await Trader.of(platform, { USDT: '100000', DOGE: '100' })
    await place(trader, 1_000)
    const more = { currency_pair: PAIR, side: 'buy', amount: '100', price: '0.05' }
    refused(
      await trader.client.post('/spot/orders', more),
      400,
      'TOO_MANY_ORDERS',
      /at most 1000 open orders/,
    )
    const ioc = ok(await trader.client.post('/spot/orders', { ...more, time_in_force: 'ioc' }), 201)
    assert.equal(ioc.status, 'cancelled')
    ok(await trader.client.post('/spot/orders', { ...more, currency_pair: 'XRP_USDT', price: '0.3' }), 201)
    const gone = ok(await trader.client.delete('/spot/orders', { currency_pair: PAIR })) as {
      status: string
      text: string
    }[]
    assert.equal(gone.length, 1_000)
    assert.ok(
      gone.every(({ status }) => status === 'cancelled'),
      'answered when all portions are done',
    )
    assert.deepEqual([gone[0]!.text, gone.at(-1)!.text], ['t-0', 't-999'])
    assert.equal(await openCount(trader), 1, 'the other market was not meant')
    assert.equal(await trader.money('USDT'), '99970/30')
  })
  test('no command of a cancel-all ends more than 100 orders, and an order placed meanwhile stays', async () => {
    const trader = await Trader.of(platform, { USDT: '100000' })
    await place(trader, 350)
    const { core } = platform.platform.desk
    const which = { user_id: trader.user_id, currency_pair: null, side: null, account: null }
    const { ids, due_id, rest } = await core.submit('spot.cancel_all', which)
    assert.equal(ids.length, 350)
    assert.equal(core.state.spot.openCount(trader.user_id, PAIR), 250)
    const { id } = await trader.placed('buy', '0.001', '30000')
    const next = await core.submit('spot.cancel_next', { due_id, rest })
    assert.equal(core.state.spot.openCount(trader.user_id, PAIR), 150)
    assert.notEqual(next.due_id, 0)
    // Whoever asked is gone: what he recorded is done all the same.
    await platform.operator.ok('POST', '/clock', { advance_seconds: 6 })
    assert.equal(core.state.spot.openCount(trader.user_id, PAIR), 0)
    assert.equal((await trader.order(id)).status, 'open', 'placed later, not touched')
  })
  test('a countdown ends them in portions too', async () => {
    const trader = await Trader.of(platform, { USDT: '100000' })
    await place(trader, 250)
    ok(await trader.client.post('/spot/countdown_cancel_all', { timeout: 5 }))
    await platform.operator.ok('POST', '/clock', { advance_seconds: 6 })
    assert.equal(await openCount(trader), 0)
  })
  test('pausing a chain holds what waits in portions, and going on releases what the pause held', async () => {
    const { client, user_id } = await holder(platform, { amount: '1000' })
    await platform.operator.ok('PATCH', '/chains/ETH', { sender_stops_at: 'REQUEST', auto_mine_seconds: 0 })
    const body = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }
    for (let i = 0; i < 250; i++) ok(await client.post('/withdrawals', body))
    const { core } = platform.platform.desk
    const states = (): string[] => [
      ...new Set(core.state.wallet.withdrawals.waitingOf(user_id).map(({ status }) => status)),
    ]
    // In a command of its own, before the ticker comes: a portion, not all.
    const paused = core.submit('chain.configure', { chain: 'ETH', change: { paused: true }, actor: 'admin' })
    const locked = core.state.wallet.withdrawals
      .waitingOf(user_id)
      .filter(({ status }) => status === 'LOCKED')
    assert.equal(locked.length, 100)
    await paused
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.deepEqual(states(), ['LOCKED'])
    await platform.operator.ok('PATCH', '/chains/ETH', { paused: false })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.deepEqual(states(), ['REQUEST'])
  })
  test('midnight ratios of many accounts come in portions, and are those of one', async () => {
    const maker = await Trader.of(platform, { BTC: '10' })
    const taker = await Trader.of(platform, { USDT: '1000000' })
    await maker.placed('sell', '1', '50000')
    await taker.placed('buy', '1', '50000')
    const { core } = platform.platform.desk
    const before = core.committed.sequence
    for (let i = 0; i < 1_200; i++)
      void core.submit('user.create', {
        login_name: `portion_${i}`,
        email: null,
        password_hash: null,
        remark: '',
        vip: 0,
        parent_id: 0,
        type: 1,
        actor: null,
      })
    await core.idle()
    await platform.operator.ok('POST', '/clock', { advance_seconds: 86_400 })
    const rows = await platform.platform.desk.store.commandsAfter(before, 10_000)
    const runs = rows.flatMap(({ commands }) => JSON.parse(commands) as [number, string][])
    assert.ok(runs.filter(([, type]) => type === 'due.run').length >= 3)
    const ratio = core.state.spot.activity.ratios.get(taker.user_id)
    assert.ok(ratio !== undefined && ratio.ratio > 0n && ratio.main_ratio === ratio.ratio)
    const next = core.state.due.next()
    assert.ok(
      [...core.state.due.table.values()].filter(({ command }) => command === 'spot.ratios').length === 1,
    )
    assert.ok(next !== undefined)
  })
})

test('a stop between two portions: the next start finishes what was recorded', async () => {
  const data = mkdtempSync(join(tmpdir(), 'kontor-portions-'))
  const first = await TestPlatform.start({ KONTOR_CLOCK: '1800000000' }, data)
  const trader = await Trader.of(first, { USDT: '100000' })
  await place(trader, 300)
  const which = { user_id: trader.user_id, currency_pair: null, side: null, account: null }
  await first.platform.desk.core.submit('spot.cancel_all', which)
  await first.platform.stop()
  const second = await PlatformProcess.start({
    KONTOR_DATA: data,
    KONTOR_OPERATOR_TOKEN: 'test-operator-token',
    KONTOR_CLOCK: '1800000100',
  })
  const again = new Trader(
    trader.user_id,
    new Client(second.url, trader.client.credential, () => 1_800_000_100),
  )
  for (let i = 0; i < 100 && (await openCount(again)) > 0; i++)
    await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(await openCount(again), 0)
  await second.kill('SIGTERM')
  rmSync(data, { recursive: true, force: true })
})
