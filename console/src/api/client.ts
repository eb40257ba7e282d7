import type { Endpoints } from './schema.d.ts'
import { ApiError, type Refused } from './errors.ts'

export type Name = keyof Endpoints
export type Reply<N extends Name> = Endpoints[N]['reply']
export type Query<N extends Name> = Endpoints[N]['query']
export type Body<N extends Name> = Endpoints[N]['body']

/** A member that an endpoint has not needs not be given. */
type Part<K extends string, T> = [T] extends [undefined] ? object : { readonly [key in K]: T }
type Loose<K extends string, T> = [T] extends [undefined]
  ? object
  : object extends T
    ? { readonly [key in K]?: T }
    : { readonly [key in K]: T }
export type Arguments<N extends Name> = Part<'path', Endpoints[N]['path']> &
  Loose<'query', Endpoints[N]['query']> &
  Loose<'body', Endpoints[N]['body']> & { readonly signal?: AbortSignal; readonly account?: number }

/** What the session knows and every call carries. Set by the session, read here. */
export const access = {
  csrf: { account: '', operator: '' },
  /** One of the account's sub-accounts; undefined: the main account. */
  account: undefined as number | undefined,
  /** The session ended: somebody should look. */
  ended: (): void => undefined,
  /** Asks for a fresh code or password; false: the reader gave up. */
  elevate: (_kind: 'account' | 'operator'): Promise<boolean> => Promise.resolve(false),
}

const PREFIXES = [
  ['/api/v4', '/console/api/v4'],
  ['/operator/v1', '/console/operator/v1'],
] as const
/** Where the page finds an endpoint: the session is the access below /console/. */
function address(path: string): string {
  const prefix = PREFIXES.find(([from]) => path.startsWith(from))
  return prefix === undefined ? path : prefix[1] + path.slice(prefix[0].length)
}

export interface Answer<T> {
  readonly value: T
  readonly headers: Headers
}

/** Calls an endpoint by its name in the reference, "GET /api/v4/spot/orders". */
export async function call<N extends Name>(
  name: N,
  ...given: object extends Arguments<N> ? [Arguments<N>?] : [Arguments<N>]
): Promise<Reply<N>> {
  return (await answer(name, ...given)).value
}
/** With the headers of the reply: how many there are, what is left of the limit. */
export async function answer<N extends Name>(
  name: N,
  ...given: object extends Arguments<N> ? [Arguments<N>?] : [Arguments<N>]
): Promise<Answer<Reply<N>>> {
  const args = (given[0] ?? {}) as Plain
  try {
    return await request(name, args)
  } catch (error) {
    if (
      !(error instanceof ApiError) ||
      error.label !== 'ELEVATION_REQUIRED' ||
      !(await access.elevate(name.includes(' /operator/') ? 'operator' : 'account'))
    )
      throw error
    return await request(name, args)
  }
}

interface Plain {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly account?: number
}
async function request(
  name: string,
  { path = {}, query = {}, body, signal, account }: Plain,
): Promise<Answer<unknown>> {
  const space = name.indexOf(' ')
  const method = name.slice(0, space)
  const filled = name
    .slice(space + 1)
    .replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(path[key])))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(key, String(value))
  const headers: Record<string, string> = { Accept: 'application/json' }
  const target = account ?? access.account
  if (target !== undefined) headers['X-Kontor-Account'] = String(target)
  if (method !== 'GET')
    headers['X-Kontor-CSRF'] = filled.startsWith('/operator/')
      ? access.csrf.operator
      : access.csrf.account || access.csrf.operator
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const url = address(filled) + (search.size === 0 ? '' : `?${search.toString()}`)
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError({ status: 0, label: 'OFFLINE', message: 'the platform does not answer' })
  }
  const text = await response.text()
  let value: unknown
  try {
    value = text === '' ? undefined : JSON.parse(text)
  } catch {
    value = text
  }
  if (response.ok) return { value, headers: response.headers }
  const refused = (typeof value === 'object' && value !== null ? value : {}) as Partial<Refused>
  if (response.status === 401 && !filled.startsWith('/console/v1/')) access.ended()
  throw new ApiError({
    status: response.status,
    label: refused.label ?? 'SERVER_ERROR',
    message: refused.message ?? `the platform answered ${response.status}`,
    retryAfter: Number(response.headers.get('Retry-After') ?? NaN),
  })
}
