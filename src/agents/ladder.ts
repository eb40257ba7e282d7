import type { OrderRow, Side } from '../core/tables/exchange/order.ts'
import { amountOf, format, type Price } from '../money/amount.ts'
import type { Dice } from './dice.ts'
import type { Sketch } from './sketch.ts'

/** Price levels that the maker keeps on each side, and how far apart they are at least. */
const LEVELS = 10
export const SPREAD = 0.0003
/** Orders that the maker changes in one step; the first step of a market fills its whole ladder. */
const CHANGES_MAX = 6
/** Dollars on the best level; deeper ones hold more. */
const LEVEL_DOLLARS = 4_000
const NOISE_DOLLARS = 400
/** A look that comes later than this finds more to do: the quotes are set anew and several traders have come. */
const LONG_SECONDS = 30

/** Where agents trade: what prices and amounts look like there. */
export interface Place {
  readonly tick: number
  /** A price that the market takes. */
  price(value: number): string
  /** An amount worth so many dollars, or nothing where the market would not take it. */
  amount(dollars: number, price: number): string | undefined
}
export interface Moment {
  /** Microseconds: the moment that is looked at. */
  readonly at: number
  /** Seconds since the last look at this market, as the pace has it. */
  readonly elapsed: number
}
/** A look in the making. */
export interface Looking extends Moment {
  readonly place: Place
  /** The maker's quotes. */
  readonly open: readonly OrderRow[]
  readonly dice: Dice
  readonly sketch: Sketch
}

/** The maker takes back what is too near or too far, and fills the gaps of its ladder. */
export function tend(looking: Looking, fair: number, thin: boolean): void {
  const { place, open, dice, sketch } = looking
  const long = looking.elapsed > LONG_SECONDS
  const levels = thin ? 2 : LEVELS
  const jumped = open.every((order) => outOfPlace(order, fair, place, levels))
  const wrongDepth = thin ? open.length > 2 * levels : open.length < levels
  let changes = jumped || wrongDepth || long ? 4 * LEVELS : CHANGES_MAX
  const stale = new Set(unwanted(open, fair, place, levels).slice(0, changes))
  for (const order of stale) sketch.cancel(order)
  changes -= stale.size
  for (const side of ['buy', 'sell'] as const) {
    const kept = new Set<bigint>(
      open.filter((order) => order.side === side && !stale.has(order)).map(({ price }) => price),
    )
    for (let level = 0; level < levels && changes > 0 && kept.size < levels; level++) {
      const price = levelPrice(place, fair, side, level, dice)
      if (kept.has(amountOf(price))) continue
      const dollars = LEVEL_DOLLARS * (1 + level / 2) * (0.5 + dice.next()) * (thin ? 0.05 : 1)
      const amount = place.amount(dollars, fair)
      if (amount === undefined) continue
      if (sketch.rest(side, amount, price)) kept.add(amountOf(price))
      changes--
    }
  }
}
/** Quotes out of place, and of those in place the outer ones beyond the number of levels. */
function unwanted(open: readonly OrderRow[], fair: number, place: Place, levels: number): OrderRow[] {
  const stale = open.filter((order) => outOfPlace(order, fair, place, levels))
  for (const side of ['buy', 'sell'] as const)
    stale.push(
      ...open
        .filter((order) => order.side === side && !stale.includes(order))
        .sort((a, b) => (a.price < b.price === (side === 'buy') ? 1 : -1))
        .slice(levels),
    )
  return stale
}
export const number = (price: bigint): number => Number(price) / 1e18
const step = ({ tick }: Place, fair: number): number => Math.max(fair * SPREAD, tick)
function levelPrice(place: Place, fair: number, side: Side, level: number, dice: Dice): string {
  const distance = step(place, fair) * (0.6 + level * (1 + level * 0.12) + dice.next() * 0.4)
  return place.price(Math.max(place.tick, side === 'buy' ? fair - distance : fair + distance))
}
function outOfPlace(order: OrderRow, fair: number, place: Place, levels: number): boolean {
  const distance = (order.side === 'buy' ? 1 : -1) * (fair - number(order.price))
  const unit = step(place, fair)
  return distance < unit * 0.4 || distance > unit * (2 + levels * (1 + levels * 0.12))
}

/** The others: who knows better, who follows nobody, who follows the trend. */
export function trade(looking: Looking, fair: number, trend: number): void {
  const { dice } = looking
  const long = looking.elapsed > LONG_SECONDS
  correct(looking, fair)
  for (let trader = 0; trader < (long ? 2 : 1); trader++)
    if (long || dice.next() < 0.7) taste(looking, dice.next() < 0.5 ? 'buy' : 'sell', 'noise')
  if (Math.abs(trend) > 0.0004 && dice.next() < 0.4) taste(looking, trend > 0 ? 'buy' : 'sell', 'momentum')
}
/** Takes what stands beyond the price that the agents believe in. */
function correct({ place, sketch }: Looking, fair: number): void {
  for (const side of ['buy', 'sell'] as const) {
    const best = sketch.facing(side)
    if (best === undefined) continue
    const price = number(best)
    const bargain = side === 'buy' ? price < fair * (1 - 4 * SPREAD) : price > fair * (1 + 4 * SPREAD)
    if (!bargain) continue
    const amount = place.amount(LEVEL_DOLLARS * 5, fair)
    if (amount !== undefined) sketch.take('momentum', side, amount, place.price(fair))
  }
}
/** A small order that takes the best price. */
function taste({ place, sketch, dice }: Looking, side: Side, agent: 'noise' | 'momentum'): void {
  const best: Price | undefined = sketch.facing(side)
  if (best === undefined) return
  const amount = place.amount(NOISE_DOLLARS * (0.05 + dice.next() * dice.next() * 2), number(best))
  if (amount !== undefined) sketch.take(agent, side, amount, format(best))
}
