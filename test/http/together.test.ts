import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import { microsNow } from '../../src/http/words.ts'
import type { Credential, OperatorClient } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

/**
 * Requests that come in one frame are all let in before the first of them is carried out. Who loses a right by one of
 * them must not have it in those behind it.
 */
describe('requests that come together', () => {
  let platform: TestPlatform
  let main: { user_id: number; credential: Credential }
  let sub: { user_id: number; credential: Credential }

  before(async () => {
    platform = await TestPlatform.start({ KONTOR_GATEWAYS: '0' })
    main = await platform.user()
    sub = await platform.user({ parent: main.user_id })
    await platform.credit(sub.user_id, 'USDT', '100')
  })
  after(() => platform.stop())

  /** Enters at once, up to where requests wait for each other. */
  async function answer(method: string, path: string, headers: Record<string, string>, body?: object) {
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const all = text === undefined ? headers : { ...headers, 'content-type': 'application/json' }
    const request = { method, path, rawQuery: '', headers: all, hasBody: text !== undefined, ip: '127.0.0.1' }
    const { status, text: reply = '' } = await platform.platform.answer(
      { ...request, inTime: microsNow() },
      text,
    )
    const label = status < 300 ? '' : (JSON.parse(reply) as { label: string }).label
    return { status, label }
  }
  function signed({ key, secret }: Credential, method: string, path: string, body?: object) {
    const timestamp = String(Math.floor(platform.now()))
    const digest = bodyDigest(body === undefined ? undefined : Buffer.from(JSON.stringify(body)))
    const full = `/api/v4${path}`
    const message = signatureString({ method, path: full, query: '', bodyDigest: digest, timestamp })
    return answer(method, full, { key, timestamp, sign: sign(secret, message) }, body)
  }
  const MOVE = { currency: 'USDT', from: 'spot', to: 'futures', amount: '1', settle: 'usdt' }
  const move = (credential: Credential) => signed(credential, 'POST', '/wallet/transfers', MOVE)
  const free = (): Promise<bigint> =>
    platform.platform.desk.core.read(({ ledger }) => ledger.balance(sub.user_id, 'spot', 'USDT'))

  test('whoever comes before has moved, whoever comes behind has not: a sub-account is locked', async () => {
    const [first, locked, second] = await Promise.all([
      move(sub.credential),
      signed(main.credential, 'POST', `/sub_accounts/${sub.user_id}/lock`),
      move(sub.credential),
    ])
    assert.deepEqual([first.status, locked.status], [200, 204])
    assert.equal(second.label, 'ACCOUNT_LOCKED')
    assert.equal((await signed(main.credential, 'POST', `/sub_accounts/${sub.user_id}/unlock`)).status, 204)
  })

  test('a key is deleted: nothing behind it passes, and no money moves', async () => {
    const leaked = await platform.key(sub.user_id, [{ name: 'wallet', read_only: false }])
    const was = await free()
    const [gone, ...behind] = await Promise.all([
      signed(main.credential, 'DELETE', `/sub_accounts/${sub.user_id}/keys/${leaked.key}`),
      ...Array.from({ length: 5 }, () => move(leaked)),
    ])
    assert.equal(gone.status, 204)
    assert.deepEqual(
      behind.map(({ label }) => label),
      Array.from({ length: 5 }, () => 'INVALID_KEY'),
    )
    assert.equal(await free(), was)
  })

  test('an operator is removed: what he asked for behind that is refused', async () => {
    const rogue: OperatorClient = await platform.colleague('rogue', 'operator')
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const credit = { account: 'spot', currency: 'USDT', amount: '1000000' }
    const [removed, credited] = await Promise.all([
      answer('DELETE', '/operator/v1/operators/rogue', bearer(platform.operator.token)),
      answer('POST', `/operator/v1/users/${sub.user_id}/credit`, bearer(rogue.token), credit),
    ])
    assert.equal(removed.status, 204)
    assert.equal(credited.label, 'INVALID_CREDENTIALS')
  })
})
