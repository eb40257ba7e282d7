import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFrame } from '../support/frames.ts'

const push = (channel: string, result: unknown, event = 'update') => ({
  time: 1_700_000_000,
  time_ms: 1_700_000_000_123,
  channel,
  event,
  result,
})
const ticker = { t: 1_700_000_000_123, u: 7, s: 'BTC_USDT', b: '', B: '0', a: '60000.1', A: '1.2' }

test('a frame with a member too few, too many or of another type is noticed', () => {
  checkFrame(push('spot.book_ticker', ticker))
  const { B: _, ...short } = ticker
  for (const [wrong, why] of [
    [push('spot.book_ticker', short), /lacks B/],
    [push('spot.book_ticker', { ...ticker, c: '1' }), /undeclared member c/],
    [push('spot.book_ticker', { ...ticker, u: '7' }), /not an integer/],
    [push('spot.book_ticker', { ...ticker, A: '1.20' }), /canonical/],
    [push('spot.book_ticker', ticker, 'all'), /event/],
    [{ ...push('spot.book_ticker', ticker), id: 1 }, /undeclared member id/],
    [push('spot.nothing', ticker), /no such channel/],
  ] as const)
    assert.throws(() => checkFrame(wrong), why)
})
