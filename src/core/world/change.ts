import { PLATFORM, custodyOf, contractName, isOwn, marginName } from '../ledger/accounts.ts'
import { format, unitOf, type Amount } from '../../money/amount.ts'
import { AGENT_LOGINS } from '../tables/agents.ts'
import type { State } from '../state.ts'
import { contractFaults } from './contract-change.ts'
import { completeMarket, type MarketConfig } from '../tables/world/markets.ts'
import type { WorldConfig } from '../tables/world/config.ts'

/** What a new configuration would take away from rows that still need it: the reason, and whose market it is. */
export interface Fault {
  readonly text: string
  /** Set where cancelling the orders of this market, or contract (group/settle/name), would mend it. */
  readonly pair?: string
  readonly contract?: string
}
/** What KONTOR_CANCEL_ORDERS must name for it; undefined: no cancelling helps. */
const mendedBy = ({ pair, contract }: Fault): string | undefined => pair ?? contract
export const isMended = (fault: Fault, cancelOrders: readonly string[]): boolean => {
  const name = mendedBy(fault)
  return name !== undefined && cancelOrders.includes(name)
}

/**
 * Compares a configuration with the live rows before it is taken in. What they need can't be dropped or rescaled in
 * place: a market with orders, a contract with positions, a currency with balances, a chain with coins. Orders of the market agents do not
 * count: they are the platform's own, and go with their market. Nor does the platform's own money in a currency that
 * is `closing`: whoever closes it closes these accounts.
 */
export function configurationFaults(state: State, next: WorldConfig, closing?: string): Fault[] {
  const { configured } = state.world
  if (configured === undefined || JSON.stringify(configured) === JSON.stringify(next)) return []
  return [
    ...marketFaults(state, next),
    ...contractFaults(state, next, agentIds(state)),
    ...currencyFaults(state, next, closing),
    ...chainFaults(state, next),
    ...lendingFaults(state, next),
  ]
}

const decimalsFit = (amount: bigint, decimals: number): boolean => amount % unitOf(decimals) === 0n

function marketFaults(state: State, next: WorldConfig): Fault[] {
  const after = new Map(next.markets.map((market) => [market.id, completeMarket(market)]))
  const agents = agentIds(state)
  const waiting = new Map<string, number>()
  const count = (pair: string): void => void waiting.set(pair, (waiting.get(pair) ?? 0) + 1)
  for (const order of state.spot.orders.values()) {
    if (order.status !== 'open' || agents.has(order.user_id)) continue
    const { pair, price, amount, left, iceberg } = order
    // A market buy counts in the quote currency, and never rests.
    if (!fits(after.get(pair), [price], [amount, left, iceberg])) count(pair)
  }
  for (const order of state.spot.priceOrders.table.values())
    if (order.status === 'open' && !fits(after.get(order.pair), [order.trigger_price], [])) count(order.pair)
  for (const order of state.spot.povOrders.table.values())
    if (order.status === 'open' && !fits(after.get(order.pair), [order.bound], [order.amount, order.left]))
      count(order.pair)
  return [...waiting].sort().map(([pair, orders]) => {
    const market = after.get(pair)
    const what =
      market === undefined
        ? `${pair} is gone`
        : `${pair} has precision ${market.precision} and amount_precision ${market.amount_precision}`
    return {
      pair,
      text: `markets: ${what}, but ${orders} ${orders === 1 ? 'order waits' : 'orders wait'} there that ${market === undefined ? 'need it' : 'do not fit'}; leave it as it was, or start once with KONTOR_CANCEL_ORDERS=${pair}`,
    }
  })
}
function fits(
  market: MarketConfig | undefined,
  prices: readonly bigint[],
  amounts: readonly bigint[],
): boolean {
  return (
    market !== undefined &&
    prices.every((price) => decimalsFit(price, market.precision)) &&
    amounts.every((amount) => decimalsFit(amount, market.amount_precision))
  )
}
export function agentIds(state: State): ReadonlySet<number> {
  const ids = AGENT_LOGINS.map((login) => state.users.byLogin.get(login)?.user_id)
  return new Set(ids.filter((id) => id !== undefined))
}

function currencyFaults(state: State, next: WorldConfig, closing: string | undefined): Fault[] {
  const precisions = new Map(next.currencies.map(({ currency, precision }) => [currency, precision]))
  const coarser = (currency: string, precision: number): boolean =>
    precision < (state.world.findCurrency(currency)?.precision ?? 0)
  const pairs = new Set<string>(next.markets.map(({ id }) => marginName(id)))
  const settles = new Set<string>([
    ...next.settle.futures.map((settle) => contractName('futures', settle)),
    ...next.settle.delivery.map((settle) => contractName('delivery', settle)),
  ])
  const faults = new Map<string, Fault>()
  for (const { owner, name, currency, amount } of state.ledger.accounts.values()) {
    if (amount === 0n || (currency === closing && isOwn(owner, name))) continue
    // A user's money is told before the platform's.
    const told = (subject: string, text: string): void => {
      if (owner !== 0 || !faults.has(subject)) faults.set(subject, { text })
    }
    const holder = `${owner === 0 ? 'the platform' : `user ${owner}`} holds ${format(amount)} ${currency} in ${name}`
    const precision = precisions.get(currency)
    if (precision === undefined)
      told(
        currency,
        `currencies: ${currency} is gone, but ${holder}; leave it, with "status": "withdraw_only"`,
      )
    // What chains take and give is finer than what users have.
    else if (owner !== 0 && coarser(currency, precision) && !decimalsFit(amount, precision))
      told(currency, `currencies: ${currency} has precision ${precision}, but ${holder}; leave it as it was`)
    const [base] = name.split('.') as [string]
    if (base.startsWith('margin:') && !pairs.has(base))
      told(
        base,
        `markets: ${base.slice('margin:'.length)} is gone, but ${holder}; leave it, with "status": "delisting"`,
      )
    if (/^(futures|delivery):/.test(base) && !settles.has(base))
      told(base, `settle: ${base} is gone, but ${holder}; leave it`)
  }
  return [...faults.values()]
}

function chainFaults(state: State, next: WorldConfig): Fault[] {
  const faults = new Map<string, Fault>()
  const kinds = new Map(next.chains.map(({ chain, kind }) => [chain, kind]))
  const carried = new Set(
    next.currencies.flatMap(({ currency, chains }) => chains.map(({ chain }) => `${currency} on ${chain}`)),
  )
  const { wallet, ledger, world } = state
  const told = (subject: string, text: string): void => void faults.set(subject, { text })
  for (const { chain, kind } of world.allChains) {
    const now = kinds.get(chain)
    if (now === kind) continue
    const what = now === undefined ? `chains: ${chain} is gone` : `chains: ${chain} is ${now}, not ${kind}`
    for (const { currency, amount } of ledger.named(PLATFORM, custodyOf(chain).name))
      if (amount !== 0n)
        told(
          chain,
          `${what}, but ${format(-amount as Amount)} ${currency} are in custody there; leave it, paused`,
        )
    const busy = wallet.withdrawals.unsettled(chain).length
    if (busy > 0) told(chain, `${what}, but ${busy} withdrawals are under way there; leave it`)
  }
  for (const { currency, chain, final } of [
    ...wallet.withdrawals.table.values(),
    ...wallet.deposits.table.values(),
  ])
    if (!final && !carried.has(`${currency} on ${chain}`))
      told(
        `${currency} on ${chain}`,
        `currencies: ${currency} is no longer on ${chain}, but deposits or withdrawals of it are under way there; leave it, switched off`,
      )
  return [...faults.values()]
}

function lendingFaults(state: State, next: WorldConfig): Fault[] {
  const lent = new Set(next.unified.currencies.map(({ currency }) => currency))
  const isolated = new Set(next.unified.isolated.map(({ currency_pair }) => currency_pair))
  const faults = new Map<string, Fault>()
  for (const { user_id, scope, currency } of state.margin.loans.values()) {
    if (!lent.has(currency))
      faults.set(currency, {
        text: `unified.currencies: ${currency} is gone, but user ${user_id} owes it; leave it`,
      })
    if (scope.includes('_') && !isolated.has(scope))
      faults.set(scope, {
        text: `unified.isolated: ${scope} is gone, but user ${user_id} has a loan there; leave it`,
      })
  }
  return [...faults.values()]
}
