import { Alert, Button, Checkbox, NativeSelect, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Copyable } from '../../parts/Copyable.tsx'
import { Failed } from '../../parts/states.tsx'

/** What a key may do, in the words of the API. */
export const PERMISSIONS = [
  'spot',
  'margin',
  'unified',
  'wallet',
  'withdrawal',
  'account',
  'sub_accounts',
  'futures',
  'delivery',
  'options',
  'earn',
  'loan',
] as const
export interface KeyDraft {
  readonly name: string
  readonly perms: { readonly name: string; readonly read_only: boolean }[]
  readonly ip_whitelist: string[]
  readonly replay_protection: boolean
}
interface KeyFormProps {
  readonly sub: boolean
  readonly busy: boolean
  readonly error: unknown
  readonly first?: KeyDraft
  readonly verb: string
  readonly submit: (draft: KeyDraft) => void
}
export function KeyForm({ sub, busy, error, first, verb, submit }: KeyFormProps): React.JSX.Element {
  const [name, setName] = useState(first?.name ?? '')
  const [levels, setLevels] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(
      (
        first?.perms ?? [
          { name: 'spot', read_only: false },
          { name: 'wallet', read_only: true },
        ]
      ).map((one) => [one.name, one.read_only ? 'read' : 'write']),
    ),
  )
  const [ips, setIps] = useState<string[]>(first?.ip_whitelist ?? [])
  const [once, setOnce] = useState(first?.replay_protection ?? false)
  const perms = PERMISSIONS.flatMap((one) =>
    levels[one] === 'read' || levels[one] === 'write'
      ? [{ name: one, read_only: levels[one] === 'read' }]
      : [],
  )
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        submit({ name, perms, ip_whitelist: ips, replay_protection: once })
      }}
    >
      <TextInput
        label="Name"
        placeholder="my bot"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={32}
        data-autofocus
      />
      <fieldset className="perms">
        <legend>Permissions</legend>
        {PERMISSIONS.filter((one) => !sub || one !== 'withdrawal').map((one) => (
          <NativeSelect
            key={one}
            size="xs"
            label={one.replaceAll('_', ' ')}
            value={levels[one] ?? ''}
            onChange={(event) => setLevels({ ...levels, [one]: event.currentTarget.value })}
            data={[
              { value: '', label: 'nothing' },
              { value: 'read', label: 'read' },
              { value: 'write', label: 'read and write' },
            ]}
          />
        ))}
      </fieldset>
      {levels['withdrawal'] === 'write' ? (
        <Alert color="yellow" title="This key can take money out">
          Name the addresses that it is used from.
        </Alert>
      ) : null}
      <TagsInput
        label="Only from these addresses"
        description="IPv4 or IPv6; Enter after each. Empty: from everywhere"
        value={ips}
        onChange={setIps}
        placeholder="203.0.113.7"
      />
      <Checkbox
        label="Carry out each signed request only once (replay protection)"
        checked={once}
        onChange={(event) => setOnce(event.currentTarget.checked)}
      />
      {error === null || error === undefined ? null : <Failed error={error} />}
      <Button type="submit" loading={busy} disabled={perms.length === 0}>
        {perms.length === 0 ? 'Choose a permission' : verb}
      </Button>
    </form>
  )
}
/** Shown once: the platform keeps it sealed and never tells it again. */
export function Secret({
  made,
  secret,
  close,
}: {
  readonly made: string
  readonly secret: string
  readonly close: () => void
}): React.JSX.Element {
  return (
    <div className="stack">
      <Alert color="yellow" title="Copy the secret now">
        It is shown this once. Who has it can do what the key may.
      </Alert>
      <div className="address-box">
        <div className="small dim">Key</div>
        <Copyable value={made} what="key" />
      </div>
      <div className="address-box">
        <div className="small dim">Secret</div>
        <Copyable value={secret} what="secret" />
      </div>
      <Button onClick={close}>I have it</Button>
    </div>
  )
}
export function Perms({
  of,
}: {
  readonly of: readonly { readonly name: string; readonly read_only: boolean }[]
}): React.JSX.Element {
  return (
    <span className="small">
      {of.length === 0
        ? 'none'
        : of.map(({ name, read_only }) => (read_only ? `${name} (read)` : name)).join(', ')}
    </span>
  )
}
