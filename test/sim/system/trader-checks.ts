import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import { sameWaiting } from '../../futures/reference/compare-waiting.ts'
import { sameOrder, samePositions } from '../../futures/reference/rows.ts'
import type { World } from '../../futures/reference/world.ts'
import { text } from './model.ts'

/** Money, accounts, orders, positions, what waits, and prices of one contract are what the reference says. */
export function sameAccounts(
  state: State,
  world: World,
  id: string,
  account: string,
  users: readonly number[],
  isUnified: (user: number) => boolean,
): void {
  for (const user of users) {
    const same = (name: string, mine: bigint): void =>
      assert.equal(state.ledger.balance(user, name as 'spot', 'USDT'), mine, `${name} of ${user}`)
    if (!isUnified(user)) {
      same('futures:usdt', world.balance(`${user} ${account}`))
      same('debt.futures:usdt', world.balance(`${user} debt ${account}`))
      same('spot', world.balance(`${user} spot USDT`))
    }
    const [got, wanted] = [state.futures.accounts.get(user, account), world.account(user, account)]
    assert.deepEqual(
      [got?.dual ?? false, Math.sign(got?.liquidating ?? 0), got?.pnl ?? 0n, got?.fee ?? 0n, got?.fund ?? 0n],
      [wanted!.dual, Math.sign(wanted!.liquidating), wanted!.pnl, wanted!.fee, wanted!.fund],
      `account of ${user}`,
    )
    const open = state.futures.openOrders(user, id)
    const mine = world.openOf(user, id).sort((a, b) => a.id - b.id)
    assert.equal(open.length, mine.length, `open orders of ${user}`)
    for (const [i, order] of open.entries()) sameOrder(order, mine[i]!, false)
  }
  samePositions(state, world, id, users)
  sameWaiting(state, world, users, undefined, true, false)
  const { index, mark, last } = world.priceOf(id)
  const price = state.futures.priceOf(id)!
  assert.deepEqual(
    [price.index, price.mark, state.futures.lastPrice(id) ?? 0n].map(text),
    [index, mark, last ?? 0n].map(text),
    'prices',
  )
}
