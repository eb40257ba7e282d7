import '../pages/operate/operate.css'
interface SparkProps {
  readonly name: string
  readonly values: readonly number[]
  readonly times: readonly number[]
  readonly show: (value: number) => string
  readonly height?: number
}
const WIDTH = 300

/** A small line over time with its newest and its largest value; the table of figures is elsewhere. */
export function Spark({ name, values, times, show, height = 56 }: SparkProps): React.JSX.Element {
  const most = Math.max(...values, 0)
  const last = values.at(-1)
  const first = times[0] ?? 0
  const span = Math.max(1, (times.at(-1) ?? 1) - first)
  const x = (i: number): number => (((times[i] ?? first) - first) / span) * WIDTH
  const y = (value: number): number => height - 2 - (most === 0 ? 0 : (value / most) * (height - 6))
  const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  const told = last === undefined ? '–' : show(last)
  return (
    <figure className="spark">
      <figcaption>
        <span className="dim small">{name}</span>
        <b className="num">{told}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        height={height}
        role="img"
        aria-label={`${name}: ${told} now, at most ${show(most)} in the last hour`}
      >
        {values.length < 2 ? null : (
          <>
            <polygon points={`${x(0).toFixed(1)},${height} ${points} ${WIDTH},${height}`} className="area" />
            <polyline points={points} vectorEffect="non-scaling-stroke" />
          </>
        )}
      </svg>
      <span className="dim small">at most {show(most)}</span>
    </figure>
  )
}
