import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'

/**
 * A signed request of a key with replay protection, remembered for as long as its Timestamp would be accepted
 * again. A row, not a note in memory: who has captured a request may wait for a restart.
 */
export interface SeenRequest {
  /** Rows are forgotten in the order of their ids, so those that are left follow each other without a gap. */
  readonly id: number
  readonly key: string
  /** The first 128 bits of it: enough that no two are alike. */
  readonly signature: string
  /** What was signed, in microseconds. */
  readonly timestamp: number
}
export const SEEN_REQUEST: TableSpec<SeenRequest> = {
  name: 'seen_request',
  key: ['id'],
  columns: { id: 'int', key: 'text', signature: 'text', timestamp: 'int' },
}
export class SeenRequests {
  readonly table = new Table(SEEN_REQUEST)
  readonly bySignature = new UniqueIndex(this.table, (seen) => seen.signature)
  private readonly byKey = new GroupIndex(this.table, (seen) => seen.key)
  count(key: string): number {
    return this.byKey.count(key)
  }
}
