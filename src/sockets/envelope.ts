import { tooDeep, unreadable } from '../http/words.ts'
import type { Label } from '../labels.ts'
import { withoutLongDigits } from './long-digits.ts'

/** What a client sent, as far as it could be read. */
export interface Request {
  readonly channel: string
  readonly event: string
  readonly time: unknown
  /** A number or a text; undefined: none. */
  readonly id: number | string | undefined
  /** Undefined: none. */
  readonly payload: unknown
  readonly auth: unknown
}
/** Codes of refused subscriptions. */
export const BAD_FRAME = 1
export const BAD_ARGUMENT = 2
export const UNAVAILABLE = 3
export const NOT_ALLOWED = 4

export interface FrameError {
  readonly code: number
  readonly message: string
}
/** Thrown by whoever reads a request. */
export class BadRequest extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
export const badArgument = (message: string): never => {
  throw new BadRequest(BAD_ARGUMENT, message)
}
/** The text of a refusal that REST would answer with a label. */
export const labelled = (label: Label, message: string, more: object = {}): string =>
  JSON.stringify({ label, message, ...more })

/** Times of a frame: seconds, and milliseconds. */
const times = (micros: number): string =>
  `"time":${Math.floor(micros / 1e6)},"time_ms":${Math.floor(micros / 1e3)}`

/** A push; `result` is JSON. */
export const pushFrame = (micros: number, channel: string, result: string, event = 'update'): string =>
  `{${times(micros)},"channel":"${channel}","event":"${event}","result":${result}}`

export const pongFrame = (micros: number, product: string, id: Request['id']): string =>
  `{${times(micros)}${idText(id)},"channel":"${product}.pong","event":"","error":null,"result":null}`

const idText = (id: Request['id']): string =>
  id === undefined ? '' : `,"id":${withoutLongDigits(JSON.stringify(id))}`

/** The answer to a subscription or its end. */
export function answerFrame(
  micros: number,
  connId: string,
  traceId: string,
  { id, channel, event, payload }: Pick<Request, 'id' | 'channel' | 'event' | 'payload'>,
  error?: FrameError,
): string {
  const echoed = payload === undefined ? '' : `,"payload":${JSON.stringify(payload)}`
  const outcome =
    error === undefined
      ? '"result":{"status":"success"}'
      : `"error":${JSON.stringify({ code: error.code, message: error.message })},"result":{"status":"fail"}`
  return withoutLongDigits(
    `{${times(micros)}${idText(id)},"conn_id":"${connId}","trace_id":"${traceId}","channel":${JSON.stringify(channel)},"event":${JSON.stringify(event)}${echoed},${outcome},"requestId":"${traceId}"}`,
  )
}

const ID_MAX = 64
const DEEP = 'the frame is nested too deep'
/** A subscription may name as many things as a connection may listen to, and no other frame has as many values. */
export const COMMAS_MAX = 16_384
/** Reads what every request has; throws BadRequest with what could be read of it. */
export function readRequest(text: string): Request {
  let frame: unknown
  const why = unreadable(text, COMMAS_MAX)
  if (why !== undefined) throw new BrokenFrame(`the frame ${why}`)
  try {
    frame = JSON.parse(text)
  } catch (error) {
    throw new BrokenFrame(`the frame is not JSON: ${(error as Error).message.slice(0, 200)}`)
  }
  if (frame === null || typeof frame !== 'object' || Array.isArray(frame))
    throw new BrokenFrame('the frame is not a JSON object; send {"time", "channel", "event", "payload"}')
  const { time, id, channel, event, payload, auth } = frame as Record<string, unknown>
  const named = typeof channel === 'string' ? channel : ''
  const what = typeof event === 'string' ? event : ''
  // A call's payload is looked at where it is read.
  if (what !== 'api' && tooDeep(frame)) throw new BrokenFrame(DEEP)
  const read = { channel: named, event: what, payload }
  // What is no safe integer would come back as another one.
  if (id !== undefined && id !== null && !Number.isSafeInteger(id) && typeof id !== 'string')
    throw new BrokenFrame('id: a number or a string; a number is whole', read)
  if (String(id).length > ID_MAX) throw new BrokenFrame(`id: at most ${ID_MAX} characters`, read)
  const known = id === null || id === undefined ? undefined : (id as number | string)
  if (named === '')
    throw new BrokenFrame('channel is missing: a string such as "spot.tickers"', { ...read, id: known })
  return { channel: named, event: what, time, id: known, payload, auth }
}
type Read = Pick<Request, 'channel' | 'event'> & Partial<Pick<Request, 'id' | 'payload'>>
/** A frame that is no request; what could be read of it comes back. */
export class BrokenFrame extends BadRequest {
  readonly read: Pick<Request, 'id' | 'channel' | 'event' | 'payload'>
  constructor(message: string, read: Read = { channel: '', event: '' }) {
    super(BAD_FRAME, message)
    this.read = { id: undefined, payload: undefined, ...read }
  }
}
