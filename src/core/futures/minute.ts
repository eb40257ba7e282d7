import { ZERO, amountOf, format, type Amount, type Price } from '../../money/amount.ts'
import { NO_PREMIUMS, fundingOf, fundingRate, meanPrice, withPremium } from '../contracts/prices.ts'
import { schedule } from '../due.ts'
import { EQUITY } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { SECOND, secondsOf } from '../time.ts'
import type { ContractPrice } from '../tables/futures/prices.ts'
import { FUNDING } from '../tables/futures/records.ts'
import { endOf, type Contract } from '../tables/world/contracts.ts'
import { afterMarks } from './after-mark.ts'
import { endFunding, settleFunding } from './funding.ts'
import { insuranceOf } from './money.ts'
import { keepStats } from './stats.ts'
import { recordPosition } from './positions.ts'
import {
  PREMIUM,
  addFigure,
  followPrices,
  indexOf,
  isRunning,
  keepPrice,
  markAt,
  premiumNow,
  refreshed,
  settlePriceNow,
} from './prices.ts'

const MINUTE = 60 * SECOND
/** Positions that one command settles; the others follow in commands of their own. */
const PORTION = 250
/** Full minutes whose index makes the price at which a contract ends. */
const SETTLE_SECONDS = 30 * 60
const SETTING = 'futures.minute'
const SEEDED = 'futures.seeded'
/** What the funds of a sandbox begin with. */
const FUNDS: Readonly<Record<string, string>> = { usdt: '1000000', btc: '10' }

/** Runs at every start: sees to it that prices are there, and the minute's work is due where there are contracts. */
export function beginFutures(ctx: Ctx, { seed }: { seed: boolean }): null {
  const { settings, allContracts } = ctx.state.world
  if (allContracts.length === 0) return null
  const { due_id, held } = lastMinute(ctx.state)
  if (ctx.state.due.table.get(due_id) === undefined)
    keepMinute(ctx, plan(ctx, ctx.at - (ctx.at % MINUTE) + MINUTE), held)
  if (settings.get(SEEDED) === undefined) {
    ctx.tx.put(settings, { name: SEEDED, value: seed })
    if (seed) fillFunds(ctx)
  }
  followPrices(ctx)
  return null
}
const plan = (ctx: Ctx, at: number): number => schedule(ctx, at, 'futures.minute', {})
interface Minute {
  /** The next one. */
  readonly due_id: number
  /** The contracts that somebody held at the last one. */
  readonly held: readonly string[]
}
const keepMinute = ({ tx, state }: Ctx, due_id: number, held: readonly string[]): void =>
  tx.put(state.world.settings, { name: SETTING, value: { due_id, held } })
const lastMinute = ({ world }: State): Minute => ({
  due_id: 0,
  held: [],
  ...(world.settings.get(SETTING)?.value as Minute | undefined),
})
/** equity → the fund of each settle currency. */
function fillFunds(ctx: Ctx): void {
  const { world, ledger } = ctx.state
  for (const settle of new Set(world.allContracts.map((contract) => contract.settle))) {
    const amount = FUNDS[settle]
    if (amount === undefined) continue
    const lines = move(EQUITY, insuranceOf(settle), settle.toUpperCase(), amountOf(amount))
    ledger.post(ctx, { kind: 'credit', ref: 'insurance', lines })
  }
}

/** Due at each full minute: premiums, funding, and what the ends of contracts are averaged from. */
export function workMinute(ctx: Ctx, { due_at }: { due_at: number }): null {
  const { allContracts } = ctx.state.world
  // A world without contracts needs no minutes.
  const due_id = allContracts.length > 0 ? plan(ctx, due_at + MINUTE) : 0
  const { held } = lastMinute(ctx.state)
  // Its end and its last minute are due at the same time.
  const counts = (contract: Contract): boolean =>
    isRunning(contract, due_at) || endOf(contract) === secondsOf(due_at)
  const moved = allContracts.filter((contract) => counts(contract) && minuteOf(ctx, contract, due_at))
  afterMarks(ctx, moved)
  const running = allContracts.filter((contract) => isRunning(contract, due_at))
  keepStats(ctx, running, secondsOf(due_at), due_at, new Set(held))
  if (due_id !== 0) keepMinute(ctx, due_id, heldOf(ctx.state, running))
  return null
}
const heldOf = ({ futures }: State, contracts: readonly Contract[]): string[] =>
  contracts.map(({ id }) => id).filter((id) => futures.positions.countIn(id) > 0)
/** One contract's minute, once; tells whether its mark has moved. */
function minuteOf(ctx: Ctx, contract: Contract, at: number): boolean {
  const second = secondsOf(at)
  const now = refreshed(ctx, contract)
  if (now === undefined) return false
  const before = ctx.state.futures.priceOf(contract.id)
  if (before !== undefined && before.minute >= second) return keepPrice(ctx, contract, now, at)
  // A dated one has nothing to count before its last half hour.
  if (contract.funding === undefined && !isEnding(contract, second) && now.settle_count === 0)
    return keepPrice(ctx, contract, now, at)
  const priced = indexOf(ctx.state, contract) !== 0n
  const sampled = withFunding(ctx, contract, withSettle(contract, { ...now, minute: second }), at, priced)
  return keepPrice(ctx, contract, sampled, at)
}

/** The sample of premium, the rate that follows from it, and at its time the funding. */
function withFunding(
  ctx: Ctx,
  contract: Contract,
  row: ContractPrice,
  at: number,
  priced: boolean,
): ContractPrice {
  const { state } = ctx
  const { funding, id, terms } = contract
  if (funding === undefined) return row
  let premiums = { count: row.premiums, weighted: row.weighted as bigint }
  if (priced) {
    const one = premiumNow(state, contract, row.index)
    addFigure(ctx, PREMIUM + id, at, one)
    premiums = withPremium(premiums, one)
  }
  const rate = fundingRate(premiums, funding)
  const second = secondsOf(at)
  const { intervalSeconds } = funding
  if (second % intervalSeconds !== 0)
    return {
      ...row,
      premiums: premiums.count,
      weighted: premiums.weighted as Amount,
      funding_rate: rate,
      next_funding: second - (second % intervalSeconds) + intervalSeconds,
    }
  const mark = priced
    ? markAt(state, contract, { ...row, funding_rate: rate, next_funding: second }, at)
    : row.mark
  ctx.tx.append(FUNDING, { contract: id, t: second, r: rate })
  const funding_sum = (row.funding_sum + fundingOf(terms, mark, rate)) as Amount
  if (state.futures.positions.countIn(id) > 0)
    schedule(ctx, at, 'futures.fund', { contract: id, sum: format(funding_sum), after: '' })
  return {
    ...row,
    funding_sum,
    premiums: NO_PREMIUMS.count,
    weighted: NO_PREMIUMS.weighted as Amount,
    funding_rate: fundingRate(NO_PREMIUMS, funding),
    next_funding: second + intervalSeconds,
  }
}
/** Due at once after a funding: the next positions, in the order of their ids. */
export function sweepFunding(
  ctx: Ctx,
  input: { due_at: number; contract: string; sum: string; after: string },
): null {
  const { world, futures } = ctx.state
  const contract = world.mustContract(input.contract)
  const rows = futures.held.after(contract.id, input.after, PORTION)
  for (const row of rows) {
    const settled = settleFunding(ctx, contract, row)
    if (settled !== row) recordPosition(ctx, contract, settled)
  }
  const { due_at, sum } = input
  if (rows.length === PORTION)
    schedule(ctx, due_at, 'futures.fund', { contract: contract.id, sum, after: rows.at(-1)!.id })
  // Where the next funding has come already, its own sweep is the last.
  else if (sum === format(futures.priceOf(contract.id)?.funding_sum ?? ZERO)) endFunding(ctx, contract)
  afterMarks(ctx, [contract])
  return null
}

const isEnding = (contract: Contract, second: number): boolean => {
  const left = endOf(contract) - second
  return left >= 0 && left < SETTLE_SECONDS
}
/** In the last half hour the index of each full minute counts, the one at the end included. */
function withSettle(contract: Contract, row: ContractPrice): ContractPrice {
  if (isEnding(contract, row.minute))
    return {
      ...row,
      settle_sum: (row.settle_sum + row.index) as Amount,
      settle_count: row.settle_count + 1,
    }
  // The end was put off.
  return row.settle_count === 0 ? row : { ...row, settle_sum: ZERO, settle_count: 0 }
}
/**
 * At a contract's end: the price that its positions are settled at. The work of its last minute may be due after the
 * settlement; its sample is taken here then. One that ends before its first sample is settled at its index, as if that were
 * one: the mark follows the book of a contract whose end everybody knows.
 */
export function finalPrice(ctx: Ctx, contract: Contract): Price {
  const end = endOf(contract)
  const row = ctx.state.futures.priceOf(contract.id)
  if (row !== undefined && row.minute < end && isFullMinute(end)) minuteOf(ctx, contract, end * SECOND)
  const last = ctx.state.futures.priceOf(contract.id)
  return last?.settle_count === 0 ? meanPrice(contract.terms, last.index, 1) : settlePriceNow(contract, last)
}
const isFullMinute = (second: number): boolean => second > 0 && second % 60 === 0
