import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Book, group } from '../../console/src/live/book.ts'
import { dec, text } from '../../console/src/lib/decimal.ts'

test('a follower has the book of the one who tells, whatever is told', () => {
  const change = fc.tuple(
    fc.constantFrom('b', 'a'),
    fc.integer({ min: 1, max: 30 }),
    fc.integer({ min: 0, max: 3 }),
  )
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 40 }), (pushes) => {
      const truth = { b: new Map<number, number>([[3, 1]]), a: new Map<number, number>([[40, 2]]) }
      const book = new Book()
      assert.ok(book.apply({ full: true, u: 10, b: [['3', '1']], a: [['40', '2']] }))
      let id = 10
      for (const changes of pushes) {
        const rows: Record<'b' | 'a', [string, string][]> = { b: [], a: [] }
        for (const [side, price, amount] of changes) {
          if (amount === 0) truth[side].delete(price)
          else truth[side].set(price, amount)
          rows[side].push([String(price), String(amount)])
        }
        assert.ok(book.apply({ U: id + 1, u: (id += 2), b: rows.b, a: rows.a }))
      }
      const sorted = (map: Map<number, number>, sign: number): string[] =>
        [...map].sort(([x], [y]) => (x - y) * sign).map(([price, amount]) => `${price} ${amount}`)
      assert.deepEqual(
        book.bids.map(({ price, amount }) => `${price} ${amount}`),
        sorted(truth.b, -1),
      )
      assert.deepEqual(
        book.asks.map(({ price, amount }) => `${price} ${amount}`),
        sorted(truth.a, 1),
      )
    }),
  )
})
test('a missing delta is noticed, an old one is not applied', () => {
  const book = new Book()
  assert.equal(book.apply({ U: 1, u: 1 }), false)
  book.apply({ full: true, u: 5, b: [['1', '1']], a: [] })
  assert.equal(book.apply({ U: 4, u: 5, b: [['1', '9']] }), true)
  assert.equal(book.bids[0]!.amount, '1')
  assert.equal(book.apply({ U: 7, u: 7 }), false)
  assert.equal(book.ready, false)
  assert.equal(book.apply({ full: true, u: 9, b: [], a: [] }), true)
})
test('grouping never makes a price look better, and keeps the sums', () => {
  const book = new Book()
  book.apply({
    full: true,
    u: 1,
    b: [
      ['99.9', '1'],
      ['99.5', '2'],
      ['98', '4'],
    ],
    a: [
      ['100.1', '1'],
      ['101', '2'],
      ['101.2', '3'],
    ],
  })
  const shown = (side: 'bids' | 'asks') =>
    group(book[side], side, dec('1'), 5).map(({ at, size, total }) => [text(at), text(size), text(total)])
  assert.deepEqual(shown('bids'), [
    ['99', '3', '3'],
    ['98', '4', '7'],
  ])
  assert.deepEqual(shown('asks'), [
    ['101', '3', '3'],
    ['102', '3', '6'],
  ])
})
