import { endpoint, type AnyEndpoint } from '../api/endpoint.ts'
import { LIMITS } from '../api/limits.ts'
import { decimalText, shape, str } from '../api/shapes.ts'
import { pairField } from '../api/wallet.ts'
import { UNIFIED } from '../core/tables/unified/loan-accounts.ts'
import { pairPrice } from '../core/unified/portfolio.ts'
import { format } from '../money/amount.ts'
import { explain, explanationShape } from '../operator/explain.ts'

/** What margins are reckoned with, for those whose they are. */
export const consoleRiskEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/risk',
    summary: "Shows each figure of the unified account's margin with its inputs, prices, tiers and formula",
    access: { kind: 'session', subject: 'account', permission: 'unified' },
    limit: LIMITS.consoleAccount,
    status: 200,
    reply: explanationShape,
    refuses: [],
    handle: ({ desk, caller }) =>
      desk.core.read((state) => explain(state, caller.user.user_id, UNIFIED.scope)),
  }),
  endpoint({
    method: 'GET',
    path: '/index_price',
    summary: "Tells a market's price by the index prices of its currencies; 0 where one has none",
    access: { kind: 'session', subject: 'account' },
    limit: LIMITS.consoleAccount,
    query: { currency_pair: pairField },
    status: 200,
    reply: shape({ currency_pair: str, price: decimalText }),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'],
    handle: ({ desk, query }) =>
      desk.core.read((state) => {
        const market = state.world.market(query.currency_pair)
        return { currency_pair: market.id, price: format(pairPrice(state, market)) }
      }),
  }),
]
