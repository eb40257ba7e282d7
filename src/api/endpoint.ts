import type { Chains } from '../chain/chains.ts'
import type { Core, Port } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import type { Role } from '../core/tables/operators.ts'
import type { State } from '../core/state.ts'
import type { ApiKey, Permission } from '../core/tables/keys.ts'
import type { Session } from '../core/tables/logins.ts'
import type { User } from '../core/tables/users.ts'
import type { Label } from '../labels.ts'
import type { HeaderName } from '../http/exchange.ts'
import type { Method } from '../http/words.ts'
import type { Clock } from '../runtime/clock.ts'
import type { FreshRows } from '../runtime/fresh-rows.ts'
import type { SecretBox } from '../runtime/secrets.ts'
import type { Store } from '../store/store.ts'
import type { Field, Fields, JsonSchema, Values } from './fields.ts'
import type { LimitRule } from './limits.ts'
import type { Valuation } from './valuation.ts'

/** What handlers work with: a port of the core for live state and changes, the store for history. */
export interface Desk {
  readonly core: Port<State, Commands>
  readonly store: Store
  readonly fresh: FreshRows
  readonly clock: Clock
  readonly chains: Chains
  readonly secrets: SecretBox
  readonly mode: 'sandbox' | 'live'
  /** What accounts were worth a moment ago, by user. */
  readonly valuations: Map<number, Valuation>
}
/** What the checks in front of the handlers work with: they look at the live state, and tell nobody what they saw. */
export interface LiveDesk extends Desk {
  readonly core: Core<State, Commands>
}

/**
 * What takes two people in live mode. An endpoint that is `guarded` is handled as ever, but the command that it
 * submits waits as a proposal: the call answers 202 with it, and a second operator of that role confirms it.
 */
export interface Guard<P = unknown, B = unknown> {
  /** Of whoever asks and whoever confirms. */
  readonly role: Role
  /** Which calls, as far as the request tells; where the state decides as well, see core/operators/takes-two.ts. */
  readonly when?: (call: { readonly path: P; readonly body: B }) => boolean
}

export interface KeyAccess {
  readonly kind: 'key'
  readonly permission: Permission
  /** Keys of sub-accounts are refused. */
  readonly main: boolean
}
/** A person who is signed in in a browser: only below /console. */
export interface SessionAccess {
  readonly kind: 'session'
  readonly subject: 'account' | 'operator' | 'either'
  /** The account is as free to act as a key of this permission would find it; left out: however it stands. */
  readonly permission?: Permission
}
/** Who may call: anybody, a signed key with a permission (GET reads, all else writes), an operator, or a session. */
export type Access =
  { readonly kind: 'public' } | KeyAccess | { readonly kind: 'operator'; readonly role: Role } | SessionAccess

export const PUBLIC: Access = { kind: 'public' }
export const signed = (permission: Permission): KeyAccess => ({ kind: 'key', permission, main: false })
export const signedMain = (permission: Permission): Access => ({ kind: 'key', permission, main: true })
export const operatorOf = (role: Role): Access => ({ kind: 'operator', role })

export interface Caller {
  readonly user: User
  readonly key: ApiKey
}
export interface Call<P, Q, B> {
  readonly desk: Desk
  readonly path: P
  readonly query: Q
  readonly body: B
  /** The signed account; throws on endpoints that anybody or an operator calls. */
  readonly caller: Caller
  /** The operator's name; throws elsewhere. */
  readonly operator: string
  /** Of whoever is signed in; throws elsewhere. */
  readonly session: Session
  readonly ip: string
  /** A request header by its name in lower case, of those that a gateway hands on. */
  header(name: HeaderName): string | undefined
  /** Adds a response header. */
  readonly set: (name: string, value: string | number) => void
}

export { METHODS, type Method } from '../http/words.ts'

/** One endpoint, one declaration: serving, reference, permission matrix and limit tests all walk these. */
export interface Endpoint<P extends Fields = Fields, Q extends Fields = Fields, B = unknown> {
  readonly method: Method
  /** Below /api/v4, /operator/v1 or /console/v1, with {name} for path parameters. */
  readonly path: `/${string}`
  readonly summary: string
  readonly access: Access
  /** null only for operators. */
  readonly limit: LimitRule | null
  readonly params?: P
  readonly query?: Q
  /** Left out: a body is ignored. */
  readonly body?: Field<B>
  readonly status: 200 | 201 | 202 | 204
  /** null: no body. */
  readonly reply: JsonSchema | null
  /** Labels of its own rules, beside those that any request may meet. */
  readonly refuses: readonly Label[]
  /** Driven in sandbox mode only; answers 404 in live mode. */
  readonly sandboxOnly?: boolean
  /**
   * Whether this request, as it was read, moves money out or carries an idempotency id: then a key with replay
   * protection gets it carried out once. Never for orders without a text: clients sign two equal ones alike.
   */
  readonly once?: (body: B) => boolean
  /** From a browser in live mode it takes a code or password of the last minutes. What is `guarded` does anyway. */
  readonly dear?: boolean
  /** Takes two people in live mode: see guarded.ts. */
  readonly guarded?: Guard<Values<P>, B>
  /** Refuses a body that is too much as a whole, where it is read. */
  readonly check?: (body: B) => void
  /** Which markets a request counts for, when the limit is by market. Sees the unchecked body. */
  readonly markets?: (body: unknown, query: Readonly<Record<string, string>>) => readonly string[]
  /** As how many requests it counts; left out: one. Sees the unchecked body. */
  readonly cost?: (body: unknown) => number
  handle(call: Call<Values<P>, Values<Q>, B>): Promise<unknown>
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever its parameters are
export type AnyCall = Call<any, any, any>
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a list of endpoints holds all parameter types
export type AnyEndpoint = Endpoint<any, any, any>
type None = Readonly<Record<never, Field<unknown>>>
/** Keeps the parameter types of one declaration, then forgets them for the list. */
export const endpoint = <P extends Fields = None, Q extends Fields = None, B = undefined>(
  declaration: Endpoint<P, Q, B>,
): AnyEndpoint => declaration
