import type { Flow } from '../flow.ts'

export const PUSH_STATUSES = [
  'CREATING',
  'PENDING',
  'RECEIVING',
  'RECEIVED',
  'REFUSING',
  'REFUSED',
  'CANCELLING',
  'CANCELLED',
] as const
export type PushStatus = (typeof PUSH_STATUSES)[number]
export type PushEvent = 'offer' | 'accept' | 'refuse' | 'cancel' | 'expire' | 'credit' | 'refund'

/** Statuses in -ING are passed through within one command, so nobody sees money half-way. */
export const PUSH_FLOW: Flow<PushStatus, PushEvent> = {
  CREATING: { offer: 'PENDING', accept: 'RECEIVING' },
  PENDING: { accept: 'RECEIVING', refuse: 'REFUSING', cancel: 'CANCELLING', expire: 'CANCELLING' },
  RECEIVING: { credit: 'RECEIVED' },
  REFUSING: { refund: 'REFUSED' },
  CANCELLING: { refund: 'CANCELLED' },
  RECEIVED: {},
  REFUSED: {},
  CANCELLED: {},
}
export const PUSH_MONEY: Readonly<Record<PushStatus, string>> = {
  CREATING: "the sender's spot → push.in_flight",
  PENDING: 'push.in_flight',
  RECEIVING: 'push.in_flight',
  RECEIVED: "the receiver's spot account",
  REFUSING: 'push.in_flight',
  REFUSED: "back in the sender's spot account",
  CANCELLING: 'push.in_flight',
  CANCELLED: "back in the sender's spot account",
}
