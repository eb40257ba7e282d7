import { Badge } from '@mantine/core'

const TONES: Readonly<Record<string, string>> = {
  open: 'indigo',
  normal: 'teal',
  DONE: 'teal',
  SUCCESS: 'teal',
  closed: 'gray',
  finished: 'teal',
  filled: 'teal',
  cancelled: 'gray',
  CANCEL: 'gray',
  locked: 'red',
  FAIL: 'red',
  failed: 'red',
  INVALID: 'red',
  REJECT: 'red',
  BLOCKED: 'red',
}
/** A status by its word; what waits is amber, and no tone stands without the word. */
export function Status({ of }: { readonly of: string }): React.JSX.Element {
  return (
    <Badge variant="light" size="sm" color={TONES[of] ?? 'yellow'} radius={4} tt="none" fw={600}>
      {of.replaceAll('_', ' ')}
    </Badge>
  )
}
export function SideWord({ of }: { readonly of: string }): React.JSX.Element {
  return of === 'buy' ? <span className="up">▲ buy</span> : <span className="down">▼ sell</span>
}
