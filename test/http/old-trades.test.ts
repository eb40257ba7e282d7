import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replayStore } from '../../src/checks/replay-store.ts'
import { Housekeeper } from '../../src/runtime/housekeeper.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openSnapshot } from '../../src/store/open.ts'
import { CONTRACT_TRADE } from '../../src/core/tables/exchange/trades.ts'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { Trader } from '../support/spot.ts'

test('public trades leave the store after 90 days; their sides stay with the accounts, and history replays', async () => {
  let platform = await TestPlatform.start(withoutContracts())
  const pair = { currency_pair: 'BTC_USDT' }
  const maker = await Trader.of(platform, { BTC: '10' })
  const taker = await Trader.of(platform, { USDT: '1000000' })
  const trade = async (): Promise<string> => {
    await maker.placed('sell', '0.1', '50000')
    return (await taker.placed('buy', '0.1', '50000')).id
  }
  const advance = (days: number): Promise<unknown> =>
    platform.operator.ok('POST', '/clock', { advance_seconds: days * 86_400 })
  const first = await trade()
  await trade()
  await advance(70)
  await trade()
  await advance(21)
  // After a restart the old ones are not in memory: they are removed by their ids all the same.
  platform = await platform.restart()
  const log = createLog('error', () => undefined)
  const housekeeper = new Housekeeper({ ...platform.platform.desk, log })
  assert.equal(await housekeeper.sweep(), 2)
  assert.equal(await housekeeper.sweep(), 0)
  assert.equal(ok(await platform.client().get('/spot/trades', pair)).length, 1)

  platform = await platform.restart()
  assert.equal(ok(await platform.client().get('/spot/trades', pair)).length, 1)
  const again = platform.client(taker.client.credential)
  const mine = ok(await again.get('/spot/my_trades', { ...pair, order_id: first }))
  assert.equal(mine.length, 1)
  assert.equal(ok(await again.get(`/spot/orders/${first}`, pair)).finish_as, 'filled')
  const snapshot = await openSnapshot({ data: platform.data, databaseUrl: undefined })
  const { commands } = await replayStore(snapshot)
  assert.ok(commands > 10)
  await snapshot.close()
  await platform.stop()
})

test('those of contracts too, perpetual and dated', async () => {
  let platform = await TestPlatform.start()
  await setIndex(platform, { BTC: '60000' })
  const trade = async (base: string, contract: string): Promise<void> => {
    const [maker, taker] = [
      await ContractTrader.of(platform, '10000', { base }),
      await ContractTrader.of(platform, '10000', { base }),
    ]
    await maker.placed(-1, '60000', { contract })
    await taker.placed(1, '60000', { contract })
    assert.equal(ok(await taker.get('/my_trades', { contract })).length, 1)
  }
  const dated: { name: string }[] = ok(await platform.client().get('/delivery/usdt/contracts'))
  const perpetual = { base: '/futures/usdt', name: 'BTC_USDT' }
  const delivery = { base: '/delivery/usdt', name: dated[0]!.name }
  for (const { base, name } of [perpetual, delivery]) await trade(base, name)
  const between = platform.now() * 1e6 + 1
  await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
  await trade(perpetual.base, perpetual.name)
  const shown = async ({ base, name }: { base: string; name: string }): Promise<number> =>
    ok(await platform.client().get(`${base}/trades`, { contract: name })).length
  assert.deepEqual([await shown(perpetual), await shown(delivery)], [2, 1])
  const { desk } = platform.platform
  const log = createLog('error', () => undefined)
  // As it will be in 90 days; nobody waits for all the minutes until then.
  const clock = { peek: () => between + 90 * 86_400e6 } as typeof desk.clock
  const housekeeper = new Housekeeper({ ...desk, clock, log })
  assert.equal(await housekeeper.sweep(), 2)
  assert.equal(await housekeeper.sweep(), 0)
  platform = await platform.restart()
  const rows = await platform.platform.desk.store.select(CONTRACT_TRADE, 'order by "id"', [])
  assert.deepEqual(
    rows.map(({ pair }) => pair),
    ['futures/usdt/BTC_USDT'],
  )
  assert.equal(await shown(perpetual), 1)
  await platform.stop()
})
