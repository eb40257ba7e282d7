import { order } from './mix.ts'
import { sideBySide } from './side-by-side.ts'

/** Signed orders that rest or trade, each durable before its reply, beside a bare server that only checks the HMAC. */
export function run(): Promise<void> {
  return sideBySide('/api/v4/spot/orders', 'orders', order)
}
