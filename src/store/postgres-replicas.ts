import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { isLost } from './postgres-client.ts'
import { HASH_OF, Readers, isPast, type Asked } from './postgres-readers.ts'
import type { Reads, Point } from './store.ts'

/** Connections to each replica. */
const READERS = 4
/** One that failed is left alone for so long. */
const REST_MS = 5_000
/** A replica is a moment behind the primary: so often, and so long, it is asked again. */
const TRIES = 3
const AGAIN_MS = 10
/** A server that does not even begin by then is gone without a word. */
const ANSWER_MS = 2_000
const QUERY_MS = 60_000
/** Questions that one may have at once; beyond that the next one is asked. */
const BUSY = 64

interface Replica {
  readonly readers: Readers
  restUntil: number
  asked: number
}

/**
 * Servers that follow the primary and answer questions about the past. What one says counts only where it had taken in
 * everything that anybody had been told when it was asked, by the hash of the last batch: looked at in the snapshot that
 * the answer is of.
 */
export class Replicas {
  private readonly replicas: readonly Replica[]
  private turn = 0
  readonly counts: { -readonly [C in keyof Reads]: Reads[C] } = {
    replica: 0,
    primary: 0,
    behind: 0,
    failed: 0,
  }

  constructor(urls: readonly string[]) {
    this.replicas = urls.map((url) => ({
      readers: new Readers(url, READERS, ANSWER_MS),
      restUntil: 0,
      asked: 0,
    }))
  }
  /** The rows; undefined: none of them can tell, and the primary is to be asked. */
  async query(asked: Asked, atLeast: Point): Promise<unknown[][] | undefined> {
    const replica = this.next()
    if (replica === undefined) return undefined
    replica.asked++
    try {
      for (let tries = 1; tries <= TRIES; tries++) {
        const rows = await replica.readers.with((client) => look(client, asked, atLeast))
        if (rows !== undefined) {
          this.counts.replica++
          return rows
        }
        if (tries < TRIES) await sleep(AGAIN_MS)
      }
      this.counts.behind++
    } catch (error) {
      this.counts.failed++
      // What the replica itself refused (a query that its recovery had to cancel) is no fault of the others.
      if (isLost(error)) replica.restUntil = performance.now() + REST_MS
    } finally {
      replica.asked--
    }
    return undefined
  }
  async end(): Promise<void> {
    await Promise.all(this.replicas.map(({ readers }) => readers.end()))
  }
  private next(): Replica | undefined {
    const now = performance.now()
    for (let i = 0; i < this.replicas.length; i++) {
      const replica = this.replicas[(this.turn + i) % this.replicas.length]!
      if (replica.restUntil > now || replica.asked >= BUSY) continue
      this.turn = (this.turn + i + 1) % this.replicas.length
      return replica
    }
    return undefined
  }
}

/** Everything is sent at once. Undefined: it is behind. */
async function look(
  client: pg.Client,
  { text, values }: Asked,
  atLeast: Point,
): Promise<unknown[][] | undefined> {
  const limited = (query: object, query_timeout: number): pg.QueryArrayConfig =>
    ({ ...query, rowMode: 'array', query_timeout }) as unknown as pg.QueryArrayConfig
  const sent = [
    client.query(limited({ text: 'begin isolation level repeatable read read only' }, ANSWER_MS)),
    client.query<unknown[]>(limited({ text: HASH_OF, values: [atLeast.sequence] }, QUERY_MS)),
    client.query<unknown[]>(limited({ text, values: [...values] }, QUERY_MS)),
    client.query(limited({ text: 'commit' }, QUERY_MS)),
  ] as const
  const settled = await Promise.allSettled(sent)
  for (const result of settled) if (result.status === 'rejected') throw result.reason
  const [, known, found] = await Promise.all(sent)
  return isPast(known.rows, atLeast) ? found.rows : undefined
}
