import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rawMember } from '../../src/sockets/raw-member.ts'

const PATH = ['payload', 'req_param']

test('the source text of a member, as it was sent', () => {
  const cases: [text: string, raw: string | undefined][] = [
    ['{"payload":{"req_param":{}}}', '{}'],
    [' {\n"a" : [1, {"req_param": 2}] , "payload" :\t{ "req_param" : { "a":1 } } }', '{ "a":1 }'],
    ['{"payload":{"req_param":""}}', '""'],
    ['{"payload":{"req_param":null}}', 'null'],
    ['{"payload":{"req_param":-1.50e3}}', '-1.50e3'],
    ['{"payload":{"req_param":[ ]}}', '[ ]'],
    ['{"payload":{"req_param":"}\\"{,\\\\"}}', '"}\\"{,\\\\"'],
    ['{"payload":{"x":"req_param\\":1","req_param":{"b":"]}"}}}', '{"b":"]}"}'],
    // The last one counts, of either name, and names may be written with escapes.
    ['{"payload":{"req_param":1},"payload":{"req_param":2,"req_param":3}}', '3'],
    ['{"payload":{"req_param":1},"payload":{}}', undefined],
    ['{"payload":{"req_param":1},"payload":7}', undefined],
    ['{"pay\\u006coad":{"req\\u005fparam":4}}', '4'],
    ['{"payload":{"req_param":1,"req\\u005fparam":4}}', '4'],
    ['{}', undefined],
    ['{"payload":[{"req_param":1}]}', undefined],
    ['{"payload":{}}', undefined],
    ['7', undefined],
  ]
  for (const [text, raw] of cases) assert.equal(rawMember(text, PATH), raw, text)
})

/** JSON with the names that matter, twice now and then, with escapes and spaces anywhere. */
const space = fc.constantFrom('', '', ' ', '\n', '\t ', '\r\n')
const name = fc.oneof(
  fc.constantFrom('"payload"', '"req_param"', '"pay\\u006coad"', '"req\\u005Fparam"'),
  fc.constantFrom('"payload"', '"req_param"', '"pay\\u006coad"', '"req\\u005Fparam"', '"a"', '""', '"\\""'),
  fc.string().map((text) => JSON.stringify(text)),
)
const { object } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.json(),
    fc.constantFrom('""', 'null', '{}', '[]', 'true', '0', '-1.5E+3', '"\\\\"', '"\\"}]"', '"\\ud800"'),
    tie('object'),
    tie('list'),
  ),
  object: fc
    .array(fc.tuple(space, name, space, space, tie('value'), space), { minLength: 1, maxLength: 6 })
    .map((members) => `{${members.map(([a, n, b, c, v, d]) => `${a}${n}${b}:${c}${v}${d}`).join(',')}}`),
  list: fc
    .array(fc.tuple(space, tie('value'), space), { maxLength: 3 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
}))

test('it means what JSON.parse reads there, whatever the text', () => {
  const seen = { found: 0, absent: 0 }
  fc.assert(
    fc.property(space, object, space, (before, text, after) => {
      const whole = `${before}${text}${after}`
      const parsed: unknown = JSON.parse(whole)
      for (const path of [['payload'], PATH, ['req_param', 'payload', 'a']]) {
        let wanted: unknown = parsed
        for (const member of path)
          wanted =
            wanted !== null &&
            typeof wanted === 'object' &&
            !Array.isArray(wanted) &&
            Object.hasOwn(wanted, member)
              ? (wanted as Record<string, unknown>)[member]
              : undefined
        const raw = rawMember(whole, path)
        assert.equal(raw === undefined, wanted === undefined, whole)
        if (raw === undefined) seen.absent++
        else {
          seen.found++
          assert.equal(raw.trim(), raw)
          assert.deepEqual(JSON.parse(raw), wanted)
        }
      }
    }),
    { numRuns: 5_000 },
  )
  assert.ok(seen.found > 1_000 && seen.absent > 1_000, JSON.stringify(seen))
})

test('a text that is no JSON ends it, and does not hang it', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[{}[\]":,\\ a1]{0,40}$/), (text) => {
      try {
        rawMember(text, PATH)
        rawMember(`{"payload":${text}`, PATH)
      } catch (error) {
        assert.ok(error instanceof SyntaxError)
      }
    }),
  )
})
