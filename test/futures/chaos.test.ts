import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mode } from '../../src/core/tables/unified/accounts.ts'
import { Chaos } from './chaos.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 2_000)
const FROM = Number(process.env['SEED'] ?? 1)
const EACH = 500

/** What a run must have met to prove anything. */
const MET = [
  'futures.place',
  'futures.place INSUFFICIENT_AVAILABLE',
  'futures.amend',
  'futures.cancel',
  'futures.leverage',
  'futures.margin',
  'futures.dual_mode',
  'transfer.create',
  'futures.liquidate',
  'futures.unwind',
  'futures.fund',
]

/** And with unified accounts among them. */
const MET_UNIFIED = ['margin.loan', 'margin.liquidate', 'spot.place', 'transfer.create', 'mode done']

const KINDS = {
  'classic accounts': { modes: ['classic'], must: MET },
  'unified accounts among others': {
    modes: ['multi_currency', 'portfolio', 'classic', 'single_currency'],
    must: [...MET.filter((what) => what !== 'futures.margin'), ...MET_UNIFIED],
  },
} as const
for (const [kind, { modes, must }] of Object.entries(KINDS))
  test(`all that is true of contracts stays true over ${OPERATIONS} random operations: ${kind}`, () =>
    run(modes, must))

function run(modes: readonly Mode[], must: readonly string[]): void {
  const met = new Map<string, number>()
  for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
    const chaos = new Chaos(seed, undefined, undefined, modes)
    for (let i = 0; i < EACH; i++)
      try {
        chaos.step()
      } catch (error) {
        throw new Error(
          `seed ${seed}, operation ${i}:\n${chaos.log.slice(-6).join('\n')}\n${error instanceof Error ? error.stack : ''}`,
          { cause: error },
        )
      }
    for (const [what, count] of chaos.outcomes) met.set(what, (met.get(what) ?? 0) + count)
  }
  if (process.env['SHOW'] !== undefined) console.log([...met].sort())
  for (const what of must) assert.ok(met.has(what), `none of ${OPERATIONS} was ${what}`)
}
