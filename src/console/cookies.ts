import type { SubjectKind } from '../core/tables/logins.ts'
import { SESSION_SECONDS } from '../core/logins/sessions.ts'
import { isLoopback } from './pages-check.ts'

const NAMES: Readonly<Record<SubjectKind, string>> = {
  account: 'kontor_session',
  operator: 'kontor_operator',
}

/**
 * What a session's cookie is called. In live mode, anywhere but on the machine itself, the name is one that browsers
 * take over TLS and from this very host alone: no page of a neighbouring name can plant one.
 */
const isSecure = (mode: 'sandbox' | 'live', host: string | undefined): boolean =>
  mode === 'live' && !isLoopback(host)
export const cookieName = (kind: SubjectKind, mode: 'sandbox' | 'live', host: string | undefined): string =>
  `${isSecure(mode, host) ? '__Host-' : ''}${NAMES[kind]}`

export function cookieOf(
  kind: SubjectKind,
  mode: 'sandbox' | 'live',
  host: string | undefined,
  token: string | null,
): string {
  const secure = isSecure(mode, host) ? '; Secure' : ''
  const age = token === null ? 0 : SESSION_SECONDS
  const name = cookieName(kind, mode, host)
  return `${name}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`
}

/** Every value that a request carries under a name: somebody may have planted a second one. */
export function cookiesNamed(header: string | undefined, name: string): string[] {
  if (header === undefined) return []
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}
