import { refuse } from '../../labels.ts'
import type { Amount } from '../../money/amount.ts'
import { contractsIn } from '../../core/tables/world/contracts.ts'
import type { HeaderName } from '../../http/exchange.ts'
import type { Field, JsonSchema } from '../fields.ts'

/**
 * Numbers of contracts on the wire. A client whose models hold them as texts says so in a header; all others get
 * integers. Requests may carry either.
 */
export const sizeShape: JsonSchema = {
  anyOf: [
    { type: 'integer', format: 'int64' },
    { type: 'string', format: 'decimal' },
  ],
  description: 'contracts: an integer, or digits in a string with the request header X-Gate-Size-Decimal: 1',
}
/** How a reply writes a number of contracts, of a row whose amounts have 18 decimals. */
export type Sizes = (amount: Amount) => string | number
export const sizeNumber = (amount: Amount): number => Number(contractsIn(amount))
export const sizeText = (amount: Amount): string => String(contractsIn(amount))

export function sizesOf(call: { header(name: HeaderName): string | undefined }): Sizes {
  const asked = call.header('x-gate-size-decimal') ?? call.header('x-svc-size-decimal')
  return asked === '1' ? sizeText : sizeNumber
}

const WHOLE_MAX = 999_999_999_999_999
const SIZE = /^[+-]?\d{1,15}(\.\d{1,18})?$/
const TOO_FINE = /^[+-]?\d+\.\d{19,}$/
function refuseSize(value: unknown, text: unknown, name: string): never {
  const sent = JSON.stringify(value).slice(0, 80)
  if (typeof text === 'string' && TOO_FINE.test(text))
    refuse('INVALID_PRECISION', `${name}: ${sent} has more than 18 decimals; sizes are whole contracts`)
  return refuse(
    'INVALID_PARAM_VALUE',
    `${name}: ${sent} must be a whole number of contracts, such as 10 or "-10"`,
  )
}
/** Small fractions are written with an exponent otherwise. */
function digitsOf(value: number): string {
  const text = String(value)
  return text.includes('e-') ? value.toFixed(18) : text
}
/**
 * A signed number of contracts: an integer, a number with integral value, or digits in a string. A fraction is kept, so
 * that the rules refuse it in its turn.
 */
export function sizeField(): Field<string> {
  return {
    schema: { type: 'integer', format: 'int64', description: 'contracts; digits in a string are taken too' },
    required: true,
    absent: () => {
      throw new TypeError('a required field has no default')
    },
    read: (value, name) => {
      if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= WHOLE_MAX)
        return String(value || 0)
      const text = typeof value === 'number' ? digitsOf(value) : value
      if (typeof text !== 'string' || !SIZE.test(text)) return refuseSize(value, text, name)
      const [whole, fraction = ''] = text.split('.') as [string, string?]
      if (/[1-9]/.test(fraction)) return text
      // Without leading zeros, and no -0.
      return String(Number(whole) || 0)
    },
  }
}
