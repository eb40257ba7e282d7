import { LEDGER_LINE, type Account, type LedgerLine } from '../core/ledger/ledger.ts'
import type { Desk } from './endpoint.ts'

export interface LineFilter {
  /** Microseconds, both included. */
  readonly from: number
  readonly to: number
  /** Words of the account book; left out: all. */
  readonly kinds?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

/** A line with what its account says of itself. */
export interface NamedLine extends LedgerLine {
  readonly name: string
  readonly currency: string
}

/**
 * A page of the ledger lines of some accounts, newest first. Each account's own index gives its newest lines and
 * the union is cut to the page, so that the ledger needs no second index, which every posting would pay for.
 */
export async function newestLines(
  desk: Desk,
  accounts: readonly Account[],
  filter: LineFilter,
): Promise<NamedLine[]> {
  if (accounts.length === 0) return []
  const kinds = filter.kinds ?? []
  const ofKind = kinds.length === 0 ? '' : ` and "kind" in (${kinds.map(() => '?').join(', ')})`
  const newest = `select "id", "at" from ledger_line where "account" = ? and "at" >= ? and "at" <= ?${ofKind} order by "at" desc, "id" desc limit ?`
  const union = accounts
    .map((_, i) => `select "id", "at" from (${newest}) as newest_${i}`)
    .join(' union all ')
  const page = `select "id" from (${union}) as newest order by "at" desc, "id" desc limit ? offset ?`
  const values = accounts.flatMap(({ id }) => [
    id,
    filter.from,
    filter.to,
    ...kinds,
    filter.limit + filter.offset,
  ])
  const lines = await desk.store.select(
    LEDGER_LINE,
    `where "id" in (${page}) order by "at" desc, "id" desc`,
    [...values, filter.limit, filter.offset],
  )
  const byId = new Map(accounts.map((account) => [account.id, account]))
  return lines.map((line) => {
    const { name, currency } = byId.get(line.account)!
    return { ...line, name, currency }
  })
}
