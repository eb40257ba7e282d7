import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, mock, test } from 'node:test'
import { MadeContractHistory } from '../../src/agents/contract-history.ts'
import { MadeHistory } from '../../src/agents/history.ts'
import { joined, type Candle } from '../../src/core/tables/exchange/candles.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import { Desk } from './desk.ts'
import { BTC_USD, BTC_USDT, DATED } from './world.ts'

const DAY = 86_400
const HOUR = 3_600
/** Neither a minute's nor an hour's end. */
const END = 1_700_000_034
const text = (value: bigint): string => format(value as Amount)
function fresh(seed = 20_240_229): MadeContractHistory {
  const { world } = new Desk().state
  return new MadeContractHistory(world, new MadeHistory(world.allMarkets, seed, END), { seed, began_at: END })
}
const plain = (list: readonly object[]): string =>
  JSON.stringify(list, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
const SERIES = [BTC_USDT, BTC_USD, DATED].flatMap((id) => [id, `mark_${id}`, `index_${id}`])

describe('the history of contracts that a sandbox begins with', () => {
  test('is a function of seed and time', () => {
    const hash = (seed: number): string => {
      const history = fresh(seed)
      const all = [...SERIES, `premium_${BTC_USDT}`].map((pair) =>
        plain(history.candles(pair, 60, END - 3 * HOUR, END + DAY)),
      )
      return createHash('sha256').update(all.join()).digest('hex')
    }
    assert.equal(hash(1), hash(1))
    assert.notEqual(hash(1), hash(2))
  })
  test('any interval is put together from its minutes, in whatever order they are asked for', () => {
    const [one, other] = [fresh(), fresh()]
    for (const pair of [BTC_USDT, `mark_${BTC_USD}`, `premium_${BTC_USDT}`]) {
      const minutes = one.candles(pair, 60, END - 5 * DAY, END)
      for (const seconds of [300, HOUR, 4 * HOUR]) {
        const buckets = new Map<number, Candle>()
        for (const minute of minutes) {
          const open_time = minute.open_time - (minute.open_time % seconds)
          const before = buckets.get(open_time)
          buckets.set(open_time, before === undefined ? { ...minute, open_time } : joined(before, minute))
        }
        const begin = END - 4 * DAY - ((END - 4 * DAY) % (4 * HOUR))
        assert.deepEqual(
          other.candles(pair, seconds, begin, END),
          [...buckets.values()].filter(({ open_time }) => open_time >= begin),
        )
      }
    }
  })
  test('thirty days, whole: each candle begins where the one before it ended, and holds its own prices', () => {
    const history = fresh()
    assert.ok(history.candles(BTC_USDT, DAY, 0, END).length >= 30)
    for (const pair of SERIES) {
      const list = history.candles(pair, HOUR, END - 2 * DAY, END)
      for (const [i, { open, high, low, close }] of list.entries()) {
        assert.ok(low <= open && low <= close && high >= open && high >= close, pair)
        if (i > 0) assert.equal(open, list[i - 1]!.close, pair)
      }
    }
  })
  test('the index is the made path of the spot market; the contract is near it, the dated one above', () => {
    const history = fresh()
    const { world } = new Desk().state
    const spot = new MadeHistory(world.allMarkets, 20_240_229, END)
    const closes = (list: readonly Candle[]): number[] => list.map(({ close }) => Number(close) / 1e18)
    const base = closes(spot.candles('BTC_USDT', HOUR, END - 5 * DAY, END))
    assert.deepEqual(closes(history.candles(`index_${BTC_USDT}`, HOUR, END - 5 * DAY, END)), base)
    const near = closes(history.candles(BTC_USDT, HOUR, END - 5 * DAY, END))
    const above = closes(history.candles(DATED, HOUR, END - 5 * DAY, END))
    for (const [i, price] of base.entries()) {
      assert.ok(Math.abs(near[i]! / price - 1) < 0.004, `${near[i]} and ${price}`)
      assert.ok(above[i]! / near[i]! > 1.002, `${above[i]} and ${near[i]}`)
    }
    assert.ok(near.some((price, i) => price !== base[i]))
    assert.equal(text(history.last(`index_${BTC_USDT}`)!.close), '60000')
    assert.equal(text(history.last(BTC_USDT)!.close), '60006')
  })
  test('ninety fundings, of the premiums of their periods; dated contracts have none', () => {
    const history = fresh()
    const list = history.fundings(BTC_USDT)
    assert.equal(list.length, 90)
    assert.deepEqual(
      list.map(({ t }) => t),
      Array.from({ length: 90 }, (_, i) => END - (END % 28_800) - i * 28_800),
    )
    assert.ok(new Set(list.map(({ r }) => text(r))).size > 3)
    for (const { r } of list) assert.ok(Math.abs(Number(r) / 1e18) <= 0.003)
    assert.deepEqual(history.fundings(DATED), [])
    assert.equal(fresh().fundings(BTC_USDT)[17]!.r, list[17]!.r)
  })
  test('the last day’s minutes cost nothing more a minute later', () => {
    const history = fresh()
    const at = (of: MadeContractHistory, now: number): Candle[] => of.minutes(BTC_USDT, now - DAY, now)
    assert.ok(at(history, END + 5).length > 1_000)
    const { mock: spy } = mock.method(Math, 'exp')
    const later = at(history, END + 65)
    assert.equal(spy.callCount(), 0)
    spy.restore()
    assert.deepEqual(later, at(fresh(), END + 65))
    assert.deepEqual(at(history, END + 2 * DAY), [])
  })
  test('what is not listed has no history', () => {
    assert.deepEqual(fresh().candles('futures/usdt/NO_USDT', 60, END - HOUR, END), [])
    assert.equal(fresh().last('index_futures/usdt/NO_USDT'), undefined)
  })
})
