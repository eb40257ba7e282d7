import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replyText } from '../../src/api/reply-text.ts'
import { array, bool, decimalText, int, nullable, num, shape, str } from '../../src/api/shapes.ts'
import type { JsonSchema } from '../../src/api/fields.ts'
import { operatorEndpoints, tradingEndpoints } from '../../src/endpoints.ts'
import { Random } from '../sim/random.ts'

const TEXTS = ['', 'BTC_USDT', '-0.5', 'a "quoted" word', 'back\\slash', 'line\nbreak', '\u007f', 'größer', '\ud800', '\u2028'] // prettier-ignore
const NUMBERS = [0, -0, 1, -17, 0.1, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, NaN, Infinity]

/** A value of a shape; now and then one that it does not allow. */
function valueOf(shape: JsonSchema, random: Random, odd: boolean): unknown {
  const pick = <T>(list: readonly T[]): T => random.pick(list)
  if (odd && random.below(12) === 0) return pick([undefined, null, 'odd', 7, { more: 1 }, [1], true])
  const { type, items, anyOf, properties, required } = shape as {
    readonly type?: string
    readonly items?: JsonSchema
    readonly anyOf?: readonly JsonSchema[]
    readonly properties?: Readonly<Record<string, JsonSchema>>
    readonly required?: readonly string[]
  }
  if (anyOf !== undefined) return valueOf(pick(anyOf), random, odd)
  if (type === 'string') return odd ? pick(TEXTS) : `w${random.below(1000)}`
  if (type === 'integer' || type === 'number') return odd ? pick(NUMBERS) : random.below(1000)
  if (type === 'boolean') return random.below(2) === 0
  if (type === 'array')
    return Array.from({ length: random.below(3) }, () => valueOf(items ?? {}, random, odd) ?? null)
  if (properties === undefined) return pick([{}, { any: [1, { thing: 'x' }] }, 'text', 3, null])
  const value: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(properties))
    if (required!.includes(name) || random.below(2) === 0) value[name] = valueOf(member, random, odd)
  if (odd && random.below(20) === 0) value['nobody_declared_it'] = 1
  return value
}
const read = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text))

test('a reply is written as JSON.stringify would write it, whatever its shape and whatever it holds', () => {
  const random = new Random(84)
  let shapes = 0
  for (const { reply, path } of [...tradingEndpoints, ...operatorEndpoints(undefined as never)]) {
    if (reply === null) continue
    shapes++
    for (let i = 0; i < 60; i++) {
      const value = valueOf(reply, random, i % 2 === 1)
      assert.deepEqual(
        read(replyText(reply, value)),
        read(JSON.stringify(value)),
        `${path}: ${JSON.stringify(value)}`,
      )
    }
  }
  assert.ok(shapes > 200, `${shapes} shapes`)
})

test('members are written in the order of the shape, and those that may be missing where they are', () => {
  const one = shape({ id: int, 'note?': str, price: decimalText, on: bool, of: nullable(shape({ x: num })) })
  assert.equal(
    replyText(one, { on: true, price: '1.5', of: { x: 2 }, id: 1 }),
    '{"id":1,"price":"1.5","on":true,"of":{"x":2}}',
  )
  assert.equal(
    replyText(array(one), [{ id: 1, note: 'a"b', price: '0', on: false, of: null }]),
    '[{"id":1,"note":"a\\"b","price":"0","on":false,"of":null}]',
  )
})

test('of several shapes none takes a reply that has more members than it names', () => {
  const either: JsonSchema = { anyOf: [shape({ id: int }), shape({ id: int, text: str })] }
  assert.equal(replyText(either, { id: 1, text: 'x' }), '{"id":1,"text":"x"}')
})
