import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DIVERSIONS } from '../../src/core/tables/withdrawal.flow.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, holder, mine, proveBalanced } from '../support/wallet.ts'

const HOLDS = Object.keys(DIVERSIONS)

describe('a withdrawal that is held', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    // Nothing is sent before an operator has looked at it.
    await platform.operator.ok('PATCH', '/chains/ETH', { send_delay_seconds: 3_600 })
  })
  after(() => platform.stop())
  const divert = async (id: string, status: string): Promise<void> => {
    const told = await platform.operator.ok('POST', `/withdrawals/${id}/divert`, { status, reason: 'look' })
    assert.equal(told.status, status)
  }

  test('goes from each hold to every other, and its money stays where it is', async () => {
    const { client, user_id } = await holder(platform, { amount: '100' })
    const ask = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }
    const { id } = ok(await client.post('/withdrawals', ask))
    const before = await platform.balance(user_id, 'ETH')
    for (const from of HOLDS)
      for (const to of HOLDS) {
        await divert(id as string, from)
        await divert(id as string, to)
      }
    assert.equal(await platform.balance(user_id, 'ETH'), before)
    await proveBalanced(platform)
  })
  test('and from each it may turn out invalid, which gives the money back', async () => {
    const { client, user_id } = await holder(platform, { amount: '100' })
    for (const hold of HOLDS) {
      const ask = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }
      const { id } = ok(await client.post('/withdrawals', ask))
      await divert(id as string, hold)
      await divert(id as string, 'INVALID')
      assert.equal(await platform.balance(user_id, 'ETH'), '100')
    }
  })
  test('and one that waits for the sender is turned down, or fails wherever the sender is with it', async () => {
    const { client, user_id } = await holder(platform, { amount: '100' })
    const ask = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }
    const decide = (id: unknown, verb: string): Promise<{ status: string }> =>
      platform.operator.ok('POST', `/withdrawals/${String(id)}/${verb}`, { reason: 'look' })
    const { id } = ok(await client.post('/withdrawals', ask))
    assert.equal((await decide(id, 'reject')).status, 'REJECT')
    for (const stop of ['PROCES', 'PEND']) {
      await platform.operator.ok('PATCH', '/chains/ETH', { sender_stops_at: stop, send_delay_seconds: 0 })
      const sent = ok(await client.post('/withdrawals', ask))
      await mine(platform, 'ETH')
      const [{ status }] = await platform.operator.ok('GET', `/withdrawals?user_id=${user_id}&limit=1`)
      assert.equal(status, stop)
      assert.equal((await decide(sent.id, 'fail')).status, 'FAIL')
      assert.equal((await decide(sent.id, 'reject')).status, 'CANCEL')
    }
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
    await proveBalanced(platform)
  })
})
