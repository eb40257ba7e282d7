import type { JsonSchema } from '../api/fields.ts'
import { shape, str } from '../api/shapes.ts'
import { CALL_CHANNELS } from '../sockets/call-channels.ts'
import { CHANNELS } from '../sockets/channels.ts'
import { ADDRESSES, prefixIn } from '../sockets/products.ts'
import { CALL_HEADER, PUSH_FRAME } from '../sockets/result-shapes.ts'

/** What sockets serve as AsyncAPI 3.0, made from the declarations that serve it. */
export function asyncapi(version: string): object {
  const channels: Record<string, object> = {}
  const operations: Record<string, object> = {}
  const add = (name: string, summary: string, message: JsonSchema, more: object): void => {
    const key = name.replace('.', '_')
    channels[key] = {
      title: name,
      address: (ADDRESSES[prefixIn(name)] ?? ADDRESSES['spot']!).split(' ')[0],
      description: summary,
      messages: { [key]: { title: name, contentType: 'application/json', payload: message } },
      ...more,
    }
    operations[key] = { action: 'send', channel: { $ref: `#/channels/${key}` }, summary }
  }
  for (const { name, summary, access, payload, pace, result, event = 'update' } of CHANNELS)
    add(
      name,
      summary,
      shape({
        ...PUSH_FRAME,
        channel: { ...str, enum: [name] },
        event: { ...str, enum: [event] },
        result,
      }),
      { 'x-access': access, 'x-payload': payload, 'x-pace': pace },
    )
  for (const { channel, summary, rest, acks, result } of CALL_CHANNELS)
    add(channel, summary, shape({ request_id: str, header: CALL_HEADER, data: shape({ result }) }), {
      'x-stands-for': rest,
      'x-acknowledged': acks,
    })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Kontor',
      version,
      description: 'What is pushed and answered over WebSocket; /docs tells how to subscribe and to call.',
    },
    channels,
    operations,
  }
}
