import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PriceLevel } from '../../src/core/tables/exchange/order.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import type { State } from '../../src/core/state.ts'
import { NO_AMENDMENT, orderOf } from '../support/events.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'
import { Random } from '../sim/random.ts'

/**
 * Followers of a busy book hold exactly the core's book at every id that they are told, whenever they began and by
 * whichever of the published ways. The truth is noted beside each command, from the core's own book.
 */
const PAIR = 'BTC_USDT'
const LEVELS = [20, 50, 100, 400] as const
const OPERATIONS = 100_000
const READS = 10_000

type Side = readonly (readonly [string, string])[]
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

/** What the core's book is at each id, for each size of window. */
class Truth {
  private readonly known = new Map<number, readonly string[]>()
  /** Most levels of a book stay as they were. */
  private readonly texts = new WeakMap<PriceLevel, { readonly amount: bigint; readonly text: string }>()
  note(state: State): void {
    const { book_id } = state.spot.figuresOf(PAIR)
    const { buy, sell } = state.spot.book(PAIR)
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

/** A client's book: what it was told, and nothing else. */
class Followed {
  private readonly sides = { b: new Map<string, string>(), a: new Map<string, string>() }
  id = 0
  base(id: number, bids: Side, asks: Side): void {
    this.sides.b = new Map(bids)
    this.sides.a = new Map(asks)
    this.id = id
  }
  apply({ u, b, a }: Frame): void {
    for (const [side, levels] of [
      ['b', b],
      ['a', a],
    ] as const)
      for (const [price, amount] of levels as [string, string][])
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

interface Way {
  readonly name: string
  readonly channel: string
  readonly payload: readonly string[]
  readonly level: number
  /** The base over REST, or the full frame. */
  readonly rest: boolean
}
const WAYS: readonly Way[] = [
  { name: '20ms, full', channel: 'spot.order_book_update', payload: [PAIR, '20ms'], level: 20, rest: false },
  { name: '20ms, REST', channel: 'spot.order_book_update', payload: [PAIR, '20ms'], level: 20, rest: true },
  {
    name: '100ms, full',
    channel: 'spot.order_book_update',
    payload: [PAIR, '100ms'],
    level: 100,
    rest: false,
  },
  {
    name: '100ms, REST',
    channel: 'spot.order_book_update',
    payload: [PAIR, '100ms'],
    level: 100,
    rest: true,
  },
  { name: 'obu 50', channel: 'spot.obu', payload: [`ob.${PAIR}.50`], level: 50, rest: false },
  { name: 'obu 400', channel: 'spot.obu', payload: [`ob.${PAIR}.400`], level: 400, rest: false },
]

/** Begins at random moments, checks at every frame, and begins again. */
async function follow(way: Way, url: string, truth: Truth, random: Random, over: () => boolean) {
  const { name, channel, payload, level, rest } = way
  const client = await SocketClient.open(url)
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
          book.base(result['u'] as number, result['b'] as Side, result['a'] as Side)
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
      const base = await getBook(url, level)
      figures.bases++
      book.base(base['id'] as number, base['bids'] as Side, base['asks'] as Side)
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
async function getBook(url: string, limit: number): Promise<Frame> {
  const response = await fetch(
    `${url}/api/v4/spot/order_book?currency_pair=${PAIR}&limit=${limit}&with_id=true`,
  )
  return (await response.json()) as Frame
}

const started: TestPlatform[] = []
after(async () => {
  for (const platform of started) await platform.stop()
})

test('followers of a book hold it exactly, at every id, whenever they began', async () => {
  const platform = await TestPlatform.start()
  started.push(platform)
  const { core } = platform.platform.desk
  const random = new Random(12_012)
  const users: number[] = []
  for (let i = 0; i < 4; i++) {
    const { user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '500000000')
    await platform.credit(user_id, 'BTC', '20000')
    users.push(user_id)
  }
  const truth = new Truth()
  await core.read((state) => truth.note(state))
  const run = { over: false, done: 0 }
  const following = WAYS.map((way, i) => follow(way, platform.url, truth, new Random(i + 1), () => run.over))
  const settled = Promise.all(following)
  settled.catch(() => (run.over = true))
  /** REST says the same at every id. */
  const reading = (async () => {
    let reads = 0
    const one = async (): Promise<void> => {
      // All along, and not more than are needed.
      while (reads < READS) {
        if (!run.over && reads > (run.done / OPERATIONS) * READS) {
          await sleep(5)
          continue
        }
        reads++
        const level = LEVELS[reads % LEVELS.length]!
        const { id, bids, asks } = await getBook(platform.url, level)
        truth.check(id as number, level, bids as Side, asks as Side, 'REST')
      }
    }
    await Promise.all([one(), one()])
    return reads
  })()
  reading.catch(() => (run.over = true))

  const { state } = core
  const act = (): Promise<unknown> => {
    const user_id = random.pick(users)
    const side = random.pick(['buy', 'sell'] as const)
    // Wide enough that windows are cut off, and near enough that orders meet.
    const away = random.below(140) - 6
    const price = String((600_000 + (side === 'buy' ? -away : away)) / 10)
    const amount = `0.0${10 + random.below(80)}`
    const note = (): void => truth.note(state)
    const roll = random.below(100)
    const open = state.spot.openOrders(user_id, PAIR)
    if (open.length > 120 || (roll < 35 && open.length > 0)) {
      const { id } = open[random.below(open.length)]!
      return core.submit('spot.cancel', { user_id, id, currency_pair: PAIR }, note)
    }
    if (roll < 42 && open.length > 0) {
      const { id } = open[random.below(open.length)]!
      const change = random.pick([{ price }, { amount }])
      return core.submit('spot.amend', { user_id, id, currency_pair: PAIR, ...NO_AMENDMENT, ...change }, note)
    }
    const more =
      roll > 95 ? { iceberg: '0.005' } : { time_in_force: random.pick(['gtc', 'gtc', 'ioc', 'poc'] as const) }
    return core.submit('spot.place', { user_id, order: orderOf(PAIR, side, amount, price, more) }, note)
  }
  let refused = 0
  while (run.done < OPERATIONS && !run.over) {
    const burst = 1 + random.below(40)
    const outcomes = Array.from({ length: burst }, () => act().catch(() => refused++))
    run.done += burst
    await Promise.all(outcomes)
    if (random.chance(0.02)) await sleep(random.below(60))
  }
  run.over = true
  const figures = await settled
  const reads = await reading
  assert.ok(refused < OPERATIONS / 5, `${refused} were refused`)
  assert.ok(reads >= READS, `${reads} reads`)
  for (const [i, { frames, begun, empty }] of figures.entries()) {
    const { name, level } = WAYS[i]!
    assert.ok(frames > 40 && begun > 5, `${name}: ${frames} frames, begun ${begun} times`)
    if (level === 20) assert.ok(empty > 0, `${name}: no change beyond its window`)
  }
  const sum = (name: 'inside' | 'bases'): number => figures.reduce((all, one) => all + one[name], 0)
  assert.ok(sum('bases') > 10 && sum('inside') > 0, 'no base was ever read inside a delta')
})
