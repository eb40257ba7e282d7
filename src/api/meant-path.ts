import { nearest } from '../nearest.ts'
import type { Router } from './router.ts'

/** Longer paths are nobody's slip. */
const LENGTH_MAX = 200
const API = '/api/v4'

/** So many are looked for in a second: each takes as long as dozens of requests, and strangers may ask for it. */
const A_SECOND = 20

/** Who looks for them, for people who try something out; whoever floods gets the plain answer. */
export class MeantPaths {
  private second = 0
  private looked = 0

  find<R>(router: Router<R>, path: string): string | undefined {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.second) this.looked = 0
    this.second = second
    return this.looked++ < A_SECOND ? meantPath(router, path) : undefined
  }
}
/**
 * For a path that is no address here: the one that was meant. What clients get wrong is the base path (left out, given twice,
 * of another version), slashes, capitals, and letters.
 */
export function meantPath<R>(router: Router<R>, path: string): string | undefined {
  if (path.length > LENGTH_MAX) return undefined
  const plain = `/${path.split('/').filter(Boolean).join('/')}`
  const below = plain.replace(/^(?:\/api)?(?:\/v\d+)?(?=\/)/i, '')
  const candidates = [plain, API + below, API + below.replace(/^\/api\/v\d+(?=\/)/i, '')]
  for (const candidate of candidates) {
    const found = router.like(candidate, (segment, known) => (known.includes(segment) ? segment : undefined))
    if (found !== undefined) return found
  }
  for (const candidate of candidates) {
    const found = router.like(candidate, nearest)
    if (found !== undefined) return found
  }
  return undefined
}
