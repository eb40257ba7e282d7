import { signedRequest, type Signer } from './signed.ts'

/** There and back again, so that the money never runs out. */
export function thereAndBack(i: number): object {
  const [from, to] = i % 2 === 0 ? ['spot', 'futures'] : ['futures', 'spot']
  return { currency: 'USDT', from, to, amount: '0.01', settle: 'usdt' }
}

export interface MixedOrder {
  readonly currency_pair: string
  readonly side: 'buy' | 'sell'
  readonly amount: string
  readonly price: string
  readonly time_in_force?: 'ioc'
}
/**
 * Half of them rest at some price, the others take one of those: an account has a bound of open orders, and a stream that
 * leaves more and more of them would soon measure refusals.
 */
export function order(i: number, near = 50_000): MixedOrder {
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
    price: String(near + (side === 'buy' ? far : -far)),
    ...(takes && { time_in_force: 'ioc' as const }),
  }
}

/** What a bot looks at: live state for the most part, and now and then history, which comes from the tables. */
const READS: readonly (readonly [path: string, query: string])[] = [
  ['/api/v4/spot/accounts', ''],
  ['/api/v4/spot/order_book', 'currency_pair=BTC_USDT&limit=20'],
  ['/api/v4/spot/open_orders', 'limit=10'],
  ['/api/v4/spot/tickers', 'currency_pair=BTC_USDT'],
  ['/api/v4/spot/accounts', 'currency=USDT'],
  ['/api/v4/wallet/total_balance', ''],
  ['/api/v4/spot/trades', 'currency_pair=BTC_USDT&limit=20'],
  ['/api/v4/spot/my_trades', 'currency_pair=BTC_USDT&limit=10'],
]

/**
 * 30 % transfers, 30 % orders, 40 % reads, of several accounts in turn. Where others trade as well, orders are made near
 * the price, and each account cancels now and then what the price has left behind.
 */
export function mixed(
  signers: readonly Signer[],
  count: number,
  { near, cancels = false }: { readonly near?: number; readonly cancels?: boolean } = {},
): { requests: Buffer[]; kinds: string[] } {
  let transfers = 0
  let orders = 0
  let reads = 0
  const kinds: string[] = []
  const requests = Array.from({ length: count }, (_, i) => {
    const signer = signers[i % signers.length]!
    if (cancels && i < signers.length) {
      kinds.push('cancel all')
      return signedRequest(signer, 'DELETE', '/api/v4/spot/orders', 'currency_pair=BTC_USDT', undefined)
    }
    const kind = (i * 7) % 10
    if (kind < 3) {
      kinds.push('transfers')
      return signedRequest(signer, 'POST', '/api/v4/wallet/transfers', '', thereAndBack(transfers++))
    }
    if (kind < 6) {
      kinds.push('orders')
      return signedRequest(signer, 'POST', '/api/v4/spot/orders', '', order(orders++, near))
    }
    const [path, query] = READS[reads++ % READS.length]!
    kinds.push(path.slice('/api/v4'.length))
    return signedRequest(signer, 'GET', path, query, undefined)
  })
  return { requests, kinds }
}
