import assert from 'node:assert/strict'
import {
  accountFigures,
  positionFigures,
  type AccountFigures,
  type PositionFigures,
} from '../../src/core/futures/figures.ts'
import type { NewContractOrder, PlaceInput } from '../../src/core/futures/inputs.ts'
import { positionOf } from '../../src/core/futures/positions.ts'
import type { Order } from '../../src/core/tables/exchange/order.ts'
import type { Position, PositionMode } from '../../src/core/tables/futures/positions.ts'
import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import { Desk } from './desk.ts'
import { BTC_USDT } from './world.ts'

const PLAIN: NewContractOrder = {
  contract: '',
  size: '0',
  iceberg: null,
  price: '0',
  tif: null,
  text: null,
  close: null,
  reduce_only: null,
  auto_size: null,
  stp_act: null,
  market_order_slip_ratio: null,
  pos_margin_mode: null,
  tpsl_tp_trigger_price: null,
  tpsl_sl_trigger_price: null,
  bbo: null,
}
export type More = Partial<NewContractOrder>

/** Orders as clients place them, on a desk whose index says what the mark is. */
export class Floor extends Desk {
  path(user_id: number, id: string): { user_id: number; group: 'futures' | 'delivery'; settle: string } {
    const { group, settle } = this.contract(id)
    return { user_id, group, settle }
  }
  input(user: number, id: string, size: number, price: string, more: More = {}): PlaceInput {
    const tif = price === '0' ? 'ioc' : null
    const order = { ...PLAIN, contract: this.contract(id).name, size: String(size), price, tif, ...more }
    return { ...this.path(user, id), order } as PlaceInput
  }
  place(user: number, id: string, size: number, price: string, more: More = {}): Order {
    return this.must('futures.place', this.input(user, id, size, price, more))
  }
  refused(user: number, id: string, size: number, price: string, more: More = {}): string {
    const outcome = this.run('futures.place', this.input(user, id, size, price, more))
    return 'label' in outcome ? outcome.label : 'it was placed'
  }
  leverage(user: number, id: string, leverage: string, limit: string | null = null): void {
    this.must('futures.leverage', {
      ...this.path(user, id),
      contract: this.contract(id).name,
      leverage,
      cross_leverage_limit: limit,
    })
  }
  position(user: number, id = BTC_USDT, mode: PositionMode = 'single'): Position {
    return positionOf(this.state, user, this.contract(id), mode)
  }
  size(user: number, id = BTC_USDT, mode: PositionMode = 'single'): number {
    return Number(contractsIn(this.position(user, id, mode).size))
  }
  figures(user: number, id = BTC_USDT): AccountFigures {
    return accountFigures(this.state, user, this.contract(id))
  }
  view(user: number, id = BTC_USDT): PositionFigures {
    return positionFigures(this.state, this.position(user, id))
  }
  /** The mark as if all that makes it said so. */
  markAt(price: string, id = BTC_USDT): void {
    const base = this.contract(id).base
    this.index({ [base]: price })
    this.lastPrice(id, price)
    this.setRow(id, { steps: [], funding_rate: 0n as never })
    this.follow(id)
    assert.equal(this.mark(id), price)
  }
}
