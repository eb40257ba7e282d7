import { Refusal, notFound } from '../labels.ts'
import { dropFailed, retryFailed, setAside } from './due.ts'
import type { DueCommand, DueWork } from './tables/due.ts'
import { auditNote } from './audit.ts'
import {
  changeToken,
  createOperator,
  deleteOperator,
  endToken,
  ensureOperator,
  recoverOperator,
} from './operators/operators.ts'
import {
  approveFile,
  askProposal,
  askRecovery,
  confirmProposal,
  effectProposal,
  expireProposal,
  proposeFile,
  rejectProposal,
  type NewProposal,
} from './operators/proposals.ts'
import { rotateKey } from './operators/rotate.ts'
import { cancelAll, cancelNext, cancelRest } from './spot/cancel-all.ts'
import { amend, amendBatch, cancel, cancelAny, cancelBatch, place, placeBatch } from './spot/commands.ts'
import { setCountdown, strikeCountdown } from './spot/countdown.ts'
import { beginSpot, computeRatios } from './spot/ratios.ts'
import {
  cancelPriceOrder,
  cancelPriceOrders,
  createPriceOrder,
  expirePriceOrder,
  firePriceOrders,
} from './spot/triggers.ts'
import { cancelPovOrder, cancelPovOrders, createPovOrder, lookPov } from './spot/pov.ts'
import type { Ctx } from './state.ts'
import { playCandle, playCandles } from './agents/candles.ts'
import { beginAgents, replayTrade, replayTrades, startScenario } from './agents/commands.ts'
import { startContractScenario } from './agents/contract-commands.ts'
import { actAgents, actContracts, paceAgents, wakeAgents } from './agents/pace.ts'
import { fireWaiting } from './futures/fire.ts'
import { wakeFund } from './futures/insurance.ts'
import { beginFutures, sweepFunding, workMinute } from './futures/minute.ts'
import { statContract } from './futures/stats.ts'
import { markContracts } from './futures/prices.ts'
import { crossLiquidate } from './spot/cross-liquidate.ts'
import { forgetTrades } from './spot/old-trades.ts'
import { addStpMembers, createStpGroup, removeStpMembers } from './stp/groups.ts'
import {
  changeUser,
  createKey,
  createUser,
  deleteKey,
  deleteOwnKey,
  lockSubAccount,
  replaceKey,
  replaceOwnKey,
  setKeyState,
  touchKeys,
} from './users/commands.ts'
import { passOnce } from './users/seen-requests.ts'
import { stopPortion } from './users/freeze.ts'
import { createLink, enterByLink } from './logins/links.ts'
import {
  confirmFactor,
  elevate,
  offerFactor,
  removeFactor,
  setPassword,
  signIn,
  signUp,
} from './logins/credentials.ts'
import { endSession, touchSessions } from './logins/sessions.ts'
import { futuresCommands } from './futures-commands.ts'
import { marginCommands } from './margin-commands.ts'
import { walletCommands } from './wallet-commands.ts'
import { fundInsurance } from './wallet/treasury.ts'
import { createTransfer, creditUser } from './wallet/transfers.ts'
import { configureWorld, setClock, setLive } from './world/commands.ts'
import {
  cancelMarketRest,
  haltMarkets,
  removeCurrency,
  removeMarket,
  setCurrencyStatus,
  setMarketStatus,
} from './world/listing.ts'
import { cancelContractOrders, changeContract } from './world/contract-commands.ts'
import { beginContracts, lookAtContracts, sweepContract } from './world/contract-listing.ts'
import { cancelMarketOrders, changeMarket } from './world/market-commands.ts'

/**
 * Counts up whenever a rule changes, or what a batch is hashed from, so that a recorded command would lead elsewhere: the next start then keeps the
 * state as it is as a checkpoint, and `kontor replay` begins there. `npm run rules` then records test/core/rules.json anew.
 */
export const RULES = 15

/** Every command there is. Its name is what the log keeps, so a name is for ever. */
const plain = {
  'world.configure': configureWorld,
  'world.live': setLive,
  'clock.set': setClock,
  'audit.note': auditNote,
  'operator.ensure': ensureOperator,
  'operator.create': createOperator,
  'operator.token': changeToken,
  'operator.end_token': endToken,
  'secret_key.rotate': rotateKey,
  'operator.recover': askRecovery,
  'operator.recovered': recoverOperator,
  'proposal.ask': (ctx: Ctx, input: NewProposal) => askProposal(ctx, input, runPlain),
  'proposal.confirm': (ctx: Ctx, input: { id: number; actor: string }) =>
    confirmProposal(ctx, input, runPlain),
  'proposal.reject': rejectProposal,
  'proposal.expire': expireProposal,
  'proposal.effect': (ctx: Ctx, input: { id: number }) => effectProposal(ctx, input, runPlain),
  'world.propose': proposeFile,
  'world.approve': approveFile,
  'operator.delete': deleteOperator,
  'user.create': createUser,
  'user.change': changeUser,
  'user.stop': stopPortion,
  'user.credit': creditUser,
  'sub_account.lock': lockSubAccount,
  'key.create': createKey,
  'key.replace': replaceKey,
  'key.delete': deleteKey,
  'own_key.replace': replaceOwnKey,
  'own_key.delete': deleteOwnKey,
  'key.state': setKeyState,
  'key.touch': touchKeys,
  'key.once': passOnce,
  'link.create': createLink,
  'link.enter': enterByLink,
  'session.touch': touchSessions,
  'session.end': endSession,
  'session.elevate': elevate,
  'login.sign_in': signIn,
  'login.sign_up': signUp,
  'login.password': setPassword,
  'login.factor.offer': offerFactor,
  'login.factor.confirm': confirmFactor,
  'login.factor.remove': removeFactor,
  'stp_group.create': createStpGroup,
  'stp_group.add': addStpMembers,
  'stp_group.remove': removeStpMembers,
  'transfer.create': createTransfer,
  ...walletCommands,
  ...futuresCommands,
  'market.change': changeMarket,
  'market.cancel_orders': cancelMarketOrders,
  'market.status': setMarketStatus,
  'market.cancel_rest': cancelMarketRest,
  'market.remove': removeMarket,
  'markets.halt': haltMarkets,
  'insurance.fund': fundInsurance,
  'contract.begin': beginContracts,
  'contract.look': lookAtContracts,
  'contract.sweep': sweepContract,
  'contract.change': changeContract,
  'contract.cancel_orders': cancelContractOrders,
  'currency.status': setCurrencyStatus,
  'currency.remove': removeCurrency,
  'spot.begin': beginSpot,
  'spot.place': place,
  'spot.place_batch': placeBatch,
  'spot.cancel': cancel,
  'order.cancel': cancelAny,
  'spot.cancel_all': cancelAll,
  'spot.cancel_next': cancelNext,
  'spot.cancel_rest': cancelRest,
  'spot.cancel_batch': cancelBatch,
  'spot.amend': amend,
  'spot.amend_batch': amendBatch,
  'spot.countdown.set': setCountdown,
  'spot.countdown.strike': strikeCountdown,
  'spot.price_order.create': createPriceOrder,
  'spot.price_order.cancel': cancelPriceOrder,
  'spot.price_order.cancel_all': cancelPriceOrders,
  'spot.price_order.expire': expirePriceOrder,
  'spot.price_order.fire': firePriceOrders,
  'spot.pov.create': createPovOrder,
  'spot.pov.look': lookPov,
  'spot.pov.cancel': cancelPovOrder,
  'spot.pov.cancel_all': cancelPovOrders,
  'spot.ratios': computeRatios,
  ...marginCommands,
  'spot.cross_liquidate': crossLiquidate,
  'spot.trades.forget': forgetTrades,
  'futures.begin': beginFutures,
  'futures.minute': workMinute,
  'futures.mark': markContracts,
  'futures.fund': sweepFunding,
  'futures.stat': statContract,
  'agents.begin': beginAgents,
  'agents.pace': paceAgents,
  'agents.look': wakeAgents,
  'agents.act': actAgents,
  'agents.contract_look': wakeAgents,
  'agents.contract_act': actContracts,
  'agents.contract_scenario': startContractScenario,
  'agents.scenario': startScenario,
  'agents.replay': replayTrades,
  'agents.trade': replayTrade,
  'agents.candles': playCandles,
  'agents.candle': playCandle,
}

/** What falls due names one of these; a name without its command does not compile. */
const dueCommands: {
  readonly [C in DueCommand]: (ctx: Ctx, input: DueWork[C] & { due_at: number }) => unknown
} = plain

/** A command within another one: what was proposed and is confirmed. */
function runPlain(ctx: Ctx, command: string, input: Readonly<Record<string, unknown>>): unknown {
  const handler = (plain as Record<string, ((ctx: Ctx, input: never) => unknown) | undefined>)[command]
  if (handler === undefined) throw new TypeError(`a proposal names the unknown command ${command}`)
  return handler(ctx, input as never)
}

/** Runs what falls due and forgets the item. A refusal ends the item too: it will not get better by itself. */
function runDue(ctx: Ctx, input: { id: number }): { refused: string | null } {
  const item = ctx.state.due.table.get(input.id) ?? notFound('NOT_FOUND', `no due item ${input.id}`)
  ctx.tx.remove(ctx.state.due.table, input.id)
  // A row of an older version may name what this one does not know.
  const handler = dueCommands[item.command] as ((ctx: Ctx, input: never) => unknown) | undefined
  if (handler === undefined)
    throw new TypeError(`due item ${item.id} names the unknown command ${item.command}`)
  const mark = ctx.tx.mark()
  try {
    handler(ctx, { ...item.input, due_at: item.at } as never)
    return { refused: null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.tx.rollback(mark)
    return { refused: `${error.label}: ${error.message}` }
  }
}

/** When a command is through, what waits for a price of a contract is looked at, and what the fund holds: see `fireWaiting`, `wakeFund`. */
function thenFire<C extends Readonly<Record<string, (ctx: Ctx, input: never) => unknown>>>(all: C): C {
  const fired = Object.entries(all).map(([name, handler]) => [
    name,
    (ctx: Ctx, input: never): unknown => {
      ctx.state.futures.waiting.begin()
      const reply = handler(ctx, input)
      fireWaiting(ctx)
      wakeFund(ctx)
      return reply
    },
  ])
  return Object.fromEntries(fired) as C
}

export const commands = thenFire({
  ...plain,
  'due.run': runDue,
  'due.set_aside': setAside,
  'due.retry': retryFailed,
  'due.drop': dropFailed,
})
export type Commands = typeof commands
