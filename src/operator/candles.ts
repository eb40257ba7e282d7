import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { integer, listOf, object, optional, type Field } from '../api/fields.ts'
import { int, int64, shape } from '../api/shapes.ts'
import { pairField } from '../api/wallet.ts'
import type { PlayedCandle } from '../core/agents/candles.ts'
import { refuse } from '../labels.ts'

/** Of one call; longer files come in portions. */
const PORTION_MAX = 1_000
const WEEK_SECONDS = 604_800

const DECIMAL = /^\d{1,20}(\.\d{1,18})?$/
/** [seconds, open, high, low, close, volume]: the time is a number, amounts are strings. */
function candleField(): Field<PlayedCandle> {
  const names = ['time', 'open', 'high', 'low', 'close', 'volume']
  return {
    schema: {
      type: 'array',
      items: {},
      description: `[${names.join(', ')}]: time in Unix seconds, all else decimal strings`,
      examples: ['[1704067200, "42283.5", "42554.5", "42261", "42475.2", "1271.6"]'],
    },
    required: true,
    read: (value, name) => {
      if (!Array.isArray(value) || value.length !== names.length)
        refuse('INVALID_PARAM_VALUE', `${name}: must be [${names.join(', ')}]`)
      const [time, ...amounts] = value as unknown[]
      if (typeof time !== 'number' || !Number.isSafeInteger(time) || time < 0 || time > 9_999_999_999)
        refuse('INVALID_PARAM_VALUE', `${name}[0]: must be Unix seconds`)
      for (const [i, amount] of amounts.entries())
        if (typeof amount !== 'string' || !DECIMAL.test(amount))
          refuse(
            'INVALID_PARAM_VALUE',
            `${name}[${i + 1}]: ${names[i + 1]!} must be a decimal string such as "1.5"`,
          )
      return [time, ...amounts] as unknown as PlayedCandle
    },
    absent: () => refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: a candle'),
  }
}

export const operatorCandleEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/agents/candles',
    summary:
      'Lets a market live through candles from elsewhere, each as four trades at their time; longer files in portions, with the shift that the first one answered',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: object({
      currency_pair: pairField,
      interval: integer(1, WEEK_SECONDS),
      shift: optional(integer(-9_999_999_999, 9_999_999_999)),
      candles: listOf(candleField(), PORTION_MAX),
    }),
    status: 200,
    reply: shape({ candles: int, from: int64, until: int64, shift: int64 }),
    refuses: [
      'INVALID_CURRENCY',
      'INVALID_CURRENCY_PAIR',
      'PRICE_THRESHOLD_EXCEEDED',
      'REQUEST_FORBIDDEN',
      'INVALID_PARAM_VALUE',
    ],
    handle: async ({ desk, operator, body }) => {
      if (body.candles.length === 0)
        refuse('INVALID_PARAM_VALUE', `candles: [] must hold from 1 to ${PORTION_MAX}`)
      return desk.core.submit('agents.candles', { ...body, actor: operator })
    },
  }),
]
