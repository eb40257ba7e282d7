import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONG } from '../support/size.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import type { Mode } from '../../src/core/tables/unified/accounts.ts'
import { Gang } from './gang.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? (LONG ? 3_200 : 1_600))
const FROM = Number(process.env['SEED'] ?? 1)
/** Short lives: what some lose to the fund would else hide what others take from it. */
const EACH = 80

const KINDS: Readonly<Record<string, { readonly modes: readonly Mode[]; readonly command: string }>> = {
  'classic accounts': { modes: ['classic'], command: 'futures.liquidate' },
  'unified accounts with coins and loans behind their positions': {
    modes: ['multi_currency', 'portfolio', 'single_currency', 'multi_currency'],
    command: 'margin.liquidate',
  },
}
for (const [kind, { modes, command }] of Object.entries(KINDS))
  test(`${kind} that trade among themselves take nothing from anybody, over ${OPERATIONS} operations`, () => {
    let liquidated = 0
    for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
      const gang = new Gang(seed, modes)
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
