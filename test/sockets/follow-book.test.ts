import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { follow, Truth, type Side, type Way } from '../support/book-followers.ts'
import { NO_AMENDMENT, orderOf } from '../support/events.ts'
import { TestPlatform } from '../support/platform.ts'
import { LONG } from '../support/size.ts'
import type { Frame } from '../support/socket.ts'
import { Random } from '../sim/random.ts'

/**
 * Followers of a busy book hold exactly the core's book at every id that they are told, whenever they began and by
 * whichever of the published ways. The truth is noted beside each command, from the core's own book.
 */
const PAIR = 'BTC_USDT'
const LEVELS = [20, 50, 100, 400] as const
const OPERATIONS = LONG ? 100_000 : 16_000
const READS = LONG ? 10_000 : 1_600

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
  const place = {
    url: platform.url,
    path: '/ws/v4/',
    book: (limit: number) => getBook(platform.url, limit),
  }
  const truth = new Truth(PAIR, ({ spot }) => spot)
  await core.read((state) => truth.note(state))
  const run = { over: false, done: 0 }
  const following = WAYS.map((way, i) => follow(way, place, truth, new Random(i + 1), () => run.over))
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
