import { PLATFORM, insuranceName, type PlatformAccountName } from '../core/ledger/accounts.ts'
import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { id, integer, object, oneOf, positiveDecimal, withDefault } from '../api/fields.ts'
import { anything, array, decimalText, int64, map, shape, str } from '../api/shapes.ts'
import { currencyField } from '../api/wallet.ts'
import { UNIFIED } from '../core/tables/unified/loan-accounts.ts'
import { LIQUIDATION_STEP } from '../core/tables/unified/records.ts'
import { chargedRate, poolFree, poolLent, utilisationOf } from '../core/unified/lending.ts'
import { format } from '../money/amount.ts'
import { explain, explanationShape } from './explain.ts'
import { userAt } from './users.ts'

const UID = { uid: id() }
export const operatorLendingEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/{uid}/risk/explain',
    summary: "Shows each figure of an account's margin with its inputs, prices, tiers and formula",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    query: { scope: withDefault(currencyField, UNIFIED.scope) },
    status: 200,
    reply: explanationShape,
    refuses: ['USER_NOT_FOUND', 'INVALID_CURRENCY_PAIR', 'INVALID_CURRENCY'],
    handle: async ({ desk, path, query }) =>
      desk.core.read((state) => {
        userAt(state, path.uid)
        const scope = query.scope === UNIFIED.scope ? query.scope : state.world.market(query.scope).id
        return explain(state, path.uid, scope)
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/liquidations',
    summary: "Lists an account's warnings, restrictions and steps of liquidations, newest first",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    query: { limit: withDefault(integer(1, 1000), 100) },
    status: 200,
    reply: array(
      shape({
        id: int64,
        liquidation: int64,
        user_id: int64,
        scope: str,
        step: str,
        currency: str,
        amount: decimalText,
        detail: map(anything),
        at: int64,
      }),
    ),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path, query }) => {
      await desk.core.read((state) => userAt(state, path.uid))
      const where = 'where "user_id" = ? order by "id" desc limit ?'
      const steps = await desk.store.select(LIQUIDATION_STEP, where, [path.uid, query.limit])
      return steps.map((step) => ({ ...step, amount: format(step.amount), at: Math.floor(step.at / 1000) }))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/lending',
    summary: 'Lists the lending pools and insurance funds',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(
      shape({
        currency: str,
        pool: decimalText,
        lent: decimalText,
        accrued: decimalText,
        utilisation: decimalText,
        hourly_rate: str,
        insurance: decimalText,
        insurance_margin: decimalText,
      }),
    ),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) =>
        state.world.loanCurrencyNames.map((currency) => {
          const rate = chargedRate(state, currency)
          const balance = (name: PlatformAccountName): string =>
            format(state.ledger.balance(PLATFORM, name, currency))
          return {
            currency,
            pool: format(poolFree(state, currency)),
            lent: format(poolLent(state, currency)),
            accrued: balance('lending.accrued'),
            utilisation: format(utilisationOf(state, currency)),
            hourly_rate: rate === undefined ? '' : format(rate),
            insurance: balance(insuranceName('unified')),
            insurance_margin: balance(insuranceName('margin')),
          }
        }),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/lending/fund',
    summary: 'Puts operator equity into a lending pool or an insurance fund',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    body: object({
      currency: currencyField,
      fund: oneOf('pool', 'insurance', 'insurance:margin'),
      amount: positiveDecimal(),
    }),
    status: 204,
    reply: null,
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, body, operator }) =>
      desk.core.submit('lending.fund', { ...body, actor: operator }),
  }),
]
