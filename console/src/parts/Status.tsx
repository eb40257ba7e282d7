const TONES: Readonly<Record<string, string>> = {
  open: 'accent',
  normal: 'up',
  DONE: 'up',
  SUCCESS: 'up',
  success: 'up',
  finished: 'up',
  filled: 'up',
  closed: 'dim',
  cancelled: 'dim',
  CANCEL: 'dim',
  CANCELLED: 'dim',
  classic: 'dim',
  single_currency: 'accent',
  multi_currency: 'accent',
  portfolio: 'accent',
  locked: 'down',
  FAIL: 'down',
  failed: 'down',
  INVALID: 'down',
  REJECT: 'down',
  BLOCKED: 'down',
}
/** A status by its word; what waits is amber, and no tone stands without the word. */
export function Status({ of }: { readonly of: string }): React.JSX.Element {
  return <span className={`status tone-${TONES[of] ?? 'wait'}`}>{of.replaceAll('_', ' ')}</span>
}
export function SideWord({ of }: { readonly of: string }): React.JSX.Element {
  return of === 'buy' ? <span className="up">▲ buy</span> : <span className="down">▼ sell</span>
}
