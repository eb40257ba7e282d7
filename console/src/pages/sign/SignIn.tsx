import { Button, PasswordInput, SegmentedControl, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { keep, usePlatform } from '../../api/query.ts'
import { Failed } from '../../parts/states.tsx'
import { Box } from './Box.tsx'

export function SignIn(): React.JSX.Element {
  const platform = usePlatform()
  const { then } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const [kind, setKind] = useState<'account' | 'operator'>('account')
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [asked, setAsked] = useState(false)
  const signIn = useMutation({
    mutationFn: () =>
      call('POST /console/v1/sign-in', {
        body: { kind, name, password, ...(code !== '' && { code: code.replace(/\s/g, '') }) },
      }),
    onSuccess: async (session) => {
      keep(session)
      await navigate({ to: then ?? '/', replace: true })
    },
    onError: (error) => {
      if (error instanceof ApiError && error.label === 'SECOND_FACTOR_REQUIRED') setAsked(true)
    },
  })
  const waits =
    signIn.error instanceof ApiError && signIn.error.label === 'SECOND_FACTOR_REQUIRED' && code === ''
  return (
    <Box title="Sign in">
      {platform?.mode === 'sandbox' ? (
        <p className="dim" style={{ margin: 0 }}>
          This is a sandbox: the start of the platform printed links that sign you in as the demo account and
          as the operator. A new one: <code className="mono">npx kontor console-link demo</code>
        </p>
      ) : null}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <SegmentedControl
          fullWidth
          aria-label="Sign in as"
          value={kind}
          onChange={(value) => setKind(value)}
          data={[
            { value: 'account', label: 'Account' },
            { value: 'operator', label: 'Operator' },
          ]}
        />
        <TextInput
          label="Name"
          autoComplete="username"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          autoFocus
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          required
        />
        {asked ? (
          <TextInput
            label="Code"
            description="Six digits of your authenticator app, or one of your recovery codes"
            autoComplete="one-time-code"
            inputMode="text"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            autoFocus
          />
        ) : null}
        {signIn.error === null || waits ? null : <Failed error={signIn.error} />}
        <Button type="submit" loading={signIn.isPending} disabled={name === '' || password === ''} fullWidth>
          Sign in
        </Button>
      </form>
      {platform !== undefined && platform.sign_up !== 'off' ? (
        <span className="small">
          No account yet?{' '}
          <Link to="/sign-up">{platform.sign_up === 'open' ? 'Make one' : 'Use your invitation'}</Link>
        </span>
      ) : null}
      <span className="small dim">
        Password or factor lost? Two operators can open the account again; withdrawals then wait for 24 hours.
      </span>
    </Box>
  )
}
