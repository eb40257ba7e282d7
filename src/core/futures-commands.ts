import { cancelAll, cancelNext, cancelRest } from './futures/cancel.ts'
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
import { liquidate, unwind } from './futures/liquidate.ts'
import { lookAgain } from './futures/risk.ts'
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
} as const
