import type { Allowance } from '../api/limiter.ts'
import { microsNow } from '../http/words.ts'
import type { CallConnection } from './calls.ts'

/** What the frames of one call have in common. */
export interface Answered {
  readonly connection: CallConnection
  /** The request's, as it was sent. */
  readonly channel: string
  /** Its req_id, as a text. */
  readonly id: string
  readonly trace: string
  /** Microseconds of the real time at which it arrived. */
  readonly at: number
  /** Of calls that are limited. */
  readonly allowance: Allowance | undefined
}

/** Parts are put together as text: this is done for every call, and all of them but the channel need no escapes. */
export function answerText(call: Answered, now: number, status: string, data: string): string {
  return `{"request_id":${JSON.stringify(call.id)},"header":${headerText(call, now, status)},"data":${data}}`
}

/** "Received": the payload comes back, without what nobody should read over a shoulder. */
export function ackText(call: Answered, now: number, payload: Readonly<Record<string, unknown>>): string {
  const { req_id = '', req_header, req_param, ...more } = payload
  const echo = {
    req_id,
    ...(req_header !== undefined && { req_header }),
    ...(req_param !== undefined && { req_param }),
    ...more,
    api_key: '',
    timestamp: '',
    signature: '',
  }
  const data = `{"result":${JSON.stringify(echo)}}`
  return `{"request_id":${JSON.stringify(call.id)},"ack":true,"header":${headerText(call, now, '200')},"data":${data}}`
}

/** `now` is the platform's clock, in microseconds. */
function headerText(
  { connection, channel, trace, at, allowance }: Answered,
  now: number,
  status: string,
): string {
  const { client_id, conn_id, conn_trace_id } = connection
  return (
    `{"response_time":"${Math.floor(now / 1000)}","status":"${status}","channel":${JSON.stringify(channel)},"event":"api",` +
    `"client_id":"${client_id}","x_in_time":${at},"x_out_time":${Math.max(at, microsNow())},` +
    `"conn_id":"${conn_id}","conn_trace_id":"${conn_trace_id}","trace_id":"${trace}"${limitText(allowance)}}`
  )
}
/** Figures that are 0 are left out; clients know the last one by two names. */
function limitText(allowance: Allowance | undefined): string {
  if (allowance === undefined) return ''
  const { allowed, remain, limit, resetAt } = allowance
  // Over the limit: the millisecond in which the next call passes.
  const reset = allowed ? Math.floor(resetAt / 1000) : Math.ceil(resetAt / 1000)
  return (
    (remain === 0 ? '' : `,"x_gate_ratelimit_requests_remain":${remain}`) +
    (limit === 0 ? '' : `,"x_gate_ratelimit_limit":${limit}`) +
    `,"x_gate_ratelimit_reset_timestamp":${reset},"x_gat_ratelimit_reset_timestamp":${reset}`
  )
}
