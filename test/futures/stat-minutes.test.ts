import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONTRACT_STAT, MINUTES_KEPT } from '../../src/core/tables/futures/stats.ts'
import type { ContractStat } from '../../src/core/tables/futures/stats.ts'
import type { Tx } from '../../src/machine/table.ts'
import { Floor } from './floor.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

class Counting extends Floor {
  readonly stats: ContractStat[] = []
  protected override applied(tx: Tx): void {
    super.applied(tx)
    const stats = this.stats as ContractStat[] | undefined
    stats?.push(...tx.appendedTo(CONTRACT_STAT))
  }
}

test('statistics of each fifth minute stay, those between for a day', () => {
  const floor = new Counting()
  const begin = floor.second - (floor.second % 86_400)
  for (let i = 1; i <= 3 * MINUTES_KEPT; i++)
    floor.must('futures.stat', { contract: BTC_USDT, t: begin + i * 60 })
  floor.must('futures.stat', { contract: ETH_USDT, t: begin + 60 })
  const end = begin + 3 * MINUTES_KEPT * 60
  assert.equal(floor.stats.length, (3 * MINUTES_KEPT) / 5)
  assert.ok(floor.stats.every(({ t }) => t % 300 === 0))
  const kept = [...floor.state.futures.minutes.values()].filter(({ contract }) => contract === BTC_USDT)
  assert.equal(kept.length, (MINUTES_KEPT * 4) / 5)
  assert.ok(kept.every(({ t }) => t > end - MINUTES_KEPT * 60 && t % 300 !== 0))
  assert.equal([...floor.state.futures.minutes.values()].length, kept.length + 1)
})

test('a contract that was held or traded in the last minute has its record, whatever memory still knows of trades', () => {
  const floor = new Counting()
  const [maker, taker] = [floor.holder('50000'), floor.holder('50000')]
  const recorded = (): number[] =>
    [...floor.state.futures.minutes.values()]
      .filter(({ contract }) => contract === BTC_USDT)
      .map(({ t }) => t)
  const trade = (size: number): void => {
    floor.place(maker, BTC_USDT, -size, '60000')
    floor.place(taker, BTC_USDT, size, '60000', { tif: 'ioc' })
    // As a state has it that begins at a checkpoint.
    floor.state.futures.trades.forget(BTC_USDT)
  }
  const minutes = (count: number): void => floor.advance(count * 60)
  floor.advance(300 - (floor.second % 300) + 30)
  const begin = floor.second - 30
  // Opened and closed within a minute; not in the next; then held over a minute and closed.
  trade(5)
  trade(-5)
  minutes(2)
  assert.deepEqual(recorded(), [begin + 60])
  trade(5)
  minutes(1)
  trade(-5)
  minutes(1)
  assert.deepEqual(recorded(), [begin + 60, begin + 180, begin + 240])
})
