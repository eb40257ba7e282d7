import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { keep, usePlatform } from '../../api/query.ts'
import { Empty, Failed } from '../../parts/states.tsx'
import { Box } from './Box.tsx'

export function SignUp(): React.JSX.Element {
  const platform = usePlatform()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [invitation, setInvitation] = useState(() => location.hash.slice(1))
  const signUp = useMutation({
    mutationFn: () =>
      call('POST /console/v1/sign-up', {
        body: { name, password, ...(invitation !== '' && { invitation }) },
      }),
    onSuccess: async (session) => {
      keep(session)
      await navigate({ to: '/', replace: true })
    },
  })
  const differ = again !== '' && again !== password
  if (platform?.sign_up === 'off')
    return (
      <Box title="Make an account">
        <Empty action={<Link to="/sign-in">Sign in</Link>}>New accounts are made by operators here.</Empty>
      </Box>
    )
  return (
    <Box title="Make an account">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          signUp.mutate()
        }}
      >
        {platform?.sign_up === 'invited' ? (
          <TextInput
            label="Invitation"
            value={invitation}
            onChange={(event) => setInvitation(event.currentTarget.value)}
            required
          />
        ) : null}
        <TextInput
          label="Name"
          autoComplete="username"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        <PasswordInput
          label="Password"
          description="Long is better than odd: four words are fine"
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          required
        />
        <PasswordInput
          label="Password again"
          autoComplete="new-password"
          value={again}
          error={differ ? 'These are two different ones' : undefined}
          onChange={(event) => setAgain(event.currentTarget.value)}
          required
        />
        {signUp.error === null ? null : <Failed error={signUp.error} />}
        <Button
          type="submit"
          loading={signUp.isPending}
          disabled={name === '' || password === '' || again !== password}
          fullWidth
        >
          Make the account
        </Button>
      </form>
      <span className="small">
        Have one? <Link to="/sign-in">Sign in</Link>
      </span>
    </Box>
  )
}
