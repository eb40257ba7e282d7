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
  'POST /console/v1/sign-in': Own<
    None,
    None,
    { kind: 'account' | 'operator'; name: string; password: string; code?: string },
    Session
  >
  'POST /console/v1/sign-up': Own<
    None,
    None,
    { name: string; password: string; invitation?: string },
    Session
  >
  'POST /console/v1/elevate': Own<None, None, { code?: string; password?: string }, unknown>
}
