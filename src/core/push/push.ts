import { notFound, refuse } from '../../labels.ts'
import { format, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule, unschedule } from '../due.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import { audit, type Actor } from '../operators/audit.ts'
import type { Ctx } from '../state.ts'
import { Table, type TableSpec } from '../table.ts'
import { isMain } from '../users/users.ts'
import { transferAmount } from '../wallet/transfers.ts'
import { mayLeave, refuseDebtor } from '../withdrawals/request.ts'
import { PUSH_FLOW, type PushEvent, type PushStatus } from './push.flow.ts'

/** Money from one main account to another, by user id. */
export interface Push {
  readonly id: number
  readonly push_uid: number
  readonly receive_uid: number
  readonly currency: string
  readonly amount: Amount
  readonly status: PushStatus
  readonly message: string
  readonly at: number
  /** The due item that ends an unanswered one; 0 when answered. */
  readonly expiry: number
  /** Places among what the sender sent and the receiver got. */
  readonly sent_ordinal: number
  readonly received_ordinal: number
}
export const PUSH: TableSpec<Push> = {
  name: 'push',
  key: ['id'],
  columns: {
    id: 'int',
    push_uid: 'int',
    receive_uid: 'int',
    currency: 'text',
    amount: 'amount',
    status: 'text',
    message: 'text',
    at: 'int',
    expiry: 'int',
    sent_ordinal: 'int',
    received_ordinal: 'int',
  },
  live: ({ status }) => status === 'PENDING',
}
export const pushes = (): Table<Push> => new Table(PUSH)

const IN_FLIGHT = { owner: PLATFORM, name: 'push.in_flight' } as const
const EXPIRY = 7 * 86_400e6

export interface NewPush {
  readonly user_id: number
  readonly receive_uid: number
  readonly currency: string
  readonly amount: string
}
/** sender's spot → in flight, and on to the receiver at once unless that account wants to be asked. */
export function createPush(ctx: Ctx, input: NewPush): Push {
  const { state, tx, at } = ctx
  const { currency } = state.world.currency(input.currency)
  const amount = transferAmount(input.amount)
  const receiver = state.users.get(input.receive_uid)
  if (receiver === undefined || receiver.user_id === input.user_id || !isMain(receiver))
    refuse(
      'RECEIVE_ERROR',
      `receive_uid: ${input.receive_uid} can't receive; name the id of another main account`,
    )
  if (receiver.state === 2)
    refuse('RISK_ERROR', `receive_uid: account ${input.receive_uid} is frozen and can't receive`)
  refuseDebtor(state, input.user_id, 'count')
  const free = mayLeave(state, input.user_id, currency)
  if (amount > free)
    refuse(
      'BALANCE_NOT_ENOUGH',
      `not enough ${currency} in the spot account: ${format(free)} may leave, ${format(amount)} needed`,
    )
  const id = nextId(tx, state.counters, 'push')
  const manual = receiver.settings.push_acceptance === 'manual'
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
    sent_ordinal: nextId(tx, state.counters, `p:${input.user_id}:sent`),
    received_ordinal: nextId(tx, state.counters, `p:${receiver.user_id}:received`),
  }
  book(ctx, push, 'push_dctd', { owner: input.user_id, name: 'spot' }, IN_FLIGHT)
  if (!manual) return finish(ctx, push, 'accept')
  const waiting: Push = {
    ...push,
    status: step(push, 'offer'),
    message: 'waiting for the receiver to accept',
    expiry: schedule(ctx, at + EXPIRY, 'push.expire', { id }),
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
type Place = { readonly owner: number; readonly name: string }
function book(ctx: Ctx, push: Push, kind: string, from: Place, to: Place): void {
  const lines = move(from, to, push.currency, push.amount)
  ctx.state.ledger.post(ctx, { kind, ref: `push:${push.id}`, lines })
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
  const owner = accepted ? push.receive_uid : push.push_uid
  book(ctx, push, KINDS[event], IN_FLIGHT, { owner, name: 'spot' })
  if (push.expiry !== 0) unschedule(ctx, push.expiry)
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
/** `by` is the account that answers: the receiver accepts or refuses, the sender cancels. An operator may all. */
export function answerPush(
  ctx: Ctx,
  input: { id: number; answer: PushAnswer; by: number | null; actor: Actor },
): Push {
  const push = ctx.state.wallet.pushes.get(input.id)
  const party = input.answer === 'cancel' ? push?.push_uid : push?.receive_uid
  if (push === undefined || (input.by !== null && input.by !== party))
    notFound('NOT_FOUND', `no push ${input.id} that could be answered`)
  audit(ctx, input.actor, `push.${input.answer}`, { id: input.id })
  return finish(ctx, push, input.answer)
}
export function expirePush(ctx: Ctx, input: { id: number }): Push | null {
  const push = ctx.state.wallet.pushes.get(input.id)
  return push?.status === 'PENDING' ? finish(ctx, push, 'expire') : null
}
