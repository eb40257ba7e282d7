import { generate } from './load-generator.ts'
import { sideBySide } from './side-by-side.ts'

/** Signed POSTs that move money durably, beside a bare server that only checks the HMAC and parses the JSON. */
export function run(): Promise<void> {
  return sideBySide('/api/v4/wallet/transfers', 'requests', thereAndBack, moveSomeOut)
}

/** There and back again, so that the money never runs out. */
function thereAndBack(i: number): object {
  const [from, to] = i % 2 === 0 ? ['spot', 'futures'] : ['futures', 'spot']
  return { currency: 'USDT', from, to, amount: '0.01', settle: 'usdt' }
}
/** The first requests move money out, so that those that move it back find some. */
async function moveSomeOut(first: Buffer, port: number): Promise<void> {
  await generate({ port, connections: 1, seconds: 1, requests: [first] })
}
