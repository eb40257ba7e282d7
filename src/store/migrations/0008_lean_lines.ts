import type { Migration } from './migration.ts'

/** A ledger line says whose account, of what name and currency, by the account's id alone. */
export const leanLines: Migration = {
  id: 8,
  name: 'lean_lines',
  up: () => ['owner', 'name', 'currency'].map((column) => `alter table ledger_line drop column "${column}"`),
}
