import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import type { Faults } from '../api/faults.ts'
import { integer, number, object, optional, time, withDefault } from '../api/fields.ts'
import type { RequestLog } from '../api/request-log.ts'
import { anything, array, int, int64, nullable, num, shape, str } from '../api/shapes.ts'
import { AUDIT } from '../core/tables/audit.ts'
import { refuse } from '../labels.ts'
import type { Vital } from '../runtime/vitals.ts'
import type { AgentControls } from './agents.ts'

/** What operators see of a WebSocket connection. */
export interface SocketRow {
  readonly conn_id: string
  readonly ip: string
  readonly product: string
  /** Seconds. */
  readonly since: number
  readonly user_ids: readonly number[]
  readonly subscriptions: number
  readonly queue_bytes: number
  readonly frames_in: number
  readonly frames_out: number
}
export interface ClusterStatus {
  readonly node: string
  /** Counts the cores that were active. */
  readonly epoch: number
  readonly lease_left_ms: number
  /** On other machines. */
  readonly gateways: readonly {
    readonly name: string
    readonly address: string
    readonly version: string
    readonly connections: number
  }[]
}
/** What the operator API needs beyond the desk. */
export interface Controls extends AgentControls {
  readonly version: string
  /** What an operator should know about the settings. */
  readonly warnings: readonly string[]
  readonly faults: Faults
  /** Of a sandbox. */
  readonly requests: RequestLog
  /** Moves the sandbox clock; everything due in between happens first. */
  /** Tells how many items of due work failed on the way and were put aside. */
  readonly advanceTo: (micros: number, operator: string) => Promise<number>
  /** Everything that follows from the present prices, and is due now, has happened when it resolves. */
  readonly settle: () => Promise<void>
  readonly reset: () => Promise<void>
  /** The figures of the last hour, oldest first. */
  readonly vitals: () => readonly Vital[]
  /** Processes that speak HTTP for the core. */
  readonly gateways: () => readonly { readonly pid: number; readonly connections: number }[]
  /** Of PostgreSQL alone: who answers for the database, and for which machines. */
  readonly cluster: () => ClusterStatus | undefined
  /** WebSocket connections, of all gateways; `close` says false where there is none of this name. */
  readonly sockets: {
    readonly list: () => readonly SocketRow[]
    readonly close: (connId: string) => boolean
  }
}
const seconds = (micros: number): number => Math.floor(micros / 1000) / 1000
const YEAR_SECONDS = 366 * 86_400

export const platformEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/status',
    summary: 'Tells mode, time, version, store and sequence',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: shape({
      mode: str,
      now: num,
      version: str,
      store: str,
      sequence: int64,
      projection: shape({ sequence: int64, lag_batches: int64, lag_bytes: int64 }),
      warnings: array(str),
      halted: nullable(shape({ by: str, at: int64, reason: str })),
      markets_halted: array(str),
      gateways: array(shape({ pid: int64, connections: int })),
      cluster: nullable(
        shape({
          node: str,
          epoch: int64,
          lease_left_ms: int64,
          gateways: array(shape({ name: str, address: str, version: str, connections: int })),
        }),
      ),
    }),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world }) => ({
        mode: desk.mode,
        now: seconds(desk.clock.peek()),
        version: controls.version,
        store: desk.store.kind,
        sequence: desk.core.committed.sequence,
        projection: projectionOf(desk),
        warnings: controls.warnings,
        halted: world.halt ?? null,
        markets_halted: world.allMarkets.filter(({ halted }) => halted).map(({ id }) => id),
        gateways: controls.gateways(),
        cluster: controls.cluster() ?? null,
      })),
  }),
  endpoint({
    method: 'GET',
    path: '/health',
    summary: 'How it has been doing: a line of figures for every ten seconds of the last hour, oldest first',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(
      shape({
        time: int64,
        requests_per_second: num,
        errors_per_second: num,
        commits_per_second: num,
        commit_ms: num,
        lag_batches: int64,
        lag_bytes: int64,
        waiting: int64,
        sockets: int64,
        memory_bytes: int64,
        busy: num,
      }),
    ),
    refuses: [],
    handle: () => Promise.resolve(controls.vitals()),
  }),
  endpoint({
    method: 'GET',
    path: '/clock',
    summary: "Tells the platform's clock",
    access: operatorOf('viewer'),
    limit: null,
    sandboxOnly: true,
    status: 200,
    reply: shape({ now: num, offset_seconds: num }),
    refuses: [],
    handle: async ({ desk }) =>
      Promise.resolve({ now: seconds(desk.clock.peek()), offset_seconds: seconds(desk.clock.distance) }),
  }),
  endpoint({
    method: 'POST',
    path: '/clock',
    summary: 'Moves the clock forward; everything due in between happens, in order, before the answer',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: object({ advance_seconds: optional(number(0, 10 * YEAR_SECONDS)), now: optional(time()) }),
    status: 200,
    reply: shape({ now: num, offset_seconds: num, due_failed: int }),
    refuses: ['TOO_BUSY'],
    handle: async ({ desk, operator, body }) => {
      const here = desk.clock.peek()
      if (body.advance_seconds !== null && body.now !== null)
        refuse('INVALID_PARAM_VALUE', 'now: name it or advance_seconds, not both')
      if (body.advance_seconds === null && body.now === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: advance_seconds or now (one of them)')
      const target =
        body.now !== null ? Math.round(body.now * 1e6) : here + Math.round(body.advance_seconds! * 1e6)
      if (target < here)
        refuse('INVALID_PARAM_VALUE', `now: time does not run back; the clock is at ${seconds(here)}`)
      if (target > here + 10 * YEAR_SECONDS * 1e6)
        refuse('INVALID_PARAM_VALUE', 'the clock moves at most ten years at a time')
      const due_failed = await controls.advanceTo(target, operator)
      return { now: seconds(desk.clock.peek()), offset_seconds: seconds(desk.clock.distance), due_failed }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/audit',
    summary: 'What operators did, hash-chained, oldest first; from is the first id (or Unix seconds)',
    access: operatorOf('viewer'),
    limit: null,
    query: { from: withDefault(integer(0, 9_999_999_999), 0), limit: withDefault(integer(1, 1000), 100) },
    status: 200,
    reply: array(
      shape({
        id: int64,
        time: num,
        operator: str,
        action: str,
        detail: anything,
        previous_hash: str,
        hash: str,
        at: str,
      }),
    ),
    refuses: [],
    handle: async ({ desk, query }) => {
      const byTime = query.from >= 1_000_000_000
      // Time and id rise together, so both orders are the same one.
      const where = byTime
        ? 'where "at" >= ? order by "at", "id" limit ?'
        : 'where "id" >= ? order by "id" limit ?'
      const records = await desk.store.select(AUDIT, where, [
        byTime ? query.from * 1e6 : query.from,
        query.limit,
      ])
      return records.map(({ at, ...record }) => ({ ...record, time: seconds(at), at: String(at) }))
    },
  }),
  endpoint({
    method: 'POST',
    path: '/reset',
    summary: 'Back to the world of the first start, with the same keys and tokens',
    access: operatorOf('admin'),
    limit: null,
    sandboxOnly: true,
    status: 200,
    reply: shape({ now: num, sequence: int64 }),
    refuses: [],
    handle: async ({ desk }) => {
      await controls.reset()
      return { now: seconds(desk.clock.peek()), sequence: desk.core.committed.sequence }
    },
  }),
]

/** How far the tables are behind the journal. */
function projectionOf({ core, store }: Desk): { sequence: number; lag_batches: number; lag_bytes: number } {
  const { batches, bytes } = store.lag
  return { sequence: core.committed.sequence - batches, lag_batches: batches, lag_bytes: bytes }
}
