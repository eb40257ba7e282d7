import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, holder, mine, outside, proveBalanced, save, withdrawal } from '../support/wallet.ts'

describe('withdrawals', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    for (const chain of ['ETH', 'TRX', 'XRP', 'BTC', 'SOL'])
      await platform.operator.ok('PATCH', `/chains/${chain}`, { auto_mine_seconds: 0 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const ETH = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }

  test('goes out: held, sent, confirmed, with the fee inside the amount', async () => {
    const { user_id, client } = await holder(platform)
    const made = ok(await client.post('/withdrawals', { ...ETH, withdraw_order_id: 'first.1_A-z' }))
    assert.equal(made.status, 'REQUEST')
    assert.match(made.id, /^w\d+$/)
    assert.equal(made.withdraw_id, made.id)
    assert.equal(made.fee, '0.002')
    assert.equal(made.asset_class, 'SPOT')
    assert.equal(await platform.balance(user_id, 'ETH'), '99')
    const named = async (withdraw_order_id: string) =>
      ok(await client.get('/wallet/withdrawals', { withdraw_id: made.id, withdraw_order_id })).length
    assert.deepEqual([await named('first.1_A-z'), await named('another')], [1, 0])
    await mine(platform, 'ETH')
    const sent = await withdrawal(client, made.id)
    assert.equal(sent.status, 'EXTPEND')
    assert.match(sent.txid, /^0x[0-9a-f]{64}$/)
    assert.notEqual(sent.block_number, '0')
    assert.equal(sent.timestamp2, '')
    await mine(platform, 'ETH', 11)
    const done = await withdrawal(client, made.id)
    assert.equal(done.status, 'DONE')
    assert.equal(done.block_number, sent.block_number)
    assert.match(done.timestamp2, /^\d{10}$/)
    assert.equal(done.fail_reason, '')
    const [paid] = (await platform.operator.ok('GET', '/chains/ETH/transactions')).filter(
      (tx: { txid: string }) => tx.txid === done.txid,
    )
    assert.equal(paid.amount, '0.998')
    assert.equal(paid.address, ETH_OUTSIDE)
    refused(await client.delete(`/withdrawals/${made.id}`), 400, 'INVALID_WITHDRAW_CANCEL_STATUS')
    refused(
      await client.post('/withdrawals', { ...ETH, withdraw_order_id: 'first.1_A-z' }),
      400,
      'DUPLICATE_REQUEST',
      new RegExp(made.id),
    )
  })

  test('is cancelled before it is sent', async () => {
    const { user_id, client } = await holder(platform)
    const made = ok(await client.post('/withdrawals', ETH))
    const cancelled = ok(await client.delete(`/withdrawals/${made.id}`), 202)
    assert.equal(cancelled.status, 'CANCELPEND')
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
    const record = await withdrawal(client, made.id)
    assert.equal(record.status, 'CANCEL')
    assert.notEqual(record.fail_reason, '')
    assert.match(record.timestamp2, /^\d{10}$/)
    refused(await client.delete(`/withdrawals/${made.id}`), 400, 'INVALID_WITHDRAW_CANCEL_STATUS')
    const other = await holder(platform)
    refused(await other.client.delete(`/withdrawals/${made.id}`), 404, 'INVALID_WITHDRAW_ID')
    refused(await client.delete('/withdrawals/w999999'), 404, 'INVALID_WITHDRAW_ID')
    refused(await client.delete('/withdrawals/nonsense'), 404, 'INVALID_WITHDRAW_ID')
  })

  test('each refusal has its label', async () => {
    const { client, user_id } = await holder(platform)
    const post = (change: object) => client.post('/withdrawals', { ...ETH, ...change })
    refused(await post({ currency: 'NOPE' }), 400, 'INVALID_CURRENCY', /NOPE/)
    refused(await post({ currency: 'PEPU' }), 400, 'INVALID_CURRENCY', /low-cap/)
    refused(await post({ currency: 'POINT', chain: null }), 400, 'INVALID_CURRENCY')
    refused(await post({ chain: 'TRX' }), 400, 'INVALID_PARAM_VALUE', /chain/)
    refused(await post({ currency: 'USDT', chain: null }), 400, 'MISSING_REQUIRED_PARAM', /chain/)
    refused(await post({ address: null }), 400, 'MISSING_REQUIRED_PARAM', /address/)
    refused(await post({ amount: null }), 400, 'MISSING_REQUIRED_PARAM', /amount/)
    refused(await post({ amount: '0' }), 400, 'INVALID_PARAM_VALUE', /amount/)
    refused(await post({ amount: '-1' }), 400, 'INVALID_PARAM_VALUE', /amount/)
    refused(await post({ amount: '1e2' }), 400, 'INVALID_PARAM_VALUE', /amount/)
    refused(await post({ amount: '1.000000001' }), 400, 'INVALID_PARAM_VALUE', /decimals/)
    refused(await post({ amount: '0.009' }), 400, 'AMOUNT_TOO_LITTLE', /0\.01/)
    refused(await post({ amount: '10001' }), 400, 'WITHDRAWAL_OVER_LIMIT', /10000/)
    refused(await post({ address: ETH_OUTSIDE.slice(0, -1) }), 400, 'INVALID_PARAM_VALUE', /address/)
    const wrongSum = ETH_OUTSIDE.replace(/[A-F]/, (c) => c.toLowerCase())
    refused(await post({ address: wrongSum }), 400, 'INVALID_PARAM_VALUE', /checksum/)
    refused(await post({ address: outside('evm', 'other') }), 400, 'ADDRESS_NOT_USED')
    await save(platform, user_id, {
      currency: 'ETH',
      chain: 'ETH',
      address: outside('evm', 'raw'),
      verified: false,
    })
    refused(await post({ address: outside('evm', 'raw') }), 400, 'ADDRESS_NOT_USED', /verified/)
    refused(await post({ asset_class: 'PILOT' }), 400, 'INVALID_PARAM_VALUE', /asset_class/)
    refused(await post({ withdraw_order_id: 'a b' }), 400, 'INVALID_PARAM_VALUE', /withdraw_order_id/)
    refused(await post({ withdraw_order_id: 'x'.repeat(33) }), 400, 'INVALID_PARAM_VALUE')
    refused(await post({ amount: '101' }), 400, 'BALANCE_NOT_ENOUGH', /100/)
    await platform.operator.ok('PATCH', '/currencies/ETH', { withdraw_enabled: false })
    refused(await post({}), 400, 'API_WITHDRAW_DISABLED')
    const chains = ok(await client.get('/wallet/currency_chains', { currency: 'eth' }))
    assert.equal(chains[0].is_withdraw_disabled, 1)
    assert.equal(chains[0].is_deposit_disabled, 0)
    await platform.operator.ok('PATCH', '/currencies/ETH', { withdraw_enabled: true })
    const low = ok(await post({ chain: 'eth', currency: 'eth', address: ETH_OUTSIDE.toLowerCase() }))
    assert.equal(low.address, ETH_OUTSIDE)
    assert.equal(low.currency, 'ETH')
  })

  test('tagged chains want a memo, and pay to it', async () => {
    const address = outside('ripple')
    const { client } = await holder(platform, { currency: 'XRP', chain: 'XRP', address, tag: '77' })
    const body = { currency: 'XRP', chain: 'XRP', amount: '50', address }
    refused(await client.post('/withdrawals', body), 400, 'MISSING_REQUIRED_PARAM', /memo/)
    refused(await client.post('/withdrawals', { ...body, memo: 'abc' }), 400, 'INVALID_PARAM_VALUE', /memo/)
    refused(await client.post('/withdrawals', { ...body, memo: '78' }), 400, 'ADDRESS_NOT_USED')
    const made = ok(await client.post('/withdrawals', { ...body, memo: '77' }))
    assert.equal(made.memo, '77')
    await mine(platform, 'XRP', 3)
    assert.equal((await withdrawal(client, made.id)).status, 'DONE')
  })

  test('to an address of this platform: no fee, no chain, both DONE at once', async () => {
    const receiver = await platform.user()
    const { address } = ok(await receiver.client.get('/wallet/deposit_address', { currency: 'ETH' }))
    const sender = await holder(platform, { address })
    const made = ok(await sender.client.post('/withdrawals', { ...ETH, address }))
    assert.equal(made.status, 'DONE')
    assert.equal(made.fee, '0')
    assert.equal(await platform.balance(sender.user_id, 'ETH'), '99')
    assert.equal(await platform.balance(receiver.user_id, 'ETH'), '1')
    const [arrived] = ok(await receiver.client.get('/wallet/deposits'))
    assert.equal(arrived.status, 'DONE')
    assert.match(arrived.id, /^d\d+$/)
    assert.equal((await withdrawal(sender.client, made.id)).block_number, '0')
  })
})
