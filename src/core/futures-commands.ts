import { cancelAll, cancelNext, cancelRest } from './futures/cancel.ts'
import { createChase, lookAtChases, stopChase, stopChases } from './futures/chases.ts'
import {
  amend,
  amendBatch,
  cancel,
  cancelBatch,
  countdown,
  place,
  placeBatch,
  strikeCountdown,
} from './futures/commands.ts'
import { fireRest } from './futures/fire.ts'
import { liquidate } from './futures/liquidate.ts'
import { forgetContractTrades } from './futures/old-trades.ts'
import { unwind } from './futures/unwind.ts'
import {
  amendPriceOrder,
  cancelPriceOrder,
  cancelPriceOrders,
  createPriceOrder,
  expirePriceOrder,
} from './futures/price-orders.ts'
import { lookAgain } from './futures/risk.ts'
import { createTrail, followTrailsRest, stopTrail, stopTrails, updateTrail } from './futures/trails.ts'
import { changeMargin, setDualMode, setLeverage, setMarginMode, setRiskLimit } from './futures/settings.ts'

/** Commands of contracts, perpetual and dated. */
export const futuresCommands = {
  'futures.place': place,
  'futures.place_batch': placeBatch,
  'futures.amend': amend,
  'futures.amend_batch': amendBatch,
  'futures.cancel': cancel,
  'futures.cancel_batch': cancelBatch,
  'futures.cancel_all': cancelAll,
  'futures.cancel_next': cancelNext,
  'futures.cancel_rest': cancelRest,
  'futures.countdown': countdown,
  'futures.countdown.strike': strikeCountdown,
  'futures.leverage': setLeverage,
  'futures.margin_mode': setMarginMode,
  'futures.risk_limit': setRiskLimit,
  'futures.margin': changeMargin,
  'futures.dual_mode': setDualMode,
  'futures.liquidate': liquidate,
  'futures.look': lookAgain,
  'futures.unwind': unwind,
  'futures.price_order.create': createPriceOrder,
  'futures.price_order.amend': amendPriceOrder,
  'futures.price_order.cancel': cancelPriceOrder,
  'futures.price_order.cancel_all': cancelPriceOrders,
  'futures.price_order.expire': expirePriceOrder,
  'futures.fire': fireRest,
  'futures.chase.create': createChase,
  'futures.chase.stop': stopChase,
  'futures.chase.stop_all': stopChases,
  'futures.chase.look': lookAtChases,
  'futures.trail.create': createTrail,
  'futures.trail.stop': stopTrail,
  'futures.trail.stop_all': stopTrails,
  'futures.trail.update': updateTrail,
  'futures.trail.follow': followTrailsRest,
  'futures.trades.forget': forgetContractTrades,
} as const
