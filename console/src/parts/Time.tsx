import { usePlatform } from '../api/query.ts'
import { useNow } from '../live/hooks.ts'
import { exactText, millis, minuteText, relative, shortText, utcText } from '../lib/time.ts'

interface TimeProps {
  readonly at: number | string | undefined | null
  /** `short`: day and time; `relative`: "3 min ago"; `minute`: without seconds. */
  readonly form?: 'short' | 'relative' | 'minute'
}
/** In the reader's zone; exact, with zone and UTC, on hover. */
export function Time({ at, form = 'short' }: TimeProps): React.JSX.Element {
  const value = millis(at)
  if (value === undefined) return <span className="dim">–</span>
  const title = `${exactText(value)}\n${utcText(value)}`
  return (
    <time
      dateTime={new Date(value).toISOString()}
      title={title}
      className="num"
      style={{ whiteSpace: 'nowrap' }}
    >
      {form === 'relative' ? (
        <Relative at={value} />
      ) : form === 'minute' ? (
        minuteText(value)
      ) : (
        shortText(value)
      )}
    </time>
  )
}
function Relative({ at }: { readonly at: number }): React.JSX.Element {
  const now = useNow(usePlatform()?.clock_offset_ms ?? 0, 5000)
  return <>{relative(at, now)}</>
}
