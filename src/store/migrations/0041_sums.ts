import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Keyed sums of all rows in the head, and the state from which `kontor replay` begins. */
export const sums: Migration = {
  id: 41,
  name: 'sums',
  up: (dialect: Dialect) => [
    `alter table head add column sums text not null default ''`,
    `alter table head add column "schema" text not null default ''`,
    `alter table head add column mac text not null default ''`,
    ...createTable(dialect, {
      name: 'checkpoint',
      columns: { sequence: 'int', at: 'int', hash: 'text', rules: 'int' },
      key: ['sequence'],
    }),
    ...createTable(dialect, {
      name: 'checkpoint_part',
      columns: { part: 'int', table_name: 'text', rows: 'text' },
      key: ['part'],
    }),
  ],
}
