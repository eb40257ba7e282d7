import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commands, type Commands } from '../../src/core/commands.ts'
import { Core } from '../../src/machine/core.ts'
import { Replay } from '../../src/machine/replay.ts'
import { DECLARED, State } from '../../src/core/state.ts'
import type { Table } from '../../src/machine/table.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { Clock } from '../../src/runtime/clock.ts'
import { compareSeals, newSums } from '../../src/store/seals.ts'
import { SqliteStore } from '../../src/store/sqlite.ts'
import { READ_HEAD, storeHead } from '../../src/store/head.ts'

/** The real core on a real store, with a clock that only the simulation moves. */
export class SimulatedWorld {
  state = new State()
  readonly clock: Clock
  core: Core<State, Commands>
  store: SqliteStore
  /** Batches that a start found in the journal alone. */
  drained = 0
  stopped = 0
  evicted = 0
  reconfigured = 0
  private readonly handlers: Commands
  readonly folder = mkdtempSync(join(tmpdir(), 'kontor-sim-'))
  fatal: unknown
  private wall = 1_800_000_000_000_000
  private readonly sums = newSums('5'.repeat(64))

  constructor(handlers: Commands = commands) {
    this.handlers = handlers
    this.clock = new Clock(() => this.wall)
    this.store = this.makeStore()
    this.core = this.makeCore()
  }
  private makeStore(): SqliteStore {
    return new SqliteStore(join(this.folder, 'sim.db'))
  }
  private makeCore(): Core<State, Commands> {
    return new Core<State, Commands>(
      this.state,
      this.handlers,
      { sequence: 0, hash: '' },
      {
        commit: (batch) => this.store.commit(batch),
        now: () => this.clock.now(),
        fatal: (error) => (this.fatal ??= error),
        defect: (error) => {
          throw error
        },
        check: (state) => state.check(),
        waitingMax: 10_000,
      },
    )
  }
  async open(): Promise<this> {
    const head = await this.store.open(this.sums, DECLARED)
    this.core.restart(head)
    await this.store.load(this.state.tables)
    this.store.sealBehind(head.hash, this.sums)
    await this.core.submit('world.configure', { config: BUILT_IN_WORLD })
    return this
  }
  /** From here on the tables stand still: whoever starts next finds the rest in the journal. */
  async holdBack(): Promise<void> {
    await this.store.holdBack(true)
  }
  /** Another process goes on, as after a kill: nothing is told to the one before, which still holds its files. */
  async restart(): Promise<void> {
    await this.core.idle()
    const before = this.store
    this.drained += await this.next()
    await before.close()
  }
  /** The same after an orderly stop: the journal is empty. */
  async stopAndStart(): Promise<void> {
    await this.core.idle()
    await this.store.close()
    assert.equal(await this.next(), 0, 'a stop leaves nothing in the journal')
    this.stopped++
  }
  /** Answers how many batches were in the journal alone. */
  private async next(): Promise<number> {
    const { hash, sequence } = this.core.committed
    this.state = new State()
    this.store = this.makeStore()
    this.core = this.makeCore()
    const head = await this.store.open(this.sums, DECLARED)
    assert.deepEqual([head.sequence, head.hash], [sequence, hash], 'nothing that was acknowledged is lost')
    this.core.restart(head)
    await this.store.load(this.state.tables)
    this.sums.setAll(head.sums)
    this.store.sealBehind(head.hash, this.sums)
    this.clock.atLeast(head.at)
    return head.drained
  }
  /** Rows that no rule needs leave memory at once. */
  async evict(): Promise<void> {
    await this.core.idle()
    for (const table of this.state.tables) {
      const { live } = table.spec
      if (live === undefined) continue
      for (const row of [...table.values()])
        if (!live(row)) {
          table.swap(table.keyOf(row), undefined, 'eviction')
          this.evicted++
        }
    }
  }
  /** Another configuration file: a fee is another. */
  async reconfigure(fee: string): Promise<void> {
    const { currencies } = BUILT_IN_WORLD
    const changed = currencies.map((one) =>
      one.currency === 'BTC'
        ? { ...one, chains: one.chains.map((chain) => ({ ...chain, withdraw_fix: fee })) }
        : one,
    )
    await this.core.submit('world.configure', { config: { ...BUILT_IN_WORLD, currencies: changed } })
    this.reconfigured++
  }
  pass(seconds: number): void {
    this.wall += seconds * 1e6
  }
  async close(): Promise<void> {
    await this.core.idle()
    await this.store.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Every live row in memory stands in the store, and no other. */
  async memoryEqualsStore(): Promise<void> {
    await this.core.idle()
    const stored = new State()
    await this.store.load(stored.tables)
    for (const [i, table] of this.state.tables.entries())
      assert.deepEqual(liveRows(stored.tables[i]!), liveRows(table), `table ${table.spec.name}`)
    const head = storeHead((await this.store.query(READ_HEAD, []))[0]!)
    const differing = await compareSeals(
      (sql, row) => this.store.scan(sql, row),
      head,
      this.sums.key,
      DECLARED,
    )
    assert.deepEqual(differing, [], 'the sums that were kept are those of the rows')
  }
  private readonly replay = new Replay(new State(), commands)
  /** The recorded commands give the same changes again, batch by batch, and lead to the same rows. */
  async replayEqualsState(): Promise<void> {
    await this.core.idle()
    for (const batch of await this.store.commandsAfter(this.replay.sequence, 1_000_000))
      this.replay.apply(batch)
    assert.equal(this.replay.hash, this.core.committed.hash)
    for (const [i, table] of this.state.tables.entries())
      assert.deepEqual(
        liveRows(this.replay.state.tables[i]!),
        liveRows(table),
        `replayed table ${table.spec.name}`,
      )
  }
}

/** What a row says, whatever class it is of. */
export function liveRows(table: Table<object>): object[] {
  const { live } = table.spec
  const columns = Object.keys(table.spec.columns)
  return [...table.values()]
    .filter((row) => live?.(row) ?? true)
    .sort((a, b) => (String(table.keyOf(a)) < String(table.keyOf(b)) ? -1 : 1))
    .map((row) =>
      Object.fromEntries(columns.map((column) => [column, (row as Record<string, unknown>)[column]])),
    )
}
