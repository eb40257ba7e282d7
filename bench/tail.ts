import { DECLARED } from '../src/core/state.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresStore } from '../src/store/postgres.ts'
import { newSums } from '../src/store/seals.ts'
import { BOUNDS } from '../src/store/spine.ts'
import { SqliteStore } from '../src/store/sqlite.ts'
import type { Store } from '../src/store/store.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { CLIENTS, coreOver, type OverStore } from './core.ts'
import { tellFacts } from './facts.ts'
import { median } from './load-generator.ts'
import type { Row, Table } from './results.ts'

/**
 * `npm run bench -- tail [sqlite | postgres]`: how much longer a start takes when the journal is as full as it gets: the
 * tables are held back until the bound, then the store is opened again as the next start opens it.
 */
const ROUNDS = 3
const LIMIT_SECONDS = 2
const KEY = '5'.repeat(64)

type Kind = 'transfers' | 'orders' | 'one by one'
const KINDS: readonly Kind[] = ['transfers', 'orders', 'one by one']

/** Full: one more round of all clients may come to the bound, and would then wait for ever. */
function isFull({ kind, lag }: Store): boolean {
  const { bytes, batches } = BOUNDS[kind === 'postgres' ? 'postgres' : 'sqlite']
  return lag.bytes > bytes * 0.97 || lag.batches > batches - 2 * CLIENTS
}
async function fill(over: OverStore, store: Store, kind: Kind): Promise<number> {
  let done = 0
  const clients = kind === 'one by one' ? 1 : CLIENTS
  const one = async (client: number): Promise<void> => {
    while (!isFull(store)) {
      await (kind === 'orders' ? over.order(client) : over.transfer(client))
      done++
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)))
  return done
}
async function opened(store: Store): Promise<{ seconds: number; drained: number }> {
  const start = performance.now()
  const { drained } = await store.open(newSums(KEY), DECLARED)
  const seconds = (performance.now() - start) / 1000
  await store.close()
  return { seconds, drained }
}

export async function run([only]: readonly string[]): Promise<void> {
  await longer(only, ROUNDS)
}
export async function measured(quick: boolean): Promise<Table[]> {
  const rounds = quick ? 1 : ROUNDS
  return [
    {
      title: `Seconds more than with an empty journal, medians of ${rounds}`,
      at: 'batches',
      rows: await longer(undefined, rounds),
    },
  ]
}
async function longer(only: string | undefined, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  tellFacts(only ?? 'SQLite and PostgreSQL')
  const server = await PostgresServer.start({ durable: true })
  const folder = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
  const places: readonly (readonly [string, string, (path: string) => Promise<() => Store>])[] = [
    ['sqlite', 'SQLite', (path) => Promise.resolve(() => new SqliteStore(join(folder, `${path}.db`)))],
    [
      'postgres',
      'PostgreSQL',
      async () => {
        const url = await server.database()
        return () => new PostgresStore(url)
      },
    ],
  ]
  try {
    for (const [id, name, place] of places) {
      if (only !== undefined && only !== id) continue
      for (const kind of KINDS) {
        const more: number[] = []
        let told = ''
        let at = 0
        for (let round = 0; round < rounds; round++) {
          const open = await place(`${kind}-${round}`)
          const store = open()
          const over = await coreOver(name, store)
          await store.holdBack(true)
          const done = await fill(over, store, kind)
          const { batches, bytes } = store.lag
          await over.close()
          const full = await opened(open())
          if (full.drained !== batches) throw new Error(`${full.drained} of ${batches} batches came back`)
          const empty = await opened(open())
          more.push(full.seconds - empty.seconds)
          at = batches
          told = `${done} ${kind === 'orders' ? 'orders' : 'transfers'} in ${batches} batches, ${(bytes / 2 ** 20).toFixed(1)} MiB`
        }
        const seconds = median(more)
        rows.push({ name: `${kind} on ${name}`, at, figures: { seconds } })
        console.log(
          `${name.padEnd(11)} ${kind.padEnd(10)} ${seconds.toFixed(2)} s more (${more.map((one) => one.toFixed(2)).join(', ')}), ${seconds < LIMIT_SECONDS ? 'within' : 'OVER'} ${LIMIT_SECONDS} s: ${told}`,
        )
      }
    }
    return rows
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
