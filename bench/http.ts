import { generate } from './load-generator.ts'
import { thereAndBack } from './mix.ts'
import { sideBySide } from './side-by-side.ts'

/** Signed POSTs that move money durably, beside a bare server that only checks the HMAC and parses the JSON. */
export function run(): Promise<void> {
  return sideBySide('/api/v4/wallet/transfers', 'requests', thereAndBack, moveSomeOut)
}

/** The first requests move money out, so that those that move it back find some. */
async function moveSomeOut(first: Buffer, port: number): Promise<void> {
  await generate({ port, connections: 1, seconds: 1, requests: [first] })
}
