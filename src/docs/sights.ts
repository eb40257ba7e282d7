import type { Limiter } from '../api/limiter.ts'
import { LIMITS } from '../api/limits.ts'
import { addressBlock } from '../http/words.ts'
import type { Label } from '../labels.ts'

/** What somebody gets to see who asks for a page or a sign of life. Plain data, for it may go to a gateway. */
export type Sight =
  | { readonly kind: 'page' }
  | { readonly kind: 'text'; readonly type: 'json' | 'metrics'; readonly text: string }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly label: Label
      readonly message: string
      readonly retryAfter?: number
    }
export interface SightParts {
  readonly limiter: Limiter
  /** The platform's clock, in microseconds. */
  readonly now: () => number
  readonly metrics: () => string
  /** Ready to serve, and allowed to write. */
  readonly ready: () => boolean
  /** What somebody should see to, though the platform is ready. */
  readonly details: () => readonly string[]
}

/** Decides where the platform's state is: how often pages are sent to one address is counted once, here. */
export const sights =
  (parts: SightParts) =>
  (path: string, ip: string): Sight => {
    if (path === '/healthz') return { kind: 'text', type: 'json', text: '{"status":"ok"}' }
    if (path === '/readyz') return readiness(parts)
    return (
      over(parts, path, ip) ??
      (path === '/metrics' ? { kind: 'text', type: 'metrics', text: parts.metrics() } : { kind: 'page' })
    )
  }

function readiness({ ready, details }: SightParts): Sight {
  if (!ready()) return { kind: 'refused', status: 503, label: 'TOO_BUSY', message: 'not ready' }
  const told = details()
  const text = JSON.stringify({ status: 'ready', ...(told.length > 0 && { details: told }) })
  return { kind: 'text', type: 'json', text }
}
function over({ limiter, now }: SightParts, path: string, ip: string): Sight | undefined {
  const { requests, seconds } = LIMITS.pages
  const at = now()
  const { allowed, resetAt } = limiter.admit(`page ${path} ${addressBlock(ip)}`, requests, seconds, at)
  if (allowed) return undefined
  const wait = Math.max(1, Math.ceil((resetAt - at) / 1e6))
  return {
    kind: 'refused',
    status: 429,
    label: 'TOO_MANY_REQUESTS',
    message: `${path} is sent ${requests} times in ${seconds} s to one address; try again in ${wait} s`,
    retryAfter: wait,
  }
}
