import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import { object, text, withDefault } from '../api/fields.ts'
import { array, bool, shape, str } from '../api/shapes.ts'
import { currencyField, pairField } from '../api/wallet.ts'
import { currencyInTheWay, marketInTheWay } from '../core/world/listing.ts'
import type { State } from '../core/state.ts'
import { notFound } from '../labels.ts'
import { finishPortions } from './portions.ts'

/** Halts, and the steps of a market or a currency out of the platform. */
const PAIR = { currency_pair: pairField }
const CURRENCY = { currency: currencyField }
const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const
const CURRENCY_LABELS = ['INVALID_CURRENCY', 'INVALID_PARAM_VALUE'] as const
const WHY = object({ reason: withDefault(text({ max: 200 }), '') })

const marketShape = shape({
  currency_pair: str,
  status: str,
  trade_status: str,
  halted: bool,
  in_the_way: array(str),
})
function marketView(state: State, pair: string) {
  const { world } = state
  const name = pair.toUpperCase()
  // While the file has its row, what is gone is told of.
  if (world.findMarket(name) === undefined && world.configured!.markets.some(({ id }) => id === name))
    return {
      currency_pair: name,
      status: 'gone',
      trade_status: 'untradable',
      halted: true,
      in_the_way: [],
    }
  const { id, halted, config } = world.market(name, 'path')
  const { status = 'trading', trade_status } = config
  return { currency_pair: id, status, trade_status, halted, in_the_way: marketInTheWay(state, id) }
}
const currencyShape = shape({ currency: str, status: str, in_the_way: array(str) })
function currencyView(state: State, given: string) {
  const { world } = state
  const name = given.toUpperCase()
  const found = world.findCurrency(name)
  if (found === undefined) {
    if (world.configured!.currencies.some(({ currency }) => currency === name))
      return { currency: name, status: 'gone', in_the_way: [] }
    notFound('INVALID_CURRENCY', `currency: "${given}" is not a currency of this platform`)
  }
  const { currency, status = 'listed' } = found
  return { currency, status, in_the_way: currencyInTheWay(state, currency) }
}
/** When the answer comes nothing waits there any more. */
async function finishDelisting(desk: Desk, pair: string): Promise<void> {
  const id = pair.toUpperCase()
  await finishPortions(desk, 'market.cancel_rest', (input) => input['currency_pair'] === id)
}

interface Step {
  readonly verb: 'halt' | 'resume' | 'delist'
  readonly status: 'halted' | 'trading' | 'delisting'
  readonly summary: string
}
/** One who is on duty stops a market; that it goes on, or ends, takes two people in live mode. */
const STEPS: readonly Step[] = [
  {
    verb: 'halt',
    status: 'halted',
    summary: 'Halts a market: no new orders, no matching; those that wait can be cancelled',
  },
  {
    verb: 'resume',
    status: 'trading',
    summary: 'Lets a market that is halted or being delisted trade again',
  },
  {
    verb: 'delist',
    status: 'delisting',
    summary:
      'Delists a market: halted, all orders of all accounts cancelled, margin accounts without a loan emptied into spot',
  },
]

export const operatorListingEndpoints: readonly AnyEndpoint[] = [
  ...(['halt', 'resume'] as const).map((verb) =>
    endpoint({
      method: 'POST',
      path: `/markets/${verb}`,
      summary: verb === 'halt' ? 'Halts all markets at once' : 'Ends the halt of all markets',
      access: operatorOf('operator'),
      ...(verb === 'resume' && { guarded: { role: 'operator' as const } }),
      limit: null,
      body: WHY,
      status: 200,
      reply: shape({ halted: bool }),
      refuses: [],
      handle: async ({ desk, operator, body }) => {
        const halted = verb === 'halt'
        await desk.core.submit('markets.halt', { halted, reason: body.reason, actor: operator })
        return { halted }
      },
    }),
  ),
  ...STEPS.map(({ verb, status, summary }) =>
    endpoint({
      method: 'POST',
      path: `/markets/{currency_pair}/${verb}`,
      summary,
      access: operatorOf(verb === 'delist' ? 'admin' : 'operator'),
      ...(verb !== 'halt' && {
        guarded: { role: verb === 'delist' ? ('admin' as const) : ('operator' as const) },
      }),
      limit: null,
      params: PAIR,
      body: WHY,
      status: 200,
      reply: marketShape,
      // What a currency that is leaving keeps delisted can't do anything else.
      refuses: verb === 'delist' ? PAIR_LABELS : [...PAIR_LABELS, 'TRADE_RESTRICTED'],
      handle: async ({ desk, operator, path, body }) => {
        const { currency_pair } = path
        await desk.core.submit('market.status', {
          currency_pair,
          status,
          reason: body.reason,
          actor: operator,
        })
        if (status === 'delisting') await finishDelisting(desk, currency_pair)
        return desk.core.read((state) => marketView(state, currency_pair))
      },
    }),
  ),
  endpoint({
    method: 'GET',
    path: '/markets/{currency_pair}/delisting',
    summary: "Tells a market's step, and what is in the way of its end",
    access: operatorOf('viewer'),
    limit: null,
    params: PAIR,
    status: 200,
    reply: marketShape,
    refuses: PAIR_LABELS,
    handle: async ({ desk, path }) => desk.core.read((state) => marketView(state, path.currency_pair)),
  }),
  endpoint({
    method: 'POST',
    path: '/markets/{currency_pair}/remove',
    summary: 'Ends a delisted market when nothing is left in it; its row may then leave the file',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    params: PAIR,
    status: 200,
    reply: marketShape,
    refuses: ['INVALID_CURRENCY_PAIR', 'INVALID_PARAM_VALUE'],
    handle: async ({ desk, operator, path }) => {
      await desk.core.submit('market.remove', { currency_pair: path.currency_pair, actor: operator })
      return desk.core.read((state) => marketView(state, path.currency_pair))
    },
  }),
  ...(['delist', 'relist'] as const).map((verb) =>
    endpoint({
      method: 'POST',
      path: `/currencies/{currency}/${verb}`,
      summary:
        verb === 'delist'
          ? 'A currency whose markets are delisted can only be withdrawn from now on'
          : 'Lists a currency again',
      access: operatorOf('admin'),
      guarded: { role: 'admin' },
      limit: null,
      params: CURRENCY,
      body: WHY,
      status: 200,
      reply: currencyShape,
      refuses: CURRENCY_LABELS,
      handle: async ({ desk, operator, path, body }) => {
        const status = verb === 'delist' ? 'withdraw_only' : 'listed'
        const { currency } = path
        await desk.core.submit('currency.status', { currency, status, reason: body.reason, actor: operator })
        return desk.core.read((state) => currencyView(state, currency))
      },
    }),
  ),
  endpoint({
    method: 'GET',
    path: '/currencies/{currency}/delisting',
    summary: "Tells a currency's step, and what is in the way of its end",
    access: operatorOf('viewer'),
    limit: null,
    params: CURRENCY,
    status: 200,
    reply: currencyShape,
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, path }) => desk.core.read((state) => currencyView(state, path.currency)),
  }),
  endpoint({
    method: 'POST',
    path: '/currencies/{currency}/remove',
    summary:
      "Ends a currency that nobody holds any more: the platform's own accounts in it are closed, and its row may leave the file",
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    params: CURRENCY,
    status: 200,
    reply: currencyShape,
    refuses: CURRENCY_LABELS,
    handle: async ({ desk, operator, path }) => {
      await desk.core.submit('currency.remove', { currency: path.currency, actor: operator })
      return desk.core.read((state) => currencyView(state, path.currency))
    },
  }),
]
