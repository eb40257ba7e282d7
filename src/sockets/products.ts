import type { Permission } from '../core/tables/keys.ts'

/** What an address serves; each is also the name of the permission that a key needs for it. */
export const PRODUCTS = ['spot', 'unified', 'futures', 'delivery', 'options'] as const satisfies Permission[]
export type Product = (typeof PRODUCTS)[number]

/** What the names of its channels begin with. */
export const prefixOf = (product: Product): string => (product === 'delivery' ? 'futures' : product)

/** Answered on every address, whatever else their frames say. */
export const PINGS: ReadonlySet<string> = new Set([
  'spot.ping',
  'futures.ping',
  'options.ping',
  'unified.ping',
  'announcement.ping',
])

/** Where the channels of a prefix are served, as people are told. */
export const ADDRESSES: Readonly<Record<string, string>> = {
  spot: '/ws/v4/',
  unified: '/v4/ws/unified',
  futures: '/v4/ws/usdt or /v4/ws/btc',
  options: '/v4/ws/options',
}
/** `spot` of `spot.order_place`. */
export function prefixIn(channel: string): string {
  const dot = channel.indexOf('.')
  return dot === -1 ? channel : channel.slice(0, dot)
}
