import { parsePrice, priceOf, type Amount, type Price, timesDown, overDown } from '../../money/amount.ts'
import { audit, type Actor } from '../operators/audit.ts'
import { refuse } from '../../labels.ts'
import type { Ctx } from '../state.ts'
import type { World } from './world.ts'

/** What a price comes from, best first. */
export type PriceSource = 'operator' | 'feed' | 'market' | 'configured'

/** Settings by these names hold prices by currency. */
const OPERATOR_PRICES = 'prices'
const FEED_PRICES = 'feed_prices'
const ONE = priceOf('1')
const UNIT = 'USDT'

/**
 * Index prices in USDT: what an operator set, else what a feed says, else the last price of our own market, else
 * the configured one. Markets tell theirs through `setMarketSource`.
 */
export class Prices {
  private readonly world: World
  private fixed = new Map<string, Price>()
  private fed = new Map<string, Price>()
  private market: (currency: string) => Price | undefined = () => undefined

  constructor(world: World) {
    this.world = world
    world.settings.observe((before, after) => {
      const name = (after ?? before)?.name
      if (name !== OPERATOR_PRICES && name !== FEED_PRICES) return
      const texts = (after?.value ?? {}) as Readonly<Record<string, string>>
      const prices = new Map(Object.entries(texts).map(([currency, text]) => [currency, priceOf(text)]))
      if (name === FEED_PRICES) this.fed = prices
      else this.fixed = prices
    })
  }
  setMarketSource(source: (currency: string) => Price | undefined): void {
    this.market = source
  }
  /** USDT for one unit; zero for a currency that nothing prices (POINT). */
  of(currency: string): Price {
    return this.explain(currency).price
  }
  explain(currency: string): { readonly price: Price; readonly source: PriceSource } {
    if (currency === UNIT) return { price: ONE, source: 'configured' }
    const fixed = this.fixed.get(currency)
    if (fixed !== undefined) return { price: fixed, source: 'operator' }
    const fed = this.fed.get(currency)
    if (fed !== undefined) return { price: fed, source: 'feed' }
    const traded = this.market(currency)
    if (traded !== undefined) return { price: traded, source: 'market' }
    return { price: priceOf(this.world.findCurrency(currency)?.index_price ?? '0'), source: 'configured' }
  }
  /** Worth in USDT, rounded towards zero. */
  worth(currency: string, amount: Amount): Amount {
    const price = this.of(currency)
    return (amount < 0n ? -timesDown(-amount as Amount, price) : timesDown(amount, price)) as Amount
  }
  /** USDT turned into a currency, rounded towards zero; zero where there is no price. */
  fromUsdt(currency: string, usdt: Amount): Amount {
    const price = this.of(currency)
    return price === 0n ? (0n as Amount) : overDown(usdt, price)
  }
  get operatorSet(): Readonly<Record<string, Price>> {
    return Object.fromEntries(this.fixed)
  }
}

/** Fixes index prices until they are changed, or released with null. */
export function setPrices(
  ctx: Ctx,
  input: { prices: Readonly<Record<string, string | null>>; actor: Actor },
): null {
  const { world } = ctx.state
  const kept: Record<string, string> = {
    ...(world.settings.get(OPERATOR_PRICES)?.value as Record<string, string> | undefined),
  }
  for (const [name, text] of Object.entries(input.prices)) {
    const { currency } = world.currency(name)
    if (text === null) {
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a map of prices by currency
      delete kept[currency]
      continue
    }
    const price = parsePrice(text)
    if (price === undefined || price === 0n)
      refuse('INVALID_PARAM_VALUE', `${currency}: "${text}" is not a price above zero such as "60000"`)
    if (currency === UNIT) refuse('INVALID_PARAM_VALUE', `${UNIT}: prices are in ${UNIT}; its own is 1`)
    kept[currency] = text
  }
  ctx.tx.put(world.settings, { name: OPERATOR_PRICES, value: kept })
  audit(ctx, input.actor, 'prices.set', { prices: input.prices })
  return null
}

/** What the feed says now, all of it; nothing when it has been silent for too long. What is no price of ours is left out. */
export function takeFeed(ctx: Ctx, input: { prices: Readonly<Record<string, string>> }): null {
  const { world } = ctx.state
  const prices = Object.entries(input.prices)
    .filter(([name, text]) => {
      const price = parsePrice(text)
      return name !== UNIT && world.findCurrency(name) !== undefined && price !== undefined && price > 0n
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const value = Object.fromEntries(prices)
  const known = world.settings.get(FEED_PRICES)?.value ?? {}
  if (JSON.stringify(value) !== JSON.stringify(known))
    ctx.tx.put(world.settings, { name: FEED_PRICES, value })
  return null
}
