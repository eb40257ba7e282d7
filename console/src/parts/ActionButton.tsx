import { Button, Modal, TextInput, Textarea, type ButtonProps } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { client } from '../api/query.ts'
import { Failed, toast } from './states.tsx'

interface ActionProps {
  readonly label: string
  /** What will happen, before it happens. */
  readonly children: ReactNode
  readonly act: (reason: string) => Promise<unknown>
  readonly done?: string
  /** A reason is asked for; `needed`: and must be given. */
  readonly reason?: 'asked' | 'needed'
  /** Must be typed before it goes: nothing dear is one click. */
  readonly type?: { readonly text: string; readonly what: string }
  /** Queries that are read again: the first words of their keys. */
  readonly refresh?: readonly (readonly unknown[])[]
  readonly color?: string
  readonly variant?: ButtonProps['variant']
  readonly size?: ButtonProps['size']
  readonly disabled?: boolean
  readonly why?: string | undefined
}
/** A button that says what it is about to do, asks, and tells what became of it. */
export function ActionButton({
  label,
  children,
  act,
  done = label,
  reason,
  type,
  refresh = [],
  color,
  variant = 'default',
  size = 'xs',
  disabled = false,
  why,
}: ActionProps): React.JSX.Element {
  const [open, setOpen] = useState(false)
  const [given, setGiven] = useState('')
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const ready =
    (type === undefined || typed.trim() === type.text) && (reason !== 'needed' || given.trim() !== '')
  const close = (): void => {
    setOpen(false)
    setGiven('')
    setTyped('')
    setError(undefined)
  }
  const go = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      tellDone(await act(given.trim()), done)
      close()
      await Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })))
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button
        size={size}
        variant={variant}
        {...(color !== undefined && { color })}
        disabled={disabled}
        title={why}
        onClick={(event) => {
          event.stopPropagation()
          setOpen(true)
        }}
      >
        {label}
      </Button>
      <Modal opened={open} onClose={close} title={label}>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void go()
          }}
        >
          <div>{children}</div>
          {reason === undefined ? null : (
            <Textarea
              label={reason === 'needed' ? 'Reason' : 'Reason (optional)'}
              value={given}
              maxLength={200}
              onChange={(event) => setGiven(event.currentTarget.value)}
              autosize
              minRows={2}
            />
          )}
          {type === undefined ? null : (
            <TextInput
              label={type.what}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          {error === undefined ? null : <Failed error={error} />}
          <div className="row" style={{ justifyContent: 'flex-end' }}>
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button
              type="submit"
              loading={busy}
              disabled={!ready}
              {...(color !== undefined && { color: `${color}.9` })}
              data-autofocus={reason === undefined && type === undefined ? true : undefined}
            >
              {label}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  )
}
/** In live mode what guards money becomes a proposal, which waits for somebody else. */
export function tellDone(reply: unknown, done: string): void {
  const proposal = (reply as { proposal?: { id: number } } | undefined)?.proposal
  if (proposal === undefined) toast(done)
  else
    toast(`Proposed as number ${proposal.id}`, 'It happens when a second person confirms it under Approvals.')
}
