import { PUBLIC, endpoint, type AnyEndpoint } from './endpoint.ts'
import { LIMITS } from './limits.ts'
import { anything, array, int64, shape } from './shapes.ts'

/** Lists that real clients ask for when they start; empty until their group is built. */
const emptyLists = ['/options/underlyings'] as const

export const publicEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/spot/time',
    summary: "Tells the platform's clock",
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: shape({ server_time: int64 }),
    refuses: [],
    handle: async ({ desk }) => Promise.resolve({ server_time: Math.floor(desk.clock.peek() / 1000) }),
  }),
  ...emptyLists.map((path) =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Lists the instruments of a group that this platform does not offer yet: none',
      access: PUBLIC,
      limit: LIMITS.public,
      status: 200,
      reply: array(anything),
      refuses: [],
      handle: async () => Promise.resolve([]),
    }),
  ),
]
