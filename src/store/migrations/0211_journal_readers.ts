import type { Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/** Who follows the journal of a PostgreSQL without owning it, and how far each has read: that much may leave it. */
export const journalReaders: Migration = {
  id: 211,
  name: 'journal_readers',
  up: (dialect: Dialect) =>
    dialect === 'sqlite'
      ? []
      : [
          'create table journal_reader (name text primary key, sequence bigint not null, seen timestamptz not null)',
        ],
}
