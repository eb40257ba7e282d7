import { createIndex, createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Warnings before a liquidation, and the indexes of the lists that filter by currency or pair. */
export const riskAlerts: Migration = {
  id: 6,
  name: 'risk_alerts',
  up: (dialect: Dialect) => [
    ...createTable(dialect, {
      name: 'risk_alert',
      columns: { user_id: 'int', scope: 'text', level: 'text', since: 'int' },
      key: ['user_id', 'scope'],
    }),
    createIndex('loan_record', 'loan_record_currency', ['user_id', 'kind', 'currency', 'id']),
    createIndex('interest_record', 'interest_record_currency', ['user_id', 'kind', 'currency', 'at', 'id']),
  ],
}
