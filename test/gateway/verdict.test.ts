import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Authenticator } from '../../src/api/authenticate.ts'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import { Clock } from '../../src/runtime/clock.ts'
import { SecretBox } from '../../src/runtime/secrets.ts'
import { SECRET_KEY } from '../support/platform.ts'

/** What a gateway says about a signature counts for the very secret that it was held against, and for no other. */
describe('a verdict on a signature', () => {
  const box = new SecretBox(SECRET_KEY)
  const row = (secret: string) => ({ key: 'k', user_id: 1, state: 1, secret_box: box.seal(secret) })
  let key = row('first')
  const state = { keys: { get: () => key, of: () => [] }, users: { must: () => ({ user_id: 1 }) } }
  const clock = new Clock()
  const authenticator = new Authenticator(state as never, box, clock, false)
  const request = { method: 'GET', path: '/x', query: '' }
  const claim = (secret: string) => {
    const timestamp = String(clock.seconds())
    const message = signatureString({ ...request, bodyDigest: bodyDigest(undefined), timestamp })
    return { key: 'k', timestamp, sign: sign(secret, message) }
  }
  const verify = (secret: string, verdict?: { serial: number; fits: boolean }): unknown =>
    authenticator.verify(authenticator.recognize(claim(secret)), request, undefined, verdict)

  test('is believed for the secret that the key has', () => {
    const { serial } = authenticator.recognize(claim('first'))
    assert.ok(verify('anything', { serial, fits: true }))
    assert.throws(() => verify('first', { serial, fits: false }), /Signature mismatch/)
    assert.equal(authenticator.recognize(claim('first')).serial, serial)
  })
  test('is nothing when the key’s secret is another by now: the signature is looked at', () => {
    const { serial } = authenticator.recognize(claim('first'))
    key = row('second')
    assert.throws(() => verify('first', { serial, fits: true }), /Signature mismatch/)
    assert.ok(verify('second', { serial, fits: false }))
    assert.notEqual(authenticator.recognize(claim('second')).serial, serial)
  })
  test('is nothing for the same secret in another box, nor without a number', () => {
    const { serial } = authenticator.recognize(claim('second'))
    key = row('second')
    assert.ok(verify('second', { serial, fits: false }))
    assert.throws(() => verify('x', { serial: 0, fits: true }), /Signature mismatch/)
    assert.throws(() => verify('x', { serial: serial + 99, fits: true }), /Signature mismatch/)
  })
})
