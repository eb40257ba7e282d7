import type { Endpoints } from './schema.d.ts'

export type Session = Endpoints['GET /console/v1/session']['reply']
export type Account = NonNullable<Session['account']>['accounts'][number]

/** Endpoints that pages use and the platform declares in a later step: each goes when schema.d.ts has it. */
interface Own<Path, Query, Body, Reply> {
  path: Path
  query: Query
  body: Body
  reply: Reply
}
type None = undefined
export interface OwnEndpoints {
  'GET /console/v1/worth': Own<
    None,
    { range: '24h' | '7d' | '30d' },
    None,
    { points: { time: number; total: string }[]; currency: string }
  >
  'POST /console/v1/pushes/{id}/accept': Own<{ id: number }, None, None, unknown>
  'POST /console/v1/pushes/{id}/refuse': Own<{ id: number }, None, None, unknown>
  'POST /console/v1/pushes/{id}/cancel': Own<{ id: number }, None, None, unknown>
}
