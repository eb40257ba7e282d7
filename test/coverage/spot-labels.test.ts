import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused, send, type Client, type Reply } from '../support/client.ts'
import { sign, bodyDigest, signatureString } from '../../src/api/signature.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import { deposit, mine } from '../support/wallet.ts'

/** Labels that calls of markets and margin share with others, told by each of them. */
describe('labels of spot, margin and unified accounts, by every call that has them', () => {
  let platform: TestPlatform
  let maker: Trader
  const folder = mkdtempSync(join(tmpdir(), 'kontor-spot-labels-'))
  before(async () => {
    const { unified, limits, currencies } = BUILT_IN_WORLD
    const world = {
      // A quick repayment that is dear and soon used up, and few open orders.
      unified: {
        ...unified,
        isolated: unified.isolated.filter(({ currency_pair }) => currency_pair !== 'GT_USDT'),
        quick_repay_spread: '0.2',
        quick_repay_hour_usdt: '200',
      },
      limits: { ...limits, open_orders_max: 3 },
      // A coin that nobody prices until somebody does.
      currencies: currencies.map((row) => (row.currency === 'GT' ? { ...row, index_price: '0' } : row)),
    }
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(world))
    platform = await TestPlatform.start({ KONTOR_CONFIG: path })
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await Trader.of(platform, { BTC: '100', ETH: '100', USDT: '1000000' })
  })
  after(async () => {
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const member = async (mode: string, funds: Readonly<Record<string, string>>, settings?: object) => {
    const trader = await Trader.of(platform, funds)
    const body = { mode, ...(settings !== undefined && { settings }) }
    ok(await trader.client.put('/unified/unified_mode', body), 204)
    return trader
  }
  const borrow = (client: Client, currency: string, amount: string): Promise<Reply> =>
    client.post('/unified/loans', { currency, amount, type: 'borrow' })
  const borrowAll = async (client: Client, currency: string): Promise<void> => {
    const { amount } = ok(await client.get('/unified/borrowable', { currency }))
    ok(await borrow(client, currency, amount as string))
  }
  const market = (pair: string, change: object): Promise<unknown> =>
    platform.operator.ok('PATCH', `/markets/${pair}`, change)
  /** An account of a family that a reorganisation left below zero. */
  const owing = async (): Promise<Trader> => {
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
    const trader = await Trader.of(platform, {})
    const { txid } = await deposit(platform, trader.user_id, '1')
    await mine(platform, 'ETH', 30)
    const move = { currency: 'ETH', from: 'spot', to: 'margin', amount: '1', currency_pair: 'ETH_USDT' }
    ok(await trader.client.post('/wallet/transfers', move))
    await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 30, drop: [txid] })
    return trader
  }

  test('small balances: what has no price, and what debts need', async () => {
    const { client, user_id } = await member('multi_currency', { USDT: '100', ETH: '0.0003' })
    const turn = (): Promise<Reply> => client.post('/wallet/small_balance', { currency: ['ETH'] })
    refused(await turn(), 400, 'TRADE_RESTRICTED', /GT/)
    await setIndex(platform, { GT: '5' })
    await borrowAll(client, 'BTC')
    refused(await turn(), 400, 'BALANCE_NOT_ENOUGH', /debts/)
    await platform.credit(user_id, 'USDT', '10')
    ok(await turn())
  })

  test('an order of a margin account that is amended beyond what is there', async () => {
    const { client } = await Trader.of(platform, { USDT: '1000' })
    const pair = { currency_pair: 'BTC_USDT' }
    ok(
      await client.post('/wallet/transfers', {
        ...pair,
        currency: 'USDT',
        from: 'spot',
        to: 'margin',
        amount: '600',
      }),
    )
    const order = { ...pair, side: 'buy', amount: '0.01', price: '50000', account: 'margin' }
    const { id } = ok(await client.post('/spot/orders', order), 201)
    const change = { ...pair, account: 'margin', amount: '0.02' }
    refused(await client.patch(`/spot/orders/${String(id)}`, change), 400, 'MARGIN_BALANCE_NOT_ENOUGH')
  })

  test('buying back a debt in a market that is closed', async () => {
    const { client } = await member('multi_currency', { USDT: '5000' })
    const buy = (amount: string, price: string, more: object = {}): Promise<Reply> =>
      client.post('/spot/cross_liquidate_orders', { currency_pair: 'ETH_USDT', amount, price, ...more })
    const eth = { currency_pair: 'ETH_USDT' }
    const bids = ok(await maker.place('buy', '2', '2999', eth), 201)
    ok(await borrow(client, 'ETH', '1'))
    ok(await client.post('/spot/orders', { ...eth, side: 'sell', amount: '1', price: '2999' }), 201)
    await market('ETH_USDT', { trade_status: 'sellable', up_rate: '0.1' })
    refused(await buy('0.1', '3000.001'), 400, 'INVALID_PRECISION')
    refused(await buy('0.0001', '3000'), 400, 'AMOUNT_TOO_LITTLE')
    refused(await buy('0.1', '3400'), 400, 'PRICE_THRESHOLD_EXCEEDED')
    await market('ETH_USDT', { up_rate: '9' })
    refused(await buy('1', '20000'), 400, 'BALANCE_NOT_ENOUGH')
    await platform.operator.ok('POST', '/markets/ETH_USDT/halt', { reason: 'look' })
    refused(await buy('0.1', '3000'), 400, 'TRADE_RESTRICTED', /halted/)
    await platform.operator.ok('POST', '/markets/ETH_USDT/resume', { reason: 'looked' })
    ok(await buy('0.1', '2000', { text: 't-one' }), 201)
    refused(await buy('0.1', '2000', { text: 't-one' }), 400, 'DUPLICATE_REQUEST')
    for (const text of ['t-two', 't-three']) ok(await buy('0.1', '2000', { text }), 201)
    refused(await buy('0.1', '2000'), 400, 'TOO_MANY_ORDERS')
    await market('ETH_USDT', { trade_status: 'tradable' })
    ok(await maker.client.delete(`/spot/orders/${String(bids.id)}`, eth))
  })

  test('orders that wait: a price between two ticks, and one request twice', async () => {
    const { user_id, client } = await Trader.of(platform, { USDT: '1000' })
    const body = (price: string, text?: string): object => ({
      market: 'BTC_USDT',
      trigger: { price, rule: '<=', expiration: 60 },
      put: { side: 'buy', price: '50000', amount: '0.01', account: 'normal', ...(text && { text }) },
    })
    refused(await client.post('/spot/price_orders', body('50000.123')), 400, 'INVALID_PRECISION')
    const key = await platform.operator.ok('POST', `/users/${user_id}/keys`, {
      name: 'once',
      mode: 1,
      perms: [{ name: 'spot', read_only: false }],
      replay_protection: true,
    })
    const [path, timestamp] = ['/api/v4/spot/price_orders', String(Math.floor(platform.now()))]
    const text = JSON.stringify(body('50000', 't-wait'))
    const message = signatureString({
      method: 'POST',
      path,
      query: '',
      bodyDigest: bodyDigest(Buffer.from(text)),
      timestamp,
    })
    const headers = {
      KEY: key.key,
      Timestamp: timestamp,
      SIGN: sign(key.secret, message),
      'Content-Type': 'application/json',
    }
    ok(await send(platform.url, 'POST', path, text, headers), 201)
    refused(await send(platform.url, 'POST', path, text, headers), 400, 'DUPLICATE_REQUEST')
  })

  test('a closed market takes no share of its volume', async () => {
    await market('XRP_USDT', { trade_status: 'untradable' })
    const { client } = await Trader.of(platform, { USDT: '1000' })
    const order = { currency_pair: 'XRP_USDT', side: 'buy', amount: '100', participation_rate: 0.1 }
    refused(await client.post('/spot/pov_orders', { ...order, ttl: '60' }), 400, 'TRADE_RESTRICTED')
    await market('XRP_USDT', { trade_status: 'tradable' })
  })

  test('a mode that would leave a hedge without margin', async () => {
    const hedged = await member('portfolio', { USDT: '200', BTC: '0.1' }, { spot_hedge: true })
    const other = await ContractTrader.of(platform, '100000')
    await other.placed(6_000, '60000')
    await new ContractTrader(hedged.user_id, hedged.client).placed(-6_000, '60000')
    const bare = { mode: 'portfolio', settings: { spot_hedge: false } }
    refused(await hedged.client.put('/unified/unified_mode', bare), 400, 'INITIAL_MARGIN_TOO_LOW')
    refused(await hedged.client.post('/unified/account_mode', bare), 400, 'INITIAL_MARGIN_TOO_LOW')
  })

  test('quick repayment: nothing to pay with, too dear, and the quota of the hour', async () => {
    const repay = (client: Client): Promise<Reply> =>
      client.post('/unified/quick_repayment', { debt_currencies: ['BTC'], available_currencies: ['USDT'] })
    const poor = await member('multi_currency', { ETH: '10' })
    ok(await borrow(poor.client, 'BTC', '0.01'))
    refused(await repay(poor.client), 400, 'BALANCE_NOT_ENOUGH')
    const tight = await member('multi_currency', { USDT: '1000' })
    await borrowAll(tight.client, 'BTC')
    // A fifth is lost by each exchange, and a debt needs a tenth.
    refused(await repay(tight.client), 400, 'INITIAL_MARGIN_TOO_LOW')
    const rich = await member('multi_currency', { USDT: '10000' })
    ok(await borrow(rich.client, 'BTC', '0.1'))
    ok(await repay(rich.client))
    refused(await repay(rich.client), 400, 'AMOUNT_TOO_MUCH', /quota/)
  })

  test('the calculator knows what is listed alone', async () => {
    const ask = (body: object): Promise<Reply> =>
      platform.client().post('/unified/portfolio_calculator', body)
    const balance = { spot_balances: [{ currency: 'NOPE', equity: '1' }] }
    refused(await ask(balance), 400, 'INVALID_CURRENCY')
    const order = { currency_pairs: 'USDT_BTC', order_price: '1', left: '1', type: 'buy' }
    refused(await ask({ spot_orders: [order] }), 400, 'INVALID_CURRENCY_PAIR')
  })

  test('isolated margin: leverage, and loans', async () => {
    const { client } = await Trader.of(platform, { USDT: '1000', DOGE: '100' })
    const leverage = (currency_pair: string, value: string): Promise<Reply> =>
      client.post('/margin/leverage/user_market_setting', { currency_pair, leverage: value })
    refused(await leverage('GT_USDT', '3'), 400, 'MARGIN_NOT_SUPPORTED')
    refused(await leverage('BTC_USDT', '1'), 400, 'LEVERAGE_TOO_LOW')
    const loan = (amount: string, more: object = {}): Promise<Reply> =>
      client.post('/margin/uni/loans', {
        currency: 'USDT',
        currency_pair: 'BTC_USDT',
        type: 'borrow',
        amount,
        ...more,
      })
    const into = { currency: 'USDT', currency_pair: 'BTC_USDT', from: 'spot', to: 'margin', amount: '100' }
    ok(await client.post('/wallet/transfers', into))
    refused(await loan('100000000'), 400, 'AMOUNT_TOO_MUCH')
    refused(await loan('1', { currency_pair: 'GT_USDT' }), 400, 'MARGIN_NOT_SUPPORTED')
    ok(await loan('100'), 204)
    refused(await loan('200', { type: 'repay' }), 400, 'REPAY_TOO_MUCH')
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.003', price: '60000' }
    ok(await client.post('/spot/orders', { ...order, account: 'margin' }), 201)
    refused(await loan('100', { type: 'repay' }), 400, 'MARGIN_BALANCE_NOT_ENOUGH')
    await platform.operator.ok('POST', '/markets/DOGE_USDT/delist', { reason: 'test' })
    refused(await loan('10', { currency_pair: 'DOGE_USDT' }), 400, 'TRADE_RESTRICTED', /delisted/)
  })

  test('an order borrows nothing in a market without isolated margin, though there is money in its margin account', async () => {
    const { client } = await Trader.of(platform, { USDT: '1000' })
    const pair = { currency_pair: 'GT_USDT' }
    const into = { ...pair, currency: 'USDT', from: 'spot', to: 'margin', amount: '100' }
    ok(await client.post('/wallet/transfers', into))
    const order = { ...pair, side: 'buy', amount: '15', price: '8', account: 'margin', auto_borrow: true }
    refused(await client.post('/spot/orders', order), 400, 'MARGIN_NOT_SUPPORTED', /GT_USDT/)
    // As on an account that can't borrow, it is no matter whether anything is missing.
    refused(await client.post('/spot/orders', { ...order, amount: '5' }), 400, 'MARGIN_NOT_SUPPORTED')
    assert.deepEqual(ok(await client.get('/margin/uni/loans')), [])
    ok(await client.post('/spot/orders', { ...order, amount: '5', auto_borrow: false }), 201)
  })

  test('nothing is lent to a family that owes, however it asks', async () => {
    const { client, user_id } = await owing()
    await platform.credit(user_id, 'USDT', '1000')
    const pair = { currency_pair: 'BTC_USDT' }
    ok(
      await client.post('/wallet/transfers', {
        ...pair,
        currency: 'USDT',
        from: 'spot',
        to: 'margin',
        amount: '500',
      }),
    )
    const loan = { ...pair, currency: 'USDT', type: 'borrow', amount: '100' }
    refused(await client.post('/margin/uni/loans', loan), 400, 'NEGATIVE_ASSETS', /ETH/)
    const order = { ...pair, side: 'buy', amount: '0.01', price: '59000', account: 'margin' }
    refused(await client.post('/spot/orders', { ...order, auto_borrow: true }), 400, 'NEGATIVE_ASSETS', /ETH/)
  })
})
