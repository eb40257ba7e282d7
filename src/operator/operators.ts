import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { integer, object, oneOf, optional, text, withDefault } from '../api/fields.ts'
import { showing } from '../api/guarded.ts'
import { array, int, int64, shape, str } from '../api/shapes.ts'
import { ROLES, type Operator } from '../core/tables/operators.ts'
import { refuse } from '../labels.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'

const DAYS_MAX = 3_650
/** An owner needs this long to draw another token; less takes two admins in live mode. */
const GRACE_HOURS = 24
const operatorMembers = { name: str, role: str, created_at: int64, token_days: int, expires: int64 }
const operatorShape = shape(operatorMembers)
const operatorView = ({ name, role, created_at, token_days, expires }: Operator) => ({
  name,
  role,
  created_at,
  token_days,
  expires,
})

export const operatorOperatorEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/operators',
    summary: 'Lists the operators, with when their tokens expire (0: never)',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(operatorShape),
    refuses: [],
    handle: async ({ desk }) => desk.core.read(({ operators }) => operators.list().map(operatorView)),
  }),
  endpoint({
    method: 'POST',
    path: '/operators',
    summary:
      'Creates an operator; the token is shown here and never again. In live mode each of the two admins is shown one half of it',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    body: object({
      name: text({ max: 64, pattern: /^[A-Za-z0-9_.@-]+$/, mend: 'must be letters, digits and _ . @ -' }),
      role: oneOf(...ROLES),
      token_days: optional(integer(1, DAYS_MAX)),
    }),
    status: 201,
    reply: shape({ ...operatorMembers, token: str }),
    refuses: [],
    handle: async ({ desk, operator, body }) => {
      const halves = [randomHex(16), randomHex(16)] as const
      const token = halves.join('')
      const { name, role, token_days } = body
      const input = {
        name,
        role,
        token_hash: sha256(token),
        actor: operator,
        ...(token_days !== null && { token_days }),
      }
      // Where two admins decide, neither of them alone may hold what they make: it would be a puppet's token.
      const second_half = desk.secrets.seal(halves[1])
      const made = desk.core.submit('operator.create', {
        ...input,
        ...(desk.mode === 'live' && { second_half }),
      })
      const created = await showing({ token_first_half: halves[0] }, made)
      return { ...operatorView(created), token }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/operators/me/token',
    dear: true,
    summary:
      'Draws a new token for the operator who asks and gives its own name; the old token stops working at once',
    access: operatorOf('viewer'),
    limit: null,
    body: object({ name: text({ max: 64 }) }),
    status: 200,
    reply: shape({ ...operatorMembers, token: str }),
    refuses: [],
    handle: async ({ desk, operator, body }) => {
      // A stray call must not lock anybody out.
      if (body.name !== operator)
        refuse(
          'INVALID_PARAM_VALUE',
          `name: "${body.name}" is not the name of whoever asks, which is "${operator}"`,
        )
      const token = randomHex(32)
      const input = { actor: operator, token_hash: sha256(token) }
      return { ...operatorView(await desk.core.submit('operator.token', input)), token }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/operators/{name}',
    summary: 'Removes an operator; the token stops working at once',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    params: { name: text({ max: 64 }) },
    status: 204,
    reply: null,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path }) =>
      desk.core.submit('operator.delete', { name: path.name, actor: operator }),
  }),
  endpoint({
    method: 'POST',
    path: '/operators/{name}/expire_token',
    summary:
      'Makes an operator draw another token: the present one ends in so many hours. token_days: how long later ones last, 0 for ever',
    access: operatorOf('admin'),
    // Whoever gives less time than a day could lock a colleague out.
    guarded: { role: 'admin', when: ({ body }) => body.hours < GRACE_HOURS || body.token_days !== null },
    limit: null,
    params: { name: text({ max: 64 }) },
    body: object({
      hours: withDefault(integer(0, 24 * 365), GRACE_HOURS),
      token_days: optional(integer(0, DAYS_MAX)),
    }),
    status: 200,
    reply: operatorShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const input = { name: path.name, ...body, actor: operator }
      return operatorView(await desk.core.submit('operator.end_token', input))
    },
  }),
]
