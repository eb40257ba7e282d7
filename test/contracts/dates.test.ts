import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cyclesAt, dateName, dayAt, fridayAfter } from '../../src/core/contracts/dates.ts'

const at = (text: string): number => Date.parse(text) / 1000
const namesAt = (text: string): string[] =>
  cyclesAt(at(text)).map(({ cycle, expire_time }) => `${cycle} ${dateName(expire_time)}`)
const WEEK = 7 * 86_400

describe('dates of dated contracts', () => {
  test('days are those of the calendar, leap years and turns of centuries included', () => {
    for (let time = at('1999-12-01T07:00Z'); time < at('2101-01-10T00:00Z'); time += 86_400 * 3) {
      const date = new Date(time * 1000)
      assert.deepEqual(dayAt(time), {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
      })
    }
    assert.equal(dateName(at('2028-02-29T23:59:59Z')), '20280229')
  })
  test('a Friday, 08:00 UTC, is always later than the moment', () => {
    assert.equal(fridayAfter(at('2026-11-16T15:00Z')), at('2026-11-20T08:00Z'))
    assert.equal(fridayAfter(at('2026-11-20T07:59:59Z')), at('2026-11-20T08:00Z'))
    assert.equal(fridayAfter(at('2026-11-20T08:00Z')), at('2026-11-27T08:00Z'))
  })
  test('two weeks, then the ends of the next two quarters', () => {
    assert.deepEqual(namesAt('2026-11-16T15:00Z'), [
      'WEEKLY 20261120',
      'BI-WEEKLY 20261127',
      'QUARTERLY 20261225',
      'BI-QUARTERLY 20270326',
    ])
  })
  test('a quarterly one whose date comes near becomes a weekly one, and the quarters move on', () => {
    const before = namesAt('2026-12-11T07:59:59Z')
    assert.deepEqual(before, [
      'WEEKLY 20261211',
      'BI-WEEKLY 20261218',
      'QUARTERLY 20261225',
      'BI-QUARTERLY 20270326',
    ])
    assert.deepEqual(namesAt('2026-12-11T08:00Z'), [
      'WEEKLY 20261218',
      'BI-WEEKLY 20261225',
      'QUARTERLY 20270326',
      'BI-QUARTERLY 20270625',
    ])
    assert.equal(namesAt('2026-12-18T08:00Z')[0], 'WEEKLY 20261225')
    assert.equal(namesAt('2026-12-25T08:00Z')[0], 'WEEKLY 20270101')
  })
  test('each week one contract more is listed, never two for a date, and each ends on the last Friday it should', () => {
    let known = new Set(cyclesAt(at('2026-01-01T00:00Z')).map(({ expire_time }) => expire_time))
    for (let time = fridayAfter(at('2026-01-01T00:00Z')); time < at('2031-01-01T00:00Z'); time += WEEK) {
      const cycles = cyclesAt(time)
      const dates = new Set(cycles.map(({ expire_time }) => expire_time))
      assert.equal(dates.size, 4)
      assert.equal([...dates].filter((date) => !known.has(date)).length, 1, dateName(time))
      for (const { cycle, expire_time } of cycles.slice(2)) {
        const { month, day } = dayAt(expire_time)
        assert.ok(month % 3 === 0 && day > 23, `${cycle} ${dateName(expire_time)}`)
      }
      known = dates
    }
  })
})
