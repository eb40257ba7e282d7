import type { AnyEndpoint } from '../api/endpoint.ts'
import { EXAMPLES } from './examples.ts'

/** A real exchange, as a test had it. */
export interface Example {
  /** Whole, with the query. */
  readonly path: string
  readonly body?: unknown
  readonly status: number
  /** Left out where there is none. */
  readonly reply?: unknown
}
export function exampleOf(name: string): Example | undefined {
  const text = EXAMPLES.get(name)
  return text === undefined ? undefined : (JSON.parse(text) as Example)
}

/** The page puts its own address in the place of this one. */
export const EXAMPLE_URL = 'http://127.0.0.1:8080'
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A command to copy: what is signed is signed by `kontor sign`, which writes the curl command. */
export function curlOf({ method, access }: AnyEndpoint, { path, body }: Example): string {
  const data = body === undefined ? undefined : quoted(JSON.stringify(body))
  if (access.kind === 'key')
    return `eval "$(npx kontor sign ${method} ${quoted(path)}${data === undefined ? '' : ` \\\n  --body ${data}`} --curl)"`
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(EXAMPLE_URL + path)}`]
  if (access.kind === 'operator') lines.push('-H "Authorization: Bearer $TOKEN"')
  if (access.kind === 'session') {
    lines.push('-b "kontor_session=$SESSION"')
    if (method !== 'GET') lines.push('-H "X-Kontor-CSRF: $CSRF"')
  }
  if (data !== undefined) lines.push(`-H 'Content-Type: application/json' -d ${data}`)
  return lines.join(' \\\n  ')
}
