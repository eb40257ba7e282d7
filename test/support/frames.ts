import assert from 'node:assert/strict'
import type { JsonSchema } from '../../src/api/fields.ts'
import { anything, bool, int, int64, num, shape, str } from '../../src/api/shapes.ts'
import { CALL_CHANNELS } from '../../src/sockets/call-channels.ts'
import { CHANNEL_BY_NAME } from '../../src/sockets/channels.ts'
import { CALL_HEADER, PUSH_FRAME } from '../../src/sockets/result-shapes.ts'
import { mismatch } from './shape.ts'
import type { Frame } from './socket.ts'

const CALLS = new Map(CALL_CHANNELS.map((one) => [one.channel, one]))
/** Whole, and maybe of 16 digits: some count microseconds. */
const ID: JsonSchema = { anyOf: [num, str] }
const times = { time: int64, time_ms: int64 }
const PONG = shape({ ...PUSH_FRAME, 'id?': ID, error: { type: 'null' }, result: { type: 'null' } })
const ANSWER = shape({
  ...times,
  'id?': ID,
  conn_id: str,
  trace_id: str,
  channel: str,
  event: str,
  'payload?': anything,
  'error?': shape({ code: int, message: str }),
  result: shape({ status: { type: 'string', enum: ['success', 'fail'] } }),
  requestId: str,
})
/** Told before a platform stops. */
const NOTICE = shape({ type: { type: 'string', enum: ['upgrade'] }, msg: str })
const REFUSAL = shape({ label: str, message: str, 'signature_string?': str })
const called = (result: JsonSchema, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema =>
  shape({ request_id: str, header: CALL_HEADER, data: shape({ result }), ...more })
const REFUSED = shape({ request_id: str, header: CALL_HEADER, data: shape({ errs: REFUSAL }) })
const ACK = called(anything, { ack: bool })

/** Frames that were held against their declaration, by what they are of. */
export const heldFrames = new Map<string, number>()

/** Every frame that a test receives is held against the declaration of its channel or call. */
export function checkFrame(frame: Frame): void {
  const [schema, name] = schemaOf(frame)
  mismatch(schema, frame, name)
  const { id } = frame
  assert.ok(typeof id !== 'number' || Number.isSafeInteger(id), `${name}: id ${String(id)}`)
  heldFrames.set(name, (heldFrames.get(name) ?? 0) + 1)
}
function schemaOf(frame: Frame): [JsonSchema, string] {
  const { header, channel, event, requestId } = frame
  if (header !== undefined) {
    const name = `call of ${String(header.channel)}`
    if (frame['data']?.errs !== undefined) return [REFUSED, name]
    if (frame['ack'] !== undefined) return [ACK, `ack of ${String(header.channel)}`]
    const declared = CALLS.get(header.channel as string)
    assert.ok(declared !== undefined, `${name}: there is no such call`)
    return [called(declared.result), name]
  }
  if (requestId !== undefined) return [ANSWER, 'answer']
  if (typeof channel === 'string' && channel.endsWith('.pong')) return [PONG, channel]
  if (typeof channel === 'string' && channel.endsWith('.system'))
    return [shape({ ...PUSH_FRAME, result: NOTICE }), channel]
  const declared = CHANNEL_BY_NAME.get(channel as string)
  assert.ok(declared !== undefined, `${String(channel)}: there is no such channel`)
  assert.equal(event, declared.event ?? 'update', `${declared.name}: event`)
  return [shape({ ...PUSH_FRAME, result: declared.result }), declared.name]
}
