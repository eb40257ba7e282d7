import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountName } from '../../src/core/ledger/accounts.ts'
import { State } from '../../src/core/state.ts'
import { amountOf } from '../../src/money/amount.ts'

/** An owner with a few accounts is looked up in another way than one with many. */
for (const count of [1, 5, 16, 17, 40])
  test(`each of ${count} balances is found as soon as it is loaded, before any entry names it`, () => {
    const { ledger } = new State()
    const currency = (i: number): string => `C${i}`
    for (let i = 1; i <= count; i++)
      ledger.accounts.swap(
        i,
        { id: i, owner: 7, name: 'spot', currency: currency(i), amount: amountOf(String(i)), version: 1 },
        'load',
      )
    const held = (owner: number, name: AccountName = 'spot'): bigint[] =>
      Array.from({ length: count }, (_, i) => ledger.balance(owner, name, currency(i + 1)))
    assert.deepEqual(
      held(7),
      Array.from({ length: count }, (_, i) => amountOf(String(i + 1))),
    )
    assert.deepEqual(new Set([...held(8), ...held(7, 'options')]), new Set([0n]))
    ledger.accounts.swap(1, undefined, 'undo')
    assert.equal(ledger.balance(7, 'spot', currency(1)), 0n)
    assert.equal(ledger.balance(7, 'spot', currency(count)), count === 1 ? 0n : amountOf(String(count)))
  })

test('an account that is taken back is not found any more, nor the one that has its number then under its name', () => {
  const { ledger } = new State()
  const [cash, options] = [ledger.purpose('spot', 'USDT'), ledger.purpose('options', 'USDT')]
  const open = (name: AccountName): void => {
    const row = { id: 1, owner: 7, name, currency: 'USDT', amount: amountOf('3'), version: 1 }
    ledger.accounts.swap(1, row, 'change')
  }
  // What is asked is remembered, that there is none too.
  assert.equal(ledger.under(cash, 7), undefined)
  open('spot')
  assert.equal(ledger.under(cash, 7)?.amount, amountOf('3'))
  assert.equal(ledger.under(options, 7), undefined)
  ledger.accounts.swap(1, undefined, 'undo')
  assert.equal(ledger.under(cash, 7), undefined)
  open('options')
  assert.equal(ledger.under(cash, 7), undefined)
  assert.equal(ledger.under(options, 7)?.name, 'options')
})
