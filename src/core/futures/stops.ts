import { refuse } from '../../labels.ts'
import type { Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import type { Placed, Side } from '../tables/exchange/order.ts'
import type { ContractPriceOrder } from '../tables/futures/price-orders.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { isCross } from './figures.ts'
import type { NewContractOrder } from './inputs.ts'
import { positionOf } from './positions.ts'
import { checkAhead, checkWaitingRoom, priceNow, readTrigger } from './triggers.ts'
import { modeOf } from './venue.ts'

/** A way out of what an order opens: where the profit is taken, or the loss. */
export interface NewStop {
  readonly trigger_price: Price
  readonly above: boolean
}

/** The stops of a new order; only one that opens, and nothing else, has any. */
export function readStops(
  state: State,
  contract: Contract,
  input: NewContractOrder,
  userId: number,
  side: Side,
  price: Price,
  opens: boolean,
): NewStop[] {
  if (input.tpsl_tp_trigger_price === null && input.tpsl_sl_trigger_price === null) return []
  const long = side === 'buy'
  const given = [
    ['tpsl_tp_trigger_price', long],
    ['tpsl_sl_trigger_price', !long],
  ] as const
  const stops = given.flatMap(([name, above]) => {
    const text = input[name]
    if (text === null) return []
    if (!opens)
      refuse(
        'INVALID_PARAM_VALUE',
        `${name}: only an order that opens a position, and closes none, has stops`,
      )
    const trigger_price = readTrigger(contract, text, name)
    // One that rests is filled at its own price, wherever the last one is now.
    if (price > 0n) checkAhead(trigger_price, above, price, name, "the order's price")
    else checkAhead(trigger_price, above, priceNow(state, contract.id, 'last'), name, 'the last price')
    return [{ trigger_price, above }]
  })
  if (stops.length > 0) checkWaitingRoom(state, userId, contract, stops.length)
  return stops
}

/** They wait for the order's first fill, and then for their price. */
export function addStops(ctx: Ctx, contract: Contract, order: Placed, stops: readonly NewStop[]): void {
  const { state, tx, at } = ctx
  if (stops.length === 0) return
  const { user_id, side } = order
  const position = positionOf(state, user_id, contract, modeOf(state, order, contract.account))
  for (const { trigger_price, above } of stops) {
    const row: ContractPriceOrder = {
      id: nextId(tx, state.counters, 'contract_price_order'),
      user_id,
      contract: contract.id,
      account: contract.account,
      order_type: side === 'buy' ? 'close-long-order' : 'close-short-order',
      price_type: 'last',
      rule: above ? 1 : 2,
      trigger_price,
      expiration: 0,
      initial: {
        size: '0',
        price: '0',
        tif: 'ioc',
        text: '',
        close: false,
        reduce_only: true,
        auto_size: '',
        pos_margin_mode: '',
      },
      pos_margin_mode: isCross(position) ? 'cross' : 'isolated',
      status: 'inactive',
      finish_as: '',
      reason: '',
      trade_id: 0,
      me_order_id: order.id,
      due_id: 0,
      created_at: at,
      ended_at: 0,
    }
    tx.put(state.futures.waiting.prices.table, row)
  }
}
