import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rawMember, soleMember } from '../../src/sockets/raw-member.ts'
import { plainCallIn, WaitingCalls } from '../../src/sockets/waiting-calls.ts'

const frameOf = (payload: unknown, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ time: 1, channel: 'spot.order_place', event: 'api', payload, ...more })

test('a call as clients write it is read at the door, with the letters of its req_param', () => {
  const text =
    '{"time":1,"channel":"spot.order_place","event":"api","payload":{"req_id":"r","req_param": {"a" : "1e2"},"req_header":{"X-Gate-Channel-Id":"c"}}}'
  assert.deepEqual(plainCallIn(text), {
    channel: 'spot.order_place',
    payload: { req_id: 'r', req_param: { a: '1e2' }, req_header: { 'X-Gate-Channel-Id': 'c' } },
    param: '{"a" : "1e2"}',
  })
  assert.equal(plainCallIn(frameOf({ req_id: 'r' }))?.param, undefined)
  assert.equal(plainCallIn(frameOf({ req_param: null }))?.param, 'null')
  assert.equal(plainCallIn(frameOf({ req_param: [{ text: 'a"b\\' }] }))?.param, '[{"text":"a\\"b\\\\"}]')
})
test('everything else is left to the desk as it is', () => {
  let deep: unknown = 1
  for (let i = 0; i < 100; i++) deep = [deep]
  const odd = {
    'no JSON': '{"event":"api"',
    'a list': '["api"]',
    'a subscription': frameOf(['BTC_USDT'], { event: 'subscribe' }),
    'a login, whose letters are signed': frameOf({ req_id: 'r' }, { channel: 'spot.login' }),
    'no channel': frameOf({}, { channel: undefined }),
    'a channel that is no text': frameOf({}, { channel: 7 }),
    'a payload that is none': frameOf('x'),
    'a list of payloads': frameOf([{}]),
    'an id that is none': frameOf({}, { id: 1.5 }),
    'an id that is too long': frameOf({}, { id: 'x'.repeat(65) }),
    'a deep req_id': frameOf({ req_id: deep }),
    'a deep header': frameOf({ req_header: { a: deep } }),
    'headers in a list': frameOf({ req_header: [1] }),
    'much beside the parameters': frameOf({ api_key: 'x'.repeat(5_000) }),
    'long and deep parameters, which nobody reads': frameOf({
      req_param: { a: deep, b: 'x'.repeat(10_000) },
    }),
  }
  for (const [what, text] of Object.entries(odd)) assert.equal(plainCallIn(text), undefined, what)
  // Short parameters may be deep: the desk refuses them in its own words.
  assert.ok(plainCallIn(frameOf({ req_param: { a: deep } })) !== undefined)
  assert.ok(plainCallIn(frameOf({ req_param: { a: 'x'.repeat(10_000) } })) !== undefined)
})
test('what is read quickly is what is read letter by letter', () => {
  const name = fc.constantFrom('req_param', 'payload', 'req_id', 'a', '__proto__', 'req\\u005fparam')
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('req_param', '"req_param":1', 'a\\b'))
  const payload = fc.array(fc.tuple(name, value), { maxLength: 4 })
  const text = payload.map(
    (members) =>
      `{"channel":"c","event":"api","payload":{${members
        .map(([key, member]) => `"${key}": ${JSON.stringify(member)}`)
        .join(' , ')}}}`,
  )
  fc.assert(
    fc.property(text, (frame) => {
      const call = plainCallIn(frame)
      if (call === undefined) return
      const read = (JSON.parse(frame) as { payload: Record<string, unknown> }).payload
      assert.deepEqual(call.payload, read)
      assert.equal(call.param, rawMember(frame, ['payload', 'req_param']))
      if (call.param !== undefined) assert.deepEqual(JSON.parse(call.param), read['req_param'])
    }),
    { numRuns: 2_000 },
  )
  assert.equal(soleMember('{"a":"req_param","req_param":1}', 'req_param'), undefined)
})
test('a call is acknowledged once and answered once, in frames of its own connection', () => {
  const calls = new WaitingCalls()
  const call = plainCallIn(
    frameOf({ req_id: 7, req_param: { a: '1' }, api_key: 'secret', signature: 'secret' }),
  )!
  const { n } = calls.add(call, 5)
  calls.name('127.0.0.1-0xc0', '"conn_id":"c","conn_trace_id":"t"')
  const ack = JSON.parse(calls.acknowledge(n, 2_000_000, [9, 10, 3])!)
  assert.deepEqual(
    [ack.request_id, ack.ack, ack.header.status, ack.header.client_id],
    ['7', true, '200', '127.0.0.1-0xc0'],
  )
  assert.deepEqual(ack.data.result, {
    req_id: 7,
    req_param: { a: '1' },
    api_key: '',
    timestamp: '',
    signature: '',
  })
  assert.equal(calls.acknowledge(n, 0, undefined), undefined)
  const answer = JSON.parse(
    calls.answer({ n, now: 2_000_000, limits: undefined, status: 400, data: '{"errs":{}}', copies: 1 })!,
  )
  assert.deepEqual([answer.request_id, answer.ack, answer.header.status], ['7', undefined, '400'])
  assert.deepEqual([answer.header.conn_id, answer.header.x_in_time], ['c', 5])
  assert.equal(answer.header.trace_id, ack.header.trace_id)
  assert.equal(answer.header.x_gate_ratelimit_limit, undefined)
  assert.equal(calls.answer({ n, now: 0, limits: undefined, status: 200, data: '{}', copies: 1 }), undefined)
})
