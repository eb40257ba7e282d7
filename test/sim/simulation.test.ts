import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COVERAGE, Simulation } from './simulation.ts'

/** SEED=… reproduces a run; STEPS=… makes it longer. */
const seed = Number(process.env['SEED'] ?? 1)
const steps = Number(process.env['STEPS'] ?? 100)

test(`any history conserves money, is what the store holds, and replays to the same state (seed ${seed})`, async () => {
  const reached = new Set<string>()
  for (const s of [seed, seed + 1]) {
    const simulation = new Simulation(s)
    await simulation.run(steps)
    for (const item of simulation.reached) reached.add(item)
  }
  for (const item of COVERAGE) assert.ok(reached.has(item), `the simulation never reached: ${item}`)
})
