import type { Flow } from '../flow.ts'

/** States in which somebody must do something before the sender may have it. */
export const HOLD_STATUSES = ['REVIEW', 'MANUAL', 'VERIFY', 'FVERIFY', 'DMOVE', 'LOCKED'] as const
export type HoldStatus = (typeof HOLD_STATUSES)[number]
export const WITHDRAWAL_STATUSES = [
  'REQUEST',
  ...HOLD_STATUSES,
  'PROCES',
  'PEND',
  'EXTPEND',
  'DONE',
  'FAIL',
  'CANCELPEND',
  'CANCEL',
  'REJECT',
  'INVALID',
] as const
export type WithdrawalStatus = (typeof WITHDRAWAL_STATUSES)[number]
export type WithdrawalEvent =
  | 'claim'
  | 'sign'
  | 'broadcast'
  | 'confirm'
  | 'reorganise'
  | 'fail'
  | 'retry'
  | 'displace'
  | 'approve'
  | 'reject'
  | 'cancel'
  | 'refund'
  | 'invalidate'
  | 'internal'
  | 'review'
  | 'manual'
  | 'verify'
  | 'fverify'
  | 'dmove'
  | 'lock'

const DIVERT = {
  review: 'REVIEW',
  manual: 'MANUAL',
  verify: 'VERIFY',
  fverify: 'FVERIFY',
  dmove: 'DMOVE',
  lock: 'LOCKED',
} as const
/** The event that leads to a hold. */
export const DIVERSIONS = Object.fromEntries(
  Object.entries(DIVERT).map(([event, status]) => [status, event]),
) as Readonly<Record<HoldStatus, keyof typeof DIVERT>>

const HELD = {
  approve: 'REQUEST',
  reject: 'REJECT',
  cancel: 'CANCELPEND',
  invalidate: 'INVALID',
  ...DIVERT,
} as const

export const WITHDRAWAL_FLOW: Flow<WithdrawalStatus, WithdrawalEvent> = {
  REQUEST: {
    claim: 'PROCES',
    internal: 'DONE',
    cancel: 'CANCELPEND',
    reject: 'REJECT',
    invalidate: 'INVALID',
    ...DIVERT,
  },
  REVIEW: HELD,
  MANUAL: HELD,
  VERIFY: HELD,
  FVERIFY: HELD,
  DMOVE: HELD,
  LOCKED: HELD,
  PROCES: { sign: 'PEND', fail: 'FAIL' },
  PEND: { broadcast: 'EXTPEND', fail: 'FAIL', displace: 'PROCES' },
  EXTPEND: { confirm: 'DONE', fail: 'FAIL', displace: 'PROCES' },
  DONE: { reorganise: 'EXTPEND' },
  FAIL: { retry: 'PROCES', reject: 'CANCEL', reorganise: 'EXTPEND' },
  CANCELPEND: { refund: 'CANCEL' },
  CANCEL: {},
  REJECT: {},
  INVALID: {},
}
const IN_FLIGHT = 'withdrawal.in_flight (gross)'
const HELD_MONEY = "the user's spot.locked (gross)"
const REFUNDED = "back in the user's spot account"
export const WITHDRAWAL_MONEY: Readonly<Record<WithdrawalStatus, string>> = {
  REQUEST: HELD_MONEY,
  REVIEW: HELD_MONEY,
  MANUAL: HELD_MONEY,
  VERIFY: HELD_MONEY,
  FVERIFY: HELD_MONEY,
  DMOVE: HELD_MONEY,
  LOCKED: HELD_MONEY,
  PROCES: IN_FLIGHT,
  PEND: IN_FLIGHT,
  EXTPEND: IN_FLIGHT,
  FAIL: IN_FLIGHT,
  DONE: 'custody (net) and fees; internal: the receiver’s spot account',
  CANCELPEND: HELD_MONEY,
  CANCEL: REFUNDED,
  REJECT: REFUNDED,
  INVALID: REFUNDED,
}
