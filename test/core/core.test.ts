import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokenInvariant, Refusal, refuse } from '../../src/labels.ts'
import { Packer, type ClosedBatch, type LooseBatch } from '../../src/machine/loose.ts'
import { Core, type Context } from '../../src/machine/core.ts'
import { Table, Tx, UniqueIndex, GroupIndex, type TableSpec } from '../../src/machine/table.ts'

interface Thing {
  readonly id: number
  readonly value: number
  readonly done: boolean
}
const THING: TableSpec<Thing> = {
  name: 'thing',
  key: ['id'],
  columns: { id: 'int', value: 'int', done: 'bool' },
  live: ({ done }) => !done,
}
class Things {
  readonly table = new Table(THING)
}
type Ctx = Context<Things>
const handlers = {
  put: ({ state, tx }: Ctx, input: { id: number; value: number; done?: boolean }): number => {
    tx.put(state.table, { id: input.id, value: input.value, done: input.done ?? false })
    return input.value
  },
  putAndRefuse: ({ state, tx }: Ctx, input: { id: number }): never => {
    tx.put(state.table, { id: input.id, value: -1, done: false })
    return refuse('BALANCE_NOT_ENOUGH', 'no')
  },
  look: ({ state }: Ctx, input: { id: number }): number | undefined => state.table.get(input.id)?.value,
  remove: ({ state, tx }: Ctx, input: { ids: number[]; refuse: boolean }): null => {
    for (const id of input.ids) tx.remove(state.table, id)
    return input.refuse ? refuse('BALANCE_NOT_ENOUGH', 'no') : null
  },
  crash: ({ state, tx }: Ctx, input: { id: number }): never => {
    tx.put(state.table, { id: input.id, value: -2, done: false })
    throw new TypeError('a bug')
  },
  breakInvariant: (_: Ctx, _input: object): never => {
    throw new BrokenInvariant('money was made')
  },
}

function loose(batch: ClosedBatch): LooseBatch {
  assert.ok('values' in batch)
  return batch
}
const sectionsOf = (batch: LooseBatch) => new Packer().sections(batch)

/** A store that commits when the test says so. */
function bench(waitingMax = 100, hear?: () => boolean) {
  const state = new Things()
  const commits: { batch: LooseBatch; land: () => void; fail: (error: Error) => void }[] = []
  const seen = { fatal: [] as unknown[], defects: [] as unknown[] }
  let now = 0
  const core = new Core<Things, typeof handlers>(
    state,
    handlers,
    { sequence: 0, hash: '' },
    {
      commit: (batch) =>
        new Promise((land, fail) => commits.push({ batch: loose(batch), land: () => land('hash'), fail })),
      now: () => ++now,
      fatal: (error) => seen.fatal.push(error),
      defect: (error) => seen.defects.push(error),
      check: () => undefined,
      waitingMax,
      ...(hear !== undefined && { hear }),
    },
  )
  return { core, state, commits, seen }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
async function settled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    turn().then(() => false),
  ])
}

test('in the middle of a turn a batch leaves at once where nothing is under way, and behind others when it is worth it', async () => {
  const heard: string[] = []
  const { core, commits } = bench(100, () => {
    heard.push(`${commits.length} left`)
    return true
  })
  assert.equal(core.breathe(), true)
  assert.equal(commits.length, 0, 'there is nothing to commit')
  const put = (id: number): void => void core.submit('put', { id, value: id })
  put(1)
  core.breathe()
  assert.equal(commits.length, 1)
  for (let id = 2; id < 9; id++) put(id)
  core.breathe()
  assert.equal(commits.length, 1)
  put(9)
  core.breathe()
  assert.deepEqual(
    commits.map(({ batch }) => batch.commands.length),
    [1, 8],
  )
  assert.deepEqual(heard, ['0 left', '1 left', '1 left', '2 left'])
  for (const { land } of commits) land()
  await core.idle()
})
test('where batches had better grow, there is no breath', async () => {
  const { core, commits } = bench()
  const reply = core.submit('put', { id: 1, value: 1 })
  assert.equal(core.breathe(), false)
  assert.equal(commits.length, 0)
  await turn()
  commits[0]!.land()
  await reply
})
test('a reply waits for the commit of its batch, and commands of one turn share a batch', async () => {
  const { core, commits } = bench()
  const first = core.submit('put', { id: 1, value: 10 })
  const second = core.submit('put', { id: 2, value: 20 })
  assert.equal(await settled(first), false)
  assert.equal(commits.length, 1)
  assert.equal(commits[0]!.batch.commands.length, 2)
  commits[0]!.land()
  assert.deepEqual(await Promise.all([first, second]), [10, 20])
  assert.equal(core.committed.sequence, 1)
})
test('a read answers only after the commit of what it saw, a refusal too', async () => {
  const { core, commits } = bench()
  void core.submit('put', { id: 1, value: 10 })
  const read = core.read(({ table }) => table.get(1)?.value)
  const refusal = core.submit('putAndRefuse', { id: 1 })
  refusal.catch(() => undefined)
  assert.equal(await settled(read), false)
  assert.equal(await settled(refusal), false)
  commits[0]!.land()
  assert.equal(await read, 10)
  await assert.rejects(refusal, (error: Refusal) => error.label === 'BALANCE_NOT_ENOUGH')
})
test('a view of a command sees what it left, waits with it, and undoes it when it fails', async () => {
  const { core, commits, state, seen } = bench()
  const shown = core.submit('put', { id: 1, value: 10 }, ({ table }, reply) => [reply, table.get(1)?.value])
  const other = core.submit('put', { id: 1, value: 11 })
  const refusal = core.submit('put', { id: 2, value: 20 }, () => refuse('TOO_BUSY', 'look again'))
  refusal.catch(() => undefined)
  assert.equal(state.table.get(2), undefined)
  assert.equal(await settled(shown), false)
  assert.equal(await settled(refusal), false)
  assert.equal(commits[0]!.batch.commands.length, 2)
  commits[0]!.land()
  assert.deepEqual(await shown, [10, 10])
  assert.equal(await other, 11)
  await assert.rejects(refusal, (error: Refusal) => error.label === 'TOO_BUSY')
  assert.deepEqual(seen, { fatal: [], defects: [] })
})
test('a refusal of a read tells what it saw, and waits for it', async () => {
  const { core, commits } = bench()
  void core.submit('put', { id: 1, value: 10 })
  const refusal = core.read(({ table }) => table.get(1) && refuse('ORDER_EXISTS', 'there is one'))
  refusal.catch(() => undefined)
  assert.equal(await settled(refusal), false)
  commits[0]!.land()
  await assert.rejects(refusal, (error: Refusal) => error.label === 'ORDER_EXISTS')
})
test('with nothing under way a read answers at once, and nothing is committed for it', async () => {
  const { core, commits } = bench()
  assert.equal(await core.read(({ table }) => table.size), 0)
  assert.equal(await core.submit('look', { id: 1 }), undefined)
  assert.equal(commits.length, 0)
})
test('a refusal undoes its command and leaves the others of its batch alone', async () => {
  const { core, commits, state } = bench()
  const good = core.submit('put', { id: 1, value: 1 })
  await Promise.allSettled([
    core.submit('putAndRefuse', { id: 1 }).catch(() => undefined),
    turn().then(() => commits[0]!.land()),
    good,
  ])
  assert.deepEqual(state.table.get(1), { id: 1, value: 1, done: false })
  assert.equal(commits[0]!.batch.commands.length, 1)
})
test('a bug in a command is undone, reported and answered; the core goes on', async () => {
  const { core, seen, state, commits } = bench()
  await assert.rejects(core.submit('crash', { id: 1 }), TypeError)
  assert.equal(state.table.get(1), undefined)
  assert.equal(seen.defects.length, 1)
  const good = core.submit('put', { id: 1, value: 1 })
  await turn()
  commits[0]!.land()
  assert.equal(await good, 1)
})
test('a broken invariant ends it before the disk', async () => {
  const { core, seen, commits } = bench()
  const earlier = core.submit('put', { id: 1, value: 1 })
  earlier.catch(() => undefined)
  await assert.rejects(core.submit('breakInvariant', {}))
  assert.equal(seen.fatal.length, 1)
  await assert.rejects(earlier, 'what shared its batch is not acknowledged')
  await turn()
  assert.equal(commits.length, 0)
  await assert.rejects(core.submit('put', { id: 1, value: 1 }))
  await assert.rejects(core.read(() => 1))
})
test('a failed commit is fatal, for the batch behind it as well', async () => {
  const { core, seen, commits } = bench()
  const first = core.submit('put', { id: 1, value: 1 })
  await turn()
  const second = core.submit('put', { id: 2, value: 2 })
  for (const promise of [first, second]) promise.catch(() => undefined)
  await turn()
  assert.equal(commits.length, 2, 'two batches are under way')
  commits[0]!.fail(new Error('disk'))
  await assert.rejects(first, (error: Refusal) => error.status === 503)
  await assert.rejects(second)
  assert.equal(seen.fatal.length, 1)
})
test('the queue has a bound', async () => {
  const { core, commits } = bench(3)
  const waiting = [1, 2, 3].map((id) => core.submit('put', { id, value: id }))
  await assert.rejects(
    core.submit('put', { id: 4, value: 4 }),
    (error: Refusal) => error.label === 'TOO_BUSY' && error.status === 503,
  )
  await turn()
  commits[0]!.land()
  await Promise.all(waiting)
  void core.submit('put', { id: 4, value: 4 })
})
test('a burst leaves early: the store works while the rest is applied', async () => {
  const { core, commits } = bench()
  const burst = Array.from({ length: 80 }, (_, id) => core.submit('put', { id, value: id }))
  assert.deepEqual(
    commits.map(({ batch }) => batch.commands.length),
    [24, 24],
  )
  for (const commit of commits.splice(0)) commit.land()
  await turn()
  assert.equal(commits[0]!.batch.commands.length, 32)
  commits[0]!.land()
  await Promise.all(burst)
})
test('at most two batches are under way; the third fills meanwhile', async () => {
  const { core, commits } = bench()
  for (let id = 1; id <= 2; id++) {
    void core.submit('put', { id, value: id })
    await turn()
  }
  const third = [3, 4, 5].map((id) => core.submit('put', { id, value: id }))
  await turn()
  assert.equal(commits.length, 2)
  commits[0]!.land()
  await turn()
  assert.equal(commits.length, 3)
  assert.equal(commits[2]!.batch.commands.length, 3)
  commits[1]!.land()
  commits[2]!.land()
  await Promise.all(third)
  assert.equal(core.committed.sequence, 3)
})
test('finished rows leave memory in the end, and never while a batch still needs them', async () => {
  const { core, commits, state } = bench(100_000)
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 10_000; i++) void core.submit('put', { id: round * 10_000 + i, value: i, done: true })
    await turn()
    for (let commit = commits.shift(); commit !== undefined; commit = commits.shift()) {
      commit.land()
      await turn()
    }
  }
  assert.ok(state.table.size <= 40_000, `${state.table.size} finished rows in memory`)
  assert.equal(state.table.get(0), undefined)
  assert.ok(state.table.get(49_999) !== undefined, 'the newest are still there')
})

test('undo gives back rows and indexes exactly, to a mark as well', () => {
  const table = new Table(THING)
  const unique = new UniqueIndex(table, ({ value }) => value)
  const groups = new GroupIndex(table, ({ done }) => done)
  const setup = new Tx()
  setup.put(table, { id: 1, value: 1, done: false })
  setup.put(table, { id: 2, value: 2, done: false })
  const tx = new Tx()
  tx.put(table, { id: 1, value: 5, done: true })
  const mark = tx.mark()
  tx.remove(table, 2)
  tx.put(table, { id: 3, value: 2, done: false })
  tx.put(table, { id: 1, value: 6, done: false })
  tx.rollback(mark)
  assert.deepEqual([...table.values()].map(({ id }) => id).sort(), [1, 2])
  assert.deepEqual([unique.get(5)?.id, unique.get(2)?.id, unique.get(6)], [1, 2, undefined])
  tx.rollback()
  assert.deepEqual([unique.get(1)?.id, unique.get(5)], [1, undefined])
  assert.deepEqual([groups.count(false), groups.count(true)], [2, 0])
})

test('observers are told change, undo and eviction apart', async () => {
  const { core, commits, state } = bench(100_000)
  const told: string[] = []
  state.table.observe((before, after, signal) =>
    told.push(`${signal} ${before?.value ?? '-'} ${after?.value ?? '-'}`),
  )
  void core.submit('put', { id: 1, value: 10, done: true })
  await assert.rejects(Promise.race([core.submit('putAndRefuse', { id: 1 }), landing()]))
  assert.deepEqual(told.splice(0), ['change - 10', 'change 10 -1', 'undo -1 10'])
  for (let id = 2; id <= 40_001; id++) void core.submit('put', { id, value: 0, done: true })
  for (let i = 0; i < 5; i++) await landing()
  assert.deepEqual(
    told.filter((line) => line.includes('10')),
    ['eviction 10 -'],
  )
  async function landing(): Promise<void> {
    await turn()
    for (let commit = commits.shift(); commit !== undefined; commit = commits.shift()) commit.land()
    await turn()
  }
})
test('a row that left memory is removed by its key, and what takes the removal back leaves it in the store', async () => {
  const { core, commits, state } = bench()
  void core.submit('remove', { ids: [7], refuse: true }).catch(() => undefined)
  void core.submit('put', { id: 8, value: 1, done: true })
  await turn()
  assert.deepEqual(
    sectionsOf(commits[0]!.batch).map(({ keys }) => keys),
    ['8\n'],
    'the refused removal is not in it',
  )
  commits.shift()!.land()
  await turn()
  state.table.swap(8, undefined, 'eviction')
  void core.submit('remove', { ids: [8, 9], refuse: false })
  await turn()
  assert.deepEqual(
    sectionsOf(commits[0]!.batch).map(({ table, rows, befores }) => [table, rows, befores]),
    [['thing', '-[8]\n-[9]\n', '?\n?\n']],
  )
})
test('a rollback that fails is fatal at once: nothing is answered from such a memory', async () => {
  const { core, state, seen } = bench()
  state.table.observe((_before, _after, signal) => {
    if (signal === 'undo') throw new TypeError('an index that can not go back')
  })
  await assert.rejects(core.submit('putAndRefuse', { id: 1 }), { label: 'SERVER_ERROR' })
  assert.equal(seen.fatal.length, 1)
  await assert.rejects(core.submit('put', { id: 2, value: 2 }), { label: 'SERVER_ERROR' })
})
test('two rows with one value of a unique index are a broken invariant, not a silent loss', async () => {
  const { core, state, seen } = bench()
  new UniqueIndex(state.table, ({ value }) => value)
  void core.submit('put', { id: 1, value: 5 }).catch(() => undefined)
  await assert.rejects(core.submit('put', { id: 2, value: 5 }), { label: 'SERVER_ERROR' })
  assert.ok(seen.fatal[0] instanceof BrokenInvariant)
})
