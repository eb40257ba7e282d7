import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Unified accounts, isolated margin, loans, interest and liquidations. */
export const unified: Migration = {
  id: 4,
  name: 'unified',
  up: (dialect: Dialect) => [
    ...createTable(dialect, {
      name: 'margin_account',
      columns: {
        user_id: 'int',
        mode: 'text',
        settings: 'json',
        collateral_type: 'int',
        not_collateral: 'json',
        leverage: 'json',
        pair_leverage: 'json',
        auto_repay: 'bool',
        delta_neutral: 'bool',
        locked: 'json',
      },
      key: ['user_id'],
    }),
    ...createTable(dialect, {
      name: 'loan',
      columns: { user_id: 'int', scope: 'text', currency: 'text', create_at: 'int', update_at: 'int' },
      key: ['user_id', 'scope', 'currency'],
    }),
    ...createTable(dialect, {
      name: 'loan_record',
      columns: {
        id: 'int',
        user_id: 'int',
        kind: 'text',
        pair: 'text',
        currency: 'text',
        type: 'text',
        repayment_type: 'text',
        borrow_type: 'text',
        amount: 'amount',
        interest: 'amount',
        text: 'text',
        at: 'int',
      },
      key: ['id'],
      live: true,
      indexes: {
        loan_record_user: ['user_id', 'kind', 'id'],
        loan_record_text: { columns: ['user_id', 'text'], where: '"text" is not null' },
      },
    }),
    ...createTable(dialect, {
      name: 'interest_record',
      columns: {
        id: 'int',
        user_id: 'int',
        kind: 'text',
        pair: 'text',
        currency: 'text',
        rate: 'amount',
        interest: 'amount',
        at: 'int',
      },
      key: ['id'],
      indexes: { interest_record_user: ['user_id', 'kind', 'at', 'id'] },
    }),
    ...createTable(dialect, {
      name: 'loan_rate',
      columns: { id: 'int', currency: 'text', rate: 'amount', at: 'int' },
      key: ['id'],
      indexes: { loan_rate_currency: ['currency', 'at'] },
    }),
    ...createTable(dialect, {
      name: 'liquidation_step',
      columns: {
        id: 'int',
        liquidation: 'int',
        user_id: 'int',
        scope: 'text',
        step: 'text',
        currency: 'text',
        amount: 'amount',
        detail: 'json',
        at: 'int',
      },
      key: ['id'],
      indexes: { liquidation_step_user: ['user_id', 'id'] },
    }),
  ],
}
