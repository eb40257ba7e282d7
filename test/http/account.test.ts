import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('account', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('detail tells the account, its tier and the key', async () => {
    const main = await platform.user({ vip: 3, ip_whitelist: ['127.0.0.1'] })
    const child = await platform.user({ parent: main.user_id })
    const detail = ok(await main.client.get('/account/detail'))
    assert.deepEqual(
      [detail.user_id, detail.tier, detail.ip_whitelist, detail.key.mode],
      [main.user_id, 3, ['127.0.0.1'], 1],
    )
    assert.equal(
      ok(await child.client.get('/account/detail')).tier,
      3,
      "a sub-account's tier is its main account's",
    )
  })
  test('main_keys shows the key that asks', async () => {
    const { client, user_id } = await platform.user({ perms: [{ name: 'account', read_only: true }] })
    const info = ok(await client.get('/account/main_keys'))
    assert.deepEqual([info.user_id, info.state, info.name], [user_id, 1, ['test']])
    assert.deepEqual(info.perms, [{ name: 'account', read_only: true }])
  })
  test('detail and main_keys tell alike whether the account is unified', async () => {
    const { client } = await platform.user()
    const modes = async (): Promise<number[]> =>
      Promise.all(
        ['detail', 'main_keys'].map(
          async (name) => ok(await client.get(`/account/${name}`)).key.mode as number,
        ),
      )
    assert.deepEqual(await modes(), [1, 1])
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    assert.deepEqual(await modes(), [2, 2])
    // What the key was made for is another thing.
    assert.equal(ok(await client.get('/account/main_keys')).mode, 1)
  })
  test('rate_limit tells a tier for each product', async () => {
    const { client } = await platform.user()
    const tiers = ok(await client.get('/account/rate_limit'))
    assert.deepEqual(
      tiers.map(({ type, tier }: { type: string; tier: string }) => [type, tier]),
      [
        ['spot', '1'],
        ['futures', '1'],
      ],
    )
  })
  test('STP groups: made by main accounts, with their own accounts as members', async () => {
    const main = await platform.user()
    const child = await platform.user({ parent: main.user_id })
    const stranger = await platform.user()
    const group = ok(await main.client.post('/account/stp_groups', { name: 'desk' }))
    assert.deepEqual([group.name, group.creator_id], ['desk', main.user_id])
    const other = ok(await main.client.post('/account/stp_groups', { name: 'other' }))
    assert.deepEqual(ok(await main.client.get('/account/stp_groups', { name: 'DES' })), [group])
    assert.deepEqual(ok(await main.client.get('/account/stp_groups')), [group, other])
    assert.deepEqual(ok(await stranger.client.get('/account/stp_groups')), [])
    const users = `/account/stp_groups/${group.id}/users`
    const members = ok(await main.client.post(users, [main.user_id, child.user_id]))
    assert.deepEqual(
      members.map(({ user_id, stp_id }: { user_id: number; stp_id: number }) => [user_id, stp_id]),
      [
        [main.user_id, group.id],
        [child.user_id, group.id],
      ],
    )
    assert.deepEqual(
      ok(await main.client.post(users, [child.user_id])),
      members,
      'adding twice changes nothing',
    )
    assert.deepEqual(ok(await main.client.get(users)), members)
    refused(
      await main.client.post(users, [stranger.user_id]),
      400,
      'INVALID_PARAM_VALUE',
      new RegExp(String(stranger.user_id)),
    )
    refused(
      await main.client.post(`/account/stp_groups/${other.id}/users`, [child.user_id]),
      400,
      'INVALID_PARAM_VALUE',
      /in STP group/,
    )
    refused(await main.client.post(users, { user_id: 1 }), 400, 'INVALID_PARAM_VALUE')
    refused(await stranger.client.get(users), 404, 'NOT_FOUND')
    refused(await stranger.client.post(users, [stranger.user_id]), 404, 'NOT_FOUND')
    refused(
      await main.client.post('/account/stp_groups', { name: 'desk' }),
      400,
      'INVALID_PARAM_VALUE',
      /desk/,
    )
    refused(await main.client.post('/account/stp_groups', {}), 400, 'MISSING_REQUIRED_PARAM', /name/)
    refused(await main.client.delete(users), 400, 'MISSING_REQUIRED_PARAM', /user_id/)
    const left = ok(
      await main.client.delete(users, `user_id=${main.user_id},${child.user_id},${main.user_id}`),
    )
    assert.deepEqual(left, [])
    refused(
      await main.client.delete(users, { user_id: child.user_id }),
      400,
      'INVALID_PARAM_VALUE',
      /not in STP group/,
    )
  })
  test('the clock is public and in milliseconds', async () => {
    const { server_time } = ok(await platform.client().get('/spot/time'))
    assert.ok(Math.abs(server_time - Date.now()) < 2000)
  })
})
