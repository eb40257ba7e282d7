import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** People sign in: sessions, what they prove themselves with, and links that are good once. */
export const logins: Migration = {
  id: 200,
  name: 'logins',
  up: (dialect: Dialect) => [
    ...createTable(dialect, {
      name: 'console_session',
      columns: {
        id: 'int',
        subject: 'text',
        user_id: 'int',
        operator: 'text',
        token_hash: 'text',
        proof: 'text',
        created_at: 'int',
        last_seen: 'int',
        ip: 'text',
        agent: 'text',
        elevated_until: 'int',
        via: 'text',
      },
      key: ['id'],
    }),
    ...createTable(dialect, {
      name: 'login',
      columns: {
        subject: 'text',
        password_hash: 'text',
        factor_box: 'text',
        factor_on: 'bool',
        recovery: 'json',
        last_step: 'int',
      },
      key: ['subject'],
    }),
    ...createTable(dialect, {
      name: 'one_time_link',
      columns: {
        token_hash: 'text',
        purpose: 'text',
        user_id: 'int',
        operator: 'text',
        expires_at: 'int',
        many: 'bool',
        made_by: 'text',
      },
      key: ['token_hash'],
    }),
  ],
}
