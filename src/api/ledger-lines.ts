import { LEDGER_LINE, type Account, type LedgerLine } from '../core/ledger/ledger.ts'
import type { Value } from '../store/store.ts'
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

/** Accounts that one statement puts together: SQLite takes 500 parts at most. */
const TOGETHER = 400

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
  const { limit, offset } = filter
  const order = 'order by "at" desc, "id" desc'
  const select = (page: string, values: Value[]): Promise<LedgerLine[]> =>
    desk.store.select(LEDGER_LINE, `where "id" in (${page}) ${order}`, values)
  let lines: LedgerLine[]
  if (accounts.length <= TOGETHER) {
    const { union, values } = newestOf(accounts, filter)
    const page = `select "id" from (${union}) as newest ${order} limit ? offset ?`
    lines = await select(page, [...values, limit, offset])
  } else {
    const ids = await newestIds(desk, accounts, filter, order)
    lines = ids.length === 0 ? [] : await select(ids.map(() => '?').join(', '), ids)
  }
  const byId = new Map(accounts.map((account) => [account.id, account]))
  return lines.map((line) => {
    const { name, currency } = byId.get(line.account)!
    return { ...line, name, currency }
  })
}
/** Id and time of the newest lines of each account: as many as the page may need. */
function newestOf(accounts: readonly Account[], filter: LineFilter): { union: string; values: Value[] } {
  const kinds = filter.kinds ?? []
  const ofKind = kinds.length === 0 ? '' : ` and "kind" in (${kinds.map(() => '?').join(', ')})`
  const newest = `select "id", "at" from ledger_line where "account" = ? and "at" >= ? and "at" <= ?${ofKind} order by "at" desc, "id" desc limit ?`
  const union = accounts
    .map((_, i) => `select "id", "at" from (${newest}) as newest_${i}`)
    .join(' union all ')
  const most = filter.limit + filter.offset
  const values = accounts.flatMap(({ id }) => [id, filter.from, filter.to, ...kinds, most])
  return { union, values }
}
/** Of so many accounts that several statements look for them, put together here. */
async function newestIds(
  { store }: Desk,
  accounts: readonly Account[],
  filter: LineFilter,
  order: string,
): Promise<number[]> {
  const { limit, offset } = filter
  const found: [id: number, at: number][] = []
  for (let from = 0; from < accounts.length; from += TOGETHER) {
    const { union, values } = newestOf(accounts.slice(from, from + TOGETHER), filter)
    const sql = `select "id", "at" from (${union}) as newest ${order} limit ?`
    for (const [id, at] of await store.query(sql, [...values, limit + offset]))
      found.push([Number(id), Number(at)])
  }
  return found
    .sort(([one, at], [other, then]) => then - at || other - one)
    .slice(offset, offset + limit)
    .map(([id]) => id)
}
