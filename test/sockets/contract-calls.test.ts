import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok } from '../support/client.ts'
import { CallLine, refusedCall, resultOf, type ApiAnswer } from '../support/call-line.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const NAME = 'BTC_USDT'
const BUY = { contract: NAME, size: 5, price: '59000' }

/** The trading API of contracts: each call is the REST call that it stands for. */
describe('calls of contracts over sockets', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '1' })
    await setIndex(platform, { BTC: '60000' })
  })
  after(() => platform.stop())
  const logged = async (
    options: { settle?: string; sizeTexts?: boolean; channelId?: string } = {},
    base = '/futures/usdt',
  ): Promise<{ trader: ContractTrader; line: CallLine }> => {
    const trader = await ContractTrader.of(platform, base.endsWith('btc') ? '10' : '100000', { base })
    const line = new CallLine(platform, { product: 'futures', settle: 'usdt', ...options })
    const login = await line.login(trader.client.credential!)
    assert.equal(resultOf(login).uid, String(trader.user_id))
    return { trader, line }
  }
  const acks = ({ frames }: CallLine): ApiAnswer[] => frames.filter(({ ack }) => ack === true)

  test('place, amend, status, list, cancel: REST’s results, an ack for placements alone', async () => {
    const { trader, line } = await logged({ channelId: 'ccxt' })
    const placed = resultOf(await line.call('futures.order_place', { ...BUY, settle: 'usdt', text: 't-one' }))
    assert.equal(acks(line).length, 1)
    assert.equal(acks(line)[0]!.data.result.req_param.text, 't-one')
    assert.deepEqual(placed, await trader.order(placed.id))
    assert.equal(`${typeof placed.id} ${placed.size} ${placed.biz_info}`, 'number 5 ch:ccxt')
    const named = resultOf(await line.call('futures.order_status', { order_id: 't-one' }))
    assert.deepEqual(named, placed)
    const amended = resultOf(
      await line.call('futures.order_amend', {
        order_id: placed.id,
        size: 7,
        price: '58000',
        contract: NAME,
      }),
    )
    assert.equal(`${amended.size} ${amended.price}`, '7 58000')
    assert.deepEqual(amended, await trader.order(placed.id))
    const nameless = resultOf(await line.call('futures.order_place', { ...BUY, text: '-' }))
    assert.equal(nameless.text, 'apiv4-ws')
    const open = resultOf(
      await line.call('futures.order_list', { contract: NAME, status: 'open', limit: 10 }),
    )
    assert.deepEqual(open, ok(await trader.get('/orders', { contract: NAME, status: 'open' })))
    assert.equal(open.length, 2)
    const cancelled = resultOf(await line.call('futures.order_cancel', { order_id: String(placed.id) }))
    assert.equal(`${cancelled.status} ${cancelled.finish_as}`, 'finished cancelled')
    assert.deepEqual(cancelled, await trader.order(placed.id))
    refusedCall(await line.call('futures.order_cancel', { order_id: placed.id }), 400, 'ORDER_FINISHED')
    refusedCall(await line.call('futures.order_status', { order_id: 999_999 }), 404, 'ORDER_NOT_FOUND')
    refusedCall(await line.call('futures.order_list', {}), 400, 'MISSING_REQUIRED_PARAM', /status/)
    assert.equal(acks(line).length, 2)
  })

  test('of {initial, trigger} a price order', async () => {
    const { trader, line } = await logged()
    const initial = { contract: NAME, size: 5, price: '59000' }
    const trigger = { price: '61000', rule: 1, price_type: 1 }
    const made = resultOf(await line.call('futures.order_place', { initial, trigger, settle: 'usdt' }))
    assert.deepEqual(made, { id: made.id, id_string: String(made.id) })
    assert.equal(ok(await trader.get(`/price_orders/${made.id as number}`)).trigger.price, '61000')
    assert.equal(acks(line).length, 1)
    refusedCall(
      await line.call('futures.order_place', { initial, trigger: { price: '61000' } }),
      400,
      'MISSING_REQUIRED_PARAM',
      /trigger\.rule/,
    )
  })

  test('several: a batch, by ids, all of a contract and side', async () => {
    const { trader, line } = await logged()
    const batch = resultOf(
      await line.call('futures.order_batch_place', [
        BUY,
        { ...BUY, price: '1', text: 't-bad' },
        { ...BUY, size: -2, price: '61000', text: 't-ask' },
        { ...BUY, price: '59100', text: 't-bid' },
      ]),
    )
    assert.equal(acks(line).length, 1)
    assert.deepEqual(
      batch.map(({ succeeded, text }: { succeeded: boolean; text: string }) => `${succeeded} ${text}`),
      ['true apiv4-ws', 'false t-bad', 'true t-ask', 'true t-bid'],
    )
    const ids = resultOf(await line.call('futures.order_cancel_ids', [String(batch[0].id), '77777777']))
    assert.deepEqual(ids, [
      { id: String(batch[0].id), user_id: trader.user_id, succeeded: true, message: '' },
      { id: '77777777', user_id: trader.user_id, succeeded: false, message: 'ORDER_NOT_FOUND' },
    ])
    refusedCall(
      await line.call('futures.order_cancel_cp', { side: 'bid' }),
      400,
      'MISSING_REQUIRED_PARAM',
      /contract/,
    )
    const bids = resultOf(await line.call('futures.order_cancel_cp', { contract: NAME, side: 'bid' }))
    assert.deepEqual(
      bids.map(({ text }: { text: string }) => text),
      ['t-bid'],
    )
    const rest = resultOf(await line.call('futures.order_cancel_cp', { contract: NAME }))
    assert.equal(rest.length, 1)
    assert.deepEqual(ok(await trader.get('/orders', { status: 'open' })), [])
  })

  test('the address decides the settle currency and the permission; dated contracts have no calls', async () => {
    const { trader, line } = await logged({ settle: 'btc' }, '/futures/btc')
    const placed = resultOf(
      await line.call('futures.order_place', {
        contract: 'BTC_USD',
        size: 3,
        price: '59000',
        settle: 'usdt',
      }),
    )
    assert.deepEqual(placed, await trader.order(placed.id))
    refusedCall(await line.call('futures.order_place', BUY), 400, 'CONTRACT_NOT_FOUND')
    const dated = new CallLine(platform, { product: 'delivery', settle: 'usdt' })
    resultOf(await dated.login(trader.client.credential!))
    refusedCall(await dated.call('futures.order_place', BUY), 404, 'NOT_FOUND', /here do futures\.login$/)
    const { user_id } = trader
    const reads = await platform.key(user_id, [{ name: 'futures', read_only: true }])
    const reader = new CallLine(platform, { product: 'futures', settle: 'btc' })
    resultOf(await reader.login(reads))
    assert.equal(resultOf(await reader.call('futures.order_list', { status: 'open' })).length, 1)
    refusedCall(await reader.call('futures.order_cancel', { order_id: placed.id }), 403, 'READ_ONLY')
    const other = await platform.key(user_id, [{ name: 'delivery', read_only: false }])
    const wrong = new CallLine(platform, { product: 'futures', settle: 'btc' })
    refusedCall(await wrong.login(other), 403, 'FORBIDDEN', /"futures"/)
  })

  test('sizes are texts where the handshake or the call asks for it', async () => {
    const { line } = await logged({ sizeTexts: true })
    assert.equal(resultOf(await line.call('futures.order_place', BUY)).size, '5')
    const { line: plain } = await logged()
    assert.equal(resultOf(await plain.call('futures.order_place', BUY)).size, 5)
    const asked = { req_header: { 'x-gate-size-decimal': '1' } }
    assert.equal(resultOf(await plain.call('futures.order_place', BUY, asked)).left, '5')
  })

  test('refusals are REST’s, with an ack where the shape was good; a call expires', async () => {
    const { trader, line } = await logged()
    const bad = { ...BUY, size: 5_000_000 }
    const rest = await trader.place(5_000_000, '59000')
    const answer = await line.call('futures.order_place', bad)
    refusedCall(answer, rest.status, rest.body.label as string)
    assert.equal(acks(line).length, 1)
    refusedCall(
      await line.call('futures.order_place', { ...BUY, tif: 'x' }),
      400,
      'INVALID_PARAM_VALUE',
      /tif/,
    )
    refusedCall(await line.call('futures.order_batch_place', BUY), 400, 'INVALID_PARAM_VALUE')
    const expired = { req_header: { 'X-Gate-ExpTime': '1600000000000' } }
    refusedCall(await line.call('futures.order_place', BUY, expired), 401, 'REQUEST_EXPIRED')
    assert.equal(acks(line).length, 1)
  })
})

/** The clock stands: no window passes by itself, however long the calls take. */
describe('windows of calls of contracts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1790000000', KONTOR_RATE_LIMITS: '1' })
    await setIndex(platform, { BTC: '60000' })
  })
  after(() => platform.stop())
  const logged = async (): Promise<{ trader: ContractTrader; line: CallLine }> => {
    const trader = await ContractTrader.of(platform, '100000')
    const line = new CallLine(platform, { product: 'futures', settle: 'usdt' })
    await line.login(trader.client.credential!)
    return { trader, line }
  }
  const cancel = (line: CallLine): Promise<ApiAnswer> =>
    line.call('futures.order_cancel', { order_id: 999_999 })
  const full = /100 requests in 1 s for futures\.calls.*\(311\)$/
  const fillRest = async (line: CallLine): Promise<void> => {
    for (let i = 0; i < 10; i++)
      resultOf(
        await line.call(
          'futures.order_batch_place',
          Array.from({ length: 10 }, () => BUY),
        ),
      )
  }

  test('100 in a second, whatever they are; placements count in REST’s window too', async () => {
    const { trader, line } = await logged()
    const first = resultOf(await line.call('futures.order_place', BUY))
    const ack = line.frames.find(({ ack }) => ack === true)
    assert.equal(ack!.header.x_gate_ratelimit_limit, 100)
    const answers = await Promise.all(Array.from({ length: 110 }, () => cancel(line)))
    const limited = answers.filter(({ header }) => header.status === '429')
    assert.equal(limited.length, 11)
    refusedCall(limited[0]!, 429, 'TOO_MANY_REQUESTS', full)
    assert.ok(limited[0]!.header.x_gate_ratelimit_reset_timestamp > 0)
    // A query has no window of its own.
    resultOf(await line.call('futures.order_status', { order_id: first.id }))
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
    await fillRest(line)
    const over = await trader.place(5, '59000')
    assert.equal(`${over.status} ${over.body.label as string}`, '429 TOO_MANY_REQUESTS')
  })

  test('a placement that REST’s window refuses counts in none, so that orders can be taken back', async () => {
    const { line } = await logged()
    await fillRest(line)
    for (let i = 0; i < 100; i++)
      refusedCall(await line.call('futures.order_place', BUY), 429, 'TOO_MANY_REQUESTS')
    for (let i = 0; i < 90; i++) refusedCall(await cancel(line), 404, 'ORDER_NOT_FOUND')
    refusedCall(await cancel(line), 429, 'TOO_MANY_REQUESTS', full)
  })
})
