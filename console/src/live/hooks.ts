import {
  createContext,
  useContext,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { Book, type BookPush } from './book.ts'
import type { Line, LineView, Push } from './socket.ts'

export const LineContext = createContext<Line | undefined>(undefined)
const NO_LINE: LineView = { state: 'connecting', lastAt: 0, tries: 0 }
const nothing = (): (() => void) => () => undefined

export function useLineView(): LineView {
  const line = useContext(LineContext)
  return useSyncExternalStore(line?.watch ?? nothing, line?.look ?? (() => NO_LINE))
}
/** Listens while the component stands. `start`: the stream begins (again), read by REST what you keep. */
export function useStream(
  channel: string | undefined,
  payload: readonly string[],
  push: Push,
  start?: () => void,
): void {
  const line = useContext(LineContext)
  const pushed = useEffectEvent(push)
  const started = useEffectEvent(() => start?.())
  const words = payload.join(' ')
  useEffect(() => {
    if (line === undefined || channel === undefined) return undefined
    return line.subscribe(
      channel,
      words === '' ? [] : words.split(' '),
      (result, frame) => pushed(result, frame),
      () => started(),
    )
  }, [line, channel, words])
}

/** A market's book, drawn at most once in a frame of the screen. */
export function useBook(pair: string): { readonly book: Book; readonly version: number } {
  const line = useContext(LineContext)
  const [book, setBook] = useState(() => new Book())
  const [version, setVersion] = useState(0)
  const drawing = useRef(0)
  useEffect(() => {
    const own = new Book()
    // eslint-disable-next-line react-hooks/set-state-in-effect -- another market: its book begins empty
    setBook(own)
    if (line === undefined) return undefined
    const payload = [`ob.${pair}.400`]
    const draw = (): void => {
      if (drawing.current === 0)
        drawing.current = requestAnimationFrame(() => {
          drawing.current = 0
          setVersion((last) => last + 1)
        })
    }
    const stop = line.subscribe('spot.obu', payload, (result) => {
      const push = result as BookPush & { readonly s?: string }
      if (push.s !== undefined && push.s !== payload[0]) return
      if (own.apply(push)) draw()
      else line.again('spot.obu', payload)
    })
    return () => {
      stop()
      cancelAnimationFrame(drawing.current)
      drawing.current = 0
    }
  }, [line, pair])
  return { book, version }
}

/** A clock that ticks with the second, by the platform's time. */
export function useNow(offsetMs = 0, everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now() + offsetMs)
  useEffect(() => {
    const tick = (): void => setNow(Date.now() + offsetMs)
    tick()
    const timer = setInterval(tick, everyMs)
    return () => clearInterval(timer)
  }, [offsetMs, everyMs])
  return now
}
