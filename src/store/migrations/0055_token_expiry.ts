import type { Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Operators' tokens end: after how many days, and when the present one does. */
export const tokenExpiry: Migration = {
  id: 55,
  name: 'token_expiry',
  up: (dialect: Dialect) => {
    const integer = dialect === 'postgres' ? 'bigint' : 'integer'
    return [
      `alter table "operator" add column "token_days" ${integer} default 0`,
      `alter table "operator" add column "expires" ${integer} default 0`,
    ]
  },
}
