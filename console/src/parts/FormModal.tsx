import { Button, Modal } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { client } from '../api/query.ts'
import { tellDone } from './ActionButton.tsx'
import { Failed } from './states.tsx'

interface FormProps {
  readonly title: string
  readonly verb: string
  readonly ready: boolean
  readonly send: () => Promise<unknown>
  readonly done: string
  /** Queries that are read again: the first words of their keys. */
  readonly refresh: readonly (readonly unknown[])[]
  readonly close: () => void
  readonly children: ReactNode
}
/** A form in a dialog: sent once, refused in the platform's own words, closed when it went through. */
export function FormModal({
  title,
  verb,
  ready,
  send,
  done,
  refresh,
  close,
  children,
}: FormProps): React.JSX.Element {
  const [error, setError] = useState<unknown>(undefined)
  const [busy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      tellDone(await send(), done)
      await Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })))
      close()
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={close} title={title}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {children}
        {error === undefined ? null : <Failed error={error} />}
        <Button type="submit" loading={busy} disabled={!ready}>
          {verb}
        </Button>
      </form>
    </Modal>
  )
}
