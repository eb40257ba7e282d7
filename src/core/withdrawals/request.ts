import { newWithdrawal } from './record.ts'
import { SECOND, HOUR } from '../time.ts'
import { positiveAmount } from '../positive.ts'
import { spotOf, lockedName } from '../ledger/accounts.ts'
import { notFound, refuse } from '../../labels.ts'
import {
  ZERO,
  add,
  amountOf,
  decimalsOf,
  format,
  max,
  min,
  rateOf,
  roundUp,
  timesUp,
  type Amount,
} from '../../money/amount.ts'
import { readAddress, readTag, sharedAddress } from '../chains/addresses.ts'
import { schedule } from '../due.ts'
import { move } from '../ledger/ledger.ts'
import { audit } from '../audit.ts'
import type { Ctx, State } from '../state.ts'
import { leavingLimit } from '../unified/guard.ts'
import { isFrozen, isMain, refuseClosed, type User } from '../tables/users.ts'
import { leavingRoom, mainOf, refuseOwing } from '../family.ts'
import type { ChainConfig, CurrencyChain } from '../tables/world/chains.ts'
import type { CurrencyConfig } from '../tables/world/config.ts'
import { payInternally } from './internal.ts'
import { judge, type PolicyFacts } from './policy.ts'
import { countWithdrawal, dayAllowance, recentUsage } from './usage.ts'
import type { HoldStatus } from '../tables/withdrawal.flow.ts'
import { withdrawalId, type Withdrawal } from '../tables/withdrawals.ts'

export interface NewWithdrawal {
  readonly user_id: number
  readonly currency: string
  readonly chain: string | null
  readonly amount: string
  readonly address: string
  readonly memo: string | null
  readonly withdraw_order_id: string | null
  readonly asset_class: 'SPOT' | 'PILOT' | null
  /** A record with this withdraw_order_id that has left memory: the endpoint looked it up. */
  readonly known_id: number | null
  /** The operator who asks on the user's behalf; null when the user does. */
  readonly requested_by: string | null
}
/** spot → spot.locked, with its record. The order of the checks is the specification's. */
export function requestWithdrawal(ctx: Ctx, input: NewWithdrawal): Withdrawal {
  const { state, tx, at } = ctx
  const user = state.users.get(input.user_id) ?? notFound('USER_NOT_FOUND', `no user ${input.user_id}`)
  if (!isMain(user)) refuse('FORBIDDEN', "a sub-account can't withdraw; move the money to its main account")
  if (user.state === 2) refuse('ACCOUNT_LOCKED', `account ${user.user_id} is frozen; nothing leaves it`)
  refuseClosed(state.users, user.user_id, at)
  const currency = state.world.transported(input.currency)
  checkAssetClass(currency, input.asset_class)
  const on = state.world.currencyChain(currency, input.chain)
  const chain = state.world.mustChain(on.chain)
  checkOpen(currency, on)
  const { amount, fee: chainFee } = checkAmount(state, user, currency, on, input.amount, at)
  const { address, memo } = checkDestination(chain, input)
  const internalTo = internalReceiver(ctx, chain, address, memo)
  const fee = internalTo === 0 ? chainFee : ZERO
  const saved = checkAddressBook(state, user, currency.currency, chain.chain, address, memo)
  checkOrderId(state, user.user_id, input)
  checkFunds(state, user, currency.currency, amount)
  const usdt = state.prices.worth(currency.currency, amount)
  const { policy } = state.world
  const facts: PolicyFacts = {
    amount,
    usdt,
    priced: !state.world.live || state.prices.of(currency.currency) !== 0n,
    approvalAmount: amountOf(currency.approval_amount),
    addressHours: saved === null ? null : (at - saved) / HOUR,
    passwordHours: passwordHours(user, at),
    recent: recentUsage(state, user.user_id, at, policy.velocity.hours),
    internal: internalTo !== 0,
    chainPaused: chain.paused,
  }
  const holds = judge(policy, facts)
  // An operator's own wish is looked at by another one, whatever the policy says of it.
  if (input.requested_by !== null && state.world.live && holds.every(({ status }) => !DECIDED.has(status)))
    holds.push({ status: 'REVIEW', reason: `asked for by operator ${input.requested_by}` })
  const withdrawal = newWithdrawal(ctx, {
    user_id: user.user_id,
    refund_of: 0,
    withdraw_order_id: input.withdraw_order_id,
    currency,
    chain: chain.chain,
    address,
    memo,
    amount,
    fee,
    usdt,
    holds,
    requested_by: input.requested_by ?? '',
    internal_to: internalTo,
    send_at: at + chain.send_delay_seconds * SECOND,
  })
  const { id } = withdrawal
  state.ledger.post(ctx, {
    kind: 'withdraw',
    ref: `withdrawal:${id}`,
    lines: move(
      spotOf(user.user_id),
      { owner: user.user_id, name: lockedName('spot') },
      currency.currency,
      amount,
    ),
  })
  countWithdrawal(ctx, user.user_id, currency.currency, amount, usdt)
  tx.put(state.wallet.withdrawals.table, withdrawal)
  if (input.requested_by !== null)
    audit(ctx, input.requested_by, 'withdrawal.request', { id: withdrawalId(id), user_id: user.user_id })
  if (holds.length > 0) return withdrawal
  if (internalTo !== 0) return payInternally(ctx, withdrawal)
  schedule(ctx, withdrawal.send_at, 'chain.wake', { chain: chain.chain })
  return withdrawal
}

/** Holds that an operator clears. */
const DECIDED: ReadonlySet<HoldStatus> = new Set(['REVIEW', 'MANUAL'])

function checkAssetClass({ currency, asset_class }: CurrencyConfig, given: 'SPOT' | 'PILOT' | null): void {
  if (given !== null && given !== asset_class)
    refuse('INVALID_PARAM_VALUE', `asset_class: ${currency} is of class ${asset_class}, not ${given}`)
}
function checkOpen(currency: CurrencyConfig, on: CurrencyChain): void {
  if (!currency.withdraw_enabled)
    refuse('API_WITHDRAW_DISABLED', `currency: withdrawals of ${currency.currency} are disabled for now`)
  if (!on.withdraw_enabled)
    refuse(
      'API_WITHDRAW_DISABLED',
      `chain: withdrawals of ${currency.currency} on ${on.chain} are disabled for now`,
    )
}

/** The fee is lifted to the chain's decimals, in the platform's favour by at most one of its units. */
export const withdrawalFee = (on: CurrencyChain, amount: Amount): Amount =>
  roundUp(
    add(amountOf(on.withdraw_fix), ((timesUp(amount, rateOf(on.withdraw_percent)) + 99n) / 100n) as Amount),
    on.decimal,
  )

function checkAmount(
  state: State,
  user: User,
  currency: CurrencyConfig,
  on: CurrencyChain,
  text: string,
  at: number,
): { readonly amount: Amount; readonly fee: Amount } {
  const amount = positiveAmount(text)
  const name = currency.currency
  if (decimalsOf(amount) > on.decimal)
    refuse(
      'INVALID_PARAM_VALUE',
      `amount: "${text}" has more than the ${on.decimal} decimals of ${name} on ${on.chain}`,
    )
  const fee = withdrawalFee(on, amount)
  if (amount < amountOf(on.withdraw_amount_mini))
    refuse(
      'AMOUNT_TOO_LITTLE',
      `amount: ${text} ${name} is below the minimum of ${on.withdraw_amount_mini} on ${on.chain}`,
    )
  if (amount <= fee)
    refuse(
      'AMOUNT_TOO_LITTLE',
      `amount: ${text} ${name} does not cover the fee of ${format(fee)} on ${on.chain}`,
    )
  if (amount > amountOf(currency.withdraw_eachtime_limit))
    refuse(
      'WITHDRAWAL_OVER_LIMIT',
      `amount: ${text} ${name} is above the limit of ${currency.withdraw_eachtime_limit} for one withdrawal`,
    )
  const { remain } = dayAllowance(state, user, currency, at)
  if (amount > remain)
    refuse(
      'WITHDRAWAL_OVER_LIMIT',
      `amount: ${text} ${name} is above what is left of the day's limit: ${format(remain)}`,
    )
  return { amount, fee }
}

function checkDestination(
  chain: ChainConfig,
  input: NewWithdrawal,
): { readonly address: string; readonly memo: string } {
  const address = readAddress(chain, input.address)
  if (!chain.tagged) return { address, memo: input.memo ?? '' }
  if (input.memo === null)
    refuse(
      'MISSING_REQUIRED_PARAM',
      `Missing required parameter: memo; ${chain.chain} payments need the receiver's tag`,
    )
  return { address, memo: readTag(chain, input.memo, 'memo') }
}
/** The user behind an address of ours; 0 for the world outside. */
function internalReceiver({ state }: Ctx, chain: ChainConfig, address: string, memo: string): number {
  const owner = state.wallet.addresses.owner(chain.chain, address, chain.tagged ? memo : '')
  if (owner === undefined) {
    if (chain.tagged && chain.kind === 'simulated' && address === sharedAddress(chain))
      refuse(
        'INVALID_PARAM_VALUE',
        `memo: "${memo}" is no account's tag at this platform's own ${chain.chain} address`,
      )
    return 0
  }
  if (state.world.policy.internal_transfers === 'off')
    refuse(
      'INVALID_PARAM_VALUE',
      'address: it belongs to this platform, and withdrawals to it are switched off; use POST /withdrawals/push',
    )
  refuseFrozen(state, owner.user_id, 'address')
  return owner.user_id
}
/** Nothing is sent to whom the platform has frozen. */
export function refuseFrozen(state: State, userId: number, name: string): void {
  if (isFrozen(state.users, userId))
    refuse('RISK_ERROR', `${name}: account ${userId} is frozen and can't receive`)
}
/** Since when the address is verified (microseconds); null: not in the book, and the policy does not mind. */
function checkAddressBook(
  state: State,
  user: User,
  currency: string,
  chain: string,
  address: string,
  memo: string,
): number | null {
  const tag = state.world.mustChain(chain).tagged ? memo : ''
  const saved = state.wallet.addresses.findSaved(user.user_id, currency, chain, address, tag)
  if (saved?.verified === true) return saved.verified_at
  if (state.world.policy.address_book_only)
    refuse(
      'ADDRESS_NOT_USED',
      saved === undefined
        ? `address: ${address} on ${chain} is not among this account's saved ${currency} addresses; GET /wallet/saved_address lists them`
        : `address: ${address} on ${chain} is saved but not verified yet`,
    )
  return null
}
function checkOrderId(state: State, userId: number, input: NewWithdrawal): void {
  const { withdraw_order_id: orderId } = input
  if (orderId === null) return
  const known = input.known_id ?? state.wallet.withdrawals.byOrderId.get(`${userId}/${orderId}`)?.id
  if (known !== undefined)
    refuse(
      'DUPLICATE_REQUEST',
      `withdraw_order_id: "${orderId}" was used before, for withdrawal ${withdrawalId(known)}; nothing was withdrawn now`,
    )
}

/** Spot money that may leave the platform: not what is credited but still locked in the family, nor what debts need. */
export function mayLeave(state: State, userId: number, currency: string): Amount {
  const own = max(ZERO, state.ledger.balance(userId, 'spot', currency))
  const room = leavingRoom(state, userId)
  const unlocked = room === undefined ? own : min(own, room.of(currency))
  const spared = leavingLimit(state, userId, 'spot', currency)
  return spared === undefined ? unlocked : min(unlocked, spared)
}
/** Refuses what is more than may leave, and says why it is so little. */
export function checkLeaving(state: State, userId: number, currency: string, amount: Amount): void {
  const free = mayLeave(state, userId, currency)
  if (amount <= free) return
  const main = mainOf(state, userId)
  const locks = [...state.wallet.deposits.locks.ofFamily(main)].map(
    ([name, lock]) => `${format(lock)} ${name}`,
  )
  const why =
    locks.length > 0
      ? ` (${locks.join(', ')} was deposited here and is still locked; what leaves must leave its worth behind)`
      : ''
  refuse(
    'BALANCE_NOT_ENOUGH',
    `not enough ${currency} in the spot account: ${format(free)} may leave${why}, ${format(amount)} needed`,
  )
}
function checkFunds(state: State, user: User, currency: string, amount: Amount): void {
  checkLeaving(state, user.user_id, currency, amount)
  refuseOwing(state, user.user_id)
}
export function passwordHours(user: User, at: number): number | null {
  const changed = user.settings.password_changed_at
  return changed === undefined ? null : (at / 1e6 - changed) / 3600
}
