import type { Flow } from '../flow.ts'

export const DEPOSIT_STATUSES = [
  'PEND',
  'TRACK',
  'DEP_CREDITED',
  'DONE',
  'REVIEW',
  'BLOCKED',
  'MANUAL',
  'INVALID',
] as const
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number]
export type DepositEvent =
  | 'include'
  | 'credit'
  | 'unlock'
  | 'hold'
  | 'release'
  | 'block'
  | 'exclude'
  | 'vanish'
  | 'hold_again'
  | 'block_again'
  | 'ask_again'

/** A payment on its way in, from the first sight of it to money that may leave again. */
export const DEPOSIT_FLOW: Flow<DepositStatus, DepositEvent> = {
  PEND: {
    include: 'TRACK',
    hold: 'REVIEW',
    block: 'BLOCKED',
    vanish: 'INVALID',
  },
  TRACK: { credit: 'DEP_CREDITED', hold: 'REVIEW', block: 'BLOCKED', exclude: 'PEND', vanish: 'INVALID' },
  DEP_CREDITED: { unlock: 'DONE', exclude: 'PEND', vanish: 'INVALID' },
  DONE: { exclude: 'PEND', vanish: 'INVALID' },
  REVIEW: { release: 'TRACK', block: 'BLOCKED', vanish: 'INVALID' },
  BLOCKED: { release: 'TRACK', vanish: 'INVALID' },
  MANUAL: { release: 'TRACK', block: 'BLOCKED', vanish: 'INVALID' },
  // A payment that a reorganisation took away may come back in a later block; somebody's decision about it stands.
  INVALID: { include: 'TRACK', hold_again: 'REVIEW', block_again: 'BLOCKED', ask_again: 'MANUAL' },
}
/** Where the coins stand in the ledger once the payment has its confirmations. */
export const DEPOSIT_MONEY: Readonly<Record<DepositStatus, string>> = {
  PEND: 'nowhere: the coins are not ours yet',
  TRACK: 'nowhere: not enough confirmations yet',
  DEP_CREDITED: "custody → the user's spot account; it trades, but can't be withdrawn or pushed",
  DONE: "custody → the user's spot account",
  REVIEW: 'custody → deposits.unclaimed',
  BLOCKED: 'custody → deposits.unclaimed',
  MANUAL: 'custody → deposits.unclaimed',
  INVALID:
    'below the minimum: custody → deposits.unclaimed; gone from the chain: every booking is reversed, even below zero',
}
