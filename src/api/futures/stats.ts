import { STAT_SECONDS, flowOf, holdersOf } from '../../core/futures/stats.ts'
import type { State } from '../../core/state.ts'
import { quoteOf } from '../../core/contracts/terms.ts'
import {
  CONTRACT_MINUTE,
  CONTRACT_STAT,
  type ContractStat,
  type Flow,
} from '../../core/tables/futures/stats.ts'
import { contractsIn, type Contract } from '../../core/tables/world/contracts.ts'
import { ONE, format, roundDown, type Amount, type Rate } from '../../money/amount.ts'
import type { Desk } from '../endpoint.ts'
import { decimalText, int64, num, shape } from '../shapes.ts'
import { everContract } from './market-data.ts'
import { shown, type Look } from './order-views.ts'
import { PERPETUAL } from './paths.ts'
import { sizeShape } from './sizes.ts'

export const STAT_INTERVALS = { '5m': 300, '15m': 900, '30m': 1_800, '1h': 3_600, '4h': 14_400, '1d': 86_400 }
/** Over sockets there are shorter and longer spans, too; seven days begin with the Unix epoch. */
export const PUSHED_INTERVALS = { '1m': 60, ...STAT_INTERVALS, '7d': 604_800 }
export type StatInterval = keyof typeof STAT_INTERVALS
export type PushedInterval = keyof typeof PUSHED_INTERVALS
export const STATS_MAX = 100
export const STATS_USUAL = 30

export const statShape = shape({
  time: int64,
  lsr_taker: num,
  lsr_account: num,
  long_liq_size: sizeShape,
  long_liq_amount: num,
  long_liq_usd: num,
  long_liq_usd_new: num,
  short_liq_size: sizeShape,
  short_liq_amount: num,
  short_liq_usd: num,
  short_liq_usd_new: num,
  open_interest: sizeShape,
  open_interest_usd: num,
  top_lsr_account: num,
  top_lsr_size: decimalText,
  mark_price: num,
  top_long_size: sizeShape,
  top_short_size: sizeShape,
  long_taker_size: sizeShape,
  short_taker_size: sizeShape,
  top_long_account: int64,
  top_short_account: int64,
  long_users: int64,
  short_users: int64,
})
type Moment = Omit<ContractStat, 'contract' | 't'>
/** Four decimals at most, towards zero, and fewer behind many digits: a longer number is more than some clients read. */
const FLOAT_DECIMALS = 4
const NUMBER_LENGTH = 15
function float(amount: bigint): number {
  const whole = String(amount / ONE).length
  const decimals = Math.max(0, Math.min(FLOAT_DECIMALS, NUMBER_LENGTH - 1 - whole))
  return Number(format(roundDown(amount as Amount, decimals)))
}
const ratio = (one: bigint, other: bigint): Rate => (other === 0n ? 0n : (one * ONE) / other) as Rate
const counted = (one: number, other: number): number => float(ratio(BigInt(one), BigInt(other)))

/** What happened between two moments, and how it stood at the later one. */
function statView(contract: Contract, time: number, before: Flow | undefined, now: Moment, { sizes }: Look) {
  const since = (name: keyof Flow): Amount => (now[name] - (before?.[name] ?? 0n)) as Amount
  const [bought, sold] = [since('bought'), since('sold')]
  const [longs, shorts] = [since('long_liq_quote'), since('short_liq_quote')].map(float) as [number, number]
  return {
    time,
    lsr_taker: float(ratio(bought, sold)),
    lsr_account: counted(now.longs, now.shorts),
    long_liq_size: sizes(since('long_liq')),
    long_liq_amount: float(since('long_liq_base')),
    long_liq_usd: longs,
    long_liq_usd_new: longs,
    short_liq_size: sizes(since('short_liq')),
    short_liq_amount: float(since('short_liq_base')),
    short_liq_usd: shorts,
    short_liq_usd_new: shorts,
    open_interest: sizes(now.open_interest),
    open_interest_usd: float(quoteOf(contract.terms, contractsIn(now.open_interest), now.mark)),
    top_lsr_account: counted(now.top_longs, now.top_shorts),
    top_lsr_size: shown(ratio(now.top_long, now.top_short)),
    mark_price: float(now.mark),
    top_long_size: sizes(now.top_long),
    top_short_size: sizes(now.top_short),
    long_taker_size: sizes(bought),
    short_taker_size: sizes(sold),
    top_long_account: now.top_longs,
    top_short_account: now.top_shorts,
    long_users: now.longs,
    short_users: now.shorts,
  }
}

const momentOf = (state: State, contract: Contract): Moment => ({
  ...flowOf(state, contract.id),
  ...holdersOf(state, contract),
})
/** Oldest first, the running span included; they begin with the platform. */
export async function contractStats(
  desk: Desk,
  settle: string,
  query: {
    readonly contract: string
    readonly from: number | null
    readonly interval: PushedInterval
    readonly limit: number
  },
  look: Look,
) {
  const seconds = PUSHED_INTERVALS[query.interval]
  const { contract, now, running } = await desk.core.read((state) => {
    const found = everContract(state, PERPETUAL, settle, query.contract)
    return { contract: found, now: momentOf(state, found), running: desk.clock.seconds() }
  })
  const start = (second: number): number => Math.floor(second) - (Math.floor(second) % seconds)
  const latest = start(running)
  const first = query.from === null ? latest - (query.limit - 1) * seconds : start(query.from)
  const last = Math.min(latest, first + (query.limit - 1) * seconds)
  const moments: number[] = []
  for (let t = first; t <= last + seconds; t += seconds) moments.push(t)
  if (moments.length < 2) return []
  const known = await recordsAt(desk, contract.id, moments, seconds)
  return moments.slice(0, -1).flatMap((t) => {
    const end =
      t === latest ? (contract.config.status === 'delisted' ? undefined : now) : known.get(t + seconds)
    return end === undefined ? [] : [statView(contract, t, known.get(t), end, look)]
  })
}
/** What is known of each of these moments. Not each minute has a record of its own; each fifth has. */
async function recordsAt(
  desk: Desk,
  contract: string,
  moments: readonly number[],
  seconds: number,
): Promise<ReadonlyMap<number, ContractStat>> {
  if (seconds % STAT_SECONDS === 0) {
    const where = `where "contract" = ? and "t" in (${moments.map(() => '?').join(', ')})`
    const rows = await desk.store.select(CONTRACT_STAT, where, [contract, ...moments])
    return new Map(rows.map((row) => [row.t, row]))
  }
  const where = 'where "contract" = ? and "t" > ? and "t" <= ? order by "t"'
  const [first, last] = [moments[0]! - STAT_SECONDS, moments.at(-1)!]
  const between = [contract, first, last]
  // Records of before there were slots have those of every minute.
  const rows: ContractStat[] = [
    ...(await desk.store.select(CONTRACT_STAT, where, between)),
    ...(await desk.store.select(CONTRACT_MINUTE, where, between)),
  ].sort((a, b) => a.t - b.t)
  const at = (moment: number): ContractStat | undefined => rows.findLast(({ t }) => t <= moment)
  return new Map(moments.flatMap((moment) => (at(moment) === undefined ? [] : [[moment, at(moment)!]])))
}
