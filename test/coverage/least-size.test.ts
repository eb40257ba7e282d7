import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const LABEL = 'SIZE_TOO_SMALL'

describe('contracts whose orders have a least size', () => {
  let platform: TestPlatform
  const folder = mkdtempSync(join(tmpdir(), 'kontor-least-'))
  before(async () => {
    const contracts = BUILT_IN_WORLD.contracts!.map((one) => ({ ...one, order_size_min: 10 }))
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify({ contracts }))
    platform = await TestPlatform.start({ KONTOR_CONFIG: path })
    await setIndex(platform, { BTC: '60000' })
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const tooSmall = (reply: Reply): void => refused(reply, 400, LABEL, /order_size_min/)

  test('refuse what is below it, however it is ordered', async () => {
    const maker = await ContractTrader.of(platform, '100000')
    await maker.placed(-10, '61000')
    const trader = await ContractTrader.of(platform, '100000')
    const { id } = await trader.placed(10, '59000')
    tooSmall(await trader.place(9, '59000'))
    tooSmall(await trader.place(-9, '61000'))
    tooSmall(await trader.client.put(`/futures/usdt/orders/${id}`, { size: 9 }))
    tooSmall(await trader.post('/bbo_orders', { contract: 'BTC_USDT', size: 9, direction: 'buy', level: 1 }))
    const items = ok(await trader.post('/batch_orders', [{ contract: 'BTC_USDT', size: 9, price: '59000' }]))
    refused(
      { ...(await trader.place(9, '59000')), body: { ...items[0], message: items[0].detail } },
      400,
      LABEL,
    )
    const trigger = { price: '50000', rule: 2 }
    const initial = { contract: 'BTC_USDT', price: '50000' }
    tooSmall(await trader.post('/price_orders', { initial: { ...initial, size: 9 }, trigger }))
    const waits = ok(await trader.post('/price_orders', { initial: { ...initial, size: 10 }, trigger }), 201)
    tooSmall(await trader.client.put(`/futures/usdt/price_orders/${waits.id}`, { size: 9 }))
    tooSmall(await trader.client.put('/futures/usdt/price_orders/amend', { order_id: waits.id, size: 9 }))
    const AUTO = '/autoorder/v1'
    tooSmall(
      await trader.post(`${AUTO}/chase/create`, { contract: 'BTC_USDT', amount: '9', price_limit: '0' }),
    )
    tooSmall(
      await trader.post(`${AUTO}/trail/create`, {
        contract: 'BTC_USDT',
        amount: '9',
        price_offset: '1%',
        price_type: 2,
      }),
    )
    const trail = ok(
      await trader.post(`${AUTO}/trail/create`, {
        contract: 'BTC_USDT',
        amount: '10',
        price_offset: '1%',
        price_type: 2,
      }),
      201,
    )
    tooSmall(await trader.post(`${AUTO}/trail/update`, { id: trail.data.id, amount: '9' }))
  })
  test('dated ones too', async () => {
    const trader = await ContractTrader.of(platform, '100000', { base: '/delivery/usdt' })
    const [{ name: contract }] = ok(await trader.get('/contracts'))
    tooSmall(await trader.post('/orders', { contract, size: 9, price: '59000' }))
    const order = { initial: { contract, size: 9, price: '50000' }, trigger: { price: '50000', rule: 2 } }
    tooSmall(await trader.post('/price_orders', order))
  })
})
