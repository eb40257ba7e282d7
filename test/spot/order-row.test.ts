import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encoderOf } from '../../src/machine/codec.ts'
import { OrderRow, SPOT_ORDER, type Order } from '../../src/core/tables/exchange/order.ts'

/** An order in which no two members say the same, and none says what a new order would. */
function distinct(): Order {
  const order: Record<string, unknown> = {}
  for (const [i, [name, type]] of Object.entries(SPOT_ORDER.columns).entries()) {
    if (type === 'int') order[name] = 1_000 + i
    else if (type === 'amount') order[name] = BigInt(2_000 + i)
    else if (type === 'bool') order[name] = true
    else order[name] = type === 'json' ? { origin: `word ${i}` } : `text ${i}`
  }
  return order as unknown as Order
}
const encode = encoderOf(SPOT_ORDER.columns)

test('an order read from a store, its copy and its copies are equal in every column', () => {
  const order = distinct()
  const read = OrderRow.of(order)
  assert.deepEqual(encode(read), encode(order))
  assert.deepEqual(encode(read.copy()), encode(order))
  assert.deepEqual(encode(read.copy().copy()), encode(order))
})
test('an amendment changes what it names and nothing else', () => {
  const order = distinct()
  const amended = OrderRow.of(order).amended({ price: 7n as never, amend_text: 'other' })
  assert.deepEqual(encode(amended), encode({ ...order, price: 7n as never, amend_text: 'other' }))
})
