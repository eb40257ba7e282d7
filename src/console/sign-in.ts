import { PUBLIC, endpoint, type AnyEndpoint } from '../api/endpoint.ts'
import { object, oneOf, optional, text } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { array, bool, int, int64, nullable, shape, str } from '../api/shapes.ts'
import { SUBJECT_KINDS } from '../core/tables/logins.ts'
import { sha256 } from '../runtime/secrets.ts'
import { checkCsrf } from './access.ts'
import {
  drawSession,
  giveCookie,
  headersOf,
  kindOf,
  kindsOf,
  sessionView,
  type ConsoleParts,
} from './parts.ts'

const common = { session_id: int64, csrf: str, factor: bool, password: bool, elevated_until: int64 }
export const sessionShape = shape({
  mode: str,
  account: nullable(
    shape({
      user_id: int64,
      name: str,
      ...common,
      accounts: array(shape({ user_id: int64, name: str, login_name: str, kind: str, state: int })),
    }),
  ),
  operator: nullable(shape({ name: str, role: str, ...common })),
})
const TOKEN = text({ max: 128, pattern: /^[A-Za-z0-9_-]+$/, mend: 'must be what follows the # of a link' })

/** Coming in and going out; anybody may call these. */
export const signInEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: '/enter',
    summary: 'Signs in by a one-time link: its token is what follows the # of /enter#TOKEN',
    access: PUBLIC,
    limit: LIMITS.signIn,
    body: object({ token: TOKEN }),
    status: 200,
    reply: sessionShape,
    refuses: ['INVALID_CREDENTIALS', 'FORBIDDEN'],
    handle: async (call) => {
      const link_hash = sha256(call.body.token)
      // Of the two that a browser may hold, the one of the link's kind ends.
      const link = await call.desk.core.read(({ logins }) => logins.links.get(link_hash))
      const kind = kindOf(link ?? { user_id: kindsOf(parts.surface)[0] === 'account' ? 1 : 0 })
      const { token, input } = drawSession(call, parts.access, kind)
      const allowed = kindsOf(parts.surface)
      const session = await call.desk.core.submit('link.enter', { ...input, link_hash, kinds: allowed })
      giveCookie(call, kindOf(session), token)
      return sessionView(call, parts, { session, token })
    },
  }),
  endpoint({
    method: 'POST',
    path: '/sign-out',
    summary: 'Ends the sessions of this browser, or the one of a kind',
    access: PUBLIC,
    limit: LIMITS.console,
    body: object({ kind: optional(oneOf(...SUBJECT_KINDS)) }),
    status: 204,
    reply: null,
    refuses: ['FORBIDDEN'],
    handle: async (call) => {
      const { kind } = call.body
      const kinds = kindsOf(parts.surface)
      const gone = kinds.filter((one) => kind === null || one === kind)
      const held = kinds.flatMap((one) => parts.access.find(headersOf(call), one) ?? [])
      if (held.length > 0) checkCsrf(call.header('x-kontor-csrf'), ...held.map(({ token }) => token))
      for (const { session } of held)
        if (gone.includes(kindOf(session)))
          await call.desk.core.submit('session.end', { id: session.id, subject: session.subject })
      for (const one of gone) giveCookie(call, one, null)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/session',
    summary:
      'Tells who is signed in in this browser, with the token that changes must carry as X-Kontor-CSRF',
    access: PUBLIC,
    limit: LIMITS.console,
    status: 200,
    reply: sessionShape,
    refuses: [],
    handle: (call) => sessionView(call, parts),
  }),
  endpoint({
    method: 'GET',
    path: '/platform',
    summary: 'What the console should know before anybody signs in',
    access: PUBLIC,
    limit: LIMITS.console,
    status: 200,
    reply: shape({
      mode: str,
      version: str,
      sign_up: str,
      now: int64,
      clock_offset_ms: int64,
      rooms: array(str),
    }),
    refuses: [],
    handle: async ({ desk }) => {
      const kinds = kindsOf(parts.surface)
      const account = kinds.includes('account')
      return Promise.resolve({
        mode: desk.mode,
        version: parts.version,
        sign_up: account ? parts.signUp : 'off',
        now: Math.floor(desk.clock.peek() / 1000),
        clock_offset_ms: Math.round(desk.clock.distance / 1000),
        rooms: [...kinds, ...(desk.mode === 'sandbox' && account ? ['lab'] : [])],
      })
    },
  }),
]
