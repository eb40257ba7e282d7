import type { RefOrder } from '../../spot/reference.ts'
import type { Debtor } from './debts.ts'
import { Borrower, CURRENCIES, type Resting, type UnifiedModel } from './unified-model.ts'

type PriceOf = (currency: string) => bigint

/** Resting orders of an account below its initial margin that would not be let in now, the oldest looked at first. */
export function notLetIn(model: UnifiedModel, debtor: Debtor, price: PriceOf): RefOrder[] {
  const kept: Resting[] = []
  const worst: RefOrder[] = []
  for (const order of debtor.open()) {
    const seen = debtor.resting(order)
    if (losesTooMuch(order, price) || lowers(model, debtor.account, kept, seen, price)) worst.push(order)
    else kept.push(seen)
  }
  return worst
}
/** More than half a percent against the index. */
export function losesTooMuch({ side, price }: RefOrder, priceOf: PriceOf): boolean {
  const index = priceOf('BTC')
  return side === 'buy' ? index * 1000n < price * 995n : price * 1000n < index * 995n
}
/** Whether the rate is lower with an order filled than without, be those of its side filled or not. */
function lowers(
  model: UnifiedModel,
  account: Borrower,
  kept: readonly Resting[],
  order: Resting,
  price: PriceOf,
): boolean {
  const alike = kept.filter(({ side }) => side === order.side)
  return [[], alike].some((rest) => {
    const before = model.margins(filled(account, rest, order, false), price)
    const after = model.margins(filled(account, rest, order, true), price)
    if (before.maintenance === 0n) return after.maintenance > 0n || after.balance < before.balance
    return after.balance * before.maintenance < before.balance * after.maintenance
  })
}
/** With some orders filled, one of them perhaps not placed, and what is there of a debt repaid. */
function filled(account: Borrower, orders: readonly Resting[], one: Resting, also: boolean): Borrower {
  const after = new Borrower()
  after.mode = account.mode
  for (const currency of CURRENCIES) {
    let [free, held] = [account.has(currency), account.held(currency)]
    const gives = (side: string): boolean => (side === 'buy' ? 'USDT' : 'BTC') === currency
    const gets = (side: string): boolean => (side === 'buy' ? 'BTC' : 'USDT') === currency
    if (gives(one.side)) [free, held] = [free + one.given, held - one.given]
    for (const { side, given, got } of orders) {
      if (gives(side)) held -= given
      if (gets(side)) free += got
    }
    if (also && gives(one.side)) free -= one.given
    if (also && gets(one.side)) free += one.got
    const debt = account.debt(currency)
    const paid = free <= 0n ? 0n : free < debt ? free : debt
    // Interest counts as what is lent does.
    after.owed.set(currency, debt - paid)
    after.free.set(currency, free - paid + held)
  }
  for (const [currency, leverage] of account.leverage) after.leverage.set(currency, leverage)
  for (const currency of account.excluded) after.excluded.add(currency)
  return after
}
