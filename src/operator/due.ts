import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { integer, withDefault } from '../api/fields.ts'
import { anything, array, int64, num, shape, str } from '../api/shapes.ts'
import type { FailedItem } from '../core/tables/due.ts'

const failedShape = shape({
  id: int64,
  command: str,
  input: anything,
  due_at: num,
  failed_at: num,
  error: str,
})
const seconds = (micros: number): number => Math.floor(micros / 1000) / 1000
const view = ({ id, command, input, at, failed_at, error }: FailedItem) => ({
  id,
  command,
  input,
  due_at: seconds(at),
  failed_at: seconds(failed_at),
  error,
})
const ITEM = { id: integer(1, Number.MAX_SAFE_INTEGER) }

/** Work that failed when it fell due: it waits here for a person, and everything else goes on. */
export const operatorDueEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/due',
    summary: 'Lists due work that failed and was put aside, with its error',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(failedShape),
    refuses: [],
    handle: async ({ desk }) => desk.core.read(({ due }) => [...due.failed.values()].map(view)),
  }),
  endpoint({
    method: 'GET',
    path: '/due/coming',
    summary: 'What falls due next: interest, unlocks, expiries, looks of the agents; soonest first',
    access: operatorOf('viewer'),
    limit: null,
    query: { limit: withDefault(integer(1, 500), 50) },
    status: 200,
    reply: array(shape({ id: int64, command: str, input: anything, due_at: num })),
    refuses: [],
    handle: async ({ desk, query }) =>
      desk.core.read(({ due }) =>
        due
          .coming(query.limit)
          .map(({ id, command, input, at }) => ({ id, command, input, due_at: seconds(at) })),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/due/{id}/retry',
    summary: 'Runs an item that was put aside again, at the next tick',
    access: operatorOf('operator'),
    limit: null,
    params: ITEM,
    status: 200,
    reply: failedShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path }) =>
      view(await desk.core.submit('due.retry', { id: path.id, actor: operator })),
  }),
  endpoint({
    method: 'POST',
    path: '/due/{id}/drop',
    summary: 'Gives up an item that was put aside',
    access: operatorOf('admin'),
    limit: null,
    guarded: { role: 'admin' },
    params: ITEM,
    status: 200,
    reply: failedShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path }) =>
      view(await desk.core.submit('due.drop', { id: path.id, actor: operator })),
  }),
]
