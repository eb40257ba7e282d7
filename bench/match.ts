import { OrderBook, Side as LibrarySide } from 'nodejs-order-book'
import { Book } from '../src/core/tables/exchange/book.ts'
import { commands, type Commands } from '../src/core/commands.ts'
import { OrderRow, type Placed, type Side } from '../src/core/tables/exchange/order.ts'
import type { NewOrder } from '../src/core/spot/place.ts'
import type { Ctx } from '../src/core/state.ts'
import { Tx, type Key, type Table } from '../src/machine/table.ts'
import { BUILT_IN_WORLD } from '../src/core/world/built-in.ts'
import { Refusal } from '../src/labels.ts'
import { ZERO, amountOf, priceOf, type Amount, type Price } from '../src/money/amount.ts'
import { random } from '../test/spot/compare.ts'
import { Engine } from '../test/spot/engine.ts'
import { median } from './load-generator.ts'
import type { Row, Table as Figures } from './results.ts'

/**
 * Matching beside nodejs-order-book, on the same stream: 55 % orders that rest, 35 % cancellations, 10 % ioc
 * orders that cross, on 1,000 price levels. Three things are timed: that library, the book and its sweep alone,
 * and the whole core with its checks, holds, fills, fees, ledger lines and undo records (no disk).
 */
const LEVELS = 1_000
const RESTING = 100_000
const OPERATIONS = 200_000
const ROUNDS = 3
/** Operations that are prepared beforehand, outside the time that counts. */
const CHUNK = 5_000
const USERS = 100
/** On 10^6 resting orders: an account has 10,000 open in a market at most. */
const USERS_MANY = 400
const MIDDLE = 50_000
const LOT_DECIMALS = 3
/** Commands that would be committed together. */
const BATCH = 64

type Operation =
  | {
      readonly kind: 'place'
      readonly id: number
      readonly buy: boolean
      readonly price: number
      readonly lots: number
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | {
      readonly kind: 'cross'
      readonly id: number
      readonly buy: boolean
      readonly price: number
      readonly lots: number
    }

/** The resting orders first, then the mixed stream; ids count up from 1. */
function stream(
  resting: number,
  operations: number,
  seed: number,
): { rest: Operation[]; mixed: Operation[] } {
  const draw = random(seed)
  let lastId = 0
  /** Not yet cancelled; some of them may be filled by now. */
  const placed: number[] = []
  const place = (): Operation => {
    const buy = draw(2) === 0
    const distance = 1 + draw(LEVELS / 2)
    placed.push(lastId + 1)
    return {
      kind: 'place',
      id: ++lastId,
      buy,
      price: MIDDLE + (buy ? -distance : distance),
      lots: 1 + draw(100),
    }
  }
  const rest = Array.from({ length: resting }, place)
  const mixed = Array.from({ length: operations }, (): Operation => {
    const kind = draw(100)
    if (kind < 55) return place()
    if (kind < 90) {
      const at = draw(placed.length)
      const id = placed[at]!
      placed[at] = placed.at(-1)!
      placed.pop()
      return { kind: 'cancel', id }
    }
    const buy = draw(2) === 0
    const price = MIDDLE + (buy ? LEVELS : -LEVELS)
    return { kind: 'cross', id: ++lastId, buy, price, lots: 1 + draw(150) }
  })
  return { rest, mixed }
}

interface Contender {
  /** Everything but the operation itself: what a client's request would bring with it. */
  prepare(operation: Operation): () => void
  readonly open: () => number
}

function library(): Contender {
  const book = new OrderBook()
  return {
    prepare: (operation) => {
      const id = String(operation.id)
      if (operation.kind === 'cancel') return () => book.cancel(id)
      const order = {
        id,
        side: operation.buy ? LibrarySide.BUY : LibrarySide.SELL,
        size: operation.lots,
        price: operation.price,
        ...(operation.kind === 'cross' && { timeInForce: 'IOC' as never }),
      }
      return () => book.limit(order)
    },
    open: () =>
      book
        .snapshot()
        .bids.concat(book.snapshot().asks)
        .reduce((sum, level) => sum + level.orders.length, 0),
  }
}

const amounts = Array.from({ length: 200 }, (_, lots) =>
  amountOf((lots / 10 ** LOT_DECIMALS).toFixed(LOT_DECIMALS)),
)
const prices = new Map<number, Price>()
for (let price = MIDDLE - LEVELS; price <= MIDDLE + LEVELS; price++) prices.set(price, priceOf(String(price)))

const placedOf = (id: number, side: Side, price: Price, amount: Amount): Placed => ({
  id,
  user_id: 1,
  pair: 'BTC_USDT',
  side,
  type: 'limit',
  account: 'spot',
  time_in_force: 'gtc',
  text: 'apiv4',
  amend_text: '-',
  price,
  amount,
  iceberg: ZERO,
  stp_id: 0,
  stp_act: '-',
  create_at: 0,
  more: null,
  row: undefined,
  rank: 0,
  level: undefined,
  previous: undefined,
  next: undefined,
  openIndex: 0,
  openList: undefined,
})

/** The book with rows of the real shape, and the sweep over it; no money and no records. */
function bookAlone(): Contender {
  const book = new Book(priceOf('0.1'))
  const orders = new Map<number, OrderRow>()
  const apply = (operation: Operation): void => {
    if (operation.kind === 'cancel') {
      const order = orders.get(operation.id)
      if (order === undefined) return
      book.remove(order)
      orders.delete(operation.id)
      return
    }
    const amount = amounts[operation.lots]!
    const price = prices.get(operation.price)!
    const side = operation.buy ? 'buy' : 'sell'
    let left: bigint = amount
    for (;;) {
      const level = book.facing(side)
      if (level === undefined || left === 0n || (operation.buy ? level.price > price : level.price < price))
        break
      const maker = level.head!.row!
      if (maker.shown <= left) {
        left -= maker.shown
        book.remove(maker)
        orders.delete(maker.id)
      } else {
        const filled = maker.copy()
        filled.left = filled.shown = (maker.shown - left) as Amount
        book.replace(maker, filled)
        orders.set(maker.id, filled)
        left = 0n
      }
    }
    if (operation.kind === 'cross' || left === 0n) return
    const order = OrderRow.first(placedOf(operation.id, side, price, amount), ZERO)
    order.left = order.shown = left as Amount
    order.rank = operation.id
    book.insert(order)
    orders.set(operation.id, order)
  }
  return { prepare: (operation) => () => apply(operation), open: () => book.size }
}

/**
 * The commands as the platform runs them, in a transaction each, with the ledger's check after it. Finished rows
 * leave memory as they do after a commit.
 */
function wholeCore(count = USERS): Contender {
  const engine = new Engine()
  const { state } = engine
  const limits = { ...BUILT_IN_WORLD.limits, open_orders_max: 10_000 }
  engine.must('world.configure', { config: { ...BUILT_IN_WORLD, limits } })
  const users = Array.from({ length: count }, () => engine.user({ BTC: '1000000', USDT: '50000000000' }))
  const texts = amounts.map((_, lots) => (lots / 10 ** LOT_DECIMALS).toFixed(LOT_DECIMALS))
  let ran = 0
  const touched = new Map<Table<object>, Key[]>()
  const run = <T extends 'spot.place' | 'spot.cancel'>(type: T, input: Parameters<Commands[T]>[1]): void => {
    const tx = new Tx()
    engine.at++
    try {
      ;(commands[type] as (ctx: Ctx, input: unknown) => unknown)({ state, tx, at: engine.at }, input)
      state.check()
    } catch (error) {
      // The stream cancels orders that were filled meanwhile; nothing else is refused.
      if (!(error instanceof Refusal) || type !== 'spot.cancel') throw error
      tx.rollback()
    }
    for (const { table, key } of tx.touched) {
      if (table.spec.live === undefined) continue
      const keys = touched.get(table)
      if (keys === undefined) touched.set(table, [key])
      else keys.push(key)
    }
    if (++ran % BATCH !== 0) return
    for (const [table, keys] of touched) table.retire(keys, () => false)
    touched.clear()
  }
  /** Orders are numbered as the stream numbers them: every one that is placed is accepted. */
  const prepare = (operation: Operation): (() => void) => {
    const user_id = users[operation.id % count]!
    if (operation.kind === 'cancel') {
      const input = { user_id, id: operation.id, currency_pair: 'BTC_USDT' }
      return () => run('spot.cancel', input)
    }
    const order: NewOrder = {
      text: null,
      currency_pair: 'BTC_USDT',
      type: 'limit',
      account: null,
      side: operation.buy ? 'buy' : 'sell',
      amount: texts[operation.lots]!,
      price: String(operation.price),
      time_in_force: operation.kind === 'cross' ? 'ioc' : 'gtc',
      iceberg: null,
      auto_borrow: null,
      auto_repay: null,
      stp_act: null,
      slippage: null,
      stop_profit: null,
      stop_loss: null,
    }
    const input = { user_id, order }
    return () => run('spot.place', input)
  }
  return { prepare, open: () => state.spot.book('BTC_USDT').size }
}

/** Operations a second of the mixed stream, on a book that is filled first. */
function measure(
  make: () => Contender,
  resting: number,
  seed: number,
  operations = OPERATIONS,
): { rate: number; open: number } {
  const { rest, mixed } = stream(resting, operations, seed)
  const contender = make()
  for (const operation of rest) contender.prepare(operation)()
  let spent = 0
  for (let done = 0; done < mixed.length; done += CHUNK) {
    const runs = mixed.slice(done, done + CHUNK).map((operation) => contender.prepare(operation))
    const start = performance.now()
    for (const operate of runs) operate()
    spent += performance.now() - start
  }
  return { rate: operations / (spent / 1000), open: contender.open() }
}

const CONTENDERS = { 'nodejs-order-book': library, 'book alone': bookAlone, 'whole core': wholeCore } as const
type Name = keyof typeof CONTENDERS

export function run(args: readonly string[]): Promise<void> {
  beside(ROUNDS, RESTING, OPERATIONS)
  if (!args.includes('--quick')) growth([1_000, 1_000_000], OPERATIONS)
  return Promise.resolve()
}
export function measured(quick: boolean): Promise<Figures[]> {
  const [rounds, resting, operations] = quick ? [1, 1_000, 10_000] : [ROUNDS, RESTING, OPERATIONS]
  const sizes = quick ? [100, 1_000] : [100, 1_000, 10_000, 100_000, 1_000_000]
  const rows = beside(rounds, resting, operations)
  return Promise.resolve([
    {
      title: `${operations} operations on ${resting} resting orders, medians of ${rounds} rounds in turn`,
      rows,
    },
    {
      title: 'One operation, by the number of resting orders',
      at: 'resting orders',
      rows: growth(sizes, operations),
      plots: [{ figure: 'microseconds', logX: true }],
    },
  ])
}
function beside(rounds: number, resting: number, operations: number): Row[] {
  const names = Object.keys(CONTENDERS) as Name[]
  const rates: Record<Name, number[]> = { 'nodejs-order-book': [], 'book alone': [], 'whole core': [] }
  console.log(
    `${operations} operations on ${resting} resting orders, ${LEVELS} levels, median of ${rounds} interleaved rounds`,
  )
  for (let round = 0; round < rounds; round++) {
    const open = new Set<number>()
    for (const name of names) {
      const result = measure(CONTENDERS[name], resting, 7 + round, operations)
      rates[name].push(result.rate)
      open.add(result.open)
    }
    if (open.size !== 1)
      throw new TypeError(`the books differ at the end: ${[...open].join(', ')} open orders`)
  }
  const base = median(rates['nodejs-order-book'])
  return names.map((name) => {
    const rate = median(rates[name])
    console.log(
      `  ${name.padEnd(18)} ${rate.toFixed(0).padStart(8)} operations/s   x${(rate / base).toFixed(2)}`,
    )
    return { name, figures: { rate, ratio: rate / base } }
  })
}

/** The same operations on small and on very large books: the algorithm must not notice. */
function growth(sizes: readonly number[], operations: number): Row[] {
  const rows: Row[] = []
  for (const [name, make] of [
    ['book alone', bookAlone],
    ['whole core', () => wholeCore(USERS_MANY)],
  ] as const) {
    const cost = (resting: number): number => 1e6 / measure(make, resting, 3, operations).rate
    cost(sizes[0]!)
    const costs = sizes.map(cost)
    for (const [i, at] of sizes.entries()) rows.push({ name, at, figures: { microseconds: costs[i]! } })
    const [small, large] = [costs[0]!, costs.at(-1)!]
    console.log(
      `  ${name.padEnd(18)} ${small.toFixed(2)} us an operation on ${sizes[0]} resting orders, ${large.toFixed(2)} us on ${sizes.at(-1)}: x${(large / small).toFixed(2)}`,
    )
  }
  return rows
}
