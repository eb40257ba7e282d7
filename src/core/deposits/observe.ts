import { custodyOf, spotOf, PLATFORM } from '../ledger/accounts.ts'
import { add, amountOf, format, negate, type Amount } from '../../money/amount.ts'
import { extendTrail, FINAL_DEPTH } from '../tables/tips.ts'
import { nextId } from '../counters.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx } from '../state.ts'
import { settleSweep } from '../sweeps/commands.ts'
import { lockedWorth } from '../family.ts'
import { unclaimedOf } from '../withdrawals/refund-of.ts'
import { settleOutcome, type Outcome } from '../withdrawals/send.ts'
import type { ChainConfig } from '../tables/world/chains.ts'
import { DEPOSIT_FLOW, type DepositEvent, type DepositStatus } from '../tables/deposit.flow.ts'
import { outputKey, type Deposit } from '../tables/deposits.ts'

/** A payment to one of our addresses, as the chain shows it. */
export interface Payment {
  readonly txid: string
  readonly output: number
  readonly address: string
  readonly memo: string
  readonly currency: string
  readonly amount: string
  /** null: seen, but in no block. */
  readonly height: number | null
}
export interface Observation {
  readonly chain: string
  /** The highest block that the chain still has as we saw it before. */
  readonly fork: number
  readonly tip: { readonly height: number; readonly hash: string }
  /** All payments in the blocks above the fork, and all that wait for a block. */
  readonly payments: readonly Payment[]
  readonly outcomes: readonly (Outcome & { readonly id: number })[]
  /** Of sweeps; records from before there were any have none. */
  readonly sweeps?: readonly (Outcome & { readonly id: number })[]
}
const GONE = 'gone from the chain'
/** What somebody must decide on, or has decided, comes back as it went. */
const AGAIN: Partial<Record<DepositStatus, DepositEvent>> = {
  REVIEW: 'hold_again',
  BLOCKED: 'block_again',
  MANUAL: 'ask_again',
}
const goneAs = (status: DepositStatus): string =>
  AGAIN[status] === undefined ? GONE : `${GONE}; it was ${status}`
const isGone = ({ status, reason }: Deposit): boolean => status === 'INVALID' && reason.startsWith(GONE)
const returnOf = ({ reason }: Deposit): DepositEvent => {
  const held = Object.keys(AGAIN).find((status) => reason === goneAs(status as DepositStatus))
  return AGAIN[held as DepositStatus] ?? 'include'
}

/** Everything that a chain has to say since last time, taken in at once: all of it, or nothing. */
export function observeChain(ctx: Ctx, input: Observation): null {
  const { state, tx } = ctx
  const chain = state.world.mustChain(input.chain)
  const { tips, deposits } = state.wallet
  const before = tips.get(chain.chain)
  tx.put(tips, {
    chain: chain.chain,
    ...input.tip,
    trail: extendTrail(before?.trail ?? [], input.fork, input.tip),
  })
  const payments = new Map(input.payments.map((p) => [outputKey(chain.chain, p.txid, p.output), p]))
  for (const deposit of deposits.tracked(chain.chain)) {
    const payment = payments.get(outputKey(chain.chain, deposit.txid, deposit.output))
    if (payment !== undefined) settleDeposit(ctx, relocate(ctx, deposit, payment.height), input.tip.height)
    else if (deposit.height === null || deposit.height > input.fork) vanish(ctx, deposit)
    else settleDeposit(ctx, deposit, input.tip.height)
  }
  for (const [key, payment] of payments)
    if (deposits.byOutput.get(key) === undefined) {
      const made = newDeposit(ctx, chain, payment)
      if (made !== undefined) settleDeposit(ctx, made, input.tip.height)
    }
  for (const { id, ...outcome } of input.outcomes) settleOutcome(ctx, id, outcome, input.tip.height)
  for (const { id, ...outcome } of input.sweeps ?? []) settleSweep(ctx, id, outcome, input.tip.height)
  return null
}

/** First sight of a payment. One to an address that is not ours is none of our business. */
function newDeposit(ctx: Ctx, chain: ChainConfig, payment: Payment): Deposit | undefined {
  const { state, tx, at } = ctx
  const owner = state.wallet.addresses.owner(chain.chain, payment.address, chain.tagged ? payment.memo : '')
  if (owner === undefined && !chain.tagged) return undefined
  // A currency that is gone is not booked: the coins stay where they are, until it is listed again.
  if (state.world.findCurrency(payment.currency) === undefined) return undefined
  const user_id = owner?.user_id ?? 0
  const amount = amountOf(payment.amount)
  const { status, reason } = firstStatus(ctx, chain, payment, amount, user_id)
  const deposit: Deposit = {
    id: nextId(tx, state.counters, 'deposit'),
    user_id,
    chain: chain.chain,
    txid: payment.txid,
    output: payment.output,
    currency: payment.currency,
    amount,
    address: payment.address,
    memo: payment.memo,
    status,
    height: payment.height,
    booked: 'none',
    reason,
    refund_status: 'NONE',
    final: false,
    at,
    ordinal: nextId(tx, state.counters, `d:${user_id}`),
    currency_ordinal: nextId(tx, state.counters, `d:${user_id}:${payment.currency}`),
  }
  tx.put(state.wallet.deposits.table, deposit)
  return deposit
}
function firstStatus(
  ctx: Ctx,
  chain: ChainConfig,
  payment: Payment,
  amount: Amount,
  userId: number,
): { readonly status: DepositStatus; readonly reason: string } {
  const { world, prices } = ctx.state
  if (userId === 0)
    return {
      status: 'MANUAL',
      reason: payment.memo === '' ? 'no memo' : `no account has the memo ${payment.memo}`,
    }
  const currency = world.currency(payment.currency)
  const on = currency.chains.find((one) => one.chain === chain.chain)
  if (on !== undefined && amount < amountOf(on.min_deposit_amount))
    return { status: 'INVALID', reason: `below the minimum of ${on.min_deposit_amount}` }
  if (!currency.deposit_enabled || on?.deposit_enabled !== true)
    return { status: 'REVIEW', reason: `deposits of ${payment.currency} on ${chain.chain} are disabled` }
  const { deposit_review_usdt } = world.policy
  const worth = prices.worth(payment.currency, amount)
  if (deposit_review_usdt !== null && worth > amountOf(deposit_review_usdt))
    return { status: 'REVIEW', reason: `worth ${format(worth)} USDT, above ${deposit_review_usdt}` }
  if (deposit_review_usdt !== null && world.live && prices.of(payment.currency) === 0n)
    return { status: 'REVIEW', reason: 'no trusted index price: its worth could not be checked' }
  return { status: 'PEND', reason: '' }
}

function relocate(ctx: Ctx, deposit: Deposit, height: number | null): Deposit {
  const back = isGone(deposit) && height !== null ? returnOf(deposit) : undefined
  if (deposit.height === height && back === undefined) return deposit
  if (back === undefined) return put(ctx, deposit, { height })
  const reason = back === 'include' ? '' : 'back after a reorganisation'
  return put(ctx, deposit, { height, status: depositStep(deposit, back)!, reason })
}
function put(ctx: Ctx, deposit: Deposit, to: Partial<Deposit>): Deposit {
  const changed: Deposit = { ...deposit, ...to }
  ctx.tx.put(ctx.state.wallet.deposits.table, changed)
  return changed
}
export function depositStep(deposit: Deposit, event: DepositEvent): DepositStatus | undefined {
  return DEPOSIT_FLOW[deposit.status][event]
}

/** A reorganisation took it: what was booked goes back, even below zero, because the coins are not there. */
function vanish(ctx: Ctx, deposit: Deposit): void {
  if (deposit.status === 'INVALID' && deposit.height === null && deposit.booked === 'none') return
  unbook(ctx, deposit)
  const status = depositStep(deposit, 'vanish')
  // What was too small is no larger when it comes back.
  const told = status === undefined ? {} : { status, reason: goneAs(deposit.status) }
  put(ctx, deposit, { height: null, booked: 'none', ...told })
}
function unbook(ctx: Ctx, deposit: Deposit): void {
  if (deposit.booked === 'none') return
  const { state } = ctx
  const holder = deposit.booked === 'user' ? spotOf(deposit.user_id) : unclaimedOf(state, deposit)
  state.ledger.post(ctx, {
    kind: 'deposit_rej',
    ref: `deposit:${deposit.id}`,
    lines: [
      { ...holder, currency: deposit.currency, amount: negate(deposit.amount) },
      {
        owner: PLATFORM,
        name: `custody:${deposit.chain}`,
        currency: deposit.currency,
        amount: deposit.amount,
      },
    ],
    overdraft: true,
  })
}
/** custody → the user, or → unclaimed while somebody must decide; unclaimed → the user when decided. */
function post(ctx: Ctx, deposit: Deposit, to: 'user' | 'unclaimed'): Deposit {
  if (deposit.booked === to) return deposit
  const { state } = ctx
  const unclaimed = unclaimedOf(state, deposit)
  const from = deposit.booked === 'none' ? custodyOf(deposit.chain) : unclaimed
  const holder = to === 'user' ? spotOf(deposit.user_id) : unclaimed
  state.ledger.post(ctx, {
    kind: 'deposit',
    ref: `deposit:${deposit.id}`,
    lines: move(from, holder, deposit.currency, deposit.amount),
  })
  return put(ctx, deposit, { booked: to })
}

/** Before it is unlocked only as much is credited, for a family, as the operator is ready to lose to a reorganisation. */
function mayCredit({ state }: Ctx, { user_id, currency, amount }: Deposit, unlocked: boolean): boolean {
  const { early_credit_usdt: bound } = state.world.policy
  if (unlocked || bound === null) return true
  // What nothing prices can't be bounded: it waits.
  if (state.prices.of(currency) === 0n) return false
  return add(lockedWorth(state, user_id), state.prices.worth(currency, amount)) <= amountOf(bound)
}

/** Brings one deposit as far as its depth allows. */
export function settleDeposit(ctx: Ctx, given: Deposit, tip: number): Deposit {
  const chain = ctx.state.world.mustChain(given.chain)
  let deposit = given
  const confirms = deposit.height === null ? 0 : tip - deposit.height + 1
  const go = (event: DepositEvent): void => {
    const status = depositStep(deposit, event)
    if (status !== undefined) deposit = put(ctx, deposit, { status })
  }
  if (deposit.height === null) {
    if (depositStep(deposit, 'exclude') !== undefined) {
      unbook(ctx, deposit)
      deposit = put(ctx, deposit, { booked: 'none' })
      go('exclude')
    }
    return deposit
  }
  if (deposit.status === 'PEND') go('include')
  if (confirms >= chain.min_confirms) {
    if (deposit.status === 'TRACK' && mayCredit(ctx, deposit, confirms >= chain.unlock_confirms)) {
      deposit = post(ctx, deposit, 'user')
      go('credit')
    } else if (deposit.status !== 'TRACK' && deposit.booked === 'none' && !isGone(deposit))
      deposit = post(ctx, deposit, 'unclaimed')
  }
  if (deposit.status === 'DEP_CREDITED' && confirms >= chain.unlock_confirms) go('unlock')
  if (confirms >= FINAL_DEPTH && !deposit.final) deposit = put(ctx, deposit, { final: true })
  return deposit
}
