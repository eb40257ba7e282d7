import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { connect, destroy, endSoon, isLost } from './postgres-client.ts'
import { Preference } from './postgres-hosts.ts'
import { StoreAway, type Point } from './store.ts'

export interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}
const ANSWER_MS = 5_000
/** So long a connection that is not there, or tables that are not there yet, are waited for. */
const WAIT_MS = 10_000
const AGAIN_MS = 20
/** One that was not used for so long may be gone without a word. */
const QUIET_MS = 5_000

interface Place {
  readonly client: pg.Client
  usedAt: number
}

/** A few connections that look at the tables; those that are lost are replaced. */
export class Readers {
  private readonly url: string
  private readonly max: number
  private readonly preference = new Preference()
  private readonly idle: Place[] = []
  /** Those that others may have; the rest is of another time. */
  private current = new Set<pg.Client>()
  private open = 0
  private readonly waiting: (() => void)[] = []
  private closed = false

  private readonly connectMs: number | undefined

  constructor(url: string, max: number, connectMs?: number) {
    this.url = url
    this.max = max
    this.connectMs = connectMs
  }
  /** Rows of a database that holds everything up to a batch. A lost connection is tried once more. */
  async query(asked: Asked, atLeast: Point): Promise<unknown[][]> {
    try {
      return await this.with((client) => ask(client, asked), atLeast)
    } catch (error) {
      if (!isLost(error) || this.closed) throw error
      return this.with((client) => ask(client, asked), atLeast).catch((again: unknown) => {
        throw isLost(again) ? new StoreAway('the database does not answer', { cause: again }) : again
      })
    }
  }
  /** With a connection of its own; `atLeast`: one that has been seen to hold that much. */
  async with<T>(act: (client: pg.Client) => Promise<T>, atLeast?: Point): Promise<T> {
    const place = await this.take(atLeast)
    try {
      const result = await act(place.client)
      this.give(place)
      return result
    } catch (error) {
      // A statement that failed by itself leaves a connection as good as before.
      if (isLost(error)) this.drop(place.client)
      else this.give(place)
      throw error
    }
  }
  /** What there is may be connected to a server that is the primary no more. */
  renew(): void {
    this.current = new Set()
    for (const { client } of this.idle.splice(0)) this.drop(client)
  }
  async end(): Promise<void> {
    this.closed = true
    this.current = new Set()
    const clients = this.idle.splice(0).map(({ client }) => client)
    this.open -= clients.length
    await Promise.all(clients.map(endSoon))
    for (const go of this.waiting.splice(0)) go()
  }

  private async take(atLeast: Point | undefined): Promise<Place> {
    for (;;) {
      if (this.closed) throw new StoreAway('the store is closed')
      const place = this.idle.pop()
      if (place !== undefined) {
        if (performance.now() - place.usedAt < QUIET_MS || (await this.answers(place.client))) return place
        this.drop(place.client)
      } else if (this.open < this.max) return this.make(atLeast)
      else await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }
  private async make(atLeast: Point | undefined): Promise<Place> {
    this.open++
    try {
      const client = await this.connect(atLeast)
      this.current.add(client)
      return { client, usedAt: performance.now() }
    } catch (error) {
      this.open--
      this.next()
      throw error
    }
  }
  /** Waits for a server that is about to come, and for tables that a fail-over took back. */
  private async connect(atLeast: Point | undefined): Promise<pg.Client> {
    for (const began = performance.now(); ;) {
      const late = (): boolean => performance.now() - began > WAIT_MS || this.closed
      let client: pg.Client | undefined
      try {
        const made = (client = await connect(this.url, {
          waitMs: this.connectMs,
          preference: this.preference,
        }))
        made.on('error', () => this.lost(made))
        made.on('end', () => this.lost(made))
        if (atLeast === undefined) return made
        while (!(await holds(made, atLeast))) {
          if (late()) throw new StoreAway('the tables are behind')
          await sleep(AGAIN_MS)
        }
        return made
      } catch (error) {
        if (client !== undefined) {
          destroy(client)
          this.preference.next()
        }
        if (atLeast === undefined || !isLost(error) || late()) throw error
        await sleep(AGAIN_MS)
      }
    }
  }
  private async answers(client: pg.Client): Promise<boolean> {
    try {
      await client.query({ text: 'select 1', query_timeout: ANSWER_MS } as pg.QueryConfig)
      return this.current.has(client)
    } catch {
      return false
    }
  }
  private give(place: Place): void {
    if (!this.current.has(place.client)) return this.drop(place.client)
    place.usedAt = performance.now()
    this.idle.push(place)
    this.next()
  }
  private lost(client: pg.Client): void {
    const at = this.idle.findIndex((place) => place.client === client)
    if (at === -1) return void this.current.delete(client)
    this.idle.splice(at, 1)
    this.drop(client)
  }
  /** Of one that is out, or was taken out of the idle ones. */
  private drop(client: pg.Client): void {
    this.current.delete(client)
    destroy(client)
    this.open--
    this.next()
  }
  private next(): void {
    this.waiting.shift()?.()
  }
}

/** What a database has of a batch tells how far it has come, and that it is this one. */
export const HASH_OF = 'select hash from command_batch where sequence = $1'
export function isPast(rows: readonly (readonly unknown[])[], { sequence, hash }: Point): boolean {
  const found = sequence === 0 ? hash : rows[0]?.[0]
  if (found !== undefined && found !== hash)
    throw new StoreAway(`batch ${sequence} there is not the one that was written: it is another database`)
  return found !== undefined
}
async function holds(client: pg.Client, point: Point): Promise<boolean> {
  const values = [point.sequence]
  const query = { text: HASH_OF, values, rowMode: 'array', query_timeout: ANSWER_MS }
  return isPast((await client.query<unknown[]>(query as pg.QueryArrayConfig)).rows, point)
}
async function ask(client: pg.Client, { text, values }: Asked): Promise<unknown[][]> {
  return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows
}
