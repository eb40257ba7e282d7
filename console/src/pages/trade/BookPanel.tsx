import { NativeSelect } from '@mantine/core'
import { memo, useMemo, useState } from 'react'
import { approximate, dec, display, placesOf, text, unit, type Decimal } from '../../lib/decimal.ts'
import { group, type Book, type Grouped, type Side } from '../../live/book.ts'
import { Loading } from '../../parts/states.tsx'
import type { Look, Order } from './market.ts'

interface BookProps {
  readonly book: Book
  readonly version: number
  readonly pair: Look
  readonly last: string | undefined
  readonly orders: readonly Pick<Order, 'currency_pair' | 'price' | 'side'>[]
  readonly pick: (price: string, amount: string, side: 'buy' | 'sell') => void
  readonly rows: number
}
export function BookPanel({ book, version, pair, last, orders, pick, rows }: BookProps): React.JSX.Element {
  const [times, setTimes] = useState(1)
  const tick = pair.tick === undefined ? unit(pair.precision) : dec(pair.tick)
  const step = tick * BigInt(times)
  const places = Math.max(0, placesOf(step))
  const sides = useMemo(
    () => ({ bids: group(book.bids, 'bids', step, rows), asks: group(book.asks, 'asks', step, rows) }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the book changes in place; its version tells
    [book, version, step, rows],
  )
  const own = useMemo(() => {
    const marks: Record<Side, Set<Decimal>> = { bids: new Set(), asks: new Set() }
    for (const { currency_pair, price, side } of orders) {
      if (currency_pair !== pair.id) continue
      const at = dec(price)
      const rest = at % step
      if (side === 'buy') marks.bids.add(at - rest)
      else marks.asks.add(rest === 0n ? at : at - rest + step)
    }
    return marks
  }, [orders, pair.id, step])
  const most =
    Math.max(approximate(sides.bids.at(-1)?.total ?? 0n), approximate(sides.asks.at(-1)?.total ?? 0n), 0) || 1
  const spread =
    book.asks[0] !== undefined && book.bids[0] !== undefined ? book.asks[0].at - book.bids[0].at : undefined
  const list = (side: Side): React.JSX.Element[] =>
    sides[side].map((row) => (
      <Row
        key={row.at.toString()}
        at={row.at}
        size={row.size}
        total={row.total}
        side={side}
        width={Math.round((approximate(row.total) / most) * 100)}
        mine={own[side].has(row.at)}
        places={places}
        sizePlaces={pair.amount_precision}
        pick={pick}
      />
    ))
  return (
    <section className="card book" aria-label="Order book">
      <div className="card-head">
        <h2>Book</h2>
        <NativeSelect
          size="xs"
          aria-label="Group prices by"
          value={String(times)}
          onChange={(event) => setTimes(Number(event.currentTarget.value))}
          data={[1, 10, 100, 1000].map((n) => ({
            value: String(n),
            label: text(tick * BigInt(n)),
          }))}
        />
      </div>
      {book.ready ? (
        <>
          <div className="book-names small dim">
            <span>Price {pair.quote}</span>
            <span>{pair.counted ?? `Amount ${pair.base}`}</span>
            <span>Total</span>
          </div>
          <div className="book-side asks">{list('asks')}</div>
          <div className="book-middle num">
            <b>{last === undefined ? '–' : display(last)}</b>
            <span className="dim small">spread {spread === undefined ? '–' : display(spread)}</span>
          </div>
          <div className="book-side bids">{list('bids')}</div>
        </>
      ) : (
        <Loading rows={12} height={16} />
      )}
    </section>
  )
}
interface RowProps extends Grouped {
  readonly side: Side
  readonly width: number
  readonly mine: boolean
  readonly places: number
  readonly sizePlaces: number
  readonly pick: BookProps['pick']
}
/** Drawn again only when its own figures change. */
const Row = memo(function Row({
  at,
  size,
  total,
  side,
  width,
  mine,
  places,
  sizePlaces,
  pick,
}: RowProps): React.JSX.Element {
  const price = display(at, { places, fixed: true })
  const amount = display(size, { places: sizePlaces, fixed: sizePlaces <= 4 })
  return (
    <button
      type="button"
      className="book-row num"
      tabIndex={-1}
      title={mine ? 'your order stands here' : undefined}
      onClick={() => pick(text(at), text(total), side === 'bids' ? 'sell' : 'buy')}
    >
      <i style={{ width: `${width}%` }} className={side} />
      <span className={side === 'bids' ? 'up' : 'down'}>
        {mine ? <b aria-label="your order">●</b> : null} {price}
      </span>
      <span>{amount}</span>
      <span className="dim">{display(total, { places: Math.min(3, sizePlaces), fixed: true })}</span>
    </button>
  )
})
