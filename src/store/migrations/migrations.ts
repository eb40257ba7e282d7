import type { Dialect } from '../sql.ts'
import { foundation } from './0001_foundation.ts'
import { wallet } from './0002_wallet.ts'

/** A numbered step of the schema. Once released it never changes; what comes after is a new one. */
export interface Migration {
  readonly id: number
  readonly name: string
  readonly up: (dialect: Dialect) => readonly string[]
}
export const MIGRATIONS: readonly Migration[] = [foundation, wallet]

/** Tables of the machine itself, made before the first migration. */
export const BOOTSTRAP: readonly string[] = [
  'create table if not exists migration (id integer primary key, name text not null, at bigint not null)',
  'create table if not exists head (one integer primary key check (one = 1), epoch bigint not null, sequence bigint not null, hash text not null, at bigint not null)',
  `insert into head (one, epoch, sequence, hash, at) values (1, 0, 0, '', 0) on conflict (one) do nothing`,
]
