import { contractInsurance } from '../../core/ledger/accounts.ts'
import { LEDGER_LINE } from '../../core/ledger/ledger.ts'
import { ONE, format, type Amount } from '../../money/amount.ts'
import type { Desk } from '../endpoint.ts'

const DAY = 86_400
interface Fund {
  readonly account: number | undefined
  readonly balance: Amount
  readonly now: number
}
/** The ledger account of a settle currency's fund. */
const fundOf = (desk: Desk, settle: string): Promise<Fund> =>
  desk.core.read(({ ledger }) => {
    const { owner, name } = contractInsurance(settle)
    const account = ledger.find(owner, name, settle.toUpperCase())
    return { account: account?.id, balance: account?.amount ?? (0n as Amount), now: desk.clock.seconds() }
  })
/** What the fund held just before a second, and since when. */
async function heldBefore(
  desk: Desk,
  account: number,
  second: number,
): Promise<{ readonly after: Amount; readonly at: number } | undefined> {
  const where = 'where "account" = ? and "at" < ? order by "at" desc, "id" desc limit 1'
  const [line] = await desk.store.select(LEDGER_LINE, where, [account, second * 1e6])
  return line
}

/** Now, then each midnight back to its first money: a day in which nothing was booked ends as the one before it. */
export async function fundHistory(
  desk: Desk,
  settle: string,
  limit: number,
): Promise<{ t: number; b: string }[]> {
  const { account, balance, now } = await fundOf(desk, settle)
  const rows = [{ t: now, b: format(balance) }]
  if (account === undefined) return rows
  let line: { readonly after: Amount; readonly at: number } | undefined
  // At a midnight now is that day's line already.
  for (let t = now - (now % DAY || DAY); rows.length < limit; t -= DAY) {
    if (line === undefined || line.at >= t * 1e6) line = await heldBefore(desk, account, t)
    if (line === undefined) break
    rows.push({ t, b: format(line.after) })
  }
  return rows
}

export type AdlRisk = 'normal' | 'warning' | 'adl_risk'
/** Anybody may ask: the largest alone is read, and of the newest lines only so many are looked through. */
const LINES_MAX = 100_000
/** Amounts are texts in one of the databases. */
const LARGEST = `where "id" in (select "id" from ledger_line where "account" = ? and "at" >= ?
  order by "at" desc, "id" desc limit ${LINES_MAX}) order by cast("after" as double precision) desc limit 1`
/** How near the fund is to its end, by how much it has lost of the most that it had in a day. */
export async function adlRisk(desk: Desk, settle: string): Promise<AdlRisk> {
  const { account, balance, now } = await fundOf(desk, settle)
  if (account === undefined || balance <= 0n) return 'adl_risk'
  const since = now - DAY
  const [before, lines] = await Promise.all([
    heldBefore(desk, account, since),
    desk.store.select(LEDGER_LINE, LARGEST, [account, since * 1e6]),
  ])
  let most: bigint = balance
  for (const { after } of before === undefined ? lines : [before, ...lines]) if (after > most) most = after
  return riskOf(most, balance)
}
export function riskOf(most: bigint, balance: bigint): AdlRisk {
  if (balance <= 0n || most <= 0n) return 'adl_risk'
  const fallen = ((most - balance) * ONE) / most
  if (fallen >= (6n * ONE) / 10n) return 'adl_risk'
  return fallen >= (3n * ONE) / 10n ? 'warning' : 'normal'
}
