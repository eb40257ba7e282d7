import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { id, integer, optional, text, withDefault } from '../api/fields.ts'
import { masked, type LoggedRequest } from '../api/request-log.ts'
import { array, bool, int, int64, nullable, num, shape, str } from '../api/shapes.ts'
import { pathPattern } from './faults.ts'
import type { Controls } from './platform.ts'

export const requestShape = shape({
  id: int64,
  time: num,
  micros: int64,
  method: str,
  path: str,
  query: str,
  ip: str,
  user_id: nullable(int64),
  key: nullable(str),
  operator: nullable(str),
  status: int,
  timestamp: nullable(str),
  remain: nullable(int),
  limit: nullable(int),
  dropped: bool,
  ignored: array(str),
  body: str,
  body_length: int64,
  reply: str,
  reply_length: int64,
})
/** Whoever sends more than a time there is told apart all the same. */
const TIMESTAMP_SHOWN = 40
export const requestView = (request: LoggedRequest) => ({
  id: request.id,
  time: Math.floor(request.at / 1000) / 1000,
  micros: request.micros,
  method: request.method,
  path: request.path,
  query: masked(request.query),
  ip: request.ip,
  user_id: request.userId ?? null,
  key: request.key ?? null,
  operator: request.operator ?? null,
  status: request.status,
  timestamp: request.timestamp === undefined ? null : request.timestamp.slice(0, TIMESTAMP_SHOWN),
  remain: request.remain ?? null,
  limit: request.limit ?? null,
  dropped: request.dropped,
  ignored: request.ignored ?? [],
  body: masked(request.body),
  body_length: request.bodyLength,
  reply: masked(request.reply),
  reply_length: request.replyLength,
})

export const operatorRequestEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/requests',
    summary:
      'The last requests with bodies and replies, cut at 4 KB and without secrets; after: those that follow an id',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    query: {
      after: optional(integer(0, 999_999_999_999_999)),
      user_id: optional(id()),
      path: optional(pathPattern),
      status: optional(
        text({ max: 3, pattern: /^[1-5](xx|\d\d)$/, mend: 'must be a status such as 401, or 4xx' }),
      ),
      limit: withDefault(integer(1, 1000), 100),
    },
    status: 200,
    reply: shape({ last: int64, missed: int64, requests: array(requestShape) }),
    refuses: [],
    handle: async ({ query }) => {
      const { requests, ...place } = controls.requests.find(query)
      return Promise.resolve({ ...place, requests: requests.map(requestView) })
    },
  }),
]
