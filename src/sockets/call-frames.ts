import type { Allowance } from '../api/limiter.ts'
import { microsNow } from '../http/words.ts'
import type { CallLimits } from './line.ts'
import { withoutLongDigits } from './long-digits.ts'

/** What the frames of one call have in common. */
export interface Answered {
  readonly connection: Named
  /** The request's, as it was sent. */
  readonly channel: string
  /** Its req_id, as a text. */
  readonly id: string
  readonly trace: string
  /** Microseconds of the real time at which it arrived. */
  readonly at: number
}
/** What every frame says of its connection. */
export interface Named {
  readonly client_id: string
  /** conn_id and conn_trace_id, as members. */
  readonly ids: string
}

/** Parts are put together as text: this is done for every call, and all of them but the channel need no escapes. */
export function answerText(
  call: Answered,
  now: number,
  limits: CallLimits,
  status: number,
  data: string,
): string {
  return framed(call, headerText(call, now, limits, status), data)
}
const framed = ({ id }: Answered, header: string, data: string, more = ''): string =>
  `{"request_id":${quoted(id)}${more},"header":${header},"data":${withoutLongDigits(data)}}`
/** What the client wrote. */
const quoted = (text: string): string => withoutLongDigits(JSON.stringify(text))

/** Members of a payload that have their own place in its echo. */
const PLACED: ReadonlySet<string> = new Set([
  'req_id',
  'req_header',
  'req_param',
  'api_key',
  'timestamp',
  'signature',
])
/**
 * "Received": the payload comes back, without what nobody should read over a shoulder. `param` is the source text of its
 * req_param.
 */
export function ackText(
  call: Answered,
  now: number,
  limits: CallLimits,
  payload: Readonly<Record<string, unknown>>,
  param: string | undefined,
): string {
  const { req_id = '', req_header } = payload
  let echo = `{"req_id":${JSON.stringify(req_id)}`
  if (req_header !== undefined) echo += `,"req_header":${JSON.stringify(req_header)}`
  if (param !== undefined) echo += `,"req_param":${param}`
  for (const name in payload)
    if (!PLACED.has(name)) echo += `,${JSON.stringify(name)}:${JSON.stringify(payload[name])}`
  const data = `{"result":${echo},"api_key":"","timestamp":"","signature":""}}`
  return framed(call, headerText(call, now, limits, 200), data, ',"ack":true')
}

/** `now` is the platform's clock, in microseconds. */
function headerText(
  { connection, channel, trace, at }: Answered,
  now: number,
  limits: CallLimits,
  status: number,
): string {
  const { client_id, ids } = connection
  return (
    `{"response_time":"${Math.floor(now / 1000)}","status":"${status}","channel":${quoted(channel)},"event":"api",` +
    `"client_id":"${client_id}","x_in_time":${at},"x_out_time":${Math.max(at, microsNow())},` +
    `${ids},"trace_id":"${trace}"${limitText(limits)}}`
  )
}
/** Of a call that counts in no window: none. */
export function limitsOf(allowance: Allowance | undefined): CallLimits {
  if (allowance === undefined) return undefined
  const { allowed, remain, limit, resetAt } = allowance
  // Over the limit: the millisecond in which the next call passes.
  return [remain, limit, allowed ? Math.floor(resetAt / 1000) : Math.ceil(resetAt / 1000)]
}
/** Figures that are 0 are left out; clients know the last one by two names. */
function limitText(limits: CallLimits): string {
  if (limits === undefined) return ''
  const [remain, limit, reset] = limits
  return (
    (remain === 0 ? '' : `,"x_gate_ratelimit_requests_remain":${remain}`) +
    (limit === 0 ? '' : `,"x_gate_ratelimit_limit":${limit}`) +
    `,"x_gate_ratelimit_reset_timestamp":${reset},"x_gat_ratelimit_reset_timestamp":${reset}`
  )
}
