import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockedName, type AccountName } from '../../src/core/ledger/accounts.ts'
import { State } from '../../src/core/state.ts'
import { Tx } from '../../src/machine/table.ts'
import { PLAIN } from '../../src/core/spot/place.ts'
import { BrokenInvariant } from '../../src/labels.ts'
import { amountOf, type Amount } from '../../src/money/amount.ts'
import { Engine } from '../spot/engine.ts'

const lines = (owner: number, from: AccountName, to: AccountName, amount: string) => [
  { owner, name: from, currency: 'USDT', amount: -amountOf(amount) as Amount },
  { owner, name: to, currency: 'USDT', amount: amountOf(amount) },
]

test('an account that a rule fills before it takes from it never runs short: that is a bug, and no user’s 400', () => {
  const engine = new Engine()
  const user = engine.user({ USDT: '100' })
  const post = (owner: number, from: AccountName): void => {
    const entry = { kind: 'test', ref: 'test', lines: lines(owner, from, 'spot', '1') }
    engine.state.ledger.post({ tx: new Tx(), at: 1 }, entry)
  }
  for (const [owner, name] of [
    [user, 'spot.locked'],
    [0, 'withdrawal.in_flight'],
    [0, 'push.in_flight'],
    [0, 'insurance'],
    [0, 'insurance:margin'],
    [0, 'lending.pool'],
  ] as const)
    assert.throws(() => post(owner, name), BrokenInvariant, name)
})
test('money that is locked without a claim, or claimed without being locked, stops the platform', () => {
  const engine = new Engine()
  const user = engine.user({ USDT: '1000' })
  const entry = { kind: 'test', ref: 'test', lines: lines(user, 'spot', 'spot.locked', '5') }
  const tx = new Tx()
  engine.state.ledger.post({ tx, at: 1 }, entry)
  assert.throws(() => engine.state.check(), /what is locked in USDT is not what orders and withdrawals hold/)
  tx.rollback()
  engine.state.check()
  const order = {
    ...PLAIN,
    currency_pair: 'BTC_USDT',
    type: 'limit',
    side: 'buy',
    amount: '0.001',
    price: '50000',
    time_in_force: 'gtc',
  } as const
  const { id } = engine.must('spot.place', { user_id: user, order })
  const other = new Tx()
  const row = engine.state.spot.orders.get(id)!.copy()
  row.held = amountOf('1')
  other.put(engine.state.spot.orders, row)
  assert.throws(() => engine.state.check(), BrokenInvariant)
  other.rollback()
  engine.state.check()
})
test('nobody is owed by his own debt account', () => {
  const engine = new Engine()
  const user = engine.user({ USDT: '10' })
  const entry = { kind: 'test', ref: 'test', lines: lines(user, 'spot', 'debt.unified', '1') }
  assert.throws(() => engine.state.ledger.post({ tx: new Tx(), at: 1 }, entry), BrokenInvariant)
})
test('a ledger account that there is none of does not compile', () => {
  const { ledger } = new Engine().state
  // @ts-expect-error: it is spot
  assert.equal(ledger.balance(1, 'sopt', 'BTC'), 0n)
  // @ts-expect-error: it is spot.locked
  assert.equal(ledger.balance(1, 'spot.lockd', 'BTC'), 0n)
  // @ts-expect-error: what is no account of its own has no locked part
  assert.equal(ledger.balance(0, lockedName('equity'), 'BTC'), 0n)
  // @ts-expect-error: it is fees
  assert.throws(() => ledger.post({ tx: new Tx(), at: 1 }, { kind: 'x', ref: 'x', lines: [{ name: 'fee' }] }))
})
test('an account is found whether its owner has a few of them or many, while they come and are taken back', () => {
  const { state } = new Engine()
  const owner = 777_777
  const has = new Map<string, Amount>()
  const credit = (currency: string, amount: string): Tx => {
    const tx = new Tx()
    const money = amountOf(amount)
    const lines = [
      { owner: 0, name: 'equity', currency, amount: -money as Amount },
      { owner, name: 'spot', currency, amount: money },
    ] as const
    state.ledger.post({ tx, at: 1 }, { kind: 'test', ref: 'test', lines })
    has.set(currency, ((has.get(currency) ?? 0n) + money) as Amount)
    return tx
  }
  const look = (): void => {
    for (const [currency, amount] of has) assert.equal(state.ledger.balance(owner, 'spot', currency), amount)
    assert.equal([...state.ledger.ownedBy(owner)].length, has.size)
    assert.equal(state.ledger.find(owner, 'earn', 'C1'), undefined)
    state.ledger.check()
    // As a start finds them.
    const other = new State()
    for (const row of state.ledger.accounts.values()) other.ledger.accounts.swap(row.id, row, 'load')
    for (const [currency, amount] of has) assert.equal(other.ledger.balance(owner, 'spot', currency), amount)
  }
  // Across the bound, back, and across it again; each time one that was there before gets more.
  for (let turn = 0; turn < 3; turn++) {
    const made: Tx[] = []
    for (let i = has.size + 1; i <= 20; i++) {
      made.push(credit(`C${i}`, '1'))
      look()
    }
    credit('C1', '0.5')
    look()
    for (const tx of made.slice(turn === 0 ? 12 : 0).reverse()) {
      tx.rollback()
      has.delete([...has.keys()].at(-1)!)
      look()
    }
  }
})
test('an account that a start loads is found before anybody books on one like it', () => {
  const { ledger } = new State()
  const row = {
    id: 1,
    owner: 10_004,
    name: 'spot',
    currency: 'BTC',
    amount: amountOf('20'),
    version: 1,
  } as const
  ledger.accounts.swap(1, row, 'load')
  assert.equal(ledger.balance(10_004, 'spot', 'BTC'), row.amount)
})
