import type { Endpoints } from './schema.d.ts'

/** Who is signed in, as every reply that tells it does. */
export type Session = Endpoints['GET /console/v1/session']['reply']
export type Account = NonNullable<Session['account']>['accounts'][number]
