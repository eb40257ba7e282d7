import { createHash } from 'node:crypto'
import { Table, type LogSpec, type TableSpec } from '../../machine/table.ts'

/** Who asked: an operator by name, or null for a customer or the platform itself (which isn't audited). */
export type Actor = string | null

/** What operators did, append-only; each record carries the hash of the one before it. */
export interface AuditRecord {
  readonly id: number
  readonly at: number
  readonly operator: string
  readonly action: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly previous_hash: string
  readonly hash: string
}
export const AUDIT: LogSpec<AuditRecord> = {
  name: 'audit',
  columns: {
    id: 'int',
    at: 'int',
    operator: 'text',
    action: 'text',
    detail: 'json',
    previous_hash: 'text',
    hash: 'text',
  },
}
/** The newest link of the chain. */
export interface AuditHead {
  readonly chain: string
  readonly hash: string
}
export const AUDIT_HEAD: TableSpec<AuditHead> = {
  name: 'audit_head',
  key: ['chain'],
  columns: { chain: 'text', hash: 'text' },
}
export const auditHeads = (): Table<AuditHead> => new Table(AUDIT_HEAD)
export const GENESIS_HASH = '0'.repeat(64)

export function auditHash(record: Omit<AuditRecord, 'hash'>): string {
  const { id, at, operator, action, detail, previous_hash } = record
  return createHash('sha256')
    .update(JSON.stringify([id, at, operator, action, canonical(detail), previous_hash]))
    .digest('hex')
}
/** A database may reorder the members of a JSON object: sort them before hashing. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, canonical(member)])
}
