import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

describe('orders and positions of dated contracts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000' })
  })
  after(() => platform.stop())

  test('orders are listed and cancelled, a position has leverage, margin and a limit', async () => {
    const options = { base: '/delivery/usdt' }
    const trader = await ContractTrader.of(platform, '10000', options)
    const maker = await ContractTrader.of(platform, '100000', options)
    const [{ name: contract }] = ok(await platform.client().get('/delivery/usdt/contracts'))
    const order = await trader.placed(10, '59000', { contract })
    const [open] = ok(await trader.get('/orders', { status: 'open', contract }))
    assert.deepEqual([open.id, open.size, open.left], [order.id, 10, 10])
    assert.equal(ok(await trader.delete(`/orders/${order.id}`)).finish_as, 'cancelled')
    refused(await trader.delete(`/orders/${order.id}`), 400, 'ORDER_FINISHED')
    const at = (call: string): string => `/positions/${contract}/${call}`
    assert.equal(ok(await trader.ask(at('leverage'), { leverage: '10' })).leverage, '10')
    const crossed = ok(await trader.ask(at('leverage'), { leverage: '0' }))
    assert.equal(crossed.cross_leverage_limit, crossed.leverage_max)
    assert.equal(ok(await trader.ask(at('leverage'), { leverage: '10' })).leverage, '10')
    await maker.placed(-100, '60000', { contract })
    await trader.placed(100, '60000', { contract })
    const more = ok(await trader.ask(at('margin'), { change: '5.5' }))
    assert.equal(more.margin, '65.8')
    refused(await trader.ask(at('margin'), { change: '-50' }), 400, 'REMOVE_TOO_MUCH')
    const limited = ok(await trader.ask(at('risk_limit'), { risk_limit: '1000000' }))
    assert.equal(limited.risk_limit, '1000000')
    assert.deepEqual(ok(await trader.get('/liquidates', { contract })), [])
  })

  test('sizes of a position that has ended are integers, whatever the header says; perpetual ones are texts', async () => {
    const closed = async (base: string, contract: string) => {
      const trader = await ContractTrader.of(platform, '10000', { base })
      const maker = await ContractTrader.of(platform, '100000', { base })
      await maker.placed(-10, '60000', { contract })
      await trader.placed(10, '60000', { contract })
      await maker.placed(10, '60000', { contract })
      await trader.placed(0, null, { contract, close: true })
      const path = `${base}/position_close`
      const texts = { headers: { 'X-Gate-Size-Decimal': '1' } }
      const [plain] = ok(await trader.client.get(path))
      const [asked] = ok(await trader.client.request('GET', path, texts))
      assert.deepEqual(asked, plain)
      return [plain.max_size, plain.accum_size]
    }
    const [{ name }] = ok(await platform.client().get('/delivery/usdt/contracts'))
    assert.deepEqual(await closed('/delivery/usdt', name), [10, 10])
    assert.deepEqual(await closed('/futures/usdt', 'BTC_USDT'), ['10', '10'])
  })
  test('one that is delisted before its date is settled at the mean of its last half hour, as at its date', async () => {
    const options = { base: '/delivery/usdt' }
    const trader = await ContractTrader.of(platform, '10000', options)
    const maker = await ContractTrader.of(platform, '100000', options)
    const clock = (advance_seconds: number): Promise<unknown> =>
      platform.operator.ok('POST', '/clock', { advance_seconds })
    const contracts = ok(await platform.client().get('/delivery/usdt/contracts'))
    const { name: contract, expire_time } = contracts[2]
    await maker.placed(-100, '60000', { contract })
    await trader.placed(100, '60000', { contract })
    const now = Math.floor(platform.now())
    const end = now - (now % 60) + 3600
    assert.ok(end < expire_time)
    await platform.operator.ok('PATCH', `/contracts/delivery/usdt/${contract}`, { delisted_time: end })
    // Twenty full minutes at 60000, and ten at 61500, the last of them at the end.
    await clock(end - 600 + 1 - now)
    await setIndex(platform, { BTC: '61500' })
    await clock(300)
    const { settle_price } = ok(await platform.client().get(`/delivery/usdt/contracts/${contract}`))
    // (20 x 60000 + 5 x 61500) / 25
    assert.equal(settle_price, '60300')
    await clock(300)
    const [settlement] = ok(await trader.get('/settlements'))
    assert.equal(`${settlement.contract} ${settlement.settle_price}`, `${contract} 60500`)
    // 0.01 BTC by 500, and 0.00015 of 605.
    assert.equal(`${settlement.profit} ${settlement.fee}`, '5 0.09075')
    refused(await trader.place(1, '60000', { contract }), 400, 'CONTRACT_NOT_FOUND')
    await setIndex(platform, { BTC: '60000' })
  })
})
