import { traceId, unreadable } from '../http/words.ts'
import { ackText, answerText, type Answered, type Named } from './call-frames.ts'
import { ID_MAX, idOf } from './call-reading.ts'
import { isObject } from './credentials.ts'
import { COMMAS_MAX } from './envelope.ts'
import type { CallAnswer, Called, CallLimits } from './line.ts'
import { PINGS } from './products.ts'
import { rawMember, soleMember } from './raw-member.ts'

interface Waiting extends Omit<Answered, 'connection'> {
  /** Until it is acknowledged. */
  called: Called | undefined
}

/**
 * The calls of one connection that wait for their answers, at its door: their frames are read and made where the socket
 * is, because there are many doors, and one desk.
 */
export class WaitingCalls {
  private readonly waiting = new Map<number, Waiting>()
  private last = 0
  private connection: Named = { client_id: '', ids: '' }

  add(call: PlainCall, at: number): Called {
    const { channel, payload } = call
    const called = { n: ++this.last, ...call }
    this.waiting.set(called.n, {
      channel,
      id: idOf(payload['req_id']) ?? '',
      trace: traceId(),
      at,
      called,
    })
    return called
  }
  name(client_id: string, ids: string): void {
    this.connection = { client_id, ids }
  }
  /** Undefined: nobody waits for it. */
  acknowledge(n: number, now: number, limits: CallLimits): string | undefined {
    const call = this.waiting.get(n)
    if (call?.called === undefined) return undefined
    const { payload, param } = call.called
    call.called = undefined
    return ackText(this.answered(call), now, limits, payload, param)
  }
  answer({ n, now, limits, status, data }: CallAnswer): string | undefined {
    const call = this.waiting.get(n)
    this.waiting.delete(n)
    return call === undefined ? undefined : answerText(this.answered(call), now, limits, status, data)
  }
  private answered({ channel, id, trace, at }: Waiting): Answered {
    return { connection: this.connection, channel, id, trace, at }
  }
}

export type PlainCall = Omit<Called, 'n'>
/** More than this beside req_param no client writes. */
export const BESIDE_MAX = 4 * 1024

/**
 * A call as clients write them; undefined: it is none, or an odd one, at which the desk looks as a whole. So is a login,
 * whose signature is made over the very letters of its frame, and so is a ping, which is none whatever its event.
 */
export function plainCallIn(text: string): PlainCall | undefined {
  if (!text.includes('"api"') || unreadable(text, COMMAS_MAX) !== undefined) return undefined
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(frame)) return undefined
  const { channel, event, id, payload } = frame
  if (event !== 'api' || !isId(id) || !isObject(payload) || !isChannel(channel)) return undefined
  const param = payload['req_param'] === undefined ? undefined : paramIn(text)
  // What is beside it may be written again, and must not be deep or long.
  if (text.length - (param?.length ?? 0) > BESIDE_MAX || !isPlain(payload)) return undefined
  return { channel, payload, param }
}
const isChannel = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.endsWith('.login') && !PINGS.has(value)
/** As `readRequest` takes them. */
const isId = (id: unknown): boolean =>
  id === undefined ||
  id === null ||
  Number.isSafeInteger(id) ||
  (typeof id === 'string' && id.length <= ID_MAX)
const paramIn = (text: string): string | undefined =>
  soleMember(text, 'req_param') ?? rawMember(text, ['payload', 'req_param'])

/** No member but req_param, and those of req_header, has members of its own. */
export function isPlain(payload: Readonly<Record<string, unknown>>): boolean {
  for (const name in payload) {
    if (name === 'req_param') continue
    const value = payload[name]
    if (value === null || typeof value !== 'object') continue
    if (name !== 'req_header' || !isObject(value)) return false
    for (const header in value) if (value[header] !== null && typeof value[header] === 'object') return false
  }
  return true
}
