import { sideBySide } from './side-by-side.ts'

/** Signed orders that rest or trade, each durable before its reply, beside a bare server that only checks the HMAC. */
export function run(): Promise<void> {
  return sideBySide('/api/v4/spot/orders', 'orders', order)
}

/** Eight in ten rest at some price, the others sell into them or buy from them. */
function order(i: number): object {
  const side = i % 2 === 0 ? 'buy' : 'sell'
  const crosses = i % 10 === 9 || i % 10 === 4
  const distance = 1 + (i % 97)
  return {
    currency_pair: 'BTC_USDT',
    side,
    amount: '0.0001',
    price: String(50_000 + ((side === 'buy') === crosses ? distance : -distance)),
    ...(crosses && { time_in_force: 'ioc' }),
  }
}
