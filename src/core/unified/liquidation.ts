import { Refusal } from '../../labels.ts'
import {
  ZERO,
  add,
  amountOf,
  format,
  max,
  min,
  overDown,
  overUp,
  rateOf,
  roundDown,
  roundUp,
  timesDown,
  timesUp,
  type Amount,
} from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import { PLATFORM, insuranceName } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import { cancelOpen } from '../spot/cancel.ts'
import type { NewOrder } from '../spot/place.ts'
import { placeOrder } from '../spot/place.ts'
import { fireTriggers } from '../spot/triggers.ts'
import type { Ctx, State } from '../state.ts'
import { LIQUIDATION_STEP, UNIFIED, bookOf, type LoanBook } from './accounts.ts'
import { settleLines, writeOffLines } from './lending.ts'
import { closeIfPaid, repay, totalOwed } from './loans.ts'
import { figuresOf, owedOf } from './portfolio.ts'
import { mustLiquidate, type AssetFigures, type RiskFigures } from './risk.ts'

/** Work of one command; what is left is due at once, as a command of its own. */
const CANCELS_MAX = 100
const SALES_MAX = 6
/** Tries without a sale, a second apart, before the insurance fund takes the collateral over. */
const TRIES_MAX = 10
const RETRY = 1e6
/** Selling ends at 120 % of the maintenance margin. */
const HEALTHY = rateOf('1.2')
/** A sale is a quarter of what is owed, but at least and at most this much (units of the prices). */
const SALE_LEAST = amountOf('100')
const SALE_MOST = amountOf('1000000')
/** Covers fees and slippage when everything that is owed is to be bought. */
const MARGIN_OF_SALE = rateOf('1.01')

export interface Liquidation {
  readonly id: number
  readonly user_id: number
  readonly scope: string
  readonly tries: number
}

/** Below 100 % maintenance: the account is locked and its liquidation is due at once. */
export function checkAccount(ctx: Ctx, userId: number, scope: string): boolean {
  const { state, tx } = ctx
  if (!state.margin.owes(userId, scope) || state.margin.isLocked(userId, scope)) return false
  const figures = figuresOf(state, userId, scope)
  if (!mustLiquidate(figures)) return false
  const account = state.margin.of(userId)
  tx.put(state.margin.table, { ...account, locked: [...account.locked, scope] })
  const id = nextId(tx, state.counters, 'liquidation')
  const liquidation = { id, user_id: userId, scope, tries: 0 }
  note(ctx, liquidation, 'locked', '', ZERO, summary(figures))
  schedule(ctx, ctx.at, 'margin.liquidate', { ...liquidation })
  return true
}
const summary = (figures: RiskFigures) => ({
  margin_balance: format(figures.marginBalance),
  maintenance_margin: format(figures.maintenanceMargin),
  maintenance_rate: format(figures.maintenanceRate),
})
/** The watcher's command: looks at accounts again, a bounded number at a time. */
export function checkAccounts(
  ctx: Ctx,
  input: { accounts: readonly { user_id: number; scope: string }[] },
): number {
  return input.accounts.filter(({ user_id, scope }) => checkAccount(ctx, user_id, scope)).length
}

function note(
  ctx: Ctx,
  { id, user_id, scope }: Liquidation,
  step: string,
  currency: string,
  amount: Amount,
  detail: Readonly<Record<string, unknown>> = {},
): void {
  ctx.tx.append(LIQUIDATION_STEP, {
    id: nextId(ctx.tx, ctx.state.counters, 'liquidation_step'),
    liquidation: id,
    user_id,
    scope,
    step,
    currency,
    amount,
    detail,
    at: ctx.at,
  })
}

/** Due: one bounded round. Cancels, repays from what is there, sells, and ends or plans the next round. */
export function liquidate(ctx: Ctx, input: Liquidation): null {
  const { state } = ctx
  const { user_id, scope } = input
  if (!state.margin.isLocked(user_id, scope)) return null
  const again = (after: number, tries: number): null => {
    schedule(ctx, ctx.at + after, 'margin.liquidate', { ...input, tries })
    return null
  }
  if (cancelOrders(ctx, input)) return again(0, input.tries)
  const book = bookOf(scope)
  let sold = false
  for (let sale = 0; sale < SALES_MAX; sale++) {
    repayFree(ctx, input, book)
    const figures = figuresOf(state, user_id, scope)
    if (!state.margin.owes(user_id, scope) || figures.maintenanceRate >= HEALTHY)
      return end(ctx, input, figures)
    if (collateral(figures).length === 0) {
      coverShortfall(ctx, input, book)
      return end(ctx, input, figuresOf(state, user_id, scope))
    }
    if (sellSome(ctx, input, figures)) sold = true
    else if (sold) break
    else if (input.tries + 1 < TRIES_MAX) return again(RETRY, input.tries + 1)
    else takeOver(ctx, input, book, figures)
  }
  return again(0, 0)
}
function end(ctx: Ctx, input: Liquidation, figures: RiskFigures): null {
  const { state, tx } = ctx
  const account = state.margin.of(input.user_id)
  tx.put(state.margin.table, { ...account, locked: account.locked.filter((scope) => scope !== input.scope) })
  note(ctx, input, 'unlocked', '', ZERO, summary(figures))
  return null
}

const ours = (scope: string) => (order: { account: string; pair: string }) =>
  scope === UNIFIED.scope ? order.account !== 'margin' : order.account === 'margin' && order.pair === scope
/** True when there are more orders than one command cancels. */
function cancelOrders(ctx: Ctx, input: Liquidation): boolean {
  const open = ctx.state.spot.openOrders(input.user_id).filter(ours(input.scope))
  for (const order of cancelOpen(ctx, open.slice(0, CANCELS_MAX), 'liquidate_cancelled'))
    note(ctx, input, 'order_cancelled', '', ZERO, { order_id: order.id, currency_pair: order.pair })
  return open.length > CANCELS_MAX
}
/** What the account owes and has in the same currency goes first: no market is needed for it. */
function repayFree(ctx: Ctx, input: Liquidation, book: LoanBook): void {
  const { state } = ctx
  for (const { scope, currency } of state.margin.loansOf(input.user_id)) {
    if (scope !== input.scope) continue
    const free = state.ledger.balance(input.user_id, book.free, currency)
    const amount = min(free, totalOwed(state, input.user_id, book, currency))
    if (amount <= 0n) continue
    repay(ctx, input.user_id, book, currency, amount, 'liquidation')
    note(ctx, input, 'repaid', currency, amount)
  }
}

const valueOf = ({ asset, equity }: AssetFigures): Amount =>
  equity > 0n ? timesDown(min(equity, asset.available), asset.price) : ZERO
/** What can be turned into money, the most valuable first; what is no collateral only when nothing else is left. */
const collateral = ({ assets }: RiskFigures): AssetFigures[] =>
  assets
    .filter(({ asset, liability }) => liability === 0n && asset.available > 0n && asset.price > 0n)
    .sort((a, b) => {
      if (a.asset.collateral !== b.asset.collateral) return a.asset.collateral ? -1 : 1
      const [one, other] = [valueOf(a), valueOf(b)]
      return one === other ? (a.asset.currency < b.asset.currency ? -1 : 1) : one > other ? -1 : 1
    })
/** The largest debt. */
function largestDebt({ assets }: RiskFigures): AssetFigures | undefined {
  const worth = ({ asset, liability }: AssetFigures): Amount => timesUp(liability, asset.price)
  return assets
    .filter(({ liability }) => liability > 0n)
    .reduce<AssetFigures | undefined>(
      (most, one) => (most === undefined || worth(one) > worth(most) ? one : most),
      undefined,
    )
}

/** One sale through the book, of whatever collateral the markets take. */
function sellSome(ctx: Ctx, input: Liquidation, figures: RiskFigures): boolean {
  const debt = largestDebt(figures)!
  const owed = timesUp(debt.liability, debt.asset.price)
  const target = max(min((owed / 4n) as Amount, SALE_MOST), min(SALE_LEAST, timesUp(owed, MARGIN_OF_SALE)))
  for (const { asset } of collateral(figures)) {
    const routed = routeOf(ctx.state, asset.currency, debt.asset.currency)
    if (routed === undefined) continue
    const wanted = overUp(target, asset.price)
    // A remainder that is too small to be sold by itself goes along.
    const rest = timesDown((asset.available - wanted) as Amount, asset.price)
    const amount = wanted >= asset.available || rest < SALE_LEAST ? asset.available : wanted
    const capped = min(amount, overDown(SALE_MOST, asset.price))
    if (sell(ctx, input, routed, asset.currency, capped)) return true
  }
  return false
}
interface Route {
  readonly pair: string
  readonly side: 'buy' | 'sell'
}
/** The market that turns one currency into another, or into USDT on the way there. */
function routeOf(state: State, from: string, to: string): Route | undefined {
  for (const [pair, side] of [
    [`${from}_${to}`, 'sell'],
    [`${to}_${from}`, 'buy'],
    [`${from}_USDT`, 'sell'],
  ] as const)
    if (state.world.findMarket(pair) !== undefined) return { pair, side }
  return undefined
}
function sell(
  ctx: Ctx,
  input: Liquidation,
  { pair, side }: Route,
  currency: string,
  amount: Amount,
): boolean {
  const { state, tx } = ctx
  const market = state.world.market(pair)
  const rounded =
    side === 'sell' ? ((amount - (amount % market.lot)) as Amount) : roundDown(amount, market.quotePrecision)
  if (rounded <= 0n) return false
  const isolated = input.scope !== UNIFIED.scope
  const order: NewOrder = {
    text: null,
    currency_pair: pair,
    type: 'market',
    account: isolated ? 'margin' : 'unified',
    side,
    amount: format(rounded),
    price: null,
    time_in_force: 'ioc',
    iceberg: null,
    auto_borrow: null,
    auto_repay: null,
    stp_act: null,
    slippage: null,
    stop_profit: null,
    stop_loss: null,
  }
  const mark = tx.mark()
  try {
    const placed = placeOrder(
      ctx,
      input.user_id,
      order,
      `liquidation:${input.id}`,
      liquidationText(state, input),
    )
    if (placed.filled === 0n) {
      tx.rollback(mark)
      return false
    }
    const given = side === 'sell' ? placed.filled : placed.filled_total
    note(ctx, input, 'sold', currency, given, { order_id: placed.id, currency_pair: pair })
    fireTriggers(ctx, pair)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    return false
  }
}
function liquidationText(state: State, { user_id, scope }: Liquidation): string {
  if (scope !== UNIFIED.scope) return 'liquidate'
  return state.margin.modeOf(user_id) === 'portfolio' ? 'pm_liquidate' : 'comb_margin_liquidate'
}

const insurance = (book: LoanBook) =>
  ({ owner: PLATFORM, name: insuranceName(book.pair === '' ? 'unified' : 'margin') }) as const

/** No market takes the collateral: the insurance fund does, at index prices, and pays the debt with its own money. */
function takeOver(ctx: Ctx, input: Liquidation, book: LoanBook, figures: RiskFigures): void {
  const { state } = ctx
  const user = { owner: input.user_id, name: book.free }
  const debt = largestDebt(figures)!
  const { currency: owedCurrency, price: owedPrice } = debt.asset
  const { precision: owedPrecision } = state.world.currency(owedCurrency)
  const ref = `liquidation:${input.id}`
  for (const { asset } of collateral(figures)) {
    const { precision } = state.world.currency(asset.currency)
    const owed = totalOwed(state, input.user_id, book, owedCurrency)
    if (owed === 0n) return
    const needed = roundUp(overUp(timesUp(owed, owedPrice), asset.price), precision)
    const taken = min(asset.available, needed)
    const worth = roundDown(overDown(timesDown(taken, asset.price), owedPrice), owedPrecision)
    const paid = taken === needed ? owed : min(owed, worth)
    const interest = min(paid, owedOf(state, input.user_id, book, owedCurrency).interest)
    const lines = move(user, insurance(book), asset.currency, taken)
    const pays = settleLines(
      state,
      insurance(book),
      input.user_id,
      book,
      owedCurrency,
      (paid - interest) as Amount,
      interest,
    )
    state.ledger.post(ctx, { kind: 'liquidation', ref, lines })
    if (pays.length > 0) state.ledger.post(ctx, { kind: 'liquidation', ref, lines: pays })
    closeIfPaid(ctx, input.user_id, book, owedCurrency)
    note(ctx, input, 'taken_over', asset.currency, taken, { repaid: format(paid), currency: owedCurrency })
  }
}

/** Nothing is left to sell: the insurance fund pays as far as it goes, the lenders bear the rest together. */
function coverShortfall(ctx: Ctx, input: Liquidation, book: LoanBook): void {
  const { state } = ctx
  const ref = `liquidation:${input.id}`
  for (const { scope, currency } of state.margin.loansOf(input.user_id)) {
    if (scope !== input.scope) continue
    const fund = insurance(book)
    const owed = owedOf(state, input.user_id, book, currency)
    const has = max(ZERO, state.ledger.balance(fund.owner, fund.name, currency))
    const interest = min(has, owed.interest)
    const principal = min((has - interest) as Amount, owed.principal)
    const lines = settleLines(state, fund, input.user_id, book, currency, principal, interest)
    if (lines.length > 0) {
      state.ledger.post(ctx, { kind: 'liquidation', ref, lines })
      note(ctx, input, 'insured', currency, add(principal, interest))
    }
    const left = owedOf(state, input.user_id, book, currency)
    const written = writeOffLines(input.user_id, book, currency, left.principal, left.interest)
    if (written.length > 0) {
      state.ledger.post(ctx, { kind: 'liquidation', ref, lines: written })
      note(ctx, input, 'socialised', currency, add(left.principal, left.interest))
    }
    closeIfPaid(ctx, input.user_id, book, currency)
  }
}
