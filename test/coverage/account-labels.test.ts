import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client, type Reply } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

/** Labels that calls of accounts share with others, told by each of them: modes, unified accounts, sub-accounts. */
describe('labels of accounts, by every call that has them', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
  })
  after(() => platform.stop())
  const member = async (mode: string, funds: Readonly<Record<string, string>>, settings?: object) => {
    const { user_id, client } = await platform.user()
    for (const [currency, amount] of Object.entries(funds)) await platform.credit(user_id, currency, amount)
    if (mode !== 'classic')
      ok(
        await client.put('/unified/unified_mode', { mode, ...(settings !== undefined && { settings }) }),
        204,
      )
    return { user_id, client }
  }
  const borrow = (client: Client, currency: string, amount: string): Promise<Reply> =>
    client.post('/unified/loans', { currency, amount, type: 'borrow' })

  test('the mode, as older clients switch it', async () => {
    const { user_id, client } = await member('multi_currency', { USDT: '10000' }, { usdt_futures: true })
    const trader = new ContractTrader(user_id, client)
    const post = (mode: string, settings?: object): Promise<Reply> =>
      client.post('/unified/account_mode', { mode, ...(settings !== undefined && { settings }) })
    refused(await post('multi_currency'), 400, 'MODE_SET')
    ok(await borrow(client, 'BTC', '0.01'))
    refused(await post('classic'), 400, 'USER_LIAB')
    ok(
      await client.post('/unified/loans', {
        currency: 'BTC',
        amount: '0.01',
        type: 'repay',
        repaid_all: true,
      }),
    )
    const order = {
      currency_pair: 'BTC_USDT',
      side: 'buy',
      amount: '0.01',
      price: '50000',
      account: 'unified',
    }
    const { id } = ok(await client.post('/spot/orders', order), 201)
    refused(await post('classic'), 400, 'USER_PENDING_ORDERS')
    ok(await client.delete(`/spot/orders/${String(id)}`, { currency_pair: 'BTC_USDT' }))
    const maker = await ContractTrader.of(platform, '10000')
    await maker.placed(-10, '60000')
    await trader.placed(10, '60000')
    refused(await post('portfolio'), 400, 'POSITION_HOLDING')
  })

  test('single_currency lends nothing, by every call that would', async () => {
    const { client } = await member('single_currency', { USDT: '1000' })
    const none = 'MARGIN_NOT_SUPPORTED'
    refused(await client.post('/unified/collateral_currencies', { collateral_type: 0 }), 400, none)
    for (const path of ['user_currency_config', 'user_currency_setting'])
      refused(await client.get(`/unified/leverage/${path}`, { currency: 'BTC' }), 400, none)
    refused(
      await client.post('/unified/leverage/user_currency_setting', { currency: 'BTC', leverage: '2' }),
      400,
      none,
    )
    refused(await client.post('/unified/leverage/user_setting', { leverage: '2' }), 400, none)
    const repayment = { debt_currencies: ['BTC'], available_currencies: ['USDT'] }
    refused(await client.get('/unified/estimated_quick_repayment'), 400, none)
    refused(await client.post('/unified/quick_repayment', repayment), 400, none)
    const classic = await platform.user()
    refused(
      await classic.client.get('/unified/batch_borrowable', { currencies: 'BTC' }),
      400,
      'ACCOUNT_EXCEPTION',
    )
  })

  test('leverage that would leave a debt without margin', async () => {
    const { client } = await member('multi_currency', { USDT: '1000' })
    ok(await borrow(client, 'BTC', '0.1'))
    const currency = { currency: 'BTC', leverage: '1' }
    refused(
      await client.post('/unified/leverage/user_currency_setting', currency),
      400,
      'INITIAL_MARGIN_TOO_LOW',
    )
    refused(
      await client.post('/unified/leverage/user_setting', { leverage: '1' }),
      400,
      'INITIAL_MARGIN_TOO_LOW',
    )
  })

  test('sub-accounts: contracts of a unified one, and a ceiling', async () => {
    const main = await platform.user()
    await platform.credit(main.user_id, 'USDT', '1000')
    const [shared, other] = [
      await platform.user({ parent: main.user_id }),
      await platform.user({ parent: main.user_id }),
    ]
    for (const { user_id } of [shared, other]) await platform.credit(user_id, 'USDT', '1000')
    ok(await shared.client.put('/unified/unified_mode', { mode: 'single_currency' }), 204)
    await platform.operator.ok('PATCH', `/users/${other.user_id}`, { futures_ceiling: '50' })
    const move = (sub_account: number, amount: string): Promise<Reply> =>
      main.client.post('/wallet/sub_account_transfers', {
        sub_account,
        sub_account_type: 'futures',
        currency: 'USDT',
        amount,
        direction: 'to',
      })
    refused(await move(shared.user_id, '1'), 400, 'ACCOUNT_EXCEPTION')
    refused(await move(other.user_id, '51'), 400, 'TOO_MUCH_FUTURES_AVAILABLE')
    const between = (from: number, kind: string, to: number, into: string, amount: string): Promise<Reply> =>
      main.client.post('/wallet/sub_account_to_sub_account', {
        currency: 'USDT',
        amount,
        sub_account_from: from,
        sub_account_from_type: kind,
        sub_account_to: to,
        sub_account_to_type: into,
      })
    const [one, two] = [shared.user_id, other.user_id]
    refused(await between(two, 'spot', one, 'futures', '1'), 400, 'ACCOUNT_EXCEPTION')
    refused(await between(one, 'spot', two, 'futures', '51'), 400, 'TOO_MUCH_FUTURES_AVAILABLE')
    refused(await between(two, 'futures', one, 'spot', '1'), 400, 'FUTURES_BALANCE_NOT_ENOUGH')
  })

  test('sub-accounts: nothing of what is being delisted goes where it would stand in the way', async () => {
    const main = await platform.user()
    const [one, two] = [
      await platform.user({ parent: main.user_id }),
      await platform.user({ parent: main.user_id }),
    ]
    for (const { user_id } of [main, one]) await platform.credit(user_id, 'POINT', '10')
    await platform.operator.ok('POST', '/currencies/POINT/delist', {})
    const points = { currency: 'POINT', amount: '1' }
    refused(
      await main.client.post('/wallet/sub_account_transfers', {
        ...points,
        sub_account: one.user_id,
        sub_account_type: 'futures',
        direction: 'to',
      }),
      400,
      'TRADE_RESTRICTED',
      /POINT is being delisted/,
    )
    refused(
      await main.client.post('/wallet/sub_account_to_sub_account', {
        ...points,
        sub_account_from: one.user_id,
        sub_account_from_type: 'spot',
        sub_account_to: two.user_id,
        sub_account_to_type: 'futures',
      }),
      400,
      'TRADE_RESTRICTED',
    )
  })

  test('orders: what has ended, what is not there, what is too much', async () => {
    const { user_id, client } = await member('classic', { USDT: '1000', BTC: '1' })
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '50000' }
    const { id } = ok(await client.post('/spot/orders', order), 201)
    const path = `/orders/${String(id)}`
    await platform.operator.ok('DELETE', path)
    refused(await platform.operator.call('DELETE', path), 404, 'ORDER_NOT_FOUND')
    const pair = { currency_pair: 'BTC_USDT' }
    const amend = (name: unknown, change: object): Promise<Reply> =>
      client.patch(`/spot/orders/${String(name)}`, { ...pair, ...change })
    refused(await amend(id, { price: '51000' }), 400, 'ORDER_CANCELLED')
    refused(await amend('t-nobody', { price: '51000' }), 404, 'CLIENT_ID_NOT_FOUND')
    const sold = ok(await client.post('/spot/orders', { ...order, side: 'sell', price: '60000' }), 201)
    const buyer = await member('classic', { USDT: '1000' })
    ok(await buyer.client.post('/spot/orders', { ...order, price: '60000' }), 201)
    refused(await amend(sold.id, { price: '61000' }), 400, 'ORDER_CLOSED')
    refused(await client.delete(`/spot/orders/${String(sold.id)}`, pair), 400, 'ORDER_CLOSED')
    const open = ok(await client.post('/spot/orders', { ...order, price: '59000' }), 201).id
    refused(await amend(open, { amount: '0.00001' }), 400, 'AMOUNT_TOO_LITTLE')
    refused(await amend(open, { amount: '5000' }), 400, 'AMOUNT_TOO_MUCH')
    refused(await amend(open, { price: '900000' }), 400, 'PRICE_THRESHOLD_EXCEEDED')
    refused(
      await platform.operator.call('GET', `/users/${user_id}/risk/explain?scope=USDT_BTC`),
      400,
      'INVALID_CURRENCY_PAIR',
    )
  })
})
