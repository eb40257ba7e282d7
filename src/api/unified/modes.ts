import { MODES } from '../../core/tables/unified/accounts.ts'
import { requireUnified } from '../../core/unified/accounts.ts'
import type { State } from '../../core/state.ts'
import { endpoint, signed, type AnyEndpoint, type Call } from '../endpoint.ts'
import { flag, object, oneOf, optional, type Field } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { bool, shape } from '../shapes.ts'
import { modeShape, modeView } from './views.ts'

const ACCESS = signed('unified')
const settingsField = object({
  usdt_futures: optional(flag()),
  spot_hedge: optional(flag()),
  use_funding: optional(flag()),
  options: optional(flag()),
})
const NO_SETTINGS = { usdt_futures: null, spot_hedge: null, use_funding: null, options: null } as const
const modeBody = object({ mode: oneOf(...MODES), settings: optional(settingsField) })
type ModeBody = typeof modeBody extends Field<infer B> ? B : never
function changeMode<R>(
  { desk, caller, body }: Call<unknown, unknown, ModeBody>,
  view: (state: State) => R,
): Promise<R> {
  const { mode, settings } = body
  const user_id = caller.user.user_id
  return desk.core.submit('margin.mode', { user_id, mode, settings: settings ?? NO_SETTINGS }, view)
}
const MODE_LABELS = [
  'MODE_SET',
  'USER_LIAB',
  'USER_PENDING_ORDERS',
  'POSITION_HOLDING',
  'INITIAL_MARGIN_TOO_LOW',
] as const

/** What GET and PUT /unified/unified_mode and the pair that older clients know have in common. */
const SHOW = {
  method: 'GET',
  access: ACCESS,
  limit: LIMITS.otherPrivate,
  status: 200,
  reply: modeShape,
  refuses: [],
  handle: async ({ desk, caller }: Call<unknown, unknown, unknown>) =>
    desk.core.read((state) => modeView(state.margin.of(caller.user.user_id))),
} as const

export const unifiedModeEndpoints: readonly AnyEndpoint[] = [
  endpoint({ ...SHOW, path: '/unified/unified_mode', summary: "Shows the account's mode and its settings" }),
  endpoint({ ...SHOW, path: '/unified/account_mode', summary: 'Shows the mode as older clients know it' }),
  endpoint({
    method: 'PUT',
    path: '/unified/unified_mode',
    summary: "Switches the account's mode, or settings within it",
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: modeBody,
    status: 204,
    reply: null,
    refuses: MODE_LABELS,
    handle: (call) => changeMode(call, () => null),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/account_mode',
    summary: 'Switches the mode as older clients do',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: modeBody,
    status: 200,
    reply: modeShape,
    refuses: MODE_LABELS,
    handle: (call) => changeMode(call, ({ margin }) => modeView(margin.of(call.caller.user.user_id))),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/delta_neutral',
    summary: 'Tells whether delta-neutral trading is on',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({ enabled: bool }),
    refuses: ['ACCOUNT_EXCEPTION'],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => {
        const { mode, delta_neutral } = requireUnified(state, caller.user.user_id)
        // It is for this mode alone; who comes back to it finds it as it was.
        return { enabled: delta_neutral && mode === 'multi_currency' }
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/delta_neutral',
    summary: 'Switches delta-neutral trading; needs VIP 4 and multi_currency mode',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({ enabled: flag() }),
    status: 200,
    reply: shape({ enabled: bool }),
    refuses: ['ACCOUNT_EXCEPTION', 'FORBIDDEN'],
    handle: async ({ desk, caller, body }) => {
      await desk.core.submit('margin.delta_neutral', { user_id: caller.user.user_id, ...body })
      return { enabled: body.enabled }
    },
  }),
]
