/** Line plots as SVG, readable in light and in dark. The same data give the same bytes: what changed is seen in a diff. */
export interface Axis {
  readonly label: string
  readonly log?: boolean
}
export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}
export interface Plot {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
}
const WIDTH = 720
const HEIGHT = 360
const LEFT = 70
const RIGHT = 20
const TOP = 40
const BOTTOM = 58
const LEGEND_LINE = 18
const TICKS = 6
/** Points that are drawn as such; of a long course the line is enough. */
const MARKED_MAX = 40

/** Light, then dark: each stands out from its ground and from the others. */
const COLOURS = [
  ['#0b62c4', '#6cb0ff'],
  ['#c2410c', '#ff9a5c'],
  ['#15803d', '#5fd38d'],
  ['#7e22ce', '#c792ff'],
  ['#a16207', '#e5c04b'],
  ['#be185d', '#ff86b5'],
] as const
const STYLE = (dark: 0 | 1): string =>
  [
    `.ground{fill:${dark ? '#14171a' : '#ffffff'}}`,
    `text{fill:${dark ? '#d6dade' : '#24292f'}}`,
    `.grid{stroke:${dark ? '#2c3238' : '#e3e6e9'}}`,
    `.axis{stroke:${dark ? '#7d868e' : '#6e7781'}}`,
    ...COLOURS.map((pair, i) => `.l${i}{stroke:${pair[dark]}}.d${i}{fill:${pair[dark]}}`),
  ].join('')

interface Scale {
  readonly ticks: readonly number[]
  readonly place: (value: number) => number
}
/** From the lowest to the highest value, on whole steps of 1, 2 or 5. */
function linear(values: readonly number[], from: number, to: number): Scale {
  const low = Math.min(0, ...values)
  const high = Math.max(...values, low + Number.MIN_VALUE)
  const rough = (high - low) / TICKS || 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10)
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)]
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step)
  const [bottom, top] = [first * step, Math.max(last, first + 1) * step]
  return { ticks, place: (value) => from + ((value - bottom) / (top - bottom)) * (to - from) }
}
/** By powers of ten; what is not above zero stands at the edge. */
function logarithmic(values: readonly number[], from: number, to: number): Scale {
  const above = values.filter((value) => value > 0)
  const first = Math.floor(Math.log10(Math.min(...above, 1e9)) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...above, 1e-9)) - 1e-9))
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i))
  const share = (value: number): number =>
    value <= 0 ? 0 : Math.max(0, (Math.log10(value) - first) / (last - first))
  return { ticks, place: (value) => from + share(value) * (to - from) }
}
const scaleOf = ({ log = false }: Axis, values: readonly number[], from: number, to: number): Scale =>
  (log ? logarithmic : linear)(values, from, to)

/** As short as it can be told: 1,500 or 2M or 0.05. */
export function short(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e9) return `${trimmed(value / 1e9)}G`
  if (size >= 1e6) return `${trimmed(value / 1e6)}M`
  if (size >= 1e4) return `${trimmed(value / 1e3)}k`
  return size >= 1e3
    ? `${Math.floor(value / 1e3)},${String(Math.round(value % 1e3)).padStart(3, '0')}`
    : trimmed(value)
}
const trimmed = (value: number): string => String(Number(value.toPrecision(3)))
const at = (value: number): string => (Math.round(value * 10) / 10).toString()
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function draw({ title, x, y, series }: Plot): string {
  const shown = series.filter(({ points }) => points.length > 0)
  const legend = shown.length > 1 ? Math.ceil(shown.length / 2) * LEGEND_LINE : 0
  const height = HEIGHT + legend
  const floor = HEIGHT - BOTTOM
  const across = scaleOf(
    x,
    shown.flatMap(({ points }) => points.map(([one]) => one)),
    LEFT,
    WIDTH - RIGHT,
  )
  const up = scaleOf(
    y,
    shown.flatMap(({ points }) => points.map(([, one]) => one)),
    floor,
    TOP,
  )
  const parts: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escaped(title).replaceAll('"', '&quot;')}">`,
    `<style>${STYLE(0)}@media (prefers-color-scheme: dark){${STYLE(1)}}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text x="${LEFT}" y="22" font-size="14" font-weight="600">${escaped(title)}</text>`,
  ]
  for (const tick of up.ticks)
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(up.place(tick))}" y2="${at(up.place(tick))}"/>`,
      `<text x="${LEFT - 8}" y="${at(up.place(tick) + 4)}" text-anchor="end">${short(tick)}</text>`,
    )
  for (const tick of across.ticks)
    parts.push(
      `<line class="axis" x1="${at(across.place(tick))}" x2="${at(across.place(tick))}" y1="${floor}" y2="${floor + 5}"/>`,
      `<text x="${at(across.place(tick))}" y="${floor + 18}" text-anchor="middle">${short(tick)}</text>`,
    )
  parts.push(
    `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${floor}" y2="${floor}"/>`,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${floor + 38}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text transform="translate(16 ${(TOP + floor) / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
  )
  for (const [i, { name, points }] of shown.entries()) {
    const colour = i % COLOURS.length
    const placed = points.map(([px, py]) => `${at(across.place(px))},${at(up.place(py))}`)
    parts.push(
      `<polyline class="l${colour}" fill="none" stroke-width="2" stroke-linejoin="round" points="${placed.join(' ')}"/>`,
    )
    if (points.length <= MARKED_MAX)
      for (const one of placed) {
        const [cx, cy] = one.split(',') as [string, string]
        parts.push(`<circle class="d${colour}" cx="${cx}" cy="${cy}" r="3"/>`)
      }
    if (legend > 0) {
      const lx = LEFT + (i % 2) * ((WIDTH - LEFT - RIGHT) / 2)
      const ly = HEIGHT + Math.floor(i / 2) * LEGEND_LINE
      parts.push(
        `<line class="l${colour}" stroke-width="3" x1="${lx}" x2="${lx + 18}" y1="${ly}" y2="${ly}"/>`,
        `<text x="${lx + 24}" y="${ly + 4}">${escaped(name)}</text>`,
      )
    }
  }
  return `${parts.join('\n')}\n</svg>\n`
}
