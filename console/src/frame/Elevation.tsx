import { Button, Modal, PasswordInput, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { access, call } from '../api/client.ts'
import { useSession } from '../api/query.ts'
import { Failed } from '../parts/states.tsx'

/** Asks once more who it is before what is dear, then the call that needed it goes on by itself. */
export function ElevationHost(): React.JSX.Element {
  const session = useSession()
  const [kind, setKind] = useState<'account' | 'operator'>('account')
  const factor = session?.[kind]?.factor ?? false
  const [done, setDone] = useState<((went: boolean) => void) | undefined>(undefined)
  const [value, setValue] = useState('')
  const [error, setError] = useState<unknown>(undefined)
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    access.elevate = (whose) =>
      new Promise((resolve) => {
        setKind(whose)
        setValue('')
        setError(undefined)
        setDone(() => resolve)
      })
  }, [])
  const close = (went: boolean): void => {
    done?.(went)
    setDone(undefined)
  }
  const submit = async (): Promise<void> => {
    setBusy(true)
    try {
      await call('POST /console/v1/elevate', {
        query: { kind },
        body: factor ? { code: value } : { password: value },
      })
      close(true)
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      opened={done !== undefined}
      onClose={() => close(false)}
      title="Please show that it is you"
      size="sm"
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <span className="dim">
          What you are about to do moves money or rights. It stays open for five minutes.
        </span>
        {factor ? (
          <TextInput
            label="Code of your authenticator, or a recovery code"
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            autoComplete="one-time-code"
            data-autofocus
          />
        ) : (
          <PasswordInput
            label="Password"
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            autoComplete="current-password"
            data-autofocus
          />
        )}
        {error === undefined ? null : <Failed error={error} />}
        <Button type="submit" loading={busy} disabled={value === ''}>
          Go on
        </Button>
      </form>
    </Modal>
  )
}
