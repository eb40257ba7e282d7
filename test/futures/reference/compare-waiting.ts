import assert from 'node:assert/strict'
import { trailFigures } from '../../../src/core/futures/waiting.ts'
import type { State } from '../../../src/core/state.ts'
import type { ChaseOrder } from '../../../src/core/tables/futures/chases.ts'
import type { Tx } from '../../../src/machine/table.ts'
import { equal } from './alike.ts'
import { E, dec } from './numbers.ts'
import { triggerOf } from './waiting.ts'
import type { Chase, World } from './world.ts'

const ACCOUNTS = ['futures/usdt', 'futures/btc', 'delivery/usdt'] as const

/** Orders that wait for a price: those that the command touched, trails always, and now and then all. `names` as of rows. */
export function sameWaiting(
  state: State,
  world: World,
  traders: readonly number[],
  tx: Tx | undefined,
  whole: boolean,
  names = true,
): void {
  const { waiting } = state.futures
  const touched = (name: string): number[] =>
    (tx?.touched ?? []).filter(({ table }) => table.spec.name === name).map(({ key }) => key as number)
  const waits = world.waiting()
  const prices = waits.flatMap((row) => ('kind' in row && whole ? [row.id] : []))
  const trails = waits.flatMap((row) => ('kind' in row ? [] : [row.id]))
  for (const id of new Set([...touched('contract_price_order'), ...prices])) {
    const [got, row] = [waiting.prices.table.get(id), world.priceOrders.get(id)]
    assert.ok(got !== undefined && row !== undefined, `price order ${id} is known to one alone`)
    const { initial } = got
    equal(
      {
        user: got.user_id,
        contract: got.contract,
        kind: got.order_type,
        type: got.price_type,
        above: got.rule === 1,
        trigger: got.trigger_price,
        status: got.status,
        finish: got.finish_as,
        reason: got.reason,
        placed: names ? got.trade_id : 0,
        of: names ? got.me_order_id : Math.sign(got.me_order_id),
        ended: got.ended_at,
        initial: [initial.size, dec(initial.price), initial.tif, initial.close, initial.reduce_only],
      },
      {
        user: row.user,
        contract: row.contract,
        kind: row.kind,
        type: row.type,
        above: row.above,
        trigger: row.trigger,
        status: row.status,
        finish: row.finish,
        reason: row.reason,
        placed: names ? row.placed : 0,
        of: names ? row.of : Math.sign(row.of),
        ended: row.ended,
        initial: [
          row.initial.size,
          row.initial.price,
          row.initial.tif,
          row.initial.close,
          row.initial.reduceOnly,
        ],
      },
      `price order ${id}`,
    )
  }
  for (const id of new Set([...touched('trail_order'), ...trails])) {
    const [got, row] = [waiting.trails.table.get(id), world.trails.get(id)]
    assert.ok(got !== undefined && row !== undefined, `trail order ${id} is known to one alone`)
    const { extremum, trigger } = trailFigures(state, got)
    equal(
      {
        user: got.user_id,
        contract: got.contract,
        amount: got.amount,
        activation: got.activation_price,
        above: got.is_gte,
        type: got.price_type,
        offset: got.price_offset,
        status: got.status,
        placed: got.suborder_id,
        label: got.error_label,
        ended: got.ended_at,
        extremum,
        trigger,
      },
      {
        user: row.user,
        contract: row.contract,
        amount: row.amount * E,
        activation: row.activation,
        above: row.above,
        type: row.type,
        offset: row.offsetText,
        status: row.status,
        placed: row.placed,
        label: row.label,
        ended: row.ended,
        extremum: row.extremum,
        trigger: row.extremum === 0n ? 0n : triggerOf(world.contract(row.contract), row),
      },
      `trail order ${id}`,
    )
  }
  const chases = world.chasing()
  for (const id of new Set([...touched('chase_order'), ...chases.map((chase) => chase.id)]))
    sameChase(waiting.chases.table.get(id), world.chases.get(id), names)
  let open = 0
  for (const user of traders) for (const account of ACCOUNTS) open += waiting.count(user, account)
  assert.equal(open, waits.length + chases.length, 'orders that wait')
}
function sameChase(got: ChaseOrder | undefined, row: Chase | undefined, names: boolean): void {
  assert.ok(got !== undefined && row !== undefined, 'a chase order is known to one alone')
  equal(
    {
      user: got.user_id,
      contract: got.contract,
      amount: got.amount,
      limit: got.limit,
      status: got.status,
      order: names ? got.suborder_id : 0,
      wanted: got.chase_price,
      amended: got.amended_at,
      label: got.error_label,
      // What it says in words is the engine's.
      reason: got.error_label === '' ? got.reason : '',
      end: [got.suborder_price, got.suborder_finish_as, got.filled, got.filled_total],
      ended: got.ended_at,
    },
    {
      user: row.user,
      contract: row.contract,
      amount: row.amount * E,
      limit: row.limit,
      status: row.status,
      order: names ? row.order : 0,
      wanted: row.wanted,
      amended: row.amended,
      label: row.label,
      reason: row.reason,
      end: [
        row.end?.price ?? 0n,
        row.end?.finish ?? '',
        (row.end?.filled ?? 0n) * E,
        row.end?.filledTotal ?? 0n,
      ],
      ended: row.ended,
    },
    `chase order ${row.id}`,
  )
}
