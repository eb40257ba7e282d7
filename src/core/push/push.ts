import { DAY } from '../time.ts'
import { spotOf, PLATFORM, type AccountKey } from '../ledger/accounts.ts'
import { notFound, refuse } from '../../labels.ts'
import { format, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule, unschedule } from '../due.ts'
import { move } from '../ledger/ledger.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import type { Ctx, State } from '../state.ts'
import { isFrozen, isMain, refuseClosed } from '../tables/users.ts'
import { refuseOwing } from '../family.ts'
import { repayFromInflow, spotInflowLines } from '../futures/transfers.ts'
import { transferAmount } from '../wallet/transfers.ts'
import { checkLeaving, refuseFrozen } from '../withdrawals/request.ts'
import { approvePush, checkPushLimits, countPush, forgetContact, judgePush, uncountPush } from './policy.ts'
import { PUSH_FLOW, type PushEvent, type PushStatus } from '../tables/push.flow.ts'
import type { Push } from '../tables/push.ts'

const IN_FLIGHT = { owner: PLATFORM, name: 'push.in_flight' } as const
const EXPIRY = 7 * DAY

export interface NewPush {
  readonly user_id: number
  readonly receive_uid: number
  readonly currency: string
  readonly amount: string
}
/** sender's spot → in flight, and on to the receiver at once unless that account wants to be asked. */
export function createPush(ctx: Ctx, input: NewPush): Push {
  const { state, tx, at } = ctx
  const config = state.world.currency(input.currency)
  const { currency } = config
  const amount = transferAmount(input.amount)
  const receiver = state.users.get(input.receive_uid)
  if (receiver === undefined || receiver.user_id === input.user_id || !isMain(receiver))
    refuse(
      'RECEIVE_ERROR',
      `receive_uid: ${input.receive_uid} can't receive; name the id of another main account`,
    )
  refuseFrozen(state, receiver.user_id, 'receive_uid')
  refuseClosed(state.users, input.user_id, at)
  const checked = state.world.policy.push_transfers === 'checked'
  if (checked) checkPushLimits(ctx, input.user_id, config, amount)
  refuseLoans(state, input.user_id)
  refuseOwing(state, input.user_id)
  checkLeaving(state, input.user_id, currency, amount)
  const id = nextId(tx, state.counters, 'push')
  const push: Push = {
    id,
    push_uid: input.user_id,
    receive_uid: receiver.user_id,
    currency,
    amount,
    status: 'CREATING',
    message: '',
    at,
    expiry: 0,
    policy: checked ? judgePush(ctx, input.user_id, receiver.user_id, config, amount) : null,
    sent_ordinal: nextId(tx, state.counters, `p:${input.user_id}:sent`),
    received_ordinal: nextId(tx, state.counters, `p:${receiver.user_id}:received`),
  }
  post(ctx, push, 'push_dctd', spotOf(input.user_id), IN_FLIGHT)
  if (checked) countPush(ctx, push)
  return offer(ctx, push)
}
/** Whoever owes a loan sends nobody anything. */
function refuseLoans(state: State, userId: number): void {
  for (const { name, currency, amount } of state.ledger.ownedBy(userId))
    if (amount < 0n && name.startsWith('debt.'))
      refuse(
        'NEGATIVE_ASSETS',
        `this account owes ${format(-amount as Amount)} ${currency} (${name}); settle it first`,
      )
}

const WAITS_FOR_RECEIVER = 'waiting for the receiver to accept'
/** On to the receiver, unless operators must let it go first, or the receiver wants to be asked. */
function offer(ctx: Ctx, push: Push): Push {
  const { state, tx, at } = ctx
  const hold = push.policy?.hold ?? ''
  const manual = state.users.must(push.receive_uid).settings.push_acceptance === 'manual'
  if (hold === '' && !manual) return finish(ctx, push, 'accept')
  const waiting: Push = {
    ...push,
    status: push.status === 'PENDING' ? 'PENDING' : step(push, 'offer'),
    message: hold === '' ? WAITS_FOR_RECEIVER : `waiting for the platform: ${hold}`,
    expiry: push.expiry !== 0 ? push.expiry : schedule(ctx, at + EXPIRY, 'push.expire', { id: push.id }),
  }
  tx.put(state.wallet.pushes, waiting)
  return waiting
}

function step(push: Push, event: PushEvent): PushStatus {
  return (
    PUSH_FLOW[push.status][event] ??
    refuse('INVALID_PARAM_VALUE', `push ${push.id} is ${push.status}: "${event}" is not possible now`)
  )
}
function post(ctx: Ctx, push: Push, kind: string, from: AccountKey, to: AccountKey): void {
  const lines = move(from, to, push.currency, push.amount)
  ctx.state.ledger.post(ctx, { kind, ref: `push:${push.id}`, lines })
}
/** in flight → the receiver: as every transfer that comes in, it pays first what losses in contracts left owing. */
function deliver(ctx: Ctx, { id, receive_uid: owner, currency, amount }: Push): void {
  const { state } = ctx
  const [out] = move(IN_FLIGHT, spotOf(owner), currency, amount)
  const lines = [out!, ...spotInflowLines(state, owner, currency, amount)]
  state.ledger.post(ctx, { kind: KINDS.accept, ref: `push:${id}`, lines })
  repayFromInflow(ctx, owner, currency, amount)
}
const KINDS = {
  accept: 'push_rcvd',
  refuse: 'push_rej',
  cancel: 'push_canceled',
  expire: 'push_canceled',
} as const

/** in flight → the receiver, or back to the sender. */
function finish(ctx: Ctx, push: Push, event: keyof typeof KINDS): Push {
  const moving: Push = { ...push, status: step(push, event) }
  const accepted = event === 'accept'
  if (accepted) deliver(ctx, push)
  else post(ctx, push, KINDS[event], IN_FLIGHT, spotOf(push.push_uid))
  if (push.expiry !== 0) unschedule(ctx, push.expiry)
  if (!accepted && push.policy !== null) uncountPush(ctx, push)
  const done: Push = {
    ...moving,
    status: step(moving, accepted ? 'credit' : 'refund'),
    message: event === 'expire' ? 'not answered within 7 days' : '',
    expiry: 0,
  }
  ctx.tx.put(ctx.state.wallet.pushes, done)
  return done
}

export type PushAnswer = 'accept' | 'refuse' | 'cancel'
/**
 * `by` is the account that answers: the receiver accepts or refuses, the sender cancels. An operator may all, and only
 * operators let go what the policy holds.
 */
export function answerPush(
  ctx: Ctx,
  input: { id: number; answer: PushAnswer; by: number | null; actor: Actor },
): Push {
  const { state } = ctx
  const push = state.wallet.pushes.get(input.id)
  const party = input.answer === 'cancel' ? push?.push_uid : push?.receive_uid
  if (push === undefined || (input.by !== null && input.by !== party))
    notFound('NOT_FOUND', `no push ${input.id} that could be answered`)
  audit(ctx, input.actor, `push.${input.answer}`, { id: input.id })
  const held = push.policy !== null && push.policy.hold !== ''
  if (input.answer !== 'accept') {
    if (held && input.answer === 'refuse') forgetContact(ctx, push)
    return finish(ctx, push, input.answer)
  }
  step(push, 'accept')
  refuseSent(state, push)
  if (!held) return finish(ctx, push, 'accept')
  if (input.actor === null) refuse('FORBIDDEN', `push ${push.id} waits for the platform: ${push.policy.hold}`)
  return offer(ctx, approvePush(ctx, push, push.policy, input.actor))
}
/** Between asking and accepting somebody may have been frozen, or a reorganisation have taken something back. */
function refuseSent(state: State, push: Push): void {
  refuseFrozen(state, push.receive_uid, 'receive_uid')
  if (isFrozen(state.users, push.push_uid))
    refuse(
      'RISK_ERROR',
      `push ${push.id}: its sender ${push.push_uid} is frozen; lift that first, or refuse it`,
    )
  refuseOwing(state, push.push_uid)
}
export function expirePush(ctx: Ctx, input: { id: number }): Push | null {
  const push = ctx.state.wallet.pushes.get(input.id)
  return push?.status === 'PENDING' ? finish(ctx, push, 'expire') : null
}
