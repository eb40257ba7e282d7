import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SPOT_MARKET } from '../../src/core/tables/exchange/exchange.ts'
import { CommandRows } from '../../src/events/rows.ts'
import type { CommittedCommand } from '../../src/machine/stream.ts'
import { spotBook } from '../../src/sockets/book-forms.ts'
import { Books, SPOT_BOOKS } from '../../src/sockets/book-streams.ts'
import { State } from '../../src/core/state.ts'
import { until } from '../support/raw.ts'

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

test('streams of a world that was reset end none of the next one', async () => {
  const figures = new State().spot.figuresOf('BTC_USDT')
  const spot = { book: () => ({ depth: () => [] }), figuresOf: () => figures }
  const snapshot: ConstructorParameters<typeof Books>[0]['snapshot'] = (view) =>
    Promise.resolve({ sequence: 1, value: view({ spot } as unknown as State) })
  const books = new Books({ snapshot }, () => 0, SPOT_BOOKS)
  const form = spotBook('BTC_USDT')
  const told: string[] = []
  const begin = () =>
    books.deltas('BTC_USDT', form.obu(50), 50, 1)({ publish: (text) => void told.push(text) })
  const old = [await begin(), await begin()]
  const late = begin()
  books.clear()
  old.push(await late)
  const fresh = [await begin(), await begin()]
  // Their sockets linger for a while, and may be closed twice: with the world, and after the last listener.
  for (const stream of [...old, ...old]) stream.close()
  fresh[0]!.close()
  const command = {
    sequence: 2,
    at: 0,
    changes: [
      {
        table: { spec: SPOT_MARKET },
        before: figures,
        after: { ...figures, book_id: figures.book_id + 1 },
      },
    ],
    appended: [],
  } as unknown as CommittedCommand
  books.hear(command, new CommandRows(command))
  await until(() => told.length > 0, 2_000)
  assert.match(told[0]!, new RegExp(`"U":${figures.book_id + 1},"u":${figures.book_id + 1},`))
  fresh[1]!.close()
})
