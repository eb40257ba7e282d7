import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { signedIn, type Browser } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'

describe('money on its way, as pages show it', () => {
  let platform: TestPlatform
  let page: Browser
  before(async () => {
    platform = await TestPlatform.start()
    page = await signedIn(platform, { user_id: platform.platform.credentials.accounts[0]!.user_id })
    await platform.operator.ok('PATCH', '/chains/BTC', {
      auto_mine_seconds: 0,
      min_confirms: 2,
      unlock_confirms: 4,
    })
  })
  after(() => platform.stop())

  test('a deposit counts its confirmations, first to be traded and then to be withdrawn', async () => {
    const { multichain_addresses } = (
      await platform.demo().get('/wallet/deposit_address', { currency: 'BTC' })
    ).body
    const { address } = multichain_addresses[0]
    await platform.operator.ok('POST', '/chains/BTC/deposits', { currency: 'BTC', address, amount: '0.5' })
    const looks: unknown[] = []
    for (const blocks of [1, 1, 2]) {
      await platform.operator.ok('POST', '/chains/BTC/mine', { blocks })
      const [{ amount, status, confirmations, needed, unlock_needed, seconds_left }] = await page.ok(
        'GET',
        '/v1/deposits',
      )
      assert.equal(amount, '0.5')
      looks.push([status, confirmations, needed, unlock_needed, seconds_left])
    }
    assert.deepEqual(looks, [
      ['TRACK', 1, 2, 4, -1],
      ['DEP_CREDITED', 2, 2, 4, 0],
      ['DONE', 4, 2, 4, 0],
    ])
  })
  test('a withdrawal says what holds it and whether it can be cancelled, and names no operator', async () => {
    await page.ok('POST', '/v1/addresses', {
      currency: 'ETH',
      address: '0x52908400098527886E0F7030069857D2E4169EE7',
    })
    const asked = {
      currency: 'ETH',
      chain: 'ETH',
      address: '0x52908400098527886E0F7030069857D2E4169EE7',
      amount: '1.5',
    }
    await page.ok('POST', '/api/v4/withdrawals', asked)
    const [held] = await page.ok('GET', '/v1/withdrawals')
    assert.equal(held.status, 'REVIEW')
    assert.deepEqual(held.holds, [
      { status: 'REVIEW', reason: 'the address was verified less than 24 h ago' },
    ])
    assert.equal(held.cancellable, true)
    assert.equal(held.arrives, '1.498')
    const colleague = await platform.colleague('marlene')
    await colleague.ok('POST', `/withdrawals/${String(held.id)}/approve`, { reason: 'known' })
    const reply = await page.get('/v1/withdrawals')
    assert.ok(!reply.text.includes('marlene'))
    assert.deepEqual(reply.body[0].holds, [])
  })
  test('each account sees its own, and a sub-account that is chosen its own', async () => {
    const other = await platform.user()
    const theirs = await signedIn(platform, { user_id: other.user_id })
    for (const path of ['/v1/deposits', '/v1/withdrawals']) {
      assert.deepEqual(await theirs.ok('GET', path), [])
      const sub = platform.platform.credentials.accounts[1]!.user_id
      assert.deepEqual(await page.ok('GET', path, undefined, { 'X-Kontor-Account': String(sub) }), [])
      assert.equal((await theirs.get(path, { 'X-Kontor-Account': String(sub) })).status, 403)
      assert.equal((await fetch(`${platform.url}/console${path}`)).status, 401)
    }
  })
})
