import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { anyObject } from '../api/fields.ts'
import { bool, decimalText, int64, map, shape, str } from '../api/shapes.ts'
import type { NewPrices } from '../core/world/price-commands.ts'
import { refuse } from '../labels.ts'
import { format } from '../money/amount.ts'
import { nearest } from '../nearest.ts'
import type { Controls } from './platform.ts'

/** The one member of the body that is no currency: names of currencies are in capitals. */
const EXPIRES = 'expires'

function readBody(body: Readonly<Record<string, unknown>>): Pick<NewPrices, 'prices' | 'expires'> {
  const prices: Record<string, string | null> = {}
  let expires: number | null = null
  for (const [name, value] of Object.entries(body)) {
    if (name === EXPIRES) {
      expires = readSeconds(value)
      continue
    }
    if (name !== name.toUpperCase() && nearest(name, [EXPIRES]) !== undefined)
      refuse('INVALID_PARAM_VALUE', `${name}: is not known here; did you mean ${EXPIRES}?`)
    if (value !== null && typeof value !== 'string')
      refuse(
        'INVALID_PARAM_VALUE',
        `${name}: ${JSON.stringify(value)} must be a decimal string, or null to release it`,
      )
    prices[name] = value
  }
  return { prices, expires }
}
function readSeconds(value: unknown): number | null {
  if (value === null) return null
  const seconds = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > 9_999_999_999)
    refuse(
      'INVALID_PARAM_VALUE',
      `${EXPIRES}: ${JSON.stringify(value)} must be a whole number of Unix seconds`,
    )
  return seconds
}

export const operatorPriceEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/prices',
    summary:
      'Index prices in USDT and where each comes from; price "0" and source "none": nothing that is trusted says one',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: map(shape({ price: decimalText, source: str, last: decimalText, waiting: bool, expires: int64 })),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world, prices }) =>
        Object.fromEntries(
          world.allCurrencies.map(({ currency }) => {
            const { price, source, firm, known, expires } = prices.quote(currency)
            const told = { price: format(price), source, last: format(known) }
            return [currency, { ...told, waiting: firm !== price, expires }]
          }),
        ),
      ),
  }),
  endpoint({
    method: 'PUT',
    path: '/prices',
    summary:
      'Fixes index prices in USDT until expires (Unix seconds; live mode needs it), until they are changed, or released with null; liquidations that follow have begun when it answers',
    access: operatorOf('operator'),
    limit: null,
    guarded: { role: 'admin' },
    body: anyObject(),
    status: 200,
    reply: map(decimalText),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, operator, body }) => {
      const input: NewPrices = { ...readBody(body), actor: operator }
      await desk.core.submit('prices.set', input)
      await controls.settle()
      return desk.core.read((state) =>
        Object.fromEntries(
          state.world.allCurrencies.map(({ currency }) => [currency, format(state.prices.of(currency))]),
        ),
      )
    },
  }),
]
