import type { Dialect } from '../sql.ts'
import type { Migration } from './migration.ts'

/**
 * A batch is durable when the journal holds it; the tables follow. Who may write the journal, behind which batch, and what
 * its entries look like stands beside the tables. On SQLite the entries are in files of their own. In PostgreSQL their
 * texts are not compressed: they are written once, read at most once, and gone soon.
 */
export const journal: Migration = {
  id: 70,
  name: 'journal',
  up: (dialect: Dialect) => [
    'create table journal_owner (one integer primary key check (one = 1), epoch bigint not null, base bigint not null, written text not null)',
    `insert into journal_owner (one, epoch, base, written) values (1, 0, 0, '')`,
    ...(dialect === 'sqlite'
      ? []
      : [
          'create table journal (sequence bigint primary key, at bigint not null, count bigint not null, hash text not null, mac text not null, commands text not null, body text not null)',
          'alter table journal alter column commands set storage external, alter column body set storage external',
        ]),
  ],
}
