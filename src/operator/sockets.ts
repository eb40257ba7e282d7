import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { text } from '../api/fields.ts'
import { array, int, int64, shape, str } from '../api/shapes.ts'
import { notFound } from '../labels.ts'
import type { Controls } from './platform.ts'

export const socketShape = shape({
  conn_id: str,
  ip: str,
  product: str,
  since: int64,
  user_ids: array(int64),
  subscriptions: int,
  queue_bytes: int64,
  frames_in: int64,
  frames_out: int64,
})

/** WebSocket connections: who is there, and a way to end one. */
export const operatorSocketEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/sockets',
    summary: 'Lists the WebSocket connections',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(socketShape),
    refuses: [],
    handle: () => Promise.resolve(controls.sockets.list()),
  }),
  endpoint({
    method: 'DELETE',
    path: '/sockets/{conn_id}',
    summary: 'Closes a WebSocket connection (1008)',
    access: operatorOf('operator'),
    limit: null,
    params: { conn_id: text({ max: 64 }) },
    status: 204,
    reply: null,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path: { conn_id } }) => {
      if (!controls.sockets.list().some((one) => one.conn_id === conn_id))
        notFound('NOT_FOUND', `there is no connection "${conn_id}"; GET /operator/v1/sockets lists them`)
      // Written down before it happens.
      await desk.core.submit('audit.note', { actor: operator, action: 'socket.close', detail: { conn_id } })
      controls.sockets.close(conn_id)
    },
  }),
]
