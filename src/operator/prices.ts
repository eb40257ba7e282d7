import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { anyObject } from '../api/fields.ts'
import { decimalText, map, shape, str } from '../api/shapes.ts'
import { refuse } from '../labels.ts'
import { format } from '../money/amount.ts'
import type { Controls } from './platform.ts'

export const operatorPriceEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/prices',
    summary: 'Index prices in USDT, and where each comes from',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: map(shape({ price: decimalText, source: str })),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world, prices }) =>
        Object.fromEntries(
          world.allCurrencies.map(({ currency }) => {
            const { price, source } = prices.explain(currency)
            return [currency, { price: format(price), source }]
          }),
        ),
      ),
  }),
  endpoint({
    method: 'PUT',
    path: '/prices',
    summary:
      'Fixes index prices in USDT until they are changed, or released with null; liquidations that follow have begun when it answers',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: anyObject(),
    status: 200,
    reply: map(decimalText),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, operator, body }) => {
      const prices: Record<string, string | null> = {}
      for (const [currency, value] of Object.entries(body)) {
        if (value !== null && typeof value !== 'string')
          refuse(
            'INVALID_PARAM_VALUE',
            `${currency}: ${JSON.stringify(value)} must be a decimal string, or null to release it`,
          )
        prices[currency] = value
      }
      await desk.core.submit('prices.set', { prices, actor: operator })
      await controls.settle()
      return desk.core.read((state) =>
        Object.fromEntries(
          state.world.allCurrencies.map(({ currency }) => [currency, format(state.prices.of(currency))]),
        ),
      )
    },
  }),
]
