import { chargeHour, startHour } from './liquidation/interest.ts'
import { beginLending, fundLending } from './unified/lending.ts'
import { checkAccounts, liquidate } from './liquidation/liquidation.ts'
import { loan } from './unified/loans.ts'
import {
  setAllLeverage,
  setAutoRepay,
  setCollateral,
  setDeltaNeutral,
  setLeverage,
  setMode,
  setPairLeverage,
} from './unified/modes.ts'
import { quickRepay } from './unified/quick-repay.ts'
import { recheckOrders } from './liquidation/recheck.ts'

export const marginCommands = {
  'lending.begin': beginLending,
  'lending.fund': fundLending,
  'lending.hour': startHour,
  'lending.charge': chargeHour,
  'margin.mode': setMode,
  'margin.collateral': setCollateral,
  'margin.leverage': setLeverage,
  'margin.leverage.all': setAllLeverage,
  'margin.leverage.pair': setPairLeverage,
  'margin.auto_repay': setAutoRepay,
  'margin.delta_neutral': setDeltaNeutral,
  'margin.loan': loan,
  'margin.quick_repay': quickRepay,
  'margin.check': checkAccounts,
  'margin.recheck': recheckOrders,
  'margin.liquidate': liquidate,
}
