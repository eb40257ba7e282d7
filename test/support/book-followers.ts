import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { State } from '../../src/core/state.ts'
import type { Exchange } from '../../src/core/tables/exchange/exchange.ts'
import type { PriceLevel } from '../../src/core/tables/exchange/order.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import type { Random } from '../sim/random.ts'
import { SocketClient, type Frame } from './socket.ts'

export type Side = readonly (readonly [string, string])[]
/** Windows that are compared. */
const LEVELS = [20, 50, 100, 400] as const

/** Digests of the first so many levels, for each size of window. */
function digests(levels: readonly string[]): string[] {
  const hash = createHash('md5')
  let done = 0
  return LEVELS.map((level) => {
    let text = ''
    for (; done < level && done < levels.length; done++) text += levels[done]!
    return hash.update(text).copy().digest('base64')
  })
}
const texts = (levels: Side): string[] => levels.map(([price, amount]) => `${price} ${amount};`)

/** What the core's book is at each id, for each size of window: the truth, noted beside each command. */
export class Truth {
  private readonly pair: string
  private readonly exchange: (state: State) => Exchange
  private readonly known = new Map<number, readonly string[]>()
  /** Most levels of a book stay as they were. */
  private readonly texts = new WeakMap<PriceLevel, { readonly amount: bigint; readonly text: string }>()
  constructor(pair: string, exchange: (state: State) => Exchange) {
    this.pair = pair
    this.exchange = exchange
  }
  note(state: State): void {
    const exchange = this.exchange(state)
    const { book_id } = exchange.figuresOf(this.pair)
    const { buy, sell } = exchange.book(this.pair)
    const side = (levels: readonly PriceLevel[]): string[] =>
      levels
        .slice(-LEVELS.at(-1)!)
        .map((level) => this.textOf(level))
        .reverse()
    const asks = digests(side(sell.levels))
    this.known.set(
      book_id,
      digests(side(buy.levels)).map((bids, i) => bids + asks[i]!),
    )
  }
  private textOf(level: PriceLevel): string {
    const known = this.texts.get(level)
    if (known?.amount === level.amount) return known.text
    const text = `${format(level.price)} ${format(level.amount as Amount)};`
    this.texts.set(level, { amount: level.amount, text })
    return text
  }
  check(id: number, level: number, bids: Side, asks: Side, who: string): void {
    const known = this.known.get(id)
    assert.ok(known !== undefined, `${who}: ${id} is no id after a command`)
    const place = LEVELS.indexOf(level as (typeof LEVELS)[number])
    assert.ok(bids.length <= level && asks.length <= level, `${who}: more than ${level} levels`)
    assert.equal(
      digests(texts(bids))[place]! + digests(texts(asks))[place]!,
      known[place],
      `${who}: the book at ${id} is another one`,
    )
  }
}

/** Levels as spot has them, or contracts. */
export type Levels = Side | readonly { readonly p: string; readonly s: number | string }[]
export const sideOf = (levels: Levels): Side =>
  levels.map((level) => ('p' in level ? [level.p, String(level.s)] : level))

/** A client's book: what it was told, and nothing else. */
class Followed {
  private readonly sides = { b: new Map<string, string>(), a: new Map<string, string>() }
  id = 0
  base(id: number, bids: Levels, asks: Levels): void {
    this.sides.b = new Map(sideOf(bids))
    this.sides.a = new Map(sideOf(asks))
    this.id = id
  }
  apply({ u, b, a }: Frame): void {
    for (const [side, levels] of [
      ['b', b],
      ['a', a],
    ] as const)
      for (const [price, amount] of sideOf(levels as Levels))
        if (amount === '0') this.sides[side].delete(price)
        else this.sides[side].set(price, amount)
    this.id = u as number
  }
  get bids(): Side {
    return [...this.sides.b].sort(([one], [other]) => Number(other) - Number(one))
  }
  get asks(): Side {
    return [...this.sides.a].sort(([one], [other]) => Number(one) - Number(other))
  }
}

export interface Way {
  readonly name: string
  readonly channel: string
  readonly payload: readonly string[]
  readonly level: number
  /** The base over REST, or the full frame. */
  readonly rest: boolean
}
/** Where a book is watched, and read. */
export interface Place {
  readonly url: string
  readonly path: string
  book(limit: number): Promise<Frame>
}

/** Begins at random moments, checks at every frame, and begins again. */
export async function follow(way: Way, place: Place, truth: Truth, random: Random, over: () => boolean) {
  const { name, channel, payload, level, rest } = way
  const client = await SocketClient.open(place.url, undefined, place.path)
  const figures = { frames: 0, begun: 0, inside: 0, empty: 0, bases: 0 }
  let failed: unknown
  while (!over()) {
    const book = new Followed()
    let cached: Frame[] | undefined = rest ? [] : undefined
    let begun = false
    const apply = (result: Frame): void => {
      assert.ok((result['U'] as number) <= book.id + 1, `${name}: a gap before ${String(result['U'])}`)
      if ((result['U'] as number) <= book.id) figures.inside++
      if (result['b'].length === 0 && result['a'].length === 0) figures.empty++
      book.apply(result)
      truth.check(book.id, level, book.bids, book.asks, name)
      figures.frames++
    }
    client.listener = (frame) => {
      if (failed !== undefined || frame['channel'] !== channel || frame['event'] !== 'update') return
      const result = frame['result'] as Frame
      try {
        if (cached !== undefined) cached.push(result)
        else if (result['full'] === true && !rest) {
          book.base(result['u'] as number, result['b'] as Levels, result['a'] as Levels)
          truth.check(book.id, level, book.bids, book.asks, `${name}, full`)
          begun = true
        } else if (begun) {
          if (!rest) assert.equal(result['U'], book.id + 1, `${name}: a gap`)
          if (!rest || (result['u'] as number) > book.id) apply(result)
        }
      } catch (error) {
        failed = error
      }
    }
    const answer = await client.subscribe(channel, payload)
    assert.equal(answer['result'].status, 'success', JSON.stringify(answer))
    figures.begun++
    if (rest) {
      await sleep(random.below(120))
      const base = await place.book(level)
      figures.bases++
      book.base(base['id'] as number, base['bids'] as Levels, base['asks'] as Levels)
      const kept = cached!.filter(({ full, u }) => full !== true && (u as number) > book.id)
      cached = undefined
      begun = true
      try {
        for (const result of kept) apply(result)
      } catch (error) {
        failed ??= error
      }
    }
    await sleep(50 + random.below(600))
    if (failed !== undefined) break
    await client.unsubscribe(channel, payload)
    await sleep(random.below(50))
  }
  await client.close()
  assert.ifError(failed)
  return figures
}
