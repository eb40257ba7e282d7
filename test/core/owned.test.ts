import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Owned } from '../../src/core/ledger/owned.ts'
import { Random } from '../sim/random.ts'

test('accounts of each owner come by their ids, in whatever order they came and whichever of them are taken back', () => {
  const random = new Random(7)
  const owned = new Owned()
  const lists = new Map<number, number[]>()
  const free = Array.from({ length: 4_000 }, (_, i) => i + 1)
  for (let step = 0; step < 20_000; step++) {
    const owner = random.pick([0, 10_001, 10_002, 3_000_000])
    const list = lists.get(owner) ?? []
    lists.set(owner, list)
    if (free.length > 0 && (list.length === 0 || random.below(5) < 3)) {
      const [id] = free.splice(random.below(free.length), 1)
      owned.add(owner, id!)
      list.push(id!)
      list.sort((a, b) => a - b)
    } else if (list.length > 0) {
      // Most often the last one, as where a command is taken back.
      const at = random.below(3) === 0 ? random.below(list.length) : list.length - 1
      const [id] = list.splice(at, 1)
      owned.remove(owner, id!)
      free.push(id!)
    }
    if (step % 50 === 0)
      for (const [one, ids] of lists) {
        const found: number[] = []
        for (let id = owned.firstOf(one); id !== 0; id = owned.after(id)) found.push(id)
        assert.deepEqual(found, ids)
        assert.equal(owned.count(one), ids.length)
      }
  }
  assert.throws(() => owned.remove(77, 1), /not among/)
  for (const nobody of [77, -1, NaN, 1e15, 0.5]) assert.equal(owned.count(nobody), 0)
})
