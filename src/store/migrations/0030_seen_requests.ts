import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Replay protection: a setting of each key, and the requests that passed within the window. */
export const seenRequests: Migration = {
  id: 30,
  name: 'seen_requests',
  up: (dialect: Dialect) => [
    dialect === 'sqlite'
      ? 'alter table api_key add column "replay_protection" integer not null default 0'
      : 'alter table api_key add column "replay_protection" boolean not null default false',
    ...createTable(dialect, {
      name: 'seen_request',
      columns: { id: 'int', key: 'text', signature: 'text', timestamp: 'int' },
      key: ['id'],
    }),
  ],
}
