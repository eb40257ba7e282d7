import { addOwnAddress, deleteOwnAddress, ensureDepositAddress, saveAddress } from './chains/addresses.ts'
import { observeChain, type Observation } from './deposits/observe.ts'
import { refundDeposit, rejectRefund } from './deposits/refund.ts'
import { blockDeposit, holdDeposit, releaseDeposit } from './deposits/review.ts'
import { answerPush, createPush, expirePush } from './push/push.ts'
import {
  advanceSim,
  broadcastSim,
  changeSimTx,
  fundSim,
  mineSim,
  paySim,
  planWake,
  reorganiseSim,
} from './sim/commands.ts'
import type { Ctx } from './state.ts'
import { dropSweep, intendSweep, replaceSweep, sentSweep } from './sweeps/commands.ts'
import {
  approveWithdrawal,
  divertWithdrawal,
  failWithdrawal,
  pauseWithdrawals,
  rejectWithdrawal,
  retryWithdrawal,
} from './withdrawals/decide.ts'
import { requestWithdrawal } from './withdrawals/request.ts'
import {
  claimWithdrawal,
  displaceWithdrawal,
  holdForFunds,
  intendWithdrawal,
  releaseForFunds,
  replaceIntent,
  sentWithdrawal,
} from './withdrawals/send.ts'
import { cancelWithdrawal, refundCancelled } from './withdrawals/settle.ts'
import { bookCustody } from './chains/custody.ts'
import { configureChain, configureCurrency, setPolicy } from './world/settings.ts'
import { expirePrices, setPrices, takeFeed } from './world/price-commands.ts'
import { convertDust } from './wallet/small-balance.ts'
import { createSubTransfer, subToSub } from './wallet/sub-transfers.ts'
import { payEarnings } from './wallet/treasury.ts'

/** What a chain says, and when to look again. */
function observe(ctx: Ctx, input: Observation): null {
  observeChain(ctx, input)
  planWake(ctx, input.chain)
  return null
}
/** Its coming due is all that happens: the ticker tells whoever follows the chain to look. */
const wake = (_ctx: Ctx, _input: { chain: string }): null => null

export const walletCommands = {
  'chain.configure': configureChain,
  'chain.book': bookCustody,
  'treasury.payout': payEarnings,
  'currency.configure': configureCurrency,
  'policy.set': setPolicy,
  'prices.set': setPrices,
  'prices.feed': takeFeed,
  'prices.expire': expirePrices,
  'address.ensure': ensureDepositAddress,
  'saved_address.save': saveAddress,
  'saved_address.add': addOwnAddress,
  'saved_address.delete': deleteOwnAddress,
  'chain.observe': observe,
  'chain.pause': pauseWithdrawals,
  'chain.wake': wake,
  'deposit.hold': holdDeposit,
  'deposit.release': releaseDeposit,
  'deposit.block': blockDeposit,
  'deposit.refund': refundDeposit,
  'deposit.reject_refund': rejectRefund,
  'withdrawal.request': requestWithdrawal,
  'withdrawal.cancel': cancelWithdrawal,
  'withdrawal.refund': refundCancelled,
  'withdrawal.approve': approveWithdrawal,
  'withdrawal.reject': rejectWithdrawal,
  'withdrawal.divert': divertWithdrawal,
  'withdrawal.fail': failWithdrawal,
  'withdrawal.retry': retryWithdrawal,
  'withdrawal.claim': claimWithdrawal,
  'withdrawal.short': holdForFunds,
  'withdrawal.funded': releaseForFunds,
  'withdrawal.intend': intendWithdrawal,
  'withdrawal.sent': sentWithdrawal,
  'withdrawal.replace': replaceIntent,
  'withdrawal.displace': displaceWithdrawal,
  'sweep.intend': intendSweep,
  'sweep.sent': sentSweep,
  'sweep.replace': replaceSweep,
  'sweep.drop': dropSweep,
  'push.create': createPush,
  'push.answer': answerPush,
  'push.expire': expirePush,
  'sub_transfer.create': createSubTransfer,
  'sub_transfer.sub_to_sub': subToSub,
  'small_balance.convert': convertDust,
  'sim.advance': advanceSim,
  'sim.mine': mineSim,
  'sim.pay': paySim,
  'sim.broadcast': broadcastSim,
  'sim.reorg': reorganiseSim,
  'sim.transaction': changeSimTx,
  'sim.fund': fundSim,
}
