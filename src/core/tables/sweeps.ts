import type { Amount } from '../../money/amount.ts'
import { GroupIndex, Table, type TableSpec } from '../../machine/table.ts'
import type { Intent } from './withdrawals.ts'
import type { SweepStatus } from './sweep.flow.ts'

/** One transaction between our own addresses. */
export interface Sweep {
  readonly id: number
  readonly chain: string
  /** sweep: deposit address → hot wallet; gas: hot wallet → deposit address, to pay for the sweep of a token. */
  readonly kind: 'sweep' | 'gas'
  readonly currency: string
  readonly amount: Amount
  /** The deposit address, and whose it is. */
  readonly address: string
  readonly user_id: number
  readonly status: SweepStatus
  readonly txid: string
  readonly intent: Intent
  readonly block_number: number
  /** What the chain took for it, in its own coin; booked with DONE or FAIL. */
  readonly network_fee: Amount
  readonly at: number
  readonly done_at: number
  readonly final: boolean
}
export const SWEEP: TableSpec<Sweep> = {
  name: 'sweep',
  key: ['id'],
  columns: {
    id: 'int',
    chain: 'text',
    kind: 'text',
    currency: 'text',
    amount: 'amount',
    address: 'text',
    user_id: 'int',
    status: 'text',
    txid: 'text',
    intent: 'json',
    block_number: 'int',
    network_fee: 'amount',
    at: 'int',
    done_at: 'int',
    final: 'bool',
  },
  live: ({ final }) => !final,
}

const isOpen = ({ status }: Sweep): boolean => status === 'SIGNED' || status === 'SENT'

export class Sweeps {
  readonly table = new Table(SWEEP)
  private readonly byChain = new GroupIndex(this.table, ({ chain, final }) => (final ? undefined : chain))
  private readonly open = new GroupIndex(this.table, (sweep) =>
    isOpen(sweep) ? `${sweep.chain}/${sweep.address}` : undefined,
  )
  /** Those of a chain that are not over, in the order of their making. */
  unsettled(chain: string): Sweep[] {
    return [...this.byChain.get(chain)].sort((a, b) => a.id - b.id)
  }
  /** All that they may be mined as. */
  txids(chain: string): ReadonlySet<string> {
    return new Set(this.unsettled(chain).flatMap(({ intent }) => [intent.txid, ...(intent.replaced ?? [])]))
  }
  /** An address has one at a time: its nonces are never a question. */
  isBusy(chain: string, address: string): boolean {
    return this.open.count(`${chain}/${address}`) > 0
  }
}
