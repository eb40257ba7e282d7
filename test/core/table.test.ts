import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counters, nextId } from '../../src/core/counters.ts'
import { Pages } from '../../src/machine/pages.ts'
import { Table, Tx } from '../../src/machine/table.ts'

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

test('finished rows leave memory little by little, oldest first; who asked the store before knows what it can not have seen', () => {
  interface Row {
    readonly id: number
    readonly done: boolean
  }
  const KEPT = 20_000
  const table = new Table<Row>({
    name: 'row',
    key: ['id'],
    columns: { id: 'int', done: 'bool' },
    live: (row) => !row.done,
  })
  const gone: number[] = []
  table.observe((before, _after, signal) => {
    if (signal === 'eviction') gone.push(before!.id)
  })
  let next = 0
  const end = (count: number, needed: (key: unknown) => boolean = () => false): void => {
    const tx = new Tx()
    const ids = Array.from({ length: count }, () => ++next)
    for (const id of ids) tx.put(table, { id, done: true })
    table.retire(ids, needed)
  }
  const all = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i)

  new Tx().put(table, { id: 1_000_000, done: false })
  for (let i = 0; i < 2_000; i++) end(10)
  assert.deepEqual(gone, [])
  const ended = table.ended
  end(10)
  assert.deepEqual(gone, all(1, 10))
  assert.equal(table.forgot(ended), false, 'all of these had ended before, and the store had them')

  // What somebody needs stays, behind the others.
  end(10, (key) => key === 13)
  assert.deepEqual(gone.slice(10), [11, 12, ...all(14, 21)])
  assert.notEqual(table.get(13), undefined)

  // Never more at once than twice as many as came; in the end as many as have ended stay, and the one that has not.
  for (let i = 0; i < 5_000; i++) {
    const before = gone.length
    end(10)
    assert.ok(gone.length - before <= 20)
  }
  assert.equal(table.get(13), undefined)
  assert.equal(table.size, KEPT + 1)
  assert.deepEqual(
    gone.filter((id) => id !== 13),
    all(1, next - KEPT).filter((id) => id !== 13),
  )
  assert.equal(table.forgot(ended), true)
  assert.equal(table.forgot(table.ended), false)
})
