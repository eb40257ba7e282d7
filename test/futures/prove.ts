import assert from 'node:assert/strict'
import { orderMarginIn } from '../../src/core/futures/figures.ts'
import type { AccountName } from '../../src/core/ledger/accounts.ts'
import type { State } from '../../src/core/state.ts'
import type { OrderRow } from '../../src/core/tables/exchange/order.ts'
import type { Position } from '../../src/core/tables/futures/positions.ts'
import type { Contract } from '../../src/core/tables/world/contracts.ts'
import { BUILT_IN_UNIFIED } from '../../src/core/world/built-in-unified.ts'
import { amountOf } from '../../src/money/amount.ts'

/**
 * What must be true of contracts after every command, counted anew from rows by plain loops: nothing here uses the
 * engine's own sums or its arithmetic, but for the one figure that is compared with it.
 */
const ONE = 10n ** 18n
const up = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
const size = (value: bigint): bigint => (value < 0n ? -value : value)
const USER_CASH = /^(futures|delivery):/
const USER_DEBT = /^debt\.(futures|delivery):/

export interface Settled {
  /** All that is due by now has been done: nobody may be at or below what he must have. */
  readonly quiet: boolean
  /** Spot accounts, as `owner name currency`, that are below zero because a chain took a deposit back. */
  readonly owing?: ReadonlySet<string>
}
const NOBODY: ReadonlySet<string> = new Set()
export function prove(state: State, { quiet, owing = NOBODY }: Settled): void {
  proveSizes(state)
  proveLedger(state, quiet, owing)
  proveReducing(state)
  proveOrderMargins(state)
  proveBorrowed(state)
  if (quiet) proveUnits(state)
}

const clearingName = ({ group, settle, name }: Contract): string => `${group}.clearing:${settle}.${name}`
function proveSizes(state: State): void {
  const sums = new Map<string, { size: bigint; cost: bigint }>()
  for (const row of state.futures.positions.table.values()) {
    const sum = sums.get(row.contract) ?? { size: 0n, cost: 0n }
    sums.set(row.contract, { size: sum.size + row.size, cost: sum.cost + row.cost })
    assert.ok(row.size !== 0n || (row.cost === 0n && row.margin === 0n), `${row.id} is empty, and has a cost`)
    assert.ok(row.size === 0n || row.size > 0n === row.cost > 0n, `${row.id}: its cost has another sign`)
  }
  for (const contract of state.world.allContracts) {
    const { size: sum, cost } = sums.get(contract.id) ?? { size: 0n, cost: 0n }
    assert.equal(sum, 0n, `sizes of ${contract.id}`)
    const carried = [...state.ledger.accounts.values()]
      .filter(({ owner, name }) => owner === 0 && name === clearingName(contract))
      .reduce((total, { amount }) => total + amount, 0n)
    assert.equal(carried, contract.terms.kind === 'inverse' ? cost : -cost, `clearing of ${contract.id}`)
  }
}
function proveLedger(state: State, quiet: boolean, owing: ReadonlySet<string>): void {
  const currencies = new Map<string, bigint>()
  for (const { owner, name, currency, amount } of state.ledger.accounts.values()) {
    currencies.set(currency, (currencies.get(currency) ?? 0n) + amount)
    const told = `${owner} ${name} ${currency}: ${amount}`
    if (owner !== 0 && (USER_CASH.test(name) || name === 'spot'))
      assert.ok(amount >= 0n || owing.has(`${owner} ${name} ${currency}`), told)
    if (owner !== 0 && name === 'futures:usdt' && isUnified(state, owner)) assert.equal(amount, 0n, told)
    if (owner !== 0 && USER_DEBT.test(name)) {
      assert.ok(amount <= 0n, told)
      if (quiet && !isShared(state, owner, name.slice(5).replace(':', '/'))) {
        const cash = isUnified(state, owner) ? state.ledger.balance(owner, 'spot', currency) : 0n
        const covers = larger(crossProfit(state, owner, name.slice(5)) + cash, 0n)
        assert.ok(-amount <= covers, `not covered: ${told}`)
      }
    }
    if (owner === 0 && /^(futures\.rounding|insurance:futures)/.test(name)) assert.ok(amount >= 0n, told)
    if (quiet && owner === 0 && name.startsWith('futures.funding')) assert.equal(amount, 0n, told)
  }
  for (const [currency, sum] of currencies) assert.equal(sum, 0n, currency)
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
/** Whether its usdt contracts are part of a unified account, and whether all currencies carry them there. */
function isUnified(state: State, user: number): boolean {
  const { mode, settings } = state.margin.of(user)
  return (
    mode === 'single_currency' ||
    mode === 'portfolio' ||
    (mode === 'multi_currency' && settings.usdt_futures === true)
  )
}
const isShared = (state: State, user: number, account: string): boolean =>
  account === 'futures/usdt' && isUnified(state, user) && state.margin.of(user).mode !== 'single_currency'
function proveBorrowed(state: State): void {
  for (const { user_id, account, borrowed } of state.futures.accounts.table.values()) {
    if (account !== 'futures/usdt') continue
    const owed = -state.ledger.balance(user_id, 'debt.unified', 'USDT')
    assert.ok(borrowed >= 0n && borrowed <= owed, `${user_id}: ${borrowed} of a loan of ${owed}`)
  }
}

/** Value at a price, as a fraction of two integers. */
function valueOf({ terms }: Contract, contracts: bigint, price: bigint): [bigint, bigint] {
  return terms.kind === 'linear' ? [contracts * terms.q * price, ONE] : [contracts * ONE * ONE, price]
}
/** Rounded down: what is owned is never told too high. */
function profit(state: State, row: Position): bigint {
  const contract = state.world.mustContract(row.contract)
  const [over, under] = valueOf(contract, row.size / ONE, state.futures.markOf(row.contract))
  const [gain, by] =
    contract.terms.kind === 'linear' ? [over - row.cost * under, under] : [row.cost * under - over, under]
  return gain >= 0n ? gain / by : -up(-gain, by)
}
function crossProfit(state: State, user: number, name: string): bigint {
  let sum = 0n
  for (const row of state.futures.positions.table.values())
    if (row.user_id === user && row.leverage === 0n && row.contract.startsWith(`${name.replace(':', '/')}/`))
      sum += profit(state, row)
  return sum
}

function openOf(state: State): Map<string, OrderRow[]> {
  const open = new Map<string, OrderRow[]>()
  for (const order of state.futures.orders.values())
    if (order.status === 'open') {
      const key = `${order.user_id} ${order.pair}`
      open.set(key, [...(open.get(key) ?? []), order])
    }
  return open
}
const isDual = (state: State, user: number, { account }: Contract): boolean =>
  [...state.futures.accounts.table.values()].some(
    (row) => row.user_id === user && row.account === account && row.dual,
  )
const rowOf = (state: State, user: number, contract: string, mode: string): Position | undefined =>
  state.futures.positions.table.get(`${user}/${contract}/${mode}`)

function proveReducing(state: State): void {
  for (const [key, orders] of openOf(state))
    for (const side of ['buy', 'sell'] as const) {
      const [user, id] = key.split(' ') as [string, string]
      const left = orders
        .filter((order) => order.side === side && order.more?.reduce_only === true)
        .reduce((sum, order) => sum + order.left, 0n)
      if (left === 0n) continue
      const dual = isDual(state, Number(user), state.world.mustContract(id))
      const mode = dual ? (side === 'buy' ? 'dual_short' : 'dual_long') : 'single'
      const held = rowOf(state, Number(user), id, mode)?.size ?? 0n
      const most = side === 'sell' ? held : -held
      assert.ok(left <= larger(most, 0n), `orders of ${key} that only reduce: ${left} of ${most}`)
    }
}

function proveOrderMargins(state: State): void {
  for (const [key, orders] of openOf(state)) {
    const [user, id] = key.split(' ') as [string, string]
    const contract = state.world.mustContract(id)
    assert.equal(
      orderMarginIn(state, Number(user), contract),
      marginOf(state, Number(user), contract, orders),
      `order margin of ${key}`,
    )
  }
}
function marginOf(state: State, user: number, contract: Contract, orders: readonly OrderRow[]): bigint {
  const dual = isDual(state, user, contract)
  const long = rowOf(state, user, contract.id, dual ? 'dual_long' : 'single')
  const sides = (['buy', 'sell'] as const).map((side) => {
    const row = dual && side === 'sell' ? rowOf(state, user, contract.id, 'dual_short') : long
    const leverage =
      row === undefined ? contract.crossDefault : row.leverage === 0n ? row.cross_limit : row.leverage
    const against =
      row !== undefined && !dual && row.size > 0n === (side === 'sell') ? size(row.size) / ONE : 0n
    // One contract's price after the other: the best one first, then the oldest.
    const queue = orders
      .filter((order) => order.side === side && order.more?.reduce_only !== true)
      .sort((a, b) => (a.price === b.price ? a.id - b.id : a.price < b.price === (side === 'sell') ? -1 : 1))
    let closes = against
    let sum = 0n
    for (const { left, price } of queue) {
      const contracts = left / ONE
      const opening = contracts > closes ? contracts - closes : 0n
      closes = contracts > closes ? 0n : closes - contracts
      if (opening === 0n) continue
      const value = up(...valueOf(contract, opening, price))
      const atMark = up(...valueOf(contract, opening, state.futures.markOf(contract.id)))
      const buys = side === 'buy'
      const loses = buys === (contract.terms.kind === 'linear') ? value - atMark : atMark - value
      // What opening it costs the account, and what closing it may cost anybody.
      const fees = up(value * takerRate(state, user, contract), ONE) + up(value * contract.terms.tf, ONE)
      sum += up(value * ONE, leverage) + fees + larger(loses, 0n)
    }
    return sum
  }) as [bigint, bigint]
  const apart = dual && long !== undefined && long.leverage !== 0n
  return apart ? sides[0] + sides[1] : larger(...sides)
}

/** What takers pay, by the tier of the main account; the contract's own rate is the most. */
const TAKERS = '5 5 5 4.8 4.8 4.5 4.2 3.75 3.5 3.2 3 2.8 2.6 2.4 2.2 2 1.8'
  .split(' ')
  .map((rate) => amountOf(rate) / 10_000n)
function takerRate(state: State, user: number, { terms }: Contract): bigint {
  const { parent_id, vip } = state.users.must(user)
  const rate = TAKERS[parent_id === 0 ? vip : state.users.must(parent_id).vip]!
  return rate < terms.tf ? rate : terms.tf
}
function maintenance({ terms }: Contract, value: bigint): bigint {
  if (value === 0n) return 0n
  let sum = up(value * terms.tf, ONE)
  // Slice by slice, as the tiers are meant.
  let below = 0n
  for (const [i, { limit, maintenance: rate }] of terms.tiers.entries()) {
    const last = i === terms.tiers.length - 1
    const part = (last || value < limit ? value : limit) - below
    if (part > 0n) sum += (part * rate) / ONE
    below = limit
  }
  return sum
}
/** Nobody is at or below his maintenance margin, and nobody is still being liquidated. Rounding apart. */
const NEAR = 1_000_000n
function proveUnits(state: State): void {
  interface Unit {
    user: number
    account: string
    rows: Position[]
    isolated: bigint
    pledged: bigint
  }
  const cross = new Map<string, Unit>()
  for (const row of state.futures.positions.table.values()) {
    if (row.size === 0n || row.user_id === 0) continue
    const contract = state.world.mustContract(row.contract)
    const { account } = contract
    const key = `${row.user_id} ${account}`
    const unit = cross.get(key) ?? { user: row.user_id, account, rows: [], isolated: 0n, pledged: 0n }
    cross.set(key, unit)
    if (row.leverage === 0n) unit.rows.push(row)
    else {
      unit.isolated += row.margin
      if (row.margin > 0n) unit.pledged += row.margin
      assert.equal(row.liquidating, 0, `${row.id} is still being liquidated`)
      if (row.mode !== 'single') continue
      const value = up(...valueOf(contract, size(row.size) / ONE, state.futures.markOf(contract.id)))
      const equity = row.margin + profit(state, row)
      assert.ok(equity + NEAR > maintenance(contract, value), `${row.id} has ${equity}, and stays`)
    }
  }
  for (const { user, account, rows, isolated, pledged } of cross.values()) {
    // Where losses are lent, what isolated positions stand on is there, whatever others have lost.
    if (isShared(state, user, account)) {
      const has = state.ledger.balance(user, 'spot', 'USDT')
      assert.ok(has >= pledged, `${user} has ${has} of ${pledged} for isolated positions`)
    }
    if (isShared(state, user, account)) {
      proveShared(state, user, rows, isolated)
      continue
    }
    if (rows.length === 0) continue
    const [group, settle] = account.split('/') as ['futures' | 'delivery', string]
    const currency = settle.toUpperCase()
    const cash =
      account === 'futures/usdt' && isUnified(state, user) ? 'spot' : (`${group}:${settle}` as const)
    let balance: bigint = state.ledger.balance(user, cash, currency) - isolated
    balance += state.ledger.balance(user, `debt.${group}:${settle}`, currency)
    for (const row of rows) balance += profit(state, row)
    const needs = crossNeeds(state, rows)
    const row = state.futures.accounts.get(user, account)
    assert.equal(row?.liquidating ?? 0, 0, `${user} ${account} is still being liquidated`)
    assert.ok(balance + NEAR > needs, `${user} ${account} has ${balance} of ${needs}, and stays`)
  }
}

/** By tiers; of two sides the smaller one costs only its closing. */
function crossNeeds(state: State, rows: readonly Position[]): bigint {
  let needs = 0n
  for (const id of new Set(rows.map(({ contract }) => contract))) {
    const contract = state.world.mustContract(id)
    const values = rows
      .filter((row) => row.contract === id)
      .map((row) => up(...valueOf(contract, size(row.size) / ONE, state.futures.markOf(id))))
    values.sort((a, b) => (a > b ? -1 : 1))
    needs += maintenance(contract, values[0]!) + up((values[1] ?? 0n) * contract.terms.tf, ONE)
  }
  return needs
}

const TABLES = BUILT_IN_UNIFIED.currencies
/** Each slice of an amount times its rate. */
function slices(
  amount: bigint,
  tiers: readonly { upper_limit: string }[],
  rateOf: (i: number) => string,
): bigint {
  let [sum, lower] = [0n, 0n]
  for (const [i, { upper_limit }] of tiers.entries()) {
    const open = upper_limit === '' || upper_limit === '+'
    const upper = open || amountOf(upper_limit) > amount ? amount : amountOf(upper_limit)
    if (upper > lower) sum += ((upper - lower) * amountOf(rateOf(i))) / ONE
    lower = upper
  }
  return sum
}
/** A unified account, from the ledger and the tables: what orders might lose is left out, and only makes it better. */
function proveShared(state: State, user: number, rows: readonly Position[], isolated: bigint): void {
  // Its liquidation waits for a buyer.
  if (state.margin.isLocked(user, 'unified')) return
  const held = (name: AccountName, currency: string): bigint => state.ledger.balance(user, name, currency)
  let [balance, needs] = [0n, 0n]
  const spot = new Map<string, bigint>()
  for (const { currency, discount_tiers, margin_tiers } of TABLES) {
    const price = state.prices.quote(currency).known
    let owed = -held('debt.unified', currency) - held('debt.interest.unified', currency)
    if (currency === 'USDT') owed -= held('debt.futures:usdt', 'USDT')
    let equity = held('spot', currency) + held('spot.locked', currency) - owed
    spot.set(currency, equity)
    if (currency === 'USDT') for (const row of rows) equity += profit(state, row)
    if (currency === 'USDT') equity -= isolated
    const counted = equity < 0n ? equity : slices(equity, discount_tiers, (i) => discount_tiers[i]!.discount)
    balance += (counted * price) / ONE
    needs += (slices(owed, margin_tiers, (i) => margin_tiers[i]!.margin_rate) * price) / ONE
  }
  const { mode, settings } = state.margin.of(user)
  if (mode === 'portfolio') {
    const deltas = new Map<string, bigint>()
    for (const { contract, size: contracts } of rows) {
      const { base, terms } = state.world.mustContract(contract)
      deltas.set(base, (deltas.get(base) ?? 0n) + (contracts / ONE) * terms.q)
    }
    for (const [base, delta] of deltas) {
      const has = settings.spot_hedge === true ? spot.get(base)! : 0n
      const against =
        has > 0n === delta < 0n && has !== 0n ? (size(has) < size(delta) ? size(has) : size(delta)) : 0n
      needs += ((size(delta) - against) * state.prices.quote(base).known * 15n) / (100n * ONE)
    }
  } else needs += crossNeeds(state, rows)
  assert.ok(balance + NEAR > needs, `${user} (${mode}) has ${balance} of ${needs}, and stays`)
}
