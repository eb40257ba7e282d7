import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Orders that take a share of others' volume, and the volume that they count. */
export const povOrders: Migration = {
  id: 42,
  name: 'pov_orders',
  up: (dialect: Dialect) => [
    dialect === 'sqlite'
      ? `alter table spot_market add column "volume" text not null default '0'`
      : `alter table spot_market add column "volume" numeric not null default 0`,
    ...createTable(dialect, {
      name: 'spot_pov_order',
      columns: {
        id: 'int',
        user_id: 'int',
        pair: 'text',
        side: 'text',
        amount: 'amount',
        left: 'amount',
        participation_rate: 'amount',
        ttl: 'int',
        limit_price: 'text',
        trigger_price: 'text',
        bound: 'amount',
        rule: 'text',
        text: 'text',
        status: 'text',
        terminated_as: 'text',
        reason: 'text',
        held: 'amount',
        budget: 'amount',
        seen_volume: 'amount',
        own: 'amount',
        start_at: 'int',
        end_at: 'int',
        expire_at: 'int',
        create_at: 'int',
        update_at: 'int',
        due_id: 'int',
      },
      key: ['id'],
      live: true,
      indexes: { spot_pov_order_user: ['user_id', 'id'] },
    }),
  ],
}
