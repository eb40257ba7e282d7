import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import type { Order as EngineOrder, OrderRow } from '../../../src/core/tables/exchange/order.ts'
import type { Position as EnginePosition } from '../../../src/core/tables/futures/positions.ts'
import { equal } from './alike.ts'
import { E } from './numbers.ts'
import type { Order, Position, World } from './world.ts'

/** `names`: both draw their ids from counters that nobody else draws from. */
export function sameOrder(got: EngineOrder | OrderRow, wanted: Order, names = true): void {
  const open = wanted.status === 'open'
  const one = [
    names ? got.id : 0,
    got.user_id,
    got.pair,
    got.side,
    got.type,
    got.time_in_force,
    got.text,
    got.amend_text,
    got.price,
    got.amount,
    got.left,
    got.filled,
    got.filled_total,
    got.fee,
    got.iceberg,
    open ? got.shown : 0n,
    got.refreshed,
    open && names ? got.rank : 0,
    got.stp_id,
    got.stp_act,
    got.status,
    got.finish_as,
    got.create_at,
    got.update_at,
    JSON.stringify(got.more),
  ]
  const other = [
    names ? wanted.id : 0,
    wanted.user,
    wanted.contract,
    wanted.buy ? 'buy' : 'sell',
    wanted.market ? 'market' : 'limit',
    wanted.tif,
    wanted.text,
    wanted.amendText,
    wanted.price,
    wanted.amount * E,
    wanted.left * E,
    wanted.filled * E,
    wanted.filledTotal,
    wanted.fee,
    wanted.iceberg * E,
    open ? wanted.shown * E : 0n,
    wanted.refreshed,
    open && names ? wanted.rank : 0,
    wanted.stp,
    wanted.stpAct,
    wanted.status,
    wanted.finish,
    wanted.created,
    wanted.updated,
    JSON.stringify(wanted.more),
  ]
  equal(one, other, `order ${wanted.id}`)
}
export function samePosition(got: EnginePosition, w: Position, names = true): void {
  const liquidating = (id: number): number => (names ? id : Math.sign(id))
  const one = [
    got.id,
    got.size,
    got.cost,
    got.margin,
    got.leverage,
    got.cross_limit,
    got.isolated_leverage,
    got.risk_limit,
    got.user_id === 0 ? 0 : liquidating(got.liquidating),
    got.funded,
    got.pnl,
    got.fee,
    got.fund,
    got.history_pnl,
    got.last_close_pnl,
    got.max_size,
    got.opened,
    got.opened_value,
    got.closed,
    got.closed_value,
    got.open_at,
  ]
  const other = [
    w.id,
    w.size * E,
    w.cost,
    w.margin,
    w.leverage,
    w.crossLimit,
    w.isolatedLeverage,
    w.riskLimit,
    w.user === 0 ? 0 : liquidating(w.liquidating),
    w.funded,
    w.pnl,
    w.fee,
    w.fund,
    w.history,
    w.lastClose,
    w.maxSize * E,
    w.opened * E,
    w.openedValue,
    w.closed * E,
    w.closedValue,
    w.openAt,
  ]
  equal(one, other, `position ${w.id}`)
}
/** The fund's and these users', in one contract. */
export function samePositions(state: State, world: World, contract: string, users: readonly number[]): void {
  for (const user of [0, ...users])
    for (const mode of ['single', 'dual_long', 'dual_short'] as const) {
      const got = state.futures.positions.get(user, contract, mode)
      const wanted = world.positions.get(`${user}/${contract}/${mode}`)
      assert.equal(got === undefined, wanted === undefined, `${mode} position of ${user}`)
      if (got !== undefined && wanted !== undefined) samePosition(got, wanted, false)
    }
}
