import { display } from '../lib/decimal.ts'
import { minuteText } from '../lib/time.ts'

interface Point {
  readonly time: number
  readonly value: number
}
const WIDTH = 600
const HEIGHT = 160
/** A line over time, small and without a library: for figures that are looked at, not worked with. */
export function Lines({
  points,
  label,
  unit = '',
}: {
  readonly points: readonly Point[]
  readonly label: string
  readonly unit?: string
}): React.JSX.Element {
  const values = points.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [first, last] = [points[0]!, points.at(-1)!]
  const room = (high - low || Math.abs(high) * 0.01 || 1) * 0.08
  const x = (time: number): number => ((time - first.time) / (last.time - first.time || 1)) * WIDTH
  const y = (value: number): number => HEIGHT - ((value - low + room) / (high - low + 2 * room || 1)) * HEIGHT
  const path = points
    .map(({ time, value }, i) => `${i === 0 ? 'M' : 'L'}${x(time).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('')
  const text = (value: number): string => `${display(value.toFixed(2))} ${unit}`
  return (
    <figure className="lines">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: from ${text(first.value)} to ${text(last.value)}`}
      >
        <path d={`${path}V${HEIGHT}H0Z`} fill="var(--accent)" fillOpacity="0.1" />
        <path
          d={path}
          fill="none"
          stroke="var(--accent)"
          strokeWidth="1.800"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <figcaption className="row between small dim num">
        <span>{minuteText(first.time)}</span>
        <span className="wide">
          low {text(low)}, high {text(high)}
        </span>
        <span>{minuteText(last.time)}</span>
      </figcaption>
    </figure>
  )
}
