import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Market } from './market.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 2_000)
const FROM = Number(process.env['SEED'] ?? 1)
const EACH = 500

test(`the engine and a naive reference of contracts say the same over ${OPERATIONS} random operations`, () => {
  const met = new Map<string, number>()
  let commands = 0
  const add = (what: string, count: number): unknown => met.set(what, (met.get(what) ?? 0) + count)
  for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
    const market = new Market(seed)
    for (let i = 0; i < EACH; i++)
      try {
        market.step()
      } catch (error) {
        const last = market.log.slice(-8).join('\n')
        throw new Error(`seed ${seed}, operation ${i}:\n${last}\n${error instanceof Error ? error.stack : ''}`, { cause: error })
      }
    for (const [what, count] of [...market.outcomes, ...market.reference.world.met]) add(what, count)
    commands += market.commands
  }
  if (process.env['SHOW'] !== undefined) console.log(commands, [...met].sort())
  assert.ok(commands > OPERATIONS)
})
