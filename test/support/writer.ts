import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { LEDGER_LINE } from '../../src/core/ledger/ledger.ts'
import { DECLARED, State } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { Tx } from '../../src/machine/table.ts'
import { amountOf } from '../../src/money/amount.ts'
import { connect } from '../../src/store/postgres-client.ts'
import { PostgresStore, type PostgresOptions } from '../../src/store/postgres.ts'
import { compareSeals, newSums } from '../../src/store/seals.ts'

export const KEY = '3'.repeat(64)

/** A process that writes: counters and ledger lines, one batch each. */
export class Writer {
  readonly state: State
  readonly store: PostgresStore
  sequence: number
  other = ''
  constructor(store: PostgresStore, state = new State(), sequence = 0) {
    this.store = store
    this.state = state
    this.sequence = sequence
  }
  static async open(url: string, options: PostgresOptions = {}): Promise<Writer> {
    const store = new PostgresStore(url, options)
    const sums = newSums(KEY)
    const head = await store.open(sums, DECLARED)
    const writer = new Writer(store, new State(), head.sequence)
    await store.load(writer.state.tables)
    sums.setAll(head.sums)
    store.sealBehind(head.hash, sums)
    return writer
  }
  commit(): Promise<string> {
    const id = ++this.sequence
    const tx = new Tx()
    tx.put(this.state.counters, { name: 'written', value: id })
    if (id % 3 === 0) tx.put(this.state.counters, { name: `third ${id}`, value: id })
    if (id % 9 === 0) tx.remove(this.state.counters, `third ${id - 3}`)
    const amount = amountOf('1')
    const line = { id, entry: id, account: 1, amount, after: amount, kind: 'credit', ref: this.other, at: id }
    tx.append(LEDGER_LINE, line)
    const batch = new Batch()
    batch.add(tx, id, 'test.act', '{}')
    return this.store.commit(batch.loose(id, id))
  }
  async commits(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.commit()
  }
}
export async function ask(url: string, sql: string): Promise<unknown[][]> {
  const client = await connect(url)
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}
/** Every batch is there, once, and everything adds up. */
export async function whole(url: string, batches: number): Promise<State> {
  const store = new PostgresStore(url)
  const head = await store.open(newSums(KEY), DECLARED)
  try {
    assert.equal(head.sequence, batches)
    const lines = await store.select(LEDGER_LINE, 'order by "id"', [])
    assert.deepEqual(
      lines.map(({ id }) => id),
      Array.from({ length: batches }, (_, i) => i + 1),
    )
    assert.deepEqual(await compareSeals((sql, row) => store.scan(sql, row), head, KEY, DECLARED), [])
    const state = new State()
    await store.load(state.tables)
    return state
  } finally {
    await store.close()
  }
}

/** Commits without a pause, some at once, and keeps what was acknowledged. */
export class Busy {
  readonly writer: Writer
  acknowledged = 0
  failed: unknown
  private running = true
  private readonly done: Promise<void>
  constructor(writer: Writer, pauseMs = 1) {
    this.writer = writer
    this.done = this.work(pauseMs)
  }
  private async work(pauseMs: number): Promise<void> {
    const flying = new Set<Promise<void>>()
    while (this.running && this.failed === undefined) {
      const sequence = this.writer.sequence + 1
      const flight = this.writer.commit().then(
        () => {
          assert.equal(sequence, this.acknowledged + 1, 'in order')
          this.acknowledged = sequence
        },
        (error: unknown) => void (this.failed ??= error),
      )
      flying.add(flight)
      void flight.then(() => flying.delete(flight))
      if (flying.size >= 4) await Promise.race(flying)
      if (pauseMs > 0) await sleep(pauseMs)
    }
    await Promise.all(flying)
  }
  async until(batches: number): Promise<void> {
    for (let look = 0; this.acknowledged < batches && this.failed === undefined; look++) {
      assert.ok(look < 4_000, `stuck at batch ${this.acknowledged}`)
      await sleep(10)
    }
    if (this.failed !== undefined) throw this.failed as Error
  }
  async stop(): Promise<void> {
    this.running = false
    await this.done
    if (this.failed !== undefined) throw this.failed as Error
  }
}
/** Everything that was acknowledged is there once, in the tables and in the chain, and nothing else. */
export async function proven(url: string, busy: Busy): Promise<void> {
  await busy.stop()
  const lines = await busy.writer.store.select(LEDGER_LINE, 'order by "id"', [])
  assert.equal(lines.length, busy.acknowledged, 'a look shows all that was acknowledged')
  await busy.writer.store.close()
  await whole(url, busy.acknowledged)
}
