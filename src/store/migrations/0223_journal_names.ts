import type { Migration } from './migration.ts'

/**
 * On SQLite the journal's files carry their owner's epoch in their names. Nothing of the tables is another; but a version
 * that does not know these names would start without what they hold, so that it must not start at all.
 */
export const journalNames: Migration = { id: 223, name: 'journal_names', up: () => [] }
