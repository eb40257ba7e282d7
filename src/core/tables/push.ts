import type { Amount } from '../../money/amount.ts'
import type { Approval } from './operators.ts'
import { Table, type TableSpec } from '../../machine/table.ts'
import type { PushStatus } from './push.flow.ts'

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
  /** What the withdrawal policy says of it; null: it was made free of it. */
  readonly policy: PushPolicy | null
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
    policy: 'json',
    sent_ordinal: 'int',
    received_ordinal: 'int',
  },
  live: ({ status }) => status === 'PENDING',
}
export interface PushPolicy {
  /** Worth when it was asked for: it counts for the day's limit. */
  readonly usdt: string
  /** Why operators must let it go; empty when they have, or need not. */
  readonly hold: string
  /** Above the approval amount: how many of them, as it was when it was asked for, and more where it is more by now. Else 0. */
  readonly needed: number
  readonly approvals: readonly Approval[]
}
/** To whom an account has sent before, and since when: the first time is as new as an address. */
export interface PushContact {
  readonly push_uid: number
  readonly receive_uid: number
  readonly since: number
}
export const PUSH_CONTACT: TableSpec<PushContact> = {
  name: 'push_contact',
  key: ['push_uid', 'receive_uid'],
  columns: { push_uid: 'int', receive_uid: 'int', since: 'int' },
}
export const pushes = (): Table<Push> => new Table(PUSH)
export const pushContacts = (): Table<PushContact> => new Table(PUSH_CONTACT)
