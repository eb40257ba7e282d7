import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Market } from './market.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 2_000)
const FROM = Number(process.env['SEED'] ?? 239)
const EACH = 500
/** So many meet what is rare, too. */
const MANY = 60_000

/** What a run must have met to prove anything: outcomes of calls, and what the reference did. */
const MET = {
  'futures.place':
    'done INVALID_PARAM_VALUE CONTRACT_NOT_FOUND TRADE_RESTRICTED USER_NOT_FOUND INVALID_PRECISION POSITION_IN_LIQUIDATION SIZE_TOO_SMALL SIZE_TOO_LARGE PRICE_TOO_DEVIATED TOO_MANY_ORDERS DUPLICATE_REQUEST POSITION_EMPTY INCREASE_POSITION REDUCE_EXCEEDED POSITION_IN_CLOSE PRICE_OVER_BANKRUPT CONTRACT_NO_COUNTER ORDER_POC_IMMEDIATE ORDER_FOK RISK_LIMIT_EXCEEDED LIQUIDATE_IMMEDIATELY INSUFFICIENT_AVAILABLE',
  'futures.amend': 'done INVALID_PARAM_VALUE ORDER_NOT_FOUND NO_CHANGE INSUFFICIENT_AVAILABLE',
  'futures.cancel': 'done ORDER_NOT_FOUND',
  'futures.cancel_all': 'done',
  'futures.leverage':
    'done LEVERAGE_TOO_LOW LEVERAGE_TOO_HIGH POSITION_HOLDING ORDER_PENDING INSUFFICIENT_AVAILABLE',
  'futures.margin_mode': 'done POSITION_HOLDING',
  'futures.risk_limit': 'done RISK_LIMIT_TOO_HIGH RISK_LIMIT_NOT_MULTIPLE',
  'futures.margin': 'done REMOVE_TOO_MUCH INSUFFICIENT_AVAILABLE POSITION_CROSS_MARGIN NO_CHANGE',
  'futures.dual_mode': 'done POSITION_HOLDING',
  'transfer.create': 'done FUTURES_BALANCE_NOT_ENOUGH',
  'futures.price_order.create':
    'done AUTO_TRIGGER_PRICE_GREATE_LAST AUTO_TRIGGER_PRICE_LESS_LAST POSITION_EMPTY',
  'futures.price_order.amend': 'done',
  'futures.price_order.cancel_all': 'done',
  'futures.trail.create': 'done POSITION_EMPTY SIZE_TOO_SMALL',
  'futures.trail.update': 'ORDER_NOT_FOUND',
  'futures.trail.stop': 'done ORDER_NOT_FOUND',
  'futures.trail.stop_all': 'done',
  'futures.chase.create': 'done CONTRACT_NO_COUNTER',
} as const
const MET_DEEDS = [
  'isolated liquidation',
  'cross liquidation',
  'liquidated in part',
  'liquidated whole',
  'liquidated in the book',
  'partial step keeps its margin',
  'surplus to the fund',
  'takeover',
  'the fund can not take it',
  'unwound',
  'taken at the mark',
  'equity pays what is missing',
  'deleveraged',
  'resting order not carried',
  'turned round',
  'iceberg',
  'rebate',
  'debt',
  'funding paid',
  'funding received',
  'funding rate above 0',
  'funding rate below 0',
  'funding left to rounding',
  'ended stp',
  'ended reduce_only',
  'ended reduce_out',
  'ended liquidated',
  'ended auto_deleveraged',
  'contract ended',
  'settled with a profit',
  'settled with a loss',
  'price order succeeded',
  'price order expired',
  'price order failed CONTRACT_NO_COUNTER',
  'trail active',
  'trail success',
  'trail failed POSITION_EMPTY',
  'stop open',
  'stop invalid',
  'price order cancelled other_stop_fired',
  'chase amended',
  'chase success',
]
const MET_BY_MANY = {
  'futures.amend':
    'ORDER_FINISHED ORDER_POC_IMMEDIATE PRICE_TOO_DEVIATED INVALID_PRECISION RISK_LIMIT_EXCEEDED SIZE_TOO_LARGE SIZE_TOO_SMALL REDUCE_EXCEEDED PRICE_OVER_BANKRUPT TRADE_RESTRICTED LIQUIDATE_IMMEDIATELY',
  'futures.cancel': 'ORDER_FINISHED',
  'futures.leverage': 'POSITION_IN_LIQUIDATION',
  'futures.risk_limit': 'POSITION_DUAL_MODE POSITION_NOT_FOUND LEVERAGE_TOO_HIGH RISK_LIMIT_TOO_LOW',
  'futures.margin': 'POSITION_DUAL_MODE POSITION_NOT_FOUND POSITION_EMPTY INVALID_PRECISION',
  'futures.dual_mode': 'ORDER_PENDING',
  'futures.price_order.create':
    'CONTRACT_NOT_FOUND INVALID_PARAM_VALUE SIZE_TOO_SMALL TRADE_RESTRICTED USER_NOT_FOUND',
  'futures.price_order.amend':
    'AUTO_TRIGGER_PRICE_GREATE_LAST AUTO_TRIGGER_PRICE_LESS_LAST INVALID_PARAM_VALUE',
  'futures.price_order.cancel': 'done ORDER_FINISHED ORDER_NOT_FOUND',
  'futures.trail.create': 'CONTRACT_NOT_FOUND INVALID_PARAM_VALUE USER_NOT_FOUND',
  'futures.trail.update': 'done NO_CHANGE ORDER_FINISHED',
  'futures.chase.create':
    'INCREASE_POSITION INSUFFICIENT_AVAILABLE INVALID_PARAM_VALUE POSITION_EMPTY PRICE_TOO_DEVIATED REDUCE_EXCEEDED RISK_LIMIT_EXCEEDED TRADE_RESTRICTED USER_NOT_FOUND',
  'futures.chase.stop': 'done ORDER_NOT_FOUND',
} as const
const DEEDS_BY_MANY = [
  'hedge closed',
  'equity pays for the fund',
  'fund pays what is missing',
  'the fund is deleveraged',
  'ended position_closed',
  'a loss at the end is paid',
  'price order cancelled liquidated',
  'price order cancelled position_closed',
  'price order cancelled contract_delisted',
  'price order failed INSUFFICIENT_AVAILABLE',
  'trail failed CONTRACT_NO_COUNTER',
  'stop inactive again',
  'chase cancelled',
  'chase failed',
  'chase stays PRICE_TOO_DEVIATED',
]

test(`the engine and a naive reference of contracts say the same over ${OPERATIONS} random operations`, () => {
  const met = new Map<string, number>()
  let commands = 0
  for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
    const market = new Market(seed)
    for (let i = 0; i < EACH; i++)
      try {
        market.step()
      } catch (error) {
        const last = market.log.slice(-8).join('\n')
        throw new Error(
          `seed ${seed}, operation ${i}:\n${last}\n${error instanceof Error ? error.stack : ''}`,
          { cause: error },
        )
      }
    for (const [what, count] of [...market.outcomes, ...market.reference.world.met])
      met.set(what, (met.get(what) ?? 0) + count)
    commands += market.commands
  }
  if (process.env['SHOW'] !== undefined) console.log(commands, Object.fromEntries([...met].sort()))
  const labels = (of: Readonly<Record<string, string>>): string[] =>
    Object.entries(of).flatMap(([call, list]) => list.split(' ').map((label) => `${call} ${label}`))
  const must = [...labels(MET), ...MET_DEEDS]
  if (OPERATIONS >= MANY) must.push(...labels(MET_BY_MANY), ...DEEDS_BY_MANY)
  assert.deepEqual(
    must.filter((what) => !met.has(what)),
    [],
    `none of ${OPERATIONS} was`,
  )
})
