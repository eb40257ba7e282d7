import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chaos } from './chaos.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 3_000)
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

test(`all that is true of contracts stays true over ${OPERATIONS} random operations`, () => {
  const met = new Map<string, number>()
  for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
    const chaos = new Chaos(seed)
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
  for (const what of MET) assert.ok(met.has(what), `none of ${OPERATIONS} was ${what}`)
})
