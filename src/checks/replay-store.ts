import { decoderOf, encoderOf } from '../machine/codec.ts'
import { RULES, commands } from '../core/commands.ts'
import { State } from '../core/state.ts'
import { Divergence, Replay } from '../machine/replay.ts'
import type { Table } from '../machine/table.ts'
import { CHECKPOINT_PARTS, LAST_CHECKPOINT, checkpointOf } from '../store/checkpoints.ts'
import { COMMANDS_AFTER, commandBatch } from '../store/head.ts'
import { selectFrom } from '../store/shapes.ts'
import { loading } from '../store/statements.ts'
import type { Snapshot } from '../store/store.ts'

/** Throws a Divergence with the first difference. */
export async function replayStore(
  snapshot: Snapshot,
): Promise<{ sequence: number; hash: string; commands: number; rows: number }> {
  const [[sequence, hash]] = (await snapshot.query('select sequence, hash from head')) as [[number, string]]
  const run = new Replay(new State(), commands)
  await loadCheckpoint(snapshot, run)
  for (;;) {
    const batches = (await snapshot.query(COMMANDS_AFTER, [run.sequence, 500])).map(commandBatch)
    for (const batch of batches) run.apply(batch)
    if (batches.length === 0) break
  }
  if (run.sequence !== sequence || run.hash !== hash)
    throw new Divergence(
      `the recorded commands end at batch ${run.sequence}, but the store's head is at ${sequence}`,
    )
  let rows = 0
  for (const table of run.state.tables) rows += await compare(snapshot, table)
  // What a killed platform left in the journal comes behind the tables.
  for (const entry of await snapshot.tail()) run.apply(entry)
  return { sequence: run.sequence, hash: run.hash, commands: run.commands, rows }
}

/** Rules change, and then the commands from before lead elsewhere: their state was kept when it happened. */
async function loadCheckpoint(snapshot: Snapshot, run: Replay<State>): Promise<void> {
  const checkpoint = checkpointOf((await snapshot.query(LAST_CHECKPOINT))[0])
  if (checkpoint === undefined) return
  if (checkpoint.rules !== RULES)
    throw new Divergence(
      `the last checkpoint is of rules ${checkpoint.rules}, this version has rules ${RULES}; start it once on this database first`,
    )
  const tables = new Map(run.state.tables.map((table) => [table.spec.name, table]))
  await snapshot.each(CHECKPOINT_PARTS, ([name, rows]) => {
    const table = tables.get(String(name))
    if (table === undefined)
      throw new Divergence(`the checkpoint has rows of the unknown table ${String(name)}`)
    const { row } = loading(table)
    for (const values of JSON.parse(String(rows)) as unknown[][]) row(values)
  })
  run.beginAt(checkpoint.sequence, checkpoint.hash)
}

/** Every live row of the store is in memory, equal, and memory has no other. */
async function compare(snapshot: Snapshot, table: Table<object>): Promise<number> {
  const { name, columns, live } = table.spec
  const decode = decoderOf<object>(columns)
  const encode = encoderOf(columns)
  const text = (row: object): string => JSON.stringify(encode(row))
  let count = 0
  await snapshot.each(
    `${selectFrom(name, columns)}${live === undefined ? '' : ' where "live"'}`,
    (values) => {
      const stored = decode(values)
      const key = table.keyOf(stored)
      const replayed = table.get(key)
      if (replayed === undefined)
        throw new Divergence(`${name} ${key}: is in the store, but no command made it`)
      if (text(replayed) !== text(stored))
        throw new Divergence(
          `${name} ${key}: the store has ${text(stored)}, the commands lead to ${text(replayed)}`,
        )
      count++
    },
  )
  let expected = 0
  for (const row of table.values()) if (live === undefined || live(row)) expected++
  if (expected !== count)
    throw new Divergence(`${name}: the commands lead to ${expected} rows, the store has ${count}`)
  return count
}
