import { endpoint, type AnyEndpoint, type Call, type SessionAccess } from '../api/endpoint.ts'
import { id, object, optional, text, withDefault } from '../api/fields.ts'
import { LIMITS } from '../api/limits.ts'
import { array, bool, int64, nullable, shape, str } from '../api/shapes.ts'
import { keyBody, keyShape, keyView, makeKey, newKeyShape } from '../api/sub-accounts.ts'
import { pushShape, pushView } from '../api/withdrawals.ts'
import { currencyField } from '../api/wallet.ts'
import type { State } from '../core/state.ts'
import type { SavedAddress } from '../core/tables/addresses.ts'
import { HOUR } from '../core/time.ts'
import { notFound } from '../labels.ts'

const access = (permission: SessionAccess['permission'] & string): SessionAccess => ({
  kind: 'session',
  subject: 'account',
  permission,
})
const KEY = { key: text({ max: 64 }) }
type OwnKey = Call<{ key: string }, unknown, unknown>

/** The chosen account's own API keys. */
const keyEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/keys',
    summary: "Lists the account's own API keys",
    access: access('account'),
    limit: LIMITS.consoleAccount,
    status: 200,
    reply: array(keyShape),
    refuses: [],
    handle: ({ desk, caller }) => desk.core.read(({ keys }) => keys.of(caller.user.user_id).map(keyView)),
  }),
  endpoint({
    method: 'POST',
    path: '/keys',
    summary: 'Creates an API key of the account; its secret is shown here and never again',
    access: access('account'),
    dear: true,
    limit: LIMITS.consoleAccount,
    body: keyBody,
    status: 201,
    reply: newKeyShape,
    refuses: ['ELEVATION_REQUIRED'],
    handle: ({ desk, caller, session, body }) => {
      const { user_id } = caller.user
      const main = user_id === session.user_id ? null : session.user_id
      return makeKey(desk, user_id, body, { main, actor: null })
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/keys/{key}',
    summary: 'Replaces the name, the permissions and the IP list of a key; what is left out is cleared',
    access: access('account'),
    dear: true,
    limit: LIMITS.consoleAccount,
    params: KEY,
    body: keyBody,
    status: 204,
    reply: null,
    refuses: ['NOT_FOUND', 'ELEVATION_REQUIRED'],
    handle: async (call) => {
      await call.desk.core.submit('own_key.replace', { ...ownKey(call), ...call.body })
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/keys/{key}',
    summary: 'Deletes an API key of the account; it stops working at once',
    access: access('account'),
    limit: LIMITS.consoleAccount,
    params: KEY,
    status: 204,
    reply: null,
    refuses: ['NOT_FOUND'],
    handle: async (call) => {
      await call.desk.core.submit('own_key.delete', ownKey(call))
    },
  }),
]
const ownKey = ({ caller, session, path }: OwnKey) => ({
  main: session.user_id,
  user_id: caller.user.user_id,
  key: path.key,
})

const addressShape = shape({
  id: int64,
  currency: str,
  chain: str,
  address: str,
  name: str,
  tag: str,
  verified: bool,
  create_time: int64,
  usable_at: nullable(int64),
})
/** From `usable_at` on a withdrawal there is not held for the address being new. */
const addressView = ({ world }: State, saved: SavedAddress) => ({
  id: saved.id,
  currency: saved.currency,
  chain: saved.chain,
  address: saved.address,
  name: saved.name,
  tag: saved.tag,
  verified: saved.verified,
  create_time: Math.floor(saved.at / 1e6),
  usable_at:
    saved.verified_at === null
      ? null
      : Math.ceil((saved.verified_at + world.policy.new_address_hours * HOUR) / 1e6),
})
/** Those of the main account: a sub-account withdraws nothing. */
const addressEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/addresses',
    summary:
      'Lists the saved withdrawal addresses, with when each has been known for long enough (usable_at)',
    access: access('wallet'),
    limit: LIMITS.consoleAccount,
    status: 200,
    reply: array(addressShape),
    refuses: [],
    handle: ({ desk, session }) =>
      desk.core.read((state) =>
        state.wallet.addresses.savedBy(session.user_id).map((saved) => addressView(state, saved)),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/addresses',
    summary: 'Saves a withdrawal address, or names it anew; its cooling time begins when it is saved first',
    access: access('withdrawal'),
    dear: true,
    limit: LIMITS.consoleAccount,
    body: object({
      currency: currencyField,
      chain: optional(text({ max: 32 })),
      address: text({ max: 128 }),
      name: withDefault(text({ max: 64 }), ''),
      tag: withDefault(text({ max: 64 }), ''),
    }),
    status: 201,
    reply: addressShape,
    refuses: ['INVALID_CURRENCY', 'ELEVATION_REQUIRED'],
    handle: ({ desk, session, body }) =>
      desk.core.submit('saved_address.add', { user_id: session.user_id, ...body }, addressView),
  }),
  endpoint({
    method: 'DELETE',
    path: '/addresses/{id}',
    summary: 'Forgets a saved address',
    access: access('withdrawal'),
    limit: LIMITS.consoleAccount,
    params: { id: id() },
    status: 204,
    reply: null,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, session, path }) => {
      await desk.core.submit('saved_address.delete', { user_id: session.user_id, id: path.id })
    },
  }),
]

const pushAnswer = (answer: 'accept' | 'refuse' | 'cancel', summary: string): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: `/pushes/{id}/${answer}`,
    summary,
    access: access('withdrawal'),
    limit: LIMITS.consoleAccount,
    params: { id: id() },
    status: 200,
    reply: pushShape,
    refuses:
      answer === 'accept' ? ['NOT_FOUND', 'FORBIDDEN', 'RISK_ERROR', 'NEGATIVE_ASSETS'] : ['NOT_FOUND'],
    handle: async ({ desk, caller, path }) => {
      const by = caller.user.user_id
      // One that is over, or waits for somebody else, looks like none.
      const push = await desk.core.submit('push.answer', { id: path.id, answer, by, actor: null })
      if (push.push_uid !== by && push.receive_uid !== by) notFound('NOT_FOUND', `no push ${path.id}`)
      return pushView(push, push.push_uid === by ? 'withdraw' : 'deposit')
    },
  })

/** What the trading API leaves to the console: keys, the address book, answers to pushes. */
export const accountEndpoints: readonly AnyEndpoint[] = [
  ...keyEndpoints,
  ...addressEndpoints,
  pushAnswer('accept', 'Accepts a push that waits for this account'),
  pushAnswer('refuse', 'Refuses a push that waits for this account; the sender has the money back'),
  pushAnswer('cancel', 'Takes back a push of this account that still waits'),
]
