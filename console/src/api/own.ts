/** The console's own endpoints, as their contract says: they go into schema.d.ts with their declarations. */
export interface Account {
  readonly user_id: number
  readonly name: string
  readonly login_name: string
  readonly kind: 'main' | 'sub'
  readonly state: string
}
export interface Session {
  readonly account: {
    readonly user_id: number
    readonly name: string
    readonly csrf: string
    readonly factor: boolean
    readonly elevated_until: number | null
    readonly accounts: readonly Account[]
  } | null
  readonly operator: {
    readonly name: string
    readonly role: string
    readonly csrf: string
    readonly factor: boolean
    readonly elevated_until: number | null
  } | null
  readonly mode: 'sandbox' | 'live'
}
interface Own<Path, Query, Body, Reply> {
  path: Path
  query: Query
  body: Body
  reply: Reply
}
type None = undefined
export interface OwnEndpoints {
  'GET /console/v1/platform': Own<
    None,
    None,
    None,
    {
      mode: 'sandbox' | 'live'
      version: string
      sign_up: 'open' | 'invited' | 'off'
      now: number
      clock_offset_ms: number
      rooms: string[]
    }
  >
  'GET /console/v1/session': Own<None, None, None, Session>
  'POST /console/v1/enter': Own<None, None, { token: string }, Session>
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
  'POST /console/v1/sign-out': Own<None, None, { kind?: 'account' | 'operator' }, unknown>
  'POST /console/v1/elevate': Own<None, None, { code?: string; password?: string }, unknown>
}
