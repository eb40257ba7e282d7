import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Core, type Context } from '../../src/machine/core.ts'
import type { ClosedBatch } from '../../src/machine/loose.ts'
import { STORED, Table, type LogSpec } from '../../src/machine/table.ts'

interface Thing {
  readonly id: number
  readonly value: number
}
const NOTES: LogSpec<Thing> = { name: 'note', columns: { id: 'int', value: 'int' } }
class State {
  readonly things = new Table<Thing>({
    name: 'thing',
    key: ['id'],
    columns: { id: 'int', value: 'int' },
    live: ({ value }) => value >= 0,
  })
}
const handlers = {
  put: ({ state, tx }: Context<State>, { id, value }: Thing) => {
    tx.put(state.things, { id, value })
    tx.append(NOTES, { id, value })
    return value
  },
  remove: ({ state, tx }: Context<State>, { id }: { id: number }) => tx.remove(state.things, id),
  refuse: ({ state, tx }: Context<State>, { id }: { id: number }) => {
    tx.put(state.things, { id, value: 666 })
    throw new TypeError('taken back')
  },
}
/** A core whose commits land when the test says so. */
function bench() {
  const state = new State()
  const landings: (() => void)[] = []
  const batches: ClosedBatch[] = []
  let clock = 0
  const core = new Core<State, typeof handlers>(
    state,
    handlers,
    { sequence: 0, hash: '' },
    {
      commit: (batch) =>
        new Promise((resolve) => {
          batches.push(batch)
          landings.push(() => resolve(`hash ${batch.sequence}`))
        }),
      now: () => ++clock,
      fatal: (error) => {
        throw error
      },
      defect: () => undefined,
      check: () => undefined,
      waitingMax: 1_000,
    },
  )
  const land = async (): Promise<void> => {
    landings.shift()!()
    await turn()
    await turn()
  }
  return { core, state, land, batches }
}

test('what commands changed is told once their batch has landed, in order, rows before and after, each row once', async () => {
  const { core, land } = bench()
  const told: string[] = []
  const place = core.commits.subscribe(100, () => {
    for (const { sequence, changes, appended } of place.take().batches.flatMap(({ commands }) => commands))
      told.push(
        `${sequence}: ${changes
          .map(
            ({ key, before, after }) =>
              `${key} ${before === STORED ? '?' : JSON.stringify(before)} > ${JSON.stringify(after)}`,
          )
          .join(', ')}; ${appended.map(({ log, row }) => `${log.name} ${(row as Thing).value}`).join(', ')}`,
      )
  })
  const replies: string[] = []
  void core.submit('put', { id: 1, value: 1 }).then(() => replies.push(`reply, told ${told.length}`))
  void core.submit('put', { id: 1, value: 2 })
  void core.submit('refuse', { id: 1 }).catch(() => undefined)
  await turn()
  void core.submit('put', { id: 1, value: 3 })
  await turn()
  assert.deepEqual(told, [], 'nothing has landed')
  await land()
  assert.deepEqual(replies, ['reply, told 0'], 'the reply goes first')
  assert.deepEqual(
    told,
    ['1: 1 undefined > {"id":1,"value":1}; note 1', '1: 1 {"id":1,"value":1} > {"id":1,"value":2}; note 2'],
    'command by command, and not the 3 that came later',
  )
  await land()
  assert.equal(told[2], '2: 1 {"id":1,"value":2} > {"id":1,"value":3}; note 3')
  void core.submit('remove', { id: 1 })
  void core.submit('remove', { id: 9 })
  await turn()
  await land()
  assert.deepEqual(told.slice(3), ['3: 1 {"id":1,"value":3} > undefined; ', '3: 9 ? > undefined; '])
  place.close()
  void core.submit('put', { id: 5, value: 5 })
  await turn()
  await land()
  assert.equal(told.length, 5, 'who has left hears nothing')
})

test('who falls behind is told so, and a snapshot brings him up to date', async () => {
  const { core, land } = bench()
  const place = core.commits.subscribe(7, () => undefined)
  for (let value = 1; value <= 4; value++) {
    void core.submit('put', { id: 1, value })
    await turn()
    await land()
  }
  // Two rows a batch: the fourth did not fit.
  assert.deepEqual(place.take(), { batches: [], lost: true, waited: 0 })
  void core.submit('put', { id: 1, value: 4 })
  const snapshot = core.snapshot((state) => state.things.get(1)!.value)
  // In the same turn, behind the look: it is in a later batch than the snapshot shows, whatever batch that is.
  void core.submit('put', { id: 1, value: 5 })
  await turn()
  await turn()
  await land()
  void core.submit('put', { id: 1, value: 6 })
  await turn()
  while ((await Promise.race([snapshot, turn('waits')])) === 'waits') await land()
  const { sequence, value } = await snapshot
  await land().catch(() => undefined)
  let mine = value
  const { batches, lost } = place.take()
  assert.equal(lost, false)
  for (const batch of batches)
    if (batch.sequence > sequence) mine = (batch.commands.at(-1)!.changes[0]!.after as Thing).value
  assert.equal(mine, 6)
})

test('a snapshot shows whole batches and is told when they have landed', async () => {
  const { core, land } = bench()
  void core.submit('put', { id: 1, value: 1 })
  await turn()
  let seen: unknown
  void core.snapshot((state) => state.things.get(1)!.value).then((snapshot) => (seen = snapshot))
  await turn()
  assert.equal(seen, undefined, 'batch 1 has not landed')
  await land()
  assert.deepEqual(seen, { sequence: 1, value: 1 })
})

test('a reset makes everybody take a snapshot', async () => {
  const { core } = bench()
  let woken = 0
  const place = core.commits.subscribe(100, () => woken++)
  core.restart({ sequence: 0, hash: '' })
  await turn()
  assert.equal(woken, 1)
  assert.deepEqual(place.take(), { batches: [], lost: true, waited: 0 })
})
