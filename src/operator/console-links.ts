import { endpoint, operatorOf, type AnyEndpoint, type Call } from '../api/endpoint.ts'
import { id } from '../api/fields.ts'
import { showing } from '../api/guarded.ts'
import { int64, shape, str } from '../api/shapes.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400
const linkShape = shape({ token: str, path: str, expires_at: int64 })
const realNow = (): number => Math.floor(Date.now() / 1000)
const pathOf = (token: string): string => `/enter#${token}`

/** Links that sign people in to the console. */
export const consoleLinkEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/console_links',
    dear: true,
    summary: 'Makes a link that signs the operator who asks in to the console, good once within an hour',
    access: operatorOf('viewer'),
    limit: null,
    status: 201,
    reply: linkShape,
    refuses: [],
    handle: async ({ desk, operator }) => {
      const token = randomHex(32)
      const { expires_at } = await desk.core.submit('link.create', {
        token_hash: sha256(token),
        purpose: 'enter',
        user_id: 0,
        operator,
        seconds: HOUR_SECONDS,
        many: false,
        real: realNow(),
        actor: operator,
      })
      return { token, path: pathOf(token), expires_at }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/console_invitations',
    summary: 'Makes an invitation: whoever has it signs up with it, once within seven days',
    access: operatorOf('operator'),
    limit: null,
    status: 201,
    reply: shape({ token: str, expires_at: int64 }),
    refuses: [],
    handle: async ({ desk, operator }) => {
      const token = randomHex(32)
      const { expires_at } = await desk.core.submit('link.create', {
        token_hash: sha256(token),
        purpose: 'invitation',
        user_id: 0,
        operator: '',
        seconds: 7 * DAY_SECONDS,
        many: false,
        real: realNow(),
        actor: operator,
      })
      return { token, expires_at }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/{uid}/console_link',
    summary:
      'Makes a link that signs a main account in, good once: for whoever lost password or second factor. In live mode each of the two operators is shown one half of it, the second factor goes, and withdrawals are closed for 24 hours',
    access: operatorOf('operator'),
    guarded: { role: 'operator' },
    limit: null,
    params: { uid: id() },
    status: 201,
    reply: linkShape,
    refuses: ['USER_NOT_FOUND'],
    handle: makeUserLink,
  }),
]

async function makeUserLink({ desk, operator, path }: Call<{ uid: number }, unknown, unknown>) {
  const halves = [randomHex(16), randomHex(16)] as const
  const token = halves.join('')
  const live = desk.mode === 'live'
  const made = desk.core.submit('link.create', {
    token_hash: sha256(token),
    purpose: live ? 'recovery' : 'enter',
    user_id: path.uid,
    operator: '',
    seconds: live ? DAY_SECONDS : HOUR_SECONDS,
    many: false,
    // It begins when the second operator has agreed; a live platform's clock is the real one.
    real: live ? null : realNow(),
    actor: operator,
    ...(live && { second_half: desk.secrets.seal(halves[1]) }),
  })
  const { expires_at } = await showing({ token_first_half: halves[0] }, made)
  return { token, path: pathOf(token), expires_at }
}
