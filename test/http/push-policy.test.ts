import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client, type OperatorClient } from '../support/client.ts'
import { LIVE_ENV } from '../support/live.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { DAY, proveBalanced, save } from '../support/wallet.ts'

/** Money that goes to another account of the platform leaves its owner as surely as by a chain. */
describe('push and internal withdrawals under the policy', () => {
  let platform: TestPlatform
  let second: OperatorClient
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
    await platform.operator.ok('PUT', '/prices', { ETH: '3000' })
    second = await platform.colleague('second')
    await platform.operator.ok('PUT', '/policy', { push_transfers: 'checked', internal_transfers: 'checked' })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const sender = async (amount = '100') => {
    const user = await platform.user()
    await platform.credit(user.user_id, 'ETH', amount)
    return user
  }
  const push = (client: Client, receive_uid: number, amount = '1', currency = 'ETH') =>
    client.post('/withdrawals/push', { receive_uid, currency, amount })
  const sent = async (client: Client, id: number) => ok(await client.get('/wallet/push', { id }))[0]
  const accept = (id: number, by = platform.operator) => by.call('POST', `/push/${id}/accept`)
  /** A receiver that has been sent to for long enough. */
  const known = async (client: Client) => {
    const receiver = await platform.user()
    const { id } = ok(await push(client, receiver.user_id, '0.01'))
    ok(await accept(id))
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY + 1 })
    return receiver
  }

  test("a receiver's first push waits, and who receives it can not let it go", async () => {
    const { client, user_id } = await sender()
    const receiver = await platform.user()
    const { id } = ok(await push(client, receiver.user_id))
    const record = await sent(client, id)
    assert.equal(record.status, 'PENDING')
    assert.match(
      record.message,
      /waiting for the platform: the receiver was first sent to less than 24 h ago/,
    )
    assert.equal(await platform.balance(user_id, 'ETH'), '99')
    await assert.rejects(
      platform.platform.desk.core.submit('push.answer', {
        id,
        answer: 'accept',
        by: receiver.user_id,
        actor: null,
      }),
      /waits for the platform/,
    )
    assert.equal(ok(await accept(id)).status, 'RECEIVED')
    assert.equal(await platform.balance(receiver.user_id, 'ETH'), '1')
    assert.equal(
      (await sent(client, ok(await push(client, receiver.user_id)).id)).status,
      'PENDING',
      'still new',
    )
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY + 1 })
    assert.equal((await sent(client, ok(await push(client, receiver.user_id)).id)).status, 'RECEIVED')
    // One that operators have refused is new again.
    const stranger = await platform.user()
    const refusedOne = ok(await push(client, stranger.user_id)).id
    assert.equal((await platform.operator.ok('POST', `/push/${refusedOne}/refuse`)).status, 'REFUSED')
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY + 1 })
    assert.equal((await sent(client, ok(await push(client, stranger.user_id)).id)).status, 'PENDING')
  })

  test('a receiver who wants to be asked is asked after the operators', async () => {
    const { client } = await sender()
    const receiver = await platform.user()
    await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { push_acceptance: 'manual' })
    const { id } = ok(await push(client, receiver.user_id))
    const let_go = ok(await accept(id))
    assert.deepEqual([let_go.status, let_go.message], ['PENDING', 'waiting for the receiver to accept'])
    assert.equal(ok(await accept(id)).status, 'RECEIVED')
  })

  test('the day limit is one for withdrawals and pushes, and a refused push gives it back', async () => {
    const { client, user_id } = await sender()
    const receiver = await known(client)
    await platform.operator.ok('PATCH', `/users/${user_id}`, { withdraw_day_limit: '9000' })
    ok(await push(client, receiver.user_id, '2'))
    refused(await push(client, receiver.user_id, '1.5'), 400, 'WITHDRAWAL_OVER_LIMIT', /day/)
    const other = await platform.user()
    const held = ok(await push(client, other.user_id, '1')).id
    refused(await push(client, receiver.user_id, '1'), 400, 'WITHDRAWAL_OVER_LIMIT')
    await platform.operator.ok('POST', `/push/${held}/refuse`)
    ok(await push(client, receiver.user_id, '1'))
    refused(await push(client, receiver.user_id, '0.1'), 400, 'WITHDRAWAL_OVER_LIMIT')
    await platform.operator.ok('PATCH', `/users/${user_id}`, { withdraw_day_limit: '1000000000' })
    await platform.credit(user_id, 'ETH', '20000')
    refused(await push(client, receiver.user_id, '10001'), 400, 'WITHDRAWAL_OVER_LIMIT', /one payment/)
  })

  test('withdrawals disabled, a fresh password, an amount that takes approvals', async () => {
    const { client, user_id } = await sender('200')
    const receiver = await known(client)
    await platform.operator.ok('PATCH', '/currencies/ETH', { withdraw_enabled: false })
    refused(await push(client, receiver.user_id), 400, 'API_WITHDRAW_DISABLED')
    await platform.operator.ok('PATCH', '/currencies/ETH', { withdraw_enabled: true })
    await platform.operator.ok('PATCH', `/users/${user_id}`, { password: 'another' })
    const fresh = await sent(client, ok(await push(client, receiver.user_id)).id)
    assert.deepEqual([fresh.status, /password/.test(fresh.message)], ['PENDING', true])
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY + 1 })
    await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '50', approvals: 2 })
    const { id } = ok(await push(client, receiver.user_id, '60'))
    await platform.operator.ok('PATCH', '/currencies/ETH', { approvals: 1 })
    for (let i = 0; i < 2; i++)
      assert.equal(ok(await accept(id)).status, 'PENDING', 'the same one counts once')
    assert.equal(ok(await accept(id, second)).status, 'RECEIVED')
    await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '100000' })
  })

  test('a frozen receiver gets nothing, by push or to a saved address, whatever the policy', async () => {
    const { client, user_id } = await sender()
    const receiver = await platform.user()
    const { address } = ok(await receiver.client.get('/wallet/deposit_address', { currency: 'ETH' }))
    await save(platform, user_id, { currency: 'ETH', chain: 'ETH', address })
    const { id } = ok(await push(client, receiver.user_id))
    await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { state: 2 })
    refused(await push(client, receiver.user_id), 400, 'RISK_ERROR')
    refused(await accept(id), 400, 'RISK_ERROR', /frozen/)
    const body = { currency: 'ETH', chain: 'ETH', amount: '2', address }
    refused(await client.post('/withdrawals', body), 400, 'RISK_ERROR', /frozen/)
    await platform.operator.ok('PUT', '/policy', { push_transfers: 'free', internal_transfers: 'free' })
    refused(await client.post('/withdrawals', body), 400, 'RISK_ERROR', /frozen/)
    await platform.operator.ok('PUT', '/policy', { push_transfers: 'checked', internal_transfers: 'checked' })
    await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { state: 1 })
    // The sender was frozen in between.
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 2 })
    refused(await accept(id), 400, 'RISK_ERROR', /sender/)
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 1 })
    ok(await accept(id))
  })

  test('an internal withdrawal to a fresh address is looked at as any other', async () => {
    const { client, user_id } = await sender()
    const receiver = await platform.user()
    const { address } = ok(await receiver.client.get('/wallet/deposit_address', { currency: 'ETH' }))
    await save(platform, user_id, { currency: 'ETH', chain: 'ETH', address, ageSeconds: 60 })
    const made = ok(
      await client.post('/withdrawals', { currency: 'ETH', chain: 'ETH', amount: '2', address }),
    )
    assert.equal(made.status, 'REVIEW')
    assert.equal((await platform.operator.ok('POST', `/withdrawals/${made.id}/approve`)).status, 'DONE')
    assert.equal(await platform.balance(receiver.user_id, 'ETH'), '2')
  })

  test('money without a chain goes by the limit in USDT alone', async () => {
    const { client, user_id } = await sender()
    const receiver = await known(client)
    await platform.credit(user_id, 'POINT', '50')
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY })
    assert.equal(
      (await sent(client, ok(await push(client, receiver.user_id, '5', 'POINT')).id)).status,
      'RECEIVED',
    )
  })
})

test('what a sandbox does not check by default, live mode does', async () => {
  const sandbox = await TestPlatform.start()
  const live = await TestPlatform.start(LIVE_ENV)
  const rules = async (platform: TestPlatform) => {
    const policy = await platform.operator.ok('GET', '/policy')
    return [policy.push_transfers, policy.internal_transfers, policy.early_credit_usdt]
  }
  assert.deepEqual(await rules(sandbox), ['free', 'free', null])
  assert.deepEqual(await rules(live), ['checked', 'checked', '100000'])
  await sandbox.stop()
  await live.stop()
})
