import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counters, nextId } from '../../src/core/counters.ts'
import { Pages } from '../../src/machine/pages.ts'
import { Tx } from '../../src/machine/table.ts'

test('a counter that a command writes on goes back to a mark, and to where it was before the command', () => {
  const table = counters()
  const first = new Tx()
  assert.equal(nextId(first, table, 'order', 1, 3), 1)
  const before = table.get('order')
  const tx = new Tx()
  assert.equal(nextId(tx, table, 'order'), 4)
  const mark = tx.mark()
  assert.equal(nextId(tx, table, 'order'), 5)
  assert.equal(nextId(tx, table, 'order'), 6)
  tx.rollback(mark)
  assert.equal(table.get('order')?.value, 4)
  assert.equal(nextId(tx, table, 'order'), 5)
  assert.equal(before?.value, 3, 'the row of an earlier command is never written on')
  tx.rollback()
  assert.equal(table.get('order'), before)
})

test('within a command, and no further, a row is the command’s own', () => {
  const table = counters()
  const one = new Tx()
  nextId(one, table, 'line')
  assert.notEqual(one.own(table.get('line')), undefined)
  one.mark()
  assert.equal(one.own(table.get('line')), undefined)
  assert.equal(new Tx().own(table.get('line')), undefined)
  assert.equal(new Tx().own({ name: 'line', value: 1 }), undefined, 'a row from the store is nobody’s')
})

test('pages find what a map would find, whatever is asked for', () => {
  const pages = new Pages<string>()
  const map = new Map<number, string>()
  const keys = [1, 2, 1023, 1024, 1025, 5000, 4_294_967_297, 2 ** 32 + 1024]
  for (const key of keys) {
    pages.set(key, `row ${key}`)
    map.set(key, `row ${key}`)
  }
  for (const key of [1024, 1025, 2]) {
    pages.set(key, undefined)
    map.delete(key)
  }
  for (const key of [...keys, 0, -1, 1.5, NaN, Infinity, 3, 2 ** 53])
    assert.equal(pages.get(key), map.get(key), `${key}`)
  assert.deepEqual([...pages.values()], [...map.values()])
  pages.set(1024, 'again')
  assert.equal(pages.get(1024), 'again')
})
