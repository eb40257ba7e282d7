import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import type { Member } from './cast.ts'
import type { House } from './house.ts'
import { text } from './model.ts'
import { CURRENCIES, type Borrower, type UnifiedModel } from './unified-model.ts'

/** What one of them has and owes is what the model says. */
export function sameBalances(state: State, user: number, account: Borrower): void {
  const same = (name: string, currency: string, mine: bigint): void =>
    assert.equal(state.ledger.balance(user, name as 'spot', currency), mine, `${name} ${currency} of ${user}`)
  for (const currency of CURRENCIES) {
    same('spot', currency, account.has(currency))
    same('spot.locked', currency, account.held(currency))
    same('debt.unified', currency, -(account.owed.get(currency) ?? 0n))
    same('debt.interest.unified', currency, -(account.interest.get(currency) ?? 0n))
  }
  same('margin:ETH_USDT', 'USDT', account.apart)
}
/** What one of them is shown is what the model counts. */
export async function sameFigures(
  house: House,
  model: UnifiedModel,
  member: Member,
  account: Borrower,
): Promise<void> {
  const answer = await house.call(member.credential, { method: 'GET', path: '/unified/accounts' })
  if (account.mode === 'classic') {
    assert.equal(answer.label, 'ACCOUNT_EXCEPTION')
    return
  }
  const mine = model.figures(account)
  for (const [name, figure] of Object.entries(mine))
    assert.equal(answer.body[name], figure, `${name} of ${member.user} in ${account.mode}`)
  for (const currency of CURRENCIES) {
    const shown = answer.body.balances[currency]
    const debt = account.debt(currency)
    assert.deepEqual(
      [shown?.available ?? '0', shown?.equity ?? '0', shown?.borrowed ?? '0', shown?.total_liab ?? '0'],
      [
        text(account.has(currency)),
        text(account.has(currency) + account.held(currency) - debt),
        text(account.owed.get(currency) ?? 0n),
        text(debt),
      ],
      `${currency} of ${member.user}`,
    )
  }
}
