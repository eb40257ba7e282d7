import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

interface Own {
  readonly currency: string
  readonly fees: string
  readonly fees_payable: string
  readonly equity: string
}

describe("the platform's own money", () => {
  let platform: TestPlatform
  let house: number
  before(async () => {
    // Far from a full hour, at which interest falls due.
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000600' })
    house = (await platform.user()).user_id
    const seller = await Trader.of(platform, { BTC: '1' })
    const buyer = await Trader.of(platform, { USDT: '100000' })
    await seller.placed('sell', '1', '50000')
    await buyer.placed('buy', '1', '50000')
  })
  after(() => platform.stop())
  const own = async (currency: string): Promise<Own> =>
    ((await platform.operator.ok('GET', '/treasury')).currencies as Own[]).find(
      (one) => one.currency === currency,
    )!
  const pay = (body: object) =>
    platform.operator.call('POST', '/treasury/payouts', { from: 'fees', reason: 'monthly', ...body })

  test('fees that trades brought are paid to a main account, not a unit more, and the ledger balances', async () => {
    const { fees, fees_payable } = await own('USDT')
    assert.equal(fees, '100')
    assert.equal(fees_payable, '100')
    refused(
      await pay({ currency: 'USDT', amount: '100.00000001', user_id: house }),
      400,
      'BALANCE_NOT_ENOUGH',
      /100 USDT of the fees can be paid out/,
    )
    const { tx_id } = await platform.operator.ok('POST', '/treasury/payouts', {
      from: 'fees',
      currency: 'usdt',
      amount: '60',
      user_id: house,
      reason: 'monthly',
    })
    assert.ok(tx_id > 0)
    assert.equal((await own('USDT')).fees, '40')
    assert.equal(await platform.balance(house, 'USDT'), '60')
    refused(await pay({ currency: 'USDT', amount: '41', user_id: house }), 400, 'BALANCE_NOT_ENOUGH')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
    const [note] = (await platform.operator.ok('GET', '/audit?limit=1000')).filter(
      ({ action }: { action: string }) => action === 'treasury.payout',
    )
    assert.deepEqual(note.detail, {
      from: 'fees',
      currency: 'USDT',
      amount: '60',
      user_id: house,
      reason: 'monthly',
      tx_id,
    })
  })

  test('what the networks took for payments is not earned', async () => {
    const before = await own('BTC')
    assert.equal(before.fees, '0.002')
    await platform.credit(house, 'BTC', '1')
    await platform.operator.ok('POST', `/users/${house}/saved_addresses`, {
      currency: 'BTC',
      chain: 'BTC',
      address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3600 * 25 })
    await platform.operator.ok('POST', '/chains/BTC/fund', { currency: 'BTC', amount: '1' })
    // Nothing is smaller than a currency's smallest unit.
    for (const [path, body] of [
      ['/chains/BTC/fund', {}],
      ['/lending/fund', { fund: 'pool' }],
      ['/lending/fund', { fund: 'insurance' }],
    ] as const)
      refused(
        await platform.operator.call('POST', path, { ...body, currency: 'BTC', amount: '1.000000001' }),
        400,
        'INVALID_PARAM_VALUE',
        /8 decimals/,
      )
    await platform.operator.ok('POST', `/users/${house}/withdrawals`, {
      currency: 'BTC',
      chain: 'BTC',
      amount: '0.5',
      address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3600 * 24 * 2 })
    const sent = await platform.operator.ok('GET', '/withdrawals?limit=1')
    assert.equal(sent[0].status, 'DONE', JSON.stringify(sent))
    const after = (await platform.operator.ok('GET', '/treasury')).currencies.find(
      ({ currency }: Own) => currency === 'BTC',
    )
    assert.ok(Number(after.network_fees) < 0, JSON.stringify(after))
    const earned = Number(after.fees) + Number(after.interest) + Number(after.network_fees)
    assert.ok(Math.abs(Number(after.fees_payable) - Math.min(Number(after.fees), earned)) < 1e-12)
    assert.ok(Number(after.fees_payable) < Number(after.fees))
  })

  test('who may, and to whom', async () => {
    const operator = await platform.colleague('desk', 'operator')
    const body = { from: 'fees', currency: 'USDT', amount: '1', user_id: house, reason: 'x' }
    refused(await operator.call('POST', '/treasury/payouts', body), 403, 'FORBIDDEN')
    refused(await pay({ currency: 'USDT', amount: '1', user_id: 999_999 }), 400, 'USER_NOT_FOUND')
    refused(await pay({ currency: 'NOPE', amount: '1', user_id: house }), 400, 'INVALID_CURRENCY')
    refused(
      await pay({ currency: 'USDT', amount: '1', user_id: house, from: 'equity' }),
      400,
      'INVALID_PARAM_VALUE',
    )
    const sub = await platform.user({ parent: house })
    refused(
      await pay({ currency: 'USDT', amount: '1', user_id: sub.user_id }),
      400,
      'INVALID_PARAM_VALUE',
      /sub-account/,
    )
    const viewer = await platform.colleague('looks', 'viewer')
    const { hot_wallets } = await viewer.ok('GET', '/treasury')
    const eth = hot_wallets.find(({ chain }: { chain: string }) => chain === 'ETH')
    assert.equal(eth.error, '')
    assert.equal(eth.short, '0')
  })
})
