import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SPOT_TRADE, Trades, type Trade } from '../../src/core/tables/exchange/trades.ts'
import { Tx } from '../../src/machine/table.ts'
import type { Amount, Price } from '../../src/money/amount.ts'

const trade = (id: number, pair: string): Trade => ({
  id,
  pair,
  sequence: id,
  side: 'buy',
  price: 1n as Price,
  amount: 1n as Amount,
  at: id,
})

test('a quiet market keeps its newest trades while 50,000 trades elsewhere push them out of the table', () => {
  const trades = new Trades(SPOT_TRADE)
  const run = (id: number, pair: string): void => {
    new Tx().put(trades.table, trade(id, pair))
    trades.table.retire([id], () => false)
  }
  for (let id = 1; id <= 3; id++) run(id, 'QUIET_USDT')
  for (let id = 4; id <= 50_000; id++) run(id, 'BUSY_USDT')
  assert.equal(trades.table.get(3), undefined, 'it has left the table’s memory')
  assert.deepEqual(
    trades.of('QUIET_USDT').map(({ id }) => id),
    [1, 2, 3],
  )
  assert.equal(trades.covers('QUIET_USDT', 0), true)
})
test('a trade that is taken back leaves the list; one that is forgotten and comes back stands where it stood', () => {
  const trades = new Trades(SPOT_TRADE)
  const first = new Tx()
  first.put(trades.table, trade(1, 'A_USDT'))
  first.put(trades.table, trade(2, 'A_USDT'))
  const ids = (): number[] => trades.of('A_USDT').map(({ id }) => id)
  const second = new Tx()
  second.put(trades.table, trade(3, 'A_USDT'))
  second.rollback()
  assert.deepEqual(ids(), [1, 2])
  const third = new Tx()
  third.remove(trades.table, 1)
  assert.deepEqual(ids(), [2])
  third.rollback()
  assert.deepEqual(ids(), [1, 2])
})
