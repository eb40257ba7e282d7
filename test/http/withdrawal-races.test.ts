import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, holder, mine, proveBalanced } from '../support/wallet.ts'

describe('races', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0, send_delay_seconds: 3600 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const body = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }

  test('one withdraw_order_id from 50 connections at once: one wins', async () => {
    const { client, user_id } = await holder(platform)
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => client.post('/withdrawals', { ...body, withdraw_order_id: 'same' })),
    )
    const won = replies.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    for (const { status, body: refusal } of replies)
      if (status !== 200) {
        assert.equal(refusal.label, 'DUPLICATE_REQUEST')
        assert.match(refusal.message as string, new RegExp(String(won[0]!.body.id)))
      }
    assert.equal(await platform.balance(user_id, 'ETH'), '99')
    assert.equal(ok(await client.get('/wallet/withdrawals')).length, 1)
    const other = await holder(platform)
    ok(await other.client.post('/withdrawals', { ...body, withdraw_order_id: 'same' }))
  })

  test('one client_order_id from 50 connections at once: one wins', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    await platform.credit(main.user_id, 'USDT', '1000')
    const transfer = {
      sub_account: String(sub.user_id),
      currency: 'USDT',
      amount: '1',
      direction: 'to',
      client_order_id: 'same',
    }
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => main.client.post('/wallet/sub_account_transfers', transfer)),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    assert.equal(await platform.balance(sub.user_id, 'USDT'), '1')
  })

  test('cancelling against the sender: exactly one wins each time', async () => {
    const { client, user_id } = await holder(platform)
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(ok(await client.post('/withdrawals', body)).id)
    const [, ...cancels] = await Promise.all([
      mine(platform, 'ETH', 1),
      ...ids.map((id) => client.delete(`/withdrawals/${id}`)),
    ])
    await mine(platform, 'ETH', 12)
    const records = ok(await client.get('/wallet/withdrawals'))
    let sent = 0
    for (const [i, id] of ids.entries()) {
      const { status } = records.find((record: { id: string }) => record.id === id)
      const reply = cancels[i]!
      if (reply.status === 202) assert.equal(status, 'CANCEL')
      else {
        assert.equal(reply.body.label, 'INVALID_WITHDRAW_CANCEL_STATUS')
        assert.equal(status, 'DONE')
        sent++
      }
    }
    assert.equal(await platform.balance(user_id, 'ETH'), String(100 - sent))
    const paid = (await platform.operator.ok('GET', '/chains/ETH/transactions?limit=1000')).filter(
      (tx: { kind: string; state: string; ok: boolean }) =>
        tx.kind === 'out' && tx.state === 'mined' && tx.ok,
    )
    // The first test's two withdrawals were sent by the same blocks.
    assert.equal(paid.length, sent + 2)
  })
})
