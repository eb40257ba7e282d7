import { type Amount, type Price, type Rate } from '../../money/amount.ts'
import { unrealised } from '../contracts/position.ts'
import { abs, fillValue, valueUp } from '../contracts/terms.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import type { Trade } from '../tables/exchange/trades.ts'
import type { Side } from '../tables/exchange/order.ts'
import type { Position, PositionMode } from '../tables/futures/positions.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { atIndex, nearIndex, needsOf } from './figures.ts'
import { insuranceOf } from './money.ts'
import { ontoTick } from './platform-orders.ts'
import { fillPosition, positionOf, putPosition, type PositionFilled } from './positions.ts'
import { isTrading } from './triggers.ts'

/**
 * What the fund has, with what its positions have won or lost at the mark, as far as the index bears that out: who paints
 * a mark must not choose when the fund gives up.
 */
export function fundWorth(state: State, contract: Contract): Amount {
  const prices = nearIndex(state)
  let worth: bigint = state.ledger.balance(PLATFORM, insuranceOf(contract.settle).name, contract.currency)
  for (const { account, currency } of accountsOf(state, contract.settle))
    if (currency === contract.currency)
      for (const row of state.futures.positions.heldBy(PLATFORM, account))
        worth += needsOf(state, row, prices).pnl
  return worth as Amount
}
/** The fund is one for each settle currency: its positions may be in both groups. */
const accountsOf = (state: State, settle: string): { account: string; currency: string }[] => {
  const seen = new Map<string, { account: string; currency: string }>()
  for (const { account, currency, settle: own } of state.world.allContracts)
    if (own === settle) seen.set(account, { account, currency })
  return [...seen.values()]
}

/** How many of these contracts (signed as the position is) it can take over at a price. */
export function fundTakes(state: State, contract: Contract, contracts: bigint, price: Price): bigint {
  const { terms } = contract
  const mark = nearIndex(state)(contract.id)
  const wanted = abs(contracts)
  const own = positionOf(state, PLATFORM, contract, 'single')
  const worth = fundWorth(state, contract)
  const limit = terms.tiers.at(-1)!.limit
  const sign = contracts > 0n ? 1n : -1n
  const fits = (count: bigint): boolean => {
    const value = fillValue(terms, count, price)
    const won = unrealised(terms, { size: sign * count, cost: (sign * value) as Amount }, mark)
    if (worth + won < 0n) return false
    return valueUp(terms, abs(contractsIn(own.size) + sign * count), mark) <= limit
  }
  if (fits(wanted)) return wanted
  let [low, high] = [0n, wanted]
  while (low < high - 1n) {
    const middle = (low + high) / 2n
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

export interface InternalTrade {
  /** Whose position shrinks, and whose takes it on or shrinks with it. */
  readonly from: {
    readonly user_id: number
    readonly mode: PositionMode
    readonly order_id?: number
    /** Of the fee that it pays; none: it pays none. */
    readonly rate?: Rate
  }
  readonly to: {
    readonly user_id: number
    readonly mode: PositionMode
    readonly order_id?: number
    readonly text?: string
  }
  /** Signed as the position of `from` is. */
  readonly contracts: bigint
  readonly price: Price
  readonly text: string
}
/** A trade past the book: everybody sees it, and it makes no last price. Its sequence is 0. */
export function internalTrade(ctx: Ctx, contract: Contract, trade: InternalTrade): PositionFilled {
  const { state, tx, at } = ctx
  const { from, to, contracts, price, text } = trade
  const id = nextId(tx, state.counters, 'contract_trade')
  const side = contracts > 0n ? 'sell' : 'buy'
  const amount = amountOfContracts(abs(contracts))
  const common = { price, rate: 0n as Rate, trade_id: id }
  const filled = fillPosition(ctx, contract, {
    ...common,
    ...(from.rate !== undefined && { rate: from.rate }),
    user_id: from.user_id,
    mode: from.mode,
    contracts: -contracts,
    order_id: from.order_id ?? 0,
    order_text: text,
  })
  fillPosition(ctx, contract, {
    ...common,
    user_id: to.user_id,
    mode: to.mode,
    contracts,
    order_id: to.order_id ?? 0,
    order_text: to.text ?? text,
  })
  const row: Trade = { id, pair: contract.id, sequence: 0, side, price, amount, at }
  tx.put(state.futures.trades.table, row)
  return filled
}

/** How far from the mark the fund sells or buys what it took over. */
const UNWIND_BOUND = 200n
/** The worst price at which it does. */
export function unwindBound(state: State, contract: Contract, side: Side): Price {
  const mark = state.futures.markOf(contract.id)
  const away = mark / UNWIND_BOUND
  // Near the index too: who has moved the mark would else choose what the fund pays.
  const index = atIndex(state)(contract.id)
  const off = index / UNWIND_BOUND
  const worst = side === 'sell' ? larger(mark - away, index - off) : smaller(mark + away, index + off)
  return ontoTick(contract, worst as Price, side)
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
/** Which side closes a position. */
export const closingSide = ({ size }: Position): Side => (size > 0n ? 'sell' : 'buy')
/** Whether an order of the fund would meet anything; where nothing is traded, or at a price that may be long past, it has none. */
export function isMet(ctx: Ctx, contract: Contract, fund: Position): boolean {
  const { state } = ctx
  if (!isTrading(ctx, contract) || state.prices.quote(contract.base).firm === 0n) return false
  const side = closingSide(fund)
  const facing = state.futures.book(contract.id).facing(side)
  if (facing === undefined) return false
  const bound = unwindBound(state, contract, side)
  return side === 'sell' ? facing.price >= bound : facing.price <= bound
}

const SECOND = 1e6
/**
 * A command is through. While the fund holds a position it sends an order each second, but none, and no command for it, as
 * long as nothing stands against it: it could hold one for years.
 */
export function wakeFund(ctx: Ctx): void {
  const { state } = ctx
  // After every command: mostly it holds nothing.
  if (!state.futures.positions.holdsAny(PLATFORM)) return
  // The fund is never liquidated: there the id of its next order stands.
  const resting = [...state.futures.positions.allOf(PLATFORM)].filter(({ liquidating }) => liquidating === 0)
  // The order in which they came to be held is not the same after a start.
  if (resting.length > 1) resting.sort((one, other) => (one.id < other.id ? -1 : 1))
  for (const fund of resting) {
    const contract = state.world.findContract(fund.contract)
    if (contract === undefined || !(isMet(ctx, contract, fund) || fundWorth(state, contract) <= 0n)) continue
    const due = schedule(ctx, ctx.at + SECOND, 'futures.unwind', { contract: contract.id })
    putPosition(ctx, { ...fund, liquidating: due })
  }
}
