import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../sim/random.ts'
import { Truth, follow, sideOf, type Levels, type Way } from '../support/book-followers.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { LONG } from '../support/size.ts'
import { TestPlatform } from '../support/platform.ts'
import type { Frame } from '../support/socket.ts'

/** Followers of a contract's book hold exactly the core's book at every id that they are told, by each published way. */
const NAME = 'BTC_USDT'
const PAIR = `futures/usdt/${NAME}`
const OPERATIONS = LONG ? 8_000 : 5_000
const READS = LONG ? 300 : 200
const deltas = (pace: string, level: number, rest: boolean): Way => ({
  name: `${pace} ${level}, ${rest ? 'REST' : 'full'}`,
  channel: 'futures.order_book_update',
  payload: [NAME, pace, String(level)],
  level,
  rest,
})
const WAYS: readonly Way[] = [
  deltas('20ms', 20, false),
  deltas('20ms', 20, true),
  deltas('100ms', 50, false),
  deltas('100ms', 100, false),
  deltas('100ms', 100, true),
  { name: 'obu 50', channel: 'futures.obu', payload: [`ob.${NAME}.50`], level: 50, rest: false },
  { name: 'obu 400', channel: 'futures.obu', payload: [`ob.${NAME}.400`], level: 400, rest: false },
]
const started: TestPlatform[] = []
after(async () => {
  for (const platform of started) await platform.stop()
})

test('followers of a contract’s book hold it exactly, at every id, whenever they began', async () => {
  const platform = await TestPlatform.start()
  started.push(platform)
  await setIndex(platform, { BTC: '60000' })
  const { core } = platform.platform.desk
  const random = new Random(4_711)
  const users: number[] = []
  for (let i = 0; i < 12; i++) users.push((await ContractTrader.of(platform, '100000000')).user_id)
  const truth = new Truth(PAIR, ({ futures }) => futures)
  await core.read((state) => truth.note(state))
  const book = async (limit: number): Promise<Frame> => {
    const query = `contract=${NAME}&limit=${limit}&with_id=true`
    return (await (await fetch(`${platform.url}/api/v4/futures/usdt/order_book?${query}`)).json()) as Frame
  }
  const run = { over: false, done: 0 }
  const place = { url: platform.url, path: '/v4/ws/usdt', book }
  const following = Promise.all(
    WAYS.map((way, i) => follow(way, place, truth, new Random(i + 1), () => run.over)),
  )
  following.catch(() => (run.over = true))

  const { state } = core
  const path = { group: 'futures', settle: 'usdt' } as const
  const note = (): void => truth.note(state)
  const act = (): Promise<unknown> => {
    const user_id = random.pick(users)
    const side = random.pick(['buy', 'sell'] as const)
    // Wide enough that windows are cut off, and near enough that orders meet.
    const away = random.below(900) - 10
    const price = String((600_000 + (side === 'buy' ? -away : away)) / 10)
    const size = String((side === 'buy' ? 1 : -1) * (1 + random.below(90)))
    const roll = random.below(100)
    const open = state.futures.openOrders(user_id, PAIR)
    const { id } = open[random.below(Math.max(1, open.length))] ?? { id: 1 }
    if (open.length > 90 || (roll < 25 && open.length > 0))
      return core.submit('futures.cancel', { user_id, ...path, id }, note)
    if (roll < 32 && open.length > 0)
      return core.submit('futures.amend', { user_id, ...path, id, size: null, price, amend_text: null }, note)
    const order = {
      contract: NAME,
      size,
      iceberg: roll > 96 ? '1' : null,
      price,
      tif: roll > 96 ? null : random.pick(['gtc', 'gtc', 'gtc', 'ioc', 'poc'] as const),
      text: null,
      close: null,
      reduce_only: null,
      auto_size: null,
      stp_act: null,
      market_order_slip_ratio: null,
      pos_margin_mode: null,
      tpsl_tp_trigger_price: null,
      tpsl_sl_trigger_price: null,
      bbo: null,
    }
    return core.submit('futures.place', { user_id, ...path, order }, note)
  }
  let refused = 0
  let reads = 0
  while (run.done < OPERATIONS && !run.over) {
    const burst = 1 + random.below(20)
    const outcomes = Array.from({ length: burst }, () => act().catch(() => refused++))
    run.done += burst
    await Promise.all(outcomes)
    if (reads < (run.done / OPERATIONS) * READS) {
      const { id, bids, asks } = await book(50)
      truth.check(id as number, 50, sideOf(bids as Levels), sideOf(asks as Levels), 'REST')
      reads++
    }
    if (random.chance(0.2)) await sleep(random.below(40))
  }
  run.over = true
  const figures = await following
  assert.ok(refused < OPERATIONS / 5, `${refused} were refused`)
  assert.ok(reads > READS / 2, `${reads} reads`)
  for (const [i, { frames, begun }] of figures.entries())
    assert.ok(frames > 30 && begun > 3, `${WAYS[i]!.name}: ${frames} frames, begun ${begun} times`)
  const sum = (name: 'inside' | 'bases' | 'empty'): number => figures.reduce((all, one) => all + one[name], 0)
  assert.ok(sum('bases') > 3 && sum('empty') > 0, `${sum('bases')} bases, ${sum('empty')} empty deltas`)
})
