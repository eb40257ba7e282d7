import { generate } from './load-generator.ts'
import { thereAndBack } from './mix.ts'
import type { Table } from './results.ts'
import { everySide, sideBySide, type Sides } from './side-by-side.ts'

/** Signed POSTs that move money durably, beside a bare server that only checks the HMAC and parses the JSON. */
const SIDES: Sides = {
  title: 'Signed transfers',
  path: '/api/v4/wallet/transfers',
  what: 'requests',
  bodyOf: thereAndBack,
  prepare: moveSomeOut,
}
export const run = (): Promise<void> => sideBySide(SIDES)
export const measured = async (quick: boolean): Promise<Table[]> => [
  await everySide({ ...SIDES, ...(quick && { rounds: 1, seconds: 1 }) }, { transactions: true }),
]

/** The first requests move money out, so that those that move it back find some. */
async function moveSomeOut(first: Buffer, port: number): Promise<void> {
  await generate({ port, connections: 1, seconds: 1, requests: [first] })
}
