import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONTRACT_BOOK } from '../../src/core/tables/futures/records.ts'
import { EQUITY } from '../../src/core/ledger/accounts.ts'
import { amountOf, format, type Amount } from '../../src/money/amount.ts'
import { Desk } from './desk.ts'

const CASH = 'futures:usdt'
const DEBT = 'debt.futures:usdt'
const IN = { currency: 'USDT', from: 'spot', to: 'futures', currency_pair: null, settle: 'usdt' } as const

class Bank extends Desk {
  readonly lines: string[] = []
  protected override applied(tx: Parameters<Desk['applied']>[0]): void {
    super.applied(tx)
    const lines = this.lines as string[] | undefined
    for (const { type, change, balance } of tx.appendedTo(CONTRACT_BOOK))
      lines?.push(`${type} ${format(change)} ${format(balance)}`)
  }
  balance(user: number, name: typeof CASH | typeof DEBT): string {
    return format(this.state.ledger.balance(user, name, 'USDT'))
  }
  /** Books what no command books: between a user's account and operator equity. */
  book(owner: number, name: typeof CASH | typeof DEBT, amount: string): void {
    const currency = 'USDT'
    this.apply((ctx) =>
      ctx.state.ledger.post(ctx, {
        kind: 'test',
        ref: 'test:1',
        lines: [
          { ...EQUITY, currency, amount: -amountOf(amount) as Amount },
          { owner, name, currency, amount: amountOf(amount) },
        ],
      }),
    )
  }
}

test('what losses left owing is paid first, in the same entry', () => {
  const bank = new Bank()
  const user = bank.user({ USDT: '1000' })
  bank.book(user, DEBT, '-200')
  bank.must('transfer.create', { user_id: user, ...IN, amount: '150' })
  assert.equal(`${bank.balance(user, DEBT)} ${bank.balance(user, CASH)}`, '-50 0')
  bank.must('transfer.create', { user_id: user, ...IN, amount: '100' })
  assert.equal(`${bank.balance(user, DEBT)} ${bank.balance(user, CASH)}`, '0 50')
  assert.deepEqual(bank.lines, ['dnw 150 -50', 'dnw 100 50'])
  const out = { ...IN, from: 'futures', to: 'spot' } as const
  const tooMuch = bank.run('transfer.create', { user_id: user, ...out, amount: '50.00000001' })
  assert.deepEqual(tooMuch, { label: 'FUTURES_BALANCE_NOT_ENOUGH' })
  bank.must('transfer.create', { user_id: user, ...out, amount: '50' })
  assert.equal(bank.balance(user, CASH), '0')
})

test('money that came before anything was traded there is an account, and counted as moved', () => {
  const bank = new Bank()
  const user = bank.user({ USDT: '1000' })
  const path = { user_id: user, group: 'futures', settle: 'usdt' } as const
  const leverage = { ...path, contract: 'BTC_USDT', leverage: '5', cross_leverage_limit: null }
  bank.book(user, CASH, '300')
  bank.must('transfer.create', { user_id: user, ...IN, amount: '100' })
  const account = bank.state.futures.accounts.get(user, 'futures/usdt')!
  assert.equal(format(account.dnw), '400')
  const other = bank.user({ USDT: '1000' })
  bank.book(other, CASH, '70')
  bank.must('futures.leverage', { ...leverage, user_id: other })
  assert.equal(format(bank.state.futures.accounts.get(other, 'futures/usdt')!.dnw), '70')
})
