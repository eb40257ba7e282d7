import type { LiveDesk } from '../api/endpoint.ts'
import type { ReportedRequest } from '../api/fault-report.ts'
import type { FramePlan, Faults } from '../api/faults.ts'
import type { Allowance } from '../api/limiter.ts'
import type { Passage } from '../api/passage.ts'
import { kept, type RequestLog } from '../api/request-log.ts'
import { microsNow } from '../http/words.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { CALL_CHANNELS } from './call-channels.ts'
import type { ApiFrame, CallConnection } from './call-connection.ts'
import type { CallChannel } from './call-forms.ts'
import type { Answered } from './call-frames.ts'
import { ADDRESSES, prefixOf } from './products.ts'
import { rawMember } from './raw-member.ts'

export interface NotesParts {
  readonly desk: LiveDesk
  readonly faults: Faults
  /** Left out in live mode. */
  readonly requests: RequestLog | undefined
  readonly metrics: Metrics
  readonly log: Log
}
/** A call, as far as records tell of it. */
export interface NotedCall extends Answered {
  readonly connection: CallConnection
  /** Of calls that are limited. */
  readonly allowance: Allowance | undefined
  readonly frame: ApiFrame
  readonly declared: CallChannel | undefined
  readonly passage: Passage | undefined
  readonly plan: FramePlan | undefined
  readonly status: number
  /** What `paramOf` found; undefined: nobody looked. */
  param: string | null | undefined
  readonly data: string
}
/** By what the metrics call them. */
const ROUTES = new Map(CALL_CHANNELS.map(({ channel: path }) => [path, { endpoint: { method: 'WS' }, path }]))
const NO_CHANNEL = { endpoint: { method: 'WS' }, path: 'none' }

/** What metrics, log and the sandbox's records keep of calls. */
export class CallNotes {
  private readonly parts: NotesParts
  constructor(parts: NotesParts) {
    this.parts = parts
  }

  /** One that is answered. */
  add(call: NotedCall): void {
    const { metrics, log, requests, faults } = this.parts
    const { connection, channel, status, at } = call
    const micros = Math.max(0, microsNow() - at)
    metrics.request(ROUTES.get(channel) ?? NO_CHANNEL, status, micros)
    if (log.verbose) {
      const { conn_id, ip, session } = connection
      const fields = { conn_id, user_id: session?.user_id, channel: kept(channel), status, micros, ip }
      log.debug('a call over a socket', fields)
    }
    // As of pages' other calls.
    if (connection.session?.session_id !== undefined) return
    if (faults.report.active) faults.report.see(this.reported(call), status)
    if (requests !== undefined) this.log(requests, call, micros)
  }
  private log(requests: RequestLog, call: NotedCall, micros: number): void {
    const { connection, channel, passage, plan, status, data } = call
    const body = keptParam(call)
    requests.add({
      at: this.parts.desk.clock.peek(),
      micros,
      method: 'WS',
      path: passage?.path ?? ADDRESSES[prefixOf(connection.product)]!,
      query: `channel=${kept(channel)}`,
      ip: connection.ip,
      userId: connection.session?.user_id,
      key: connection.session?.key,
      operator: undefined,
      status,
      timestamp: undefined,
      remain: call.allowance?.remain,
      limit: call.allowance?.limit,
      dropped: plan?.dropReply === true || plan?.disconnect === true,
      ignored: undefined,
      body,
      reply: data,
    })
  }
  reported(call: NotedCall): ReportedRequest {
    const { connection, channel, passage, at } = call
    return {
      method: passage?.method ?? 'POST',
      path: passage?.path ?? ADDRESSES[prefixOf(connection.product)]!,
      channel: kept(channel),
      query: '',
      body: Buffer.from(keptParam(call)),
      userId: connection.session?.user_id,
      key: connection.session?.key,
      ip: connection.ip,
      arrived: at,
      at: this.parts.desk.clock.peek(),
    }
  }
}

/** The source text of req_param, looked for once. */
export function paramOf(call: NotedCall): string | undefined {
  if (call.frame.n !== undefined) return call.frame.param
  call.param ??= rawMember(call.frame.text, ['payload', 'req_param']) ?? null
  return call.param ?? undefined
}
/** Of a login nothing is kept. */
const keptParam = (call: NotedCall): string =>
  call.declared === undefined || call.declared.kind === 'login' ? '' : (paramOf(call) ?? '')
