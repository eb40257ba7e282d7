import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import type { Head } from '../../src/gateway/channel.ts'
import { Guard } from '../../src/gateway/guard.ts'
import { KnownSecrets } from '../../src/gateway/known-secrets.ts'
import { TO_CORE, TO_GATEWAY } from '../../src/gateway/protocol.ts'
import { microsNow } from '../../src/http/words.ts'

const ask = (change: Record<number, unknown> = {}): Head =>
  Object.assign([TO_CORE.ASK, -1, 1, 'POST', '/x', 'a=1', '10.0.0.1', 5, 1, {}, 9, 1, null], change) as never

/** What passes between the core and a gateway on another machine, and how. See test/cluster/gateway-hostile.test.ts for the whole. */
describe('the guard', () => {
  const body = Buffer.from('{"amount":"1"}')
  const signed = (secret: string): Record<string, string> => {
    const parts = { method: 'POST', path: '/x', query: 'a=1', bodyDigest: bodyDigest(body), timestamp: '7' }
    return { key: 'k', timestamp: '7', sign: sign(secret, signatureString(parts)) }
  }
  test('says of a signature what is so, and learns secrets from replies that it strips', () => {
    const guard = new Guard(new KnownSecrets())
    const verdict = (headers: object, claim: [number, number], id: number): unknown[] =>
      guard.toCore(ask({ 2: id, 9: headers, 10: claim[0], 11: claim[1] }), body)!.slice(10, 12)
    assert.deepEqual(verdict(signed('right'), [17, 1], 1), [0, 0])
    const reply = guard.toGateway([TO_GATEWAY.REPLY, 2, 1, 200, ['A', 'b'], 0, ['k', 'right', 17]])
    assert.deepEqual(reply, [TO_GATEWAY.REPLY, -1, 1, 200, ['A', 'b']])
    assert.deepEqual(verdict(signed('right'), [0, 0], 2), [17, 1])
    assert.deepEqual(verdict(signed('wrong'), [17, 1], 3), [17, 0])
    assert.deepEqual(verdict({ ...signed('right'), key: 'other' }, [17, 1], 4), [0, 0])
    // The same of a body that comes later, over what really came.
    for (const [id, text, fits] of [
      [5, body, 1],
      [6, Buffer.from('{"amount":"2"}'), 0],
    ] as const) {
      const head = guard.toCore(ask({ 0: TO_CORE.HEAD, 2: id, 9: signed('right') }), undefined)!
      assert.deepEqual(head.slice(10), [0, 0, null])
      guard.toGateway([TO_GATEWAY.GO, -1, id])
      assert.deepEqual(guard.toCore([TO_CORE.BODY, -1, id, 17, 1, null], text), [
        TO_CORE.BODY,
        -1,
        id,
        17,
        fits,
        null,
      ])
    }
  })
  test('hands on no time, no header and no kind of its own', () => {
    const guard = new Guard(new KnownSecrets())
    const before = microsNow()
    const told = guard.toCore(ask({ 7: 1e300, 9: { key: 'k', 'x-made-up': 'y', ['__proto__']: 'z' } }), body)!
    // The parts of a millisecond come from another clock than the milliseconds: they may run back within one.
    assert.ok((told[7] as number) > before - 1_000 && (told[7] as number) < microsNow() + 1_000)
    assert.deepEqual(told[9], { key: 'k' })
    assert.equal(guard.toGateway([99, -1, 'a secret']), undefined)
    assert.equal(guard.toCore([TO_CORE.LEFT, -1, '10.0.0.1'], undefined), undefined)
  })
  test('counts bytes until they are answered', () => {
    const guard = new Guard(new KnownSecrets())
    guard.toCore(ask(), body)
    guard.toCore(ask({ 2: 2 }), body)
    assert.equal(guard.bytes, 2 * body.length)
    guard.toGateway([TO_GATEWAY.REPLY, -1, 1, 200, []])
    guard.toGateway([TO_GATEWAY.REPLY, -1, 2, 200, []])
    // What is answered twice, or was never asked, counts for nothing.
    guard.toGateway([TO_GATEWAY.REPLY, -1, 2, 200, []])
    guard.toGateway([TO_GATEWAY.REPLY, -1, 77, 200, []])
    assert.equal(guard.bytes, 0)
  })
  test('knows how many addresses clients of a gateway can have', () => {
    const guard = new Guard(new KnownSecrets())
    const look = (i: number): unknown => {
      const told = guard.toCore(
        [TO_CORE.LOOK, -1, i, '/', `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`],
        undefined,
      )
      guard.toGateway([TO_GATEWAY.SIGHT, -1, i, {}])
      return told
    }
    for (let i = 0; i < 65_536; i++) look(i)
    look(1)
    assert.throws(() => look(65_536), /too many addresses/)
  })
})
