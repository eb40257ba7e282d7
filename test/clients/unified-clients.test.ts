import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import ccxt from 'ccxt'
import {
  ApiClient,
  CreateUniLoan,
  MarginUniApi,
  Order,
  QuickRepaymentRequest,
  SpotApi,
  UnifiedApi,
  UnifiedCollateralReq,
  UnifiedLeverageSetting,
  UnifiedLoan,
  UnifiedModeSet,
  UnifiedPortfolioInput,
} from 'gate-api'
import type { Credential } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

const HOUR = 3600

/** The real clients, unchanged, on a unified account. */
describe('clients on a unified account', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
  })
  after(() => platform.stop())
  const funded = async (): Promise<Credential> => {
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    return credential
  }
  const sdk = ({ key, secret }: Credential): ApiClient => {
    const client = new ApiClient(`${platform.url}/api/v4`)
    client.setApiKeySecret(key, secret)
    return client
  }
  const loanOf = (type: UnifiedLoan.Type, currency: string, amount: string): UnifiedLoan =>
    Object.assign(new UnifiedLoan(), { type, currency, amount })
  const modeOf = (mode: string): UnifiedModeSet => Object.assign(new UnifiedModeSet(), { mode })

  test('gate-api: mode, balances, borrow, interest, orders, repay', async () => {
    const client = sdk(await funded())
    const [api, spot] = [new UnifiedApi(client), new SpotApi(client)]
    assert.equal((await api.getUnifiedMode()).body.mode, 'classic')
    await assert.rejects(
      api.listUnifiedAccounts({}),
      (error: { response?: { data?: { label?: string } } }) => {
        assert.equal(error.response?.data?.label, 'ACCOUNT_EXCEPTION')
        return true
      },
    )
    await api.setUnifiedMode(modeOf('multi_currency'))
    assert.equal((await api.getUnifiedMode()).body.mode, 'multi_currency')
    const { tranId } = (await api.createUnifiedLoan(loanOf(UnifiedLoan.Type.Borrow, 'BTC', '0.1'))).body
    assert.ok(Number(tranId) > 0)
    const { body: account } = await api.listUnifiedAccounts({})
    assert.equal(account.totalInitialMargin, '600')
    assert.equal(account.balances!['BTC']!.borrowed, '0.1')
    assert.equal((await api.listUnifiedLoans({})).body[0]!.amount, '0.1')
    const maker = await Trader.of(platform, { USDT: '10000' })
    await maker.placed('buy', '0.1', '60000')
    const order = Object.assign(new Order(), {
      currencyPair: 'BTC_USDT',
      account: 'unified',
      side: Order.Side.Sell,
      amount: '0.05',
      price: '60000',
      autoRepay: true,
    })
    const placed = (await spot.createOrder(order, {})).body
    assert.deepEqual([placed.account, placed.status, placed.finishAs], ['unified', 'closed', 'filled'])
    await platform.operator.ok('POST', '/clock', { advance_seconds: 30 })
    const { body: transferables } = await api.getUnifiedTransferables('BTC,USDT')
    assert.deepEqual(
      transferables.map(({ currency }) => currency),
      ['BTC', 'USDT'],
    )
    assert.equal((await api.getUnifiedBorrowableList(['BTC', 'USDT'])).body.length, 2)
    assert.ok(Number((await api.getUnifiedBorrowable('USDT')).body.amount) > 0)
    assert.ok(Number((await api.getUnifiedTransferable('USDT')).body.amount) > 0)
    assert.match((await api.getUnifiedEstimateRate(['BTC'])).body['BTC']!, /^0\.00000/)
    await api.setUserLeverageCurrencySetting(
      Object.assign(new UnifiedLeverageSetting(), { currency: 'BTC', leverage: '5' }),
    )
    assert.equal((await api.getUserLeverageCurrencyConfig('BTC')).body.currentLeverage, '5')
    await api.setUnifiedCollateral(
      Object.assign(new UnifiedCollateralReq(), { collateralType: 1, disableList: ['DOGE'] }),
    )
    assert.equal((await api.listUnifiedAccounts({})).body.isAllCollateral, false)
    const quick = Object.assign(new QuickRepaymentRequest(), {
      debtCurrencies: ['BTC'],
      availableCurrencies: ['USDT'],
    })
    const { body: repaid } = await api.createQuickRepayment(quick)
    assert.equal(repaid.repaidInfos[0]!.left, '0')
    assert.deepEqual((await api.listUnifiedLoans({})).body, [])
    assert.deepEqual(
      (await api.listUnifiedLoanRecords({})).body.map(
        ({ type, repaymentType }) => `${type} ${repaymentType}`,
      ),
      ['repay different_currencies_repayment', 'borrow none'],
    )
    for (const { body } of [
      await api.listUnifiedCurrencies({}),
      await api.listCurrencyDiscountTiers(),
      await api.listLoanMarginTiers(),
    ])
      assert.ok(body.length > 5)
    assert.equal((await api.getHistoryLoanRate('BTC', { limit: 1 })).body.rates!.length, 1)
    const mock = Object.assign(new UnifiedPortfolioInput(), {
      futuresPositions: [{ contract: 'BTC_USDT', size: '1' }],
    })
    assert.equal((await api.calculatePortfolioMargin(mock)).body.maintainMarginTotal, '9000')
    await api.setUnifiedMode(modeOf('portfolio'))
    assert.equal((await api.getUnifiedRiskUnits()).body.riskUnits!.length, 1)
  })

  test('gate-api: interest history, repay all; isolated loans', async () => {
    const client = sdk(await funded())
    const [api, uni] = [new UnifiedApi(client), new MarginUniApi(client)]
    await api.setUnifiedMode(modeOf('multi_currency'))
    await api.createUnifiedLoan(loanOf(UnifiedLoan.Type.Borrow, 'ETH', '1'))
    assert.ok(Number((await uni.getUniBorrowable('USDT', 'BTC_USDT')).body.borrowable) === 0)
    assert.ok((await uni.listUniCurrencyPairs()).body.length > 5)
    const isolated = {
      currency: 'USDT',
      currencyPair: 'BTC_USDT',
      amount: '100',
      type: CreateUniLoan.Type.Borrow,
    }
    await assert.rejects(uni.createUniLoan(Object.assign(new CreateUniLoan(), isolated)))
    await platform.operator.ok('POST', '/clock', { advance_seconds: HOUR })
    // The client signs by the machine's clock, which an hour of the platform's has left behind.
    const clock = mock.method(Date.prototype, 'getTime', () => Math.floor(platform.now() * 1000))
    try {
      const [interest] = (await api.listUnifiedLoanInterestRecords({ currency: 'ETH' })).body
      assert.ok(Number(interest!.interest) > 0)
      assert.equal(String(interest!.createTime).length, 13)
      const all = Object.assign(loanOf(UnifiedLoan.Type.Repay, 'ETH', '1'), { repaidAll: true })
      await assert.rejects(api.createUnifiedLoan(all), 'what was borrowed does not cover the interest')
      await api.createUnifiedLoan(loanOf(UnifiedLoan.Type.Repay, 'ETH', '1'))
      assert.equal((await api.listUnifiedLoans({})).body.length, 1)
    } finally {
      clock.mock.restore()
    }
  })

  test('ccxt: mode, balances, borrow, orders, interest history, repay', async () => {
    const { key, secret } = await funded()
    const maker = await Trader.of(platform, { BTC: '1' })
    await maker.placed('sell', '1', '60000')
    const exchange = new ccxt.gate({
      apiKey: key,
      secret,
      options: { unifiedAccount: true, fetchMarkets: { types: ['spot'] } },
    })
    const api = exchange.urls['api'] as unknown as Record<'public' | 'private', Record<string, string>>
    for (const group of [api.public, api.private])
      for (const name of Object.keys(group)) group[name] = `${platform.url}/api/v4`
    ;(exchange as unknown as { nonce: () => number }).nonce = () => Math.floor(platform.now() * 1000)
    await (
      exchange as unknown as { upgradeUnifiedTradeAccount: (params: object) => Promise<unknown> }
    ).upgradeUnifiedTradeAccount({
      mode: 'multi_currency',
    })
    await exchange.loadMarkets()
    assert.equal(exchange.market('BTC/USDT')['margin'], true)
    await exchange.borrowCrossMargin('USDT', 5000)
    const balance = await exchange.fetchBalance()
    assert.equal(balance['USDT']!.total, 15000)
    assert.equal((balance['USDT'] as unknown as { debt: number }).debt, 5000)
    const order = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.2, 60000)
    const fetched = await exchange.fetchOrder(order.id!, 'BTC/USDT')
    assert.equal(fetched.status, 'closed')
    assert.equal((fetched.info as { account: string }).account, 'unified')
    const resting = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.01, 50000)
    assert.equal((await exchange.fetchOpenOrders('BTC/USDT')).length, 1)
    await exchange.cancelOrder(resting.id!, 'BTC/USDT')
    await platform.operator.ok('POST', '/clock', { advance_seconds: HOUR })
    const since = Math.floor((platform.now() - 2 * HOUR) * 1000)
    const [interest] = await exchange.fetchBorrowInterest('USDT', undefined, since, 10)
    assert.ok(interest!.interest! > 0)
    assert.ok(interest!.timestamp! > since)
    await exchange.repayCrossMargin('USDT', 1000)
    assert.ok(Math.abs((await exchange.fetchBalance())['USDT']!.total! - 2000) < 1)
  })
})
