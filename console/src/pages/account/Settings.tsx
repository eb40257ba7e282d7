import { Alert, Button, Modal, PasswordInput, SegmentedControl, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { client, refreshOwn, useOwn, useSession } from '../../api/query.ts'
import { setPrefs, usePrefs } from '../../lib/prefs.ts'
import { download } from '../../lib/download.ts'
import { Copyable } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Qr } from '../wallet/Deposit.tsx'

const KIND = { kind: 'account' } as const
const sessionAgain = (): void => void client.invalidateQueries({ queryKey: ['session'] })

export function Settings(): React.JSX.Element {
  const session = useSession()?.account
  return (
    <Page
      title="Settings"
      lead={
        session === null || session === undefined ? undefined : `${session.name}, user id ${session.user_id}`
      }
    >
      <div className="cols-2">
        <Card title="Password">
          <Password has={session?.password ?? false} />
        </Card>
        <Card title="Second factor">
          <Factor on={session?.factor ?? false} />
        </Card>
      </div>
      <Sessions />
      <Card title="How it looks">
        <Looks />
      </Card>
    </Page>
  )
}
function Looks(): React.JSX.Element {
  const { theme, colours } = usePrefs()
  return (
    <div className="filters">
      <div>
        <div className="small dim">Theme</div>
        <SegmentedControl
          aria-label="Theme"
          value={theme}
          onChange={(value) => setPrefs({ theme: value })}
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
      </div>
      <div>
        <div className="small dim">Up and down</div>
        <SegmentedControl
          aria-label="Colours"
          value={colours}
          onChange={(value) => setPrefs({ colours: value })}
          data={[
            { value: 'plain', label: 'Green and red' },
            { value: 'safe', label: 'Blue and orange' },
          ]}
        />
      </div>
    </div>
  )
}
function Password({ has }: { readonly has: boolean }): React.JSX.Element {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const change = useMutation({
    mutationFn: () =>
      call('POST /console/v1/password', { query: KIND, body: { next, ...(has && { current }) } }),
    onSuccess: () => {
      toast('Changed', 'Other sessions have ended.')
      setCurrent('')
      setNext('')
      setAgain('')
      sessionAgain()
      void refreshOwn('sessions')
    },
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate()
      }}
    >
      {has ? (
        <PasswordInput
          label="Password now"
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
      ) : (
        <span className="dim">There is none yet: you came by a link. Set one to sign in with it.</span>
      )}
      <PasswordInput
        label="New password"
        description="At least 10 characters"
        autoComplete="new-password"
        value={next}
        onChange={(event) => setNext(event.currentTarget.value)}
      />
      <PasswordInput
        label="New password again"
        autoComplete="new-password"
        value={again}
        error={again !== '' && again !== next ? 'These are two different ones' : undefined}
        onChange={(event) => setAgain(event.currentTarget.value)}
      />
      {change.error === null ? null : <Failed error={change.error} />}
      <Button
        type="submit"
        loading={change.isPending}
        disabled={next === '' || next !== again || (has && current === '')}
      >
        {has ? 'Change the password' : 'Set the password'}
      </Button>
    </form>
  )
}
function Factor({ on }: { readonly on: boolean }): React.JSX.Element {
  const [code, setCode] = useState('')
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined)
  const [ending, setEnding] = useState(false)
  const begin = useMutation({
    mutationFn: () => call('POST /console/v1/factor', { query: KIND }),
    onError: toastError,
  })
  const confirm = useMutation({
    mutationFn: () =>
      call('POST /console/v1/factor/confirm', { query: KIND, body: { code: code.replace(/\s/g, '') } }),
    onSuccess: ({ recovery_codes }) => {
      setCodes(recovery_codes)
      setCode('')
      begin.reset()
      sessionAgain()
    },
  })
  const end = useMutation({
    mutationFn: () =>
      call('DELETE /console/v1/factor', { query: KIND, body: { code: code.replace(/\s/g, '') } }),
    onSuccess: () => {
      toast('The second factor is off')
      setEnding(false)
      setCode('')
      sessionAgain()
    },
  })
  const field = (
    <TextInput
      label="Code"
      description="Six digits of the app"
      autoComplete="one-time-code"
      inputMode="numeric"
      value={code}
      onChange={(event) => setCode(event.currentTarget.value)}
    />
  )
  return (
    <div className="stack">
      {on ? (
        <>
          <span className="up">✓ It is on: signing in takes a code.</span>
          <Button variant="default" onClick={() => setEnding(true)}>
            Switch it off
          </Button>
        </>
      ) : begin.data === undefined ? (
        <>
          <span className="dim">
            An authenticator app makes a new code every half minute. Who has only your password can’t come in.
          </span>
          <Button loading={begin.isPending} onClick={() => begin.mutate()}>
            Switch it on
          </Button>
        </>
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            confirm.mutate()
          }}
        >
          <span>Scan this with the app, or type the secret into it:</span>
          <Qr text={begin.data.otpauth_url} label="Secret of the second factor as a QR code" />
          <Copyable value={begin.data.secret} what="secret" />
          {field}
          {confirm.error === null ? null : <Failed error={confirm.error} />}
          <Button type="submit" loading={confirm.isPending} disabled={code === ''}>
            Confirm
          </Button>
        </form>
      )}
      <Modal
        opened={codes !== undefined}
        onClose={() => setCodes(undefined)}
        title="Recovery codes"
        closeOnClickOutside={false}
      >
        <div className="stack">
          <Alert color="yellow" title="Keep these, they are shown this once">
            Each signs you in once when the app is lost.
          </Alert>
          <ul className="mono">
            {codes?.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          <Button
            variant="default"
            onClick={() =>
              download('kontor-recovery-codes.txt', 'text/plain', `${codes?.join('\n') ?? ''}\n`)
            }
          >
            Save as a file
          </Button>
          <Button onClick={() => setCodes(undefined)}>I have them</Button>
        </div>
      </Modal>
      <Modal opened={ending} onClose={() => setEnding(false)} title="Switch the second factor off">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            end.mutate()
          }}
        >
          {field}
          {end.error === null ? null : <Failed error={end.error} />}
          <Button type="submit" color="red" loading={end.isPending} disabled={code === ''}>
            Switch it off
          </Button>
        </form>
      </Modal>
    </div>
  )
}
function Sessions(): React.JSX.Element {
  const sessions = useOwn(['sessions'], () => call('GET /console/v1/sessions', { query: KIND }))
  const end = useMutation({
    mutationFn: (id: number) => call('DELETE /console/v1/sessions/{id}', { path: { id }, query: KIND }),
    onSuccess: () => {
      void refreshOwn('sessions')
      sessionAgain()
    },
    onError: toastError,
  })
  return (
    <Card title="Where you are signed in" flush>
      <Loaded of={sessions} rows={3}>
        {(list) => (
          <Table
            label="Sessions"
            columns={[
              {
                name: 'Browser',
                cell: ({ agent, current }) => (
                  <span title={agent}>
                    {browserName(agent)}
                    {current ? <b> (this one)</b> : null}
                  </span>
                ),
              },
              { name: 'Address', cell: ({ ip }) => <span className="mono">{ip}</span> },
              { name: 'By', cell: ({ via }) => via },
              { name: 'Since', cell: ({ created_at }) => <Time at={created_at} form="minute" /> },
              { name: 'Last seen', cell: ({ last_seen }) => <Time at={last_seen} form="minute" /> },
              { name: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} form="minute" /> },
              {
                name: 'Do',
                quiet: true,
                right: true,
                cell: ({ id, current }) => (
                  <Button
                    size="compact-xs"
                    variant="default"
                    loading={end.isPending && end.variables === id}
                    onClick={() => end.mutate(id)}
                    aria-label={current ? `Sign out of session ${id}` : `End session ${id}`}
                  >
                    {current ? 'Sign out' : 'End'}
                  </Button>
                ),
              },
            ]}
            rows={list}
            rowKey={({ id }) => id}
            empty={<Empty>No session.</Empty>}
          />
        )}
      </Loaded>
    </Card>
  )
}
function browserName(agent: string): string {
  const name = /Firefox|Edg|OPR|Chrome|Safari/.exec(agent)?.[0] ?? 'a browser'
  const system = /Windows|Mac OS|Android|iPhone|Linux/.exec(agent)?.[0] ?? ''
  return `${name === 'Edg' ? 'Edge' : name === 'OPR' ? 'Opera' : name}${system === '' ? '' : ` on ${system}`}`
}
