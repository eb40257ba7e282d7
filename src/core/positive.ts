import { refuse } from '../labels.ts'
import { parseAmount, type Amount } from '../money/amount.ts'

/** An amount that somebody asks to be moved. */
export function positiveAmount(text: string): Amount {
  const amount = parseAmount(text)
  if (amount === undefined || amount === 0n)
    refuse('INVALID_PARAM_VALUE', `amount: "${text}" is not a positive decimal such as "1.5"`)
  return amount
}
