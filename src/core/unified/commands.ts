import { chargeHour, startHour } from './interest.ts'
import { beginLending, fundLending } from './lending.ts'
import { checkAccounts, liquidate } from './liquidation.ts'
import { loan } from './loans.ts'
import {
  setAllLeverage,
  setAutoRepay,
  setCollateral,
  setDeltaNeutral,
  setLeverage,
  setMode,
  setPairLeverage,
} from './modes.ts'
import { quickRepay } from './quick-repay.ts'
import { recheckOrders } from './restricted.ts'

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
