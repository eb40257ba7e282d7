import { order } from './mix.ts'
import type { Table } from './results.ts'
import { everySide, sideBySide, type Sides } from './side-by-side.ts'

/** Signed orders that rest or trade, each durable before its reply, beside a bare server that only checks the HMAC. */
const SIDES: Sides = { title: 'Signed orders', path: '/api/v4/spot/orders', what: 'orders', bodyOf: order }

export const run = (): Promise<void> => sideBySide(SIDES)
export const measured = async (quick: boolean): Promise<Table[]> => [
  await everySide({ ...SIDES, ...(quick && { rounds: 1, seconds: 1 }) }, { transactions: false }),
]
