import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plan } from './system/plan.ts'
import { everything, unreached } from './system/reach.ts'
import { System } from './system/system.ts'

/** SEED=… and STEPS=… choose another history; `npm run sim` runs long ones. */
const seed = Number(process.env['SEED'] ?? 1)
const steps = Number(process.env['STEPS'] ?? 200)

test(`the whole platform does what a naive model of its rules says, over ${steps} steps (seed ${seed})`, async () => {
  const system = new System()
  await system.run(plan(seed, steps))
  if (process.env['SHOW'] !== undefined) console.log([...system.reached].sort())
  assert.ok(system.reached.size > 40, `${system.reached.size} kinds of things happened`)
})

/** Long histories look at everything now and then: it is all that there ever was. */
const looks = Number(process.env['LOOKS'] ?? 100)
test(`memory, tables and the recorded commands agree after each of ${looks} steps (seed ${seed + 1})`, async () => {
  const system = new System(0, true)
  assert.equal(await system.run(plan(seed + 1, looks)), looks)
})

test('what a long run need not meet is there, with a reason', () => {
  const [all, excused] = [everything(), unreached()]
  for (const kind of ['command', 'label', 'transition'] as const)
    for (const [name, reason] of Object.entries(excused[kind]))
      assert.ok(all[kind].includes(name) && reason !== '', `${kind} ${name}`)
})
