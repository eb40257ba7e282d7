import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { IDLE_MS, connect, destroy, endSoon, isLost, prepareSession } from './postgres-client.ts'
import { Preference } from './postgres-hosts.ts'
import { StoreBehind, StoreLost } from './store.ts'

const AGAIN_MS = 100

export interface LineOptions {
  /** How long a lost connection is tried for. */
  readonly waitMs: number
  /** How long a transaction may stand still. */
  readonly idleMs?: number
  /** Told when it is lost, and whoever used it can't know yet. */
  readonly lost?: () => void
  /** Told when there is another one. */
  readonly found?: () => void
}

/** A connection to PostgreSQL that is made anew when it is lost, for as long as that is waited for. Then it is lost for good. */
export class Line {
  private readonly url: string
  private readonly options: LineOptions
  private readonly preference = new Preference()
  private client: pg.Client | undefined
  private opening: Promise<pg.Client> | undefined
  private gone: StoreLost | undefined
  private closing = false

  private constructor(url: string, options: LineOptions) {
    this.url = url
    this.options = options
  }
  /** The first connection is there, or this fails. */
  static async open(url: string, options: LineOptions): Promise<Line> {
    const line = new Line(url, options)
    await line.connect()
    return line
  }
  /** As it is at this moment; undefined: it is lost. */
  get now(): pg.Client | undefined {
    return this.client
  }
  /** The connection, as soon as there is one; StoreLost when there will be none. */
  ready(): Promise<pg.Client> {
    if (this.client !== undefined) return Promise.resolve(this.client)
    if (this.gone !== undefined) return Promise.reject(this.gone)
    this.opening ??= this.again().finally(() => (this.opening = undefined))
    return this.opening
  }
  /** Asks, and once more on another connection where the first was lost: only for what may be done twice. */
  async ask<T>(act: (client: pg.Client) => Promise<T>): Promise<T> {
    for (const began = performance.now(); ;) {
      const client = await this.ready()
      try {
        return await act(client)
      } catch (error) {
        // A server that came back as it was before others went on without it is not the one that is looked for.
        const elsewhere = error instanceof StoreBehind
        if (!elsewhere && !isLost(error)) throw error
        this.leave(client)
        if (performance.now() - began > this.options.waitMs)
          throw elsewhere ? new StoreLost(error.message, { cause: error }) : error
        if (elsewhere) await sleep(AGAIN_MS)
      }
    }
  }
  /** It is of no use any more: an answer never came, or it said that it takes no writes. */
  leave(client: pg.Client): void {
    if (this.client !== client) return
    this.client = undefined
    this.preference.next()
    destroy(client)
    if (!this.closing) this.options.lost?.()
  }
  async end(): Promise<void> {
    this.closing = true
    this.gone ??= new StoreLost('the connection to PostgreSQL is closed')
    const { client } = this
    this.client = undefined
    if (client !== undefined) await endSoon(client)
  }

  private async again(): Promise<pg.Client> {
    const { waitMs } = this.options
    for (const began = performance.now(); ;) {
      try {
        const client = await this.connect()
        this.options.found?.()
        return client
      } catch (error) {
        if (this.gone !== undefined) throw this.gone
        if (performance.now() - began < waitMs) {
          await sleep(AGAIN_MS)
          continue
        }
        this.gone = new StoreLost(
          `the connection to PostgreSQL is lost, and there was none for ${Math.round(waitMs / 1000)} s (KONTOR_DATABASE_WAIT): ${(error as Error).message}`,
          { cause: error },
        )
        throw this.gone
      }
    }
  }
  private async connect(): Promise<pg.Client> {
    const client = await connect(this.url, { preference: this.preference })
    // Whoever has asked something hears of it from there.
    client.on('error', () => this.leave(client))
    client.on('end', () => this.leave(client))
    try {
      await prepareSession(client, this.options.idleMs ?? IDLE_MS)
    } catch (error) {
      destroy(client)
      throw error
    }
    if (this.closing) {
      destroy(client)
      throw this.gone!
    }
    return (this.client = client)
  }
}
