import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearIndex, needsOf } from '../../src/core/futures/figures.ts'
import type { State } from '../../src/core/state.ts'
import { random } from '../spot/compare.ts'
import { Floor } from './floor.ts'
import { BTC_USD, BTC_USDT, DATED, ETH_USDT } from './world.ts'

/** The same state to whoever remembers nothing of it. */
const forgetful = ({ futures, world }: State): State =>
  ({ futures: { priceOf: (id: string) => futures.priceOf(id), believed: undefined }, world }) as State

test('what is remembered of positions and marks is what they come to, whatever happened in between', () => {
  const floor = new Floor()
  const { state } = floor
  const below = random(11)
  const one = <T>(of: readonly T[]): T => of[below(of.length)]!
  const users = [floor.holder('1000000'), floor.holder('1000000'), floor.holder('1000000')]
  const ids = [BTC_USDT, ETH_USDT]
  let compared = 0
  const compare = (): void => {
    for (const id of [BTC_USDT, ETH_USDT, BTC_USD, DATED])
      assert.equal(nearIndex(state)(id), nearIndex(forgetful(state))(id))
    for (const row of state.futures.positions.heldBy(one(users), 'futures/usdt')) {
      // A copy is in no table, so that nobody remembers anything of it.
      assert.deepEqual(needsOf(state, row), needsOf(state, { ...row }))
      assert.deepEqual(needsOf(state, row, nearIndex(state)), needsOf(state, { ...row }, nearIndex(state)))
      compared++
    }
  }
  const prices = (): Record<string, string> => ({
    BTC: String(59_000 + below(2_000)),
    ETH: String(2_950 + below(100)),
  })
  const change = (): void => {
    const [user, id, kind] = [one(users), one(ids), below(10)]
    const price = String(id === BTC_USDT ? 59_500 + below(1_000) : 2_970 + below(60))
    const input = floor.input(user, id, below(2) === 0 ? 1 + below(9) : -1 - below(9), price)
    if (kind < 5) floor.run('futures.place', input)
    else if (kind < 6) floor.rehearse('futures.place', input)
    else if (kind < 7) floor.index(prices())
    else if (kind < 8) floor.rehearse('prices.set', { prices: prices(), actor: null })
    else if (kind < 9)
      floor.run('futures.leverage', {
        ...floor.path(user, id),
        contract: floor.contract(id).name,
        leverage: '0',
        cross_leverage_limit: String(5 + below(20)),
      })
    else
      floor.must('contract.change', {
        contract: id,
        change: {
          tiers: [{ risk_limit: '1000000', maintenance_rate: `0.00${4 + below(4)}`, leverage_max: '100' }],
        },
        actor: null,
      })
  }
  for (let i = 0; i < 2_000; i++) {
    change()
    compare()
    if (below(20) === 0) floor.advance(1 + below(90))
  }
  assert.ok(compared > 1_000, `${compared} positions were looked at`)
})
