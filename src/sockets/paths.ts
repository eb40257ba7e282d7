import type { Product as Kind } from './products.ts'

/** What a socket's address serves. */
export type Product =
  'spot' | 'unified' | 'futures_usdt' | 'futures_btc' | 'delivery_usdt' | 'delivery_btc' | 'options'

/** Every address, without its leading segment. */
const PATHS: ReadonlyMap<string, Product> = new Map([
  ['/ws/v4/', 'spot'],
  ['/ws/v4', 'spot'],
  ['/v4/ws/spot', 'spot'],
  ['/v4/ws/unified', 'unified'],
  ['/v4/ws/usdt', 'futures_usdt'],
  ['/v4/ws/futures/usdt', 'futures_usdt'],
  ['/v4/ws/btc', 'futures_btc'],
  ['/v4/ws/futures/btc', 'futures_btc'],
  ['/v4/ws', 'futures_btc'],
  ['/v4/ws/delivery/usdt', 'delivery_usdt'],
  ['/v4/ws/delivery/btc', 'delivery_btc'],
  ['/v4/ws/options', 'options'],
  ['/v4/ws/options/usdt', 'options'],
  ['/v4/ws/options/btc', 'options'],
])
/** For people in browsers: a session is the access there, and nowhere else is a cookie looked at. */
const CONSOLE: ReadonlyMap<string, Product> = new Map([
  ['/console/ws', 'spot'],
  ['/console/ws/unified', 'unified'],
  ['/console/ws/futures/usdt', 'futures_usdt'],
  ['/console/ws/futures/btc', 'futures_btc'],
  ['/console/ws/delivery/usdt', 'delivery_usdt'],
  ['/console/ws/delivery/btc', 'delivery_btc'],
])
export const isConsole = (path: string): boolean => CONSOLE.has(withoutSlash(path))
const OPTIONS = '/op-ws'
const LEADING = /^\/[a-z0-9-]{1,32}(?=\/)/

/** The product of a path, query excluded; undefined: no socket is there. */
export function productOf(path: string): Product | undefined {
  const bare = withoutSlash(path)
  const own = PATHS.get(path) ?? PATHS.get(bare) ?? CONSOLE.get(bare)
  if (own !== undefined) return own
  const leading = LEADING.exec(path)?.[0]
  if (leading === undefined) return undefined
  const rest = withoutSlash(path.slice(leading.length))
  const product = PATHS.get(rest)
  return leading === OPTIONS && product !== undefined ? 'options' : product
}
const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

/** What is served at an address: usdt and btc are one product. */
export const kindOf = (address: Product): Kind => address.split('_')[0] as Kind
/** group/settle of the contracts that an address serves; empty where it serves none. */
export const accountOf = (address: Product): string =>
  address.startsWith('futures') || address.startsWith('delivery') ? address.replace('_', '/') : ''
