import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, type Amount } from '../../src/money/amount.ts'
import { Chaos } from './chaos.ts'
import { Gang } from './gang.ts'

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 2_000)
const FROM = Number(process.env['SEED'] ?? 11)

const MODES = ['classic', 'multi_currency', 'single_currency', 'portfolio'] as const

/** What a run must have met to prove anything. */
const MET = [
  'futures.price_order.create',
  'futures.price_order.create AUTO_TRIGGER_PRICE_GREATE_LAST',
  'futures.price_order.create POSITION_EMPTY',
  'futures.price_order.cancel',
  'futures.trail.create',
  'futures.trail.update',
  'futures.trail.stop',
  'futures.chase.create',
  'futures.chase.stop',
  'futures.chase.look',
  'futures.price_order.expire',
  'futures.liquidate',
]

test(`all that is true of orders that wait stays true over ${OPERATIONS} random operations`, () => {
  const met = new Map<string, number>()
  const ends = new Map<string, number>()
  const EACH = 400
  for (let done = 0, seed = FROM; done < OPERATIONS; done += EACH, seed++) {
    const chaos = new Chaos(seed, 6, undefined, seed % 2 === 0 ? undefined : MODES)
    chaos.waiters = true
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
    const { prices, trails, chases } = chaos.state.futures.waiting
    const count = (end: string): unknown => ends.set(end, (ends.get(end) ?? 0) + 1)
    for (const { status, finish_as, me_order_id } of prices.table.values())
      count(`${me_order_id === 0 ? 'price' : 'stop'} ${finish_as || status}`)
    for (const { status } of trails.table.values()) count(`trail ${status}`)
    for (const { status } of chases.table.values()) count(`chase ${status}`)
  }
  if (process.env['SHOW'] !== undefined) console.log([...met].sort(), [...ends].sort())
  for (const what of MET) assert.ok(met.has(what), `none of ${OPERATIONS} was ${what}`)
  for (const kind of ['price succeeded', 'price failed', 'price expired', 'price cancelled'])
    assert.ok(ends.has(kind), kind)
  for (const kind of ['stop succeeded', 'stop cancelled', 'stop invalid']) assert.ok(ends.has(kind), kind)
  for (const kind of ['trail success', 'trail failed', 'chase success', 'chase cancelled'])
    assert.ok(ends.has(kind), kind)
})

test('who fires his own orders by prices that he paints takes nothing from anybody', () => {
  for (let done = 0, seed = FROM; done < OPERATIONS; done += 80, seed++) {
    const gang = new Gang(seed, seed % 2 === 0 ? undefined : MODES)
    gang.waiters = true
    for (let i = 0; i < 80; i++) {
      gang.step()
      const stolen = gang.taken()
      assert.ok(
        stolen <= 0n,
        `seed ${seed}, operation ${i}: ${format(stolen as Amount)} was taken\n${gang.log.join('\n')}`,
      )
    }
  }
})
