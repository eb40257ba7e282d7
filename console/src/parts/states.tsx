import { Alert, Button, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { tell, type Told } from '../api/errors.ts'

/** Nothing is there yet: a sentence, and the one button that makes the first thing. */
export function Empty({
  children,
  action,
}: {
  readonly children: ReactNode
  readonly action?: ReactNode
}): React.JSX.Element {
  return (
    <div className="state">
      <span>{children}</span>
      {action}
    </div>
  )
}
/** What went wrong, in words, and what to do about it; `told` where the label's own words do not fit here. */
export function Failed({
  error,
  retry,
  told,
}: {
  readonly error: unknown
  readonly retry?: (() => void) | undefined
  readonly told?: Partial<Told> | undefined
}): React.JSX.Element {
  const { title, message, advice, label } = { ...tell(error), ...told }
  return (
    <Alert color="red" variant="light" title={title} role="alert" m="xs">
      <div>{message}</div>
      <div className="dim">{advice}</div>
      <div className="row between" style={{ marginTop: 8 }}>
        <code className="small dim">{label}</code>
        {retry === undefined ? null : (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </div>
    </Alert>
  )
}
/** Lines of the size that rows will have. */
export function Loading({
  rows = 5,
  height = 20,
}: {
  readonly rows?: number
  readonly height?: number
}): React.JSX.Element {
  return (
    <div style={{ padding: 12 }} aria-busy="true" aria-label="loading">
      {Array.from({ length: rows }, (_, i) => (
        <Skeleton key={i} height={height} mt={i === 0 ? 0 : 10} radius={4} />
      ))}
    </div>
  )
}
interface LoadedProps<T> {
  readonly of: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  readonly children: (data: T) => ReactNode
  readonly rows?: number
  readonly height?: number
}
/** Loading, failed or there: old data stays while new data is on its way. */
export function Loaded<T>({ of, children, rows = 5, height = 20 }: LoadedProps<T>): ReactNode {
  if (of.data !== undefined) return children(of.data)
  if (of.error !== null) return <Failed error={of.error} retry={() => void of.refetch()} />
  return <Loading rows={rows} height={height} />
}
export function toastError(error: unknown): void {
  const { title, message, advice, label } = tell(error)
  notifications.show({
    color: 'red',
    title,
    message: (
      <>
        {message} <span className="dim">{advice}</span> <code className="small dim">{label}</code>
      </>
    ),
    autoClose: 8000,
  })
}
export function toast(title: string, message: ReactNode = ''): void {
  notifications.show({ color: 'teal', title, message, autoClose: 4000 })
}
