import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client, type Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('transfers between own accounts', () => {
  let platform: TestPlatform
  let client: Client
  let user_id: number
  before(async () => {
    platform = await TestPlatform.start()
    ;({ client, user_id } = await platform.user())
    await platform.credit(user_id, 'USDT', '1000')
    await platform.credit(user_id, 'BTC', '1')
    await platform.credit(user_id, 'POINT', '50')
  })
  after(() => platform.stop())
  const move = (body: Record<string, unknown>): Promise<Reply> =>
    client.post('/wallet/transfers', { currency: 'USDT', amount: '10', ...body })

  test('spot to each kind of account and back; each step moves exactly its amount', async () => {
    for (const [kind, scope, currency] of [
      ['margin', { currency_pair: 'BTC_USDT' }, 'USDT'],
      ['margin', { currency_pair: 'btc_usdt' }, 'BTC'],
      ['futures', { settle: 'usdt' }, 'USDT'],
      ['futures', { settle: 'BTC' }, 'BTC'],
      ['futures', { settle: 'usdt' }, 'POINT'],
      ['delivery', { settle: 'USDT' }, 'USDT'],
      ['options', {}, 'USDT'],
      ['options', { settle: 'usdt' }, 'USDT'],
    ] as const) {
      const spot = await platform.balance(user_id, currency)
      const there = await platform.balance(user_id, currency, kind)
      const { tx_id } = ok(
        await move({ from: 'spot', to: kind, currency: currency.toLowerCase(), amount: '0.5', ...scope }),
      )
      assert.equal(Number(await platform.balance(user_id, currency)), Number(spot) - 0.5)
      assert.equal(Number(await platform.balance(user_id, currency, kind)), Number(there) + 0.5)
      assert.deepEqual(ok(await client.get('/wallet/transfers', { tx_id })), {
        tx_id: String(tx_id),
        status: 'success',
        currency,
        amount: '0.5',
        from_account: 'spot',
        to_account: kind,
        settle: 'settle' in scope ? scope.settle.toLowerCase() : kind === 'options' ? 'usdt' : '',
        currency_pair: 'currency_pair' in scope ? 'BTC_USDT' : '',
      })
      assert.deepEqual(ok(await client.get('/wallet/order_status', { tx_id })), {
        tx_id: String(tx_id),
        status: 'SUCCESS',
      })
      ok(await move({ from: kind, to: 'spot', currency, amount: '0.5', ...scope }))
      assert.equal(await platform.balance(user_id, currency), spot)
    }
  })
  test('what is refused leaves no trace', async () => {
    const balances = await platform.operator.ok('GET', `/users/${user_id}/balances`)
    const futures = { from: 'spot', to: 'futures', settle: 'usdt' }
    const margin = { from: 'spot', to: 'margin', currency_pair: 'BTC_USDT' }
    for (const [body, label, mention] of [
      [{ ...futures, currency: 'XYZ' }, 'INVALID_CURRENCY', /XYZ/],
      [{ ...futures, settle: undefined }, 'MISSING_REQUIRED_PARAM', /settle/],
      [{ ...futures, settle: 'eth' }, 'INVALID_PARAM_VALUE', /settle.*"eth"/],
      [{ ...futures, settle: 'btc' }, 'INVALID_PARAM_VALUE', /BTC or POINT, not USDT/],
      [{ ...futures, amount: '1.123456789' }, 'INVALID_PARAM_VALUE', /8 decimals/],
      [{ ...futures, amount: '1.0000000000000000001' }, 'INVALID_PARAM_VALUE', /18 decimals/],
      [{ ...futures, amount: `1${'0'.repeat(30)}` }, 'INVALID_PARAM_VALUE', /20 digits before the point/],
      [{ ...futures, amount: '1000.00000001' }, 'BALANCE_NOT_ENOUGH', /1000 available/],
      [{ ...futures, from: 'futures', to: 'spot' }, 'FUTURES_BALANCE_NOT_ENOUGH', /futures/],
      [{ from: 'delivery', to: 'spot', settle: 'usdt' }, 'FUTURES_BALANCE_NOT_ENOUGH', /delivery/],
      [{ from: 'options', to: 'spot' }, 'FUTURES_BALANCE_NOT_ENOUGH', /options/],
      [{ ...margin, currency_pair: undefined }, 'MISSING_REQUIRED_PARAM', /currency_pair/],
      [{ ...margin, currency_pair: 'BTC_ETH' }, 'INVALID_CURRENCY_PAIR', /BTC_ETH/],
      [{ ...margin, currency_pair: 'BTC_XYZ' }, 'INVALID_CURRENCY', /XYZ/],
      [{ ...margin, currency: 'ETH' }, 'INVALID_PARAM_VALUE', /BTC and USDT, not ETH/],
      [{ ...margin, from: 'margin', to: 'spot' }, 'MARGIN_BALANCE_NOT_ENOUGH', /margin/],
      [{ from: 'spot', to: 'spot' }, 'INVALID_PARAM_VALUE', /to: "spot"/],
      [
        { from: 'futures', to: 'margin', settle: 'usdt', currency_pair: 'BTC_USDT' },
        'INVALID_PARAM_VALUE',
        /one side must be spot/,
      ],
      [{ from: 'spot', to: 'cross_margin' }, 'INVALID_PARAM_VALUE', /to: "cross_margin" must be one of/],
      [{ from: 'spot', to: 'options', currency: 'BTC' }, 'INVALID_PARAM_VALUE', /USDT or POINT/],
    ] as const)
      refused(await move(body), 400, label, mention)
    assert.deepEqual(await platform.operator.ok('GET', `/users/${user_id}/balances`), balances)
  })
  test('a contract account has a ceiling, checked after the funds; the way out is free', async () => {
    const { client: other, user_id: id } = await platform.user()
    await platform.credit(id, 'USDT', '100')
    await platform.operator.ok('PATCH', `/users/${id}`, { futures_ceiling: '50' })
    const futures = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt' }
    refused(await other.post('/wallet/transfers', { ...futures, amount: '200' }), 400, 'BALANCE_NOT_ENOUGH')
    refused(
      await other.post('/wallet/transfers', { ...futures, amount: '50.00000001' }),
      400,
      'TOO_MUCH_FUTURES_AVAILABLE',
      /ceiling of 50/,
    )
    ok(await other.post('/wallet/transfers', { ...futures, amount: '50' }))
    refused(
      await other.post('/wallet/transfers', { ...futures, amount: '0.00000001' }),
      400,
      'TOO_MUCH_FUTURES_AVAILABLE',
    )
    ok(await other.post('/wallet/transfers', { ...futures, from: 'futures', to: 'spot', amount: '50' }))
  })
  test('a transfer is seen by its owner alone', async () => {
    const { tx_id } = ok(await move({ from: 'spot', to: 'futures', settle: 'usdt', amount: '1' }))
    const other = await platform.user()
    for (const path of ['/wallet/transfers', '/wallet/order_status'])
      refused(await other.client.get(path, { tx_id }), 404, 'NOT_FOUND', new RegExp(String(tx_id)))
    refused(await client.get('/wallet/transfers'), 400, 'MISSING_REQUIRED_PARAM', /tx_id/)
    refused(
      await client.get('/wallet/order_status'),
      400,
      'MISSING_REQUIRED_PARAM',
      /tx_id or client_order_id/,
    )
    refused(await client.get('/wallet/order_status', { tx_id: 'abc' }), 400, 'INVALID_PARAM_VALUE', /"abc"/)
    refused(await client.get('/wallet/order_status', { client_order_id: 'none' }), 404, 'NOT_FOUND', /none/)
  })
})
