import type { Amount } from '../../money/amount.ts'
import type { Approval } from './operators.ts'
import { CurrencySums } from '../currency-sums.ts'
import { SortedIds } from '../sorted.ts'
import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'
import { HOLD_STATUSES, type HoldStatus, type WithdrawalStatus } from './withdrawal.flow.ts'

export interface Hold {
  readonly status: HoldStatus
  readonly reason: string
  /** The operator who put it there; left out where a rule did. */
  readonly by?: string
}
/** What was signed, kept before it is broadcast: recovery asks the chain for this txid, and for no other. */
export interface Intent {
  readonly txid: string
  /** Cheaper copies of the same payment (same nonce) that this one replaced; one of them may be mined instead. */
  readonly replaced?: readonly string[]
  /** Whatever the chain's adapter needs to send exactly this transaction again. */
  readonly raw: Readonly<Record<string, unknown>>
}
export interface Withdrawal {
  readonly id: number
  /** 0: the platform's own, which is a refund. */
  readonly user_id: number
  /** The blocked deposit that it sends back; 0 for an ordinary one. */
  readonly refund_of: number
  readonly withdraw_order_id: string | null
  readonly currency: string
  readonly chain: string
  readonly address: string
  readonly memo: string
  /** Gross: what leaves the account, the fee inside. */
  readonly amount: Amount
  readonly fee: Amount
  /** Worth in USDT when it was asked for. */
  readonly usdt: Amount
  readonly asset_class: 'SPOT' | 'PILOT'
  readonly status: WithdrawalStatus
  /** What must still be cleared; the first one is the status. */
  readonly holds: readonly Hold[]
  /** Of the present hold. */
  readonly approvals: readonly Approval[]
  /** How many a MANUAL hold took when it was asked for; it may take more by now, never fewer. */
  readonly approvals_needed: number
  /** The operator who asked for it; empty when the user did. */
  readonly requested_by: string
  /** The receiver, when the address is one of ours; else 0. */
  readonly internal_to: number
  readonly txid: string
  readonly intent: Intent | null
  /** How often it was signed. */
  readonly attempt: number
  readonly block_number: number
  /** What its chain took, in the chain's coin; booked with DONE. */
  readonly network_fee: Amount
  readonly fail_reason: string
  /** Not claimed before this moment. */
  readonly send_at: number
  readonly at: number
  /** Cancelled, rejected or done; 0 before. */
  readonly done_at: number
  readonly final: boolean
  readonly ordinal: number
  readonly currency_ordinal: number
  readonly class_ordinal: number
}
export const WITHDRAWAL: TableSpec<Withdrawal> = {
  name: 'withdrawal',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    refund_of: 'int',
    withdraw_order_id: 'text',
    currency: 'text',
    chain: 'text',
    address: 'text',
    memo: 'text',
    amount: 'amount',
    fee: 'amount',
    usdt: 'amount',
    asset_class: 'text',
    status: 'text',
    holds: 'json',
    approvals: 'json',
    approvals_needed: 'int',
    requested_by: 'text',
    internal_to: 'int',
    txid: 'text',
    intent: 'json',
    attempt: 'int',
    block_number: 'int',
    network_fee: 'amount',
    fail_reason: 'text',
    send_at: 'int',
    at: 'int',
    done_at: 'int',
    final: 'bool',
    ordinal: 'int',
    currency_ordinal: 'int',
    class_ordinal: 'int',
  },
  live: ({ final }) => !final,
}

/** What an account has withdrawn: today by currency and in USDT, and by the hour for the velocity rule. */
export interface WithdrawalUsage {
  readonly user_id: number
  /** Days since 1970, UTC. */
  readonly day: number
  readonly day_usdt: string
  readonly day_amounts: Readonly<Record<string, string>>
  /** [hour since 1970, requests, USDT], oldest first. */
  readonly hours: readonly (readonly [hour: number, count: number, usdt: string])[]
}
export const WITHDRAWAL_USAGE: TableSpec<WithdrawalUsage> = {
  name: 'withdrawal_usage',
  key: ['user_id'],
  columns: { user_id: 'int', day: 'int', day_usdt: 'text', day_amounts: 'json', hours: 'json' },
}

export class Withdrawals {
  readonly table = new Table(WITHDRAWAL)
  readonly usage = new Table(WITHDRAWAL_USAGE)
  readonly byOrderId = new UniqueIndex(this.table, ({ user_id, withdraw_order_id }) =>
    withdraw_order_id === null ? undefined : `${user_id}/${withdraw_order_id}`,
  )
  /** By chain: those that are not over. */
  private readonly open = new Map<string, SortedIds>()
  private readonly waiting = new GroupIndex(this.table, (row) => (heldBy(row) > 0n ? row.user_id : undefined))
  /** What waits for the sender, or for a decision, in the order of its making. */
  waitingOf(userId: number): Withdrawal[] {
    return [...this.waiting.get(userId)].sort((a, b) => a.id - b.id)
  }
  /** What an account's withdrawals hold. */
  readonly held = new CurrencySums()
  constructor() {
    this.table.observe((before, after) => {
      const { user_id, currency } = (after ?? before)!
      this.held.add(user_id, currency, heldBy(after) - heldBy(before))
      const was = before?.final === false
      const is = after?.final === false
      if (is && !was) this.openAt(after.chain).add(after.id)
      if (was && !is) this.openAt(before.chain).remove(before.id)
    })
  }
  /** Those of a chain that are not over, in the order of their making. */
  unsettled(chain: string): Withdrawal[] {
    return [...this.unsettledAfter(chain, 0)]
  }
  *unsettledAfter(chain: string, id: number): Generator<Withdrawal> {
    for (const next of this.openAt(chain).after(id)) yield this.table.get(next)!
  }
  private openAt(chain: string): SortedIds {
    let ids = this.open.get(chain)
    if (ids === undefined) this.open.set(chain, (ids = new SortedIds()))
    return ids
  }
}
/** What a record claims of its owner's locked money: all of it until the sender has it, or it is given back. */
export const heldBy = (withdrawal: Withdrawal | undefined): bigint =>
  withdrawal !== undefined && withdrawal.refund_of === 0 && isWaiting(withdrawal) ? withdrawal.amount : 0n
const WAITING: ReadonlySet<WithdrawalStatus> = new Set(['REQUEST', ...HOLD_STATUSES, 'CANCELPEND'])
/** The sender does not have it yet. */
export const isWaiting = ({ status }: Withdrawal): boolean => WAITING.has(status)
export const withdrawalId = (id: number): string => `w${id}`
export const depositId = (id: number): string => `d${id}`
