import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { ApiClient, UnifiedApi, UnifiedLoan, UnifiedModeSet } from 'gate-api'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

/** The real clients, unchanged, on a unified account. */
describe('clients on a unified account', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000' })
  })
  after(() => platform.stop())

  test('gate-api: mode, balances, borrow, interest, repay', async () => {
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    const client = new ApiClient(`${platform.url}/api/v4`)
    client.setApiKeySecret(credential.key, credential.secret)
    const api = new UnifiedApi(client)
    const mode = new UnifiedModeSet()
    mode.mode = 'multi_currency'
    await api.setUnifiedMode(mode)
    assert.equal((await api.getUnifiedMode()).body.mode, 'multi_currency')
    const loan = new UnifiedLoan()
    loan.currency = 'BTC'
    loan.type = UnifiedLoan.Type.Borrow
    loan.amount = '0.1'
    assert.ok(Number((await api.createUnifiedLoan(loan)).body.tranId) > 0)
    const { body: account } = await api.listUnifiedAccounts({})
    assert.equal(account.totalInitialMargin, '600')
    assert.equal((await api.listUnifiedLoans({})).body[0]!.amount, '0.1')
    await api.getUnifiedTransferables('BTC,USDT')
    loan.type = UnifiedLoan.Type.Repay
    loan.repaidAll = true
    await api.createUnifiedLoan(loan)
    assert.deepEqual((await api.listUnifiedLoans({})).body, [])
  })

  test('ccxt: balances, borrow, orders, interest history, repay', async () => {
    const { user_id, client, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    await client.put('/unified/unified_mode', { mode: 'multi_currency' })
    const maker = await Trader.of(platform, { BTC: '1' })
    await maker.placed('sell', '1', '60000')
    const exchange = new ccxt.gate({
      apiKey: credential.key,
      secret: credential.secret,
      options: { unifiedAccount: true, fetchMarkets: { types: ['spot'] } },
    })
    const api = exchange.urls['api'] as unknown as Record<'public' | 'private', Record<string, string>>
    for (const group of [api.public, api.private])
      for (const name of Object.keys(group)) group[name] = `${platform.url}/api/v4`
    await exchange.loadMarkets()
    assert.equal(exchange.market('BTC/USDT')['margin'], true)
    await exchange.borrowCrossMargin('USDT', 5000)
    const balance = await exchange.fetchBalance()
    assert.equal(balance['USDT']!.total, 15000)
    const order = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.2, 60000)
    assert.equal((await exchange.fetchOrder(order.id!, 'BTC/USDT')).status, 'closed')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3600 })
    ;(exchange as unknown as { nonce: () => number }).nonce = () => Math.floor(platform.now() * 1000)
    const [interest] = await exchange.fetchBorrowInterest('USDT', undefined, undefined, 10)
    assert.ok(interest!.interest! > 0)
    await exchange.repayCrossMargin('USDT', 1000)
  })
})
