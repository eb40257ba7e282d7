import { refuse } from '../../labels.ts'
import { ZERO, type Amount, type Price, type Rate } from '../../money/amount.ts'
import {
  NO_PREMIUMS,
  deliveryMark,
  fundingRate,
  impactPrice,
  markGround,
  markOn,
  meanPrice,
  premium,
  type FundingTerms,
  type Level,
  type MarkGround,
} from '../contracts/prices.ts'
import type { Ctx, State } from '../state.ts'
import { secondsOf } from '../time.ts'
import type { Side } from '../tables/exchange/order.ts'
import { ContractPriceRow, type ContractPrice } from '../tables/futures/prices.ts'
import {
  INDEX_SERIES,
  MARK_SERIES,
  contractsIn,
  markBoundAt,
  type Contract,
} from '../tables/world/contracts.ts'
import { afterMarks } from './after-mark.ts'
import { basisAt, stepAt, withStep } from './basis.ts'

/** What the platform takes for the price of what a contract follows; 0: no trusted source says one. */
export const indexOf = ({ prices, world }: State, contract: Contract): Price =>
  world.inQuoteOf(contract, prices.of(contract.base))
/**
 * Orders that open a position are refused while nobody knows what it is worth: its mark stands still, and whoever knows better
 * would leave the rest to others.
 */
export function refuseUnpriced(state: State, { id, name, base }: Contract): void {
  const { price, firm } = state.prices.quote(base)
  if (firm !== 0n && state.futures.markOf(id) !== 0n) return
  const so = `positions in ${name} can be reduced but not opened`
  refuse(
    'TRADE_RESTRICTED',
    price !== 0n && firm === 0n
      ? `contract: the index price of ${base} has just jumped and waits for a second reading, so ${so}; try again in some seconds`
      : `contract: ${base} has no trusted index price at present, so ${so}; try again when it has one`,
  )
}
/** Whether its prices still move: until it is delisted, or has expired. */
export const isRunning = ({ config, settling, endAt }: Contract, at: number): boolean =>
  config.status !== 'delisted' && !settling && (endAt === 0 || at <= endAt)

/** What the mark is at a time, by what is kept of the contract: nothing is written. */
export function markAt(state: State, contract: Contract, row: ContractPrice, at: number): Price {
  const { terms, funding } = contract
  const { index } = row
  const second = secondsOf(at)
  if (funding === undefined)
    return deliveryMark(terms, {
      index,
      basis: basisAt(row.steps, second),
      bound: markBoundAt(contract, at),
    })
  return markOn(terms, groundAt(state, contract, funding, row, at), state.futures.lastPrice(contract.id))
}
function groundAt(
  { futures }: State,
  contract: Contract,
  funding: FundingTerms,
  row: ContractPrice,
  at: number,
): MarkGround {
  const second = secondsOf(at)
  const { index, funding_rate, next_funding } = row
  // Steps of this second count from the next one on; those before it are what they were when this one was added.
  const step = stepAt(row.steps, second)
  const known = futures.grounds.get(contract.id)
  if (
    known?.contract === contract &&
    known.second === second &&
    known.step === step &&
    known.index === index &&
    known.funding_rate === funding_rate &&
    known.next_funding === next_funding
  )
    return known.ground
  const ground = markGround({
    index,
    fundingRate: funding_rate,
    seconds: Math.max(0, next_funding - second),
    interval: funding.intervalSeconds,
    basis: basisAt(row.steps, second),
    bound: markBoundAt(contract, at),
  })
  // What grows with the time that is left is another one every microsecond.
  if (contract.markBoundYear === 0n)
    futures.grounds.set(contract.id, { contract, second, step, index, funding_rate, next_funding, ground })
  return ground
}

export const MARK = MARK_SERIES
export const INDEX = INDEX_SERIES
export const PREMIUM = 'premium_'
/** A figure joins its series, at the time that it is of; never before what the series has already. */
export function addFigure({ tx, state }: Ctx, series: string, at: number, figure: bigint): void {
  const { candles } = state.futures
  const newest = candles.newest(series)
  // What repeats itself is told by what was before.
  if (newest?.close === figure) return
  const from = Math.max(at, (newest?.open_time ?? 0) * 1e6)
  candles.add(tx, series, from, figure as Price, ZERO, ZERO)
}

const nextMultiple = (second: number, interval: number): number =>
  (Math.floor(second / interval) + 1) * interval
function firstRow({ id, funding }: Contract, index: Price, at: number): ContractPrice {
  const second = secondsOf(at)
  return {
    id,
    index,
    mark: index,
    steps: [],
    funding_rate: funding === undefined ? (0n as Rate) : fundingRate(NO_PREMIUMS, funding),
    premiums: 0,
    weighted: ZERO,
    funding_sum: ZERO,
    next_funding: funding === undefined ? 0 : nextMultiple(second, funding.intervalSeconds),
    minute: second - (second % 60),
    settle_sum: ZERO,
    settle_count: 0,
    at,
  }
}
/** Index and samples as they are now; undefined while there is no price, and never was one. */
export function refreshed({ state, at }: Ctx, contract: Contract): ContractPrice | undefined {
  const before = state.futures.priceOf(contract.id)
  const index = indexOf(state, contract)
  if (index === 0n) return before
  const row = before ?? firstRow(contract, index, at)
  const { buy, sell } = state.futures.book(contract.id)
  const bid = buy.best?.price
  const ask = sell.best?.price
  // With an empty side the sample is the one before.
  const steps =
    bid === undefined || ask === undefined
      ? row.steps
      : withStep(row.steps, secondsOf(at), (bid + ask) / 2n - index)
  if (row.index === index && row.steps === steps) return row
  const other = new ContractPriceRow(row)
  other.index = index
  other.steps = steps
  return other
}
/** Writes what has changed, with its candles; tells whether somebody may have to act on it. */
export function keepPrice(ctx: Ctx, contract: Contract, row: ContractPrice, at: number): boolean {
  const { state, tx } = ctx
  const before = state.futures.priceOf(contract.id)
  // Without a price the mark stays where it was.
  const mark = indexOf(state, contract) === 0n ? row.mark : markAt(state, contract, row, at)
  const moved = before?.mark !== mark || before.index !== row.index
  if (!moved && before === row) return false
  // What was refreshed is nobody's yet.
  const kept = row instanceof ContractPriceRow && row !== before ? row : new ContractPriceRow(row)
  kept.mark = mark
  kept.at = ctx.at
  tx.put(state.futures.prices, kept)
  addFigure(ctx, contract.indexSeries, at, row.index)
  addFigure(ctx, contract.markSeries, at, mark)
  return moved
}

/**
 * Brings the prices of contracts up to date, at the end of every command that changed a book, a last price or an
 * index. Those that nothing happened to cost a look.
 */
export function followPrices(ctx: Ctx, ids?: Iterable<string>): void {
  const { world } = ctx.state
  const contracts =
    ids === undefined ? world.allContracts : [...new Set(ids)].flatMap((id) => world.findContract(id) ?? [])
  const moved = contracts.filter((contract) => followPrice(ctx, contract))
  afterMarks(ctx, moved)
}
/** Of one contract; tells whether somebody may have to act on it. */
export function followPrice(ctx: Ctx, contract: Contract): boolean {
  // Its last price may be another one where the mark is not.
  ctx.state.futures.waiting.touch(contract.id)
  const row = isRunning(contract, ctx.at) ? refreshed(ctx, contract) : undefined
  return row !== undefined && keepPrice(ctx, contract, row, ctx.at)
}
/** An index may have changed: of one currency, or any. */
export function followIndex(ctx: Ctx, currency?: string): void {
  const { allContracts } = ctx.state.world
  followPrices(
    ctx,
    allContracts.filter(({ base }) => currency === undefined || base === currency).map(({ id }) => id),
  )
}
/** The command by which time alone moves a mark: see `movedMarks`. */
export function markContracts(ctx: Ctx, input: { contracts: readonly string[] }): null {
  followPrices(ctx, input.contracts)
  return null
}
/** Contracts in which somebody holds a position or waits for a price, and whose mark is no longer what was told last. */
export function movedMarks(state: State, at: number): string[] {
  return state.world.allContracts
    .filter((contract) => {
      const row = state.futures.priceOf(contract.id)
      const { positions, waiting } = state.futures
      if (row === undefined || positions.countIn(contract.id) + waiting.countIn(contract.id) === 0)
        return false
      if (!isRunning(contract, at) || indexOf(state, contract) === 0n) return false
      return markAt(state, contract, row, at) !== row.mark
    })
    .map(({ id }) => id)
}

/** Levels of a side from the best on: what the book shows. */
function* levelsOf(state: State, id: string, side: Side): Generator<Level> {
  const { levels } = state.futures.book(id)[side]
  for (let i = levels.length - 1; i >= 0; i--)
    yield { price: levels[i]!.price, size: contractsIn(levels[i]!.amount as Amount) }
}
/** By how much the book is above the index now, or below it. */
export function premiumNow(state: State, { id, terms, impactValue }: Contract, index: Price): Rate {
  const [bid, ask] = (['buy', 'sell'] as const).map((side) =>
    impactPrice(terms, levelsOf(state, id, side), impactValue),
  )
  return premium(bid, ask, index)
}
/** The mean of the index at the last full minutes, while it is being taken; 0 before. */
export const settlePriceNow = ({ terms }: Contract, row: ContractPrice | undefined): Price =>
  row === undefined ? (0n as Price) : meanPrice(terms, row.settle_sum, row.settle_count)
