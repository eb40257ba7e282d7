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
import { useChosen } from '../api/query.ts'
import { Line, type LineView, type Push } from './socket.ts'

export const LineContext = createContext<Line | undefined>(undefined)
const NO_LINE: LineView = { state: 'connecting', lastAt: 0, tries: 0 }
const nothing = (): (() => void) => () => undefined

export function useLineView(): LineView {
  const line = useContext(LineContext)
  return useSyncExternalStore(line?.watch ?? nothing, line?.look ?? (() => NO_LINE))
}
/** A line of its own to an address below /console/ws; undefined: none is wanted. */
export function useLine(path: string | undefined): Line | undefined {
  const chosen = useChosen()
  const [line, setLine] = useState<Line | undefined>(undefined)
  useEffect(() => {
    if (path === undefined) return undefined
    const url = new URL(path, location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    if (chosen !== undefined) url.searchParams.set('account', String(chosen))
    const made = new Line(url.href)
    // eslint-disable-next-line react-hooks/set-state-in-effect -- a line is of its effect: made and ended here
    setLine(made)
    return () => made.end()
  }, [path, chosen])
  return line
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

/** A market's book by a channel of deltas and its payload, drawn at most once in a frame of the screen. */
export function useBook(channel: string, words: string): { readonly book: Book; readonly version: number } {
  const line = useContext(LineContext)
  const [book, setBook] = useState(() => new Book())
  const [version, setVersion] = useState(0)
  const drawing = useRef(0)
  useEffect(() => {
    const own = new Book()
    // eslint-disable-next-line react-hooks/set-state-in-effect -- another market: its book begins empty
    setBook(own)
    if (line === undefined) return undefined
    const payload = words.split(' ')
    const draw = (): void => {
      if (drawing.current === 0)
        drawing.current = requestAnimationFrame(() => {
          drawing.current = 0
          setVersion((last) => last + 1)
        })
    }
    const stop = line.subscribe(channel, payload, (result) => {
      const push = result as BookPush & { readonly s?: string }
      if (push.s !== undefined && push.s !== payload[0]) return
      if (own.apply(push)) draw()
      else line.again(channel, payload)
    })
    return () => {
      stop()
      cancelAnimationFrame(drawing.current)
      drawing.current = 0
    }
  }, [line, channel, words])
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
