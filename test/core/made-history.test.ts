import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, mock, test } from 'node:test'
import { MadeHistory } from '../../src/agents/history.ts'
import { joined, type Candle } from '../../src/core/tables/exchange/candles.ts'
import { compileMarket, marketOf } from '../../src/core/tables/world/markets.ts'

const DAY = 86_400
const HOUR = 3_600
/** Neither a minute's nor an hour's end. */
const END = 1_794_727_234
const PAIR = 'BTC_USDT'
const fresh = (): MadeHistory => {
  const market = compileMarket(marketOf(PAIR, 1, 6, '60000'), 8, 6)
  return new MadeHistory([market], 20_240_229, END)
}
/** Looks at the path: what making candles costs, and what everybody waits for. */
function looks(work: () => void): number {
  const { mock: spy } = mock.method(Math, 'exp')
  try {
    work()
    return spy.callCount()
  } finally {
    spy.restore()
  }
}
const text = (list: readonly Candle[]): string =>
  JSON.stringify(list, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

describe('the history that a sandbox begins with', () => {
  test('is the same for ever: a function of seed and time', () => {
    const history = fresh()
    const all = [1, 10, 60, 300, HOUR, DAY].map((seconds) =>
      text(history.candles(PAIR, seconds, END - Math.min(30 * DAY, 500 * seconds), END + DAY)),
    )
    const hash = createHash('sha256').update(all.join('\n')).digest('hex')
    assert.equal(hash, 'a5cd3e6a306d6eb471d011ed0c49444970d16147df51d3f3bcc3affa52e570a7')
  })
  test('any interval is put together from its minutes, in whatever order they are asked for', () => {
    const [one, other] = [fresh(), fresh()]
    const minutes = one.candles(PAIR, 60, END - 30 * DAY, END)
    for (const seconds of [300, HOUR, DAY]) {
      const buckets = new Map<number, Candle>()
      for (const minute of minutes) {
        const open_time = minute.open_time - (minute.open_time % seconds)
        const before = buckets.get(open_time)
        buckets.set(open_time, before === undefined ? { ...minute, open_time } : joined(before, minute))
      }
      other.candles(PAIR, seconds, END - 3 * DAY, END - 2 * DAY)
      assert.deepEqual(other.candles(PAIR, seconds, 0, END), [...buckets.values()])
    }
  })
  test('only what is asked for is made, and hours but once', () => {
    const history = fresh()
    const day = END - (END % DAY) - 10 * DAY
    const ask = (seconds: number, from: number, to: number) => () => history.candles(PAIR, seconds, from, to)
    assert.ok(looks(ask(HOUR, day, day + HOUR)) <= 61)
    assert.equal(looks(ask(HOUR, day, day + HOUR)), 0)
    assert.ok(looks(ask(DAY, day, day + DAY)) <= 24 * 61)
    assert.equal(looks(ask(HOUR, day, day + DAY)), 0)
  })
  test('the last day’s minutes cost nothing more a minute later', () => {
    const history = fresh()
    const at = (now: number): Candle[] => history.minutes(PAIR, now - DAY, now)
    assert.ok(looks(() => at(END + 5)) > 1_000)
    for (const now of [END + 65, END + 3_605]) {
      assert.equal(
        looks(() => at(now)),
        0,
      )
      assert.deepEqual(at(now), fresh().minutes(PAIR, now - DAY, now))
    }
    assert.deepEqual(at(END + 2 * DAY), [])
  })
})
