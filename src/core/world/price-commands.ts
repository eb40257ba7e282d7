import { DAY_SECONDS } from '../time.ts'
import { refuse } from '../../labels.ts'
import { ONE, ONE_PRICE, format, parsePrice, priceOf, type Price, type Rate } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import { audit } from '../audit.ts'
import { followIndex } from '../futures/prices.ts'
import type { Actor } from '../tables/audit.ts'
import type { Ctx, State } from '../state.ts'
import {
  FEED_JUMPS,
  FEED_PRICES,
  LAST_PRICES,
  OPERATOR_PRICES,
  UNIT,
  type Jump,
  type OperatorPrice,
} from '../tables/world/prices.ts'

type Texts = Readonly<Record<string, string>>
const settingOf = <T>(state: State, name: string): Readonly<Record<string, T>> =>
  (state.world.settings.get(name)?.value ?? {}) as Readonly<Record<string, T>>

/** Runs what may take prices away; what a currency was worth then is kept until it has a price again. */
export function keepingLast(ctx: Ctx, change: () => void): void {
  const { world, prices } = ctx.state
  const before = world.allCurrencies.map(({ currency }) => [currency, prices.of(currency)] as const)
  change()
  const known = settingOf<string>(ctx.state, LAST_PRICES)
  const last = new Map(Object.entries(known))
  for (const [currency, price] of before) {
    if (prices.of(currency) !== 0n) last.delete(currency)
    else if (price !== 0n) last.set(currency, format(price))
  }
  putSorted(ctx, LAST_PRICES, last)
}
/** Writes only what has changed: most ticks of a feed bring nothing new for most of these. */
function putSorted(ctx: Ctx, name: string, values: ReadonlyMap<string, unknown>): void {
  const { settings } = ctx.state.world
  const value = Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
  if (JSON.stringify(value) !== JSON.stringify(settings.get(name)?.value ?? {}))
    ctx.tx.put(settings, { name, value })
}

/** In live mode a price that somebody typed in does not stand for longer than this. */
const LIVE_DAYS_MAX = 7

export interface NewPrices {
  readonly prices: Readonly<Record<string, string | null>>
  /** Unix seconds at which they end; left out: when they are changed. Live mode needs it. */
  readonly expires?: number | null
  readonly actor: Actor
}
/** Fixes index prices until they end, are changed, or are released with null. */
export function setPrices(ctx: Ctx, input: NewPrices): null {
  const { world } = ctx.state
  const expires = readExpiry(ctx, input)
  const kept = new Map(Object.entries(settingOf<OperatorPrice>(ctx.state, OPERATOR_PRICES)))
  for (const [name, text] of Object.entries(input.prices)) {
    const { currency } = world.currency(name)
    if (text === null) {
      kept.delete(currency)
      continue
    }
    const price = parsePrice(text)
    if (price === undefined || price === 0n)
      refuse('INVALID_PARAM_VALUE', `${currency}: "${text}" is not a price above zero such as "60000"`)
    // Prices are in USDT: clients that send the price of everything send this one too.
    if (currency === UNIT && price !== ONE_PRICE)
      refuse('INVALID_PARAM_VALUE', `${UNIT}: prices are in ${UNIT}; its own is "1", not "${text}"`)
    if (currency !== UNIT) kept.set(currency, expires === null ? text : { price: text, expires })
  }
  keepingLast(ctx, () => putSorted(ctx, OPERATOR_PRICES, kept))
  followIndex(ctx)
  if (expires !== null) schedule(ctx, expires * 1e6, 'prices.expire', {})
  audit(ctx, input.actor, 'prices.set', { prices: input.prices, ...(expires !== null && { expires }) })
  return null
}
function readExpiry(ctx: Ctx, { prices, expires = null }: NewPrices): number | null {
  const now = ctx.at / 1e6
  const { live } = ctx.state.world
  const sets = Object.values(prices).some((text) => text !== null)
  if (expires === null) {
    if (live && sets)
      refuse(
        'MISSING_REQUIRED_PARAM',
        'Missing required parameter: expires (Unix seconds at which these prices end); live mode needs it',
      )
    return null
  }
  if (!(expires > now))
    refuse('INVALID_PARAM_VALUE', `expires: ${expires} is past; Unix seconds after ${Math.floor(now)}`)
  if (live && expires > now + LIVE_DAYS_MAX * DAY_SECONDS)
    refuse(
      'INVALID_PARAM_VALUE',
      `expires: ${expires} is more than ${LIVE_DAYS_MAX} days away, which is the most in live mode`,
    )
  return expires
}
/** Due: operators' prices whose time has come are released. */
export function expirePrices(ctx: Ctx): null {
  const kept = new Map(Object.entries(settingOf<OperatorPrice>(ctx.state, OPERATOR_PRICES)))
  const ended: Record<string, string> = {}
  for (const [currency, fixed] of kept)
    if (typeof fixed !== 'string' && fixed.expires * 1e6 <= ctx.at) {
      kept.delete(currency)
      ended[currency] = fixed.price
    }
  if (Object.keys(ended).length === 0) return null
  keepingLast(ctx, () => putSorted(ctx, OPERATOR_PRICES, kept))
  followIndex(ctx)
  audit(ctx, null, 'prices.expire', { prices: ended })
  return null
}

/** A jump is borne out by a reading that comes at most so long after it (microseconds). */
const CONFIRM_WITHIN = 5e6
const near = (reading: Price, other: Price, part: Rate): boolean => {
  const away = reading > other ? reading - other : other - reading
  return away * ONE <= other * part
}

export interface FeedReading {
  readonly prices: Texts
  /** What a second source says at the same time. */
  readonly second?: Texts
}
/**
 * What the feed says now, all of it; nothing when it has been silent for too long. What is no price of ours is left
 * out. A price that jumps, and a first one, counts when a second source or a second reading bears it out: until then
 * the old one stands. Tells which currencies wait for that.
 */
export function takeFeed(ctx: Ctx, { prices, second = {} }: FeedReading): { readonly waiting: string[] } {
  const { world } = ctx.state
  const part = world.priceJump
  const staleMicros = (world.priceFeed?.stale_seconds ?? 0) * 1e6
  const before = settingOf<string>(ctx.state, FEED_PRICES)
  const last = settingOf<string>(ctx.state, LAST_PRICES)
  const jumps = settingOf<Jump>(ctx.state, FEED_JUMPS)
  const fed = new Map<string, string>()
  const waiting = new Map<string, Jump>()
  for (const [name, text] of Object.entries(prices)) {
    const reading = readingOf(text)
    if (reading === undefined || name === UNIT || world.findCurrency(name)?.currency !== name) continue
    const old = before[name] ?? last[name]
    const jump = jumps[name]
    const other = readingOf(second[name])
    const borneOut =
      (old !== undefined && near(reading, priceOf(old), part)) ||
      (other !== undefined && near(reading, other, part)) ||
      (jump !== undefined && ctx.at - jump.at <= CONFIRM_WITHIN && near(reading, priceOf(jump.price), part))
    if (borneOut) {
      fed.set(name, text)
      continue
    }
    const since = jump?.since ?? ctx.at
    waiting.set(name, { price: text, at: ctx.at, since })
    // A feed that says something else each time is no better than a silent one.
    const held = before[name]
    if (held !== undefined && ctx.at - since < staleMicros) fed.set(name, held)
  }
  keepingLast(ctx, () => {
    putSorted(ctx, FEED_PRICES, fed)
    putSorted(ctx, FEED_JUMPS, waiting)
  })
  followIndex(ctx)
  return { waiting: [...waiting.keys()] }
}
function readingOf(text: string | undefined): Price | undefined {
  const price = text === undefined ? undefined : parsePrice(text)
  return price === 0n ? undefined : price
}
