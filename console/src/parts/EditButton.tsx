import { Button, Checkbox, Modal, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client } from '../api/query.ts'
import { tellDone } from './ActionButton.tsx'
import { AmountInput } from './AmountInput.tsx'
import { Failed } from './states.tsx'

export interface EditField {
  readonly member: string
  readonly label: string
  readonly kind: 'decimal' | 'whole' | 'flag' | 'text' | readonly string[]
  readonly help?: string
}
type Value = string | number | boolean | null
interface EditProps {
  readonly title: string
  readonly label?: string
  readonly fields: readonly EditField[]
  readonly now: Readonly<Record<string, unknown>>
  readonly save: (changes: Readonly<Record<string, Value>>) => Promise<unknown>
  readonly refresh: readonly (readonly unknown[])[]
  readonly why?: string | undefined
}
const shown = (value: unknown): string | boolean =>
  typeof value === 'boolean'
    ? value
    : typeof value === 'string' || typeof value === 'number'
      ? String(value)
      : ''

/** A form for settings: only what was changed is sent. */
export function EditButton({
  title,
  label = 'Change',
  fields,
  now,
  save,
  refresh,
  why,
}: EditProps): React.JSX.Element {
  const [open, setOpen] = useState(false)
  const [draft, setDraft] = useState<Readonly<Record<string, string | boolean>>>({})
  const [error, setError] = useState<unknown>(undefined)
  const [busy, setBusy] = useState(false)
  const value = (member: string): string | boolean => draft[member] ?? shown(now[member])
  const changed = fields.filter(
    ({ member }) => draft[member] !== undefined && draft[member] !== shown(now[member]),
  )
  const close = (): void => {
    setOpen(false)
    setDraft({})
    setError(undefined)
  }
  const set = (member: string, next: string | boolean): void =>
    setDraft((last) => ({ ...last, [member]: next }))
  const send = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const changes = Object.fromEntries(
        changed.map(({ member, kind }) => {
          const given = value(member)
          return [member, kind === 'whole' ? Number(given) : given]
        }),
      )
      tellDone(await save(changes), 'Changed')
      await Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })))
      close()
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        disabled={why !== undefined}
        title={why}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Modal opened={open} onClose={close} title={title}>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void send()
          }}
        >
          {fields.map(({ member, label: name, kind, help }) => {
            const common = { label: name, ...(help !== undefined && { description: help }) }
            const given = value(member)
            if (kind === 'flag')
              return (
                <Checkbox
                  key={member}
                  {...common}
                  checked={given === true}
                  onChange={(event) => set(member, event.currentTarget.checked)}
                />
              )
            const text = typeof given === 'string' ? given : ''
            if (kind === 'decimal')
              return (
                <AmountInput key={member} {...common} value={text} onChange={(next) => set(member, next)} />
              )
            if (kind === 'whole' || kind === 'text')
              return (
                <TextInput
                  key={member}
                  {...common}
                  value={text}
                  inputMode={kind === 'whole' ? 'numeric' : 'text'}
                  onChange={(event) => set(member, event.currentTarget.value)}
                />
              )
            return (
              <Select
                key={member}
                {...common}
                data={kind}
                value={text}
                onChange={(next) => set(member, next ?? '')}
              />
            )
          })}
          {error === undefined ? null : <Failed error={error} />}
          <Button type="submit" loading={busy} disabled={changed.length === 0}>
            {changed.length === 0 ? 'Nothing is changed' : `Change ${changed.length}`}
          </Button>
        </form>
      </Modal>
    </>
  )
}
