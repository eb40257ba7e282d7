import { refuse } from '../../../labels.ts'
import {
  ONE_PRICE,
  priceOf,
  unitOf,
  timesDown,
  overDown,
  type Amount,
  type Price,
} from '../../../money/amount.ts'
import { PACE_SETTING, opinionPrice, type Agents } from '../agents.ts'
import { LIVE, type World } from './world.ts'

/** What a price comes from, best first; none: nothing that is trusted says one. */
export type PriceSource = 'operator' | 'feed' | 'agents' | 'configured' | 'none'

/** Settings by these names hold prices by currency. */
export const OPERATOR_PRICES = 'prices'
export const FEED_PRICES = 'feed_prices'
/** Readings of the feed that have jumped, and wait for a second one. */
export const FEED_JUMPS = 'feed_jumps'
/** What a currency was worth when its last source fell silent. */
export const LAST_PRICES = 'last_prices'
const OURS: ReadonlySet<string> = new Set([
  OPERATOR_PRICES,
  FEED_PRICES,
  FEED_JUMPS,
  LAST_PRICES,
  'world',
  LIVE,
])

/** An operator's price; without an expiry it is a plain text. */
export type OperatorPrice = string | { readonly price: string; readonly expires: number }
export interface Jump {
  readonly price: string
  /** Microseconds: when it was read, and when the first reading was that the old price did not bear out. */
  readonly at: number
  readonly since: number
}

const NOTHING = 0n as Price
export const UNIT = 'USDT'

/** All that is known of a currency's price; zero is no price. */
export interface Quote {
  /** The trusted price: while a jump waits for its second reading, the old one. */
  readonly price: Price
  readonly source: PriceSource
  /** The same, but nothing while a jump waits: whoever gives money for it takes this one. */
  readonly firm: Price
  /**
   * The same, or what it was worth last. Debts are measured by it, and nothing else, so that a source that falls
   * silent neither forgives a debt nor liquidates anybody.
   */
  readonly known: Price
  /** What the feed says since it has jumped; zero where nothing waits to be borne out. */
  readonly reading: Price
  /** Unix seconds at which an operator's price ends; 0: never. */
  readonly expires: number
}
const UNIT_QUOTE: Quote = {
  price: ONE_PRICE,
  source: 'configured',
  firm: ONE_PRICE,
  known: ONE_PRICE,
  reading: NOTHING,
  expires: 0,
}

/**
 * Index prices in USDT: what an operator set, else what a feed says, else, in the sandbox, what the market agents
 * take for the price outside or the configured one; in live mode the configured one only where the file says that it
 * can be trusted. What is traded here never makes a price: anybody can trade with himself.
 */
export class Prices {
  private readonly world: World
  private readonly agents: Agents
  private readonly quotes = new Map<string, Quote>()
  private agentsLook = false

  constructor(world: World, agents: Agents) {
    this.world = world
    this.agents = agents
    world.settings.observe((before, after) => {
      const { name } = (after ?? before)!
      if (OURS.has(name)) this.quotes.clear()
      if (name !== PACE_SETTING) return
      const looks = ((after?.value as { every: number | null } | undefined)?.every ?? null) !== null
      if (looks !== this.agentsLook) this.quotes.clear()
      this.agentsLook = looks
    })
    agents.markets.observe((before, after) => {
      if (before?.fair !== after?.fair) this.quotes.delete((after ?? before)!.pair.split('_')[0]!)
    })
  }
  /** USDT for one unit by a trusted source; zero for a currency that has none. */
  of(currency: string): Price {
    return this.quote(currency).price
  }
  quote(currency: string): Quote {
    const known = this.quotes.get(currency)
    if (known !== undefined) return known
    const quote = this.find(currency)
    // Names that clients make up are not kept.
    if (this.world.findCurrency(currency)?.currency === currency) this.quotes.set(currency, quote)
    return quote
  }
  private find(currency: string): Quote {
    if (currency === UNIT) return UNIT_QUOTE
    const fixed = this.kept<OperatorPrice>(OPERATOR_PRICES)[currency]
    if (fixed !== undefined) {
      const { price, expires } = typeof fixed === 'string' ? { price: fixed, expires: 0 } : fixed
      return trusted(priceOf(price), 'operator', expires)
    }
    const jump = this.kept<Jump>(FEED_JUMPS)[currency]
    const reading = jump === undefined ? NOTHING : priceOf(jump.price)
    const fed = this.kept<string>(FEED_PRICES)[currency]
    if (fed !== undefined) {
      const price = priceOf(fed)
      const firm = jump === undefined ? price : NOTHING
      return { price, source: 'feed', firm, known: price, reading, expires: 0 }
    }
    const other = this.withoutFeed(currency)
    if (other !== undefined) return other
    const last = this.kept<string>(LAST_PRICES)[currency]
    const known = last === undefined ? NOTHING : priceOf(last)
    return { price: NOTHING, source: 'none', firm: NOTHING, known, reading, expires: 0 }
  }
  private withoutFeed(currency: string): Quote | undefined {
    const config = this.world.findCurrency(currency)
    if (this.world.live && config?.index_price_trusted !== true) return undefined
    const outside = this.world.live ? undefined : this.outside(currency)
    if (outside !== undefined) return trusted(outside, 'agents', 0)
    const price = priceOf(config?.index_price ?? '0')
    return price === 0n ? undefined : trusted(price, 'configured', 0)
  }
  /** The price that the sandbox's market agents believe in; nobody's trades move it. */
  private outside(currency: string): Price | undefined {
    const pair = `${currency}_${UNIT}`
    const opinion = this.agentsLook ? this.agents.markets.get(pair)?.fair : undefined
    const market = this.world.findMarket(pair)
    if (opinion === undefined || market === undefined) return undefined
    const unit = unitOf(market.config.precision)
    const price = (((opinionPrice(opinion) ?? 0n) + unit / 2n) / unit) * unit
    return price === 0n ? market.tick : (price as Price)
  }
  private kept<T>(name: string): Readonly<Record<string, T | undefined>> {
    return (this.world.settings.get(name)?.value ?? {}) as Readonly<Record<string, T | undefined>>
  }
  /** Refuses to give anything for a currency, or to lend it, while its price can't be relied on. */
  requireFirm(currency: string, what: string): void {
    const { firm, price } = this.quote(currency)
    if (firm !== 0n) return
    refuse(
      'TRADE_RESTRICTED',
      price === 0n
        ? `currency: ${currency} has no trusted index price at present, so ${what}; try again when it has one`
        : `currency: the index price of ${currency} has just jumped and waits for a second reading, so ${what}; try again in some seconds`,
    )
  }
  /** Worth in USDT, rounded towards zero; zero where there is no price. */
  worth(currency: string, amount: Amount): Amount {
    const price = this.of(currency)
    return (amount < 0n ? -timesDown(-amount as Amount, price) : timesDown(amount, price)) as Amount
  }
  /** USDT turned into a currency, rounded towards zero; zero where there is no price. */
  fromUsdt(currency: string, usdt: Amount): Amount {
    const price = this.of(currency)
    return price === 0n ? (0n as Amount) : overDown(usdt, price)
  }
}
const trusted = (price: Price, source: PriceSource, expires: number): Quote => ({
  price,
  source,
  firm: price,
  known: price,
  reading: NOTHING,
  expires,
})
