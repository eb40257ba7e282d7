import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** What two people decide together; who approved, told apart from others of the same name; pushes that policy holds. */
export const custody: Migration = {
  id: 20,
  name: 'custody',
  up: (dialect: Dialect) => {
    const integer = dialect === 'postgres' ? 'bigint' : 'integer'
    return [
      ...createTable(dialect, {
        name: 'proposal',
        columns: {
          id: 'int',
          call: 'text',
          command: 'text',
          input: 'json',
          role: 'text',
          asked_by: 'text',
          confirmations: 'json',
          state: 'text',
          reason: 'text',
          at: 'int',
          expires_at: 'int',
          effective_at: 'int',
          ended_at: 'int',
          due_id: 'int',
        },
        key: ['id'],
        live: true,
        indexes: { proposal_state: ['state', 'id'] },
      }),
      ...createTable(dialect, {
        name: 'push_contact',
        columns: { push_uid: 'int', receive_uid: 'int', since: 'int' },
        key: ['push_uid', 'receive_uid'],
      }),
      `alter table "operator" add column "id" ${integer} default 0`,
      `alter table "withdrawal" add column "approvals_needed" ${integer} default 0`,
      'alter table "push" add column "policy" text',
    ]
  },
}
