import { sideBySide } from './side-by-side.ts'

/** Signed orders that rest or trade, each durable before its reply, beside a bare server that only checks the HMAC. */
export function run(): Promise<void> {
  return sideBySide('/api/v4/spot/orders', 'orders', order)
}

/**
 * Half of them rest at some price, the others take one of those: an account has a bound of open orders, and a stream that
 * leaves more and more of them would soon measure refusals.
 */
function order(i: number): object {
  const [side, takes] = (
    [
      ['buy', false],
      ['sell', true],
      ['sell', false],
      ['buy', true],
    ] as const
  )[i % 4]!
  const distance = 1 + (i % 97)
  const far = takes ? 200 : -distance
  return {
    currency_pair: 'BTC_USDT',
    side,
    amount: '0.0001',
    price: String(50_000 + (side === 'buy' ? far : -far)),
    ...(takes && { time_in_force: 'ioc' }),
  }
}
