import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spotBook } from '../../src/sockets/book-forms.ts'
import { Books, SPOT_BOOKS } from '../../src/sockets/book-streams.ts'
import { State } from '../../src/core/state.ts'

test('a book that could not be followed is followed anew by the next', async () => {
  let calls = 0
  const state = new State()
  const books = new Books(
    {
      snapshot: (view) => {
        if (++calls === 1) return Promise.reject(new Error('its market was taken away'))
        const spot = { book: () => ({ depth: () => [] }), figuresOf: () => state.spot.figuresOf('BTC_USDT') }
        return Promise.resolve({ sequence: 1, value: view({ spot } as unknown as State) })
      },
    },
    () => 0,
    SPOT_BOOKS,
  )
  const outlet = { publish: () => undefined }
  await assert.rejects(books.ticker('BTC_USDT', spotBook('BTC_USDT'))(outlet), /taken away/)
  const stream = await books.ticker('BTC_USDT', spotBook('BTC_USDT'))(outlet)
  assert.match(stream.first()!, /"b":"","B":"0","a":"","A":"0"/)
  stream.close()
  assert.equal(calls, 2)
})
