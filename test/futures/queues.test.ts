import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownRanking } from '../../src/api/futures/queues.ts'
import { adlRanking } from '../../src/core/futures/ranking.ts'
import { BTC_USDT } from './world.ts'
import { UnifiedFloor } from './unified.ts'

test('of many holders each finds his place in the queue of deleveraging, and asks for no more than his own score', () => {
  const floor = new UnifiedFloor()
  const { state } = floor
  floor.markAt('60000')
  const seller = floor.holder('1000000')
  const holders = Array.from({ length: 250 }, (_, i) => {
    const holder = floor.member('multi_currency', { USDT: String(200 + i), BTC: '1' })
    floor.place(seller, BTC_USDT, -10, '60000')
    floor.place(holder, BTC_USDT, 10, '60000')
    return holder
  })
  floor.markAt('60600')
  const contract = floor.contract(BTC_USDT)
  const shown = (user: number): number => shownRanking(state, contract, floor.position(user))
  assert.deepEqual(
    holders.map(shown),
    holders.map((user) => adlRanking(state, contract, floor.position(user))),
  )
  assert.equal(shown(seller), 1, 'of his side there is nobody else')
  // All currencies of an account are gathered for its score, and of nobody else's.
  const { margin } = state
  const modeOf = margin.modeOf.bind(margin)
  const asked = new Set<number>()
  margin.modeOf = (user) => {
    asked.add(user)
    return modeOf(user)
  }
  for (const holder of holders.slice(0, 5)) shown(holder)
  // Where the machine stood still meanwhile, the queue was made once more.
  for (let i = 0; i < 5 && asked.size > 5; i++) {
    asked.clear()
    for (const holder of holders.slice(0, 5)) shown(holder)
  }
  assert.ok(asked.size <= 5, `${asked.size} accounts were looked at for five`)
  // Who is counted as he is now: with the least equity for his profit he is the first.
  assert.equal(shown(holders[249]!), 5)
  assert.equal(floor.moveOut(holders[249]!, 'BTC', '0.999'), 'moved')
  assert.equal(shown(holders[249]!), 1)
})
