import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('sub-accounts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('a sub-account is made, listed and shown', async () => {
    const main = await platform.user()
    const made = ok(
      await main.client.post('/sub_accounts', { login_name: 'alpha_1', remark: 'first', password: 'x' }),
      201,
    )
    assert.equal(made.login_name, 'alpha_1')
    assert.equal(made.state, 1)
    assert.equal(made.type, 1)
    assert.equal('password' in made, false)
    assert.deepEqual(ok(await main.client.get('/sub_accounts')), [made])
    assert.deepEqual(ok(await main.client.get(`/sub_accounts/${made.user_id}`)), made)
    refused(
      await main.client.post('/sub_accounts', { login_name: 'ALPHA_1' }),
      400,
      'INVALID_PARAM_VALUE',
      /login_name/,
    )
    refused(await main.client.post('/sub_accounts', {}), 400, 'MISSING_REQUIRED_PARAM', /login_name/)
    refused(
      await main.client.post('/sub_accounts', { login_name: 'a b' }),
      400,
      'INVALID_PARAM_VALUE',
      /"a b"/,
    )
    refused(await main.client.get('/sub_accounts/1'), 404, 'SUB_ACCOUNT_NOT_FOUND')
  })
})
