import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Statistics of the minutes between those that stay: slots that are used again. */
export const contractMinutes: Migration = {
  id: 222,
  name: 'contract_minutes',
  up: (dialect: Dialect) =>
    createTable(dialect, {
      name: 'contract_minute',
      columns: {
        slot: 'text',
        contract: 'text',
        t: 'int',
        bought: 'amount',
        sold: 'amount',
        long_liq: 'amount',
        long_liq_base: 'amount',
        long_liq_quote: 'amount',
        short_liq: 'amount',
        short_liq_base: 'amount',
        short_liq_quote: 'amount',
        mark: 'amount',
        open_interest: 'amount',
        longs: 'int',
        shorts: 'int',
        top_long: 'amount',
        top_short: 'amount',
        top_longs: 'int',
        top_shorts: 'int',
      },
      key: ['slot'],
      live: true,
      indexes: { contract_minute_1: ['contract', 't'] },
    }),
}
