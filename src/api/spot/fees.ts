import { contractRates } from '../../core/futures/fees.ts'
import { feeSetting, ratesOf, withToken } from '../../core/spot/fees.ts'
import type { State } from '../../core/state.ts'
import { mainIdOf, type User } from '../../core/tables/users.ts'
import { ONE_RATE, format, rateOf, type Rate } from '../../money/amount.ts'
import { endpoint, signed, signedMain, type AnyEndpoint } from '../endpoint.ts'
import { flag, listOf, object, oneName, optional } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { bool, decimalText, int, int64, map, shape, str } from '../shapes.ts'
import { pairField } from '../wallet.ts'

const spotMembers = {
  user_id: int64,
  taker_fee: decimalText,
  maker_fee: decimalText,
  rpi_maker_fee: decimalText,
  gt_discount: bool,
  gt_taker_fee: decimalText,
  gt_maker_fee: decimalText,
  loan_fee: decimalText,
  point_type: str,
  debit_fee: int,
  rpi_mm: int,
}
function spotFees(state: State, user: User, pair: string | null) {
  const { vip, debit } = feeSetting(state, user)
  const { maker, taker } = ratesOf(vip, pair === null ? undefined : state.world.market(pair))
  const token = debit === 1
  return {
    user_id: user.user_id,
    taker_fee: format(taker),
    maker_fee: format(maker),
    rpi_maker_fee: '0',
    gt_discount: token,
    gt_taker_fee: token ? format(withToken(taker)) : '0',
    gt_maker_fee: token ? format(withToken(maker)) : '0',
    // The platform's share of the interest that is paid.
    loan_fee: format((ONE_RATE - rateOf(state.world.lenderShare)) as Rate),
    point_type: '1',
    debit_fee: debit,
    rpi_mm: 0,
  }
}

const spotFeeShape = shape({ ...spotMembers, currency_pair: str })
const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const

export const feeEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/wallet/fee',
    summary: "The account's trading fees",
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: {
      currency_pair: optional(pairField),
      settle: optional(oneName('BTC', 'USDT', 'USD')),
    },
    status: 200,
    reply: shape({
      ...spotMembers,
      futures_taker_fee: decimalText,
      futures_maker_fee: decimalText,
      futures_rpi_maker_fee: decimalText,
      delivery_taker_fee: decimalText,
      delivery_maker_fee: decimalText,
    }),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const { maker, taker } = contractRates(feeSetting(state, caller.user).vip)
        return {
          ...spotFees(state, caller.user, query.currency_pair),
          futures_taker_fee: format(taker),
          futures_maker_fee: format(maker),
          futures_rpi_maker_fee: '0',
          delivery_taker_fee: format(taker),
          delivery_maker_fee: format(maker),
        }
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/fee',
    summary: "The account's spot fees",
    access: signed('spot'),
    limit: LIMITS.spot,
    query: { currency_pair: optional(pairField) },
    status: 200,
    reply: spotFeeShape,
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => ({
        ...spotFees(state, caller.user, query.currency_pair),
        currency_pair: query.currency_pair === null ? '' : state.world.market(query.currency_pair).id,
      })),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/batch_fee',
    summary: "The account's spot fees of several markets",
    access: signed('spot'),
    limit: LIMITS.spot,
    query: { currency_pairs: listOf(pairField, 50) },
    status: 200,
    reply: map(spotFeeShape),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) =>
        Object.fromEntries(
          query.currency_pairs.map((name) => {
            const pair = state.world.market(name).id
            return [pair, { ...spotFees(state, caller.user, pair), currency_pair: pair }]
          }),
        ),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/account/debit_fee',
    summary: 'Tells whether fees are paid in the platform token',
    access: signed('account'),
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({ enabled: bool }),
    refuses: [],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => ({ enabled: feeSetting(state, caller.user).debit === 1 })),
  }),
  endpoint({
    method: 'POST',
    path: '/account/debit_fee',
    summary:
      'Switches paying fees in the platform token on or off, for the main account and its sub-accounts',
    access: signedMain('account'),
    limit: LIMITS.otherPrivate,
    body: object({ enabled: flag() }),
    status: 200,
    reply: null,
    refuses: [],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('user.change', {
        user_id: mainIdOf(caller.user),
        settings: { debit_fee: body.enabled ? 1 : 3 },
        actor: null,
      }),
  }),
]
