import { createTable, type Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Due work that failed and was put aside. */
export const dueFailed: Migration = {
  id: 40,
  name: 'due_failed',
  up: (dialect: Dialect) => [
    ...createTable(dialect, {
      name: 'due_failed',
      columns: { id: 'int', at: 'int', command: 'text', input: 'json', error: 'text', failed_at: 'int' },
      key: ['id'],
    }),
  ],
}
