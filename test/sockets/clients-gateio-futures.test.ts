import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { answered, closeClients, Gateio, requests } from '../support/gateio.ts'
import { TestPlatform } from '../support/platform.ts'
import type { Frame } from '../support/socket.ts'
import { until } from '../support/venue.ts'

const NAME = 'BTC_USDT'
const KEY = 'perpFuturesUSDTV4'
const PUBLIC: readonly (readonly [string, string[]])[] = [
  ['futures.tickers', [NAME]],
  ['futures.trades', [NAME]],
  ['futures.book_ticker', [NAME]],
  ['futures.order_book', [NAME, '20', '0']],
  ['futures.order_book_update', [NAME, '100ms', '100']],
  ['futures.candlesticks', ['1m', NAME]],
  ['futures.public_liquidates', [NAME]],
]

/** Unmodified gateio-api on perpetual contracts. */
describe('gateio-api: contracts', { timeout: 120_000 }, () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000' })
    maker = await ContractTrader.of(platform, '1000000')
  })
  after(async () => {
    closeClients()
    await platform.stop()
  })
  const connected = (trader: ContractTrader, path = '/v4/ws/usdt'): Gateio =>
    new Gateio({ address: (at) => platform.url.replace(/^http/, 'ws') + at }, trader.client.credential, {
      path,
    })

  test('public and private channels: answered, pushed, ended', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const client = connected(trader)
    const id = String(trader.user_id)
    const mine: readonly (readonly [string, string[]])[] = [
      ...['orders', 'usertrades', 'positions', 'liquidates', 'auto_deleverages'].map(
        (name) => [`futures.${name}`, [id, NAME]] as const,
      ),
      ['futures.position_closes', [id, NAME]],
      ['futures.reduce_risk_limits', [id, '!all']],
      ['futures.balances', [id]],
    ].map(([name, payload]) => [name as string, payload as string[]] as const)
    client.socket.subscribe(requests([...PUBLIC, ...mine]), KEY)
    await answered(client, [...PUBLIC, ...mine])
    await maker.placed(-3, '60000')
    await trader.placed(3, '60000')
    for (const name of ['trades', 'order_book_update', 'orders', 'usertrades', 'positions', 'balances'])
      await until(`pushes of ${name}`, () => client.pushed(`futures.${name}`).length > 0)
    const [order] = client.pushed('futures.orders')[0]!['result'] as [Frame]
    assert.equal(`${order['contract']} ${order['finish_as']}`, `${NAME} filled`)
    client.socket.unsubscribe(requests(PUBLIC), KEY)
    await answered(client, PUBLIC, 'unsubscribe')
    assert.deepEqual(client.exceptions, [])
  })

  test('every call of the trading API', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const client = connected(trader)
    const { api } = client
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its types leave out what acks and answers carry
    const done = async (call: Promise<unknown>): Promise<any> => {
      const frame = (await call) as Frame
      assert.equal(frame['header'].status, '200')
      return frame['data'].result
    }
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    const answer = async (call: Promise<unknown>): Promise<any> => {
      const ack = (await call) as Frame
      assert.equal(ack['ack'], true)
      const [, second] = await until('the answer', () => {
        const replies = client.replies(ack['request_id'] as string)
        return replies.length === 2 && replies
      })
      return second!['data'].result
    }
    const order = { contract: NAME, size: 5, price: '59000', tif: 'gtc' as const, text: 't-api1' }
    const placed = await answer(api.submitNewFuturesOrder(order))
    assert.deepEqual(placed, await trader.order(placed.id as number))
    assert.deepEqual(await done(api.getFuturesOrderStatus({ order_id: String(placed.id) })), placed)
    const changed = await done(api.updateFuturesOrder({ order_id: String(placed.id), size: 6 }))
    assert.equal(changed.size, 6)
    const batch = await answer(
      api.submitNewFuturesBatchOrder([
        { ...order, text: 't-b1' },
        { ...order, text: 't-b2', price: '58000' },
      ]),
    )
    assert.deepEqual(
      batch.map(({ succeeded }: Frame) => succeeded as boolean),
      [true, true],
    )
    const open = await done(api.getFuturesOrders({ contract: NAME, status: 'open' }))
    assert.equal(open.length, 3)
    const gone = await done(api.cancelFuturesOrder({ order_id: String(placed.id) }))
    assert.equal(gone.finish_as, 'cancelled')
    const some = await done(api.cancelFuturesOrderById([String(batch[0].id)] as never))
    assert.deepEqual(
      some.map(({ id, succeeded }: Frame) => `${id} ${succeeded}`),
      [`${batch[0].id} true`],
    )
    const rest = await done(api.cancelFuturesAllOpenOrders({ contract: NAME, side: 'bid' }))
    assert.deepEqual(
      rest.map(({ text }: Frame) => text as string),
      ['t-b2'],
    )
    assert.deepEqual(ok(await trader.get('/orders', { status: 'open' })), [])
    const refused = (await api.submitNewFuturesOrder({ ...order, size: 900_000 })) as unknown as Frame
    const exception = await until('the exception', () => client.exceptions[0])
    assert.equal(exception['request_id'], refused['request_id'])
    assert.equal(exception['data'].errs.label, 'INSUFFICIENT_AVAILABLE')
    await assert.rejects(api.getFuturesOrderStatus({ order_id: '99999999' }), (error: Frame) => {
      assert.equal(error['data'].errs.label, 'ORDER_NOT_FOUND')
      return true
    })
  })
})
