import assert from 'node:assert/strict'
import { randomHex, sha256 } from '../../src/runtime/secrets.ts'
import { send, type Reply } from './client.ts'
import type { TestPlatform } from './platform.ts'

export type Kind = 'account' | 'operator'
const COOKIES: Readonly<Record<Kind, string>> = { account: 'kontor_session', operator: 'kontor_operator' }

/** As a browser calls the console: with its cookies, the origin of the page, and the token of its session. */
export class Browser {
  readonly url: string
  readonly cookies = new Map<string, string>()
  readonly csrf = new Map<Kind, string>()
  constructor(url: string) {
    this.url = url
  }
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Reply> {
    const kind: Kind =
      path.startsWith('/operator/') || path.includes('kind=operator') ? 'operator' : 'account'
    const csrf = this.csrf.get(kind) ?? this.csrf.get(kind === 'account' ? 'operator' : 'account')
    const all: Record<string, string | undefined> = {
      ...(this.cookies.size > 0 && { Cookie: this.cookie }),
      ...(method !== 'GET' && { Origin: this.url, ...(csrf !== undefined && { 'X-Kontor-CSRF': csrf }) }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const text = body === undefined ? undefined : JSON.stringify(body)
    const reply = await send(this.url, method, `/console${path}`, text, given as Record<string, string>)
    for (const line of reply.headers.getSetCookie()) {
      const [pair] = line.split(';') as [string]
      const [name, value] = pair.split('=') as [string, string]
      if (line.includes('Max-Age=0')) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    if (reply.status < 300 && reply.body?.mode !== undefined && 'account' in reply.body)
      this.learn(reply.body)
    return reply
  }
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.call('GET', path, undefined, headers)
  }
  post(
    path: string,
    body: unknown = {},
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<Reply> {
    return this.call('POST', path, body, headers)
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async ok(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any> {
    const reply = await this.call(method, path, body, headers)
    assert.ok(reply.status < 300, `${method} ${path} → ${reply.status} ${reply.text}`)
    return reply.body
  }
  token(kind: Kind = 'account'): string | undefined {
    return this.cookies.get(COOKIES[kind])
  }
  private learn(body: { account: { csrf: string } | null; operator: { csrf: string } | null }): void {
    for (const kind of ['account', 'operator'] as const) {
      const csrf = body[kind]?.csrf
      if (csrf === undefined) this.csrf.delete(kind)
      else this.csrf.set(kind, csrf)
    }
  }
}

/** The token of a link, as the start of a sandbox makes it. */
export async function linkFor(
  { platform }: TestPlatform,
  whose: { user_id: number } | { operator: string },
  more: { many?: boolean; seconds?: number; purpose?: 'enter' | 'invitation' } = {},
): Promise<string> {
  const token = randomHex(32)
  await platform.desk.core.submit('link.create', {
    token_hash: sha256(token),
    purpose: 'enter',
    user_id: 0,
    operator: '',
    seconds: 3_600,
    many: false,
    real: Math.floor(Date.now() / 1000),
    actor: null,
    ...whose,
    ...more,
  })
  return token
}
/** A browser that is signed in. */
export async function signedIn(
  platform: TestPlatform,
  whose: { user_id: number } | { operator: string },
  browser = new Browser(platform.url),
): Promise<Browser> {
  await browser.ok('POST', '/v1/enter', { token: await linkFor(platform, whose) })
  return browser
}
