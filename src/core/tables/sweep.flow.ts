import type { Flow } from '../flow.ts'

export const SWEEP_STATUSES = ['SIGNED', 'SENT', 'DONE', 'FAIL', 'DROPPED'] as const
export type SweepStatus = (typeof SWEEP_STATUSES)[number]
export type SweepEvent = 'broadcast' | 'confirm' | 'fail' | 'reorganise' | 'drop'

/** A transaction of our own between our own addresses: coins to the hot wallet, or gas to a deposit address. */
export const SWEEP_FLOW: Flow<SweepStatus, SweepEvent> = {
  SIGNED: { broadcast: 'SENT', drop: 'DROPPED' },
  SENT: { confirm: 'DONE', fail: 'FAIL', drop: 'DROPPED' },
  DONE: { reorganise: 'SENT' },
  FAIL: { reorganise: 'SENT' },
  DROPPED: {},
}
const WITHIN = 'custody, as before: the coins move within it'
export const SWEEP_MONEY: Readonly<Record<SweepStatus, string>> = {
  SIGNED: WITHIN,
  SENT: WITHIN,
  DONE: "custody, less the chain's fee (network_fees)",
  FAIL: "custody, less the chain's fee (network_fees): nothing else moved",
  DROPPED: 'custody: another transaction took its place for good, and it can never be mined',
}
