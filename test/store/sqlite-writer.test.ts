import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DECLARED, State } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain } from '../../src/machine/journal.ts'
import { Portion } from '../../src/machine/portion.ts'
import { Tx } from '../../src/machine/table.ts'
import { newSums } from '../../src/store/seals.ts'
import { SqliteConnection } from '../../src/store/sqlite-connection.ts'
import { SqliteWriterOnDemand } from '../../src/store/sqlite-writer-on-demand.ts'
import { SqliteWriter } from '../../src/store/sqlite-writer.ts'
import { shapesOf } from '../../src/store/statements.ts'
import { Fenced } from '../../src/store/store.ts'
import { StoreThread } from '../../src/store/thread.ts'
import { plant } from '../support/plant.ts'
import { KEY } from './contract.ts'
import { packed } from '../support/packed.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-writer-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const SMALL = 1
const LARGE = 2_000
const opening = { now: 1, key: KEY, schema: newSums(KEY).schema, shapes: shapesOf(DECLARED) }

/** A writer, and portions of one batch each that put a setting of some kilobytes. */
class Desk {
  readonly path: string
  readonly writer: SqliteWriterOnDemand
  private readonly chain = new JournalChain('', KEY)
  private readonly state = new State()
  private last = 0
  constructor(name: string) {
    this.path = join(folder, name)
    this.writer = new SqliteWriterOnDemand({ kind: 'sqlite', path: this.path })
  }
  async begin(): Promise<this> {
    await this.writer.take()
    await this.writer.finish(opening)
    return this
  }
  async write(kilobytes: number): Promise<void> {
    const sequence = ++this.last
    const tx = new Tx()
    tx.put(this.state.world.settings, { name: `batch ${sequence}`, value: 'x'.repeat(kilobytes * 1024) })
    const batch = new Batch()
    batch.add(tx, 1, 'test.act', '{}')
    const portion = new Portion()
    portion.add(this.chain.seal(packed(batch, sequence, 1)))
    const { hash, at } = portion.last
    const head = { sequence, hash, at, sums: '', schema: '', mac: '' }
    await this.writer.project(portion.changes(), head, false)
  }
  get rows(): number {
    const connection = new SqliteConnection(this.path, 'look')
    const [row] = connection.query('select count(*), (select sequence from head) from setting', [])
    connection.close()
    assert.equal(row![0], row![1], 'as many as the head says')
    return Number(row![0])
  }
}
/** Tells of each thread that is to go on. */
const onMoves = (told: () => void): (() => void) =>
  plant(
    StoreThread.prototype as unknown as { ask: (this: unknown, job: { op: string }) => Promise<unknown> },
    'ask',
    (original) =>
      async function (job) {
        if (job.op === 'adopt') told()
        return original.call(this, job)
      },
  )
async function movesIn(act: () => Promise<void>): Promise<number> {
  let moves = 0
  const undo = onMoves(() => moves++)
  await act().finally(undo)
  return moves
}

test('little is written where it is, much in a thread of its own, and everything in its order', async () => {
  const desk = await new Desk('moves.db').begin()
  assert.equal(await movesIn(() => desk.write(SMALL)), 0)
  const moved = await movesIn(async () => {
    // Some come while it moves.
    await Promise.all([desk.write(LARGE), desk.write(SMALL), desk.write(LARGE)])
    await desk.write(SMALL)
  })
  assert.equal(moved, 1)
  assert.equal(desk.rows, 5)
  await desk.writer.settle()
  await desk.writer.close()
})
test('a start that is tried again after it has moved goes on with its new epoch', async () => {
  const desk = await new Desk('again.db').begin()
  await desk.write(LARGE)
  await desk.begin()
  await desk.write(SMALL)
  assert.equal(desk.rows, 2)
  await desk.writer.close()
})
test('who was overtaken is told so by either of them', async () => {
  const desk = await new Desk('fenced.db').begin()
  const other = new SqliteWriter(desk.path)
  await desk.write(SMALL)
  other.take()
  await assert.rejects(desk.write(SMALL), Fenced)
  await assert.rejects(desk.write(LARGE), Fenced)
  assert.equal(desk.rows, 1)
  other.close()
  await desk.writer.close()
})
test('a thread that can not be had fails what waits for it, and it can be closed all the same', async () => {
  const desk = await new Desk('lost.db').begin()
  const undo = onMoves(() => {
    throw new Error('no thread')
  })
  try {
    const waiting = [desk.write(LARGE), desk.write(SMALL)]
    for (const one of waiting) await assert.rejects(one, /no thread/)
  } finally {
    undo()
  }
  await desk.writer.close()
  assert.equal(desk.rows, 0)
})
