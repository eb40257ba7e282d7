import { StoreUnavailable } from '../store.ts'
import { foundation } from './0001_foundation.ts'
import { wallet } from './0002_wallet.ts'
import { spot } from './0003_spot.ts'
import { unified } from './0004_unified.ts'
import { sweeps } from './0005_sweeps.ts'
import { riskAlerts } from './0006_risk_alerts.ts'
import { leanLines } from './0008_lean_lines.ts'
import { custody } from './0020_custody.ts'
import { seenRequests } from './0030_seen_requests.ts'
import { dueFailed } from './0040_due_failed.ts'
import { sums } from './0041_sums.ts'
import { povOrders } from './0042_pov_orders.ts'
import { tokenExpiry } from './0055_token_expiry.ts'
import { journal } from './0070_journal.ts'
import { logins } from './0200_logins.ts'
import { journalReaders } from './0211_journal_readers.ts'
import { contracts } from './0220_contracts.ts'
import { contractRecords } from './0221_contract_records.ts'
import { contractMinutes } from './0222_contract_minutes.ts'
import { journalNames } from './0223_journal_names.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  foundation,
  wallet,
  spot,
  unified,
  sweeps,
  riskAlerts,
  leanLines,
  custody,
  seenRequests,
  dueFailed,
  sums,
  povOrders,
  tokenExpiry,
  journal,
  logins,
  journalReaders,
  contracts,
  contractRecords,
  contractMinutes,
  journalNames,
]

/** Tables of the machine itself, made before the first migration. */
export const BOOTSTRAP: readonly string[] = [
  'create table if not exists migration (id integer primary key, name text not null, at bigint not null)',
  'create table if not exists head (one integer primary key check (one = 1), epoch bigint not null, sequence bigint not null, hash text not null, at bigint not null)',
  `insert into head (one, epoch, sequence, hash, at) values (1, 0, 0, '', 0) on conflict (one) do nothing`,
]

/** What is still to be done, in order. A step that this version does not know means a newer one was here. */
export function pendingMigrations(done: readonly number[], known = MIGRATIONS): readonly Migration[] {
  const newer = done.filter((id) => known.every((migration) => migration.id !== id))
  if (newer.length > 0)
    throw new StoreUnavailable(
      `the database was made by a newer version (it has migration ${newer.join(', ')}, this version knows up to ${known.at(-1)?.id ?? 0}); start that version, or restore a backup from before the upgrade`,
    )
  return known.filter(({ id }) => !done.includes(id))
}
