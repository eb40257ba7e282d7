import assert from 'node:assert/strict'
import { RULES, commands } from '../../../src/core/commands.ts'
import { State } from '../../../src/core/state.ts'
import { decoderOf, encoderOf } from '../../../src/machine/codec.ts'
import { Replay, type RecordedBatch } from '../../../src/machine/replay.ts'
import type { Table } from '../../../src/machine/table.ts'
import { LAST_CHECKPOINT, checkpointOf } from '../../../src/store/checkpoints.ts'
import { COMMANDS_AFTER, commandBatch } from '../../../src/store/head.ts'
import { selectFrom } from '../../../src/store/shapes.ts'
import type { Snapshot } from '../../../src/store/store.ts'

const PORTION = 500
/** What it needs to see of the files. */
export type Sight = Pick<Snapshot, 'query' | 'each' | 'tail'>

/**
 * A second state that lives beside the platform and knows nothing but the commands that its files hold: it goes on from
 * where it was, so that each command is carried out once here however often one looks. Every batch must make the very
 * changes that were recorded, as in `kontor replay`.
 */
export class Shadow {
  private run = new Replay(new State(), commands)
  private readonly heard: (command: string) => void

  /** Told of every command that was recorded. */
  constructor(heard: (command: string) => void = () => undefined) {
    this.heard = heard
  }
  /** The world began anew. */
  forget(): void {
    this.run = new Replay(new State(), commands)
  }
  /**
   * Memory, the tables and what the commands lead to are the same, row by row. False: memory stands elsewhere than the
   * tables do, because something fell due meanwhile.
   */
  async compare(core: { readonly state: State; readonly stands: number }, snapshot: Sight): Promise<boolean> {
    await this.follow(snapshot)
    if (core.stands !== this.run.sequence) return false
    const texts = core.state.tables.map((table) => ({ table, rows: textsOf(table) }))
    const mine = this.run.state.tables
    for (const [i, { table, rows }] of texts.entries()) {
      same(rows, textsOf(mine[i]!), `${table.spec.name}: memory and the commands`)
      same(rows, await stored(snapshot, table), `${table.spec.name}: memory and the tables`)
    }
    return true
  }
  private async follow(snapshot: Sight): Promise<void> {
    const checkpoint = checkpointOf((await snapshot.query(LAST_CHECKPOINT))[0])
    assert.ok(checkpoint === undefined || checkpoint.rules === RULES)
    for (;;) {
      const batches = (await snapshot.query(COMMANDS_AFTER, [this.run.sequence, PORTION])).map(commandBatch)
      for (const batch of batches) this.apply(batch)
      if (batches.length < PORTION) break
    }
    // Tables that are not behind have nothing there.
    for (const entry of await snapshot.tail()) this.apply(entry)
  }
  private apply(batch: RecordedBatch): void {
    this.run.apply(batch, this.heard)
  }
}

type Texts = ReadonlyMap<unknown, string>
function textsOf(table: Table<object>): Texts {
  const { columns, live } = table.spec
  const encode = encoderOf(columns)
  const texts = new Map<unknown, string>()
  for (const row of table.values())
    if (live === undefined || live(row)) texts.set(table.keyOf(row), JSON.stringify(encode(row)))
  return texts
}
async function stored(snapshot: Sight, table: Table<object>): Promise<Texts> {
  const { name, columns, live } = table.spec
  const decode = decoderOf<object>(columns)
  const encode = encoderOf(columns)
  const texts = new Map<unknown, string>()
  await snapshot.each(
    `${selectFrom(name, columns)}${live === undefined ? '' : ' where "live"'}`,
    (values) => {
      const row = decode(values)
      texts.set(table.keyOf(row), JSON.stringify(encode(row)))
    },
  )
  return texts
}
function same(one: Texts, other: Texts, where: string): void {
  for (const [key, text] of one)
    assert.equal(other.get(key), text, `${where} differ in ${String(key)}: ${text} and ${other.get(key)}`)
  for (const key of other.keys()) assert.ok(one.has(key), `${where} differ: ${String(key)} is in one alone`)
}
