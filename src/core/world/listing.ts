import { secondsOf } from '../time.ts'
import { notFound, refuse } from '../../labels.ts'
import { negate } from '../../money/amount.ts'
import { PLATFORM, marginName } from '../ledger/accounts.ts'
import { schedule } from '../due.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import { cancelOpen } from '../spot/cancel.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import { cancelPovOfMarket } from '../spot/pov.ts'
import { cancelWaiting } from '../spot/triggers.ts'
import type { Ctx, State } from '../state.ts'
import { bookTransfer } from '../wallet/transfers.ts'
import { accountRef } from '../wallet/accounts.ts'
import type { CurrencyChange, CurrencyStatus } from '../tables/world/chains.ts'
import { configurationFaults } from './change.ts'
import type { Market, MarketOverlay, MarketStatus } from '../tables/world/markets.ts'
import {
  CONTRACT_SETTING,
  CURRENCY_SETTING,
  HALT,
  MARKET_SETTING,
  checkWorld,
} from '../tables/world/world.ts'
import type { WorldConfig } from '../tables/world/config.ts'

/**
 * Halting and delisting, in steps that each can be undone until the last: a market is halted, then delisted (its orders
 * end, in portions), then gone; a currency may only be withdrawn when all its markets are that far, then it is gone.
 * What belongs to somebody is in the way of the last step, always.
 */
const PORTION = 100
/** Accounts that one command looks at for money in a market's margin accounts. */
const ACCOUNTS = 500
const WHY = 'its market is being delisted'

export function setMarketStatus(
  ctx: Ctx,
  input: { currency_pair: string; status: MarketStatus; reason: string; actor: Actor },
): Market['config'] {
  const { state } = ctx
  const { id, before } = findListed(state, input.currency_pair)
  const { status } = input
  const config = state.world.configured!.markets.find((market) => market.id === id)!
  for (const currency of [config.base, config.quote])
    if (status !== 'delisting' && state.world.isLeaving(currency))
      refuse('TRADE_RESTRICTED', `currency_pair: ${id} stays delisted while ${currency} is withdraw_only`)
  layStatus(ctx, id, status)
  audit(ctx, input.actor, 'market.status', { currency_pair: id, before, status, reason: input.reason })
  if (status === 'delisting') planCancel(ctx, id)
  if (status === 'trading') lookAgain(ctx, id)
  return state.world.market(id).config
}
/** A market of the file, also one that a call has hidden. */
function findListed(state: State, name: string): { id: string; before: string } {
  const { world } = state
  const id = world.configured?.markets.find((market) => market.id === name.toUpperCase())?.id
  if (id === undefined) return { id: world.market(name, 'path').id, before: 'trading' }
  return { id, before: world.findMarket(id)?.config.status ?? (world.findMarket(id) ? 'trading' : 'gone') }
}
function layStatus({ state, tx }: Ctx, id: string, status: MarketOverlay['status']): void {
  const name = MARKET_SETTING + id
  const before = state.world.settings.get(name)?.value as MarketOverlay | undefined
  tx.put(state.world.settings, { name, value: { ...before, status } })
}
/** What the last price had reached when the market stopped fires now, as a command of its own. */
function lookAgain(ctx: Ctx, currency_pair: string): void {
  schedule(ctx, ctx.at, 'spot.price_order.fire', { currency_pair })
}
const planCancel = (ctx: Ctx, currency_pair: string): number =>
  schedule(ctx, ctx.at, 'market.cancel_rest', { currency_pair, after: 0 })

/** All markets at once; each keeps the status that it has of its own. */
export function haltMarkets(ctx: Ctx, input: { halted: boolean; reason: string; actor: string }): null {
  const { state, tx, at } = ctx
  const before = state.world.halt
  audit(ctx, input.actor, input.halted ? 'markets.halt' : 'markets.resume', { reason: input.reason })
  if (input.halted && before === undefined)
    tx.put(state.world.settings, {
      name: HALT,
      value: { by: input.actor, at: secondsOf(at), reason: input.reason },
    })
  if (input.halted || before === undefined) return null
  tx.remove(state.world.settings, HALT)
  for (const { id, halted } of state.world.allMarkets) if (!halted) lookAgain(ctx, id)
  return null
}

/**
 * Due: one portion of what ends with a market. Orders first, because one that was filled in part leaves its stops
 * behind; then what waits for a price, POV orders and countdowns; then money in margin accounts without a loan goes to
 * their owners' spot accounts. Stopped in the middle, it goes on; a market that trades again is left alone.
 */
export function cancelMarketRest(ctx: Ctx, input: { currency_pair: string; after: number }): null {
  const { state } = ctx
  const market = state.world.findMarket(input.currency_pair)
  if (market?.config.status !== 'delisting') return null
  const again = (after: number): null => {
    schedule(ctx, ctx.at, 'market.cancel_rest', { currency_pair: market.id, after })
    return null
  }
  if (input.after > 0) {
    const next = emptyMargin(ctx, market, input.after)
    return next === undefined ? null : again(next)
  }
  if (cancelSome(ctx, market.id) > 0) return again(0)
  for (const { id, pair } of [...state.spot.countdowns.table.values()])
    if (pair === market.id) ctx.tx.remove(state.spot.countdowns.table, id)
  return again(1)
}
function cancelSome(ctx: Ctx, pair: string): number {
  const orders: OrderRow[] = []
  const book = ctx.state.spot.book(pair)
  for (const side of ['buy', 'sell'] as const)
    for (const order of book.queue(side)) {
      if (orders.length === PORTION) break
      orders.push(order)
    }
  cancelOpen(ctx, orders)
  if (orders.length > 0) return orders.length
  return cancelWaiting(ctx, pair, PORTION, WHY) || cancelPovOfMarket(ctx, pair, PORTION, WHY)
}
/** From where to go on; undefined: all accounts were looked at. `from` is the first user id to look at. */
function emptyMargin(ctx: Ctx, market: Market, from: number): number | undefined {
  const { state } = ctx
  let looked = 0
  for (const userId of state.users.idsAfter(from - 1)) {
    if (looked++ === ACCOUNTS) return userId
    if (state.margin.owes(userId, market.id) || state.margin.isLocked(userId, market.id)) continue
    for (const { currency, amount } of [...state.ledger.named(userId, marginName(market.id))]) {
      if (amount <= 0n) continue
      const user = state.users.must(userId)
      const none = { currency_pair: market.id, settle: null }
      bookTransfer(ctx, {
        kind: 'own',
        by: user,
        from: { user, ref: accountRef(state.world, 'margin', currency, none) },
        to: { user, ref: accountRef(state.world, 'spot', currency, none) },
        currency,
        amount,
      })
    }
  }
  return undefined
}

/** The configuration without a market, as a file that has left it out. */
const withoutMarket = (config: WorldConfig, pair: string): WorldConfig => ({
  ...config,
  markets: config.markets.filter(({ id }) => id !== pair),
  unified: {
    ...config.unified,
    isolated: config.unified.isolated.filter(({ currency_pair }) => currency_pair !== pair),
  },
})
const withoutCurrency = (config: WorldConfig, name: string): WorldConfig => ({
  ...config,
  currencies: config.currencies.filter(({ currency }) => currency !== name),
  unified: {
    ...config.unified,
    currencies: config.unified.currencies.filter(({ currency }) => currency !== name),
  },
})
/** The configuration as operators' calls have left it: without what they have taken out already. */
function listed(state: State): WorldConfig {
  let config = state.world.configured!
  for (const { id } of config.markets)
    if (state.world.findMarket(id) === undefined) config = withoutMarket(config, id)
  for (const { currency } of config.currencies)
    if (state.world.findCurrency(currency) === undefined) config = withoutCurrency(config, currency)
  return config
}
/** What stands in the way of a market's, or a currency's, end; one line each, with what to do. */
function inTheWay(state: State, next: WorldConfig, closing?: string): string[] {
  const faults = configurationFaults(state, next, closing).map(({ text }) => text)
  try {
    checkWorld(next)
  } catch (error) {
    // A file that leaves both out is refused as long as the platform's own accounts hold some of the currency.
    faults.push(
      `${(error as Error).message}; that goes first: a market by its own call, all else by a file without it`,
    )
  }
  return faults
}
export function marketInTheWay(state: State, pair: string): string[] {
  const { id, config } = state.world.market(pair)
  const first =
    config.status === 'delisting'
      ? []
      : [`its status is ${config.status ?? 'trading'}; POST /operator/v1/markets/${id}/delist first`]
  return [...first, ...inTheWay(state, withoutMarket(listed(state), id)), ...ofAgents(state, id)]
}
/** The agents' own orders are no fault of a file, which cancels them; here they must have gone by themselves. */
function ofAgents(state: State, pair: string): string[] {
  const book = state.spot.book(pair)
  return book.facing('buy') === undefined && book.facing('sell') === undefined
    ? []
    : [`orders still wait on the book of ${pair}`]
}
export function currencyInTheWay(state: State, name: string): string[] {
  const { currency, status } = state.world.currency(name)
  const first =
    status === 'withdraw_only'
      ? []
      : [`its status is ${status ?? 'listed'}; POST /operator/v1/currencies/${currency}/delist first`]
  return [...first, ...inTheWay(state, withoutCurrency(listed(state), currency), currency)]
}

/** The last step by a call: hidden at once, while the file still has the row. */
export function removeMarket(ctx: Ctx, input: { currency_pair: string; actor: Actor }): null {
  const { state, tx } = ctx
  const { id } =
    state.world.findMarket(input.currency_pair) ??
    notFound('INVALID_CURRENCY_PAIR', `currency_pair: there is no market "${input.currency_pair}"`)
  refuseWhileInTheWay(id, marketInTheWay(state, id))
  if (state.agents.markets.get(id) !== undefined) tx.remove(state.agents.markets, id)
  layStatus(ctx, id, 'gone')
  audit(ctx, input.actor, 'market.remove', { currency_pair: id })
  return null
}
export function removeCurrency(ctx: Ctx, input: { currency: string; actor: Actor }): null {
  const { state } = ctx
  const { currency } =
    state.world.findCurrency(input.currency) ??
    notFound('INVALID_CURRENCY', `currency: "${input.currency}" is not a currency of this platform`)
  refuseWhileInTheWay(currency, currencyInTheWay(state, currency))
  closeOwn(ctx, currency)
  layCurrency(ctx, currency, 'gone')
  audit(ctx, input.actor, 'currency.remove', { currency })
  return null
}
/** Nobody else holds any of it, so that the platform's own accounts add up to zero: one entry closes them all. */
function closeOwn(ctx: Ctx, currency: string): void {
  const { ledger } = ctx.state
  const lines = [...ledger.ownedBy(PLATFORM)]
    .filter((account) => account.currency === currency && account.amount !== 0n)
    .map(({ owner, name, amount }) => ({ owner, name, currency, amount: negate(amount) }))
  if (lines.length > 0) ledger.post(ctx, { kind: 'delisted', ref: `currency:${currency}`, lines })
}
function refuseWhileInTheWay(name: string, faults: readonly string[]): void {
  const [first, ...more] = faults
  if (first !== undefined)
    refuse(
      'INVALID_PARAM_VALUE',
      `${name} can't go yet: ${first}${more.length === 0 ? '' : `; and ${more.length} more`}`,
    )
}
function layCurrency({ state, tx }: Ctx, currency: string, status: CurrencyChange['status']): void {
  const name = CURRENCY_SETTING + currency
  const before = state.world.settings.get(name)?.value as CurrencyChange | undefined
  tx.put(state.world.settings, { name, value: { ...before, status } })
}

/** withdraw_only: closed for deposits, trade and loans, and for all transfers but those that repay. */
export function setCurrencyStatus(
  ctx: Ctx,
  input: { currency: string; status: CurrencyStatus; reason: string; actor: Actor },
): null {
  const { state } = ctx
  const { world } = state
  const config =
    world.configured?.currencies.find(({ currency }) => currency === input.currency.toUpperCase()) ??
    notFound('INVALID_CURRENCY', `currency: "${input.currency}" is not a currency of this platform`)
  const { currency } = config
  if (input.status === 'withdraw_only') {
    if (currency === 'USDT')
      refuse('INVALID_PARAM_VALUE', 'currency: USDT is what prices are counted in; it stays')
    const open = world.allMarkets.find(
      ({ base, quote, config }) => (base === currency || quote === currency) && config.status !== 'delisting',
    )
    if (open !== undefined)
      refuse(
        'INVALID_PARAM_VALUE',
        `currency: ${open.id} is not delisted; POST /operator/v1/markets/${open.id}/delist first`,
      )
    const contract = world.allContracts.find(
      ({ base, currency: settle }) => base === currency || settle === currency,
    )
    if (contract !== undefined)
      refuse(
        'INVALID_PARAM_VALUE',
        `currency: the contract ${contract.id} needs it; PATCH /operator/v1/contracts/${contract.id} with a delisted_time first`,
      )
  }
  const before = world.findCurrency(currency)
  layCurrency(ctx, currency, input.status)
  audit(ctx, input.actor, 'currency.status', {
    currency,
    before: before === undefined ? 'gone' : (before.status ?? 'listed'),
    status: input.status,
    reason: input.reason,
  })
  return null
}

/** A file was taken in: what it delists loses its orders, and what it no longer has is no longer hidden by a call. */
export function followFile(ctx: Ctx): void {
  const { state, tx } = ctx
  const { world } = state
  const markets = new Set(world.configured!.markets.map(({ id }) => MARKET_SETTING + id))
  const currencies = new Set(world.configured!.currencies.map(({ currency }) => CURRENCY_SETTING + currency))
  const known = (name: string): boolean => {
    if (name.startsWith(MARKET_SETTING)) return markets.has(name)
    if (name.startsWith(CURRENCY_SETTING)) return currencies.has(name)
    return !name.startsWith(CONTRACT_SETTING) || inFile(world, name.slice(CONTRACT_SETTING.length))
  }
  for (const { name, value } of [...world.settings.values()]) {
    const kept = known(name)
    if (kept || (value as { status?: unknown }).status === undefined) continue
    const { status: _, ...rest } = value as Record<string, unknown>
    tx.put(world.settings, { name, value: rest })
  }
  for (const { id, config } of world.allMarkets) if (config.status === 'delisting') planCancel(ctx, id)
}
const inFile = ({ contracts }: State['world'], id: string): boolean => contracts.find(id) !== undefined
