import { endpoint, type AnyEndpoint, type SessionAccess } from '../api/endpoint.ts'
import { integer, optional, text, withDefault } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { array, int, int64, num, shape, str } from '../api/shapes.ts'
import { pathPattern } from '../operator/faults.ts'
import { requestShape, requestView } from '../operator/requests.ts'
import { socketShape } from '../operator/sockets.ts'
import type { State } from '../core/state.ts'
import type { ConsoleParts } from './parts.ts'

const ACCESS: SessionAccess = { kind: 'session', subject: 'account' }
const family = ({ users }: State, main: number): ReadonlySet<number> =>
  new Set([main, ...users.subAccountsOf(main).map(({ user_id }) => user_id)])

/** What people who build bots look at: their calls, their windows, their sockets. */
export const labEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/requests',
    summary:
      'The last calls of the keys of the account and its sub-accounts, with bodies and replies; after: those that follow an id',
    access: ACCESS,
    limit: LIMITS.consoleAccount,
    sandboxOnly: true,
    query: {
      after: optional(integer(0, 999_999_999_999_999)),
      path: optional(pathPattern),
      status: optional(
        text({ max: 3, pattern: /^[1-5](xx|\d\d)$/, mend: 'must be a status such as 401, or 4xx' }),
      ),
      limit: withDefault(integer(1, 1000), 100),
    },
    status: 200,
    reply: shape({ last: int64, missed: int64, requests: array(requestShape) }),
    refuses: [],
    handle: async ({ desk, session, query }) => {
      const users = await desk.core.read((state) => family(state, session.user_id))
      const { requests, ...place } = parts.requests.find({ ...query, user_id: null, users })
      return { ...place, requests: requests.map(requestView) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/limits',
    summary: "The rate windows of the account's keys that were used just now",
    access: ACCESS,
    limit: LIMITS.consoleAccount,
    status: 200,
    reply: array(shape({ bucket: str, market: str, limit: int, remain: int, seconds: int, reset: num })),
    refuses: [],
    handle: ({ desk, caller }) =>
      desk.core.read(({ world }) => {
        const markets = world.allMarkets.map(({ id }) => id)
        return windowsOf(parts, caller.user.user_id, ['', ...markets], desk.clock.peek())
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/sockets',
    summary: 'Lists the WebSocket connections on which the account or a sub-account is logged in',
    access: ACCESS,
    limit: LIMITS.consoleAccount,
    status: 200,
    reply: array(socketShape),
    refuses: [],
    handle: async ({ desk, session }) => {
      const users = await desk.core.read((state) => family(state, session.user_id))
      return parts
        .sockets()
        .map((socket) => ({ ...socket, user_ids: socket.user_ids.filter((one) => users.has(one)) }))
        .filter(({ user_ids }) => user_ids.length > 0)
    },
  }),
]

/** What sockets count beside the endpoints' own windows. */
const CALLS = { method: 'WS', path: 'futures', limit: LIMITS.futuresCalls }

/** By the names under which requests are counted; those that nobody has used since their span are left out. */
function windowsOf(
  { trading, limiter }: ConsoleParts,
  userId: number,
  markets: readonly string[],
  now: number,
) {
  const windows = new Map<string, object>()
  for (const { method, path, limit: rule } of [...trading, CALLS]) {
    if (rule === null || rule.basis === 'ip') continue
    const name = rule.bucket ?? `${method} ${path}`
    for (const market of rule.basis === 'uid+market' ? markets : ['']) {
      const bucket = `${name} ${userId} ${market}`
      const known = windows.has(bucket) ? undefined : limiter.find(bucket, rule.requests, rule.seconds, now)
      if (known === undefined) continue
      const { limit, remain, resetAt } = known
      windows.set(bucket, {
        bucket: name,
        market,
        limit,
        remain,
        seconds: rule.seconds,
        reset: Math.floor(resetAt / 1000) / 1000,
      })
    }
  }
  return [...windows.values()]
}
