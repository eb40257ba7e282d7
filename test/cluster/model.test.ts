import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { COSTS, TAKEN } from '../../tools/model/costs.ts'
import { Appender, generator, Simulation, Station } from '../../tools/model/engine.ts'
import { capacity, most, needed, shareOut, simulate } from '../../tools/model/fleet.ts'

/** The model behind docs/scale.md: held against queueing theory where that has an answer. */
const MODEL = fileURLToPath(new URL('../../tools/model.js', import.meta.url))

/** Mean wait of a queue with random arrivals. */
function meanWait(
  servers: number,
  load: number,
  cost: (random: ReturnType<typeof generator>) => number,
): number {
  const sim = new Simulation()
  const random = generator(42)
  const station = new Station(sim, servers)
  const arrive = (left: number): void => {
    station.serve(cost(random), () => undefined)
    if (left > 0) sim.after(random.exponential(100 / servers / load), () => arrive(left - 1))
  }
  arrive(400_000)
  sim.run()
  assert.ok(Math.abs(station.utilization() / load - 1) < 0.02, `busy ${station.utilization()} of ${load}`)
  return station.meanWait()
}
const near = (value: number, theory: number, share: number): void =>
  assert.ok(Math.abs(value / theory - 1) < share, `${value} against ${theory}`)

test('a station waits as theory says: M/D/1, M/M/1, M/M/3', () => {
  for (const load of [0.3, 0.6, 0.8]) {
    near(
      meanWait(1, load, () => 100),
      (load * 100) / (2 * (1 - load)),
      0.03,
    )
    near(
      meanWait(1, load, (random) => random.exponential(100)),
      (load * 100) / (1 - load),
      0.05,
    )
  }
  const load = 0.7
  const offered = 3 * load
  const last = offered ** 3 / 6 / (1 - load)
  const waits = last / (1 + offered + offered ** 2 / 2 + last)
  near(
    meanWait(3, load, (random) => random.exponential(100)),
    (waits * 100) / (3 * (1 - load)),
    0.05,
  )
})
test('a journal takes all that waits in one append, keeps the order, and waits for room', () => {
  const sim = new Simulation()
  const done: number[] = []
  let room = true
  const journal = new Appender(sim, () => 100, { underWay: 1, room: () => room })
  for (let i = 0; i < 10; i++) journal.append(() => done.push(i))
  sim.run()
  assert.deepEqual([journal.appends, sim.now, done], [2, 200, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
  room = false
  journal.append(() => done.push(10))
  sim.run()
  assert.equal(done.length, 10)
  room = true
  journal.nudge()
  sim.run()
  assert.equal(done.at(-1), 10)
})
test('what is asked for below the most is served; above it the bound is met and no more is', () => {
  const fleet = needed(shareOut(4, TAKEN, false), TAKEN)
  const { rate, part } = most(capacity(fleet, TAKEN))
  assert.equal(part, 'ledger follower')
  near(rate, 1e6 / (TAKEN.orders * COSTS.follower.order + TAKEN.transfers * COSTS.follower.transfer), 0.001)
  const below = simulate(fleet, TAKEN, { rate: rate * 0.7, requests: 20_000, seed: 3 })
  near(below.served, rate * 0.7, 0.03)
  near(below.utilization['ledger follower']!, 0.7, 0.05)
  // Reads do not wait for the tables, so here there are orders alone.
  const orders = { ...TAKEN, orders: 1, transfers: 0 }
  const ends = most(capacity(fleet, orders)).rate
  const above = simulate(fleet, orders, { rate: ends * 1.5, requests: 40_000, seed: 3, lagKb: 200 })
  near(above.served, ends, 0.05)
  assert.ok(above.p99 > below.p99 * 5, 'it queues')
})
test('one market is one core: with uneven markets more machines stop helping', () => {
  const rateOf = (machines: number, skew: number): number => {
    const taken = { ...TAKEN, skew }
    return most(capacity(shareOut(machines, taken, true), taken)).rate
  }
  assert.equal(Math.round(rateOf(64, 1)), Math.round(rateOf(16, 1)))
  assert.ok(rateOf(64, 0) > rateOf(16, 0) * 3)
})
test('npm run model prints the tables, the same for the same seed', () => {
  const run = (seed: string): string =>
    execFileSync(process.execPath, [MODEL, '--requests', '2000', '--seed', seed], { encoding: 'utf8' })
  const first = run('1')
  assert.equal(first, run('1'))
  assert.notEqual(first, run('2'))
  for (const machines of [1, 4, 16, 64]) assert.match(first, new RegExp(`^\\| ${machines} \\|`, 'm'))
  assert.throws(() => execFileSync(process.execPath, [MODEL, '--nonsense', '1'], { stdio: 'pipe' }), {
    status: 2,
  })
})
