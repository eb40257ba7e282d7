import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

describe('contracts on the wire, to the letter', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000', SOL: '150' })
    maker = await ContractTrader.of(platform, '1000000')
  })
  after(async () => platform.stop())

  test('figures of contract_stats have four decimals at most: longer numbers are not read by all', async () => {
    const [one, two, three] = await Promise.all(
      ['9000', '9000', '9000'].map((money) => ContractTrader.of(platform, money)),
    )
    await maker.placed(-1000, '60000')
    for (const trader of [one!, two!, three!]) await trader.placed(11, '60000')
    await maker.placed(7, '59990')
    await one!.placed(-7, '59990')
    const [row] = ok(await maker.get('/contract_stats', { contract: 'BTC_USDT' }))
    assert.equal(row.lsr_taker, 4.7142)
    assert.equal(row.lsr_account, 3)
    const numbers = Object.values(row).filter((value) => typeof value === 'number')
    for (const number of numbers) assert.match(String(number), /^\d+(\.\d{1,4})?$/)
    assert.match(row.top_lsr_size, /^\d+(\.\d{1,12})?$/)
    ok(await maker.delete('/orders'))
  })

  test('in dual mode each side shows the order that closes it', async () => {
    const dual = await ContractTrader.of(platform, '9000')
    ok(await dual.ask('/dual_mode', { dual_mode: true }))
    await maker.placed(-10, '60000')
    await dual.placed(10, '60000')
    await maker.placed(7, '59990')
    await dual.placed(-7, '59990')
    const { id } = await dual.placed(0, '59000', { auto_size: 'close_short' })
    const [long, short] = await dual.position()
    assert.equal(long.close_order, null)
    assert.deepEqual(short.close_order, { id, price: '59000', is_liq: false })
    const other = await dual.placed(0, '61000', { auto_size: 'close_long' })
    const both = await dual.position()
    assert.deepEqual(
      both.map((row: { close_order: { id: number } }) => row.close_order.id),
      [other.id, id],
    )
  })

  test('a path without a settle currency is that of btc, signed as it is sent', async () => {
    const trader = await ContractTrader.of(platform, '1', { base: '/futures/btc' })
    const short = new ContractTrader(trader.user_id, trader.client, '/futures')
    assert.deepEqual(ok(await short.get('/contracts')), ok(await trader.get('/contracts')))
    assert.equal(ok(await short.get('/contracts/btc_usd')).name, 'BTC_USD')
    const made = await short.placed(10, '59000', { contract: 'BTC_USD', text: 't-short' })
    assert.equal((await trader.order(made.id)).text, 't-short')
    const query = { contract: 'BTC_USD', status: 'open', limit: 50 }
    assert.deepEqual(ok(await short.get('/orders', query)), [await trader.order('t-short')])
    assert.equal(ok(await short.delete(`/orders/${made.id}`)).finish_as, 'cancelled')
    assert.equal(ok(await short.ask('/positions/BTC_USD/leverage', { leverage: 5 })).leverage, '5')
    assert.equal((await trader.position('BTC_USD')).leverage, '5')
    assert.equal((await short.account()).currency, 'BTC')
    // Contracts of the other currency are not found there, and no other name is a settle currency.
    refused(await short.get('/contracts/BTC_USDT'), 404, 'CONTRACT_NOT_FOUND', /futures\/btc/)
    refused(await short.client.get('/futures/usd1/contracts'), 400, 'INVALID_PARAM_VALUE', /settle/)
    refused(await short.client.put('/futures/contracts', {}), 405, 'METHOD_NOT_ALLOWED')
    // Dated contracts never were without one.
    refused(await short.client.get('/delivery/contracts'), 404, 'NOT_FOUND')
  })

  test('what dated contracts do not have is not there, whatever else has the path', async () => {
    const dated = new ContractTrader(maker.user_id, maker.client, '/delivery/usdt')
    refused(await dated.post('/positions/cross_mode', {}), 404, 'NOT_FOUND', /dated/)
    for (const path of ['/orders/1', '/price_orders/1', '/price_orders/amend'])
      refused(await dated.client.put(`/delivery/usdt${path}`, { size: 1 }), 404, 'NOT_FOUND', /PUT/)
    // What neither group has is another method.
    refused(await dated.client.put('/delivery/usdt/positions', {}), 405, 'METHOD_NOT_ALLOWED')
    refused(await maker.client.put('/futures/usdt/positions', {}), 405, 'METHOD_NOT_ALLOWED')
  })

  test('books of dated contracts take the steps that their clients know', async () => {
    const [{ name: contract }] = ok(await maker.client.get('/delivery/usdt/contracts'))
    const book = (interval: string) => maker.client.get('/delivery/usdt/order_book', { contract, interval })
    for (const interval of ['0', '0.1', '0.01', '10']) ok(await book(interval))
    refused(await book('0.03'), 400, 'INVALID_PARAM_VALUE', /0\.1/)
    refused(await book('0.15'), 400, 'INVALID_PARAM_VALUE', /0\.1/)
    const finer = { contract: 'BTC_USDT', interval: '0.01' }
    refused(await maker.get('/order_book', finer), 400, 'INVALID_PARAM_VALUE', /0\.1/)
    const risk = await maker.client.request('POST', `/delivery/usdt/positions/${contract}/risk_limit`, {
      query: { risk_limit: '123' },
    })
    refused(risk, 400, 'RISK_LIMIT_NOT_MULTIPLE', /GET \/delivery\/usdt/)
  })
})
