import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from '../../src/core/commands.ts'
import { Ledger } from '../../src/core/ledger/ledger.ts'
import { MarginAccounts } from '../../src/core/tables/unified/accounts.ts'
import { Resting } from '../../src/core/unified/restricted.ts'
import { RiskWatch } from '../../src/core/liquidation/watch.ts'
import { World } from '../../src/core/tables/world/world.ts'
import { add, amountOf, format, rateOf } from '../../src/money/amount.ts'
import { plant } from '../support/plant.ts'
import { Crash } from './crash.ts'
import {
  exactLimits,
  interestOfMonth,
  liquidationsNearIndex,
  marginKept,
  restrictedLoses,
} from './properties.ts'

/** The promises can be broken: each of these bugs is found by the run that watches over it. */
const margin = (): void => {
  for (const seed of [2, 4, 6, 8]) marginKept(seed, 1_000)
}
const fall = (): unknown => new Crash(200).fall('40000', '2000')

const BUGS: Record<string, { readonly set: () => () => void; readonly found: () => unknown }> = {
  'money leaves whatever is owed': {
    set: () =>
      plant(
        MarginAccounts.prototype,
        'owes',
        (original) =>
          function (this: MarginAccounts, userId, scope) {
            return scope !== undefined && original.call(this, userId, scope)
          },
      ),
    found: margin,
  },
  'leverage is set without a look at the debts': {
    set: () =>
      plant(commands, 'margin.leverage', () => (ctx, { user_id, currency, leverage }) => {
        const account = ctx.state.margin.of(user_id)
        const own = { ...account.leverage, [currency]: leverage }
        ctx.tx.put(ctx.state.margin.table, { ...account, leverage: own })
        return null
      }),
    found: margin,
  },
  'collateral is dropped without a look at the debts': {
    set: () =>
      plant(commands, 'margin.collateral', () => (ctx, { user_id, disable_list }) => {
        const account = ctx.state.margin.of(user_id)
        ctx.tx.put(ctx.state.margin.table, { ...account, not_collateral: disable_list })
        return null
      }),
    found: margin,
  },
  'a unit more than is borrowable can be borrowed': {
    set: () =>
      plant(commands, 'margin.loan', (original) => (ctx, input) => {
        const least = amountOf('0.00000001')
        const less = input.amount === null ? null : amountOf(input.amount)
        if (input.type !== 'borrow' || less === null || less <= least) return original(ctx, input)
        return original(ctx, { ...input, amount: format(add(less, -least as never)) })
      }),
    found: () => exactLimits(11, 500),
  },
  'interest is not charged on interest': {
    set: () =>
      plant(
        Ledger.prototype,
        'balance',
        (original) =>
          function (this: Ledger, owner, name, currency) {
            return name === 'debt.interest.unified'
              ? (0n as never)
              : original.call(this, owner, name, currency)
          },
      ),
    found: () => interestOfMonth('1.2345'),
  },
  'the watch overlooks every other account': {
    set: () =>
      plant(
        RiskWatch.prototype,
        'suspects',
        (original) =>
          function (this: RiskWatch, most) {
            const { found, more } = original.call(this, most)
            return { found: found.filter((_, i) => i % 2 === 0), more }
          },
      ),
    found: fall,
  },
  'a liquidation takes from somebody else': {
    set: () =>
      plant(
        Ledger.prototype,
        'post',
        (original) =>
          function (this: Ledger, context, entry) {
            const lines = entry.lines.map((line) =>
              entry.kind === 'repay' && line.name === 'spot' && line.amount < 0n
                ? { ...line, owner: line.owner + 1 }
                : line,
            )
            return original.call(this, context, { ...entry, lines, overdraft: true })
          },
      ),
    found: fall,
  },
  'a liquidation trades far from the index': {
    set: () =>
      plant(
        World.prototype,
        'findMarket',
        (original) =>
          function (this: World, name) {
            const market = original.call(this, name)
            return market === undefined ? undefined : { ...market, liquidationBound: rateOf('0.15') }
          },
      ),
    found: () => liquidationsNearIndex(7, 40),
  },
  'a restricted order is judged as if none rested': {
    set: () => plant(Resting.prototype, 'against', () => () => []),
    found: () => restrictedLoses(1, 600),
  },
}
for (const [name, { set, found }] of Object.entries(BUGS))
  test(`planted bug is caught: ${name}`, () => {
    const restore = set()
    try {
      assert.throws(found)
    } finally {
      restore()
    }
  })
