import { useEffect, useState } from 'react'
import { Icon } from './icons.tsx'

interface CopyableProps {
  readonly value: string
  /** What is shown instead of the whole; the whole is copied. */
  readonly shown?: string
  readonly what?: string
  readonly mono?: boolean
}
/** An id, key or address: one click copies the whole of it. */
export function Copyable({ value, shown, what = 'it', mono = true }: CopyableProps): React.JSX.Element {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      className={mono ? 'copyable mono' : 'copyable'}
      title={copied ? 'copied' : `${value}\nclick to copy`}
      aria-label={`Copy ${what}: ${shown ?? value}`}
      onClick={(event) => {
        event.stopPropagation()
        void copy(value).then(() => setCopied(true))
      }}
    >
      <span className={shown === undefined ? undefined : 'whole'}>{shown ?? value}</span>
      <span className="sign" aria-hidden>
        {copied ? '✓' : <Icon name="copy" size={12} />}
      </span>
      <span className="sr" role="status">
        {copied ? 'copied' : ''}
      </span>
    </button>
  )
}
/** Pages that came without TLS have no clipboard of their own. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.style.position = 'fixed'
    document.body.append(area)
    area.select()
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way there
    document.execCommand('copy')
    area.remove()
  }
}
/** The beginning and the end of something long. */
export const ends = (text: string, kept = 6): string =>
  text.length <= kept * 2 + 1 ? text : `${text.slice(0, kept)}…${text.slice(-kept)}`
