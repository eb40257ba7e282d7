import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batch } from '../../src/machine/batch.ts'
import { commands } from '../../src/core/commands.ts'
import { Ledger } from '../../src/core/ledger/ledger.ts'
import { GroupIndex, Tx } from '../../src/machine/table.ts'
import { plant } from '../support/plant.ts'
import { COVERAGE, Simulation } from './simulation.ts'

/** SEED=… reproduces a run; STEPS=… makes it longer. docs/simulation.md describes the planted bugs. */
const seed = Number(process.env['SEED'] ?? 1)
const steps = Number(process.env['STEPS'] ?? 150)

test(`any history conserves money, is what the store holds, and replays to the same state (seed ${seed})`, async () => {
  const reached = new Set<string>()
  for (const s of [seed, seed + 1]) {
    const simulation = new Simulation(s)
    await simulation.run(steps)
    for (const item of simulation.reached) reached.add(item)
  }
  for (const item of COVERAGE) assert.ok(reached.has(item), `the simulation never reached: ${item}`)
})

const changeable = commands

const BUGS: Record<string, () => () => void> = {
  'a refusal undoes nothing': () => plant(Tx.prototype, 'rollback', () => function () {}),
  'a changed row is not written': () =>
    plant(
      Batch.prototype,
      'add',
      (original) =>
        function (this: Batch, tx, at, type, input) {
          const at_ = tx.touched.findIndex(({ table }) => table.spec.name === 'stp_member')
          if (at_ !== -1) tx.touched.splice(at_, 1)
          original.call(this, tx, at, type, input)
        },
    ),
  'a posting makes money': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          const lines = entry.lines.map((line, i) =>
            i === 1 && line.currency === 'BTC' ? { ...line, amount: (line.amount + 1n) as never } : line,
          )
          return original.call(this, context, { ...entry, lines })
        },
    ),
  'an overdraft is allowed': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          return original.call(this, context, { ...entry, overdraft: true })
        },
    ),
  'a transfer goes to the wrong owner': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          const lines = entry.lines.map((line) =>
            line.name.startsWith('margin:') && line.amount > 0n ? { ...line, owner: line.owner + 1 } : line,
          )
          return original.call(this, context, { ...entry, lines })
        },
    ),
  'a command reads the wall clock': () =>
    plant(changeable, 'sub_account.lock', (original) => (ctx, input) => {
      const user = original(ctx, input)
      ctx.tx.put(ctx.state.users.table, { ...user, remark: String(performance.now()) })
      return user
    }),
  'an index forgets to follow an undo': () =>
    plant(
      GroupIndex.prototype,
      'get',
      (original) =>
        function (this: GroupIndex<object, unknown>, group) {
          const rows = [...original.call(this, group)]
          return rows.slice(0, 3)[Symbol.iterator]() as never
        },
    ),
  'a removed row comes back after a restart': () =>
    plant(
      Tx.prototype,
      'remove',
      () =>
        function (this: Tx, table, key) {
          table.swap(key, undefined, 'undo')
        },
    ),
}
for (const [name, set] of Object.entries(BUGS))
  test(`planted bug is caught: ${name}`, async () => {
    const restore = set()
    try {
      await assert.rejects(async () => {
        for (const s of [1, 2, 3]) await new Simulation(s).run(steps)
      })
    } finally {
      restore()
    }
  })
