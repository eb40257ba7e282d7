import assert from 'node:assert/strict'
import { isTrading, priceNow } from '../../src/core/futures/triggers.ts'
import type { State } from '../../src/core/state.ts'
import { PRICE_TYPES } from '../../src/core/tables/futures/triggers.ts'
import { Waiting } from '../../src/core/tables/futures/waiting.ts'
import { Tx } from '../../src/machine/table.ts'

/** What must be true of orders that wait for a price after every command, counted anew from their rows. */
export function proveWaiting(state: State, at: number, quiet: boolean): void {
  provePrices(state)
  proveTrails(state)
  proveChases(state)
  proveIndexes(state, at, quiet)
}
const rowOf = (state: State, user: number, contract: string, long: boolean): bigint => {
  let size = 0n
  for (const mode of ['single', long ? 'dual_long' : 'dual_short'] as const)
    size += state.futures.positions.get(user, contract, mode)?.size ?? 0n
  return size
}
function provePrices(state: State): void {
  for (const order of state.futures.waiting.prices.table.values()) {
    const { id, status, order_type, user_id, contract, me_order_id } = order
    assert.equal(
      order.ended_at === 0,
      status === 'open' || status === 'inactive',
      `price order ${id}: ${status}`,
    )
    if (status === 'inactive')
      assert.equal(state.futures.orders.get(me_order_id)?.status, 'open', `stop ${id} waits for nothing`)
    if (status !== 'open' || order_type === '') continue
    const long = order_type.includes('close-long')
    const size = rowOf(state, user_id, contract, long)
    assert.ok(long ? size > 0n : size < 0n, `price order ${id} (${order_type}) closes ${size}`)
    assert.equal(order.initial.reduce_only, true)
  }
}
function proveTrails(state: State): void {
  const { table, groups } = state.futures.waiting.trails
  const used = new Set<number>()
  for (const trail of table.values()) {
    if (trail.status !== 'active') {
      assert.equal(trail.group_id, 0, `trail ${trail.id} is ${trail.status}, and in a group`)
      continue
    }
    used.add(trail.group_id)
    const group = groups.get(trail.group_id)
    const told = `trail ${trail.id} in group ${trail.group_id}`
    assert.deepEqual(
      [group?.contract, group?.price_type, group?.buys],
      [trail.contract, trail.price_type, trail.amount > 0n],
      told,
    )
    if (trail.position_related) {
      const size = rowOf(state, trail.user_id, trail.contract, trail.amount < 0n)
      assert.ok(trail.amount < 0n ? size > 0n : size < 0n, `trail ${trail.id} belongs to nothing`)
    }
  }
  assert.equal(groups.size, used.size, 'groups without members')
}
function proveChases(state: State): void {
  const orders = new Set<number>()
  for (const chase of state.futures.waiting.chases.table.values()) {
    const order = state.futures.orders.get(chase.suborder_id)
    assert.equal(order?.status === 'open', chase.status === 'active', `chase ${chase.id}: ${chase.status}`)
    if (chase.status === 'active') orders.add(chase.suborder_id)
  }
  for (const order of state.futures.orders.values())
    if (order.status === 'open' && order.more?.origin?.startsWith('chase_order:') === true)
      assert.ok(orders.has(order.id), `order ${order.id} is chased by nobody`)
}
/** Indexes made anew of the same rows, those of groups last, answer the same; and nothing that is reached still waits. */
function proveIndexes(state: State, at: number, quiet: boolean): void {
  const { waiting } = state.futures
  const anew = new Waiting()
  const tx = new Tx()
  for (const row of waiting.prices.table.values()) tx.put(anew.prices.table, row)
  for (const row of [...waiting.trails.table.values()].reverse()) tx.put(anew.trails.table, row)
  for (const row of [...waiting.trails.groups.values()].reverse()) tx.put(anew.trails.groups, row)
  for (const row of waiting.chases.table.values()) tx.put(anew.chases.table, row)
  for (const contract of state.world.allContracts) {
    const { id, tick } = contract
    assert.equal(waiting.countIn(id), anew.countIn(id))
    for (const type of PRICE_TYPES) {
      const price = priceNow(state, id, type)
      if (price === undefined) continue
      for (const buys of [true, false])
        assert.deepEqual(
          waiting.trails.lines.nearest(id, type, buys),
          anew.trails.lines.nearest(id, type, buys),
          `${id} ${type} ${buys}`,
        )
      const found = [
        waiting.prices.reached(id, type, price)?.id,
        waiting.trails.activated(id, type, price)?.id,
        waiting.trails.reached(id, type, price, tick)?.id,
      ]
      assert.deepEqual(found, [
        anew.prices.reached(id, type, price)?.id,
        anew.trails.activated(id, type, price)?.id,
        anew.trails.reached(id, type, price, tick)?.id,
      ])
      if (quiet && isTrading({ state, tx, at }, contract))
        assert.deepEqual(
          found,
          [undefined, undefined, undefined],
          `${id}: the ${type} price ${price} has reached them`,
        )
    }
  }
}
