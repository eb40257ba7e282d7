import {
  CandlestickSeries,
  ColorType,
  HistogramSeries,
  LineStyle,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useShared } from '../../api/query.ts'
import { useScheme } from '../../frame/scheme.ts'
import { dec, text, type Decimal } from '../../lib/decimal.ts'
import { setPrefs, usePrefs } from '../../lib/prefs.ts'
import { useStream } from '../../live/hooks.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import type { CandleSource, Interval } from './candles.ts'
import type { Dragged } from './market.ts'

const INTERVALS: readonly Interval[] = ['1m', '5m', '15m', '1h', '4h', '1d']
const secondsOf: Readonly<Record<string, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
}
const style = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

interface Line {
  readonly id: string
  readonly price: string
  readonly side: string
  readonly left: string
}
interface Mark {
  readonly create_time: number | string
  readonly side: string
  readonly amount: string
}
export interface ChartProps {
  readonly pair: { readonly id: string; readonly precision: number }
  readonly source: CandleSource
  /** Of this market alone, as are the fills. */
  readonly orders: readonly Line[]
  readonly fills: readonly Mark[]
  /** Further prices worth a line, such as where a position was entered. */
  readonly prices?: readonly { readonly price: string; readonly name: string; readonly colour: string }[]
  /** The line of an order was dragged and let go: nothing is amended before the reader has said so. */
  readonly move: (dragged: Dragged) => void
}
const NONE: readonly never[] = []
/** Candles of room to the right: the amount of a mark at the last one is not cut off. */
const ROOM = 12
/** So near to a line, in points of the screen, it is taken hold of. */
const NEAR = 5
export default function Chart({
  pair,
  source,
  orders,
  fills,
  prices = NONE,
  move,
}: ChartProps): React.JSX.Element {
  const { interval: chosen, colours } = usePrefs()
  const interval = INTERVALS.find((one) => one === chosen) ?? '15m'
  const scheme = useScheme()
  const box = useRef<HTMLDivElement>(null)
  const parts = useRef<
    | {
        readonly chart: IChartApi
        readonly candles: ISeriesApi<'Candlestick'>
        readonly volume: ISeriesApi<'Histogram'>
        readonly marks: ISeriesMarkersPluginApi<Time>
        lines: { readonly order: Line; readonly line: IPriceLine }[]
      }
    | undefined
  >(undefined)
  const [made, setMade] = useState(0)
  const data = useShared(['candles', source.channel, source.key, interval], () => source.load(interval), {
    stale: Infinity,
  })
  const { refetch } = data

  useEffect(() => {
    if (box.current === null) return undefined
    const chart = createChart(box.current, { autoSize: true, layout: { attributionLogo: false } })
    const candles = chart.addSeries(CandlestickSeries)
    const volume = chart.addSeries(HistogramSeries, {
      priceFormat: { type: 'volume' },
      priceScaleId: 'volume',
      lastValueVisible: false,
      priceLineVisible: false,
    })
    chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
    parts.current = { chart, candles, volume, marks: createSeriesMarkers(candles, []), lines: [] }

    setMade((last) => last + 1)
    return () => {
      parts.current = undefined
      chart.remove()
    }
  }, [])
  useEffect(() => {
    const { chart, candles, volume } = parts.current ?? {}
    if (chart === undefined || candles === undefined || volume === undefined) return
    const [up, down, dim, line] = ['--up', '--down', '--dim', '--line'].map(style) as [
      string,
      string,
      string,
      string,
    ]
    const local = (time: Time): Date => new Date(Number(time) * 1000)
    chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: style('--surface') },
        textColor: dim,
        fontSize: 11,
      },
      grid: { vertLines: { color: `${line}66` }, horzLines: { color: `${line}66` } },
      rightPriceScale: { borderColor: line },
      timeScale: {
        borderColor: line,
        timeVisible: true,
        secondsVisible: false,
        rightOffset: ROOM,
        tickMarkFormatter: (time: Time, kind: number) =>
          kind < 3
            ? local(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
            : local(time).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }),
      },
      localization: {
        locale: 'en-GB',
        timeFormatter: (time: Time) =>
          local(time).toLocaleString('en-GB', {
            day: '2-digit',
            month: 'short',
            hour: '2-digit',
            minute: '2-digit',
          }),
      },
    })
    candles.applyOptions({
      upColor: up,
      downColor: down,
      borderVisible: false,
      wickUpColor: up,
      wickDownColor: down,
      priceFormat: { type: 'price', precision: pair.precision, minMove: 10 ** -pair.precision },
    })
    volume.applyOptions({ color: `${dim}55` })
  }, [made, scheme, colours, pair.precision])
  useEffect(() => {
    const { candles, volume, chart } = parts.current ?? {}
    if (candles === undefined || volume === undefined || data.data === undefined) return
    candles.setData(data.data.map((one) => ({ ...one, time: one.time as UTCTimestamp })))
    volume.setData(data.data.map(({ time, volume: value }) => ({ time: time as UTCTimestamp, value })))
    chart?.timeScale().setVisibleLogicalRange({ from: data.data.length - 110, to: data.data.length + ROOM })
  }, [made, data.data])
  useStream(
    source.channel,
    source.payload(interval),
    (result) => {
      const { candles, volume } = parts.current ?? {}
      if (candles === undefined || volume === undefined) return
      for (const { volume: value, ...candle } of source.read(result, interval)) {
        const last = candles.data().at(-1)
        const time = candle.time as UTCTimestamp
        // In a market without trades the first candle comes by the stream.
        if (last !== undefined && Number(last.time) > time) continue
        candles.update({ ...candle, time })
        volume.update({ time, value })
      }
    },
    () => void refetch(),
  )
  // The account's own orders as lines, its fills as marks.
  useEffect(() => {
    const chart = parts.current
    if (chart === undefined) return
    for (const { line } of chart.lines) chart.candles.removePriceLine(line)
    chart.lines = orders
      .filter(({ price }) => Number(price) > 0)
      .slice(0, 30)
      .map((order) => ({
        order,
        line: chart.candles.createPriceLine({
          price: Number(order.price),
          color: style(order.side === 'buy' ? '--up' : '--down'),
          lineStyle: LineStyle.Dashed,
          lineWidth: 1,
          axisLabelVisible: true,
          title: `${order.side} ${order.left}`,
        }),
      }))
  }, [made, orders, scheme, colours])
  useEffect(() => {
    const { candles } = parts.current ?? {}
    if (candles === undefined) return undefined
    const lines = prices.map(({ price, name, colour }) =>
      candles.createPriceLine({
        price: Number(price),
        color: style(colour),
        lineStyle: LineStyle.Solid,
        lineWidth: 1,
        axisLabelVisible: true,
        title: name,
      }),
    )
    return () => {
      // The chart itself may be gone already.
      if (parts.current?.candles === candles) for (const line of lines) candles.removePriceLine(line)
    }
  }, [made, prices, scheme, colours])
  const told = useEffectEvent((dragged: Dragged) => move(dragged))
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    let held: { readonly order: Line; readonly line: IPriceLine; price: string } | undefined
    const at = (event: PointerEvent): number => event.clientY - element.getBoundingClientRect().top
    const under = (event: PointerEvent) => {
      const { candles, lines = [] } = parts.current ?? {}
      return lines.find(
        ({ order }) => Math.abs((candles?.priceToCoordinate(Number(order.price)) ?? NaN) - at(event)) <= NEAR,
      )
    }
    const down = (event: PointerEvent): void => {
      const found = event.button === 0 ? under(event) : undefined
      if (found === undefined) return
      held = { ...found, price: found.order.price }
      // The chart itself would scroll.
      event.preventDefault()
      event.stopPropagation()
      element.setPointerCapture(event.pointerId)
    }
    const over = (event: PointerEvent): void => {
      if (held === undefined) {
        element.style.cursor = under(event) === undefined ? '' : 'ns-resize'
        return
      }
      event.stopPropagation()
      const price = parts.current?.candles.coordinateToPrice(at(event)) ?? null
      if (price === null || price <= 0) return
      held.price = text(dec(price.toFixed(pair.precision)))
      held.line.applyOptions({ price, title: `${held.order.side} ${held.order.left} → ${held.price}` })
    }
    const end = (event: PointerEvent): void => {
      if (held === undefined) return
      event.stopPropagation()
      const { order, line, price } = held
      held = undefined
      // Until it is amended the order stands where it stood.
      line.applyOptions({ price: Number(order.price), title: `${order.side} ${order.left}` })
      if (event.type === 'pointerup' && dec(price) !== dec(order.price)) told({ id: order.id, price })
    }
    const quiet = (event: Event): void => {
      if (held !== undefined) event.stopPropagation()
    }
    const listeners = [
      ['pointerdown', down],
      ['pointermove', over],
      ['pointerup', end],
      ['pointercancel', end],
      ['mousedown', quiet],
      ['touchstart', quiet],
    ] as const
    for (const [name, listener] of listeners)
      element.addEventListener(name, listener as (event: Event) => void, { capture: true })
    return () => {
      for (const [name, listener] of listeners)
        element.removeEventListener(name, listener as (event: Event) => void, { capture: true })
    }
  }, [pair.precision])
  useEffect(() => {
    const step = secondsOf[interval] ?? 60
    const first = data.data?.[0]?.time ?? Infinity
    // All fills of a side in one candle are one mark: many would lie upon each other.
    const inCandle = new Map<string, Decimal>()
    for (const { create_time, side, amount } of fills) {
      const time = Math.floor(Number(create_time) / step) * step
      if (Number(create_time) < first) continue
      inCandle.set(`${side} ${time}`, (inCandle.get(`${side} ${time}`) ?? 0n) + dec(amount))
    }
    parts.current?.marks.setMarkers(
      [...inCandle]
        .map(([name, amount]) => ({ side: name.split(' ')[0], time: Number(name.split(' ')[1]), amount }))
        .map(({ side, time, amount }) => ({
          time: time as UTCTimestamp,
          position: side === 'buy' ? ('belowBar' as const) : ('aboveBar' as const),
          shape: side === 'buy' ? ('arrowUp' as const) : ('arrowDown' as const),
          color: style(side === 'buy' ? '--up' : '--down'),
          text: text(amount),
        }))
        .sort((a, b) => a.time - b.time),
    )
  }, [made, fills, interval, data.data, scheme, colours])

  return (
    <div className="chart">
      <div className="chart-tools" role="group" aria-label="Interval">
        {INTERVALS.map((one) => (
          <button
            key={one}
            type="button"
            className="chip"
            aria-pressed={one === interval}
            onClick={() => setPrefs({ interval: one })}
          >
            {one}
          </button>
        ))}
      </div>
      <div ref={box} className="chart-box" role="img" aria-label={`Candles of ${source.key}, ${interval}`} />
      {data.data === undefined ? (
        <div className="chart-over">
          {data.error === null ? (
            <Loading rows={6} height={26} />
          ) : (
            <Failed error={data.error} retry={() => void refetch()} />
          )}
        </div>
      ) : null}
    </div>
  )
}
