import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Sweeps of deposit addresses, and refunds of blocked deposits. */
export const sweeps: Migration = {
  id: 5,
  name: 'sweeps',
  up: (dialect: Dialect) => [
    ...createTable(dialect, {
      name: 'sweep',
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
      key: ['id'],
      live: true,
      indexes: { sweep_chain: ['chain', 'id'], sweep_txid: ['chain', 'txid'] },
    }),
    `alter table "deposit" add column "refund_status" text${dialect === 'postgres' ? ' collate "C"' : ''} default 'NONE'`,
    `alter table "withdrawal" add column "refund_of" ${dialect === 'postgres' ? 'bigint' : 'integer'} default 0`,
  ],
}
