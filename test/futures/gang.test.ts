import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONG } from '../support/size.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import type { Mode } from '../../src/core/tables/unified/accounts.ts'
import type { Id } from './chaos.ts'
import { EVERY, Gang } from './gang.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? (LONG ? 3_200 : 1_600))
const FROM = Number(process.env['SEED'] ?? 1)
/** Short lives: what some lose to the fund would else hide what others take from it. */
const EACH = 80

interface Kind {
  readonly modes: readonly Mode[]
  readonly command: string
  /** Left out: perpetual ones that are settled in USDT. */
  readonly contracts?: readonly Id[]
  /** With orders that wait for a price. */
  readonly waiters?: true
}
const KINDS: Readonly<Record<string, Kind>> = {
  'classic accounts': { modes: ['classic'], command: 'futures.liquidate' },
  'classic accounts in contracts of every kind, with orders that wait': {
    modes: ['classic'],
    command: 'futures.liquidate',
    contracts: EVERY,
    waiters: true,
  },
  'unified accounts with coins and loans behind their positions': {
    modes: ['multi_currency', 'portfolio', 'single_currency', 'multi_currency'],
    command: 'margin.liquidate',
  },
  'unified accounts in contracts of every kind, with orders that wait': {
    modes: ['multi_currency', 'portfolio', 'single_currency', 'classic'],
    command: 'margin.liquidate',
    contracts: EVERY,
    waiters: true,
  },
}
for (const [kind, { modes, command, contracts, waiters = false }] of Object.entries(KINDS))
  test(`${kind} that trade among themselves take nothing from anybody, over ${OPERATIONS} operations`, () => {
    let liquidated = 0
    for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
      const gang = new Gang(seed, modes, contracts)
      gang.waiters = waiters
      for (let i = 0; i < EACH; i++) {
        gang.step()
        const stolen = gang.taken()
        assert.ok(
          stolen <= 0n,
          `seed ${seed}, operation ${i}: ${format(stolen as Amount)} was taken\n${gang.log.join('\n')}`,
        )
      }
      liquidated += gang.outcomes.get(command) ?? 0
    }
    assert.ok(liquidated > 0, 'nobody was liquidated: this proves little')
  })
