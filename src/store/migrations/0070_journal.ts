import type { Dialect } from '../sql.ts'
import type { Migration } from './migrations.ts'

/**
 * A batch is durable when the journal holds it; the tables follow. On SQLite the journal is a file of its own. Its texts
 * are not compressed: they are written once, read at most once, and gone soon.
 */
export const journal: Migration = {
  id: 70,
  name: 'journal',
  up: (dialect: Dialect) =>
    dialect === 'sqlite'
      ? []
      : [
          'create table journal_owner (one integer primary key check (one = 1), epoch bigint not null, base bigint not null, written text not null)',
          `insert into journal_owner (one, epoch, base, written) values (1, 0, 0, '')`,
          'create table journal (sequence bigint primary key, at bigint not null, count bigint not null, hash text not null, mac text not null, commands text not null, body text not null)',
          'alter table journal alter column commands set storage external, alter column body set storage external',
        ],
}
