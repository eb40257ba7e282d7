import type pg from 'pg'
import { FOLLOWING, type Following } from './journal-reader.ts'
import { IDLE_MS, connect, destroy, prepareSession } from './postgres-client.ts'
import { Fenced } from './store.ts'

/** Who answers for a database at the moment, as the database itself records it. */
export interface LeaseRow {
  /** Counts the holders: who holds it is fenced by the next one. */
  readonly epoch: number
  /** Empty: it was given back. */
  readonly node: string
  /** Where gateways of other machines reach its holder; empty: nowhere. */
  readonly address: string
  /** Which process of which machine that is, for who can look whether it lives; empty: nobody can. */
  readonly process: string
  /** Counts every change: whoever sees it stand still for the time of a lease knows that it has ended. */
  readonly renewed: number
  readonly ms: number
  /** Who is to hold it next; empty: whoever comes. */
  readonly wanted: string
}
export interface Holder {
  readonly node: string
  readonly address: string
  readonly process: string
  readonly ms: number
}

const MAKE = [
  `create table if not exists core_lease (one integer primary key check (one = 1), epoch bigint not null, node text not null,
    address text not null, process text not null, renewed bigint not null, ms bigint not null, wanted text not null)`,
  `insert into core_lease values (1, 0, '', '', '', 0, 0, '') on conflict (one) do nothing`,
]
const COLUMNS = 'epoch, node, address, process, renewed, ms, wanted'
const READ = `select ${COLUMNS} from core_lease`
/** Only from what was seen: two who saw the same can't both take it. */
const TAKE = `update core_lease set epoch = epoch + 1, node = $2, address = $3, renewed = renewed + 1, ms = $4, process = $5, wanted = ''
  where renewed = $1 returning ${COLUMNS}`
const RENEW = `update core_lease set renewed = renewed + 1 where epoch = $1 returning ${COLUMNS}`
const GIVE = `update core_lease set node = '', address = '', process = '', renewed = renewed + 1 where epoch = $1`
const WANT = `update core_lease set wanted = $1 where node <> '' returning ${COLUMNS}`
/** Made by two at once: one of them is told so in a roundabout way. */
const MADE_BY_ANOTHER = new Set(['23505', '42P07', '42710'])

/** The lease's row, over a connection of its own that is made anew when it breaks. Each call waits so long at most. */
export class LeaseTable {
  private readonly url: string
  private readonly waitMs: number
  private client: pg.Client | undefined
  private opening: Promise<pg.Client> | undefined
  private closed = false

  constructor(url: string, waitMs: number) {
    this.url = url
    this.waitMs = waitMs
  }
  /** Makes it where there is none yet. */
  async prepare(): Promise<void> {
    try {
      for (const sql of MAKE) await this.ask(sql, [])
    } catch (error) {
      if (!MADE_BY_ANOTHER.has((error as { code?: string }).code ?? '')) throw error
      await this.ask(MAKE[1]!, [])
    }
  }
  async read(): Promise<LeaseRow> {
    return (await this.ask(READ, []))[0]!
  }
  /** Undefined: somebody changed it since it was seen. */
  async take(seen: LeaseRow, { node, address, process, ms }: Holder): Promise<LeaseRow | undefined> {
    return (await this.ask(TAKE, [seen.renewed, node, address, ms, process]))[0]
  }
  async renew({ epoch }: LeaseRow): Promise<LeaseRow> {
    const [row] = await this.ask(RENEW, [epoch])
    if (row === undefined) throw new Fenced()
    return row
  }
  /** Of one that is somebody else's by now nothing changes. */
  async giveBack({ epoch }: LeaseRow): Promise<void> {
    await this.ask(GIVE, [epoch])
  }
  /** Asks the holder to hand it to this node; undefined: nobody holds it. */
  async want(node: string): Promise<LeaseRow | undefined> {
    return (await this.ask(WANT, [node]))[0]
  }
  /** Who stands by. */
  following(): Promise<Following[]> {
    return this.ask<Following>(FOLLOWING, [])
  }
  async close(): Promise<void> {
    this.closed = true
    await this.client?.end().catch(() => undefined)
  }

  private async ask<Row extends object = LeaseRow>(
    text: string,
    values: readonly (string | number)[],
  ): Promise<Row[]> {
    const client = await this.connected()
    const query: pg.QueryConfig & { query_timeout: number } = {
      text,
      values: [...values],
      query_timeout: this.waitMs,
    }
    try {
      return (await client.query<Row>(query)).rows
    } catch (error) {
      // What did not come back may still be under way, and a server may have become one that takes no writes.
      this.drop(client)
      throw error
    }
  }
  private connected(): Promise<pg.Client> {
    if (this.client !== undefined) return Promise.resolve(this.client)
    return (this.opening ??= this.open().finally(() => (this.opening = undefined)))
  }
  private async open(): Promise<pg.Client> {
    const client = await connect(this.url, { name: 'kontor lease', waitMs: this.waitMs })
    client.on('error', () => this.drop(client))
    client.on('end', () => this.drop(client))
    try {
      // A primary that was cut off from its standby must not be able to prolong a lease by itself.
      await prepareSession(client, IDLE_MS, this.waitMs)
    } catch (error) {
      destroy(client)
      throw error
    }
    if (this.closed) await client.end()
    else this.client = client
    return client
  }
  private drop(client: pg.Client): void {
    if (this.client !== client) return
    this.client = undefined
    destroy(client)
  }
}
