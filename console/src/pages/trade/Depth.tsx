import { useMemo } from 'react'
import { approximate, display } from '../../lib/decimal.ts'
import type { Book, Level } from '../../live/book.ts'
import type { Look } from './market.ts'

const WIDTH = 600
const HEIGHT = 260
/** How much stands up to each price, around the middle. */
export function Depth({
  book,
  version,
  pair,
}: {
  readonly book: Book
  readonly version: number
  readonly pair: Look
}): React.JSX.Element {
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the book changes in place; its version tells
  const drawn = useMemo(() => draw(book), [book, version])
  if (drawn === undefined) return <div className="state">The book has not both sides.</div>
  const { bids, asks, low, high, most, middle } = drawn
  return (
    <figure className="depth">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Depth of ${pair.id}`}
      >
        <path
          d={bids}
          fill="var(--up)"
          fillOpacity="0.18"
          stroke="var(--up)"
          strokeWidth="1.500"
          vectorEffect="non-scaling-stroke"
        />
        <path
          d={asks}
          fill="var(--down)"
          fillOpacity="0.18"
          stroke="var(--down)"
          strokeWidth="1.500"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <figcaption className="row between small dim num">
        <span>{low.toFixed(pair.precision)}</span>
        <span>
          middle {middle.toFixed(pair.precision)}, up to {display(most.toFixed(2))} {pair.base}
        </span>
        <span>{high.toFixed(pair.precision)}</span>
      </figcaption>
    </figure>
  )
}
interface Drawn {
  readonly bids: string
  readonly asks: string
  readonly low: number
  readonly high: number
  readonly most: number
  readonly middle: number
}
function draw({ bids, asks }: Book): Drawn | undefined {
  if (bids.length === 0 || asks.length === 0) return undefined
  const middle = (approximate(bids[0]!.at) + approximate(asks[0]!.at)) / 2
  const reach =
    Math.min(middle - approximate(bids.at(-1)!.at), approximate(asks.at(-1)!.at) - middle, middle * 0.2) ||
    middle * 0.01
  const steps = (levels: readonly Level[]): [number, number][] => {
    let total = 0
    return levels
      .map(({ at, size }): [number, number] => [approximate(at), (total += approximate(size))])
      .filter(([at]) => Math.abs(at - middle) <= reach)
  }
  const [left, right] = [steps(bids), steps(asks)]
  const most = Math.max(left.at(-1)?.[1] ?? 0, right.at(-1)?.[1] ?? 0) || 1
  const x = (price: number): string => (((price - middle) / reach + 1) * (WIDTH / 2)).toFixed(1)
  const y = (total: number): string => (HEIGHT - (total / most) * (HEIGHT - 12)).toFixed(1)
  const path = (list: readonly [number, number][], edge: number): string => {
    const first = list[0]
    if (first === undefined) return ''
    let d = `M${x(first[0])} ${HEIGHT}`
    for (const [at, total] of list) d += `H${x(at)}V${y(total)}`
    return `${d}H${edge}V${HEIGHT}Z`
  }
  return {
    bids: path(left, 0),
    asks: path(right, WIDTH),
    low: middle - reach,
    high: middle + reach,
    most,
    middle,
  }
}
