import assert from 'node:assert/strict'
import { test } from 'node:test'
import { State } from '../../src/core/state.ts'
import { ContractAccountRow, contractAccountId } from '../../src/core/tables/futures/accounts.ts'
import { PositionRow, positionId, type PositionMode } from '../../src/core/tables/futures/positions.ts'
import { ContractPriceRow } from '../../src/core/tables/futures/prices.ts'
import type { Loan } from '../../src/core/tables/unified/records.ts'
import { Tx, type Table } from '../../src/machine/table.ts'
import { ZERO, type Amount, type Price, type Rate } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'

const USERS = [10_001, 10_002, 10_003]
const ACCOUNTS = ['futures/usdt', 'futures/btc']
const CONTRACTS = ['futures/usdt/BTC_USDT', 'futures/usdt/ETH_USDT', 'futures/btc/BTC_USD']
const MODES: readonly PositionMode[] = ['single', 'dual_long', 'dual_short']
const NO_RATE = 0n as Rate

const account = (user_id: number, of: string, amount: Amount): ContractAccountRow =>
  new ContractAccountRow({
    id: contractAccountId(user_id, of),
    user_id,
    account: of,
    dual: false,
    liquidating: 0,
    dnw: amount,
    pnl: ZERO,
    fee: ZERO,
    fund: ZERO,
    point_dnw: ZERO,
    point_fee: ZERO,
    borrowed: ZERO,
    create_at: 1,
    update_at: 1,
    update_id: 1,
  })
const position = (user_id: number, contract: string, mode: PositionMode, size: Amount): PositionRow =>
  new PositionRow({
    id: positionId(user_id, contract, mode),
    user_id,
    contract,
    mode,
    size,
    cost: size,
    margin: ZERO,
    leverage: NO_RATE,
    cross_limit: NO_RATE,
    isolated_leverage: NO_RATE,
    risk_limit: ZERO,
    liquidating: 0,
    funded: ZERO,
    pnl: ZERO,
    fee: ZERO,
    fund: ZERO,
    point_fee: ZERO,
    history_pnl: ZERO,
    history_point: ZERO,
    last_close_pnl: ZERO,
    max_size: ZERO,
    opened: ZERO,
    opened_value: ZERO,
    closed: ZERO,
    closed_value: ZERO,
    open_at: 0,
    update_at: 1,
    update_id: 1,
  })
const price = (id: string, mark: Price): ContractPriceRow =>
  new ContractPriceRow({
    id,
    index: mark,
    mark,
    steps: [],
    funding_rate: NO_RATE,
    premiums: 0,
    weighted: ZERO,
    funding_sum: ZERO,
    next_funding: 0,
    minute: 0,
    settle_sum: ZERO,
    settle_count: 0,
    at: 1,
  })
const loan = (user_id: number, currency: string): Loan => ({
  user_id,
  scope: 'unified',
  currency,
  create_at: 1,
  update_at: 1,
})

test('what is remembered of rows is what their tables hold, whatever was changed, taken back or let go in between', () => {
  const { futures, margin } = new State()
  const draw = random(7)
  const one = <T>(of: readonly T[]): T => of[draw(of.length)]!
  const amount = (): Amount => BigInt(draw(5)) as Amount
  const find = <Row extends object>(table: Table<Row>, is: (row: Row) => boolean): Row | undefined =>
    [...table.values()].find(is)
  const change = (tx: Tx): void => {
    const user = one(USERS)
    const kind = draw(8)
    if (kind < 2) tx.put(futures.accounts.table, account(user, one(ACCOUNTS), amount()))
    else if (kind < 4) tx.put(futures.positions.table, position(user, one(CONTRACTS), one(MODES), amount()))
    else if (kind < 6) tx.put(futures.prices, price(one(CONTRACTS), amount() as bigint as Price))
    else if (kind < 7) tx.put(margin.loans, loan(user, one(['BTC', 'USDT'])))
    else {
      const row = one([...margin.loans.values(), undefined])
      if (row !== undefined) tx.remove(margin.loans, margin.loans.keyOf(row))
    }
  }
  const compare = (): void => {
    const [user, of, contract, mode] = [one(USERS), one(ACCOUNTS), one(CONTRACTS), one(MODES)]
    const isAccount = (row: { user_id: number; account: string }): boolean =>
      row.user_id === user && row.account === of
    assert.equal(futures.accounts.get(user, of), find(futures.accounts.table, isAccount))
    const held = find(
      futures.positions.table,
      (row) => row.user_id === user && row.contract === contract && row.mode === mode,
    )
    assert.equal(futures.positions.get(user, contract, mode), held)
    const kept = find(futures.prices, ({ id }) => id === contract)
    assert.equal(futures.priceOf(contract), kept)
    assert.equal(futures.markOf(contract), kept?.mark ?? 0n)
    const owed = [...margin.loans.values()].filter(({ user_id }) => user_id === user)
    assert.equal(margin.owes(user), owed.length > 0)
  }
  const tables: readonly Table<object>[] = [
    futures.accounts.table,
    futures.positions.table,
    futures.prices,
    margin.loans,
  ] as never
  for (let command = 0; command < 3_000; command++) {
    const tx = new Tx()
    for (let i = draw(6); i > 0; i--) {
      compare()
      change(tx)
      compare()
    }
    if (draw(3) === 0) tx.rollback()
    compare()
    // A reset.
    if (draw(200) === 0) for (const table of tables) table.clear()
    compare()
  }
})
